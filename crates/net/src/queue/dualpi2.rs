//! DualPI2: two coupled queues, a low-latency one that marks L4S packets and a classic one for all
//! others, so that both kinds of flow get their share (RFC 9332, Appendix A; tc-dualpi2, Linux
//! `net/sched/sch_dualpi2.c`).
//!
//! A controller derives one base probability from the queuing delay. The classic queue (C) drops or
//! marks with its square, the L4S queue (L) marks with a multiple of it: the square compensates for
//! the square root in the rate of Reno and CUBIC.
//!
//! | where it differs | RFC 9332 Appendix A | here |
//! |---|---|---|
//! | native marking of L | a ramp over the delay, from two packets on | a step, as in Linux |
//! | choice of packets | deterministic (`recur`) | random, as in Linux |
//! | scheduler | time-shifted FIFO or weighted round robin | weighted round robin with a credit, as in Linux; the credit is reset as soon as both queues are empty (Linux: at a dequeue that finds no packet) |
//! | fewer bytes wait than two packets of the MTU | no exception | no drop, and no mark except by the step, as in Linux |
//! | updates of the probability | by a timer | when a packet arrives or leaves, once for every `tupdate` that has passed: the same values |
//! | limit | bytes | packets, and bytes if `memlimit` is given (Linux: of its buffers, twice the MTU per packet of `limit`, which packets of 1500 bytes never reach) |
//! | `alpha`, `beta` | real numbers | 256ths of a hertz as in Linux, rounded (tc truncates, so that its 0.16 is less than Linux's default) |
//! | filters and GSO | – | not modelled: the ECN field alone selects the queue, and packets arrive one by one |

use super::error::QueueConfigError;
use super::fifo::Fifo;
use super::tc_units::Printed;
use super::words::Words;
use super::{Drops, FULL_PACKET, QueueDiscipline, mark};
use crate::packet::{DropReason, Ecn, Packet};
use std::collections::VecDeque;
use std::fmt;
use units::{Bytes, Duration, Stream, Time};

/// The unit of the initial credit, in bytes. While both queues hold fewer than twice as many bytes,
/// nothing is dropped or marked at random (Linux: the device's MTU and its Ethernet header).
const MTU: u64 = 1500;
/// tc's unit of alpha and beta: 1/256 Hz.
const UNITS_PER_HERTZ: f64 = 256.0;
/// The largest alpha and beta, in that unit (Linux: ALPHA_BETA_MAX).
const MAX_GAIN: f64 = 2_147_483_647.0;
/// The shortest `tupdate` that is accepted: a shorter one is taken for a typo, and would make the
/// simulation very slow.
const MIN_UPDATE: Duration = Duration::from_millis(1);
/// The longest time: tc stores times as 32 bits of microseconds.
const MAX_TIME: Duration = Duration::from_micros(u32::MAX as u64);
/// The ratio of the largest round-trip time to the typical one, if only one is given (tc-dualpi2:
/// `max_rtt`).
const TYPICAL_TO_MAX: u64 = 6;

/// The threshold above which every L4S packet is marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum StepThreshold {
    /// Marks packets that have waited longer than this.
    Time(Duration),
    /// Marks packets that leave more packets than this behind in the L4S queue.
    Packets(u64),
}

/// DualPI2's parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct DualPi2Config {
    /// The most packets in both queues (Linux: 10 000).
    pub limit: u64,
    /// The most bytes in both queues; `None`: no limit in bytes.
    pub memlimit: Option<Bytes>,
    /// The target delay of the classic queue (RFC 9332 § A.1; Linux: 15 ms).
    pub target: Duration,
    /// T_update (RFC 9332 § A.1; Linux: 16 ms).
    pub tupdate: Duration,
    /// The integral gain, in units of 1/256 Hz (RFC 9332 § A.1: 0.16 Hz; Linux: 41).
    pub alpha: u32,
    /// The proportional gain, in units of 1/256 Hz (RFC 9332 § A.1: 3.2 Hz; Linux: 819).
    pub beta: u32,
    /// k: the ratio of the marking probability of L4S to the base probability (RFC 9332 § 2.1;
    /// Linux: 2).
    pub coupling_factor: u8,
    /// The threshold of the native marking of L4S (Linux: 1 ms).
    pub step_thresh: StepThreshold,
    /// The step does not mark L4S packets that found fewer packets than this in their queue (Linux:
    /// 0).
    pub min_qlen_step: u64,
    /// Drops L4S packets too when the marking probability saturates (RFC 9332 § 4.2.3; Linux: yes);
    /// otherwise the queue grows up to its limit.
    pub drop_on_overload: bool,
    /// Drops and marks at random on enqueue instead of on dequeue (Linux: no).
    pub drop_enqueue: bool,
    /// Treats ECT(0) as L4S too (Linux: no).
    pub any_ect: bool,
    /// The share of the classic queue while both are backlogged, percent (Linux: 10).
    pub classic_protection: u8,
}

