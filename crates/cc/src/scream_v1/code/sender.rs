//! The sender: feeds the stages and combines their decisions.

use super::config::ScreamV1CodeConfig;
use super::delay::Delay;
use super::in_flight::InFlight;
use super::l4s_alpha::L4sAlpha;
use super::rates::Rates;
use super::target_rate::{self, Event, TargetRate};
use super::window::{self, Sign, Window};
use crate::scream_v2::flight::{Fate, Flight};
use crate::scream_v2::media_queue::MediaQueue;
use crate::scream_v2::rtt::Rtt;
use crate::scream_v2::{EcnMode, LossDetection, RttFilter, ntp};
use crate::{
    Allocation, ControllerConfig, Decision, Ecn, Feedback, MediaFrame, PacketResult, SentPacket,
    SignalSink,
};
use units::{Bitrate, Bytes, Time};

/// After a frame the target is updated once more if the window was updated within this time, in
/// ticks: 0.5 s (`newMediaFrame`).
const RECENT: u64 = 32_768;
/// Gain of the average frame size, and the size from which frames raise the pacing rate
/// (`kFrameSizeAvgAlpha`, `newMediaFrame`).
const FRAME_GAIN: f64 = 1.0 / 32.0;
const MIN_FRAME: f64 = 500.0;
/// Pacing rate of a sender that does not pace, as a multiple of the greatest rate: our choice, ten
/// times as fast.
const UNPACED: f64 = 10.0;

pub(crate) struct CodeSender {
    config: ScreamV1CodeConfig,
    max_rate: Bitrate,
    stall: u64,
    reaction_interval: u64,
    update_interval: u64,
    started: bool,
    flight: Flight,
    rtt: Rtt,
    delay: Delay,
    alpha: L4sAlpha,
    in_flight: InFlight,
    window: Window,
    rate: TargetRate,
    rates: Rates,
    queue: MediaQueue,
    newest_frame: u64,
    frame_average: f64,
    /// The factor of the newest frame, and the one in use since the last update of the window.
    frame_scale: f64,
    scale: f64,
    new_frame: bool,
    lost: bool,
    marked: bool,
    /// Signs of congestion since the last update of the target.
    lost_event: bool,
    marked_event: bool,
    /// Share of the window in flight at the last update of the window.
    share: f64,
    /// In bit/s; `None`: packets are not paced.
    pacing: Option<f64>,
    reacted: u64,
    sent: u64,
    greatest_packet: u64,
    lost_packets: u64,
}

impl CodeSender {
    pub(crate) fn new(config: &ScreamV1CodeConfig, rates: &ControllerConfig) -> Self {
        let all = [rates.min_rate, rates.start_rate, rates.max_rate].map(Bitrate::as_bps_f64);
        Self {
            max_rate: rates.max_rate,
            stall: ntp::nearest(config.stall),
            reaction_interval: ntp::nearest(config.reaction_interval),
            update_interval: ntp::nearest(config.update_interval),
            started: false,
            flight: Flight::new(LossDetection::Spaced, config.reordering),
            rtt: Rtt::new(RttFilter::TwoStage, config.rtt_initial),
            delay: Delay::new(config),
            alpha: L4sAlpha::new(config.l4s_gain, config.l4s_alpha),
            in_flight: InFlight::new(config.head_room_window.as_millis() / 1000),
            window: Window::new(config),
            rate: TargetRate::new(config, all),
            rates: Rates::new(),
            queue: MediaQueue::default(),
            newest_frame: 0,
            frame_average: 0.0,
            frame_scale: 1.0,
            scale: 1.0,
            new_frame: false,
            lost: false,
            marked: false,
            lost_event: false,
            marked_event: false,
            share: 0.0,
            pacing: None,
            reacted: 0,
            sent: 0,
            greatest_packet: 0,
            lost_packets: 0,
            config: config.clone(),
        }
    }

    /// The first event sets all clocks.
    fn start(&mut self, now: u64) {
        if self.started {
            return;
        }
        self.started = true;
        self.rtt.start(now);
        self.delay.start(now);
        self.alpha.start(now);
        self.rates.start(now);
        (self.reacted, self.sent) = (now, now);
    }

    fn is_l4s(&self) -> bool {
        self.config.ecn == EcnMode::Ect1
    }

    /// What is done each time before packets may leave: rates, MSS, and a new start after silence.
    fn tick(&mut self, now: u64) {
        self.start(now);
        self.rates.update(now, self.rate.target);
        if self.in_flight.on_poll(now, self.flight.bytes) {
            self.window.measure_again();
        }
        let is_silent = now.saturating_sub(self.sent) > self.stall;
        if is_silent && self.flight.bytes > 0 && !self.queue.is_empty() {
            self.flight.forget();
        }
    }

