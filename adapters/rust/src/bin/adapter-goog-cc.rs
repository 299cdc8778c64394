//! The crate `goog_cc`, a port of libwebrtc's controller of December 2024.

use adapters::{Answer, Configuration, Estimator, Feedback, Packet, Probe, serve};
use goog_cc::network_control::{NetworkControllerConfig, NetworkControllerInterface};
use goog_cc::transport::{
    NetworkAvailability, NetworkControlUpdate, PacedPacketInfo, PacketResult, ProbeClusterConfig,
    ProcessInterval, RemoteBitrateReport, RoundTripTimeUpdate, SentPacket, StreamsConfig,
    TargetRateConstraints, TransportLossReport, TransportPacketsFeedback,
};
use goog_cc::units::{DataRate, DataSize, TimeDelta, Timestamp};
use goog_cc::{GoogCcConfig, GoogCcNetworkController};
use std::collections::BTreeMap;

/// The intervals of `on_process_interval` per second (get_process_interval).
const PER_SECOND: f64 = 40.0;

struct GoogCc {
    controller: GoogCcNetworkController,
    target: DataRate,
    pacing: Option<DataRate>,
    /// All probe clusters, and those that are not yet passed on.
    clusters: BTreeMap<u32, PacedPacketInfo>,
    probes: Vec<Probe>,
    in_flight: i64,
    last_report: f64,
    next_process: f64,
}

fn time(seconds: f64) -> Timestamp {
    Timestamp::from_micros((seconds * 1e6).round() as i64)
}

fn rate(bps: f64) -> DataRate {
    DataRate::from_bits_per_sec(bps as i64)
}

impl GoogCc {
    fn new(call: &Configuration) -> Self {
        let constraints = TargetRateConstraints {
            at_time: time(0.0),
            min_data_rate: Some(rate(call.min_rate)),
            max_data_rate: Some(rate(call.max_rate)),
            starting_rate: Some(rate(call.start_rate)),
        };
        let streams = StreamsConfig {
            at_time: time(0.0),
            requests_alr_probing: Some(true),
            ..StreamsConfig::default()
        };
        let config = NetworkControllerConfig {
            constraints,
            stream_based_config: streams,
            ..NetworkControllerConfig::default()
        };
        let mut this = Self {
            controller: GoogCcNetworkController::new(config, GoogCcConfig::default()),
            target: rate(call.start_rate),
            pacing: None,
            clusters: BTreeMap::new(),
            probes: Vec::new(),
            in_flight: 0,
            last_report: 0.0,
            next_process: 0.0,
        };
        let up = NetworkAvailability { at_time: time(0.0), network_available: true };
        let update = this.controller.on_network_availability(up);
        this.apply(update);
        this.on_timeout(0.0);
        this
    }

    fn apply(&mut self, update: NetworkControlUpdate) {
        if let Some(target) = update.target_rate {
            self.target = target.target_rate;
        }
        if let Some(pacer) = update.pacer_config {
            self.pacing = Some(pacer.data_rate());
        }
        for cluster in update.probe_cluster_configs {
            self.announce(&cluster);
        }
    }

    fn announce(&mut self, cluster: &ProbeClusterConfig) {
        let id = cluster.id as u32;
        let bytes = (cluster.target_data_rate * cluster.target_duration).bytes();
        let packets = cluster.target_probe_count;
        let mut info = PacedPacketInfo::new(cluster.id, packets.into(), bytes);
        info.send_bitrate = cluster.target_data_rate;
        self.clusters.insert(id, info);
        self.probes.push(Probe {
            id,
            rate: cluster.target_data_rate.bps() as f64,
            min_duration: cluster.target_duration.us() as f64 / 1e6,
            min_packets: packets as u32,
        });
    }

    fn sent(&self, packet: &Packet) -> SentPacket {
        let cluster = packet.probe.and_then(|probe| self.clusters.get(&probe));
        SentPacket {
            send_time: time(packet.sent),
            size: DataSize::from_bytes(packet.size as i64),
            pacing_info: cluster.copied().unwrap_or_default(),
            sequence_number: packet.sequence as i64,
            data_in_flight: DataSize::from_bytes(self.in_flight),
            ..SentPacket::default()
        }
    }
}

impl Estimator for GoogCc {
    fn on_allocation(&mut self, now: f64, min: f64, max: f64) {
        let update = self.controller.on_streams_config(StreamsConfig {
            at_time: time(now),
            min_total_allocated_bitrate: Some(rate(min)),
            max_total_allocated_bitrate: Some(rate(max)),
            ..StreamsConfig::default()
        });
        self.apply(update);
    }

    fn on_sent(&mut self, packet: &Packet) {
        self.in_flight += packet.size as i64;
        let sent = self.sent(packet);
        let update = self.controller.on_sent_packet(sent);
        self.apply(update);
    }

    fn on_feedback(&mut self, now: f64, feedback: &Feedback) {
        let at = time(now);
        let update = match feedback {
            Feedback::Packets { results } => {
                self.in_flight -= results.iter().map(|packet| packet.size as i64).sum::<i64>();
                if results.iter().all(|packet| packet.arrival.is_none()) {
                    return;
                }
                let result = |packet: &Packet| PacketResult {
                    sent_packet: self.sent(packet),
                    receive_time: packet.arrival.map_or(Timestamp::plus_infinity(), time),
                    ..PacketResult::default()
                };
                let feedback = TransportPacketsFeedback {
                    feedback_time: at,
                    data_in_flight: DataSize::from_bytes(self.in_flight),
                    packet_feedbacks: results.iter().map(result).collect(),
                    sendless_arrival_times: Vec::new(),
                };
                self.controller.on_transport_packets_feedback(feedback)
            }
            Feedback::Report { fraction_lost, expected, rtt } => {
                let lost = (fraction_lost * *expected as f64).round() as u64;
                let report = TransportLossReport {
                    receive_time: at,
                    start_time: time(self.last_report),
                    end_time: at,
                    packets_lost_delta: lost,
                    packets_received_delta: expected.saturating_sub(lost),
                };
                self.last_report = now;
                let update = self.controller.on_transport_loss_report(report);
                self.apply(update);
                let Some(rtt) = rtt.filter(|rtt| *rtt > 1e-6) else { return };
                self.controller.on_round_trip_time_update(RoundTripTimeUpdate {
                    receive_time: at,
                    round_trip_time: TimeDelta::from_micros((rtt * 1e6).round() as i64),
                    smoothed: false,
                })
            }
            Feedback::Remb { rate: bps } => {
                self.controller.on_remote_bitrate_report(RemoteBitrateReport {
                    receive_time: at,
                    bandwidth: rate(*bps),
                })
            }
        };
        self.apply(update);
    }

    fn on_timeout(&mut self, now: f64) {
        let interval = ProcessInterval { at_time: time(now), pacer_queue: None };
        let update = self.controller.on_process_interval(interval);
        self.apply(update);
        // The next multiple of the interval, however the time was rounded.
        self.next_process = ((now * PER_SECOND + 0.5).floor() + 1.0) / PER_SECOND;
    }

    fn answer(&mut self, now: f64) -> Answer {
        // Feedback of the same time comes first.
        if self.next_process <= now + 1e-9 {
            self.on_timeout(now);
        }
        Answer {
            target_rate: self.target.bps() as f64,
            pacing_rate: self.pacing.map(|pacing| pacing.bps() as f64),
            probes: std::mem::take(&mut self.probes),
            next_timeout: Some(self.next_process),
            ..Answer::default()
        }
    }
}

fn main() -> std::io::Result<()> {
    serve(GoogCc::new)
}