impl Default for DualPi2Config {
    /// Linux's defaults (tc-dualpi2).
    fn default() -> Self {
        Self {
            limit: 10_000,
            memlimit: None,
            target: Duration::from_millis(15),
            tupdate: Duration::from_millis(16),
            alpha: 41,
            beta: 819,
            coupling_factor: 2,
            step_thresh: StepThreshold::Time(Duration::from_millis(1)),
            min_qlen_step: 0,
            drop_on_overload: true,
            drop_enqueue: false,
            any_ect: false,
            classic_protection: 10,
        }
    }
}

pub(super) const USAGE: &str = "dualpi2 limit PACKETS memlimit BYTES target TIME tupdate TIME alpha HERTZ beta HERTZ max_rtt TIME typical_rtt TIME coupling_factor NUMBER step_thresh TIME|PACKETSp min_qlen_step PACKETS drop_on_overload|overflow drop_enqueue|drop_dequeue l4s_ect|any_ect classic_protection PERCENT";

impl DualPi2Config {
    /// The most bytes that can wait in the queue.
    pub(super) fn buffer(&self) -> Bytes {
        let packets = FULL_PACKET * self.limit;
        self.memlimit.map_or(packets, |bytes| bytes.min(packets))
    }

    pub(super) fn read(mut words: Words<'_>) -> Result<Self, QueueConfigError> {
        let mut config = Self::default();
        let (mut typical, mut longest) = (None, None);
        while let Some(key) = words.key() {
            match key {
                "limit" => config.limit = words.packets(key)?,
                "memlimit" => config.memlimit = Some(words.bytes(key)?),
                "target" => config.target = time(&mut words, key)?,
                "tupdate" => config.tupdate = time(&mut words, key)?,
                "alpha" => config.alpha = gain(&mut words, key)?,
                "beta" => config.beta = gain(&mut words, key)?,
                "typical_rtt" => typical = Some(time(&mut words, key)?),
                "max_rtt" => longest = Some(time(&mut words, key)?),
                "coupling_factor" => config.coupling_factor = words.positive(key)?,
                "step_thresh" => config.step_thresh = threshold(&mut words, key)?,
                "min_qlen_step" => config.min_qlen_step = words.value(key)?,
                "drop_on_overload" => config.drop_on_overload = true,
                "overflow" => config.drop_on_overload = false,
                "drop_enqueue" => config.drop_enqueue = true,
                "drop_dequeue" => config.drop_enqueue = false,
                "l4s_ect" => config.any_ect = false,
                "any_ect" => config.any_ect = true,
                "classic_protection" => config.classic_protection = percent(&mut words, key)?,
                _ => return Err(words.unknown(key)),
            }
        }
        match (typical, longest) {
            (None, None) => {}
            (Some(typical), None) => config.fit(typical, typical * TYPICAL_TO_MAX, &words)?,
            (typical, Some(longest)) => {
                config.fit(typical.unwrap_or(longest / TYPICAL_TO_MAX), longest, &words)?;
            }
        }
        if config.tupdate < MIN_UPDATE {
            return Err(words.wrong(&format!("'tupdate' is {MIN_UPDATE} or more")));
        }
        Ok(config)
    }

    /// Sets target, tupdate and the gains for these round-trip times; overrides those given before
    /// (RFC 9332 § A.1; tc-dualpi2).
    fn fit(
        &mut self,
        typical: Duration,
        longest: Duration,
        words: &Words<'_>,
    ) -> Result<(), QueueConfigError> {
        if typical > longest {
            return Err(words.wrong("'typical_rtt' is at most 'max_rtt'"));
        }
        self.target = typical;
        self.tupdate = typical.min(longest / 3);
        let longest = longest.as_secs_f64();
        let alpha = gain_units(0.1 * self.tupdate.as_secs_f64() / (longest * longest));
        let beta = gain_units(0.3 / longest);
        let (Some(alpha), Some(beta)) = (alpha, beta) else {
            return Err(words.wrong("'max_rtt' is too short or too long for alpha and beta"));
        };
        (self.alpha, self.beta) = (alpha, beta);
        Ok(())
    }
}

