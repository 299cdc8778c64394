//! The sender's half (§ 3.3): T_TFRC, and the ladder that keeps to it.

use super::DEFAULT_RTT;
use super::config::{Equation, KilincAnderssonConfig};
use super::feedback::BandwidthState;
use super::ladder::Ladder;
use super::packet_size::PacketSize;
use super::tfrc;
use crate::{Decision, Feedback, SentPacket, SignalSink};
use units::{Bitrate, Bytes, Duration, Ratio, Time};

/// So many maximum intervals without a message, and T_TFRC is halved (§ 3.3A).
const MISSING_INTERVALS: u64 = 2;
/// What is known of the path before the first message (§ 3.3B: it is assumed to be under-used).
const AT_FIRST: BandwidthState = BandwidthState { overusing: false, loss_event_rate: Ratio::ZERO };

/// Decides the level at each message, at most once a round trip.
pub(crate) struct LadderSender {
    ladder: Ladder,
    equation: Equation,
    rtt_weight: f64,
    pacing_factor: f64,
    /// How long messages may be missing.
    patience: Duration,
    size: PacketSize,
    rtt: Option<Duration>,
    state: BandwidthState,
    /// `None`: no bound.
    bound: Option<Bitrate>,
    ran: Option<Time>,
    /// When a message may take effect that came too soon after the one before.
    held: Option<Time>,
    missing: Option<Time>,
}

impl LadderSender {
    pub(crate) fn new(config: &KilincAnderssonConfig, bounds: (Bitrate, Bitrate)) -> Self {
        Self {
            ladder: Ladder::new(config.levels.within(bounds)),
            equation: config.equation,
            rtt_weight: config.rtt_weight,
            pacing_factor: config.pacing_factor,
            patience: config.heartbeat * MISSING_INTERVALS,
            size: PacketSize::default(),
            rtt: None,
            state: AT_FIRST,
            bound: None,
            ran: None,
            held: None,
            missing: None,
        }
    }

    /// R (RFC 5348 § 4.3, step 2).
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
        // What is held back is not forgotten: over-use within a round trip is obeyed when that is
        // over.
        let overusing = state.overusing || (self.held.is_some() && self.state.overusing);
        self.state = BandwidthState { overusing, ..state };
        let rtt = self.rtt.unwrap_or(DEFAULT_RTT);
        let p = state.loss_event_rate.as_f64();
        self.bound =
            self.size.mean().and_then(|size| tfrc::throughput(self.equation, size, rtt, p));
        self.missing = Some(now + self.patience);
        self.held = self.ran.map(|ran| ran + rtt).filter(|&may| may > now);
        if self.held.is_none() {
            self.run(now);
        }
    }

    /// Fig. 4.
    fn run(&mut self, now: Time) {
        self.ran = Some(now);
        self.held = None;
        self.ladder.step(self.state.overusing, self.bound);
    }

    /// Messages are missing. Where there is no bound to halve, it is taken to have been twice the
    /// present rate.
    fn halve(&mut self) {
        let rate = self.ladder.rate();
        self.bound = Some(self.bound.map_or(rate, |bound| bound.scale(0.5)));
    }
}

impl crate::Sender for LadderSender {
    fn on_sent(&mut self, packet: &SentPacket) {
        self.size.on_packet(packet.sent, packet.size);
        self.missing.get_or_insert(packet.sent + self.patience);
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
        let is_missing = self.missing.is_some_and(|missing| missing <= now);
        if is_missing {
            self.halve();
            self.missing = Some(now + self.patience);
        }
        if is_missing || self.held.is_some_and(|held| held <= now) {
            self.run(now);
        }
    }