    fn on_packets(&mut self, now: u64, results: &[PacketResult]) {
        self.start(now);
        let arrived = |result: &PacketResult| Some((result.packet.sequence, result.arrival?));
        let Some((highest, _)) = results.iter().rev().find_map(arrived) else { return };
        let (mut marked, mut in_flight) = (false, self.flight.bytes);
        for result in results {
            let Some((sequence, arrival)) = arrived(result) else { continue };
            in_flight = self.flight.bytes;
            self.in_flight.on_report(in_flight);
            let is_marked = result.ecn == Ecn::Ce;
            let acknowledged = self.flight.acknowledge(now, sequence, is_marked, self.rtt.ticks());
            let Some(packet) = acknowledged else { continue };
            marked |= is_marked;
            self.alpha.on_delivered(packet.size, is_marked);
            self.delay.on_acknowledged(now, packet.sent, ntp::ticks(arrival));
            if sequence == highest {
                self.rtt.on_sample(now, now.saturating_sub(packet.sent), false);
            } else if packet.last {
                self.detect_losses(now, sequence);
            }
        }
        self.detect_losses(now, highest);
        self.respond(now, marked, in_flight);
    }

    fn detect_losses(&mut self, now: u64, highest: u64) {
        let acked = self.flight.newly_acked;
        let mut lost = 0;
        self.flight.advance(now, highest, |fate| lost += u64::from(fate != Fate::Arrived));
        self.lost |= lost > 0 && now.saturating_sub(self.reacted) > self.rtt.ticks();
        self.lost_packets += lost;
        self.rates.on_acked(self.flight.newly_acked - acked);
    }

    /// The reaction to congestion, and the update of the window.
    fn respond(&mut self, now: u64, marked: bool, in_flight: u64) {
        let interval = self.reaction_interval.min(self.rtt.ticks());
        self.marked |= marked && now.saturating_sub(self.reacted) > interval;
        if self.is_l4s() {
            self.alpha.update(now, interval);
        }
        if self.lost || self.marked {
            self.reacted = now;
            // A loss that the target has not met yet counts before a later mark.
            (self.lost_event, self.marked_event) =
                (self.lost_event || self.lost, self.marked_event || !self.lost);
        }
        let is_due = self.window.is_due(now, self.update_interval);
        if is_due || self.lost || self.marked || self.new_frame {
            self.share = (in_flight as f64 / self.window.get().max(1) as f64).min(1.0);
            self.update(now);
            self.new_frame = false;
        }
    }

    fn update(&mut self, now: u64) {
        let sampled = self.delay.update(now);
        self.pace();
        let (acked, _) = self.flight.take_acked();
        let in_flight = self.flight.bytes;
        let trend = self.delay.trend.trend;
        if sampled {
            self.window.set_limit(self.in_flight.mixed(in_flight + acked, trend));
        }
        let sign = match (self.lost, self.marked, self.is_l4s()) {
            (true, ..) => Sign::Loss,
            (false, true, true) => Sign::L4s(self.alpha.average),
            (false, true, false) => Sign::Classic,
            (false, false, _) => Sign::None,
        };
        let situation = window::Situation {
            now,
            acked,
            in_flight,
            off_target: self.delay.off_target(),
            trend,
            rate: self.rates.current(),
        };
        let factor = self.window.update(sign, &situation);
        if factor < 1.0 {
            self.rate.scale(factor);
        }
        // The code handles one sign per update: a mark beside a loss only updates the target.
        if self.lost && self.marked {
            self.update_rate(now);
        }
        (self.lost, self.marked) = (false, false);
    }

    /// Sets the pacing rate.
    fn pace(&mut self) {
        self.scale = 1.0;
        self.pacing = None;
        if self.delay.trend.average > self.config.pacing_threshold || self.is_l4s() {
            self.scale = self.frame_scale;
            let rate = self.rate.target.max(self.rates.media);
            let rate = self.config.pacing_head_room * self.scale * rate;
            self.pacing = Some(rate.max(self.config.pace_min.as_bps_f64()));
        }
    }

