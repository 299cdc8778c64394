//! A minimal bottleneck for controllers: a source that sends at the target rate, a queue of a given
//! rate, and feedback after a round trip.

#![allow(
    dead_code,
    unreachable_pub,
    clippy::unwrap_used,
    reason = "each test file uses what it needs, and fails if it cannot be set up"
)]

use cc::{
    ArrivedPacket, ControllerConfig, Controllers, Feedback, MediaFrame, PacketResult, SentPacket,
};
use std::collections::VecDeque;
use units::{Bitrate, Bytes, Duration, Time};

pub const PACKET: Bytes = Bytes::new(1000);
const ONE_WAY: Duration = Duration::from_millis(25);
const FRAME: Duration = Duration::from_micros(33_333);
const REPORT: Duration = Duration::from_secs(1);
const FEEDBACK: Duration = Duration::from_millis(100);

pub fn config(profile: &str) -> ControllerConfig {
    ControllerConfig {
        profile: profile.to_owned(),
        settings: Vec::new(),
        start_rate: Bitrate::from_kbps(300),
        min_rate: Bitrate::from_kbps(30),
        max_rate: Bitrate::from_mbps(20),
    }
}

/// A path: the rate at a time, and the loss of every n-th packet (0: no loss).
pub struct Path {
    pub rate: fn(Time) -> Bitrate,
    pub lose_every: u64,
    /// Maximum rate of the source.
    pub ceiling: Bitrate,
}

/// A controller that runs over a path.
pub struct Run {
    controllers: Controllers,
    path: Path,
    now: Time,
    sequence: u64,
    credit: Bytes,
    queue_free: Time,
    arrivals: VecDeque<(Time, SentPacket, u64)>,
    results: Vec<PacketResult>,
    lost: u64,
    expected: u64,
    next_report: Time,
    next_feedback: Time,
    probe: (u32, u32),
}

impl Run {
    pub fn new(config: &ControllerConfig, path: Path) -> Self {
        Self {
            controllers: cc::build(config).unwrap(),
            path,
            now: Time::ZERO,
            sequence: 0,
            credit: Bytes::ZERO,
            queue_free: Time::ZERO,
            arrivals: VecDeque::with_capacity(4096),
            results: Vec::with_capacity(4096),
            lost: 0,
            expected: 0,
            next_report: Time::ZERO + REPORT,
            next_feedback: Time::ZERO + FEEDBACK,
            probe: (0, 0),
        }
    }

    pub fn target(&self) -> Bitrate {
        self.controllers.sender.decision().target_rate
    }

    pub fn now(&self) -> Time {
        self.now
    }

    /// Queuing delay of a packet that is sent now.
    pub fn queue_delay(&self) -> Duration {
        self.queue_free.saturating_since(self.now)
    }

