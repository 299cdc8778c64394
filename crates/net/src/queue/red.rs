//! RED: drops arriving packets with a probability that follows the average queue size (Floyd,
//! Jacobson, IEEE/ACM Transactions on Networking 1(4), 1993). Adaptive RED tunes the maximum
//! probability (Floyd, Gummadi, Shenker 2001). Both after Linux `include/net/red.h` and tc-red.

use super::error::QueueConfigError;
use super::fifo::Fifo;
use super::tc_units::Printed;
use super::words::Words;
use super::{Drops, QueueDiscipline, mark};
use crate::packet::{DropReason, Packet};
use std::fmt;
use units::{Bitrate, Bytes, Duration, Ratio, Stream, Time};

/// The interval of Adaptive RED (Floyd, Gummadi, Shenker 2001 § 4; Linux `red_adaptative_timer`).
const ADAPT_EVERY: Duration = Duration::from_millis(500);
/// The target range of the average, as shares of the way from min to max (ibid.).
const TARGET_RANGE: (f64, f64) = (0.4, 0.6);
/// The maximum probability rises by a quarter of itself, at most by `MAX_STEP`, and falls by the
/// factor `FALL` (ibid.).
const MAX_STEP: f64 = 0.01;
const STEP_SHARE: f64 = 0.25;
const FALL: f64 = 0.9;
/// The range of the maximum probability (ibid.).
const BOUNDS: (f64, f64) = (0.01, 0.5);

/// RED's parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct RedConfig {
    /// The most bytes in the queue.
    pub limit: Bytes,
    /// While the average is below this, nothing is dropped.
    pub min: Bytes,
    /// From this average on every packet is dropped.
    pub max: Bytes,
    /// The mean packet size.
    pub avpkt: Bytes,
    /// The burst, in packets, that the average tolerates.
    pub burst: u64,
    /// The line's rate, at which the average decays while the queue is idle.
    pub bandwidth: Bitrate,
    /// The maximum probability, reached at `max`.
    pub probability: Ratio,
    /// Marks ECN-capable packets instead of dropping them.
    pub ecn: bool,
    /// Drops ECN-capable packets too while the average is above `max`.
    pub harddrop: bool,
    /// Adapts the maximum probability.
    pub adaptive: bool,
    /// The weight of a packet in the average is 2 to the minus this. Computed from `min`, `burst`
    /// and `avpkt` as in tc.
    weight_log: u32,
}

pub(super) const USAGE: &str = "red limit BYTES avpkt BYTES min BYTES max BYTES burst PACKETS bandwidth RATE probability SHARE ecn harddrop adaptive";

impl RedConfig {
    /// The most bytes that can wait in the queue.
    pub(super) fn buffer(&self) -> Bytes {
        self.limit
    }

    pub(super) fn read(mut words: Words<'_>) -> Result<Self, QueueConfigError> {
        let (mut limit, mut min, mut max, mut burst) = (None, None, None, None);
        // The defaults of tc-red: 10 Mbit/s, 0.02, 1000 bytes.
        let (mut avpkt, mut bandwidth) = (Bytes::new(1_000), Bitrate::from_mbps(10));
        let mut probability = Ratio::from_percent(2);
        let (mut ecn, mut harddrop, mut adaptive) = (false, false, false);
        while let Some(key) = words.key() {
            match key {
                "limit" => limit = Some(words.bytes(key)?),
                "min" => min = Some(words.bytes(key)?),
                "max" => max = Some(words.bytes(key)?),
                "avpkt" => avpkt = words.bytes(key)?,
                "burst" => burst = Some(words.positive::<u64>(key)?),
                "bandwidth" => bandwidth = words.rate(key)?,
                "probability" => probability = words.share(key)?,
                "ecn" => ecn = true,
                "noecn" => ecn = false,
                "harddrop" => harddrop = true,
                "adaptive" => adaptive = true,
                _ => return Err(words.unknown(key)),
            }
        }
        let Some(limit) = limit else { return Err(words.wrong("'limit' is missing")) };
        let max = max.unwrap_or(Bytes::new(limit.get() / 4));
        let min = min.unwrap_or(Bytes::new(max.get() / 3));
        if min >= max || max > limit {
            return Err(words.wrong(&format!(
                "min {min}, max {max} and limit {limit} must be in ascending order"
            )));
        }
        let usual = (2 * min.get() + max.get()) / (3 * avpkt.get()).max(1);
        let burst = burst.unwrap_or(usual.max(1));
        let Some(weight_log) = weight_log(min, burst, avpkt) else {
            let least = min.get() / avpkt.get() + 1;
            return Err(words.wrong(&format!(
                "a burst of {burst} is too small for min; write {least} packets or more"
            )));
        };
        Ok(Self {
            limit,
            min,
            max,
            avpkt,
            burst,
            bandwidth,
            probability,
            ecn,
            harddrop,
            adaptive,
            weight_log,
        })
    }
}