fn time(words: &mut Words<'_>, key: &str) -> Result<Duration, QueueConfigError> {
    let time = words.time(key)?;
    if time > MAX_TIME {
        Err(words.wrong(&format!("'{key}' is {MAX_TIME} at most")))
    } else {
        Ok(time)
    }
}

fn gain(words: &mut Words<'_>, key: &str) -> Result<u32, QueueConfigError> {
    let hertz = words.value(key)?;
    gain_units(hertz).ok_or_else(|| {
        words.wrong(&format!("'{key}' is 1/256 to {} Hz", (MAX_GAIN / UNITS_PER_HERTZ).floor()))
    })
}

/// Hertz in tc's unit; `None` if Linux does not accept the value.
fn gain_units(hertz: f64) -> Option<u32> {
    let parts = (hertz * UNITS_PER_HERTZ + 0.5).floor();
    (1.0..=MAX_GAIN).contains(&parts).then_some(parts as u32)
}

fn threshold(words: &mut Words<'_>, key: &str) -> Result<StepThreshold, QueueConfigError> {
    let word: String = words.value(key)?;
    let units = ["packets", "packet", "pkts", "pkt", "p"];
    let threshold = match units.iter().find_map(|unit| word.strip_suffix(unit)) {
        Some(number) => {
            number.parse().ok().filter(|&packets| packets > 0).map(StepThreshold::Packets)
        }
        None => words.time_in(&word).filter(|&time| time > Duration::ZERO).map(StepThreshold::Time),
    };
    threshold.ok_or_else(|| words.no_value(&word, key))
}

fn percent(words: &mut Words<'_>, key: &str) -> Result<u8, QueueConfigError> {
    let word: String = words.value(key)?;
    let percent =
        word.strip_suffix('%').unwrap_or(&word).parse().ok().filter(|&percent| percent <= 100);
    percent.ok_or_else(|| words.wrong(&format!("'{key}' is 0% to 100%, a whole number")))
}

impl fmt::Display for StepThreshold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Time(time) => Printed(*time).fmt(f),
            Self::Packets(packets) => write!(f, "{packets}p"),
        }
    }
}

impl fmt::Display for DualPi2Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { limit, target, tupdate, coupling_factor, step_thresh, min_qlen_step, .. } = self;
        write!(f, "dualpi2 limit {limit}")?;
        if let Some(bytes) = self.memlimit {
            write!(f, " memlimit {}", Printed(bytes))?;
        }
        let (alpha, beta) =
            (f64::from(self.alpha) / UNITS_PER_HERTZ, f64::from(self.beta) / UNITS_PER_HERTZ);
        write!(
            f,
            " target {} tupdate {} alpha {alpha} beta {beta} coupling_factor {coupling_factor}",
            Printed(*target),
            Printed(*tupdate)
        )?;
        let overload = if self.drop_on_overload { "drop_on_overload" } else { "overflow" };
        let position = if self.drop_enqueue { "drop_enqueue" } else { "drop_dequeue" };
        let ect = if self.any_ect { "any_ect" } else { "l4s_ect" };
        write!(
            f,
            " step_thresh {step_thresh} min_qlen_step {min_qlen_step} {overload} {position} {ect}"
        )?;
        write!(f, " classic_protection {}%", self.classic_protection)
    }
}

/// Two FIFOs under DualPI2.
pub(crate) struct DualPi2 {
    config: DualPi2Config,
    random: Stream,
    low: Fifo,
    /// Whether the step may mark the packet, for each packet in `low`.
    steps: VecDeque<bool>,
    classic: Fifo,
    /// The base probability, p' in the RFC.
    probability: f64,
    /// The largest base probability.
    max_probability: f64,
    /// The delay at the last update.
    old_delay: Duration,
    next_update: Time,
    /// Above zero, the classic queue is served next; in bytes times percent.
    credit: i64,
}