    /// The internal signals in their order.
    pub fn signals(&self, sink: &mut dyn FnMut(&'static str, f64)) {
        self.controllers.sender.signals(sink);
        if let Some(receiver) = &self.controllers.receiver {
            receiver.signals(sink);
        }
    }

    /// Sends one frame, carries packets over the path, and delivers feedback.
    pub fn frame(&mut self) {
        let end = self.now + FRAME;
        self.send();
        while let Some(&(arrival, packet, timestamp)) = self.arrivals.front()
            && arrival <= end
        {
            self.arrivals.pop_front();
            self.arrive(arrival, packet, timestamp);
        }
        self.now = end;
        self.timeouts();
        self.report();
    }

    fn send(&mut self) {
        let decision = self.controllers.sender.decision();
        let target = decision.target_rate.min(self.path.ceiling);
        self.credit += target.bytes_in(FRAME);
        if let Some(cluster) = decision.probe.filter(|cluster| cluster.id > self.probe.0) {
            let packets = cluster.rate.bytes_in(cluster.min_duration).get().div_ceil(PACKET.get());
            self.probe = (cluster.id, cluster.min_packets.max(u32::try_from(packets).unwrap()));
            self.credit += PACKET * u64::from(self.probe.1);
        }
        let timestamp = self.now.as_nanos() / 11_111;
        let size = PACKET * (self.credit.get() / PACKET.get());
        self.controllers.sender.on_frame(self.now, &MediaFrame { size, queued: size });
        let mut at = self.now;
        while self.credit >= PACKET {
            self.credit -= PACKET;
            let probe = (self.probe.1 > 0).then_some(self.probe.0);
            self.probe.1 = self.probe.1.saturating_sub(1);
            let packet = SentPacket { sequence: self.sequence, sent: at, size: PACKET, probe };
            self.controllers.sender.on_sent(&packet);
            self.forward(at, packet, timestamp);
            self.sequence += 1;
            let pace = match decision.probe {
                Some(cluster) if probe.is_some() => cluster.rate,
                _ => decision.pacing_rate.max(target),
            };
            at += pace.time_to_send(PACKET).unwrap().min(Duration::from_millis(5));
        }
    }

    fn forward(&mut self, at: Time, packet: SentPacket, timestamp: u64) {
        self.expected += 1;
        let drop = self.path.lose_every > 0 && packet.sequence.is_multiple_of(self.path.lose_every);
        let start = self.queue_free.max(at);
        if drop || start.saturating_since(at) > Duration::from_millis(350) {
            self.lost += 1;
            self.results.push(PacketResult { packet, arrival: None, ecn: cc::Ecn::NotEct });
            return;
        }
        self.queue_free = start + (self.path.rate)(at).time_to_send(PACKET).unwrap();
        self.arrivals.push_back((self.queue_free + ONE_WAY, packet, timestamp));
    }

    fn arrive(&mut self, arrival: Time, packet: SentPacket, timestamp: u64) {
        self.results.push(PacketResult { packet, arrival: Some(arrival), ecn: cc::Ecn::NotEct });
        if let Some(receiver) = &mut self.controllers.receiver {
            let arrived = ArrivedPacket {
                sequence: packet.sequence,
                sent: packet.sent,
                arrival,
                size: packet.size,
                rtp_timestamp: timestamp,
                probe: packet.probe,
                ecn: cc::Ecn::NotEct,
            };
            receiver.on_packet(&arrived, Some(ONE_WAY * 2));
            self.answer(arrival);
        }
    }

    fn answer(&mut self, at: Time) {
        let feedback = self.controllers.receiver.as_mut().and_then(|receiver| receiver.poll(at));
        if let Some(feedback) = feedback {
            self.controllers.sender.on_feedback(at + ONE_WAY, feedback.into());
        }
    }

    fn timeouts(&mut self) {
        let now = self.now;
        if let Some(receiver) = &mut self.controllers.receiver
            && receiver.next_timeout().is_some_and(|at| at <= now)
        {
            receiver.on_timeout(now);
            self.answer(now);
        }
        let sender = &mut self.controllers.sender;
        if sender.next_timeout().is_some_and(|at| at <= now) {
            sender.on_timeout(now);
        }
    }

    fn report(&mut self) {
        let rtt = Some(ONE_WAY * 2);
        if self.now >= self.next_feedback {
            self.next_feedback = self.now + FEEDBACK;
            if self.controllers.transport_feedback {
                self.results.sort_unstable_by_key(|result| result.packet.sequence);
                let feedback = Feedback::Packets { results: &self.results, rtt };
                self.controllers.sender.on_feedback(self.now, feedback);
            }
            self.results.clear();
        }
        if self.now >= self.next_report {
            self.next_report = self.now + REPORT;
            let fraction_lost = (256 * self.lost / self.expected.max(1)) as f64 / 256.0;
            let feedback = Feedback::Report { fraction_lost, expected: self.expected, rtt };
            self.controllers.sender.on_feedback(self.now, feedback);
            (self.lost, self.expected) = (0, 0);
        }
    }
}
