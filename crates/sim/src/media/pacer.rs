//! The pacer. Groups of packets leave, as many as the pacing rate permits
//! (draft-ietf-rmcat-gcc-02 § 4; Guerrero Viveros 2019 § 2.2.1). [`Grouping`] says when a group
//! leaves. Probe clusters leave at their own rate. While nothing waits, padding fills what media leave of the padding rate (libwebrtc
//! `modules/pacing/pacing_controller.cc`).

use cc::ProbeCluster;
use units::{Bitrate, Bytes, Duration, Time};

/// The sender's queue is drained within this time, whatever the pacing rate (2 s:
/// `kMaxExpectedQueueLength`, libwebrtc `modules/pacing/pacing_controller.h`).
const QUEUE_TIME_LIMIT: Duration = Duration::from_secs(2);
/// The queue is never drained in a shorter time than this (libwebrtc
/// `modules/pacing/pacing_controller.cc`, MaybeUpdateMediaRateDueToLongQueue).
const MIN_TIME_LEFT: Duration = Duration::from_millis(1);
/// A group of packets is not larger than this, whatever the burst time (libwebrtc
/// `modules/pacing/pacing_controller.h`, `kMaxBurstSize`).
const MAX_BURST: Bytes = Bytes::new(63_000);
/// The debts of media and of padding are at most this long at their rates (libwebrtc
/// `modules/pacing/pacing_controller.cc`, `kMaxDebtInTime`).
const MAX_DEBT: Duration = Duration::from_millis(500);

/// When a group of packets may leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grouping {
    /// At the next multiple of the burst time at which there is budget (older libwebrtc,
    /// `modules/pacing/paced_sender.cc`).
    Grid,
    /// When everything that was sent before is paid at the pacing rate; then packets leave until
    /// the debt is the burst time long (libwebrtc `modules/pacing/pacing_controller.cc`,
    /// NextSendTime).
    Paid,
}

/// The packets that wait for the pacer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    packets: u64,
    bytes: Bytes,
    /// The sum of the times at which the packets were queued, ns.
    queued_at: u128,
}

impl Backlog {
    /// `packets` packets with together `bytes` bytes were queued.
    pub fn push(&mut self, now: Time, packets: u64, bytes: Bytes) {
        self.packets += packets;
        self.bytes += bytes;
        self.queued_at += u128::from(packets) * u128::from(now.as_nanos());
    }

    /// A packet that was queued at `queued` leaves the queue.
    pub fn pop(&mut self, queued: Time, bytes: Bytes) {
        self.packets = self.packets.saturating_sub(1);
        self.bytes = self.bytes.saturating_sub(bytes);
        self.queued_at = self.queued_at.saturating_sub(u128::from(queued.as_nanos()));
    }

    /// The average time for which the packets have waited (libwebrtc
    /// `modules/pacing/prioritized_packet_queue.cc`, AverageQueueTime).
    fn average_wait(&self, now: Time) -> Duration {
        let Some(mean) = self.queued_at.checked_div(u128::from(self.packets)) else {
            return Duration::ZERO;
        };
        now.saturating_since(Time::from_nanos(u64::try_from(mean).unwrap_or(u64::MAX)))
    }

    /// The rate at which the queue is drained in time: within [`QUEUE_TIME_LIMIT`] less the average
    /// wait ([`Grouping::Paid`]), or within that limit.
    fn drain(&self, now: Time, grouping: Grouping) -> Bitrate {
        let waited = match grouping {
            Grouping::Grid => Duration::ZERO,
            Grouping::Paid => self.average_wait(now),
        };
        let left = QUEUE_TIME_LIMIT.saturating_sub(waited).max(MIN_TIME_LEFT);
        self.bytes.per(left).unwrap_or(Bitrate::ZERO)
    }
}

/// Decides when the next packet may leave; the sender decides which packet.
///
/// The budget is in 10⁻⁹ bit, the product of bit/s and nanoseconds, so that nothing is rounded.
pub struct Pacer {
    grouping: Grouping,
    burst: Duration,
    rate: Bitrate,
    budget: i128,
    last: Time,
    next: Option<Time>,
    probe: Option<Probe>,
    newest_probe: u32,
    padding: Padding,
}

/// What was sent in excess of the padding rate: padding waits until that time has passed.
#[derive(Default)]
struct Padding {
    rate: Bitrate,
    debt: i128,
    last: Time,
}