impl DualPi2 {
    pub(crate) fn new(config: &DualPi2Config, random: Stream) -> Self {
        // Without drops, marking every packet is the strongest signal to L4S flows: the base
        // probability stops rising there, for the classic queue too.
        let max_probability =
            if config.drop_on_overload { 1.0 } else { 1.0 / f64::from(config.coupling_factor) };
        Self {
            config: *config,
            random,
            low: Fifo::default(),
            steps: VecDeque::new(),
            classic: Fifo::default(),
            probability: 0.0,
            max_probability,
            old_delay: Duration::ZERO,
            next_update: Time::ZERO + config.tupdate,
            credit: initial_credit(config),
        }
    }

    fn is_low(&self, packet: &Packet) -> bool {
        matches!(packet.ecn, Ecn::Ect1 | Ecn::Ce)
            || (self.config.any_ect && packet.ecn == Ecn::Ect0)
    }

    /// The longer of the sojourn times of the two heads.
    fn delay(&self, now: Time) -> Duration {
        self.oldest().map_or(Duration::ZERO, |came| now.saturating_since(came))
    }

    /// Performs the updates that are due.
    fn catch_up(&mut self, now: Time) {
        while self.next_update <= now {
            if self.is_at_rest() {
                // These updates leave the probability unchanged. The last one is performed, since
                // it stores the delay.
                let missed = now.saturating_since(self.next_update).as_nanos()
                    / self.config.tupdate.as_nanos();
                self.next_update += self.config.tupdate * missed;
            }
            self.update(self.next_update);
            self.next_update += self.config.tupdate;
        }
    }

    /// Whether updates change nothing before the next packet arrives or leaves: the queues are
    /// empty and the probability is zero, or the delay grows and the probability is at its maximum.
    fn is_at_rest(&self) -> bool {
        let delay = self.delay(self.next_update);
        if self.packets() == 0 {
            self.probability == 0.0 && self.old_delay == Duration::ZERO
        } else {
            self.probability >= self.max_probability
                && delay >= self.config.target
                && delay >= self.old_delay
        }
    }

    /// RFC 9332 Appendix A, `dualpi2_update`; Linux `calculate_probability`.
    fn update(&mut self, now: Time) {
        let delay = self.delay(now);
        let (alpha, beta) = (
            f64::from(self.config.alpha) / UNITS_PER_HERTZ,
            f64::from(self.config.beta) / UNITS_PER_HERTZ,
        );
        let seconds = delay.as_secs_f64();
        let change = alpha * (seconds - self.config.target.as_secs_f64())
            + beta * (seconds - self.old_delay.as_secs_f64());
        self.probability = (self.probability + change).clamp(0.0, self.max_probability);
        self.old_delay = delay;
    }

    /// Marks the packet at random, or returns that it is to be dropped (RFC 9332 Appendix A,
    /// `dualpi2_dequeue`; Linux `must_drop`).
    fn drops_or_marks(&mut self, packet: &mut Packet, low: bool) -> bool {
        if self.bytes().get() < 2 * MTU {
            return false;
        }
        let probability = self.probability;
        let coupled = probability * f64::from(self.config.coupling_factor);
        let overload = coupled > 1.0;
        if low && !overload {
            if self.random.chance(coupled) {
                mark(packet);
            }
            return false;
        }
        // When every L4S packet is marked, marks carry no more information: both queues drop,
        // whatever the ECN field.
        let hit = self.random.chance(probability) && self.random.chance(probability);
        if hit && (overload || !mark(packet)) {
            return true;
        }
        if low {
            mark(packet);
        }
        false
    }

    /// Whether an L4S packet that leaves now exceeds the step threshold.
    fn is_above_step(&self, sojourn: Duration) -> bool {
        match self.config.step_thresh {
            StepThreshold::Time(time) => sojourn > time,
            StepThreshold::Packets(packets) => self.low.packets.len() as u64 > packets,
        }
    }

    /// Charges a packet that left one queue while both had packets to the credit.
    fn charge(&mut self, size: Bytes, low: bool) {
        let weight = i64::from(self.config.classic_protection);
        let weight = if low { weight } else { weight - 100 };
        let size = i64::try_from(size.get()).unwrap_or(i64::MAX);
        self.credit = self.credit.saturating_add(size.saturating_mul(weight));
    }
}

/// The initial credit: the queue with the larger weight is served first.
fn initial_credit(config: &DualPi2Config) -> i64 {
    MTU as i64 * (2 * i64::from(config.classic_protection) - 100)
}

