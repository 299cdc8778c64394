//! The messages of Weir (`docs/guides/judge.md`), for estimators in Rust.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::{self, BufRead, Write};
use std::time::{Duration, Instant};

/// The call.
#[derive(Debug, Deserialize)]
pub struct Configuration {
    pub start_rate: f64,
    pub min_rate: f64,
    pub max_rate: f64,
}

/// A packet that left, with its arrival once there is feedback about it; none: lost.
#[derive(Debug, Deserialize)]
pub struct Packet {
    pub sequence: u64,
    pub sent: f64,
    pub size: u64,
    pub probe: Option<u32>,
    pub arrival: Option<f64>,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Feedback {
    Packets { results: Vec<Packet> },
    Report { fraction_lost: f64, expected: u64, rtt: Option<f64> },
    Remb { rate: f64 },
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
enum Message {
    Configure(Configuration),
    Allocation { now: f64, sent: Vec<Packet>, min_rate: f64, max_rate: f64 },
    Feedback { now: f64, sent: Vec<Packet>, feedback: Feedback },
    Timeout { now: f64, sent: Vec<Packet> },
}

#[derive(Debug, Default, Serialize)]
pub struct Answer {
    pub target_rate: f64,
    pub pacing_rate: Option<f64>,
    pub probes: Vec<Probe>,
    pub next_timeout: Option<f64>,
    pub signals: BTreeMap<&'static str, f64>,
}

#[derive(Debug, Serialize)]
pub struct Probe {
    pub id: u32,
    pub rate: f64,
    pub min_duration: f64,
    pub min_packets: u32,
}

/// An estimator. Times are seconds since the start of the run.
pub trait Estimator {
    /// The rates that the media can use.
    fn on_allocation(&mut self, _now: f64, _min: f64, _max: f64) {}
    fn on_sent(&mut self, packet: &Packet);
    fn on_feedback(&mut self, now: f64, feedback: &Feedback);
    fn on_timeout(&mut self, now: f64);
    fn answer(&mut self, now: f64) -> Answer;
}

/// Answers the messages of standard input until the run ends.
pub fn serve<E: Estimator>(make: impl FnOnce(&Configuration) -> E) -> io::Result<()> {
    let mut lines = io::stdin().lock().lines();
    let mut next =
        || lines.next().transpose().map(|line| line.map(|line| serde_json::from_str(&line)));
    let Some(first) = next()? else { return Ok(()) };
    let Message::Configure(configuration) = first? else {
        return Err(io::Error::other("the first message is not 'configure'"));
    };
    let mut estimator = make(&configuration);
    let mut out = io::stdout().lock();
    let mut answer = |estimator: &mut E, now: f64| {
        let line = serde_json::to_string(&estimator.answer(now))?;
        writeln!(out, "{line}")?;
        out.flush()
    };
    answer(&mut estimator, 0.0)?;
    while let Some(message) = next()? {
        let now = match message? {
            Message::Configure(_) => return Err(io::Error::other("a second 'configure'")),
            Message::Allocation { now, sent, min_rate, max_rate } => {
                sent.iter().for_each(|packet| estimator.on_sent(packet));
                estimator.on_allocation(now, min_rate, max_rate);
                now
            }
            Message::Feedback { now, sent, feedback } => {
                sent.iter().for_each(|packet| estimator.on_sent(packet));
                estimator.on_feedback(now, &feedback);
                now
            }
            Message::Timeout { now, sent } => {
                sent.iter().for_each(|packet| estimator.on_sent(packet));
                estimator.on_timeout(now);
                now
            }
        };
        answer(&mut estimator, now)?;
    }
    Ok(())
}

/// The clock of estimators that use `Instant`.
#[derive(Clone, Copy)]
pub struct Clock(Instant);

impl Clock {
    #[expect(clippy::new_without_default, reason = "it reads the clock")]
    pub fn new() -> Self {
        Self(Instant::now())
    }

    pub fn instant(self, seconds: f64) -> Instant {
        self.0 + Duration::from_secs_f64(seconds)
    }

    pub fn seconds(self, instant: Instant) -> f64 {
        instant.saturating_duration_since(self.0).as_secs_f64()
    }
}
