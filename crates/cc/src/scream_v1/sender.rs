//! The sender: feeds the stages and combines their decisions.

use super::config::{EcnMode, ScreamV1Config};
use super::congestion_window::CongestionWindow;
use super::media_rate::MediaRate;
use super::queue_delay_trend::QueueDelayTrend;
use super::rates::Rates;
use crate::scream_v2::LossDetection;
use crate::scream_v2::competing_flows::CompetingFlows;
use crate::scream_v2::flight::{Fate, Flight};
use crate::scream_v2::media_queue::MediaQueue;
use crate::scream_v2::ntp;
use crate::scream_v2::queue_delay::BaseDelay;
use crate::{
    Allocation, ControllerConfig, Decision, Ecn, Feedback, MediaFrame, PacketResult, SentPacket,
    SignalSink,
};
use units::{Bitrate, Bytes, Duration, Time};

/// 50 ms in ticks: the interval of the samples of the queue delay (§ 4.1.2).
const SAMPLE: u64 = 3276;
/// Parts of the window of the greatest bytes in flight.
const PARTS: usize = 5;

pub(crate) struct ScreamV1Sender {
    config: ScreamV1Config,
    max_rate: Bitrate,
    stall: u64,
    started: bool,
    flight: Flight,
    base: BaseDelay,
    /// In s.
    delay: f64,
    /// In ticks; 0 before the first sample.
    rtt: u64,
    trend: QueueDelayTrend,
    competing: CompetingFlows,
    window: CongestionWindow,
    rate: MediaRate,
    rates: Rates,
    queue: MediaQueue,
    /// Greatest bytes in flight of the parts, newest first.
    in_flight: [u64; PARTS],
    part: u64,
    part_began: u64,
    reacted: u64,
    round_trip: u64,
    lost_in_round_trip: bool,
    sampled: u64,
    sent: u64,
    lost_packets: u64,
}

impl ScreamV1Sender {
    pub(crate) fn new(config: &ScreamV1Config, rates: &ControllerConfig) -> Self {
        let all = [rates.min_rate, rates.start_rate, rates.max_rate].map(Bitrate::as_bps_f64);
        let (low, high) = (config.target_lo.as_secs_f64(), config.target_hi.as_secs_f64());
        Self {
            max_rate: rates.max_rate,
            stall: ntp::span(config.stall),
            started: false,
            flight: Flight::new(LossDetection::Adaptive, Duration::ZERO),
            base: BaseDelay::new(config.base_step, config.base_entries),
            delay: 0.0,
            rtt: 0,
            trend: QueueDelayTrend::new(config.weight),
            competing: CompetingFlows::new(config.competing_flows, low, high),
            window: CongestionWindow::new(config),
            rate: MediaRate::new(config, all),
            rates: Rates::new(),
            queue: MediaQueue::default(),
            in_flight: [0; PARTS],
            part: ntp::span(config.head_room_window) / PARTS as u64,
            part_began: 0,
            reacted: 0,
            round_trip: 0,
            lost_in_round_trip: false,
            sampled: 0,
            sent: 0,
            lost_packets: 0,
            config: config.clone(),
        }
    }

    fn start(&mut self, now: u64) {
        if !self.started {
            self.started = true;
            self.rate.start(now);
            self.rates.start(now);
            (self.sampled, self.part_began, self.sent) = (now, now, now);
            self.round_trip = now;
        }
    }

    /// Rates, samples, and a new start after silence.
    fn tick(&mut self, now: u64) {
        self.start(now);
        self.rates.update(now);
        if now.saturating_sub(self.sampled) >= SAMPLE {
            self.sampled = now;
            self.trend.on_sample(self.delay / self.competing.target());
            self.competing.on_sample(self.delay);
            self.window.on_trend(now, self.trend.trend);
        }
        if now.saturating_sub(self.part_began) >= self.part {
            self.part_began = now;
            self.in_flight.rotate_right(1);
            self.in_flight[0] = self.flight.bytes;
        }
        let queued = 8.0 * self.queue.bytes() as f64;
        let fast = self.window.is_fast();
        self.rate.adjust(now, fast, &self.rates, &self.trend, queued);
        let is_silent = now.saturating_sub(self.sent) > self.stall;
        if is_silent && self.flight.bytes > 0 && !self.queue.is_empty() {
            self.flight.forget();
        }
    }

    fn on_packets(&mut self, now: u64, results: &[PacketResult]) {
        self.start(now);
        let arrived = |result: &PacketResult| Some((result.packet.sequence, result.arrival?));
        let Some((highest, _)) = results.iter().rev().find_map(arrived) else { return };
        let mut marked = false;
        for result in results {
            let Some((sequence, arrival)) = arrived(result) else { continue };
            let is_marked = result.ecn == Ecn::Ce;
            let acknowledged = self.flight.acknowledge(now, sequence, is_marked, self.rtt);
            let Some(packet) = acknowledged else { continue };
            marked |= is_marked;
            self.delay = self.base.queued(now, packet.sent, ntp::ticks(arrival));
            if sequence == highest {
                let sample = now.saturating_sub(packet.sent);
                self.rtt = if self.rtt == 0 { sample } else { (7 * self.rtt + sample) / 8 };
            }
        }
        self.trend.on_acknowledged(self.delay / self.competing.target());
        let in_flight = self.flight.bytes;
        let mut lost = 0;
        self.flight.advance(now, highest, |fate| lost += u64::from(fate != Fate::Arrived));
        self.lost_packets += lost;
        let (acked, _) = self.flight.take_acked();
        self.rates.on_acked(acked);
        self.respond(now, (lost > 0, marked), acked, in_flight);
        self.tick(now);
    }