impl QueueDiscipline for DualPi2 {
    fn enqueue(&mut self, now: Time, mut packet: Packet, drops: &mut impl Drops) {
        self.catch_up(now);
        let low = self.is_low(&packet);
        let full = self.packets() as u64 >= self.config.limit
            || self.config.memlimit.is_some_and(|most| self.bytes() + packet.size > most);
        if full {
            drops.drop(packet, DropReason::QueueFull);
        } else if self.config.drop_enqueue && self.drops_or_marks(&mut packet, low) {
            drops.drop(packet, DropReason::Aqm);
        } else if low {
            self.steps.push_back(self.low.packets.len() as u64 >= self.config.min_qlen_step);
            self.low.push(now, packet);
        } else {
            self.classic.push(now, packet);
        }
    }

    fn dequeue(&mut self, now: Time, drops: &mut impl Drops) -> Option<(Packet, Duration)> {
        self.catch_up(now);
        let gone = loop {
            let (none_low, none_classic) =
                (self.low.packets.is_empty(), self.classic.packets.is_empty());
            let low = !none_low && (none_classic || self.credit <= 0);
            let queue = if low { &mut self.low } else { &mut self.classic };
            let Some((came, mut packet)) = queue.pop() else { break None };
            let step = low && self.steps.pop_front().unwrap_or_default();
            if !self.config.drop_enqueue && self.drops_or_marks(&mut packet, low) {
                drops.drop(packet, DropReason::Aqm);
                continue;
            }
            let sojourn = now.saturating_since(came);
            if step && self.is_above_step(sojourn) {
                mark(&mut packet);
            }
            if !none_low && !none_classic {
                self.charge(packet.size, low);
            }
            break Some((packet, sojourn));
        };
        if self.packets() == 0 {
            self.credit = initial_credit(&self.config);
        }
        gone
    }

    fn oldest(&self) -> Option<Time> {
        let heads =
            [&self.low, &self.classic].map(|queue| queue.packets.front().map(|&(came, _)| came));
        heads.into_iter().flatten().min()
    }

    fn packets(&self) -> usize {
        self.low.packets.len() + self.classic.packets.len()
    }

