use super::eprint;
use super::real_time::{self, RunMode};
use crate::cli::Measure;
use crate::failure::Failure;
use experiment::{Endpoint, Experiment};
use std::process::ExitCode;
use store::Mode;
use testbed::emulate::simulate;
use testbed::measure::media::Cache;
use testbed::measure::{Measurement, browser, ims, relay, sfu};

pub(crate) fn run(args: &Measure) -> Result<ExitCode, Failure> {
    // The kernel requires that the process still has a single thread.
    testbed::emulate::become_root().map_err(Failure::new)?;
    let experiment = real_time::open(&args.experiment, &args.real_time.chosen)?;
    let experiment = with_endpoints(&experiment, &args.endpoint)?;
    check(&experiment)?;
    let today = if args.real_time.compare {
        experiment.as_today()?.simulated()?
    } else {
        experiment.clone()
    };
    let cache = Cache::of_user().map_err(Failure::new)?;
    let quiet = args.real_time.quiet;
    let making = |what: &str| {
        if !quiet {
            eprint(what);
        }
    };
    let event_log = args.event_log.as_deref();
    let kind = RunMode {
        mode: Mode::Measured,
        word: "measured",
        foreground: None,
        background: &[],
        make: &|emulation, cell, seed, folder| {
            let event_logs = event_log.map(folder);
            let event_logs = event_logs.as_deref();
            let measurement = Measurement { cache: &cache, making: &making, event_logs };
            Ok(measurement.run(emulation, cell, seed)?)
        },
        simulate: &|cell, seed, cancel| simulate(&today.cells()[cell.index].scenario(seed), cancel),
        goes_on: true,
    };
    real_time::run(&experiment, &args.real_time, &kind)
}

/// The experiment with the endpoints of `--endpoint`.
fn with_endpoints(experiment: &Experiment, words: &[String]) -> Result<Experiment, Failure> {
    let set = |word: &String| {
        let (key, endpoint) = match word.split_once('=') {
            Some((host, endpoint)) => (format!("measure.endpoints.{host}"), endpoint),
            None => ("measure.endpoint".to_owned(), word.as_str()),
        };
        let endpoint: Endpoint =
            endpoint.parse().map_err(|reason| Failure::new(format!("--endpoint: {reason}")))?;
        Ok((key, endpoint.to_string()))
    };
    let overrides = words.iter().map(set).collect::<Result<Vec<_>, Failure>>()?;
    Ok(experiment.with_overrides(&overrides)?)
}

/// Checks before the first run that there is a call, and that the browsers and files of every cell
/// exist.
fn check(experiment: &Experiment) -> Result<(), Failure> {
    for cell in experiment.cells() {
        let scenario = cell.scenario(experiment.seed);
        let measure = cell.measure();
        if cell.ims().is_some() {
            for program in [ims::CSCF_PROGRAM, ims::GATEWAY_PROGRAM] {
                if program.find().is_none() {
                    let (name, suggestion) = (program.name, program.suggestion);
                    return Err(Failure::new(format!("there is no {name}; {suggestion}")));
                }
            }
        }
        for call in &scenario.calls {
            if call.sfu.is_some() && sfu::PROGRAM.find().is_none() {
                return Err(Failure::new(format!(
                    "there is no Janus; {}",
                    sfu::PROGRAM.suggestion
                )));
            }
            let is_native =
                |host| matches!(measure.endpoint_of(scenario.name(host)), Endpoint::Native(_));
            if call.relay.is_some() && is_native(call.from) {
                let reason =
                    format!("call.{}.relay: native peers do not support relays", call.name);
                return Err(Failure::new(format!(
                    "{reason}; use a browser on {}",
                    scenario.name(call.from)
                )));
            }
            if call.relay.is_some() && call.sfu.is_some() {
                let reason =
                    format!("{}: a conference through a forwarding unit uses no relay", call.name);
                return Err(Failure::new(format!("{reason}; remove relay, or use a mesh")));
            }
            if call.relay.is_some() && relay::PROGRAM.find().is_none() {
                return Err(Failure::new(format!(
                    "there is no coturn; {}",
                    relay::PROGRAM.suggestion
                )));
            }
            let codec = call.video.as_ref().map(|video| video.encoder.codec.to_string());
            if codec.is_some_and(|codec| !["vp8", "csv"].contains(&codec.as_str()))
                && [call.from, call.to].into_iter().any(is_native)
            {
                let reason =
                    format!("call.{}.video.codec: native peers support only VP8", call.name);
                return Err(Failure::new(format!("{reason}; use vp8, or browsers")));
            }
            if call.video.is_none() && [call.from, call.to].into_iter().any(is_native) {
                let reason =
                    format!("call.{}: native peers do not support calls without video", call.name);
                return Err(Failure::new(format!("{reason}; use browsers")));
            }
            for host in [call.from, call.to].into_iter().filter(|host| call.unit() != Some(*host)) {
                if let Endpoint::Browser(browser) = measure.endpoint_of(scenario.name(host)) {
                    browser::check(browser).map_err(Failure::new)?;
                }
            }
        }
        for (key, file) in [("video", &measure.video), ("audio", &measure.audio)] {
            if let Some(file) = file.as_ref().filter(|file| !file.is_file()) {
                return Err(Failure::new(format!(
                    "measure.{key}: {} is not a file",
                    file.display()
                )));
            }
        }
    }
    if experiment.cells().iter().all(|cell| cell.scenario(experiment.seed).calls.is_empty()) {
        let path = &experiment.path;
        return Err(Failure::new(format!(
            "{path}: there is no call to measure; run it with 'weir emulate'"
        )));
    }
    Ok(())
}
