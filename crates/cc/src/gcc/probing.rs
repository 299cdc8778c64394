//! Probe clusters at the start of a call: the ramp-up function that Jansen 2016 § 8-1-2 observed
//! (WebRTC bug 1327), with the constants of libwebrtc's `probe_controller.cc` and
//! `probe_bitrate_estimator.cc`.

use crate::ProbeCluster;
use units::{Bitrate, Bytes, Duration, Time};

/// Rates of the first two clusters, as multiples of the start rate.
const INITIAL_FACTORS: [u64; 2] = [3, 6];
/// Rate of a further cluster, as a multiple of the measured rate.
const FURTHER_FACTOR: u64 = 2;
/// A further cluster is sent if the measured rate is at least this fraction of the probed rate.
const SUCCESS_FRACTION: f64 = 0.7;
/// Maximum rate of a cluster.
const MAX_RATE: Bitrate = Bitrate::from_mbps(5);
/// A result that arrives later than this after the first packet of the cluster is ignored.
const RESULT_TIMEOUT: Duration = Duration::from_secs(1);
/// Minimum duration of a cluster, and minimum number of packets.
const MIN_DURATION: Duration = Duration::from_millis(15);
const MIN_PACKETS: u32 = 5;

/// Decides which clusters to send.
pub(crate) struct ProbePlan {
    start: Bitrate,
    newest: Option<ProbeCluster>,
    sent: Option<Time>,
}

impl ProbePlan {
    pub(crate) fn new(start: Bitrate) -> Self {
        let mut plan = Self { start, newest: None, sent: None };
        plan.next(start * INITIAL_FACTORS[0]);
        plan
    }

    fn next(&mut self, rate: Bitrate) {
        let id = self.newest.map_or(1, |cluster| cluster.id + 1);
        self.newest = Some(ProbeCluster {
            id,
            rate: rate.min(MAX_RATE),
            min_duration: MIN_DURATION,
            min_packets: MIN_PACKETS,
        });
        self.sent = None;
    }

    /// The newest cluster to send.
    pub(crate) fn cluster(&self) -> Option<ProbeCluster> {
        self.newest
    }

    /// A packet of cluster `id` left.
    pub(crate) fn on_sent(&mut self, now: Time, id: u32) {
        if self.newest.is_some_and(|cluster| cluster.id == id) {
            self.sent.get_or_insert(now);
        }
    }

    /// The delay-based rate increased to `rate`: the path carries `rate`.
    pub(crate) fn on_result(&mut self, now: Time, rate: Bitrate) {
        let (Some(cluster), Some(sent)) = (self.newest, self.sent) else { return };
        if now.saturating_since(sent) > RESULT_TIMEOUT {
            return;
        }
        if cluster.id == 1 {
            self.next(self.start * INITIAL_FACTORS[1]);
        } else if rate.as_bps_f64() >= SUCCESS_FRACTION * cluster.rate.as_bps_f64()
            && cluster.rate < MAX_RATE
        {
            self.next(rate * FURTHER_FACTOR);
        }
    }
}

/// Measures the rate of a cluster: the lower of the sending rate and the arrival rate.
#[derive(Default)]
pub(crate) struct ProbeMeter {
    cluster: u32,
    packets: u32,
    sent: (Time, Time),
    arrived: (Time, Time),
    bytes: Bytes,
    /// Sizes of the first and the last packet. The last packet does not count in the sending rate,
    /// the first does not count in the arrival rate.
    ends: (Bytes, Bytes),
}

impl ProbeMeter {
    /// Processes a packet of a cluster. Returns the rate of the cluster if it has enough packets.
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
        (self.packets >= MIN_PACKETS).then(|| self.rate()).flatten()
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
    fn clusters_are_three_and_six_times_the_start_rate_and_then_twice_the_result() {
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
    fn a_late_result_is_ignored() {
        let mut plan = ProbePlan::new(Bitrate::from_kbps(300));
        plan.on_sent(Time::ZERO, 1);
        plan.on_result(Time::from_millis(1001), Bitrate::from_kbps(900));
        assert_eq!(plan.cluster().unwrap().id, 1);
    }

    #[test]
    fn the_rate_of_a_cluster_is_the_lower_of_both_ends() {
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
