//! Replays the recordings of the loss controller at the sender.

use crate::compare::{Comparison, Row, Table};
use cc::{ControllerConfig, Feedback, Sender};
use std::collections::BTreeMap;
use units::{Bitrate, Duration, Time};

/// Feeds the inputs to the profile and compares its outputs.
pub(crate) fn answer(profile: &str, name: &str) -> Comparison {
    let table = Table::read(name);
    let mut comparison = Comparison::default();
    let mut sender = None;
    for row in table.rows() {
        if row.text("kind") == Some("S") {
            sender = Some(start(profile, row));
        }
        let sender = sender.as_mut().unwrap();
        feed(sender.as_mut(), row, profile == "gcc:chrome-72");
        compare(sender.as_ref(), row, &mut comparison);
    }
    comparison
}

fn start(profile: &str, row: Row<'_>) -> Box<dyn Sender> {
    let rate = |column| Bitrate::from_bps(row.whole(column));
    let controllers = cc::build(&ControllerConfig {
        profile: profile.to_owned(),
        settings: Vec::new(),
        start_rate: rate("a"),
        min_rate: rate("b"),
        max_rate: rate("c"),
    });
    controllers.unwrap().sender
}

/// `counts`: the reports have the number of packets lost instead of the fraction.
fn feed(sender: &mut dyn Sender, row: Row<'_>, counts: bool) {
    let now = Time::from_millis(row.whole("time"));
    match row.text("kind").unwrap() {
        "S" => {}
        "T" => {
            if sender.next_timeout().is_none_or(|due| due <= now) {
                sender.on_timeout(now);
            }
        }
        "B" => sender.on_feedback(now, Feedback::Remb { rate: Bitrate::from_bps(row.whole("a")) }),
        "L" => {
            let expected = row.whole("c");
            let whole = if counts { expected as f64 } else { 256.0 };
            let report = Feedback::Report {
                fraction_lost: row.number("a").unwrap() / whole.max(1.0),
                expected,
                rtt: Some(Duration::from_millis(row.whole("b"))),
            };
            sender.on_feedback(now, report);
        }
        kind => panic!("no kind {kind}"),
    }
}

fn compare(sender: &dyn Sender, row: Row<'_>, comparison: &mut Comparison) {
    let mut signals = BTreeMap::new();
    sender.signals(&mut |name, value| {
        signals.insert(name, value);
    });
    let place = format!("{} at {}", row.text("kind").unwrap(), row.text("time").unwrap());
    comparison.check(&place, "target", row.number("target"), Some(signals["A_s"]));
    let lost = signals["fraction_lost"] * 256.0;
    comparison.check(&place, "loss", row.number("loss"), Some(lost));
    let least = Some(signals["least_rate"]).filter(|rate| !rate.is_nan());
    comparison.check(&place, "minhist", row.number("minhist"), least);
}