/// A probe cluster under way.
struct Probe {
    cluster: ProbeCluster,
    started: Option<Time>,
    sent: Bytes,
    packets: u32,
    next: Time,
}

/// The type of packet that may leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grant {
    /// A media packet.
    Media,
    /// A packet of this probe cluster; padding if no media is queued.
    Probe(u32),
    /// A packet of padding.
    Padding,
}

impl Pacer {
    /// A pacer with groups of `burst`. Nothing leaves before [`Self::set_rate`] is called.
    #[must_use]
    pub fn new(grouping: Grouping, burst: Duration) -> Self {
        Self {
            grouping,
            burst,
            rate: Bitrate::ZERO,
            budget: 0,
            last: Time::ZERO,
            next: None,
            probe: None,
            newest_probe: 0,
            padding: Padding::default(),
        }
    }

    /// Sets the rate up to which padding fills from now on; zero for no padding.
    pub fn set_padding_rate(&mut self, now: Time, rate: Bitrate) {
        if rate != self.padding.rate {
            self.padding.pay(now);
            self.padding.rate = rate;
        }
    }

    /// Sets the pacing rate from now on; `queued` is the sender's queue.
    pub fn set_rate(&mut self, now: Time, rate: Bitrate, queued: &Backlog) {
        if rate != self.rate {
            self.accrue(now);
            self.rate = rate;
            self.schedule(now, queued);
        }
    }

    /// Starts a probe cluster, once per id. It starts with the next packet that is sent.
    pub fn start_probe(&mut self, now: Time, cluster: ProbeCluster) {
        if cluster.id > self.newest_probe && cluster.rate > Bitrate::ZERO {
            self.newest_probe = cluster.id;
            self.probe =
                Some(Probe { cluster, started: None, sent: Bytes::ZERO, packets: 0, next: now });
        }
    }

    /// Whether a probe cluster is under way or waits for its first packet.
    #[must_use]
    pub fn is_probing(&self) -> bool {
        self.probe.is_some()
    }

    /// Media was queued.
    pub fn wake(&mut self, now: Time, queued: &Backlog) {
        if self.next.is_none() {
            self.schedule(now, queued);
        }
    }

    /// When to call [`Pacer::grant`] again. `can_pad` means that a probe can continue with padding.
    #[must_use]
    pub fn next_wake(&self, queue_empty: bool, can_pad: bool) -> Option<Time> {
        match &self.probe {
            Some(probe) if !queue_empty || (can_pad && probe.started.is_some()) => Some(probe.next),
            _ if queue_empty => self.next_padding().filter(|_| can_pad),
            _ => self.next,
        }
    }

    /// Whether a packet may leave now. If so, the sender sends one and calls [`Pacer::sent`].
    pub fn grant(
        &mut self,
        now: Time,
        queue_empty: bool,
        can_pad: bool,
        queued: &Backlog,
    ) -> Option<Grant> {
        if let Some(probe) = &self.probe
            && (!queue_empty || (can_pad && probe.started.is_some()))
        {
            return (probe.next <= now).then_some(Grant::Probe(probe.cluster.id));
        }
        if queue_empty {
            self.next = None;
            let padding = self.next_padding().is_some_and(|next| next <= now);
            return (padding && can_pad).then_some(Grant::Padding);
        }
        if self.next.is_some_and(|next| next <= now) {
            self.accrue(now);
            if self.may_send() {
                return Some(Grant::Media);
            }
            self.schedule(now, queued);
        }
        None
    }

    /// A packet left.
    pub fn sent(&mut self, now: Time, size: Bytes) {
        self.charge(now, size);
        let Some(probe) = &mut self.probe else { return };
        let started = *probe.started.get_or_insert(now);
        probe.sent += size;
        probe.packets += 1;
        probe.next =
            started + probe.cluster.rate.time_to_send(probe.sent).unwrap_or(Duration::ZERO);
        let long_enough = probe.next.saturating_since(started) >= probe.cluster.min_duration;
        if long_enough && probe.packets >= probe.cluster.min_packets {
            self.probe = None;
            // The cluster was sent in addition to the budget, so its debt is cancelled.
            self.budget = self.budget.max(0);
        }
    }

