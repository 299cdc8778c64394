//! Writes a report made of invented series to the file named as argument, to look at the layout:
//! `cargo run -p weir-lab --example sample_report -- sample.html`.

use lab::metrics::{Better, Estimate, Unit};
use lab::report::{
    At, Bar, Body, BoxStats, Cell, Cells, ClaimRow, Column, Dimension, Figure, Group, Grouped,
    Line, LineStyle, Mark, MarkKind, Panel, Point, Report, Role, Row, Scatter, Section, Status,
    Table, TextTable, html,
};
use std::error::Error;

/// Copies of the figures, to look at the size of a full report.
const COPIES: usize = 12;

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("name the file to write")?;
    let page = html(&sample())?;
    std::fs::write(&path, &page)?;
    println!("{path}: {} kB", page.len() / 1000);
    Ok(())
}

fn sample() -> Report {
    let sections = (1..=COPIES).map(section).collect();
    let fact = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    Report {
        title: "Sample report: invented numbers".to_owned(),
        subtitle: "Every series in it is made up; it shows the layout only.".to_owned(),
        facts: vec![
            fact("Version", "0.1.0"),
            fact("Seed", "1"),
            fact("Runs", "1 240"),
            fact("Simulated time", "4 d 7 h"),
        ],
        claims: claims(),
        sections,
    }
}

fn claims() -> Vec<ClaimRow> {
    let row = |id: &str, paper: &str, status, measured: &str, note: &str| ClaimRow {
        id: id.to_owned(),
        paper: paper.to_owned(),
        source: "Fig. 11".to_owned(),
        setting: "1 flow, C {500, 1000, 1500, 2000} kbit/s × T_q {150, 350, 700} ms, 300 s"
            .to_owned(),
        published: "utilisation slightly above 90 % in all 12".to_owned(),
        check: "≥ 0.88 in all 12".to_owned(),
        status,
        measured: measured.to_owned(),
        note: note.to_owned(),
        beside: vec![
            ("gcc:libwebrtc".to_owned(), Some(false), "utilisation 81.0 % to 96.1 %".to_owned()),
            ("gcc:draft-02".to_owned(), None, "it has no setting 'threshold'".to_owned()),
        ],
        anchor: Some("time-1".to_owned()),
    };
    let mut rows = Vec::new();
    for (paper, prefix) in
        [("Example 2017", "E"), ("Sample 2019", "S"), ("Another with a long name 2016", "A")]
    {
        for n in 1..=8 {
            let id = format!("{prefix}-{n}");
            rows.push(match (prefix, n) {
                ("E", 7) | ("A", 2) => row(
                    &id,
                    paper,
                    Status::NotReproduced,
                    "0.81–0.93, least at 500 kbit/s and 150 ms",
                    "The encoder's floor leaves no room at 500 kbit/s.",
                ),
                ("S", 8) => row(&id, paper, Status::NotRun, "", "Real browsers only."),
                _ => row(&id, paper, Status::Reproduced, "0.89–0.93", ""),
            });
        }
    }
    rows
}

fn section(n: usize) -> Section {
    let figure = |id: &str, title: &str, caption: &str, body| Figure {
        id: format!("{id}-{n}"),
        title: title.to_owned(),
        caption: caption.to_owned(),
        body,
    };
    let caption = "Ten runs. The published values are read from the figure.";
    Section {
        id: format!("section-{n}"),
        title: format!("Setting {n}: one flow, variable capacity"),
        text: "The capacity changes every 50 s in steps of 500 kbit/s.".to_owned(),
        figures: vec![
            figure("time", "Rate, loss and delay over time", caption, time(n)),
            figure("bars", "Channel utilisation", caption, Body::Bars(bars())),
            figure("boxes", "Queuing delay", caption, Body::Boxes(boxes())),
            figure("cdf", "Round-trip time, static and adaptive threshold", caption, cdf()),
            figure("scatter", "Share of the rate against delay", "", scatter()),
            figure("table", "What each queue gives", "", values()),
        ],
        compared: Vec::new(),
        table: Some(TextTable {
            caption: "Section means".to_owned(),
            columns: ["Section", "Capacity (Mbit/s)", "Published (Mbit/s)", "Measured (Mbit/s)"]
                .map(str::to_owned)
                .to_vec(),
            rows: [
                ["0–40 s", "2", "1.69", "1.71"],
                ["40–80 s", "3", "2.30", "2.28"],
                ["80–120 s", "1", "0.82", "–"],
            ]
            .map(|row| row.map(str::to_owned).to_vec())
            .to_vec(),
        }),
    }
}

