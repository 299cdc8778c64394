//! PIE: drops arriving packets with a probability that a controller derives from the queuing delay
//! (RFC 8033; tc-pie).
//!
//! The delay is the sojourn time of the packet that left last, as in Linux without
//! `dq_rate_estimator` (`net/sched/sch_pie.c`). The probability is updated when a packet arrives or
//! leaves, once for every `tupdate` that has passed: between packets nothing else changes.

use super::error::QueueConfigError;
use super::fifo::Fifo;
use super::tc_units::Printed;
use super::words::Words;
use super::{Drops, FULL_PACKET, QueueDiscipline, mark};
use crate::packet::{DropReason, Packet};
use std::fmt;
use units::{Bytes, Duration, Stream, Time};

/// Stands for MEAN_PKTSIZE: while fewer than twice as many bytes wait, nothing is dropped (RFC 8033
/// § 4.1; Linux).
const MTU: u64 = 1500;
/// The unit of `alpha` and `beta`, the weights of the deviation from the target and of the trend,
/// in Hz (RFC 8033 § 4.2: 0.125 and 1.25; tc: alpha 2, beta 20, in sixteenths).
const SIXTEENTH: f64 = 1.0 / 16.0;
/// The shortest `tupdate` that is accepted: a shorter one is taken for a typo, and would make the
/// simulation very slow.
const MIN_UPDATE: Duration = Duration::from_millis(1);
/// MAX_BURST (RFC 8033 § 4.3).
const MAX_BURST: Duration = Duration::from_millis(150);
/// De-randomisation: below the first accumulated probability nothing is dropped, from the second on
/// every packet is (RFC 8033 § 5.4).
const MIN_ACCUMULATED: f64 = 0.85;
const MAX_ACCUMULATED: f64 = 8.5;
/// A delay above this, in seconds, raises the probability by [`RAISE`] per update, which is also
/// the largest change of a probability of 0.1 or more (RFC 8033 § 4.2, § 5.5).
const LONG_DELAY: f64 = 0.25;
const RAISE: f64 = 0.02;
/// Up to this probability ECN-capable packets are marked instead of dropped (RFC 8033 § 5.1:
/// MAX_ECNTH).
const MAX_MARKED: f64 = 0.1;
/// Factor of the probability at an update without delay (RFC 8033 § 4.2: 0.98; Linux: 1 − 1/64).
const DECAY: f64 = 1.0 - 1.0 / 64.0;

/// PIE's parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct PieConfig {
    /// The most packets (Linux: 1000).
    pub limit: u64,
    /// QDELAY_REF (RFC 8033 § 4.2; Linux: 15 ms).
    pub target: Duration,
    /// T_UPDATE (RFC 8033 § 4.2; Linux: 15 ms).
    pub tupdate: Duration,
    /// tc's alpha, in units of 1/16 Hz.
    pub alpha: u32,
    /// tc's beta, in units of 1/16 Hz.
    pub beta: u32,
    /// Marks ECN-capable packets instead of dropping them.
    pub ecn: bool,
    /// Scales the drop probability by the packet size.
    pub bytemode: bool,
}

impl Default for PieConfig {
    /// Linux's defaults (tc-pie).
    fn default() -> Self {
        Self {
            limit: 1000,
            target: Duration::from_millis(15),
            tupdate: Duration::from_millis(15),
            alpha: 2,
            beta: 20,
            ecn: false,
            bytemode: false,
        }
    }
}

pub(super) const USAGE: &str = "pie limit PACKETS target TIME tupdate TIME alpha NUMBER beta NUMBER ecn|noecn bytemode|nobytemode";

impl PieConfig {
    /// The most bytes that can wait in the queue.
    pub(super) fn buffer(&self) -> Bytes {
        FULL_PACKET * self.limit
    }

