//! The receiver's half (§ 3.2): the state and the loss event rate, and when they are told.

use super::DEFAULT_RTT;
use super::config::{Equation, KilincAnderssonConfig};
use super::detector::StateDetector;
use super::feedback::BandwidthState;
use super::loss_detector::{Arrival, LossDetector};
use super::loss_history::LossHistory;
use super::packet_size::PacketSize;
use super::tfrc;
use crate::gcc::Grouping;
use crate::gcc::arrival_filter::ArrivalFilter;
use crate::gcc::arrival_group::{ArrivalGroups, GroupRule};
use crate::gcc::receive_rate::ReceiveRate;
use crate::{ArrivedPacket, ReceiverFeedback, SignalSink};
use units::{Bitrate, Duration, Ratio, Time};

/// The window of the received rate (RFC 5348 § 6.2: since the last feedback, or a round trip; here,
/// as in GCC of that time, half a second, in which there are several frames).
const RATE_WINDOW: Duration = Duration::from_millis(500);

/// Watches arrivals and tells the sender how it sees the path: at once when the state has changed,
/// unless it has spoken just before; and every heartbeat.
pub(crate) struct StateReceiver {
    groups: ArrivalGroups,
    filter: ArrivalFilter,
    detector: StateDetector,
    losses: LossDetector,
    history: LossHistory,
    size: PacketSize,
    received: ReceiveRate,
    most_received: Bitrate,
    equation: Equation,
    intervals: Intervals,
    /// The state that the sender knows of.
    told: bool,
    last: Option<Time>,
    due: Option<Time>,
    /// When a change may be told that came too soon after the last message.
    held: Option<Time>,
    now: bool,
    delay_variation: f64,
}

/// Between messages.
struct Intervals {
    heartbeat: Duration,
    least: Duration,
}

impl StateReceiver {
    pub(crate) fn new(config: &KilincAnderssonConfig) -> Self {
        Self {
            // The burst time is of no meaning to frames.
            groups: ArrivalGroups::new(GroupRule {
                grouping: Grouping::Frame,
                burst_time: Duration::ZERO,
                prefilter: false,
            }),
            filter: ArrivalFilter::new(&config.filter()),
            detector: StateDetector::new(config),
            losses: LossDetector::new(config.later_packets),
            history: LossHistory::new(config),
            size: PacketSize::default(),
            received: ReceiveRate::new(RATE_WINDOW),
            most_received: Bitrate::ZERO,
            equation: config.equation,
            intervals: Intervals { heartbeat: config.heartbeat, least: config.min_interval },
            told: false,
            last: None,
            due: None,
            held: None,
            now: false,
            delay_variation: 0.0,
        }
    }

    fn on_arrival(&mut self, packet: &ArrivedPacket, rtt: Duration) {
        let Self { losses, history, size, most_received, equation, .. } = self;
        history.on_packet(packet.sequence);
        let arrival = Arrival { sequence: packet.sequence, at: packet.arrival };
        let target = Some(*most_received).filter(|&rate| rate > Bitrate::ZERO);
        losses.on_packet(arrival, |gap| {
            history.on_lost(gap, rtt, || {
                Some(tfrc::interval_for(*equation, size.mean()?, rtt, target?))
            });
        });
        size.on_packet(packet.arrival, packet.size);
        self.received.on_packet(packet.arrival, packet.size);
    }

    fn loss_event_rate(&self) -> Ratio {
        self.losses.settled().map_or(Ratio::ZERO, |newest| self.history.rate(newest))
    }

    /// Lets a change be told, now or when it may.
    fn tell_change(&mut self, now: Time) {
        let overusing = self.detector.is_overusing();
        let may = self.last.map(|last| last + self.intervals.least).filter(|&may| may > now);
        self.held = may.filter(|_| overusing != self.told);
        self.now |= overusing != self.told && may.is_none();
    }
}

impl crate::Receiver for StateReceiver {
    fn on_packet(&mut self, packet: &ArrivedPacket, rtt: Option<Duration>) {
        self.due.get_or_insert(packet.arrival + self.intervals.heartbeat);
        self.on_arrival(packet, rtt.unwrap_or(DEFAULT_RTT));
        if let Some(variation) = self.groups.on_packet(packet) {
            self.delay_variation = variation.delay;
            let received = self.received.rate(packet.arrival);
            self.most_received = self.most_received.max(received.unwrap_or(Bitrate::ZERO));
            self.detector.judge(self.filter.update(&variation));
            self.tell_change(packet.arrival);
        }
    }

    fn on_timeout(&mut self, now: Time) {
        if self.due.is_some_and(|due| due <= now) {
            self.now = true;
            self.due = Some(now + self.intervals.heartbeat);
        }
        if self.held.is_some_and(|held| held <= now) {
            self.now = true;
            self.held = None;
        }
    }

    fn next_timeout(&self) -> Option<Time> {
        self.due.map(|due| self.held.map_or(due, |held| held.min(due)))
    }

