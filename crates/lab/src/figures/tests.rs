//! Figures assembled from short runs.

mod usual;
mod values;

use super::*;
use crate::runner::{Job, NO_CACHE, Outcome, Runner};
use report::{Bars, Boxes, Cdf, Drawable, Figure, MarkAt, Role, Rows, Section, Series, TimePlot};
use std::num::NonZeroUsize;
use std::sync::atomic::AtomicBool;

const EXPERIMENT: &str = r#"
title = "Two rates"
source = "A paper, Fig. 1"
about = """
Why it is
so."""
duration = "10s"
runs = 2

[host.alice]
up = { rate = "1Mbit/s", delay = "25ms", queue = "droptail limit 150ms" }

[host.bob]

[call.main]
from = "alice"
to = "bob"
controller = "gcc:carlucci-2017"

[grid]
"host.alice.up.queue" = ["droptail limit 150ms", "droptail limit 350ms"]
"host.alice.up.rate" = ["500kbit/s", "1Mbit/s"]
"#;

/// The section with these figures, from short runs of the experiment.
fn section(figures: &str) -> Section {
    let experiment = crate::parse(&format!("{EXPERIMENT}{figures}"), "x.toml").unwrap();
    let experiments = [experiment];
    let figures = Figures::read(&experiments[0]).unwrap();
    let mut builder = SectionBuilder::new(&experiments[0], &figures);
    let cancel = AtomicBool::new(false);
    let runner = Runner {
        jobs: NonZeroUsize::new(2).unwrap(),
        cancel: &cancel,
        progress: &|_, _| {},
        cache: &NO_CACHE,
    };
    let each =
        |job: Job, recording: &_| figures.extract(&experiments[job.experiment], job, recording);
    runner.run(&experiments, each, |outcome: Outcome<_>| builder.add(outcome.result.unwrap()));
    builder.section()
}

/// What a figure shows, as this kind.
fn body<T: Drawable>(section: &Section, figure: usize) -> &T {
    section.figures[figure].body.downcast_ref().unwrap_or_else(|| panic!("{section:?}"))
}

fn message(figure: &str) -> String {
    let text = format!("{EXPERIMENT}[[figure]]\n{figure}");
    crate::parse(&text, "x.toml").unwrap_err().to_string()
}

#[test]
fn a_figure_shows_the_cells_of_its_filter() {
    let bars = |cell: &str| {
        let figures = format!(
            "[[figure]]\nkind = \"rows\"\ntitle = \"t\"\nlabel = \"u\"\ngroup = \"host.alice.up.rate\"\ncell = {cell}\n\
             values = [{{ metric = \"received_rate\", stream = \"main.video\" }}]\n"
        );
        let section = section(&figures);
        let groups = &body::<Rows>(&section, 0).0.groups;
        groups.iter().map(|group| group.label.clone()).collect::<Vec<_>>()
    };
    assert_eq!(bars("{ \"host.alice.up.rate\" = \"1Mbit/s\" }"), ["1Mbit/s"]);
    assert_eq!(
        bars("{ \"host.alice.up.rate\" = [\"1Mbit/s\", \"500kbit/s\"] }"),
        ["500kbit/s", "1Mbit/s"]
    );
    let figure = "kind = \"bars\"\ntitle = \"t\"\nlabel = \"u\"\nvalues = [{ metric = \"loss\", stream = \"main.video\" }]\n";
    let error = message(&format!("{figure}cell = {{ \"host.alice.up.rate\" = \"1Mbits\" }}"));
    assert!(
        error.contains("'1Mbits' is not a value of host.alice.up.rate")
            && error.contains("did you mean 1Mbit/s?"),
        "{error}"
    );
}

#[test]
fn a_plot_over_time_shows_one_run_of_each_cell_of_its_filter() {
    let section = section(
        r#"
[[figure]]
kind = "time"
title = "Rate"
run = 1
cell = { "host.alice.up.queue" = "droptail limit 350ms", "host.alice.up.rate" = "1Mbit/s" }
panels = [
  { label = "rate", unit = "kbit/s", marks = [{ y = 860, from = 0, to = 5, label = "86 %" }], lines = [
    { stream = "alice.up", value = "rate", name = "capacity", reference = true },
    { stream = "main.video", value = "received_rate", name = "received" },
  ] },
  { label = "RTT", unit = "ms", lines = [{ stream = "main.video", value = "roundTripTime", dots = true }] },
]
"#,
    );
    let [Figure { title, .. }] = section.figures.as_slice() else {
        panic!("{:?}", section.figures)
    };
    let panels = &body::<TimePlot>(&section, 0).panels;
    assert_eq!(title, "Rate: host.alice.up.queue=droptail limit 350ms, host.alice.up.rate=1Mbit/s");
    assert_eq!(
        (panels[0].y_label.as_str(), panels[1].y_label.as_str()),
        ("rate (kbit/s)", "RTT (ms)")
    );
    assert_eq!(
        panels[0].series[0].points[0],
        (0.5, 1000.0),
        "the first sample, in the unit of the panel"
    );
    assert_eq!(panels[0].series[0].role, Role::Reference);
    assert_eq!(panels[0].series[1].stream, "main.video", "the stream decides the colour");
    assert_eq!(body::<TimePlot>(&section, 0).note, "One run per line: run 2 of its cell.");
    assert_eq!(panels[0].marks[0].at, MarkAt::YBetween { y: 860.0, from: 0.0, to: 5.0 });
    assert!(panels[1].series[0].points.iter().all(|(_, rtt)| *rtt >= 25.0), "milliseconds");
    assert_eq!(section.text, "A paper, Fig. 1.\n\nWhy it is so.\n\n2 runs per cell, seeds from 1.");
}

