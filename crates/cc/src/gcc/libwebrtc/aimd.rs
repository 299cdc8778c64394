//! Fourth stage: the delay-based rate, additive increase and multiplicative decrease
//! (libwebrtc `remote_bitrate_estimator/aimd_rate_control.cc`).

use super::super::overuse_detector::Signal;
use super::config::LibwebrtcConfig;
use super::link_capacity::LinkCapacity;
use units::{Bitrate, Duration, Time};

/// Frames a second and packet size from which the average packet is reckoned
/// (libwebrtc `aimd_rate_control.cc`: 30, 1200 B).
const FRAME_RATE: f64 = 30.0;
const PACKET_BITS: f64 = 9600.0;
/// The rate grows by a packet in twice the response time (libwebrtc `aimd_rate_control.cc`).
const RESPONSE_TIMES: f64 = 2.0;
/// The pace of falls is the round-trip time within these bounds (libwebrtc `aimd_rate_control.cc`: 10…200 ms).
const PACE: (Duration, Duration) = (Duration::from_millis(10), Duration::from_millis(200));
/// A throughput below this share of the rate lowers it at once (libwebrtc `aimd_rate_control.cc`: 0.5).
const FAR_BELOW: f64 = 0.5;
/// A pause counts in a multiplicative step up to this (libwebrtc `aimd_rate_control.cc`: 1 s).
const LONGEST_STEP: f64 = 1.0;

/// What the controller did last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Increase,
    Hold,
    Decrease,
}

/// Computes the delay-based rate; rates in bit/s, real, so that small steps add up.
pub(super) struct Aimd {
    config: LibwebrtcConfig,
    least: f64,
    rate: f64,
    /// The newest throughput.
    throughput: f64,
    capacity: LinkCapacity,
    state: State,
    rtt: Duration,
    changed: Option<Time>,
}

impl Aimd {
    pub(super) fn new(config: &LibwebrtcConfig, start: Bitrate, least: Bitrate) -> Self {
        let start = start.max(least).as_bps_f64();
        Self {
            config: config.clone(),
            least: least.as_bps_f64(),
            rate: start,
            throughput: start,
            capacity: LinkCapacity::new(config),
            state: State::Hold,
            rtt: config.default_rtt,
            changed: None,
        }
    }

    pub(super) fn on_rtt(&mut self, rtt: Duration) {
        self.rtt = rtt;
    }

    /// A probe measured the path.
    pub(super) fn set_rate(&mut self, now: Time, rate: Bitrate) {
        self.rate = rate.as_bps_f64().max(self.least);
        self.changed = Some(now);
    }

    /// Whether over-use lowers the rate again: once a round-trip time, or when the throughput is far below.
    pub(super) fn may_fall(&self, now: Time, throughput: Bitrate) -> bool {
        let pace = self.rtt.clamp(PACE.0, PACE.1);
        self.changed.is_none_or(|changed| now.saturating_since(changed) >= pace)
            || throughput.as_bps_f64() < FAR_BELOW * self.rate
    }

    /// Feedback came at `now`; `throughput` is the acknowledged rate, once it is known.
    pub(super) fn update(&mut self, now: Time, signal: Signal, throughput: Option<Bitrate>, in_alr: bool) {
        self.throughput = throughput.map_or(self.throughput, Bitrate::as_bps_f64);
        match (signal, self.state) {
            (Signal::Overuse, _) => self.fall(now),
            (Signal::Underuse, _) => self.state = State::Hold,
            (Signal::Normal, State::Increase) => self.rise(now, in_alr),
            (Signal::Normal, State::Hold | State::Decrease) => {
                self.changed = Some(now);
                self.state = State::Increase;
                self.rise(now, in_alr);
            }
        }
        self.rate = self.rate.max(self.least);
    }