/// The largest weight, as a negative power of two, that tolerates a burst (tc's
/// `tc_red_eval_ewma`).
fn weight_log(min: Bytes, burst: u64, avpkt: Bytes) -> Option<u32> {
    let needed = burst as f64 + 1.0 - min.get() as f64 / avpkt.get() as f64;
    if needed < 1.0 {
        return None;
    }
    (1..32).find(|&log| {
        let weight = 1.0 / f64::from(1u32 << log);
        needed <= (1.0 - libm::pow(1.0 - weight, burst as f64)) / weight
    })
}

impl fmt::Display for RedConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { limit, min, max, avpkt, burst, bandwidth, probability, .. } = self;
        let [limit, min, max, avpkt] = [limit, min, max, avpkt].map(|bytes| Printed(*bytes));
        write!(f, "red limit {limit} min {min} max {max} avpkt {avpkt} burst {burst}")?;
        write!(f, " bandwidth {}", Printed(*bandwidth))?;
        write!(f, " probability {}", probability.as_f64())?;
        let flags = [(self.ecn, "ecn"), (self.harddrop, "harddrop"), (self.adaptive, "adaptive")];
        flags.into_iter().filter(|(set, _)| *set).try_for_each(|(_, word)| write!(f, " {word}"))
    }
}

/// A FIFO under RED.
pub(crate) struct Red {
    config: RedConfig,
    random: Stream,
    queue: Fifo,
    average: f64,
    max_probability: f64,
    /// Packets since the last drop; `None` while the average is outside of min and max.
    since_drop: Option<u64>,
    /// The random number that `since_drop` times the probability must reach for the next drop.
    draw: f64,
    idle_since: Option<Time>,
    next_adaptation: Time,
}

/// What happens to a packet.
enum Action {
    Pass,
    /// A random early drop or mark.
    Early,
    /// The average is above `max`.
    Forced,
}

impl Red {
    pub(crate) fn new(config: &RedConfig, random: Stream) -> Self {
        Self {
            config: *config,
            random,
            queue: Fifo::default(),
            average: 0.0,
            max_probability: config.probability.as_f64(),
            since_drop: None,
            draw: 0.0,
            idle_since: Some(Time::ZERO),
            next_adaptation: Time::ZERO + ADAPT_EVERY,
        }
    }

    /// Updates the average before a packet is queued (Floyd, Jacobson 1993 § 4).
    fn update_average(&mut self, now: Time) {
        let weight = 1.0 / f64::from(1u32 << self.config.weight_log);
        match self.idle_since {
            // Decays as if packets of the mean size had arrived at an empty queue in the meantime.
            Some(since) => {
                let idle = now.saturating_since(since).as_secs_f64();
                let packet = self.config.avpkt.bits() as f64 / self.config.bandwidth.as_bps_f64();
                self.average *= libm::pow(1.0 - weight, (idle / packet).floor());
                self.idle_since = Some(now);
            }
            None => self.average += weight * (self.queue.bytes.get() as f64 - self.average),
        }
    }

    fn action(&mut self) -> Action {
        let (min, max) = (self.config.min.get() as f64, self.config.max.get() as f64);
        if self.average < min {
            self.since_drop = None;
            return Action::Pass;
        }
        if self.average >= max {
            self.since_drop = None;
            return Action::Forced;
        }
        // Drops are spaced evenly: after count packets the probability is p / (1 − count · p).
        let Some(count) = &mut self.since_drop else {
            (self.since_drop, self.draw) = (Some(0), self.random.uniform());
            return Action::Pass;
        };
        *count += 1;
        let probability = self.max_probability * (self.average - min) / (max - min);
        if *count as f64 * probability >= self.draw {
            (*count, self.draw) = (0, self.random.uniform());
            return Action::Early;
        }
        Action::Pass
    }

    /// Floyd, Gummadi, Shenker 2001 § 4; Linux `red_adaptative_algo`.
    fn adapt(&mut self, now: Time) {
        if !self.config.adaptive {
            return;
        }
        let (min, max) = (self.config.min.get() as f64, self.config.max.get() as f64);
        while self.next_adaptation <= now {
            self.next_adaptation += ADAPT_EVERY;
            let position = (self.average - min) / (max - min);
            if position > TARGET_RANGE.1 && self.max_probability <= BOUNDS.1 {
                self.max_probability += (self.max_probability * STEP_SHARE).min(MAX_STEP);
            } else if position < TARGET_RANGE.0 && self.max_probability >= BOUNDS.0 {
                self.max_probability *= FALL;
            }
        }
    }
}