#[test]
fn bars_and_boxes_are_grouped() {
    let section = section(
        r#"
[[figure]]
kind = "bars"
title = "Utilisation"
label = "utilisation"
unit = "%"
group = "host.alice.up.queue"
series = "host.alice.up.rate"
values = [{ metric = "utilization", stream = "main.video", line = "alice.up", published = [90, 91, 92, 93] }]

[[figure]]
kind = "boxes"
title = "Delay"
label = "queuing delay"
unit = "ms"
log = true
group = "host.alice.up.queue"
series = "host.alice.up.rate"
values = [{ metric = "queuing_delay", stream = "main.video" }]

[[figure]]
kind = "bars"
title = "Two values"
label = "rate"
cell = { "host.alice.up.rate" = "1Mbit/s" }
values = [
  { name = "sent", metric = "sent_rate", stream = "main.video" },
  { name = "received", metric = "received_rate", stream = "main.video" },
]
"#,
    );
    let (bars, two) = (&body::<Bars>(&section, 0).0, &body::<Bars>(&section, 2).0);
    let boxes = &body::<Boxes>(&section, 1).0;
    let groups: Vec<&str> = bars.groups.iter().map(|group| group.label.as_str()).collect();
    assert_eq!(groups, ["droptail limit 150ms", "droptail limit 350ms"]);
    let names: Vec<&str> = bars.series.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["500kbit/s", "1Mbit/s"]);
    let bar = bars.groups[1].items[0].unwrap();
    let (low, high) = bar.interval.unwrap();
    assert!(low <= bar.value && bar.value <= high && bar.value > 1.0 && bar.runs == 2, "{bar:?}");
    assert_eq!(
        (bars.x_label.as_str(), bars.legend.as_str(), two.x_label.as_str()),
        ("queue of alice.up", "rate of alice.up", "queue of alice.up")
    );
    assert!(
        bars.note.contains("95 % confidence interval") && bars.note.ends_with("mean of 2 runs.")
    );
    assert!(boxes.note.contains("5th and 95th percentile") && boxes.note.ends_with("2 runs."));
    assert_eq!(bar.published, Some(92.0));
    let stats = boxes.groups[0].items[1].unwrap();
    assert!(
        stats.p5 <= stats.p25 && stats.p25 <= stats.p50 && stats.p75 <= stats.p95 && boxes.log_y,
        "{stats:?}"
    );
    assert_eq!(
        two.series.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(),
        ["sent", "received"]
    );
    assert_eq!(
        two.groups.iter().filter(|group| group.items.iter().all(Option::is_some)).count(),
        2
    );
}

#[test]
fn a_distribution_has_one_line_per_cell_with_the_samples_of_all_runs() {
    let section = section(
        r#"
[[figure]]
kind = "cdf"
title = "RTT"
label = "RTT"
unit = "ms"
cell = { "host.alice.up.rate" = "1Mbit/s" }
value = { metric = "rtt", stream = "main.video" }
marks = [{ x = 130, label = "p95 130 ms" }]
"#,
    );
    let Cdf { series, marks, x_label, .. } = body(&section, 0);
    assert_eq!(
        series.iter().map(|series| series.name.as_str()).collect::<Vec<_>>(),
        ["droptail limit 150ms, 1Mbit/s", "droptail limit 350ms, 1Mbit/s"]
    );
    assert_eq!((x_label.as_str(), marks[0].at), ("RTT (ms)", MarkAt::X(130.0)));
    // About ten reports per run, and the first point of the line.
    assert!(series[0].points.len() > 12, "{}", series[0].points.len());
}

