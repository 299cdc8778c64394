//! The sender half (§ 3.3): T_TFRC, and the ladder of rates below it.

use super::DEFAULT_RTT;
use super::config::{Equation, KilincAnderssonConfig};
use super::feedback::BandwidthState;
use super::ladder::Ladder;
use super::packet_size::PacketSize;
use super::tfrc;
use crate::{Decision, Feedback, SentPacket, SignalSink};
use units::{Bitrate, Bytes, Duration, Ratio, Time};

/// T_TFRC is halved after this many maximum intervals without a message (§ 3.3A).
const MAX_MISSING_INTERVALS: u64 = 2;
/// The state before the first message (§ 3.3B: the path is assumed to be under-used).
const INITIAL_STATE: BandwidthState =
    BandwidthState { overusing: false, loss_event_rate: Ratio::ZERO };

/// Chooses a level at each message, at most once per round-trip time.
pub(crate) struct LadderSender {
    ladder: Ladder,
    equation: Equation,
    rtt_weight: f64,
    pacing_factor: f64,
    /// Maximum time without a message.
    message_timeout: Duration,
    size: PacketSize,
    rtt: Option<Duration>,
    state: BandwidthState,
    /// T_TFRC; `None` if there is no bound.
    bound: Option<Bitrate>,
    stepped_at: Option<Time>,
    /// When a message that arrived less than a round-trip time after the last step takes effect.
    deferred_until: Option<Time>,
    /// When the next message is overdue.
    overdue_at: Option<Time>,
}

impl LadderSender {
    pub(crate) fn new(config: &KilincAnderssonConfig, bounds: (Bitrate, Bitrate)) -> Self {
        Self {
            ladder: Ladder::new(config.levels.within(bounds)),
            equation: config.equation,
            rtt_weight: config.rtt_weight,
            pacing_factor: config.pacing_factor,
            message_timeout: config.heartbeat * MAX_MISSING_INTERVALS,
            size: PacketSize::default(),
            rtt: None,
            state: INITIAL_STATE,
            bound: None,
            stepped_at: None,
            deferred_until: None,
            overdue_at: None,
        }
    }

    /// Updates R (RFC 5348 § 4.3, step 2).
    fn on_rtt(&mut self, sample: Duration) {
        let smooth = |rtt: Duration| {
            let weight = self.rtt_weight;
            Duration::from_secs_f64(
                weight * rtt.as_secs_f64() + (1.0 - weight) * sample.as_secs_f64(),
            )
        };
        self.rtt = Some(self.rtt.map_or(sample, smooth));
    }

    fn on_state(&mut self, now: Time, state: BandwidthState) {
        // Over-use that was reported within the round-trip time stays in effect until the step is
        // taken.
        let overusing = state.overusing || (self.deferred_until.is_some() && self.state.overusing);
        self.state = BandwidthState { overusing, ..state };
        let rtt = self.rtt.unwrap_or(DEFAULT_RTT);
        let p = state.loss_event_rate.as_f64();
        self.bound =
            self.size.mean().and_then(|size| tfrc::throughput(self.equation, size, rtt, p));
        self.overdue_at = Some(now + self.message_timeout);
        self.deferred_until =
            self.stepped_at.map(|stepped_at| stepped_at + rtt).filter(|&earliest| earliest > now);
        if self.deferred_until.is_none() {
            self.step(now);
        }
    }

    /// Takes a step on the ladder (Fig. 4).
    fn step(&mut self, now: Time) {
        self.stepped_at = Some(now);
        self.deferred_until = None;
        self.ladder.step(self.state.overusing, self.bound);
    }

    /// Halves the bound because messages are missing. If there is no bound, twice the current rate
    /// is assumed.
    fn halve(&mut self) {
        let rate = self.ladder.rate();
        self.bound = Some(self.bound.map_or(rate, |bound| bound.scale(0.5)));
    }
}

impl crate::Sender for LadderSender {
    fn on_sent(&mut self, packet: &SentPacket) {
        self.size.on_packet(packet.sent, packet.size);
        self.overdue_at.get_or_insert(packet.sent + self.message_timeout);
    }

    fn on_feedback(&mut self, now: Time, feedback: Feedback<'_>) {
        match feedback {
            Feedback::Report { rtt: Some(rtt), .. } => self.on_rtt(rtt),
            Feedback::Custom(message) => {
                if let Some(state) = BandwidthState::decode(&message) {
                    self.on_state(now, state);
                }
            }
            _ => {}
        }
    }

    fn on_timeout(&mut self, now: Time) {
        let is_overdue = self.overdue_at.is_some_and(|at| at <= now);
        if is_overdue {
            self.halve();
            self.overdue_at = Some(now + self.message_timeout);
        }
        if is_overdue || self.deferred_until.is_some_and(|deferred_until| deferred_until <= now) {
            self.step(now);
        }
    }

    fn next_timeout(&self) -> Option<Time> {
        self.overdue_at.map_or(self.deferred_until, |overdue_at| {
            Some(
                self.deferred_until
                    .map_or(overdue_at, |deferred_until| deferred_until.min(overdue_at)),
            )
        })
    }

    fn decision(&self) -> Decision {
        let target_rate = self.ladder.rate();
        Decision { target_rate, pacing_rate: target_rate.scale(self.pacing_factor), probe: None }
    }