    /// An unpaced packet left that counts against the budget: audio (libwebrtc
    /// `modules/pacing/pacing_controller.cc`, `account_for_audio_`).
    pub fn charge(&mut self, now: Time, size: Bytes) {
        if self.grouping == Grouping::Paid {
            self.accrue(now);
        }
        self.budget -= scaled(size);
        if self.grouping == Grouping::Paid {
            self.budget = self.budget.max(-product(self.rate, MAX_DEBT));
        }
        self.padding.charge(now, size);
    }

    /// When the debts of media and padding are paid; `None` without padding.
    fn next_padding(&self) -> Option<Time> {
        if self.padding.rate == Bitrate::ZERO || self.rate == Bitrate::ZERO {
            return None;
        }
        let media = self.last + time_to_pay(self.most() - self.budget, self.rate);
        Some(media.max(self.padding.paid()))
    }

    /// The burst time, shorter at rates at which a group would be larger than [`MAX_BURST`].
    fn burst(&self) -> Duration {
        if product(self.rate, self.burst) <= scaled(MAX_BURST) {
            return self.burst;
        }
        self.rate.time_to_send(MAX_BURST).unwrap_or(self.burst).min(self.burst)
    }

    /// The greatest budget: idle time is not accumulated.
    fn most(&self) -> i128 {
        match self.grouping {
            Grouping::Grid => product(self.rate, self.burst()).max(1),
            Grouping::Paid => 0,
        }
    }

    /// Whether the budget, which is a debt if negative, permits another packet.
    fn may_send(&self) -> bool {
        match self.grouping {
            Grouping::Grid => self.budget > 0,
            Grouping::Paid => -self.budget < product(self.rate, self.burst()),
        }
    }

    /// Adds the budget of the time since the last group.
    fn accrue(&mut self, now: Time) {
        let elapsed = now.saturating_since(self.last);
        self.budget = (self.budget + product(self.rate, elapsed)).min(self.most());
        self.last = now;
    }

    /// Sets the time at which the next group may leave.
    fn schedule(&mut self, now: Time, queued: &Backlog) {
        self.rate = self.rate.max(queued.drain(now, self.grouping));
        let burst = self.burst();
        let burst_budget = product(self.rate, burst);
        self.next = (burst_budget > 0).then(|| {
            let wait = match self.grouping {
                _ if self.may_send() => Duration::ZERO,
                Grouping::Grid => {
                    let bursts = -self.budget / burst_budget + 1;
                    burst * u64::try_from(bursts).unwrap_or(u64::MAX)
                }
                Grouping::Paid => time_to_pay(-self.budget, self.rate),
            };
            (self.last + wait).max(now)
        });
    }
}

impl Padding {
    /// A packet of any kind left.
    fn charge(&mut self, now: Time, size: Bytes) {
        if self.rate > Bitrate::ZERO {
            self.pay(now);
            self.debt = (self.debt + scaled(size)).min(product(self.rate, MAX_DEBT));
        }
    }

    /// Pays the debt of the time that has passed.
    fn pay(&mut self, now: Time) {
        let paid = product(self.rate, now.saturating_since(self.last));
        self.debt = if self.rate > Bitrate::ZERO { (self.debt - paid).max(0) } else { 0 };
        self.last = now;
    }

    fn paid(&self) -> Time {
        self.last + time_to_pay(self.debt, self.rate)
    }
}

fn product(rate: Bitrate, span: Duration) -> i128 {
    i128::from(rate.as_bps()) * i128::from(span.as_nanos())
}

/// A size in the unit of the budget.
fn scaled(size: Bytes) -> i128 {
    i128::from(size.bits()) * 1_000_000_000
}