    fn bytes(&self) -> Bytes {
        self.low.bytes + self.classic.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::QueueConfig;
    use units::Seed;

    fn queue(words: &str) -> DualPi2 {
        let Ok(QueueConfig::DualPi2(config)) = words.parse() else { panic!("{words}") };
        DualPi2::new(&config, Seed(1).stream("queue"))
    }

    fn packet(ecn: Ecn) -> Packet {
        Packet { size: Bytes::new(1_500), ecn, ..Packet::default() }
    }

    const fn ms(ms: u64) -> Time {
        Time::from_millis(ms)
    }

    /// Draws for packets at a base probability while enough packets wait. Returns the shares
    /// dropped and marked.
    fn draw_outcomes(words: &str, probability: f64, ecn: Ecn, draws: u32) -> (f64, f64) {
        let mut queue = queue(words);
        for _ in 0..3 {
            queue.enqueue(Time::ZERO, packet(Ecn::NotEct), &mut Vec::new());
        }
        queue.probability = probability;
        let (mut dropped, mut marked) = (0, 0);
        for _ in 0..draws {
            let mut packet = packet(ecn);
            let low = queue.is_low(&packet);
            if queue.drops_or_marks(&mut packet, low) {
                dropped += 1;
            } else if packet.ecn == Ecn::Ce {
                marked += 1;
            }
        }
        (f64::from(dropped) / f64::from(draws), f64::from(marked) / f64::from(draws))
    }

    /// Sends `load` times the line's rate of one packet per millisecond. Returns the mean sojourn
    /// time and the share dropped, both of the second half.
    fn run(words: &str, ecn: Ecn, load: f64, seconds: u64) -> (Duration, f64) {
        let mut queue = queue(words);
        let (mut drops, mut sojourns, mut owed, mut sent) = (Vec::new(), Vec::new(), 0.0, 0);
        for now in 0..seconds * 1_000 {
            if now == seconds * 500 {
                (drops, sent) = (Vec::new(), 0);
            }
            owed += load;
            while owed >= 1.0 {
                owed -= 1.0;
                sent += 1;
                queue.enqueue(ms(now), packet(ecn), &mut drops);
            }
            if let Some((_, sojourn)) = queue.dequeue(ms(now), &mut drops)
                && now > seconds * 500
            {
                sojourns.push(sojourn.as_nanos());
            }
        }
        let mean = sojourns.iter().sum::<u64>() / sojourns.len() as u64;
        (Duration::from_nanos(mean), drops.len() as f64 / f64::from(sent))
    }

    #[test]
    fn the_ecn_field_chooses_the_queue() {
        for (words, low) in [
            ("dualpi2", [false, false, true, true]),
            ("dualpi2 any_ect", [false, true, true, true]),
        ] {
            let queue = queue(words);
            let fields = [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::Ce];
            assert_eq!(fields.map(|ecn| queue.is_low(&packet(ecn))), low, "{words}");
        }
    }

    /// RFC 9332 § 2.1: p_C = (p_CL / k)².
    #[test]
    fn the_classic_probability_is_the_square_of_the_coupled_one_over_k() {
        for (words, k) in [("dualpi2", 2.0), ("dualpi2 coupling_factor 4", 4.0)] {
            for base in [0.05, 0.1, 0.2] {
                let (dropped, coupled) = draw_outcomes(words, base, Ecn::Ect1, 400_000);
                assert_eq!(dropped, 0.0, "L4S is not dropped");
                assert!((coupled / (k * base) - 1.0).abs() < 0.02, "{coupled} at {base}");
                let expected = (coupled / k) * (coupled / k);
                let (dropped, marked) = draw_outcomes(words, base, Ecn::NotEct, 400_000);
                assert!(
                    marked == 0.0 && (dropped / expected - 1.0).abs() < 0.1,
                    "{dropped}, not {expected}"
                );
                let (dropped, marked) = draw_outcomes(words, base, Ecn::Ect0, 400_000);
                assert!(
                    dropped == 0.0 && (marked / expected - 1.0).abs() < 0.1,
                    "{marked}, not {expected}"
                );
            }
        }
    }

    #[test]
    fn overload_drops_both_queues_alike_and_marks_the_rest_of_l4s() {
        for ecn in [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1] {
            let (dropped, marked) = draw_outcomes("dualpi2", 0.6, ecn, 100_000);
            assert!((dropped - 0.36).abs() < 0.01, "{ecn:?}: {dropped}");
            let rest = if ecn == Ecn::Ect1 { 1.0 - dropped } else { 0.0 };
            assert!((marked - rest).abs() < 1e-9, "{ecn:?}: {marked}");
        }
    }

    #[test]
    fn overload_by_l4s_drops_packets_or_with_overflow_fills_the_queue() {
        let (delay, dropped) = run("dualpi2", Ecn::Ect1, 1.5, 20);
        assert!((dropped - 0.5 / 1.5).abs() < 0.02 && delay.as_millis() < 50, "{delay} {dropped}");
        let (delay, _) = run("dualpi2 overflow limit 200", Ecn::Ect1, 1.5, 20);
        assert_eq!(delay.as_millis(), 199);
    }

    #[test]
    fn with_overflow_every_l4s_packet_is_marked_and_none_dropped() {
        let mut queue = queue("dualpi2 overflow limit 100");
        let mut drops = Vec::new();
        for now in 0..5_000 {
            queue.enqueue(ms(now), packet(Ecn::Ect1), &mut drops);
            queue.enqueue(ms(now), packet(Ecn::Ect1), &mut drops);
            let gone = queue.dequeue(ms(now), &mut drops);
            assert!(now < 1_000 || gone.is_some_and(|(packet, _)| packet.ecn == Ecn::Ce));
        }
        assert_eq!(queue.probability, 0.5);
        assert!(drops.iter().all(|&(_, reason)| reason == DropReason::QueueFull));
    }

    /// Sends four L4S packets at once and takes one after `wait`, then one per microsecond. Returns
    /// which are marked.
    fn stepped(words: &str, wait: Duration) -> Vec<bool> {
        let mut queue = queue(words);
        let mut drops = Vec::new();
        for _ in 0..4 {
            queue.enqueue(Time::ZERO, packet(Ecn::Ect1), &mut drops);
        }
        let mut now = Time::ZERO + wait;
        let gone = std::iter::from_fn(|| {
            let gone = queue.dequeue(now, &mut drops);
            now += Duration::from_micros(1);
            gone.map(|(packet, _)| packet.ecn == Ecn::Ce)
        });
        gone.collect()
    }

    #[test]
    fn the_step_marks_above_its_threshold_only() {
        // The second packet has waited for 1.001 ms.
        assert_eq!(stepped("dualpi2", Duration::from_millis(1)), [false, true, true, true]);
        assert_eq!(stepped("dualpi2 step_thresh 2ms", Duration::from_millis(1)), [false; 4]);
        // The first packet leaves three behind.
        assert_eq!(stepped("dualpi2 step_thresh 2p", Duration::ZERO), [true, false, false, false]);
        // Only the last two found two packets in the queue.
        assert_eq!(
            stepped("dualpi2 min_qlen_step 2", Duration::from_millis(3)),
            [false, false, true, true]
        );
        let mut queue = queue("dualpi2");
        for _ in 0..4 {
            queue.enqueue(Time::ZERO, packet(Ecn::Ect0), &mut Vec::new());
        }
        let (classic, _) = queue.dequeue(ms(10), &mut Vec::new()).unwrap();
        assert_eq!(classic.ecn, Ecn::Ect0, "the step applies to L4S only");
    }

    /// Two queues that never empty. Returns the share of packets that leave the classic one, and
    /// the number of L4S packets that leave before the first classic one.
    fn shares(words: &str) -> (f64, usize) {
        let mut queue = queue(words);
        let mut drops = Vec::new();
        let mut classic = Vec::new();
        for _ in 0..10_000 {
            while queue.low.packets.len() < 5 {
                queue.enqueue(Time::ZERO, packet(Ecn::Ect1), &mut drops);
            }
            while queue.classic.packets.len() < 5 {
                queue.enqueue(Time::ZERO, packet(Ecn::NotEct), &mut drops);
            }
            classic.extend(
                queue.dequeue(Time::ZERO, &mut drops).map(|(packet, _)| packet.ecn == Ecn::NotEct),
            );
        }
        let share =
            classic.iter().filter(|&&classic| classic).count() as f64 / classic.len() as f64;
        (share, classic.iter().take_while(|&&classic| !classic).count())
    }

    #[test]
    fn l4s_is_served_first_and_the_classic_queue_has_its_protected_share() {
        for (words, share) in [
            ("dualpi2", 0.1),
            ("dualpi2 classic_protection 30%", 0.3),
            ("dualpi2 classic_protection 0", 0.0),
            ("dualpi2 classic_protection 90", 0.9),
        ] {
            let (measured, first) = shares(words);
            assert!((measured - share).abs() < 0.002, "{words}: {measured}");
            assert_eq!(first > 0, share < 0.5, "{words}: {first}");
        }
    }

    #[test]
    fn the_credit_is_reset_when_both_queues_are_empty() {
        let mut queue = queue("dualpi2");
        let start = queue.credit;
        let mut drops = Vec::new();
        for ecn in [Ecn::Ect1, Ecn::NotEct] {
            queue.enqueue(Time::ZERO, packet(ecn), &mut drops);
        }
        assert_eq!(queue.dequeue(Time::ZERO, &mut drops).unwrap().0.ecn, Ecn::Ect1);
        assert_eq!(queue.credit - start, 15_000);
        assert!(queue.dequeue(Time::ZERO, &mut drops).is_some());
        assert_eq!(queue.credit, start);
    }

    #[test]
    fn the_probability_rises_above_the_target_and_falls_below_it() {
        let mut queue = queue("dualpi2");
        let mut drops = Vec::new();
        // A constant delay: packets arrive every millisecond and leave `delay` ms later.
        let mut hold = |span: std::ops::Range<u64>, delay| {
            let before = queue.probability;
            for now in span {
                queue.enqueue(ms(now), packet(Ecn::Ect0), &mut drops);
                while queue
                    .oldest()
                    .is_some_and(|came| came + Duration::from_millis(delay) <= ms(now))
                {
                    queue.dequeue(ms(now), &mut drops);
                }
            }
            queue.probability - before
        };
        let grown = hold(0..2_000, 40);
        // beta × 40 ms once, and alpha × 25 ms per update.
        assert!((grown - (3.2 * 0.04 + 0.16 * 0.025 * 122.0)).abs() < 0.06, "{grown}");
        let shrunk = hold(2_000..4_000, 5);
        assert!(shrunk < -0.2, "{shrunk}");
    }

    /// Performing each update and skipping those without effect give the same state.
    #[test]
    fn skipped_updates_change_nothing() {
        for waiting in [0, 3] {
            let mut seldom = queue("dualpi2");
            let mut often = queue("dualpi2");
            for queue in [&mut seldom, &mut often] {
                for _ in 0..waiting {
                    queue.enqueue(Time::ZERO, packet(Ecn::NotEct), &mut Vec::new());
                }
            }
            for now in 0..100_000 {
                often.catch_up(ms(now));
            }
            seldom.catch_up(ms(99_999));
            let state = |queue: &DualPi2| (queue.probability, queue.old_delay, queue.next_update);
            assert_eq!(state(&often), state(&seldom));
        }
    }

    #[test]
    fn a_full_queue_drops_by_packets_and_by_bytes() {
        for words in ["dualpi2 limit 3", "dualpi2 memlimit 5000"] {
            let mut queue = queue(words);
            let mut drops = Vec::new();
            for ecn in [Ecn::Ect1, Ecn::NotEct, Ecn::Ect1, Ecn::Ect1, Ecn::NotEct] {
                queue.enqueue(Time::ZERO, packet(ecn), &mut drops);
            }
            assert_eq!((queue.packets(), queue.bytes()), (3, Bytes::new(4_500)));
            assert_eq!(drops.len(), 2);
            assert!(drops.iter().all(|&(_, reason)| reason == DropReason::QueueFull));
        }
    }

    #[test]
    fn every_packet_leaves_or_is_dropped_or_waits() {
        for words in ["dualpi2 limit 50", "dualpi2 limit 50 drop_enqueue any_ect overflow"] {
            let mut queue = queue(words);
            let mut random = Seed(2).stream("load");
            let (mut drops, mut left) = (Vec::new(), 0);
            for sent in 0..50_000 {
                let now = Time::from_micros(sent * 500);
                let ecn = [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::Ce][random.below(4) as usize];
                let size = Bytes::new(random.below(1_500));
                queue.enqueue(now, Packet { size, ..packet(ecn) }, &mut drops);
                if random.chance(0.6) {
                    left += usize::from(queue.dequeue(now, &mut drops).is_some());
                }
                assert_eq!(left + drops.len() + queue.packets(), sent as usize + 1);
                assert_eq!(queue.steps.len(), queue.low.packets.len());
            }
            let waiting = queue.low.packets.iter().chain(&queue.classic.packets);
            assert_eq!(waiting.map(|(_, packet)| packet.size).sum::<Bytes>(), queue.bytes());
        }
    }

    #[test]
    fn drops_happen_on_enqueue_or_dequeue_as_configured() {
        for (words, at_enqueue) in [("dualpi2 drop_enqueue", true), ("dualpi2 drop_dequeue", false)]
        {
            let mut queue = queue(words);
            let (mut early, mut late) = (Vec::new(), Vec::new());
            for now in 0..5_000 {
                queue.enqueue(ms(now), packet(Ecn::NotEct), &mut early);
                queue.enqueue(ms(now), packet(Ecn::NotEct), &mut early);
                queue.dequeue(ms(now), &mut late);
            }
            assert_eq!((early.is_empty(), late.is_empty()), (!at_enqueue, at_enqueue), "{words}");
        }
    }

    #[test]
    fn the_delay_converges_to_the_target_and_the_excess_is_dropped() {
        for words in ["dualpi2", "dualpi2 drop_enqueue"] {
            let (delay, dropped) = run(words, Ecn::NotEct, 1.1, 60);
            assert!((10..20).contains(&delay.as_millis()), "{delay}");
            assert!((dropped - 0.1 / 1.1).abs() < 0.01, "{dropped}");
            let (delay, dropped) = run(words, Ecn::NotEct, 0.9, 20);
            assert!(delay.as_millis() == 0 && dropped == 0.0, "{delay} {dropped}");
        }
    }

    /// RFC 9332 § A.1: the defaults are those of 100 ms and 15 ms, but for T_update, which Linux
    /// rounds up.
    #[test]
    fn round_trip_times_give_the_gains() {
        let words = |text: &str| text.parse::<QueueConfig>().unwrap().to_string();
        let whole = words("dualpi2 target 1ms max_rtt 100ms typical_rtt 15ms");
        assert!(whole.contains("target 15ms tupdate 15ms alpha 0.1484375 beta 3 "), "{whole}");
        assert_eq!(words("dualpi2 typical_rtt 10ms"), words("dualpi2 max_rtt 60ms"));
        assert_eq!(words("dualpi2 alpha 0.16 beta 3.2"), words("dualpi2"));
    }
}