#[test]
fn a_distribution_over_streams_has_one_value_per_stream() {
    let section = section(
        r#"
[[figure]]
kind = "cdf"
title = "Rates"
label = "rate"
unit = "kbit/s"
of = "streams"
cell = { "host.alice.up.rate" = "1Mbit/s" }
value = { metric = "received_rate", streams = ["main.*"] }
"#,
    );
    let Cdf { series, .. } = body(&section, 0);
    // One stream in two runs, and the first point of the line.
    assert_eq!(series.iter().map(|series| series.points.len()).collect::<Vec<_>>(), [3, 3]);
}

#[test]
fn a_figure_of_an_unknown_stream_is_left_out_and_the_text_says_why() {
    let section = section(
        "[[figure]]\nkind = \"cdf\"\ntitle = \"None\"\nlabel = \"x\"\nvalue = { metric = \"rtt\", stream = \"mian.video\" }\n",
    );
    assert!(section.figures.is_empty());
    assert!(
        section.text.contains(
            "The figure 'None' cannot be drawn: rtt_mean: there is no stream 'mian.video'"
        ),
        "{}",
        section.text
    );
}

#[test]
fn errors_name_the_line_and_the_suggestion() {
    let line = EXPERIMENT.lines().count() + 3;
    let at = |message: String| message.replace(&format!("x.toml:{line}"), "x.toml:N");
    let messages = [
        message("kind = \"pie\"\ntitle = \"x\""),
        message("kind = \"time\"\ntitle = \"x\""),
        message("kind = \"bars\"\ntitle = \"x\""),
        message("kind = \"cdf\"\ntitle = \"x\"\nlabel = \"x\"\nunit = \"furlong\""),
        message("kind = \"cdf\"\ntitle = \"x\"\nlabel = \"x\"\nvalue = { metric = \"jain\" }"),
        message(
            "kind = \"cdf\"\ntitle = \"x\"\nlabel = \"x\"\nvalue = { metric = \"rtt\" }\nmarks = [{ x = 1, y = 2 }]",
        ),
        message(
            "kind = \"cdf\"\ntitle = \"x\"\nlabel = \"x\"\nvalue = { metric = \"rtt\" }\ncell = { a = 1 }",
        ),
        message(
            "kind = \"bars\"\ntitle = \"x\"\nlabel = \"x\"\nvalue = []\nvalues = [{ metric = \"jain\" }]",
        ),
        message("kind = \"table\"\ntitle = \"x\""),
        message(
            "kind = \"table\"\ntitle = \"x\"\nvalues = [{ metric = \"rtt_p95\", stream = \"main.video\", unit = \"kbit/s\" }]",
        ),
        message("kind = \"scatter\"\ntitle = \"x\"\nx = { metric = \"jain\" }"),
        message("kind = \"scatter\"\ntitle = \"x\"\nx = { metric = \"jain\", name = \"x\" }"),
        message(
            "kind = \"scatter\"\ntitle = \"x\"\nx = { metric = \"jain\" }\ny = { metric = \"sinr_mean\" }\nrelative = \"1Mbit/s\"",
        ),
    ];
    insta::assert_snapshot!(messages.map(at).join("\n"));
}

#[test]
fn cells_of_one_axis_share_a_figure_with_their_reference() {
    let time = "kind = \"time\"\ntitle = \"t\"\ncell = { \"host.alice.up.queue\" = \"droptail limit 150ms\" }\n\
                panels = [{ label = \"rate\", unit = \"kbit/s\", lines = [{ stream = \"main.video\", value = \"received_rate\" }] }]\n";
    let axis = "series = \"host.alice.up.rate\"\n";
    let section = section(&format!("[[figure]]\n{time}{axis}reference = \"1Mbit/s\"\n"));
    assert_eq!(section.figures.len(), 1);
    let series = &body::<TimePlot>(&section, 0).panels[0].series;
    let names: Vec<_> =
        series.iter().map(|Series { name, role, .. }| (name.as_str(), *role)).collect();
    assert_eq!(names, [("500kbit/s", Role::Series(0)), ("1Mbit/s", Role::Reference)]);
    assert_eq!(body::<TimePlot>(&section, 0).panels[0].legend, "rate of alice.up");
    let of = |more: &str| message(&format!("{time}{more}"));
    assert!(
        of("series = \"nosuch\"")
            .contains("figure 't': series = 'nosuch' is not an axis; name an axis")
    );
    let error = of(&format!("{axis}reference = \"1Mbits\""));
    assert!(
        error.contains("reference = '1Mbits' is not a value of host.alice.up.rate")
            && error.contains("did you mean 1Mbit/s?"),
        "{error}"
    );
    assert!(
        of("reference = \"1Mbit/s\"")
            .contains("reference = '1Mbit/s' has no axis; name its axis: series = …")
    );
}
