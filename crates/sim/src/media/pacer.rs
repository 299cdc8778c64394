//! The pacer. Groups of packets leave once per burst time, as many as the pacing rate permits
//! (draft-ietf-rmcat-gcc-02 § 4; Guerrero Viveros 2019 § 2.2.1). Probe clusters leave at their own
//! rate.

use cc::ProbeCluster;
use units::{Bitrate, Bytes, Duration, Time};

/// The sender's queue is drained within this time, whatever the pacing rate (2 s: libwebrtc
/// `modules/pacing/pacing_controller.h`).
const QUEUE_TIME_LIMIT: Duration = Duration::from_secs(2);

/// Decides when the next packet may leave; the sender decides which packet.
///
/// The budget is in 10⁻⁹ bit, the product of bit/s and nanoseconds, so that nothing is rounded.
pub struct Pacer {
    burst: Duration,
    rate: Bitrate,
    budget: i128,
    last: Time,
    next: Option<Time>,
    probe: Option<Probe>,
    newest_probe: u32,
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
}

impl Pacer {
    /// A pacer with one group per `burst`. Nothing leaves before [`Self::set_rate`] is called.
    #[must_use]
    pub fn new(burst: Duration) -> Self {
        let (rate, last) = (Bitrate::ZERO, Time::ZERO);
        Self { burst, rate, budget: 0, last, next: None, probe: None, newest_probe: 0 }
    }

    /// Sets the pacing rate from now on; `queued` is the size of the sender's queue.
    pub fn set_rate(&mut self, now: Time, rate: Bitrate, queued: Bytes) {
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
    pub fn wake(&mut self, now: Time, queued: Bytes) {
        if self.next.is_none() {
            self.schedule(now, queued);
        }
    }

    /// When to call [`Pacer::grant`] again. `can_pad` means that a probe can continue with padding.
    #[must_use]
    pub fn next_wake(&self, queue_empty: bool, can_pad: bool) -> Option<Time> {
        match &self.probe {
            Some(probe) if !queue_empty || (can_pad && probe.started.is_some()) => Some(probe.next),
            _ if queue_empty => None,
            _ => self.next,
        }
    }

    /// Whether a packet may leave now. If so, the sender sends one and calls [`Pacer::sent`].
    pub fn grant(
        &mut self,
        now: Time,
        queue_empty: bool,
        can_pad: bool,
        queued: Bytes,
    ) -> Option<Grant> {
        if let Some(probe) = &self.probe
            && (!queue_empty || (can_pad && probe.started.is_some()))
        {
            return (probe.next <= now).then_some(Grant::Probe(probe.cluster.id));
        }
        if queue_empty {
            self.next = None;
            return None;
        }
        if self.next.is_some_and(|next| next <= now) {
            self.accrue(now);
            if self.budget > 0 {
                return Some(Grant::Media);
            }
            self.schedule(now, queued);
        }
        None
    }

    /// A packet left.
    pub fn sent(&mut self, now: Time, size: Bytes) {
        self.charge(size);
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
    pub fn charge(&mut self, size: Bytes) {
        self.budget -= i128::from(size.bits()) * 1_000_000_000;
    }

    /// Adds the budget of the time since the last group, at most one burst: idle time is not
    /// accumulated.
    fn accrue(&mut self, now: Time) {
        let elapsed = now.saturating_since(self.last);
        let burst = product(self.rate, self.burst).max(1);
        self.budget = (self.budget + product(self.rate, elapsed)).min(burst);
        self.last = now;
    }

    /// The first multiple of the burst time at which the budget is positive.
    fn schedule(&mut self, now: Time, queued: Bytes) {
        let drain = queued.per(QUEUE_TIME_LIMIT).unwrap_or(Bitrate::ZERO);
        self.rate = self.rate.max(drain);
        let burst_budget = product(self.rate, self.burst);
        self.next = (burst_budget > 0).then(|| {
            let bursts = if self.budget > 0 { 0 } else { -self.budget / burst_budget + 1 };
            (self.last + self.burst * u64::try_from(bursts).unwrap_or(u64::MAX)).max(now)
        });
    }
}

fn product(rate: Bitrate, span: Duration) -> i128 {
    i128::from(rate.as_bps()) * i128::from(span.as_nanos())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drain(pacer: &mut Pacer, from: Time, packets: usize, size: Bytes) -> Vec<Time> {
        let mut queued = size * packets as u64;
        pacer.wake(from, queued);
        let mut times = Vec::new();
        while let Some(now) = pacer.next_wake(queued == Bytes::ZERO, false) {
            while pacer.grant(now, queued == Bytes::ZERO, false, queued).is_some() {
                pacer.sent(now, size);
                queued -= size;
                times.push(now);
            }
        }
        times
    }

    #[test]
    fn the_long_run_rate_is_exact() {
        let mut pacer = Pacer::new(Duration::from_millis(5));
        pacer.set_rate(Time::ZERO, Bitrate::from_kbps(1000), Bytes::ZERO);
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
        let mut pacer = Pacer::new(Duration::from_millis(5));
        pacer.set_rate(Time::ZERO, Bitrate::from_mbps(4), Bytes::ZERO);
        let times = drain(&mut pacer, Time::from_secs(1), 20, Bytes::new(1250));
        // 5 ms at 4 Mbit/s are 2500 B: two packets per group.
        let groups: std::collections::BTreeSet<_> = times.iter().collect();
        assert!(groups.len() >= 9 && groups.len() <= 11, "{} groups", groups.len());
        assert!(times.iter().all(|t| t.as_nanos() % 5_000_000 == 0));
    }

    #[test]
    fn a_rate_of_zero_sends_nothing_and_resumes() {
        let mut pacer = Pacer::new(Duration::from_millis(5));
        let queued = Bytes::ZERO;
        pacer.wake(Time::ZERO, queued);
        assert_eq!(pacer.next_wake(false, false), None);
        pacer.set_rate(Time::from_secs(1), Bitrate::from_kbps(100), queued);
        assert!(pacer.next_wake(false, false).is_some());
    }

    #[test]
    fn a_probe_leaves_at_its_own_rate() {
        let mut pacer = Pacer::new(Duration::from_millis(5));
        pacer.set_rate(Time::ZERO, Bitrate::from_kbps(100), Bytes::ZERO);
        let rate = Bitrate::from_mbps(2);
        pacer.start_probe(
            Time::ZERO,
            ProbeCluster { id: 1, rate, min_duration: Duration::from_millis(15), min_packets: 5 },
        );
        let (mut now, mut sent) = (Time::ZERO, 0);
        while let Some(Grant::Probe(1)) = pacer.grant(now, false, false, Bytes::new(5000)) {
            pacer.sent(now, Bytes::new(1000));
            sent += 1;
            now = pacer.next_wake(false, false).unwrap();
        }
        assert_eq!(sent, 5, "15 ms at 2 Mbit/s are 3.75 packets; the minimum is five");
    }
}
