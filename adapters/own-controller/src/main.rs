//! A controller of your own in Rust, judged against `gcc:libwebrtc` without a fork of Weir:
//! `cargo run -- quick`. It halves its rate after loss above 5 %, else adds 1 % per feedback.

use cc::{ControllerConfig, Decision, Feedback, Sender, SentPacket, SignalSink};
use lab::judge::{Candidate, ORIGINAL, Suite, Verdict, judge_own};
use units::{Bitrate, Duration, Time};

struct Own {
    rate: Bitrate,
    limits: (Bitrate, Bitrate),
    halved: Time,
}

impl Sender for Own {
    fn on_sent(&mut self, _packet: &SentPacket) {}

    fn on_feedback(&mut self, now: Time, feedback: Feedback<'_>) {
        let Feedback::Packets { results, .. } = feedback else { return };
        let lost = results.iter().filter(|result| result.arrival.is_none()).count();
        if lost * 20 <= results.len() {
            self.rate = self.rate.scale(1.01);
        } else if now.saturating_since(self.halved) > Duration::from_millis(300) {
            (self.rate, self.halved) = (self.rate.scale(0.5), now);
        }
        self.rate = self.rate.max(self.limits.0).min(self.limits.1);
    }

    fn on_timeout(&mut self, _now: Time) {}

    fn next_timeout(&self) -> Option<Time> {
        None
    }

    fn decision(&self) -> Decision {
        Decision { target_rate: self.rate, pacing_rate: self.rate.scale(2.5), probe: None }
    }

    fn signals(&self, sink: &mut SignalSink<'_>) {
        sink("rate", self.rate.as_bps_f64());
    }
}

fn own(config: &ControllerConfig) -> Box<dyn Sender> {
    let limits = (config.min_rate, config.max_rate);
    Box::new(Own { rate: config.start_rate, limits, halved: Time::ZERO })
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let suite = Suite::open(&std::env::args().nth(1).unwrap_or_else(|| "standard".to_owned()))?;
    let baseline = Candidate { controller: ORIGINAL.to_owned(), settings: Vec::new() };
    let (judged, _) = judge_own(&suite, own, &baseline)?;
    for finding in judged.with(Verdict::Worse).chain(judged.with(Verdict::Better)) {
        let cell = finding.cell.as_deref().unwrap_or("all cells");
        println!("{}: {} ({}, {cell})", finding.words, finding.metric, finding.area);
    }
    Ok(())
}
