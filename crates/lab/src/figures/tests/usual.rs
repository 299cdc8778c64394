//! The usual plots, and means of several runs.

use super::{EXPERIMENT, body, message, section};
use crate::figures::{Figures, SectionBuilder};
use crate::runner::Job;
use report::{Dash, Role, Section, Series, Table, TimePlot};
use sim::Recording;
use sim::recording::{Column, Points, StreamKind, StreamRecord};
use units::{Duration, Seed, Time};

fn series<'a>(plot: &'a TimePlot, label: &str) -> Vec<&'a Series> {
    let panel = plot.panels.iter().find(|panel| panel.y_label == label);
    panel.unwrap_or_else(|| panic!("{label}: {:?}", labels(plot))).series.iter().collect()
}

fn labels(plot: &TimePlot) -> Vec<&str> {
    plot.panels.iter().map(|panel| panel.y_label.as_str()).collect()
}

fn names(series: &[&Series]) -> Vec<String> {
    series.iter().map(|series| series.name.clone()).collect()
}

#[test]
fn an_experiment_without_figures_gets_a_table_of_all_cells_and_plots_of_each() {
    let section = section("");
    assert_eq!(section.figures.len(), 1 + 4, "a table, and one plot per cell");
    let table: &Table = body(&section, 0);
    assert_eq!(table.label, "host.alice.up.queue, host.alice.up.rate");
    assert_eq!(
        (table.rows.len(), table.rows[1].label.as_str()),
        (4, "droptail limit 150ms, 1Mbit/s")
    );
    assert!(table.value(3, 0).is_some_and(|rate| rate.runs == 2 && rate.mean > 1e5));
    let plot: &TimePlot = body(&section, 1);
    assert_eq!(
        labels(plot),
        ["rate (Mbit/s)", "queuing delay (ms)", "RTT (ms)", "packets lost (%)"]
    );
    let rates = series(plot, "rate (Mbit/s)");
    assert_eq!(
        names(&rates),
        ["alice.up capacity", "main.video target", "main.video sent", "main.video received"]
    );
    assert_eq!(rates[0].role, Role::Reference);
    assert!(rates[1..].iter().all(|series| series.stream == "main.video"), "one colour");
    assert_eq!(
        rates[1..].iter().map(|series| series.dash).collect::<Vec<_>>(),
        [Some(Dash::Dotted), Some(Dash::Dashed), Some(Dash::Solid)]
    );
    assert_eq!(names(&series(plot, "queuing delay (ms)")), ["alice.up"]);
    // Two runs.
    assert!(rates[3].runs.len() == 2 && !rates[3].band.is_empty());
    assert!(plot.note.contains("mean of 2 runs") && plot.note.contains("faint: the single runs"));
    let page = crate::claims_report("Title", Vec::new(), &[], vec![section]);
    let page = report::html(&page).unwrap();
    assert!(page.contains("<svg") && page.contains("Two rates"));
}

#[test]
fn a_time_figure_shows_the_mean_of_all_runs_if_asked() {
    let time = "kind = \"time\"\ntitle = \"t\"\ncell = { \"host.alice.up.queue\" = \"droptail limit 150ms\" }\n\
                panels = [{ label = \"rate\", unit = \"kbit/s\", lines = [{ stream = \"main.video\", value = \"received_rate\" }] }]\n";
    let section = section(&format!("[[figure]]\n{time}run = \"all\"\n"));
    let plot: &TimePlot = body(&section, 0);
    assert_eq!(plot.panels[0].series[0].runs.len(), 2);
    assert!(plot.note.contains("95 % confidence interval"), "{}", plot.note);
    let error = message(&format!("{time}run = \"some\""));
    assert!(
        error.contains("figure.run: 'some' is not a run; use a number from 0, or \"all\""),
        "{error}"
    );
}

/// The section of an experiment without figures, from one hand-made recording per cell.
fn of_recording(experiment: &str, recording: &Recording) -> Section {
    let experiment = crate::parse(experiment, "x.toml").unwrap();
    let figures = Figures::read(&experiment).unwrap();
    let mut builder = SectionBuilder::new(&experiment, &figures);
    for cell in 0..experiment.cells().len() {
        let job = Job { experiment: 0, cell, run: 0, seed: Seed(1) };
        builder.add(figures.extract(&experiment, job, recording));
    }
    builder.section()
}

fn recording(streams: Vec<StreamRecord>) -> Recording {
    let (interval, duration) = (Duration::from_secs(1), Duration::from_secs(4));
    Recording { interval, duration, streams, events: Vec::new() }
}

