use super::eprint;
use super::real_time::{self, Kind};
use crate::cli::Measure;
use crate::failure::Failure;
use lab::experiment::{Browser, Experiment};
use lab::measure::media::Cache;
use lab::measure::{Measurement, twin};
use lab::store::Mode;
use std::process::ExitCode;

pub(crate) fn run(args: &Measure) -> Result<ExitCode, Failure> {
    // Before there is a second thread: the kernel asks for it.
    lab::emulate::become_root().map_err(Failure::new)?;
    let experiment = real_time::open(&args.experiment, &args.real_time.chosen)?;
    let experiment = with_browsers(&experiment, &args.browser)?;
    let cache = Cache::of_user().map_err(Failure::new)?;
    let quiet = args.real_time.quiet;
    let measurement = Measurement {
        cache: &cache,
        making: &|what| {
            if !quiet {
                eprint(what);
            }
        },
    };
    let kind = Kind {
        mode: Mode::Measured,
        word: "measured",
        foreground: None,
        background: &[],
        make: &|emulation, cell, seed| measurement.run(emulation, cell, seed),
        simulate: &twin::simulate,
        goes_on: true,
    };
    real_time::run(&experiment, &args.real_time, &kind)
}

/// The experiment with the browsers of `--browser`.
fn with_browsers(experiment: &Experiment, words: &[String]) -> Result<Experiment, Failure> {
    let set = |word: &String| {
        let (key, browser) = match word.split_once('=') {
            Some((host, browser)) => (format!("measure.browsers.{host}"), browser),
            None => ("measure.browser".to_owned(), word.as_str()),
        };
        let browser: Browser =
            browser.parse().map_err(|reason| Failure::new(format!("--browser: {reason}")))?;
        Ok((key, browser.to_string()))
    };
    let overrides = words.iter().map(set).collect::<Result<Vec<_>, Failure>>()?;
    Ok(experiment.with_overrides(&overrides)?)
}
