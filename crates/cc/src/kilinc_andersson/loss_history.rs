//! Loss events, loss intervals, and the loss event rate p (eqs. 3.21–3.25; RFC 5348 §§ 5.2–5.4,
//! without the optional history discounting).

use super::config::{Average, FirstInterval, KilincAnderssonConfig, Weights};
use super::loss_detector::{Arrival, Gap};
use units::{Duration, Ratio};

/// n, the number of loss intervals in the average (§ 3.2D; RFC 5348 § 5.4).
const INTERVALS: usize = 8;
/// RFC 5348 § 5.4: 1 for the newer half, 2 (n − i)/(n + 2) for the older half.
const RFC_WEIGHTS: [f64; INTERVALS] = [1.0, 1.0, 1.0, 1.0, 0.8, 0.6, 0.4, 0.2];
/// Eq. 3.23.
const PRINTED_WEIGHTS: [f64; INTERVALS] = [0.1, 0.1, 0.1, 0.1, 0.8, 0.6, 0.4, 0.2];
/// Minimum round-trip time, so that with a round-trip time of 0 not every loss is an event.
const MIN_RTT: Duration = Duration::from_millis(1);

/// Groups losses into loss events and averages the loss intervals.
pub(crate) struct LossHistory {
    weights: [f64; INTERVALS],
    average: Average,
    first_interval: FirstInterval,
    /// Sequence number of the first packet that arrived.
    first: Option<u64>,
    /// The newest loss event: its first lost packet, with the nominal arrival time.
    event: Option<Arrival>,
    events: u64,
    /// I_1, I_2, …: number of packets from one event to the next, newest first.
    closed: [f64; INTERVALS],
    count: usize,
}

impl LossHistory {
    pub(crate) fn new(config: &KilincAnderssonConfig) -> Self {
        Self {
            weights: match config.weights {
                Weights::Rfc5348 => RFC_WEIGHTS,
                Weights::Printed => PRINTED_WEIGHTS,
            },
            average: config.average,
            first_interval: config.first_interval,
            first: None,
            event: None,
            events: 0,
            closed: [0.0; INTERVALS],
            count: 0,
        }
    }

    /// A packet arrived.
    pub(crate) fn on_packet(&mut self, sequence: u64) {
        self.first.get_or_insert(sequence);
    }

    /// Processes lost packets. A packet whose nominal arrival is within a round-trip time after the
    /// start of the newest event belongs to that event (RFC 5348 § 5.2). `synthetic` computes the
    /// interval before the first event by the throughput equation, if possible.
    pub(crate) fn on_lost(&mut self, gap: Gap, rtt: Duration, synthetic: impl Fn() -> Option<f64>) {
        let Gap { before, after } = gap;
        let rtt = rtt.max(MIN_RTT);
        let packets = u128::from(after.sequence - before.sequence);
        let span = u128::from(after.at.saturating_since(before.at).as_nanos());
        let mut sequence = before.sequence + 1;
        while sequence < after.sequence {
            let offset = span * u128::from(sequence - before.sequence) / packets;
            // Eq. 3.21 prints a product of two times; the sum is meant, as in RFC 5348 § 5.2.
            let at = before.at + Duration::from_nanos(u64::try_from(offset).unwrap_or(u64::MAX));
            if self.event.is_none_or(|event| event.at + rtt <= at) {
                self.begin(Arrival { sequence, at }, &synthetic);
            }
            // Continue with the next packet that can start an event, a round-trip time later.
            let Some(event) = self.event else { return };
            let wait = u128::from((event.at + rtt).saturating_since(before.at).as_nanos());
            let steps = (wait * packets).div_ceil(span.max(1));
            let next = before.sequence.saturating_add(u64::try_from(steps).unwrap_or(u64::MAX));
            sequence = next.max(sequence + 1);
        }
    }

    fn begin(&mut self, event: Arrival, synthetic: impl Fn() -> Option<f64>) {
        let counted = |from: u64| (event.sequence - from.min(event.sequence)) as f64;
        let interval = match (self.event, self.first_interval) {
            // Eq. 3.22.
            (Some(last), _) => counted(last.sequence),
            (None, FirstInterval::Packets) => counted(self.first.unwrap_or(0)),
            (None, FirstInterval::Equation) => {
                synthetic().unwrap_or_else(|| counted(self.first.unwrap_or(0)))
            }
        };
        self.closed.copy_within(..INTERVALS - 1, 1);
        self.closed[0] = interval.max(1.0);
        self.count = (self.count + 1).min(INTERVALS);
        self.event = Some(event);
        self.events += 1;
    }

    /// p = 1/I_mean (eq. 3.24); 0 before the first loss. `newest` is the sequence number of the
    /// newest packet.
    pub(crate) fn rate(&self, newest: u64) -> Ratio {
        let Some(event) = self.event else { return Ratio::ZERO };
        let closed = &self.closed[..self.count];
        let weights = &self.weights[..self.count];
        let total: f64 = weights.iter().sum();
        let weighted = |intervals: &[f64], weights: &[f64]| -> f64 {
            intervals.iter().zip(weights).map(|(interval, weight)| interval * weight).sum()
        };
        let sum = match self.average {
            Average::Printed => closed.iter().sum(),
            Average::Rfc5348 => {
                // I_0, the open interval, takes the first weight and replaces the oldest interval.
                let open = (newest + 1).saturating_sub(event.sequence) as f64;
                let with_open = open * weights[0] + weighted(closed, &weights[1..]);
                with_open.max(weighted(closed, weights))
            }
        };
        Ratio::from_f64(total / sum)
    }