    /// Losses and marks count at most once per round-trip time (§ 4.1.2.1).
    fn respond(&mut self, now: u64, (lost, marked): (bool, bool), acked: u64, in_flight: u64) {
        let may_react = now.saturating_sub(self.reacted) > self.rtt;
        self.lost_in_round_trip |= lost;
        if now.saturating_sub(self.round_trip) > self.rtt {
            self.competing.on_round_trip(self.lost_in_round_trip);
            self.lost_in_round_trip = false;
            self.round_trip = now;
        }
        if lost && may_react {
            self.window.on_loss();
            self.rate.on_loss();
            self.reacted = now;
        } else if marked && may_react {
            self.window.on_mark();
            self.rate.on_mark();
            self.reacted = now;
        } else {
            let target = self.competing.target();
            let off_target = (target - self.delay) / target;
            let greatest = self.in_flight.iter().copied().max().unwrap_or(0);
            let trend = self.trend.trend;
            let ended = self.window.on_acknowledged(acked, in_flight, off_target, trend, greatest);
            if ended {
                self.rate.on_congestion();
            }
        }
    }
}

impl crate::Sender for ScreamV1Sender {
    fn on_sent(&mut self, packet: &SentPacket) {
        let (now, size) = (ntp::ticks(packet.sent), packet.size.get());
        self.tick(now);
        let frame = self.queue.on_sent(size);
        self.flight.on_sent(now, packet.sequence, size, frame);
        self.in_flight[0] = self.in_flight[0].max(self.flight.bytes);
        self.rates.on_sent(size);
        self.sent = now;
    }

    fn on_feedback(&mut self, now: Time, feedback: Feedback<'_>) {
        if let Feedback::Packets { results, .. } = feedback {
            self.on_packets(ntp::ticks(now), results);
        }
    }

    fn on_timeout(&mut self, now: Time) {
        self.tick(ntp::ticks(now));
    }

    fn next_timeout(&self) -> Option<Time> {
        let waits = self.flight.bytes > 0 && !self.queue.is_empty();
        waits.then(|| ntp::time(self.sent.saturating_add(self.stall + 1)))
    }

    fn decision(&self) -> Decision {
        let pacing = self.window.pacing(ntp::seconds(self.rtt)).max(self.rate.bounds().0);
        Decision {
            target_rate: Bitrate::from_bps_f64(self.rate.target),
            pacing_rate: Bitrate::from_bps_f64(pacing),
            probe: None,
        }
    }

    fn on_frame(&mut self, now: Time, frame: &MediaFrame) {
        let (now, size) = (ntp::ticks(now), frame.size.get());
        self.start(now);
        self.queue.on_frame(now, size, frame.queued.get());
        self.rates.on_frame(size);
        self.tick(now);
    }

    fn on_allocation(&mut self, _now: Time, allocation: Allocation) {
        if allocation.max_rate > Bitrate::ZERO {
            self.rate.set_max(allocation.max_rate.min(self.max_rate).as_bps_f64());
        }
    }

    fn send_window(&self) -> Option<Bytes> {
        if self.flight.bytes == 0 {
            return Some(Bytes::new(u64::MAX));
        }
        let allowed = self.window.allowed(self.delay <= self.competing.target());
        Some(Bytes::new((allowed as u64).saturating_sub(self.flight.bytes)))
    }

    fn ecn(&self) -> Ecn {
        match self.config.ecn {
            EcnMode::NotEct => Ecn::NotEct,
            EcnMode::Ect0 => Ecn::Ect0,
        }
    }

    fn signals(&self, sink: &mut SignalSink<'_>) {
        sink("cwnd", self.window.get());
        sink("in_fast_increase", f64::from(u8::from(self.window.is_fast())));
        sink("bytes_in_flight", self.flight.bytes as f64);
        sink("max_bytes_in_flight", self.in_flight.iter().copied().max().unwrap_or(0) as f64);
        sink("qdelay", self.delay);
        sink("qdelay_target", self.competing.target());
        sink("qdelay_fraction_avg", self.trend.average);
        sink("qdelay_trend", self.trend.trend);
        sink("qdelay_trend_mem", self.trend.memory);
        sink("s_rtt", ntp::seconds(self.rtt));
        sink("target_bitrate", self.rate.target);
        sink("target_bitrate_last_max", self.rate.last_max);
        sink("rate_transmit", self.rates.transmitted);
        sink("rate_ack", self.rates.acked);
        sink("rate_media", self.rates.media);
        sink("rate_media_median", self.rates.median);
        sink("rtp_queue_size", self.queue.bytes() as f64);
        sink("lost_packets", self.lost_packets as f64);
    }
}