    fn next_timeout(&self) -> Option<Time> {
        self.missing
            .map_or(self.held, |missing| Some(self.held.map_or(missing, |held| held.min(missing))))
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

    /// A sender of packets of 1000 bytes that knows its round-trip time.
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

    fn tell(sender: &mut LadderSender, ms: u64, overusing: bool, p: f64) -> u64 {
        let state = BandwidthState { overusing, loss_event_rate: Ratio::from_f64(p) };
        sender.on_feedback(at(ms), Feedback::Custom(state.encode()));
        kbps(sender)
    }

    fn kbps(sender: &LadderSender) -> u64 {
        sender.decision().target_rate.as_bps() / 1000
    }

    #[test]
    fn over_use_that_is_held_back_is_obeyed_although_it_is_over() {
        let mut sender = sender();
        assert_eq!([200, 400].map(|ms| tell(&mut sender, ms, false, 0.0)), [300, 400]);
        assert_eq!(tell(&mut sender, 430, true, 0.0), 400, "within a round trip");
        assert_eq!(tell(&mut sender, 460, false, 0.0), 400);
        sender.on_timeout(at(500));
        assert_eq!(kbps(&sender), 300);
        assert_eq!(tell(&mut sender, 700, false, 0.0), 400);
    }

    #[test]
    fn it_begins_lowest_and_climbs_a_step_a_message() {
        let mut sender = sender();
        assert_eq!(kbps(&sender), 200);
        let climb: Vec<u64> = (1..8).map(|s| tell(&mut sender, 1000 * s, false, 0.0)).collect();
        assert_eq!(climb, [300, 400, 500, 800, 1000, 1000, 1000]);
        assert_eq!(tell(&mut sender, 9000, true, 0.0), 800);
    }

    #[test]
    fn losses_bound_it() {
        let mut sender = sender();
        for second in 1..6 {
            tell(&mut sender, 1000 * second, false, 0.0);
        }
        // At 0.1 T_TFRC is 141.6 kbit/s, at 0.01 898.7: of the latter, 200 and what is below it are
        // under it.
        assert_eq!(tell(&mut sender, 6000, false, 0.01), 800);
        assert_eq!(
            tell(&mut sender, 7000, false, 0.01),
            1000,
            "a step up, as the bound is above 800"
        );
        assert_eq!(tell(&mut sender, 8000, false, 0.01), 800);
        assert_eq!(tell(&mut sender, 9000, false, 0.1), 200);
        assert_eq!(tell(&mut sender, 10_000, false, 0.1), 200);
    }

    #[test]
    fn messages_within_a_round_trip_take_effect_after_it() {
        let mut sender = sender();
        assert_eq!(tell(&mut sender, 1000, false, 0.0), 300);
        assert_eq!(tell(&mut sender, 1050, true, 0.0), 300);
        assert_eq!(sender.next_timeout(), Some(at(1100)));
        sender.on_timeout(at(1100));
        assert_eq!(kbps(&sender), 200);
        assert_eq!(sender.next_timeout(), Some(at(3050)), "two heartbeats after the last message");
    }

    #[test]
    fn missing_messages_halve_the_bound_and_the_state_goes_on() {
        let mut sender = sender();
        for second in 1..5 {
            tell(&mut sender, 1000 * second, false, 0.0);
        }
        assert_eq!(tell(&mut sender, 5000, false, 0.0064), 1000, "T_TFRC is above 1100 kbit/s");
        let mut after = |ms| {
            sender.on_timeout(at(ms));
            kbps(&sender)
        };
        assert_eq!(after(6999), 1000);
        assert_eq!(after(7000), 500, "half of it allows 500 kbit/s");
        assert_eq!(after(9000), 200);
        assert_eq!(tell(&mut sender, 9500, false, 0.0), 300, "the next message is believed");
    }

    #[test]
    fn without_a_bound_missing_messages_halve_twice_the_rate() {
        let mut sender = sender();
        for second in 1..4 {
            tell(&mut sender, 1000 * second, false, 0.0);
        }
        assert_eq!(kbps(&sender), 500);
        sender.on_timeout(at(5000));
        assert_eq!(kbps(&sender), 500, "it does not climb");
        sender.on_timeout(at(7000));
        assert_eq!(kbps(&sender), 200, "250 kbit/s");
    }
}
