//! `weir replay`: the recorded feedback through a controller.

use super::{outputs_apart, write_file};
use crate::cli::Replay as Args;
use crate::failure::Failure;
use crate::output::{Output, Rows};
use metrics::Unit;
use report::{Figure, Panel, Report, Role, Section, Series, SeriesStyle, TimePlot};
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use testbed::event_log::{DetectorState, EventLog, Format};
use testbed::replay::{
    Agreement, Divergence, Quantity, Replay, SendTimes, Share, Step, Values, controller, replay,
    take_send_times,
};
use units::Bitrate;

pub(crate) fn run(args: &Args) -> Result<ExitCode, Failure> {
    let of_file =
        |error: &dyn std::fmt::Display| Failure::new(format!("{}: {error}", args.file.display()));
    if let Some(output) = &args.output {
        let inputs = [Some(&args.file), args.capture.as_ref()];
        let inputs: Vec<&Path> = inputs.into_iter().flatten().map(PathBuf::as_path).collect();
        outputs_apart(&[output], &inputs)?;
    }
    let config = controller(&args.controller, &args.set)
        .map_err(|error| Failure::new(format!("--set: {error}")))?;
    let mut opened = super::import::opened(&args.file)?;
    let kind = opened.kind;
    let log = opened.log_mut().ok_or_else(|| {
        of_file(&format!("a dump of {kind} has no packets to replay; give an RtcEventLog"))
    })?;
    let times = args.capture.as_ref().map(|file| send_times(log, file)).transpose()?;
    let log = &*log;
    let replayed = replay(log, &config).map_err(|error| of_file(&error))?;
    let agreement = Agreement::of(&replayed);
    if let Some(output) = &args.output {
        write_file(output, &report::html(&page(args, log, &replayed, &agreement)?)?)?;
    }
    let mut out = Output::new();
    if args.json {
        for step in &replayed.steps {
            out.json(&line(&replayed, step))?;
        }
        let mut summary = summary(args, log, &replayed, &agreement);
        summary["sendTimes"] = times.map_or(Value::Null, |times| {
            json!({ "found": times.found, "packets": times.packets,
                "medianDelay": times.median_delay.as_secs_f64(),
                "p95Delay": times.p95_delay.as_secs_f64() })
        });
        out.json(&json!({ "summary": summary }))?;
    } else {
        print(&mut out, args, log, &replayed, &agreement)?;
        if let Some(times) = times {
            out.line(format_args!(
                "times of {} of {} packets are those of the capture: {} after the log (median), {} \
                 (95th percentile)",
                times.found, times.packets, times.median_delay, times.p95_delay,
            ))?;
        }
    }
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}

/// Gives the packets of a log the times of a capture.
fn send_times(log: &mut EventLog, file: &Path) -> Result<SendTimes, Failure> {
    let of_file =
        |error: &dyn std::fmt::Display| Failure::new(format!("{}: {error}", file.display()));
    let opened = super::import::opened(file)?;
    let capture = opened.log().filter(|log| log.format == Format::Capture).ok_or_else(|| {
        of_file(&format!("it is a {}; give a packet capture (pcap, pcapng)", opened.kind))
    })?;
    take_send_times(log, capture).map_err(|error| of_file(&error))
}

/// Seconds from the first to the last feedback message.
fn length(replayed: &Replay) -> f64 {
    replayed.steps.last().map_or(0.0, |step| step.at.as_secs_f64())
}

fn print(
    out: &mut Output,
    args: &Args,
    log: &EventLog,
    replayed: &Replay,
    agreement: &Agreement,
) -> Result<(), Failure> {
    out.line(format_args!(
        "{}: {:.1} s, {} packets sent, {} feedback messages, {} updates of the delay-based estimate",
        args.file.display(),
        length(replayed),
        replayed.packets,
        replayed.steps.len(),
        log.delay_based.len(),
    ))?;
    out.line(format_args!("replayed with {}", args.controller))?;
    let mut rows = Rows::new(["agrees", "at updates", "at all feedback messages"]);
    let share =
        |share: Share| share.share().map_or("–".to_owned(), |share| Unit::Share.show(share));
    let none = Share::default();
    for (name, updates, all) in [
        ("detector's state", agreement.state_at_updates, agreement.state),
        ("delay-based estimate, within 5 %", agreement.estimate_at_updates, agreement.estimate),
        ("target, within 5 %", none, agreement.target),
    ] {
        rows.add([name.to_owned(), share(updates), share(all)]);
    }
    out.table(&rows)?;
    let compared = [agreement.state, agreement.estimate, agreement.target];
    let text = match &agreement.first_divergence {
        Some(divergence) => first(divergence),
        None if compared.iter().all(|share| share.compared == 0) => {
            "nothing to compare: the log or the controller has no such values".to_owned()
        }
        None => "no divergence".to_owned(),
    };
    out.line(text)
}

/// The first divergence in one line.
fn first(divergence: &Divergence) -> String {
    let name = match divergence.quantity {
        Quantity::State => "detector's state",
        Quantity::Estimate => "delay-based estimate",
        Quantity::Target => "target",
    };
    let shown = |values: &Values| {
        let rate = |rate: Option<Bitrate>| rate.map_or("–".to_owned(), |rate| rate.to_string());
        format!(
            "{}, estimate {}, target {}",
            values.state.map_or("–", word),
            rate(values.estimate),
            rate(values.target)
        )
    };
    format!(
        "first divergence: {:.3} s, {name}: recorded {}; replayed {}",
        divergence.at.as_secs_f64(),
        shown(&divergence.recorded),
        shown(&divergence.replayed)
    )
}

fn word(state: DetectorState) -> &'static str {
    match state {
        DetectorState::Normal => "normal",
        DetectorState::Underusing => "underusing",
        DetectorState::Overusing => "overusing",
    }
}