fn stream(name: &str, kind: StreamKind, columns: &[(&'static str, [f64; 4])]) -> StreamRecord {
    let column =
        |(name, values): &(&'static str, [f64; 4])| Column { name, values: values.to_vec() };
    StreamRecord {
        name: name.to_owned(),
        kind,
        active: (Time::ZERO, Time::from_secs(4)),
        columns: columns.iter().map(column).collect(),
        points: Vec::new(),
    }
}

#[test]
fn cells_that_are_left_out_are_named_with_the_way_to_see_them() {
    let rates: Vec<String> = (1..=60).map(|rate| format!("\"{rate}Mbit/s\"")).collect();
    let base = EXPERIMENT.split("[grid]").next().unwrap();
    let text = format!("{base}[grid]\n\"host.alice.up.rate\" = [{}]\n", rates.join(", "));
    let sent = ("bytesSent", [1e3, 2e3, 3e3, 4e3]);
    let section =
        of_recording(&text, &recording(vec![stream("main.video", StreamKind::Video, &[sent])]));
    assert_eq!(section.figures.len(), 1 + 50);
    assert_eq!(body::<Table>(&section, 0).rows.len(), 60, "the table has every cell");
    for shown in [1, 50] {
        assert_eq!(
            section.figures[shown].caption,
            "Shown: the first 50 of 60 cells. Left out: host.alice.up.rate=51Mbit/s; \
             host.alice.up.rate=52Mbit/s; host.alice.up.rate=53Mbit/s and 7 more. To see one: 'weir report' \
             with --set 'host.alice.up.rate=51Mbit/s'; or a [[figure]] with 'cell' in the experiment file."
        );
    }
    assert!(section.figures[2].caption.is_empty());
}

#[test]
fn a_run_with_programs_only_shows_its_lines() {
    let text = "title = \"Programs\"\nduration = \"4s\"\n[host.a]\nup = { rate = \"1Mbit/s\" }\n[host.b]\n\
                [program.probe]\nhost = \"a\"\nping = \"b\"\n";
    let line = stream(
        "a.up",
        StreamKind::Line,
        &[
            ("rate", [1e6; 4]),
            ("bytesOut", [1e5, 2e5, 3e5, 4e5]),
            ("queueDelay", [0.0, 0.02, 0.05, 0.01]),
            ("packetsIn", [100.0, 200.0, 300.0, 400.0]),
            ("packetsDropped", [0.0, 0.0, 10.0, 10.0]),
        ],
    );
    let idle =
        stream("b.up", StreamKind::Line, &[("rate", [f64::INFINITY; 4]), ("packetsIn", [0.0; 4])]);
    let section = of_recording(text, &recording(vec![line, idle]));
    let plot: &TimePlot = body(&section, 0);
    assert_eq!(labels(plot), ["rate (Mbit/s)", "queuing delay (ms)", "packets lost (%)"]);
    let rates = series(plot, "rate (Mbit/s)");
    assert_eq!(names(&rates), ["a.up capacity", "a.up carried"]);
    assert_eq!(rates[1].points.len(), 4);
    assert!(rates[1].points.iter().all(|(_, rate)| (rate - 0.8).abs() < 1e-9), "{:?}", rates[1]);
    assert_eq!(series(plot, "queuing delay (ms)")[0].points[2], (3.0, 50.0));
    // Ten of the 200 packets of two seconds.
    assert_eq!(series(plot, "packets lost (%)")[0].points[2].1, 5.0);
}

#[test]
fn a_dump_of_one_end_shows_what_it_has() {
    let text = "title = \"Dump\"\nduration = \"4s\"\n[host.local]\n[host.remote]\n\
                [call.main]\nfrom = \"local\"\nto = \"remote\"\ntwo_way = true\n";
    let mut sent = stream(
        "main.video",
        StreamKind::Video,
        &[("bytesSent", [1e5, 2e5, 3e5, 4e5]), ("targetBitrate", [8e5; 4])],
    );
    let rtt = vec![(Time::from_secs(1), 0.05), (Time::from_secs(3), 0.06)];
    sent.points.push(Points { name: "roundTripTime", values: rtt });
    let received = stream(
        "main.video.back",
        StreamKind::Video,
        &[
            ("bytesReceived", [1e5, 2e5, 3e5, f64::NAN]),
            ("packetsReceived", [100.0, 198.0, 298.0, f64::NAN]),
            ("packetsLost", [0.0, 2.0, 2.0, f64::NAN]),
        ],
    );
    let section = of_recording(text, &recording(vec![sent, received]));
    assert!(!section.text.contains("cannot be drawn"), "{}", section.text);
    let plot: &TimePlot = body(&section, 0);
    assert_eq!(labels(plot), ["rate (kbit/s)", "RTT (ms)", "packets lost (%)"]);
    assert_eq!(
        names(&series(plot, "rate (kbit/s)")),
        ["main.video target", "main.video sent", "main.video.back received"]
    );
    assert_eq!(series(plot, "RTT (ms)")[0].points, [(1.0, 50.0), (3.0, 60.0)]);
    let lost = series(plot, "packets lost (%)");
    assert_eq!((lost[0].name.as_str(), lost[0].points[1].1), ("main.video.back", 1.0));
}