    fn signals(&self, sink: &mut SignalSink<'_>) {
        sink("level", self.ladder.level() as f64);
        sink("T_TFRC", self.bound.map_or(f64::NAN, Bitrate::as_bps_f64));
        sink("told_state", f64::from(u8::from(self.state.overusing)));
        sink("told_loss_event_rate", self.state.loss_event_rate.as_f64());
        sink("packet_size", self.size.mean().unwrap_or(Bytes::ZERO).get() as f64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Sender;

    const RTT: Duration = Duration::from_millis(100);

    fn at(ms: u64) -> Time {
        Time::from_millis(ms)
    }

    /// A sender of packets of 1000 bytes that has measured its round-trip time.
    fn sender() -> LadderSender {
        let bounds = (Bitrate::from_kbps(30), Bitrate::from_mbps(20));
        let mut sender = LadderSender::new(&KilincAnderssonConfig::published(), bounds);
        sender.on_sent(&SentPacket {
            sequence: 0,
            sent: at(0),
            size: Bytes::new(1000),
            probe: None,
        });
        sender.on_feedback(
            at(0),
            Feedback::Report { fraction_lost: 0.0, expected: 1, rtt: Some(RTT) },
        );
        sender
    }

    fn deliver(sender: &mut LadderSender, ms: u64, overusing: bool, p: f64) -> u64 {
        let state = BandwidthState { overusing, loss_event_rate: Ratio::from_f64(p) };
        sender.on_feedback(at(ms), Feedback::Custom(state.encode()));
        kbps(sender)
    }

    fn kbps(sender: &LadderSender) -> u64 {
        sender.decision().target_rate.as_bps() / 1000
    }

    #[test]
    fn deferred_over_use_takes_effect_even_if_it_has_ended() {
        let mut sender = sender();
        assert_eq!([200, 400].map(|ms| deliver(&mut sender, ms, false, 0.0)), [300, 400]);
        assert_eq!(deliver(&mut sender, 430, true, 0.0), 400, "within a round trip");
        assert_eq!(deliver(&mut sender, 460, false, 0.0), 400);
        sender.on_timeout(at(500));
        assert_eq!(kbps(&sender), 300);
        assert_eq!(deliver(&mut sender, 700, false, 0.0), 400);
    }

    #[test]
    fn the_rate_begins_at_the_lowest_level_and_climbs_one_step_per_message() {
        let mut sender = sender();
        assert_eq!(kbps(&sender), 200);
        let climb: Vec<u64> = (1..8).map(|s| deliver(&mut sender, 1000 * s, false, 0.0)).collect();
        assert_eq!(climb, [300, 400, 500, 800, 1000, 1000, 1000]);
        assert_eq!(deliver(&mut sender, 9000, true, 0.0), 800);
    }

    #[test]
    fn losses_bound_the_rate() {
        let mut sender = sender();
        for second in 1..6 {
            deliver(&mut sender, 1000 * second, false, 0.0);
        }
        // T_TFRC is 141.6 kbit/s at p = 0.1 and 898.7 kbit/s at p = 0.01.
        assert_eq!(deliver(&mut sender, 6000, false, 0.01), 800);
        assert_eq!(
            deliver(&mut sender, 7000, false, 0.01),
            1000,
            "a step up, as the bound is above 800"
        );
        assert_eq!(deliver(&mut sender, 8000, false, 0.01), 800);
        assert_eq!(deliver(&mut sender, 9000, false, 0.1), 200);
        assert_eq!(deliver(&mut sender, 10_000, false, 0.1), 200);
    }

    #[test]
    fn messages_within_a_round_trip_take_effect_after_it() {
        let mut sender = sender();
        assert_eq!(deliver(&mut sender, 1000, false, 0.0), 300);
        assert_eq!(deliver(&mut sender, 1050, true, 0.0), 300);
        assert_eq!(sender.next_timeout(), Some(at(1100)));
        sender.on_timeout(at(1100));
        assert_eq!(kbps(&sender), 200);
        assert_eq!(sender.next_timeout(), Some(at(3050)), "two heartbeats after the last message");
    }

    #[test]
    fn missing_messages_halve_the_bound_and_the_next_message_resets_it() {
        let mut sender = sender();
        for second in 1..5 {
            deliver(&mut sender, 1000 * second, false, 0.0);
        }
        assert_eq!(deliver(&mut sender, 5000, false, 0.0064), 1000, "T_TFRC is above 1100 kbit/s");
        let mut after = |ms| {
            sender.on_timeout(at(ms));
            kbps(&sender)
        };
        assert_eq!(after(6999), 1000);
        assert_eq!(after(7000), 500, "half of it allows 500 kbit/s");
        assert_eq!(after(9000), 200);
        assert_eq!(deliver(&mut sender, 9500, false, 0.0), 300, "the next message sets the bound");
    }

    #[test]
    fn without_a_bound_missing_messages_halve_an_assumed_bound() {
        let mut sender = sender();
        for second in 1..4 {
            deliver(&mut sender, 1000 * second, false, 0.0);
        }
        assert_eq!(kbps(&sender), 500);
        sender.on_timeout(at(5000));
        assert_eq!(kbps(&sender), 500, "the rate does not climb");
        sender.on_timeout(at(7000));
        assert_eq!(kbps(&sender), 200, "250 kbit/s");
    }
}