/// A repeatable jitter in -1..=1 that is not random.
fn jitter(i: usize) -> f64 {
    let mixed = (i as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    f64::from((mixed >> 40) as u32) / f64::from(1_u32 << 23) - 1.0
}

fn capacity(t: f64) -> f64 {
    [500e3, 1e6, 1.5e6, 2e6, 1.5e6, 500e3].get((t / 50.0) as usize).copied().unwrap_or(500e3)
}

fn line(name: &str, style: LineStyle, role: Role, f: impl Fn(usize, f64) -> f64) -> Line {
    let points = (0..3000).map(|i| (i as f64 * 0.1, f(i, i as f64 * 0.1))).collect();
    Line { name: name.to_owned(), points, style, role }
}

fn time(n: usize) -> Body {
    let rate = |i: usize, t: f64| {
        capacity(t) * (0.86 + 0.06 * jitter(i + n)) * (1.0 - libm::exp(-(t % 50.0) / 4.0) * 0.4)
    };
    let fall = |t: f64| libm::exp(-(t - 250.0).max(0.0) / 3.0) * f64::from(t >= 250.0);
    let panel = |title: &str, y_label: &str, lines| Panel {
        title: title.to_owned(),
        y_label: y_label.to_owned(),
        lines,
        ..Panel::default()
    };
    let published = |from: f64, to: f64, y: f64, label: &str| {
        Mark::published(At::YBetween { y, from, to }, label)
    };
    let rates = Panel {
        marks: vec![
            published(50.0, 100.0, 1.08e6, "0.86 C"),
            published(150.0, 200.0, 2.2e6, "1.9 Mbit/s"),
        ],
        ..panel(
            "Rate",
            "bit/s",
            vec![
                line("capacity", LineStyle::Step, Role::Reference, |_, t| capacity(t)),
                line("sent", LineStyle::Line, Role::Series(0), rate),
                line("received", LineStyle::Line, Role::Series(1), |i, t| {
                    if (120.0..124.0).contains(&t) {
                        f64::NAN
                    } else {
                        rate(i, t).min(capacity(t)) * 0.96
                    }
                }),
            ],
        )
    };
    let loss = line("", LineStyle::Step, Role::Series(0), |i, t| {
        0.3 * fall(t) * (1.0 + 0.2 * jitter(i / 10))
    });
    let rtt = Panel {
        marks: vec![
            Mark::published(At::Y(53.0), "median 53 ms"),
            Mark {
                at: At::X(250.0),
                label: "capacity falls".to_owned(),
                kind: MarkKind::Reference,
            },
        ],
        ..panel(
            "Round-trip time",
            "ms",
            vec![line("", LineStyle::Line, Role::Series(0), |i, t| {
                53.0 + 3.0 * jitter(i) + 400.0 * fall(t)
            })],
        )
    };
    let gradient = panel(
        "Delay gradient",
        "ms",
        vec![
            line("threshold γ", LineStyle::Line, Role::Reference, |_, t| 6.0 + 10.0 * fall(t)),
            line("m", LineStyle::Line, Role::Series(2), |i, t| 4.0 * jitter(i) + 14.0 * fall(t)),
        ],
    );
    Body::Time {
        panels: vec![rates, panel("Fraction lost", "", vec![loss]), rtt, gradient],
        x_label: "time (s)".to_owned(),
    }
}

fn capacities() -> Vec<(String, Role)> {
    ["500 kbit/s", "1 Mbit/s", "1.5 Mbit/s", "2 Mbit/s"]
        .into_iter()
        .enumerate()
        .map(|(i, name)| (name.to_owned(), Role::Series(i)))
        .collect()
}

fn groups<T>(item: impl Fn(usize) -> T) -> Vec<Group<T>> {
    let labels = ["150", "350", "700"].into_iter().enumerate();
    labels
        .map(|(g, label)| Group {
            label: label.to_owned(),
            items: (0..4).map(|s| Some(item(4 * g + s))).collect(),
        })
        .collect()
}

fn bars() -> Grouped<Bar> {
    Grouped {
        series: capacities(),
        groups: groups(|i| {
            let value = 0.9 + 0.04 * jitter(i);
            Bar {
                value,
                spread: Some((value - 0.02, value + 0.015)),
                published: (i % 4 == 0).then_some(0.91),
            }
        }),
        x_label: "T_q (ms)".to_owned(),
        y_label: "Channel utilisation".to_owned(),
        marks: vec![Mark::published(At::Y(0.9), "> 0.9")],
        y_range: None,
        log_y: false,
        lying: false,
    }
}

fn boxes() -> Grouped<BoxStats> {
    Grouped {
        series: capacities(),
        groups: groups(|i| {
            let scale = 1.0 + 0.5 * jitter(i);
            let (p5, published) = (0.0, (i == 0).then_some(3.0));
            BoxStats {
                p5,
                p25: 0.6 * scale,
                p50: 1.6 * scale,
                p75: 5.0 * scale,
                p95: 60.0 * scale,
                published,
            }
        }),
        x_label: "T_q (ms)".to_owned(),
        y_label: "Queuing delay (ms)".to_owned(),
        marks: vec![Mark::published(At::Y(3.0), "median < 3 ms")],
        y_range: None,
        log_y: true,
        lying: false,
    }
}

fn cdf() -> Body {
    let values = |spread: f64| -> Vec<f64> {
        (0..3000).map(|i| 50.0 - spread * libm::log((jitter(i) + 1.0) / 2.0 + 1e-4)).collect()
    };
    Body::Cdf {
        lines: vec![
            Line::cdf("static threshold", Role::Series(1), &values(45.0)),
            Line::cdf("adaptive threshold", Role::Series(0), &values(22.0)),
        ],
        marks: vec![
            Mark::published(At::X(130.0), "p95 130 ms"),
            Mark::published(At::X(187.0), "p95 187 ms"),
            Mark { at: At::Y(0.95), label: "95 %".to_owned(), kind: MarkKind::Reference },
        ],
        x_label: "round-trip time (ms)".to_owned(),
        log_x: false,
    }
}

fn estimate(mean: f64, half_width: f64) -> Estimate {
    Estimate { mean, half_width: Some(half_width), runs: 10, ..Estimate::default() }
}

/// Queues with the call's share of the rate and its delay in seconds.
const QUEUES: [(&str, f64, f64); 6] = [
    ("droptail", 0.31, 0.35),
    ("bfifo limit 16kB", 0.42, 0.11),
    ("PIE", 0.47, 0.034),
    ("CoDel", 0.44, 0.027),
    ("FQ-CoDel", 0.55, 0.012),
    ("CAKE", 0.56, 0.013),
];

fn scatter() -> Body {
    let point = |(i, (name, share, delay)): (usize, (&str, f64, f64))| Point {
        label: name.to_owned(),
        series: String::new(),
        x: estimate(delay, delay * (0.1 + 0.05 * jitter(i))),
        y: estimate(share, 0.02 + 0.01 * jitter(i + 9)),
    };
    let dimension = |label: &str, unit, better, log| Dimension {
        label: label.to_owned(),
        unit,
        scale: None,
        better,
        log,
    };
    Body::Scatter(Scatter {
        x: dimension("median queuing delay", Unit::Seconds, Better::Lower, true),
        y: dimension("share of the rate", Unit::Share, Better::Neither, false),
        points: QUEUES.into_iter().enumerate().map(point).collect(),
        marks: vec![Mark { at: At::Y(50.0), label: "half".to_owned(), kind: MarkKind::Reference }],
    })
}

fn values() -> Body {
    let row = |(i, (name, share, delay)): (usize, (&str, f64, f64))| Row {
        label: name.to_owned(),
        cells: Cells::Each(vec![
            Cell::Text((6 - i).to_string()),
            Cell::Value(estimate(share * 2e6, 4e4 + 1e4 * jitter(i))),
            Cell::Value(estimate(delay, delay * 0.1)),
        ]),
        reference: Some(0),
    };
    let column =
        |name: &str, unit, better| Column { name: name.to_owned(), unit, scale: None, better };
    let inapplicable = Row {
        label: "L4S".to_owned(),
        cells: Cells::Inapplicable("the gateway marks nothing".to_owned()),
        reference: None,
    };
    Body::Table(Table {
        label: "queue".to_owned(),
        columns: vec![
            Column::text("rank"),
            column("rate of the call", Unit::BitsPerSecond, Better::Higher),
            column("queuing delay", Unit::Seconds, Better::Lower),
        ],
        rows: QUEUES.into_iter().enumerate().map(row).chain([inapplicable]).collect(),
        reference: "droptail".to_owned(),
    })
}