    pub(super) fn read(mut words: Words<'_>) -> Result<Self, QueueConfigError> {
        let mut config = Self::default();
        while let Some(key) = words.key() {
            match key {
                "limit" => config.limit = words.packets(key)?,
                "target" => config.target = words.time(key)?,
                "tupdate" => {
                    config.tupdate = words.time(key)?;
                    if config.tupdate < MIN_UPDATE {
                        return Err(words.wrong(&format!("'tupdate' is {MIN_UPDATE} or more")));
                    }
                }
                "alpha" => config.alpha = words.value(key)?,
                "beta" => config.beta = words.value(key)?,
                "ecn" => config.ecn = true,
                "noecn" => config.ecn = false,
                "bytemode" => config.bytemode = true,
                "nobytemode" => config.bytemode = false,
                _ => return Err(words.unknown(key)),
            }
        }
        Ok(config)
    }
}

impl fmt::Display for PieConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { limit, target, tupdate, alpha, beta, ecn, bytemode } = self;
        let (ecn, bytes) = (if *ecn { "" } else { "no" }, if *bytemode { "" } else { "no" });
        write!(
            f,
            "pie limit {limit} target {} tupdate {} alpha {alpha} beta {beta} {ecn}ecn {bytes}bytemode",
            Printed(*target),
            Printed(*tupdate)
        )
    }
}

/// A FIFO under PIE.
pub(crate) struct Pie {
    config: PieConfig,
    random: Stream,
    queue: Fifo,
    probability: f64,
    accumulated: f64,
    /// The present delay and the delay at the last update, in seconds.
    delay: f64,
    old_delay: f64,
    burst: Duration,
    last_dequeue: Option<Time>,
    next_update: Time,
}

impl Pie {
    pub(crate) fn new(config: &PieConfig, random: Stream) -> Self {
        Self {
            config: *config,
            random,
            queue: Fifo::default(),
            probability: 0.0,
            accumulated: 0.0,
            delay: 0.0,
            old_delay: 0.0,
            burst: MAX_BURST,
            last_dequeue: None,
            next_update: Time::ZERO + config.tupdate,
        }
    }

    /// Performs the updates that are due.
    fn catch_up(&mut self, now: Time) {
        while self.next_update <= now {
            if self.probability == 0.0 && self.delay == 0.0 && self.old_delay == 0.0 {
                // Nothing changes before the next packet.
                self.burst = MAX_BURST;
                let missed = now.saturating_since(self.next_update).as_nanos()
                    / self.config.tupdate.as_nanos();
                self.next_update += self.config.tupdate * (missed + 1);
                return;
            }
            self.update();
            self.next_update += self.config.tupdate;
        }
    }

    /// RFC 8033 § 4.2, § 5.5, § 5.6; Linux `pie_calculate_probability`.
    fn update(&mut self) {
        let target = self.config.target.as_secs_f64();
        let scale = scale(self.probability) * SIXTEENTH;
        let mut change = scale * f64::from(self.config.alpha) * (self.delay - target)
            + scale * f64::from(self.config.beta) * (self.delay - self.old_delay);
        if self.probability >= 0.1 {
            change = change.min(RAISE);
        }
        if self.delay > LONG_DELAY {
            change += RAISE;
        }
        self.probability = (self.probability + change).clamp(0.0, 1.0);
        if self.delay == 0.0 && self.old_delay == 0.0 {
            self.probability *= DECAY;
            // A decaying probability would never become zero by itself.
            if self.probability < 1e-12 {
                self.probability = 0.0;
            }
        }
        if self.delay < target / 2.0 && self.old_delay < target / 2.0 && self.probability == 0.0 {
            (self.burst, self.accumulated) = (MAX_BURST, 0.0);
        }
        self.old_delay = self.delay;
    }

    /// RFC 8033 § 4.1, § 5.4; Linux `pie_drop_early`.
    fn drops_early(&mut self, packet: &Packet) -> bool {
        let target = self.config.target.as_secs_f64();
        let small = self.queue.bytes.get() < 2 * MTU;
        if self.burst > Duration::ZERO
            || (self.delay < target / 2.0 && self.probability < 0.2)
            || small
        {
            return false;
        }
        let size =
            if self.config.bytemode { packet.size.get().min(MTU) as f64 / MTU as f64 } else { 1.0 };
        let probability = self.probability * size;
        self.accumulated = if probability == 0.0 { 0.0 } else { self.accumulated + probability };
        if self.accumulated < MIN_ACCUMULATED {
            return false;
        }
        if self.accumulated >= MAX_ACCUMULATED || self.random.chance(probability) {
            self.accumulated = 0.0;
            return true;
        }
        false
    }
}