impl QueueDiscipline for Red {
    fn enqueue(&mut self, now: Time, mut packet: Packet, drops: &mut impl Drops) {
        self.adapt(now);
        self.update_average(now);
        let dropped = match self.action() {
            Action::Pass => false,
            Action::Early => !(self.config.ecn && mark(&mut packet)),
            Action::Forced => self.config.harddrop || !(self.config.ecn && mark(&mut packet)),
        };
        if dropped {
            drops.drop(packet, DropReason::Aqm);
        } else if self.queue.bytes + packet.size > self.config.limit {
            drops.drop(packet, DropReason::QueueFull);
        } else {
            self.idle_since = None;
            self.queue.push(now, packet);
        }
    }

    fn dequeue(&mut self, now: Time, _: &mut impl Drops) -> Option<(Packet, Duration)> {
        self.adapt(now);
        let (came, packet) = self.queue.pop()?;
        if self.queue.packets.is_empty() {
            self.idle_since = Some(now);
        }
        Some((packet, now.saturating_since(came)))
    }

    fn oldest(&self) -> Option<Time> {
        self.queue.oldest()
    }

    fn packets(&self) -> usize {
        self.queue.packets.len()
    }

    fn bytes(&self) -> Bytes {
        self.queue.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::QueueConfig;
    use units::Seed;

    fn red(words: &str) -> Red {
        match words.parse().unwrap() {
            QueueConfig::Red(config) => Red::new(&config, Seed(1).stream("queue")),
            other => panic!("{other}"),
        }
    }

    /// The example of tc-red(8): 26 = 55 + 1 − 30 packets; a weight of 1/32 gives (1 − (31/32)⁵⁵) ·
    /// 32 = 26.4, one of 1/16 gives 15.5.
    #[test]
    fn the_weight_equals_that_of_tc() {
        assert_eq!(weight_log(Bytes::new(30_000), 55, Bytes::new(1_000)), Some(5));
        assert_eq!(weight_log(Bytes::new(30_000), 20, Bytes::new(1_000)), None);
    }

    /// With an average half way between min and max, the share dropped is half of the maximum
    /// probability, and drops are evenly spaced.
    #[test]
    fn the_share_dropped_follows_the_average() {
        let mut red = red("red limit 400kB min 30kB max 90kB avpkt 1kB burst 55 probability 0.1");
        let packet = Packet { size: Bytes::new(1_000), ..Packet::default() };
        let mut drops = Vec::new();
        while red.average < 59_000.0 {
            red.enqueue(Time::ZERO, packet, &mut drops);
            if red.queue.bytes.get() > 60_500 {
                red.dequeue(Time::ZERO, &mut drops);
            }
        }
        drops.clear();
        let mut gaps = Vec::new();
        let mut last = 0;
        for count in 0..100_000 {
            let before = drops.len();
            red.enqueue(Time::ZERO, packet, &mut drops);
            if drops.len() > before {
                gaps.push(count - last);
                last = count;
            } else {
                red.dequeue(Time::ZERO, &mut drops);
            }
        }
        let mean = f64::from(gaps.iter().sum::<i32>()) / gaps.len() as f64;
        // Uniform between 1 and 1/p packets apart (Floyd, Jacobson 1993 § 7, method 2).
        let expected = 0.5 / (0.1 * (red.average - 30_000.0) / 60_000.0) + 0.5;
        assert!((mean / expected - 1.0).abs() < 0.1, "{mean} against {expected}");
        assert!(gaps.iter().all(|&gap| gap <= 30), "{:?}", gaps.iter().max());
    }

    #[test]
    fn adaptive_red_finds_its_own_probability() {
        let mut red = red(
            "red limit 400kB min 30kB max 90kB avpkt 1kB burst 55 probability 0.02 bandwidth 8Mbit/s adaptive",
        );
        let packet = Packet { size: Bytes::new(1_000), ..Packet::default() };
        let mut drops = Vec::new();
        // Per millisecond 1 packet leaves and 1.1 arrive.
        let mut late = Vec::new();
        for ms in 0..200_000 {
            let now = Time::from_millis(ms);
            for _ in 0..if ms % 10 == 0 { 2 } else { 1 } {
                red.enqueue(now, packet, &mut drops);
            }
            red.dequeue(now, &mut drops);
            if ms > 150_000 {
                late.push(red.average);
            }
        }
        let mean = late.iter().sum::<f64>() / late.len() as f64;
        assert!(
            (48_000.0..72_000.0).contains(&mean),
            "about 0.4 to 0.6 of the way from min to max: {mean}"
        );
        assert!(red.max_probability > 0.08, "{}", red.max_probability);
    }
}
