//! `weir explain`: what limited a call, and when.

use super::{outputs_apart, write_file};
use crate::cli::Explain as Args;
use crate::failure::Failure;
use crate::output::{Output, Rows};
use lab::explain::judge::{Judgement, cases, run as simulate};
use lab::explain::{CAUSES, Cause, Explanation, STEP, explain, network};
use metrics::Unit;
use report::{Figure, Panel, Report, Section, Series, SeriesStyle, TimePlot};
use serde_json::{Value, json};
use sim::Recording;
use std::path::Path;
use std::process::ExitCode;
use store::Store;

pub(crate) fn run(args: &Args) -> Result<ExitCode, Failure> {
    if let Some(calls) = args.judge {
        return judge(calls, args.seed, args.json);
    }
    let outputs: Vec<&Path> = args.output.iter().chain(&args.network).map(AsRef::as_ref).collect();
    let read = args.recordings.iter().map(Path::new).chain(args.from.as_deref());
    outputs_apart(&outputs, &read.collect::<Vec<_>>())?;
    let name = args.recordings.join(", ");
    let Recorded { recording, clocks, is_of_browser } = recorded(args)?;
    let explanations = explain(&recording);
    let Some(first) = explanations.first() else {
        return Err(Failure::new(format!("{name}: it has no video; only video is explained")));
    };
    if let Some(path) = &args.network {
        let today = is_of_browser && args.controller == experiment::TODAY;
        write_file(path, &network(first, &args.controller, today))?;
    }
    if let Some(path) = &args.output {
        write_file(path, &report::html(&page(&name, &explanations)?)?)?;
    }
    let mut out = Output::new();
    for (place, explanation) in explanations.iter().enumerate() {
        if args.json {
            out.json(&line(&name, explanation))?;
            continue;
        }
        if place > 0 {
            out.line("")?;
        }
        print(&mut out, &name, explanation)?;
    }
    if let Some(clocks) = clocks.filter(|_| !args.json) {
        out.line(clocks)?;
    }
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}

struct Recorded {
    recording: Recording,
    /// What is known of the clocks of two files, in one sentence.
    clocks: Option<String>,
    /// Whether a browser made the recording of its own call.
    is_of_browser: bool,
}

fn recorded(args: &Args) -> Result<Recorded, Failure> {
    if let Some(path) = &args.from {
        let [number] = &args.recordings[..] else {
            return Err(Failure::new("--from explains one run; name it by its number"));
        };
        let id = number.parse().map_err(|_| {
            Failure::new(format!(
                "\"{number}\" is not the number of a run; see 'weir list --store'"
            ))
        })?;
        let recording = Store::open(path)?.recording(id)?;
        return Ok(Recorded { recording, clocks: None, is_of_browser: false });
    }
    of_files(args)
}

#[cfg(feature = "testbed")]
fn of_files(args: &Args) -> Result<Recorded, Failure> {
    let files: Vec<_> = args.recordings.iter().map(std::path::PathBuf::from).collect();
    let joined = super::import::joined(&files, "explained")?;
    let clocks = super::import::clocks(&joined);
    let is_of_browser = joined.kind != testbed::import::Kind::Capture;
    Ok(Recorded { recording: joined.imported.recording, clocks, is_of_browser })
}

#[cfg(not(feature = "testbed"))]
fn of_files(_: &Args) -> Result<Recorded, Failure> {
    Err(Failure::new("this build reads only stores; use --from, or 'make build' for files"))
}

fn print(out: &mut Output, name: &str, explanation: &Explanation) -> Result<(), Failure> {
    out.line(format_args!(
        "{name}: {}, {} s",
        explanation.signals.stream, explanation.signals.len
    ))?;
    let mut rows = Rows::new(["time", "limited by", "because"]);
    for finding in &explanation.findings {
        let (from, to) = finding.times();
        rows.add([
            format!("{from:.0}–{to:.0} s"),
            finding.cause.to_string(),
            finding.evidence.clone(),
        ]);
    }
    for (from, to) in &explanation.unknown {
        let time = format!("{from}–{to} s");
        rows.add([time, "unknown".to_owned(), "the rate is low, and no rule says why".to_owned()]);
    }
    if explanation.findings.is_empty() && explanation.unknown.is_empty() {
        let told = if explanation.missing.is_empty() { "" } else { "no cause that can be told: " };
        out.line(format_args!("{told}nothing limited the call"))?;
    } else {
        out.table(&rows)?;
    }
    for sentence in sentences(explanation) {
        out.line(sentence)?;
    }
    Ok(())
}

