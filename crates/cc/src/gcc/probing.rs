//! Probe clusters at the start of a call: the ramp-up function that Jansen 2016 § 8-1-2 observed
//! (webrtc bug 1327), with the constants of libwebrtc's `probe_controller.cc` and
//! `probe_bitrate_estimator.cc`.

use crate::ProbeCluster;
use units::{Bitrate, Bytes, Duration, Time};

/// The first two clusters, as multiples of the start rate (3 and 6).
const FIRST: [u64; 2] = [3, 6];
/// A further cluster at this multiple of the result…
const FURTHER: u64 = 2;
/// …while the result is at least this share of what was probed.
const SUCCESS: f64 = 0.7;
/// No cluster above this rate.
const HIGHEST: Bitrate = Bitrate::from_mbps(5);
/// A result is awaited this long.
const PATIENCE: Duration = Duration::from_secs(1);
/// The least length of a cluster and the least number of its packets.
const LENGTH: Duration = Duration::from_millis(15);
const PACKETS: u32 = 5;

/// Which clusters to send.
pub(crate) struct ProbePlan {
    start: Bitrate,
    newest: Option<ProbeCluster>,
    sent: Option<Time>,
}

impl ProbePlan {
    pub(crate) fn new(start: Bitrate) -> Self {
        let mut plan = Self { start, newest: None, sent: None };
        plan.next(start * FIRST[0]);
        plan
    }

    fn next(&mut self, rate: Bitrate) {
        let id = self.newest.map_or(1, |cluster| cluster.id + 1);
        self.newest = Some(ProbeCluster {
            id,
            rate: rate.min(HIGHEST),
            min_duration: LENGTH,
            min_packets: PACKETS,
        });
        self.sent = None;
    }

    /// The cluster to send.
    pub(crate) fn cluster(&self) -> Option<ProbeCluster> {
        self.newest
    }

    /// A packet of cluster `id` left.
    pub(crate) fn on_sent(&mut self, now: Time, id: u32) {
        if self.newest.is_some_and(|cluster| cluster.id == id) {
            self.sent.get_or_insert(now);
        }
    }

    /// The far end reported that the path carries `rate`.
    pub(crate) fn on_result(&mut self, now: Time, rate: Bitrate) {
        let (Some(cluster), Some(sent)) = (self.newest, self.sent) else { return };
        if now.saturating_since(sent) > PATIENCE {
            return;
        }
        if cluster.id == 1 {
            self.next(self.start * FIRST[1]);
        } else if rate.as_bps_f64() >= SUCCESS * cluster.rate.as_bps_f64() && cluster.rate < HIGHEST
        {
            self.next(rate * FURTHER);
        }
    }
}

/// Measures the rate at which a cluster got through: bytes over the longer of its send and its
/// arrival time.
#[derive(Default)]
pub(crate) struct ProbeMeter {
    cluster: u32,
    packets: u32,
    sent: (Time, Time),
    arrived: (Time, Time),
    bytes: Bytes,
    /// Sizes at the ends: the last packet's counts for no send time, the first's for no arrival
    /// time.
    ends: (Bytes, Bytes),
}

impl ProbeMeter {
    /// Takes in a packet of a cluster; returns the cluster's rate when it has enough packets.
    pub(crate) fn on_packet(
        &mut self,
        cluster: u32,
        sent: Time,
        arrived: Time,
        size: Bytes,
    ) -> Option<Bitrate> {
        if cluster != self.cluster {
            *self = Self {
                cluster,
                packets: 0,
                sent: (sent, sent),
                arrived: (arrived, arrived),
                bytes: Bytes::ZERO,
                ends: (size, size),
            };
        }
        self.packets += 1;
        self.bytes += size;
        self.sent.1 = self.sent.1.max(sent);
        self.arrived.1 = self.arrived.1.max(arrived);
        self.ends.1 = size;
        (self.packets >= PACKETS).then(|| self.rate()).flatten()
    }

    fn rate(&self) -> Option<Bitrate> {
        let send = (self.bytes - self.ends.1).per(self.sent.1.saturating_since(self.sent.0))?;
        let receive =
            (self.bytes - self.ends.0).per(self.arrived.1.saturating_since(self.arrived.0))?;
        Some(send.min(receive))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clusters_are_three_and_six_times_and_then_double_what_came_through() {
        let mut plan = ProbePlan::new(Bitrate::from_kbps(300));
        let rate = |plan: &ProbePlan| plan.cluster().unwrap().rate;
        assert_eq!(rate(&plan), Bitrate::from_kbps(900));
        plan.on_sent(Time::ZERO, 1);
        plan.on_result(Time::from_millis(100), Bitrate::from_kbps(900));
        assert_eq!(rate(&plan), Bitrate::from_kbps(1800));
        plan.on_sent(Time::from_millis(110), 2);
        plan.on_result(Time::from_millis(200), Bitrate::from_kbps(1700));
        assert_eq!(rate(&plan), Bitrate::from_kbps(3400));
        plan.on_sent(Time::from_millis(210), 3);
        plan.on_result(Time::from_millis(300), Bitrate::from_kbps(2000));
        assert_eq!(plan.cluster().unwrap().id, 3, "2000 is less than 0.7 of 3400");
    }

    #[test]
    fn a_late_result_is_not_followed() {
        let mut plan = ProbePlan::new(Bitrate::from_kbps(300));
        plan.on_sent(Time::ZERO, 1);
        plan.on_result(Time::from_millis(1001), Bitrate::from_kbps(900));
        assert_eq!(plan.cluster().unwrap().id, 1);
    }

    #[test]
    fn a_cluster_is_as_fast_as_its_slower_side() {
        let mut meter = ProbeMeter::default();
        let rates: Vec<_> = (0..5)
            .map(|k| {
                meter.on_packet(
                    1,
                    Time::from_millis(4 * k),
                    Time::from_millis(50 + 10 * k),
                    Bytes::new(1000),
                )
            })
            .collect();
        assert_eq!(rates[..4], [None; 4]);
        assert_eq!(rates[4], Some(Bitrate::from_kbps(800)), "4 packets of 1000 B in 40 ms");
    }
}