fn values(values: &Values) -> Value {
    let bps = |rate: Option<Bitrate>| rate.map(Bitrate::as_bps);
    json!({ "target": bps(values.target), "estimate": bps(values.estimate),
        "state": values.state.map(word) })
}

fn line(replayed: &Replay, step: &Step) -> Value {
    let signals = replayed.signals.iter().zip(&step.signals);
    let signals: Map<String, Value> =
        signals.map(|(name, value)| ((*name).to_owned(), Value::from(*value))).collect();
    json!({ "time": step.at.as_secs_f64(), "recorded": values(&step.recorded),
        "replayed": values(&step.replayed), "updates": step.updates, "signals": signals })
}

fn summary(args: &Args, log: &EventLog, replayed: &Replay, agreement: &Agreement) -> Value {
    let share = |share: Share| {
        json!({ "compared": share.compared, "agree": share.agree,
        "share": share.share() })
    };
    json!({
        "file": args.file.display().to_string(),
        "format": match log.format {
            Format::Columns => "columns",
            Format::Legacy => "legacy",
            Format::Capture => "capture",
        },
        "controller": args.controller,
        "duration": length(replayed),
        "packets": replayed.packets,
        "feedback": replayed.steps.len(),
        "updates": log.delay_based.len(),
        "undecodableRtcp": replayed.undecodable,
        "damagedMessages": log.damaged,
        "error": log.error.as_ref().map(ToString::to_string),
        "skippedFields": log.skipped.iter().map(|(field, count)| (field.to_string(), Value::from(*count)))
            .collect::<Map<_, _>>(),
        "stateAtUpdates": share(agreement.state_at_updates),
        "estimateAtUpdates": share(agreement.estimate_at_updates),
        "state": share(agreement.state),
        "estimate": share(agreement.estimate),
        "target": share(agreement.target),
        "firstDivergence": agreement.first_divergence.as_ref().map(|divergence| json!({
            "time": divergence.at.as_secs_f64(),
            "quantity": match divergence.quantity {
                Quantity::State => "state",
                Quantity::Estimate => "estimate",
                Quantity::Target => "target",
            },
            "recorded": values(&divergence.recorded),
            "replayed": values(&divergence.replayed),
        })),
    })
}

/// A page with the rates, the states, and the signals that have no recorded counterpart.
fn page(
    args: &Args,
    log: &EventLog,
    replayed: &Replay,
    agreement: &Agreement,
) -> Result<Report, Failure> {
    let series = |name: &str, role, of: &dyn Fn(&Step) -> f64| Series {
        name: name.to_owned(),
        points: replayed.steps.iter().map(|step| (step.at.as_secs_f64(), of(step))).collect(),
        style: SeriesStyle::Step,
        role,
        ..Series::default()
    };
    let kbps = |rate: Option<Bitrate>| rate.map_or(f64::NAN, |rate| rate.as_bps_f64() / 1e3);
    let number = |state: Option<DetectorState>| match state {
        None => f64::NAN,
        Some(DetectorState::Underusing) => -1.0,
        Some(DetectorState::Normal) => 0.0,
        Some(DetectorState::Overusing) => 1.0,
    };
    let both = |title: &str, y_label: &str, of: &dyn Fn(&Values) -> f64| Panel {
        title: title.to_owned(),
        y_label: y_label.to_owned(),
        series: vec![
            series("recorded", Role::Reference, &|step| of(&step.recorded)),
            series("replayed", Role::Series(0), &|step| of(&step.replayed)),
        ],
        ..Panel::default()
    };
    let compared = vec![
        both("Target", "kbit/s", &|values| kbps(values.target)),
        both("Delay-based estimate", "kbit/s", &|values| kbps(values.estimate)),
        both("Detector: −1 underusing, 1 overusing", "", &|values| number(values.state)),
    ];
    let signals = replayed.signals.iter().enumerate().map(|(index, name)| Panel {
        title: (*name).to_owned(),
        series: vec![series(name, Role::Series(0), &|step| {
            step.signals.get(index).copied().unwrap_or(f64::NAN)
        })],
        ..Panel::default()
    });
    let figure = |id: &str, title: &str, panels| Figure {
        id: id.to_owned(),
        title: title.to_owned(),
        caption: String::new(),
        body: Box::new(TimePlot { panels, x_label: "time, s".to_owned(), note: String::new() }),
    };
    let share =
        |share: Share| share.share().map_or("–".to_owned(), |share| Unit::Share.show(share));
    let fact = |name: &str, value: String| (name.to_owned(), value);
    let mut facts = super::report::provenance()?;
    facts.extend([
        fact("Length", format!("{:.1} s", length(replayed))),
        fact("Feedback messages", replayed.steps.len().to_string()),
        fact("Updates of the delay-based estimate", log.delay_based.len().to_string()),
        fact("State agrees at updates", share(agreement.state_at_updates)),
        fact("Estimate within 5 % at updates", share(agreement.estimate_at_updates)),
        fact("Target within 5 %", share(agreement.target)),
        fact(
            "First divergence",
            agreement.first_divergence.as_ref().map_or("none".to_owned(), first),
        ),
    ]);
    Ok(Report {
        title: format!("Replay of {}", args.file.display()),
        subtitle: format!("The recorded feedback, through {}", args.controller),
        facts,
        claims: Vec::new(),
        sections: vec![Section {
            id: "replay".to_owned(),
            title: "Recorded and replayed".to_owned(),
            figures: vec![
                figure("compared", "Recorded and replayed values", compared),
                figure("signals", "Signals of the replayed controller", signals.collect()),
            ],
            ..Section::default()
        }],
    })
}