/// The factor of the steps at small probabilities (RFC 8033 § 5.2; Linux: a half below 10 %, and a
/// quarter of that per further power of ten).
fn scale(probability: f64) -> f64 {
    if probability >= 0.1 {
        return 1.0;
    }
    let (mut scale, mut power) = (0.5, 100.0);
    while probability < 1.0 / power && power <= 1_000_000.0 {
        scale /= 4.0;
        power *= 10.0;
    }
    scale
}

impl QueueDiscipline for Pie {
    fn enqueue(&mut self, now: Time, mut packet: Packet, drops: &mut impl Drops) {
        self.catch_up(now);
        if self.queue.packets.len() as u64 >= self.config.limit {
            drops.drop(packet, DropReason::QueueFull);
        } else if self.drops_early(&packet)
            && !(self.config.ecn && self.probability <= MAX_MARKED && mark(&mut packet))
        {
            drops.drop(packet, DropReason::Aqm);
        } else {
            self.queue.push(now, packet);
        }
    }

    fn dequeue(&mut self, now: Time, _: &mut impl Drops) -> Option<(Packet, Duration)> {
        self.catch_up(now);
        let (came, packet) = self.queue.pop()?;
        let sojourn = now.saturating_since(came);
        self.delay = if self.queue.packets.is_empty() { 0.0 } else { sojourn.as_secs_f64() };
        let since = self
            .last_dequeue
            .replace(now)
            .map_or(Duration::ZERO, |last| now.saturating_since(last));
        self.burst = self.burst.saturating_sub(since);
        Some((packet, sojourn))
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
    use units::Seed;

    /// Sends `load` times the line's rate of one packet per millisecond. Returns the mean sojourn
    /// time in the second half, and the share of packets dropped.
    fn run(config: &PieConfig, load: f64, seconds: u64) -> (Duration, f64) {
        let mut pie = Pie::new(config, Seed(1).stream("queue"));
        let (mut drops, mut sojourns, mut owed, mut sent) = (Vec::new(), Vec::new(), 0.0, 0);
        for ms in 0..seconds * 1_000 {
            let now = Time::from_millis(ms);
            owed += load;
            while owed >= 1.0 {
                owed -= 1.0;
                sent += 1;
                pie.enqueue(
                    now,
                    Packet { size: Bytes::new(1_500), ..Packet::default() },
                    &mut drops,
                );
            }
            if let Some((_, sojourn)) = pie.dequeue(now, &mut drops)
                && ms > seconds * 500
            {
                sojourns.push(sojourn.as_nanos());
            }
        }
        let mean = sojourns.iter().sum::<u64>() / sojourns.len() as u64;
        (Duration::from_nanos(mean), drops.len() as f64 / f64::from(sent))
    }

    #[test]
    fn the_delay_converges_to_the_target_and_the_excess_is_dropped() {
        let (delay, dropped) = run(&PieConfig::default(), 1.1, 60);
        assert!((10..20).contains(&delay.as_millis()), "{delay}");
        assert!((dropped - 0.1 / 1.1).abs() < 0.01, "{dropped}");
        let (delay, dropped) = run(&PieConfig::default(), 0.9, 20);
        assert!(delay.as_millis() == 0 && dropped == 0.0, "{delay} {dropped}");
    }

    #[test]
    fn a_burst_passes_without_drops() {
        let mut pie = Pie::new(&PieConfig::default(), Seed(1).stream("queue"));
        let mut drops = Vec::new();
        for _ in 0..100 {
            pie.enqueue(
                Time::ZERO,
                Packet { size: Bytes::new(1_500), ..Packet::default() },
                &mut drops,
            );
        }
        for ms in 0..100 {
            pie.dequeue(Time::from_millis(ms), &mut drops);
        }
        assert!(drops.is_empty());
    }

    #[test]
    fn steps_are_smaller_at_small_probabilities() {
        let scales = [0.5, 0.05, 0.005, 0.000_5].map(scale);
        assert_eq!(scales, [1.0, 0.5, 0.125, 0.031_25]);
    }
}