    /// Updates the target rate, and empties the queue that the sender discards. An endpoint that
    /// does not discard corrects the queue with the next frame.
    fn update_rate(&mut self, now: u64) {
        let ratio = self.window.mss as f64 / self.window.get().max(1) as f64;
        let event = match (self.lost_event, self.marked_event, self.is_l4s()) {
            (true, ..) => Event::Loss,
            (false, true, true) => Event::L4s(self.alpha.average),
            (false, true, false) => Event::Classic,
            (false, false, _) => Event::None,
        };
        (self.lost_event, self.marked_event) = (false, false);
        let situation = target_rate::Situation {
            now,
            event,
            queue: &self.queue,
            frame: self.newest_frame,
            in_flight: self.share,
            ratio: if self.is_l4s() { ratio } else { 0.0 },
            fast_increase: self.window.fast_increase,
            post_congestion: self.window.post_congestion,
            trend: self.delay.trend.trend,
        };
        if self.rate.update(&situation, &self.rates) {
            self.queue.clear();
            self.rates.correction = 1.0;
        }
    }

    /// The target that the encoder knows, with the correction for the encoder.
    fn encoder_rate(&self) -> f64 {
        self.rates.correction * self.rate.told
    }

    /// A frame came while `queued` bytes wait.
    fn measure_frame(&mut self, size: f64, queued: f64) {
        self.frame_average = if self.frame_average == 0.0 {
            size
        } else {
            self.frame_average + FRAME_GAIN * (size - self.frame_average)
        };
        self.frame_scale = if self.frame_average > MIN_FRAME {
            let scale = queued.max(size) / self.frame_average;
            scale.clamp(1.0, self.config.pacing_frame_size)
        } else {
            1.0
        };
    }
}

impl crate::Sender for CodeSender {
    fn on_sent(&mut self, packet: &SentPacket) {
        let (now, size) = (ntp::ticks(packet.sent), packet.size.get());
        self.tick(now);
        let frame = self.queue.on_sent(size);
        self.flight.on_sent(now, packet.sequence, size, frame);
        self.rates.on_sent(size);
        self.sent = now;
        self.greatest_packet = self.greatest_packet.max(size);
        self.window.on_packet(size);
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
        let (min, max) = self.rate.bounds();
        let pacing = self.pacing.unwrap_or(UNPACED * max);
        Decision {
            target_rate: Bitrate::from_bps_f64(self.encoder_rate().clamp(min, max)),
            pacing_rate: Bitrate::from_bps_f64(pacing.max(min)),
            probe: None,
        }
    }

    fn on_frame(&mut self, now: Time, frame: &MediaFrame) {
        let (now, size) = (ntp::ticks(now), frame.size.get());
        self.start(now);
        self.new_frame = true;
        self.queue.on_frame(now, size, frame.queued.get());
        self.newest_frame = size;
        self.measure_frame(size as f64, self.queue.bytes() as f64);
        self.update_rate(now);
        if self.window.updated().is_some_and(|updated| now.saturating_sub(updated) < RECENT) {
            self.update_rate(now);
        }
        self.rates.on_frame(size);
        // The next packet: the code knows its size, here it is the greatest so far.
        self.window.on_packet(self.greatest_packet.min(self.queue.bytes()));
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
        let more = if self.delay.newest < self.delay.target { self.window.mss } else { 0 };
        let allowed = (self.window.get() as f64 * self.scale) as u64 + more;
        Some(Bytes::new(allowed.saturating_sub(self.flight.bytes)))
    }

    fn ecn(&self) -> Ecn {
        self.config.ecn.field()
    }

    fn signals(&self, sink: &mut SignalSink<'_>) {
        sink("cwnd", self.window.get() as f64);
        sink("in_fast_increase", f64::from(u8::from(self.window.fast_increase)));
        sink("bytes_in_flight", self.flight.bytes as f64);
        sink("max_bytes_in_flight", self.window.limit);
        sink("qdelay", self.delay.newest);
        sink("qdelay_target", self.delay.target);
        sink("qdelay_fraction_avg", self.delay.trend.average);
        sink("qdelay_trend", self.delay.trend.trend);
        sink("s_rtt", self.rtt.seconds());
        sink("l4s_alpha", self.alpha.average);
        sink("fraction_marked", self.alpha.fraction);
        sink("post_congestion_scale", self.window.post_congestion);
        sink("target_bitrate", self.rate.target);
        sink("target_bitrate_last_max", self.rate.inflection);
        sink("encoder_rate", self.encoder_rate());
        sink("pacing_rate", self.pacing.unwrap_or(0.0));
        sink("rate_transmit", self.rates.sent);
        sink("rate_ack", self.rates.acked);
        sink("rate_media", self.rates.media);
        sink("rtp_queue_size", self.queue.bytes() as f64);
        sink("lost_packets", self.lost_packets as f64);
        sink("mss", self.window.mss as f64);
    }
}
