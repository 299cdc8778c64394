//! The receiver half (§ 3.2): the bandwidth state, the loss event rate, and when messages are sent.

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

/// Window of the received rate: 500 ms as in GCC of that time, so that the window contains several
/// frames (RFC 5348 § 6.2: the time since the last feedback, or a round-trip time).
const RATE_WINDOW: Duration = Duration::from_millis(500);

/// Observes arrivals and sends the bandwidth state and the loss event rate to the sender: every
/// heartbeat, and when the state has changed, at the earliest the minimum interval after the last
/// message.
pub(crate) struct StateReceiver {
    groups: ArrivalGroups,
    filter: ArrivalFilter,
    detector: StateDetector,
    losses: LossDetector,
    history: LossHistory,
    size: PacketSize,
    received: ReceiveRate,
    max_received: Bitrate,
    equation: Equation,
    intervals: Intervals,
    /// Whether the last message reported over-use.
    sent_overusing: bool,
    last: Option<Time>,
    due: Option<Time>,
    /// When a state change that followed the last message too soon may be sent.
    deferred_until: Option<Time>,
    send_now: bool,
    delay_variation: f64,
}

/// Times between messages.
struct Intervals {
    heartbeat: Duration,
    min: Duration,
}

impl StateReceiver {
    pub(crate) fn new(config: &KilincAnderssonConfig) -> Self {
        Self {
            // The burst time has no effect on frames.
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
            max_received: Bitrate::ZERO,
            equation: config.equation,
            intervals: Intervals { heartbeat: config.heartbeat, min: config.min_interval },
            sent_overusing: false,
            last: None,
            due: None,
            deferred_until: None,
            send_now: false,
            delay_variation: 0.0,
        }
    }

    fn on_arrival(&mut self, packet: &ArrivedPacket, rtt: Duration) {
        let Self { losses, history, size, max_received, equation, .. } = self;
        history.on_packet(packet.sequence);
        let arrival = Arrival { sequence: packet.sequence, at: packet.arrival };
        let target = Some(*max_received).filter(|&rate| rate > Bitrate::ZERO);
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

    /// Schedules a message if the state has changed, for now or for the end of the minimum
    /// interval.
    fn schedule_change(&mut self, now: Time) {
        let overusing = self.detector.is_overusing();
        let earliest =
            self.last.map(|last| last + self.intervals.min).filter(|&earliest| earliest > now);
        self.deferred_until = earliest.filter(|_| overusing != self.sent_overusing);
        self.send_now |= overusing != self.sent_overusing && earliest.is_none();
    }
}

impl crate::Receiver for StateReceiver {
    fn on_packet(&mut self, packet: &ArrivedPacket, rtt: Option<Duration>) {
        self.due.get_or_insert(packet.arrival + self.intervals.heartbeat);
        self.on_arrival(packet, rtt.unwrap_or(DEFAULT_RTT));
        if let Some(variation) = self.groups.on_packet(packet) {
            self.delay_variation = variation.delay;
            let received = self.received.rate(packet.arrival);
            self.max_received = self.max_received.max(received.unwrap_or(Bitrate::ZERO));
            self.detector.update(self.filter.update(&variation));
            self.schedule_change(packet.arrival);
        }
    }

    fn on_timeout(&mut self, now: Time) {
        if self.due.is_some_and(|due| due <= now) {
            self.send_now = true;
            self.due = Some(now + self.intervals.heartbeat);
        }
        if self.deferred_until.is_some_and(|deferred_until| deferred_until <= now) {
            self.send_now = true;
            self.deferred_until = None;
        }
    }

    fn next_timeout(&self) -> Option<Time> {
        self.due
            .map(|due| self.deferred_until.map_or(due, |deferred_until| deferred_until.min(due)))
    }

    fn poll(&mut self, now: Time) -> Option<ReceiverFeedback> {
        if !std::mem::take(&mut self.send_now) {
            return None;
        }
        let state = BandwidthState {
            overusing: self.detector.is_overusing(),
            loss_event_rate: self.loss_event_rate(),
        };
        self.sent_overusing = state.overusing;
        self.last = Some(now);
        self.due = Some(now + self.intervals.heartbeat);
        self.deferred_until = None;
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

    /// A receiver of one frame of one packet every 33 ms; the caller gives the queuing delay of
    /// each frame.
    struct Stream {
        receiver: StateReceiver,
        frame: u64,
        messages: Vec<(u64, bool)>,
    }

    impl Stream {
        fn new() -> Self {
            let receiver = StateReceiver::new(&KilincAnderssonConfig::published());
            Self { receiver, frame: 0, messages: Vec::new() }
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
                ecn: crate::Ecn::NotEct,
            };
            if self.receiver.next_timeout().is_some_and(|at| at <= arrival) {
                self.receiver.on_timeout(arrival);
                self.poll(arrival);
            }
            self.receiver.on_packet(&packet, Some(Duration::from_millis(50)));
            self.poll(arrival);
            self.frame += 1;
            arrival
        }

        fn poll(&mut self, now: Time) {
            if let Some(state) = state_in(self.receiver.poll(now)) {
                self.messages.push((now.as_millis(), state.overusing));
            }
        }

        fn gradient(&self) -> f64 {
            self.receiver.filter.gradient()
        }
    }

    #[test]
    fn the_filter_follows_a_ramp_of_delay_and_the_state_is_sent_at_once() {
        let mut stream = Stream::new();
        for _ in 0..90 {
            stream.frame(0);
        }
        assert!(stream.gradient().abs() < 1e-9);
        let times: Vec<u64> = stream.messages.iter().map(|message| message.0).collect();
        assert_eq!(times.len(), 2, "one heartbeat per second from the first packet on: {times:?}");
        // The queue grows by 2 ms per frame.
        let ramp: Vec<Time> = (1..=90).map(|frame| stream.frame(2_000 * frame)).collect();
        assert!((1.5..2.1).contains(&stream.gradient()), "{}", stream.gradient());
        let &(at, _) = stream.messages.iter().find(|message| message.1).unwrap();
        assert!(at < ramp[29].as_millis(), "within a second: {at}");
        for _ in 0..120 {
            stream.frame(180_000);
        }
        assert!(stream.gradient() < 0.4);
        assert_eq!(stream.messages.last().map(|message| message.1), Some(false));
        let apart = stream.messages.windows(2).all(|pair| pair[1].0 - pair[0].0 >= 100);
        assert!(apart, "{:?}", stream.messages);
    }

    #[test]
    fn an_early_change_is_deferred_and_dropped_if_it_reverts() {
        let mut receiver = StateReceiver::new(&KilincAnderssonConfig::published());
        let at = Time::from_millis;
        let state = |receiver: &mut StateReceiver, now, m| {
            receiver.detector.update(m);
            receiver.detector.update(m);
            receiver.schedule_change(now);
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