    fn rise(&mut self, now: Time, in_alr: bool) {
        if self.capacity.is_below(self.throughput) {
            self.capacity.forget();
        }
        let limit = if in_alr && !self.config.increase_in_alr {
            self.rate
        } else {
            self.config.increase_limit * self.throughput + self.config.limit_extra.as_bps_f64()
        };
        if self.rate < limit {
            let elapsed = self.changed.map(|changed| now.saturating_since(changed).as_secs_f64());
            let near = self.capacity.estimate().is_some();
            let step = if near { self.additive(elapsed) } else { self.multiplicative(elapsed) };
            self.rate = (self.rate + step).min(limit);
        }
        self.changed = Some(now);
    }

    /// An average packet in twice the response time.
    fn additive(&self, elapsed: Option<f64>) -> f64 {
        self.additive_slope() * elapsed.unwrap_or(0.0)
    }

    /// bit/s in a second.
    fn additive_slope(&self) -> f64 {
        let frame = self.rate / FRAME_RATE;
        let packet = frame / (frame / PACKET_BITS).ceil();
        let response_time = (self.rtt + self.config.response_extra).as_secs_f64();
        (packet / (RESPONSE_TIMES * response_time)).max(self.config.least_additive.as_bps_f64())
    }

    fn multiplicative(&self, elapsed: Option<f64>) -> f64 {
        let exponent = elapsed.map_or(1.0, |elapsed| elapsed.min(LONGEST_STEP));
        let step = self.rate * (libm::pow(self.config.increase, exponent) - 1.0);
        step.max(self.config.least_step.as_bps_f64())
    }

    /// To a little less than what gets through, to drain the queue; never upwards.
    fn fall(&mut self, now: Time) {
        self.state = State::Decrease;
        let extra = self.config.decrease_extra.as_bps_f64();
        let mut lower = self.config.decrease * self.throughput;
        if lower > extra {
            lower -= extra;
        }
        if lower > self.rate
            && let Some(capacity) = self.capacity.estimate()
        {
            lower = self.config.decrease * capacity;
        }
        self.rate = self.rate.min(lower);
        if self.capacity.is_above(self.throughput) {
            self.capacity.forget();
        }
        self.capacity.on_overuse(self.throughput);
        self.changed = Some(now);
    }

    /// The delay-based rate.
    pub(super) fn rate(&self) -> Bitrate {
        Bitrate::from_bps_f64(self.rate)
    }

    pub(super) fn state(&self) -> State {
        self.state
    }