    /// Number of loss events so far.
    pub(crate) fn events(&self) -> u64 {
        self.events
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Time;

    const RTT: Duration = Duration::from_millis(100);

    fn history(config: KilincAnderssonConfig) -> LossHistory {
        let first_interval = FirstInterval::Packets;
        LossHistory::new(&KilincAnderssonConfig { first_interval, ..config })
    }

    fn published() -> LossHistory {
        history(KilincAnderssonConfig::published())
    }

    /// Packets are 10 ms apart.
    fn arrival(sequence: u64) -> Arrival {
        Arrival { sequence, at: Time::from_millis(10 * sequence) }
    }

    fn lose(history: &mut LossHistory, sequences: std::ops::RangeInclusive<u64>) {
        let gap =
            Gap { before: arrival(sequences.start() - 1), after: arrival(sequences.end() + 1) };
        history.on_lost(gap, RTT, || None);
    }

    /// Adds losses that are these numbers of packets apart, oldest first.
    fn with_intervals(mut history: LossHistory, intervals: &[u64]) -> (LossHistory, u64) {
        history.on_packet(1000);
        let mut sequence = 1000;
        for interval in intervals {
            sequence += interval;
            lose(&mut history, sequence..=sequence);
        }
        (history, sequence)
    }

    #[test]
    fn losses_within_a_round_trip_are_one_event() {
        let mut history = published();
        history.on_packet(0);
        lose(&mut history, 100..=100);
        lose(&mut history, 105..=105);
        lose(&mut history, 109..=109);
        assert_eq!((history.events(), history.closed[0]), (1, 100.0));
        lose(&mut history, 110..=110);
        assert_eq!(
            (history.events(), history.closed[0]),
            (2, 10.0),
            "a round trip after the start of the event"
        );
    }

    #[test]
    fn a_long_gap_is_one_event_per_round_trip() {
        let mut history = published();
        history.on_packet(0);
        lose(&mut history, 100..=134);
        assert_eq!(history.events(), 4, "at 100, 110, 120 and 130");
        assert_eq!(history.closed[..4], [10.0, 10.0, 10.0, 100.0]);
        assert_eq!(history.event, Some(arrival(130)));
    }

    #[test]
    fn an_extreme_gap_terminates() {
        let mut history = published();
        let at = Time::from_secs(1);
        let gap = |sequence, at| Gap {
            before: Arrival { sequence: 0, at: Time::from_secs(1) },
            after: Arrival { sequence, at },
        };
        history.on_lost(gap(u64::MAX, at), RTT, || None);
        assert_eq!(history.events(), 1);
        history.on_lost(gap(u64::MAX, at + Duration::from_secs(10)), RTT, || None);
        assert_eq!(history.events(), 100, "one event per round trip");
    }

    #[test]
    fn eight_intervals_are_weighted_as_in_rfc_5348() {
        let intervals = [80, 70, 60, 50, 40, 30, 20, 10];
        let (history, newest) = with_intervals(published(), &intervals);
        // I_1 is the newest, 10: (10 + 20 + 30 + 40) + 0.8·50 + 0.6·60 + 0.4·70 + 0.2·80 = 220,
        // over 6.
        let p = history.rate(newest).as_f64();
        assert!((p - 6.0 / 220.0).abs() < 1e-9, "{p}");
        // 99 packets later the open interval of 100 counts instead of the oldest: (100 + 10 + 20
        // + 30) + 0.8·40 + 0.6·50 + 0.4·60 + 0.2·70 = 260.
        let p = history.rate(newest + 99).as_f64();
        assert!((p - 6.0 / 260.0).abs() < 1e-9, "{p}");
        // A ninth interval replaces the oldest.
        let (history, newest) = with_intervals(published(), &[&[9999], &intervals[..]].concat());
        assert!((history.rate(newest).as_f64() - 6.0 / 220.0).abs() < 1e-9);
    }

    #[test]
    fn fewer_intervals_are_averaged_over_their_own_weights() {
        let (history, newest) = with_intervals(published(), &[100]);
        assert!((history.rate(newest).as_f64() - 0.01).abs() < 1e-9);
        assert!(
            (history.rate(newest + 399).as_f64() - 1.0 / 400.0).abs() < 1e-9,
            "only the open interval"
        );
        assert_eq!(published().rate(5), Ratio::ZERO);
    }

    #[test]
    fn as_printed_the_intervals_are_not_weighted() {
        let published = KilincAnderssonConfig::published();
        let intervals = [80, 70, 60, 50, 40, 30, 20, 10];
        let rate = |weights, average| {
            let config = KilincAnderssonConfig { weights, average, ..published.clone() };
            let (history, newest) = with_intervals(history(config), &intervals);
            history.rate(newest + 99).as_f64()
        };
        assert!((rate(Weights::Rfc5348, Average::Printed) - 6.0 / 360.0).abs() < 1e-9);
        assert!((rate(Weights::Printed, Average::Printed) - 2.4 / 360.0).abs() < 1e-9);
        // 0.1·(100 + 10 + 20 + 30) + 0.8·40 + 0.6·50 + 0.4·60 + 0.2·70 = 116; without the open
        // interval 10 + 120 = 130.
        assert!((rate(Weights::Printed, Average::Rfc5348) - 2.4 / 130.0).abs() < 1e-9);
    }

    #[test]
    fn the_first_interval_may_be_synthetic() {
        let mut history = LossHistory::new(&KilincAnderssonConfig::published());
        history.on_packet(0);
        history.on_lost(Gap { before: arrival(99), after: arrival(101) }, RTT, || Some(2500.0));
        assert!((history.rate(101).as_f64() - 1.0 / 2500.0).abs() < 1e-9);
    }
}
