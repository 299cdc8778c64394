//! The target rate of the encoder (`Stream::updateTargetBitrateOld`).

use super::config::ScreamV1CodeConfig;
use super::rates::Rates;
use crate::scream_v2::media_queue::MediaQueue;
use crate::scream_v2::ntp;

/// Least time between two discards of the sender's queue, in ticks: 250 ms
/// (`kMinRtpQueueDiscardInterval`).
const DISCARD_INTERVAL: u64 = 16_384;
/// Share of the window in flight from which the target falls, by which factor, and how often, in
/// ticks: 100 ms.
const FULL: f64 = 0.9;
const FULL_SCALE: f64 = 0.95;
const FULL_INTERVAL: u64 = 6554;
/// Targets among which the inflection point is the greatest (`kTargetBitrateHistSize`).
const HISTORY: usize = 3;
/// Least time between two inflection points when fast increase ends, in ticks: 0.5 s.
const INFLECTION_INTERVAL: u64 = 32_768;
/// Steepness and least value of the scale near the inflection point.
const INFLECTION_SLOPE: f64 = 4.0;
const INFLECTION_LEAST: f64 = 0.2;
/// Most of the sender's queue that counts, in s of the target rate, the gain of its average, and
/// the bits from which the rate does not grow.
const QUEUE_MOST: f64 = 0.02;
const QUEUE_GAIN: f64 = 0.5;
const QUEUE_STOPS: f64 = 12_000.0;
/// Additional growth at low rates: this share, fading above the rate in bit/s.
const PUSH: f64 = 0.05;
const PUSH_BELOW: f64 = 50_000.0;
/// The target is not reduced while the media rate is over this multiple of it.
const LARGE_FRAME: f64 = 2.0;

/// Rates in bit/s, times in ticks.
pub(super) struct TargetRate {
    config: ScreamV1CodeConfig,
    interval: u64,
    /// The interval in s: whole ticks.
    step: f64,
    discard_age: u64,
    min: f64,
    max: f64,
    pub(super) target: f64,
    /// The target that the encoder knows.
    pub(super) told: f64,
    /// The inflection point: the last known highest rate.
    pub(super) inflection: f64,
    history: [f64; HISTORY],
    next: usize,
    inflected: u64,
    adjusted: Option<u64>,
    discarded: u64,
    full: u64,
    was_fast: bool,
    /// The average of the sender's queue, in bits.
    queued: f64,
}

/// A sign of congestion since the last update.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Event {
    None,
    Loss,
    Classic,
    /// A mark with the L4S response, and the average fraction of marked bytes.
    L4s(f64),
}

/// What an update of the target knows.
pub(super) struct Situation<'a> {
    pub(super) now: u64,
    pub(super) event: Event,
    pub(super) queue: &'a MediaQueue,
    /// Size of the newest frame in bytes.
    pub(super) frame: u64,
    /// The share of the window that is in flight.
    pub(super) in_flight: f64,
    /// MSS ÷ window with L4S, else 0.
    pub(super) ratio: f64,
    pub(super) fast_increase: bool,
    pub(super) post_congestion: f64,
    pub(super) trend: f64,
}

impl TargetRate {
    /// `rates`: least, first and greatest rate.
    pub(super) fn new(config: &ScreamV1CodeConfig, [min, target, max]: [f64; 3]) -> Self {
        let interval = ntp::nearest(config.adjust_interval);
        Self {
            interval,
            step: ntp::seconds(interval),
            // An age of more than 0.1 s: the ticks below it are whole.
            discard_age: ntp::span(config.discard),
            min,
            max,
            target,
            told: target,
            inflection: 1.0,
            history: [0.0; HISTORY],
            next: 0,
            inflected: 0,
            adjusted: None,
            discarded: 0,
            full: 0,
            was_fast: false,
            queued: 0.0,
            config: config.clone(),
        }
    }

    /// Updates the target. Returns whether the sender's queue is discarded.
    pub(super) fn update(&mut self, situation: &Situation<'_>, rates: &Rates) -> bool {
        let now = situation.now;
        if self.adjusted.is_none() {
            self.discarded = now;
        }
        let adjusted = *self.adjusted.get_or_insert(now);
        let discards = if situation.event != Event::None {
            self.react(situation, rates.current());
            self.adjusted = Some(now);
            self.discards(situation)
        } else {
            if situation.in_flight > FULL && now.saturating_sub(self.full) > FULL_INTERVAL {
                self.target *= FULL_SCALE;
                self.full = now;
            }
            if now.saturating_sub(adjusted) < self.interval {
                return false;
            }
            self.adjusted = Some(now);
            self.adjust(situation, rates)
        };
        self.target = self.target.clamp(self.min, self.max);
        self.told = self.target;
        discards
    }

    fn react(&mut self, situation: &Situation<'_>, current: f64) {
        self.inflect(situation.now, current);
        self.target = match situation.event {
            Event::None => self.target,
            Event::Loss => (self.target * self.config.beta_r).max(self.min),
            Event::Classic => (self.target * self.config.beta_r_ecn).max(self.min),
            Event::L4s(alpha) => {
                let kept = self.target * (1.0 - alpha / 2.0) + self.target * situation.ratio;
                kept.clamp(self.min, self.max)
            }
        };
    }

    /// The inflection point becomes the greatest of the newest targets.
    fn inflect(&mut self, now: u64, current: f64) {
        self.history[self.next] = current.min(self.target);
        self.next = (self.next + 1) % HISTORY;
        self.inflection = self.history.iter().copied().fold(0.0, f64::max);
        self.inflected = now;
    }

