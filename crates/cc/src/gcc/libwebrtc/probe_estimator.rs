//! The rate at which a probe cluster was received (libwebrtc `goog_cc/probe_bitrate_estimator.cc`).

use super::config::LibwebrtcConfig;
use crate::probe_queue::min_bytes;
use crate::{ProbeCluster, SentPacket};
use units::{Bitrate, Bytes, Duration, Time};

/// Number of clusters that are tracked. A result arrives within about 1 s, in which only a few
/// clusters are sent.
const CLUSTERS: usize = 8;

/// The reported packets of a cluster.
#[derive(Clone, Copy, Debug)]
struct Reported {
    sent: (Time, Time),
    arrived: (Time, Time),
    /// Size of the packet sent last, which does not count in the rate sent.
    last_sent_size: Bytes,
    /// Size of the packet that arrived first, which does not count in the rate received.
    first_arrived_size: Bytes,
    bytes: Bytes,
    packets: u32,
}

/// Measures clusters.
pub(super) struct ProbeEstimator {
    received: f64,
    max_ratio: f64,
    unsaturated: f64,
    utilisation: f64,
    max_span: Duration,
    clusters: [Option<(ProbeCluster, Option<Reported>)>; CLUSTERS],
    result: Option<Bitrate>,
}

impl ProbeEstimator {
    pub(super) fn new(config: &LibwebrtcConfig) -> Self {
        Self {
            received: config.probe_received,
            max_ratio: config.max_ratio,
            unsaturated: config.unsaturated,
            utilisation: config.utilisation,
            max_span: config.longest_probe,
            clusters: [None; CLUSTERS],
            result: None,
        }
    }

    /// A cluster will be sent.
    pub(super) fn expect(&mut self, cluster: ProbeCluster) {
        self.clusters[cluster.id as usize % CLUSTERS] = Some((cluster, None));
    }

    /// A packet of cluster `id` was reported, in order of arrival.
    pub(super) fn on_packet(&mut self, id: u32, packet: &SentPacket, arrival: Time) {
        let slot =
            self.clusters[id as usize % CLUSTERS].as_mut().filter(|(cluster, _)| cluster.id == id);
        let Some((cluster, reported)) = slot else { return };
        let cluster = *cluster;
        let reported = reported
            .filter(|reported| arrival.saturating_since(reported.arrived.1) <= self.max_span)
            .map_or_else(|| Reported::of(packet, arrival), |before| before.with(packet, arrival));
        if let Some((_, slot)) = &mut self.clusters[id as usize % CLUSTERS] {
            *slot = Some(reported);
        }
        if self.is_enough(&cluster, &reported)
            && let Some(rate) = self.rate(&reported)
        {
            self.result = Some(rate);
        }
    }

    fn is_enough(&self, cluster: &ProbeCluster, reported: &Reported) -> bool {
        let packets = (f64::from(cluster.min_packets) * self.received).floor();
        let bytes = min_bytes(cluster).get() as f64 * self.received;
        f64::from(reported.packets) >= packets && reported.bytes.get() as f64 >= bytes
    }

    fn rate(&self, reported: &Reported) -> Option<Bitrate> {
        let send_time = reported.sent.1.saturating_since(reported.sent.0);
        let receive_time = reported.arrived.1.saturating_since(reported.arrived.0);
        if send_time > self.max_span || receive_time > self.max_span {
            return None;
        }
        let sent = reported.bytes.saturating_sub(reported.last_sent_size).per(send_time)?;
        let received =
            reported.bytes.saturating_sub(reported.first_arrived_size).per(receive_time)?;
        if received > sent.scale(self.max_ratio) {
            return None;
        }
        // A cluster that is received much more slowly than sent has filled the path. A rate a
        // little below the rate received lets the queue drain.
        let filled = received < sent.scale(self.unsaturated);
        Some(if filled { received.scale(self.utilisation) } else { sent.min(received) })
    }

    /// Takes the newest result; `None` if it was already taken.
    pub(super) fn take(&mut self) -> Option<Bitrate> {
        self.result.take()
    }
}

impl Reported {
    fn of(packet: &SentPacket, arrival: Time) -> Self {
        Self {
            sent: (packet.sent, packet.sent),
            arrived: (arrival, arrival),
            last_sent_size: packet.size,
            first_arrived_size: packet.size,
            bytes: packet.size,
            packets: 1,
        }
    }

    fn with(mut self, packet: &SentPacket, arrival: Time) -> Self {
        self.sent.0 = self.sent.0.min(packet.sent);
        if packet.sent > self.sent.1 {
            (self.sent.1, self.last_sent_size) = (packet.sent, packet.size);
        }
        if arrival < self.arrived.0 {
            (self.arrived.0, self.first_arrived_size) = (arrival, packet.size);
        }
        self.arrived.1 = self.arrived.1.max(arrival);
        self.bytes += packet.size;
        self.packets += 1;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLUSTER: ProbeCluster = ProbeCluster {
        id: 3,
        rate: Bitrate::from_mbps(2),
        min_duration: Duration::from_millis(20),
        min_packets: 5,
    };

    /// Packets of 1000 B sent every `sent` ms and received every `arrived` ms.
    fn measured(count: u64, sent: u64, arrived: u64) -> Option<u64> {
        let mut estimator = ProbeEstimator::new(&LibwebrtcConfig::default());
        estimator.expect(CLUSTER);
        for k in 0..count {
            let sent = Time::from_millis(100 + sent * k);
            let packet = SentPacket { sequence: k, sent, size: Bytes::new(1000), probe: Some(3) };
            estimator.on_packet(3, &packet, Time::from_millis(200 + arrived * k));
        }
        let result = estimator.take().map(|rate| rate.as_bps() / 1000);
        assert_eq!(estimator.take(), None, "a result is given once");
        result
    }

    #[test]
    fn four_fifths_of_a_cluster_give_a_result() {
        assert_eq!(measured(3, 4, 4), None);
        // 3 packets of 1000 B in 12 ms at both ends.
        assert_eq!(measured(4, 4, 4), Some(2000));
    }

    #[test]
    fn a_cluster_that_fills_the_path_gives_95_percent_of_the_rate_received() {
        // 0.95 × 800 kbit/s, that is 0.95 × 8000 bit in 10 ms.
        assert_eq!(measured(5, 4, 10), Some(760));
        // 10 ms sent, 11 ms received: 727 of 800 kbit/s is above 0.9.
        assert_eq!(measured(5, 10, 11), Some(727));
    }

    #[test]
    fn impossible_clusters_are_refused() {
        assert_eq!(measured(5, 10, 4), None, "received 2.5 times faster than sent");
        assert_eq!(measured(5, 9, 5), Some(888), "1.8 times is valid and gives the rate sent");
        assert_eq!(measured(5, 0, 4), None);
        assert_eq!(measured(5, 4, 0), None);
        assert_eq!(measured(5, 334, 334), None, "longer than a second");
    }

    #[test]
    fn packets_of_an_unknown_cluster_are_ignored() {
        let mut estimator = ProbeEstimator::new(&LibwebrtcConfig::default());
        let packet =
            SentPacket { sequence: 0, sent: Time::ZERO, size: Bytes::new(1000), probe: Some(11) };
        estimator.expect(CLUSTER);
        estimator.on_packet(11, &packet, Time::from_millis(20));
        assert_eq!(estimator.take(), None);
    }
}