    fn poll(&mut self, now: Time) -> Option<ReceiverFeedback> {
        if !std::mem::take(&mut self.now) {
            return None;
        }
        let state = BandwidthState {
            overusing: self.detector.is_overusing(),
            loss_event_rate: self.loss_event_rate(),
        };
        self.told = state.overusing;
        self.last = Some(now);
        self.due = Some(now + self.intervals.heartbeat);
        self.held = None;
        Some(ReceiverFeedback::Custom(state.encode()))
    }

    fn speaks_remb(&self) -> bool {
        false
    }

    fn signals(&self, sink: &mut SignalSink<'_>) {
        sink("m", self.filter.gradient());
        sink("slope", self.filter.slope());
        sink("delay_variation", self.delay_variation);
        sink("noise_variance", self.filter.noise());
        sink("kalman_gain", self.filter.gain());
        sink("state", f64::from(u8::from(self.detector.is_overusing())));
        sink("loss_event_rate", self.loss_event_rate().as_f64());
        sink("loss_events", self.history.events() as f64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Receiver;
    use units::Bytes;

    fn state_in(feedback: Option<ReceiverFeedback>) -> Option<BandwidthState> {
        match feedback? {
            ReceiverFeedback::Custom(message) => BandwidthState::decode(&message),
            ReceiverFeedback::Remb(_) => None,
        }
    }

    /// A receiver of a frame of one packet every 33 ms; the queuing delay at a frame is told.
    struct Stream {
        receiver: StateReceiver,
        frame: u64,
        told: Vec<(u64, bool)>,
    }

    impl Stream {
        fn new() -> Self {
            let receiver = StateReceiver::new(&KilincAnderssonConfig::published());
            Self { receiver, frame: 0, told: Vec::new() }
        }

        fn frame(&mut self, delay_us: u64) -> Time {
            let sent = Time::from_millis(33 * self.frame);
            let arrival = sent + Duration::from_micros(25_000 + delay_us);
            let packet = ArrivedPacket {
                sequence: self.frame,
                sent,
                arrival,
                size: Bytes::new(1000),
                rtp_timestamp: self.frame,
                probe: None,
            };
            if self.receiver.next_timeout().is_some_and(|at| at <= arrival) {
                self.receiver.on_timeout(arrival);
                self.note(arrival);
            }
            self.receiver.on_packet(&packet, Some(Duration::from_millis(50)));
            self.note(arrival);
            self.frame += 1;
            arrival
        }

        fn note(&mut self, now: Time) {
            if let Some(state) = state_in(self.receiver.poll(now)) {
                self.told.push((now.as_millis(), state.overusing));
            }
        }

        fn gradient(&self) -> f64 {
            self.receiver.filter.gradient()
        }
    }

    #[test]
    fn the_filter_follows_a_ramp_of_delay_and_the_state_is_told_at_once() {
        let mut stream = Stream::new();
        for _ in 0..90 {
            stream.frame(0);
        }
        assert!(stream.gradient().abs() < 1e-9);
        let times: Vec<u64> = stream.told.iter().map(|told| told.0).collect();
        assert_eq!(times.len(), 2, "a heartbeat a second, from the first packet on: {times:?}");
        // The queue grows by 2 ms a frame.
        let ramp: Vec<Time> = (1..=90).map(|frame| stream.frame(2_000 * frame)).collect();
        assert!((1.5..2.1).contains(&stream.gradient()), "{}", stream.gradient());
        let &(at, _) = stream.told.iter().find(|told| told.1).unwrap();
        assert!(at < ramp[29].as_millis(), "within a second: {at}");
        for _ in 0..120 {
            stream.frame(180_000);
        }
        assert!(stream.gradient() < 0.4);
        assert_eq!(stream.told.last().map(|told| told.1), Some(false));
        let apart = stream.told.windows(2).all(|pair| pair[1].0 - pair[0].0 >= 100);
        assert!(apart, "{:?}", stream.told);
    }

    #[test]
    fn a_change_too_soon_is_held_and_forgotten_if_it_passes() {
        let mut receiver = StateReceiver::new(&KilincAnderssonConfig::published());
        let at = Time::from_millis;
        let state = |receiver: &mut StateReceiver, now, m| {
            receiver.detector.judge(m);
            receiver.detector.judge(m);
            receiver.tell_change(now);
        };
        state(&mut receiver, at(1000), 1.0);
        assert!(receiver.poll(at(1000)).is_some());
        state(&mut receiver, at(1030), 0.0);
        assert_eq!((receiver.poll(at(1030)), receiver.next_timeout()), (None, Some(at(1100))));
        state(&mut receiver, at(1060), 1.0);
        assert_eq!(receiver.next_timeout(), Some(at(2000)), "the heartbeat");
        state(&mut receiver, at(1090), 0.0);
        receiver.on_timeout(at(1100));
        let sent = state_in(receiver.poll(at(1100)));
        assert_eq!(sent.map(|state| state.overusing), Some(false));
    }
}
