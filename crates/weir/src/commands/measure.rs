use super::eprint;
use super::real_time::{self, Kind};
use crate::cli::Measure;
use crate::failure::Failure;
use lab::emulate::simulate;
use lab::experiment::{Browser, Experiment};
use lab::measure::media::Cache;
use lab::measure::{Measurement, browser};
use lab::store::Mode;
use std::process::ExitCode;

pub(crate) fn run(args: &Measure) -> Result<ExitCode, Failure> {
    // Before there is a second thread: the kernel asks for it.
    lab::emulate::become_root().map_err(Failure::new)?;
    let experiment = real_time::open(&args.experiment, &args.real_time.chosen)?;
    let experiment = with_browsers(&experiment, &args.browser)?;
    check(&experiment)?;
    let today = if args.real_time.compare { experiment.as_today()?.simulated()? } else { experiment.clone() };
    let cache = Cache::of_user().map_err(Failure::new)?;
    let quiet = args.real_time.quiet;
    let making = |what: &str| {
        if !quiet {
            eprint(what);
        }
    };
    let measurement = Measurement { cache: &cache, making: &making };
    let kind = Kind {
        mode: Mode::Measured,
        word: "measured",
        foreground: None,
        background: &[],
        make: &|emulation, cell, seed| measurement.run(emulation, cell, seed),
        simulate: &|cell, seed, cancel| simulate(&today.cells()[cell.index].scenario(seed), cancel),
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

/// Sees that there is a call, and that the browsers and files of every cell are there, before the first of them runs.
fn check(experiment: &Experiment) -> Result<(), Failure> {
    for cell in experiment.cells() {
        let scenario = cell.scenario(experiment.seed);
        let measure = cell.measure();
        for call in &scenario.calls {
            for host in [call.from, call.to] {
                let name = &scenario.network.hosts[usize::from(host.0)].name;
                browser::check(measure.browser_of(name)).map_err(Failure::new)?;
            }
        }
        for (key, file) in [("video", &measure.video), ("audio", &measure.audio)] {
            if let Some(file) = file.as_ref().filter(|file| !file.is_file()) {
                return Err(Failure::new(format!("measure.{key}: {} is not a file", file.display())));
            }
        }
    }
    if experiment.cells().iter().all(|cell| cell.scenario(experiment.seed).calls.is_empty()) {
        let path = &experiment.path;
        return Err(Failure::new(format!("{path}: there is no call to measure; run it with 'weir emulate'")));
    }
    Ok(())
}
