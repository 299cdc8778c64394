//! Replays the recordings of receivers.

use crate::compare::{Comparison, Row, Table};
use cc::{ArrivedPacket, ControllerConfig, Receiver, ReceiverFeedback};
use std::collections::BTreeMap;
use units::{Bitrate, Bytes, Duration, Time};

/// RTP header with the extension for abs-send-time.
const HEADER: u64 = 20;
/// Units of abs-send-time per second, and its bits.
const FRACTION: u64 = 1 << 18;
const BITS: u64 = 1 << 24;

/// Feeds the inputs to the profile and compares its outputs.
pub(crate) fn answer(profile: &str, name: &str) -> Comparison {
    let table = Table::read(name);
    let mut replay = Replay::new(profile);
    let mut comparison = Comparison::default();
    for row in table.rows() {
        let remb = replay.feed(row);
        replay.compare(row, remb, &mut comparison);
    }
    comparison
}

struct Replay {
    receiver: Box<dyn Receiver>,
    sent: u64,
    rtt: Option<Duration>,
    published: u64,
}

impl Replay {
    fn new(profile: &str) -> Self {
        // The recorded sending times are finer than a browser's, and some traces tell a round-trip
        // time.
        let settings = [("rtt_at_receiver", "true"), ("group.clock_step", "0ms")];
        let controllers = cc::build(&ControllerConfig {
            profile: profile.to_owned(),
            settings: settings.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec(),
            start_rate: Bitrate::from_kbps(300),
            min_rate: Bitrate::from_kbps(30),
            max_rate: Bitrate::from_mbps(100),
        });
        let receiver = controllers.unwrap().receiver.unwrap();
        Self { receiver, sent: BITS, rtt: None, published: 0 }
    }

    fn feed(&mut self, row: Row<'_>) -> Option<f64> {
        let now = Time::from_millis(row.whole("time"));
        match row.text("kind").unwrap() {
            "A" => {
                let packet = self.packet(row, now);
                self.receiver.on_packet(&packet, self.rtt);
            }
            "P" => {
                assert!(self.receiver.next_timeout().is_none_or(|due| due == now), "{now:?}");
                self.receiver.on_timeout(now);
            }
            "R" => self.rtt = Some(Duration::from_millis(row.whole("size"))),
            kind => panic!("no kind {kind}"),
        }
        match self.receiver.poll(now) {
            Some(ReceiverFeedback::Remb(rate)) => Some(rate.as_bps_f64()),
            _ => None,
        }
    }

    fn packet(&mut self, row: Row<'_>, arrival: Time) -> ArrivedPacket {
        let step = (row.whole("ast") + BITS - self.sent % BITS) % BITS;
        // A packet that was sent before the newest packet moves back.
        self.sent = if step < BITS / 2 { self.sent + step } else { self.sent + step - BITS };
        ArrivedPacket {
            sequence: 0,
            sent: Time::from_nanos((self.sent * 1_000_000_000).div_ceil(FRACTION)),
            arrival,
            size: Bytes::new(row.whole("size") + HEADER),
            rtp_timestamp: 0,
            probe: None,
            ecn: cc::Ecn::NotEct,
        }
    }

    fn compare(&mut self, row: Row<'_>, remb: Option<f64>, comparison: &mut Comparison) {
        let mut signals = BTreeMap::new();
        self.receiver.signals(&mut |name, value| {
            signals.insert(name, value);
        });
        let signal = |name: &str| Some(signals[name]).filter(|value| !value.is_nan());
        let kind = row.text("kind").unwrap();
        let place = format!("{kind} at {}", row.text("time").unwrap());
        let mut check = |column: &str, expected, got| {
            comparison.check(&place, column, expected, got);
        };
        for (column, name) in [
            ("dts", "sent_delta"),
            ("dta", "arrival_delta"),
            ("dsize", "size_delta"),
            ("m", "m"),
            ("var", "noise_variance"),
            ("slope", "slope"),
            ("n", "deltas"),
            ("thr", "threshold"),
            ("hyp", "usage"),
            ("ovn", "overuse_samples"),
            ("R", "R"),
            ("est", "A_r"),
            ("varmax", "link_capacity_variance"),
        ] {
            if kind != "R" || !matches!(column, "dts" | "dta" | "dsize" | "R") {
                check(column, row.number(column), signal(name));
            }
        }
        check(
            "tov",
            row.number("tov"),
            Some(signals["overuse_time"]).map(|time| if time.is_nan() { -1.0 } else { time }),
        );
        let average = signal("link_capacity").map(|rate| rate / 1e3);
        check("avgmax", row.number("avgmax"), average);
        let word = |column| row.text(column).map(number);
        check("region", word("region"), signal("region"));
        check("state", word("state"), signal("state"));
        let publications = signals["publications"] as u64;
        let published = (publications > self.published).then(|| signals["A_r"]);
        self.published = publications;
        check("cb", row.number("cb"), published);
        check("remb", row.number("remb"), remb);
    }
}

/// States and regions as the signals number them.
fn number(word: &str) -> f64 {
    match word {
        "decrease" | "unknown" => -1.0,
        "hold" | "near" => 0.0,
        "increase" | "above" => 1.0,
        _ => panic!("no word {word}"),
    }
}