/// The path, what to try and what cannot be told, in sentences.
fn sentences(explanation: &Explanation) -> Vec<String> {
    let mut sentences = vec![path(explanation)];
    let remedies = remedies(explanation);
    if !remedies.is_empty() {
        sentences.push(format!(
            "to try: {}; 'weir explain … --network fitted.toml' and 'weir advise fitted.toml' rank them",
            remedies.join(", ")
        ));
    }
    for (cause, what) in &explanation.missing {
        sentences.push(format!("cannot tell {cause}, which needs {what}"));
    }
    sentences
}

/// The path in one sentence.
fn path(explanation: &Explanation) -> String {
    let path = &explanation.path;
    let rate = |rate: f64| format!("{:.0} kbit/s", rate / 1e3);
    let capacity = if path.capacity.is_finite() {
        let (low, high) = path.quartiles;
        format!("capacity {} (quartiles {} to {})", rate(path.capacity), rate(low), rate(high))
    } else {
        "capacity unknown: the call built no queue".to_owned()
    };
    let base = if path.base_rtt.is_finite() {
        format!("least round-trip time {:.0} ms", path.base_rtt * 1e3)
    } else {
        "round-trip time unknown".to_owned()
    };
    let buffer = match path.is_full {
        _ if !path.buffer_delay.is_finite() => "buffer unknown".to_owned(),
        true => format!("buffer {:.0} ms", path.buffer_delay * 1e3),
        false => format!("buffer at least {:.0} ms", path.buffer_delay * 1e3),
    };
    format!("path: {capacity}; {base}; {buffer}")
}

/// The remedies of all causes that were found, without repetition.
fn remedies(explanation: &Explanation) -> Vec<&'static str> {
    let mut remedies = Vec::new();
    for rule in CAUSES.iter().filter(|rule| explanation.has(rule.cause())) {
        for remedy in rule.remedies() {
            if !remedies.contains(remedy) {
                remedies.push(*remedy);
            }
        }
    }
    remedies
}

fn line(name: &str, explanation: &Explanation) -> Value {
    let findings = explanation.findings.iter().map(|finding| {
        let (from, to) = finding.times();
        let rule = CAUSES.iter().find(|rule| rule.cause() == finding.cause);
        json!({
            "cause": finding.cause.as_str(),
            "from": from,
            "to": to,
            "evidence": finding.evidence,
            "series": finding.series,
            "rule": rule.map(|rule| rule.says()),
            "source": rule.map(|rule| rule.source()),
        })
    });
    let path = &explanation.path;
    let number = |value: f64| value.is_finite().then_some(value);
    json!({
        "recording": name,
        "stream": explanation.signals.stream,
        "duration": explanation.signals.len as f64 * STEP,
        "findings": findings.collect::<Vec<_>>(),
        "unknown": explanation.unknown.iter()
            .map(|(from, to)| json!({ "from": from, "to": to })).collect::<Vec<_>>(),
        "missing": explanation.missing.iter()
            .map(|(cause, what)| json!({ "cause": cause.as_str(), "what": what })).collect::<Vec<_>>(),
        "path": {
            "capacity": number(path.capacity),
            "capacityLow": number(path.quartiles.0),
            "capacityHigh": number(path.quartiles.1),
            "roundTripTime": number(path.base_rtt),
            "bufferDelay": number(path.buffer_delay),
            "bufferIsFull": path.is_full,
            "randomLoss": number(path.random_loss),
        },
        "remedies": remedies(explanation),
    })
}