    /// Whether a queue that is too old is discarded now.
    fn discards(&mut self, situation: &Situation<'_>) -> bool {
        let now = situation.now;
        let is_old = situation.queue.age(now) > self.discard_age;
        let discards = is_old && now.saturating_sub(self.discarded) > DISCARD_INTERVAL;
        if discards {
            self.discarded = now;
            self.queued = 0.0;
        }
        discards
    }

    /// The regular adjustment. Returns whether the sender's queue is discarded.
    fn adjust(&mut self, situation: &Situation<'_>, rates: &Rates) -> bool {
        let distance = (self.target - self.inflection) / self.inflection * INFLECTION_SLOPE;
        let scale = (distance * distance).clamp(INFLECTION_LEAST, 1.0);
        let older = situation.queue.bytes().saturating_sub(situation.frame) as f64 * 8.0;
        let older = older.min((self.target * QUEUE_MOST).trunc());
        self.queued += QUEUE_GAIN * (older - self.queued);
        let speed = self.config.ramp_up_speed.as_bps_f64();
        let ramp = speed.min(self.target * self.config.ramp_up_share) * self.step;
        // Below 0 while the media do not use the target.
        let unused = (rates.media.max(rates.current()) / self.target - 1.0).min(0.0);
        if self.discards(situation) {
            return true;
        }
        if situation.fast_increase && situation.queue.age(situation.now) <= self.discard_age {
            self.target += ramp * scale * (1.0 + unused) * situation.post_congestion;
            self.was_fast = true;
        } else {
            self.follow(situation, rates, older, ramp, unused);
        }
        false
    }

    /// Outside fast increase the target follows the measured rate.
    fn follow(
        &mut self,
        situation: &Situation<'_>,
        rates: &Rates,
        older: f64,
        ramp: f64,
        unused: f64,
    ) {
        let Situation { now, trend, ratio, .. } = *situation;
        let current = rates.current();
        if std::mem::take(&mut self.was_fast)
            && now.saturating_sub(self.inflected) > INFLECTION_INTERVAL
        {
            self.inflect(now, current);
        }
        let guarded = current * (1.0 - self.config.guard * trend);
        let mut change = guarded - self.config.queue_factor * self.queued - self.target;
        if older > QUEUE_STOPS {
            change = change.min(0.0);
        }
        let damping = 1.0 + (2.0 * unused).max(-1.0);
        if change > 0.0 {
            self.was_fast = true;
            let push = PUSH * (PUSH_BELOW / self.target).min(1.0);
            change = (change * (1.0 + ratio + push)).min(ramp) * damping;
        } else if rates.media.max(current) > LARGE_FRAME * self.target {
            change = 0.0;
        } else {
            change *= damping;
        }
        self.target += change;
    }

    /// The window asks for a lower target at a low rate.
    pub(super) fn scale(&mut self, factor: f64) {
        self.target = (self.target * factor).clamp(self.min, self.max);
    }

    /// The greatest rate of the media changed.
    pub(super) fn set_max(&mut self, max: f64) {
        self.max = max.max(self.min);
        self.target = self.target.min(self.max);
        self.told = self.told.min(self.max);
    }

    pub(super) fn bounds(&self) -> (f64, f64) {
        (self.min, self.max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: u64 = 65_536;

    fn rate() -> TargetRate {
        TargetRate::new(&ScreamV1CodeConfig::published(), [100e3, 500e3, 2e6])
    }

    fn at(now: u64, event: Event, queue: &MediaQueue) -> Situation<'_> {
        Situation {
            now,
            event,
            queue,
            frame: 0,
            in_flight: 0.5,
            ratio: 0.0,
            fast_increase: true,
            post_congestion: 1.0,
            trend: 0.0,
        }
    }

    fn measured(bytes: u64) -> Rates {
        let mut rates = Rates::new();
        for step in 1..=5 {
            rates.update(6555 * step, 0.0);
            rates.on_sent(bytes);
            rates.on_frame(bytes);
        }
        rates.update(6 * 6555, 0.0);
        rates
    }

    #[test]
    fn the_rate_ramps_up_and_falls_at_signs_of_congestion() {
        let (mut rate, rates, empty) = (rate(), measured(8000), MediaQueue::default());
        rate.update(&at(START, Event::None, &empty), &rates);
        assert!(!rate.update(&at(START + 1311, Event::None, &empty), &rates));
        let step = 100e3 * 1311.0 / 65_536.0;
        assert!((rate.target - 500e3 - step).abs() < 1.0, "a fifth per second: {}", rate.target);
        rate.update(&at(START + 1400, Event::Loss, &empty), &rates);
        assert!((rate.target - 0.9 * (500e3 + step)).abs() < 1.0);
        assert!((rate.inflection - 500e3 - step).abs() < 1.0);
        rate.update(&at(START + 1500, Event::L4s(0.5), &empty), &rates);
        assert!((rate.target - 0.9 * 0.75 * (500e3 + step)).abs() < 1.0);
    }

    #[test]
    fn an_old_queue_is_discarded_once_per_quarter_of_a_second() {
        let (mut rate, rates) = (rate(), measured(8000));
        let mut queue = MediaQueue::default();
        queue.on_frame(START, 5000, 5000);
        rate.update(&at(START, Event::None, &queue), &rates);
        assert!(!rate.update(&at(START + 7000, Event::None, &queue), &rates), "too early");
        assert!(rate.update(&at(START + 17_000, Event::None, &queue), &rates));
        assert!(!rate.update(&at(START + 20_000, Event::None, &queue), &rates));
    }
}