/// The time that `debt` takes at `rate`, which is not zero.
fn time_to_pay(debt: i128, rate: Bitrate) -> Duration {
    let rate = i128::from(rate.as_bps());
    Duration::from_nanos(u64::try_from((debt.max(0) + rate - 1) / rate).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn backlog(at: Time, packets: u64, size: Bytes) -> Backlog {
        let mut backlog = Backlog::default();
        backlog.push(at, packets, size * packets);
        backlog
    }

    fn drain(pacer: &mut Pacer, from: Time, packets: u64, size: Bytes) -> Vec<Time> {
        let (mut queued, mut left) = (backlog(from, packets, size), packets);
        pacer.wake(from, &queued);
        let mut times = Vec::new();
        while let Some(now) = pacer.next_wake(left == 0, false) {
            while pacer.grant(now, left == 0, false, &queued).is_some() {
                pacer.sent(now, size);
                queued.pop(from, size);
                left -= 1;
                times.push(now);
            }
        }
        times
    }

    #[test]
    fn the_queue_is_drained_by_the_average_wait() {
        let (size, second) = (Bytes::new(1_000), Time::from_secs(1));
        let mut queued = backlog(Time::ZERO, 10, size);
        queued.push(second, 10, size * 10);
        let drain = |queued: &Backlog, now, grouping| queued.drain(now, grouping).as_bps();
        // 20 kB: half of the packets have waited for 1 s, so that 1.5 s are left.
        assert_eq!(drain(&queued, second, Grouping::Paid), 160_000 * 2 / 3);
        assert_eq!(drain(&queued, second, Grouping::Grid), 80_000);
        assert_eq!(drain(&queued, Time::from_secs(9), Grouping::Paid), 160_000_000);
        (0..10).for_each(|_| queued.pop(Time::ZERO, size));
        assert_eq!(drain(&queued, second, Grouping::Paid), 40_000);
        (0..10).for_each(|_| queued.pop(second, size));
        assert_eq!((drain(&queued, second, Grouping::Paid), queued), (0, Backlog::default()));
    }

    #[test]
    fn a_long_queue_leaves_faster_than_the_pacing_rate() {
        let mut pacer = Pacer::new(Grouping::Paid, Duration::from_millis(40));
        pacer.set_rate(Time::ZERO, Bitrate::from_kbps(8), &Backlog::default());
        let times = drain(&mut pacer, Time::ZERO, 100, Bytes::new(1_000));
        assert!(times[99] < Time::from_millis(2_100), "{}", times[99]);
    }

    #[test]
    fn the_long_run_rate_is_exact() {
        let mut pacer = Pacer::new(Grouping::Grid, Duration::from_millis(5));
        pacer.set_rate(Time::ZERO, Bitrate::from_kbps(1000), &Backlog::default());
        let times = drain(&mut pacer, Time::from_secs(1), 101, Bytes::new(1250));
        assert_eq!(times.len(), 101);
        let span = times[100].saturating_since(times[0]);
        assert!(
            span >= Duration::from_millis(990) && span <= Duration::from_millis(1010),
            "{span}"
        );
    }

    #[test]
    fn groups_leave_on_the_burst_grid() {
        let mut pacer = Pacer::new(Grouping::Grid, Duration::from_millis(5));
        pacer.set_rate(Time::ZERO, Bitrate::from_mbps(4), &Backlog::default());
        let times = drain(&mut pacer, Time::from_secs(1), 20, Bytes::new(1250));
        // 5 ms at 4 Mbit/s are 2500 B: two packets per group.
        let groups: std::collections::BTreeSet<_> = times.iter().collect();
        assert!(groups.len() >= 9 && groups.len() <= 11, "{} groups", groups.len());
        assert!(times.iter().all(|t| t.as_nanos() % 5_000_000 == 0));
    }

    #[test]
    fn a_group_leaves_when_the_group_before_is_paid() {
        let mut pacer = Pacer::new(Grouping::Paid, Duration::from_millis(40));
        pacer.set_rate(Time::ZERO, Bitrate::from_kbps(48), &Backlog::default());
        let times = drain(&mut pacer, Time::ZERO, 6, Bytes::new(210));
        // 40 ms at 48 kbit/s are 240 B: a second packet leaves with the first; both take 70 ms.
        let expected = [0, 0, 70, 70, 140, 140].map(Time::from_millis);
        assert_eq!(times, expected);
        // A packet longer than the burst leaves alone.
        let mut pacer = Pacer::new(Grouping::Paid, Duration::from_millis(40));
        pacer.set_rate(Time::ZERO, Bitrate::from_kbps(48), &Backlog::default());
        let times = drain(&mut pacer, Time::ZERO, 3, Bytes::new(300));
        assert_eq!(times, [0, 50, 100].map(Time::from_millis));
    }

    #[test]
    fn a_debt_is_at_most_half_a_second_and_follows_the_rate() {
        let mut pacer = Pacer::new(Grouping::Paid, Duration::from_millis(40));
        let now = Time::from_secs(1);
        pacer.set_rate(now, Bitrate::from_kbps(80), &Backlog::default());
        pacer.charge(now, Bytes::new(50_000));
        let queued = backlog(now, 1, Bytes::new(1000));
        assert_eq!(pacer.grant(now, false, false, &queued), None);
        assert_eq!(pacer.next_wake(false, false), Some(Time::from_millis(1_500)));
        pacer.set_rate(now, Bitrate::from_kbps(800), &queued);
        assert_eq!(pacer.next_wake(false, false), Some(Time::from_millis(1_050)));
    }

    #[test]
    fn a_rate_of_zero_sends_nothing_and_resumes() {
        let mut pacer = Pacer::new(Grouping::Grid, Duration::from_millis(5));
        let queued = Backlog::default();
        pacer.wake(Time::ZERO, &queued);
        assert_eq!(pacer.next_wake(false, false), None);
        pacer.set_rate(Time::from_secs(1), Bitrate::from_kbps(100), &queued);
        assert!(pacer.next_wake(false, false).is_some());
    }

    #[test]
    fn a_group_is_limited_at_high_rates() {
        let mut pacer = Pacer::new(Grouping::Grid, Duration::from_millis(40));
        pacer.set_rate(Time::ZERO, Bitrate::from_mbps(50), &Backlog::default());
        let times = drain(&mut pacer, Time::from_secs(1), 500, Bytes::new(1250));
        let first = times.iter().filter(|at| **at == times[0]).count();
        assert_eq!(first, 51, "63 kB, not the 250 kB of 40 ms");
        let span = times[499].saturating_since(times[0]);
        assert!((0.09..0.11).contains(&span.as_secs_f64()), "{span}: the rate stays 50 Mbit/s");
    }

    #[test]
    fn padding_fills_what_media_leave_of_its_rate() {
        let mut pacer = Pacer::new(Grouping::Grid, Duration::from_millis(5));
        pacer.set_rate(Time::ZERO, Bitrate::from_mbps(4), &Backlog::default());
        assert_eq!(pacer.next_wake(true, true), None, "without a padding rate there is none");
        pacer.set_padding_rate(Time::ZERO, Bitrate::from_mbps(1));
        assert_eq!(pacer.next_wake(true, false), None, "there is nothing to pad with");
        let (size, end) = (Bytes::new(1250), Time::from_secs(1));
        let (mut now, mut padding) = (Time::ZERO, 0);
        // 400 kbit/s of media: a packet each 25 ms.
        for media in (0..40).map(|index| Time::from_millis(25 * index)) {
            while let Some(next) = pacer.next_wake(true, true).filter(|next| *next < media) {
                now = now.max(next);
                assert_eq!(pacer.grant(now, true, true, &Backlog::default()), Some(Grant::Padding));
                pacer.sent(now, size);
                padding += 1;
            }
            let queued = backlog(media, 1, size);
            pacer.wake(media, &queued);
            now = pacer.next_wake(false, true).unwrap();
            assert_eq!(pacer.grant(now, false, true, &queued), Some(Grant::Media));
            pacer.sent(now, size);
        }
        assert!(now < end && (58..=62).contains(&padding), "{padding} packets");
        pacer.set_padding_rate(now, Bitrate::ZERO);
        assert_eq!(pacer.next_wake(true, true), None);
    }

    #[test]
    fn a_probe_leaves_at_its_own_rate() {
        let mut pacer = Pacer::new(Grouping::Grid, Duration::from_millis(5));
        pacer.set_rate(Time::ZERO, Bitrate::from_kbps(100), &Backlog::default());
        let rate = Bitrate::from_mbps(2);
        pacer.start_probe(
            Time::ZERO,
            ProbeCluster { id: 1, rate, min_duration: Duration::from_millis(15), min_packets: 5 },
        );
        let (mut now, mut sent) = (Time::ZERO, 0);
        let queued = backlog(now, 5, Bytes::new(1000));
        while let Some(Grant::Probe(1)) = pacer.grant(now, false, false, &queued) {
            pacer.sent(now, Bytes::new(1000));
            sent += 1;
            now = pacer.next_wake(false, false).unwrap();
        }
        assert_eq!(sent, 5, "15 ms at 2 Mbit/s are 3.75 packets; the minimum is five");
    }
}