/// A page with the findings of each video and the series that show them.
fn page(name: &str, explanations: &[Explanation]) -> Result<Report, Failure> {
    let sections = explanations.iter().map(|explanation| {
        let signals = &explanation.signals;
        let series = |name: &str, values: &[f64], factor: f64| Series {
            name: name.to_owned(),
            points: values
                .iter()
                .enumerate()
                .map(|(step, value)| ((step as f64 + 0.5) * STEP, value * factor))
                .collect(),
            style: SeriesStyle::Line,
            ..Series::default()
        };
        let panel = |title: &str, y_label: &str, series: Vec<Series>| Panel {
            title: title.to_owned(),
            y_label: y_label.to_owned(),
            series: series.into_iter().enumerate().map(colour).collect(),
            ..Panel::default()
        };
        // A line per cause, at its place in the list, where it was found.
        let causes: Vec<Cause> =
            Cause::ALL.into_iter().filter(|cause| explanation.has(*cause)).collect();
        let found = causes.iter().enumerate().map(|(place, cause)| {
            let values: Vec<f64> = (0..signals.len)
                .map(|step| {
                    let of = explanation.findings.iter().filter(|one| one.cause == *cause);
                    let is = of.into_iter().any(|one| (one.steps.0..one.steps.1).contains(&step));
                    if is { (causes.len() - place) as f64 } else { f64::NAN }
                })
                .collect();
            series(cause.as_str(), &values, 1.0)
        });
        let panels = vec![
            panel("Limited by", "", found.collect()),
            panel(
                "Rates",
                "kbit/s",
                vec![
                    series("sent", &signals.sent, 1e-3),
                    series("received", &signals.received, 1e-3),
                    series("target", &signals.target, 1e-3),
                    series("capacity seen", &explanation.path.share, 1e-3),
                ],
            ),
            panel(
                "Delays",
                "ms",
                vec![
                    series("queue", &signals.queue, 1e3),
                    series("round-trip time", &signals.rtt, 1e3),
                ],
            ),
            panel("Loss", "%", vec![series("loss", &signals.loss, 100.0)]),
        ];
        let mut text: Vec<String> = explanation
            .findings
            .iter()
            .map(|finding| {
                let (from, to) = finding.times();
                let rule = CAUSES.iter().find(|rule| rule.cause() == finding.cause);
                let says = rule.map_or("", |rule| rule.says());
                format!(
                    "{from:.0}–{to:.0} s, {}: {}. Rule: {says}.",
                    finding.cause, finding.evidence
                )
            })
            .collect();
        text.extend(explanation.unknown.iter().map(|(from, to)| {
            format!("{from}–{to} s, unknown: the rate is low, and no rule says why.")
        }));
        text.extend(sentences(explanation));
        Section {
            id: signals.stream.replace('.', "-"),
            title: signals.stream.clone(),
            text: text.join("\n\n"),
            figures: vec![Figure {
                id: format!("series-{}", signals.stream.replace('.', "-")),
                title: "The call, second by second".to_owned(),
                caption: String::new(),
                body: Box::new(TimePlot {
                    panels,
                    x_label: "time, s".to_owned(),
                    note: String::new(),
                }),
            }],
            ..Section::default()
        }
    });
    Ok(Report {
        title: format!("What limited {name}"),
        subtitle: String::new(),
        facts: super::report::provenance()?,
        claims: Vec::new(),
        sections: sections.collect(),
    })
}

fn colour((place, series): (usize, Series)) -> Series {
    Series { role: report::Role::Series(place), ..series }
}

/// Simulates calls whose truth is known.
fn judge(calls: usize, seed: u64, json: bool) -> Result<ExitCode, Failure> {
    let mut judgement = Judgement::default();
    let mut out = Output::new();
    for (index, case) in cases(calls, seed).iter().enumerate() {
        let explanation =
            simulate(case, seed).map_err(|error| Failure::new(format!("call {index}: {error}")))?;
        judgement.add(case, &explanation);
        if json {
            let mut line = line(&format!("call {index}"), &explanation);
            let words =
                |causes: &[Cause]| causes.iter().map(|one| one.as_str()).collect::<Vec<_>>();
            line["truth"] = json!(words(&case.causes));
            line["allowed"] = json!(words(&case.allowed));
            line["experiment"] = json!(case.text);
            out.json(&line)?;
        }
    }
    if json {
        out.finish()?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut rows = Rows::new(["cause", "calls", "right", "wrong", "missed", "precision", "recall"]);
    let share =
        |share: Option<f64>| share.map_or("–".to_owned(), |share| Unit::Share.show(share));
    for cause in Cause::ALL {
        let score = judgement.score(cause);
        rows.add([
            cause.to_string(),
            (score.right + score.missed).to_string(),
            score.right.to_string(),
            score.wrong.to_string(),
            score.missed.to_string(),
            share(score.precision()),
            share(score.recall()),
        ]);
    }
    out.table(&rows)?;
    let Judgement { calls, used, fitted, fit_calls, well_fitted, .. } = judgement;
    out.line(format_args!(
        "{calls} calls. Fitted capacity within 10 %: {fitted} of {used} s in which a call used more \
         than 70 % of it; at least 80 % of these in {well_fitted} of {fit_calls} calls"
    ))?;
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}