    /// The link capacity, bit/s.
    pub(super) fn capacity(&self) -> Option<f64> {
        self.capacity.estimate()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn aimd(kbps: u64) -> Aimd {
        let config = LibwebrtcConfig::default();
        Aimd::new(&config, Bitrate::from_kbps(kbps), Bitrate::from_kbps(5))
    }

    /// Ten updates a second from `from` on, for a second and the instant that ends it.
    fn second(aimd: &mut Aimd, from: u64, signal: Signal, throughput_kbps: u64) {
        for k in 0..=10 {
            let now = Time::from_millis(1000 * from + 100 * k);
            aimd.update(now, signal, Some(Bitrate::from_kbps(throughput_kbps)), false);
        }
    }

    #[test]
    fn far_from_capacity_the_rate_grows_by_eight_percent_a_second() {
        let mut aimd = aimd(1000);
        second(&mut aimd, 0, Signal::Normal, 1000);
        // The first update only enters the state, with the least step of 1 kbit/s.
        let rate = aimd.rate().as_bps();
        assert!((1_080_900..1_081_300).contains(&rate), "{rate}");
    }

    #[test]
    fn near_capacity_it_grows_by_a_packet_in_twice_the_response_time() {
        let mut aimd = aimd(1500);
        aimd.on_rtt(Duration::from_millis(50));
        aimd.update(Time::ZERO, Signal::Overuse, Some(Bitrate::from_kbps(1500)), false);
        assert_eq!(aimd.rate(), Bitrate::from_kbps(1270));
        assert_eq!(aimd.capacity(), Some(1_500_000.0));
        second(&mut aimd, 1, Signal::Normal, 1500);
        // A frame of 1270000/30 bit is 5 packets of 8467 bit; 300 ms each: 28.2 kbit/s, and a little
        // more as packets grow with the rate.
        let added = aimd.rate().as_bps() - 1_270_000;
        assert!((28_200..28_900).contains(&added), "{added}");
    }

    #[test]
    fn at_low_rates_it_grows_by_four_kilobits_at_least() {
        let mut aimd = aimd(50);
        aimd.on_rtt(Duration::from_millis(400));
        aimd.update(Time::ZERO, Signal::Overuse, Some(Bitrate::from_kbps(40)), false);
        // 0.85 × 40 − 5 = 29 kbit/s; a packet of 967 bit a second would be less than 4 kbit/s.
        assert_eq!(aimd.rate(), Bitrate::from_kbps(29));
        second(&mut aimd, 1, Signal::Normal, 40);
        assert_eq!(aimd.rate(), Bitrate::from_kbps(33));
    }

    #[test]
    fn growth_ends_at_one_and_a_half_times_the_throughput_and_ten_kilobits() {
        let mut aimd = aimd(1000);
        for from in 0..20 {
            second(&mut aimd, from, Signal::Normal, 1000);
        }
        assert_eq!(aimd.rate(), Bitrate::from_kbps(1510));
        second(&mut aimd, 20, Signal::Normal, 100);
        assert_eq!(aimd.rate(), Bitrate::from_kbps(1510), "the limit does not lower");
    }

    #[test]
    fn in_an_application_limited_region_only_a_probe_raises() {
        let mut aimd = aimd(1000);
        for ms in (0..5000).step_by(100) {
            aimd.update(Time::from_millis(ms), Signal::Normal, Some(Bitrate::from_kbps(900)), true);
        }
        assert_eq!(aimd.rate(), Bitrate::from_kbps(1000));
        aimd.set_rate(Time::from_secs(5), Bitrate::from_kbps(2000));
        assert_eq!(aimd.rate(), Bitrate::from_kbps(2000));
    }

    #[test]
    fn over_use_never_raises_and_falls_back_on_the_link_capacity() {
        let mut aimd = aimd(1000);
        aimd.update(Time::ZERO, Signal::Overuse, Some(Bitrate::from_kbps(1000)), false);
        assert_eq!(aimd.rate(), Bitrate::from_kbps(845));
        // 0.85 × 1010 − 5 = 853.5 is above the rate: 0.85 × capacity is too.
        aimd.update(Time::from_secs(1), Signal::Overuse, Some(Bitrate::from_kbps(1010)), false);
        assert_eq!(aimd.rate(), Bitrate::from_kbps(845));
        aimd.set_rate(Time::from_secs(2), Bitrate::from_kbps(852));
        aimd.update(Time::from_secs(3), Signal::Overuse, Some(Bitrate::from_kbps(1010)), false);
        // Capacity 0.95 × 1000 + 0.05 × 1010 = 1000.5: 850.425.
        assert_eq!(aimd.rate(), Bitrate::from_bps(850_425));
    }

    #[test]
    fn falls_keep_the_pace_of_the_round_trip_time() {
        let mut aimd = aimd(1000);
        aimd.on_rtt(Duration::from_millis(80));
        let throughput = Bitrate::from_kbps(600);
        assert!(aimd.may_fall(Time::ZERO, throughput));
        aimd.update(Time::ZERO, Signal::Overuse, Some(throughput), false);
        assert!(!aimd.may_fall(Time::from_millis(79), throughput));
        assert!(aimd.may_fall(Time::from_millis(80), throughput));
        // The rate is 505 kbit/s now.
        assert!(aimd.may_fall(Time::from_millis(1), Bitrate::from_kbps(252)));
        assert!(!aimd.may_fall(Time::from_millis(1), Bitrate::from_kbps(253)));
        aimd.on_rtt(Duration::from_secs(1));
        assert!(aimd.may_fall(Time::from_millis(200), throughput), "at least every 200 ms");
    }

    #[test]
    fn under_use_holds() {
        let mut aimd = aimd(1000);
        second(&mut aimd, 0, Signal::Underuse, 1000);
        assert_eq!((aimd.rate(), aimd.state()), (Bitrate::from_kbps(1000), State::Hold));
    }
}
