//! The sender: feeds the stages and combines their decisions.

use super::competing_flows::CompetingFlows;
use super::config::{DelayReaction, EcnMode, LossDetection, ScreamV2Config};
use super::flight::{Fate, Flight};
use super::frame_size::FrameSize;
use super::l4s_alpha::L4sAlpha;
use super::media_queue::MediaQueue;
use super::media_rate::MediaRate;
use super::ntp;
use super::queue_delay::QueueDelay;
use super::rates::Rates;
use super::reference_window::{Congestion, ReferenceWindow, Situation};
use super::rtt::Rtt;
use super::transmission::Transmission;
use crate::{
    Allocation, ControllerConfig, Decision, Ecn, Feedback, MediaFrame, PacketResult, SentPacket,
    SignalSink,
};
use units::{Bitrate, Bytes, Duration, Time};

/// 50 ms, in whole ticks (the code, `kSlowUpdateInterval`).
const SLOW_INTERVAL: u64 = 3277;
/// Maxima of the bytes in flight that are remembered near the greatest rate (the code,
/// `kMaxBytesInFlightHistSize`).
const IN_FLIGHT_HISTORY: usize = 20;
/// Share of the greatest rate from which the window is cut to the bytes in flight, and the time
/// that is added to the round-trip time there, in s (the code, `updateCwnd`).
const NEAR_MAX: f64 = 0.95;
const NEAR_MAX_MARGIN: f64 = 0.001;
/// Least time of the halved rate before the base delay is reset, in ticks: 100 ms, or 5 round-trip
/// times (the code, `getTargetBitrate`).
const HALVED: u64 = 6554;
const HALVED_RTTS: u64 = 5;
/// Least time between two discards of the sender's queue, in ticks: 250 ms (the code,
/// `kMinRtpQueueDiscardInterval`).
const DISCARD_INTERVAL: u64 = 16_384;
/// Share of the delay target that the slow minimum must exceed for that.
const STANDING: f64 = 1.0 / 8.0;
/// Weights of a lost packet in the smoothed loss ratio (the code, `calculateLossRate`): MSS/window
/// halved, at most a quarter of the threshold.
const LOSS_WEIGHT: f64 = 0.25;

pub(crate) struct ScreamV2Sender {
    config: ScreamV2Config,
    max_rate: Bitrate,
    reaction_interval: u64,
    update_interval: u64,
    stall: u64,
    base_reset: u64,
    discard_age: u64,
    discarded: u64,
    started: Option<u64>,
    flight: Flight,
    rtt: Rtt,
    delay: QueueDelay,
    alpha: L4sAlpha,
    competing: CompetingFlows,
    window: ReferenceWindow,
    transmission: Transmission,
    rate: MediaRate,
    rates: Rates,
    queue: MediaQueue,
    frame_size: FrameSize,
    new_frame: bool,
    lost: bool,
    loss_ratio: f64,
    lost_packets: u64,
    /// Maximum bytes in flight of this and of the last interval.
    in_flight: [u64; 2],
    in_flight_history: [u64; IN_FLIGHT_HISTORY],
    in_flight_next: usize,
    in_flight_renewed: u64,
    reacted: u64,
    updated: Option<u64>,
    slowly_updated: u64,
    round_trip: u64,
    lost_in_round_trip: bool,
    sent: u64,
    rate_limited: u64,
    halved: bool,
    can_reset: bool,
    reaction: Congestion,
}

impl ScreamV2Sender {
    pub(crate) fn new(config: &ScreamV2Config, rates: &ControllerConfig) -> Self {
        let all = [rates.min_rate, rates.start_rate, rates.max_rate].map(Bitrate::as_bps_f64);
        let (low, high) = (config.target_lo.as_secs_f64(), config.target_hi.as_secs_f64());
        let mut sender = Self {
            max_rate: rates.max_rate,
            reaction_interval: ntp::span(config.reaction_interval),
            update_interval: ntp::span(config.update_interval),
            stall: ntp::span(config.stall),
            base_reset: ntp::span(config.base_reset),
            discard_age: ntp::span(config.discard),
            discarded: 0,
            started: None,
            flight: Flight::new(config.loss_detection, config.reordering),
            rtt: Rtt::new(config.rtt_filter, config.rtt_initial),
            delay: QueueDelay::new(config),
            alpha: L4sAlpha::new(config),
            competing: CompetingFlows::new(config.competing_flows, low, high),
            window: ReferenceWindow::new(config),
            transmission: Transmission::new(config, all[1]),
            rate: MediaRate::new(config, all),
            rates: Rates::new(config.coder_correction),
            queue: MediaQueue::default(),
            frame_size: FrameSize::new(config.percentile),
            new_frame: false,
            lost: false,
            loss_ratio: 0.0,
            lost_packets: 0,
            in_flight: [0; 2],
            in_flight_history: [0; IN_FLIGHT_HISTORY],
            in_flight_next: 0,
            in_flight_renewed: 0,
            reacted: 0,
            updated: None,
            slowly_updated: 0,
            round_trip: 0,
            lost_in_round_trip: false,
            sent: 0,
            rate_limited: 0,
            halved: false,
            can_reset: false,
            reaction: Congestion::default(),
            config: config.clone(),
        };
        sender.open();
        sender
    }

    /// The first event sets all clocks.
    fn start(&mut self, now: u64) {
        if self.started.is_some() {
            return;
        }
        self.started = Some(now);
        self.rtt.start(now);
        self.delay.start(now);
        self.alpha.start(now);
        self.window.start(now);
        self.rates.start(now);
        self.slowly_updated = now;
        self.in_flight_renewed = now;
        self.reacted = now;
        self.round_trip = now;
        self.sent = now;
        self.rate_limited = now;
        self.discarded = now;
    }

    fn open(&mut self) {
        self.transmission.open(&self.window, self.frame_size.high);
    }

    /// What is done each time before packets may leave: rates, MSS, and a new start after silence.
    fn tick(&mut self, now: u64) {
        self.start(now);
        self.rates.update(now, self.rate.target);
        self.window.measure_mss(now);
        let is_silent = now.saturating_sub(self.sent) > self.stall;
        if is_silent && self.flight.bytes > 0 && !self.queue.is_empty() {
            self.flight.forget();
        }
        self.open();
    }

    /// The least time between two reactions.
    fn reaction_interval(&self) -> u64 {
        self.reaction_interval.min(self.rtt.ticks())
    }

    fn may_react(&self, now: u64) -> bool {
        now.saturating_sub(self.reacted) > self.reaction_interval()
    }

    fn on_packets(&mut self, now: u64, results: &[PacketResult]) {
        self.start(now);
        let arrived = |result: &PacketResult| Some((result.packet.sequence, result.arrival?));
        let Some((highest, _)) = results.iter().rev().find_map(arrived) else { return };
        let in_flight = self.flight.bytes;
        self.in_flight[0] = self.in_flight[0].max(in_flight);
        let mut marked = false;
        for result in results {
            let Some((sequence, arrival)) = arrived(result) else { continue };
            let is_marked = result.ecn == Ecn::Ce;
            let rtt = self.rtt.ticks();
            let Some(packet) = self.flight.acknowledge(now, sequence, is_marked, rtt) else {
                continue;
            };
            marked |= is_marked;
            self.alpha.on_delivered(is_marked);
            let target = self.competing.target();
            self.delay.on_acknowledged(now, packet.sent, ntp::ticks(arrival), target);
            if sequence == highest {
                let sample = now.saturating_sub(packet.sent);
                self.rtt.on_sample(now, sample, self.window.limited);
            } else if packet.last && self.config.loss_detection != LossDetection::Adaptive {
                self.detect_losses(now, sequence);
            }
        }
        self.detect_losses(now, highest);
        self.respond(now, marked, in_flight);
    }

    fn detect_losses(&mut self, now: u64, highest: u64) {
        let threshold = self.config.loss_threshold;
        let segments = self.window.mss() as f64 / self.window.get();
        let weight = (LOSS_WEIGHT * threshold).min(segments / 2.0);
        let may_react = now.saturating_sub(self.reacted) > self.rtt.ticks();
        let crowded = self.delay.average > self.competing.target() / 4.0;
        let acked = self.flight.newly_acked;
        let (mut ratio, mut lost, mut count) = (self.loss_ratio, self.lost, 0);
        self.flight.advance(now, highest, |fate| {
            let is_lost = fate != Fate::Arrived;
            if is_lost {
                count += 1;
                lost |= may_react && (threshold == 0.0 || ratio > threshold || crowded);
            }
            ratio += weight * (f64::from(u8::from(is_lost)) - ratio);
        });
        (self.loss_ratio, self.lost) = (ratio, lost);
        self.lost_packets += count;
        self.rates.on_acked(self.flight.newly_acked - acked);
    }

    /// The reaction to congestion, and the update of the window.
    fn respond(&mut self, now: u64, marked: bool, in_flight: u64) {
        let mut congestion = Congestion { lost: self.lost, ..Congestion::default() };
        if marked && self.may_react(now) {
            congestion.marked = true;
            self.reacted = now;
        }
        if self.config.ecn == EcnMode::Ect1 {
            self.alpha.update(now, self.rtt.ticks());
        } else {
            self.alpha.clear();
        }
        self.delay.update(now, self.reaction_interval(), self.rtt.ticks());
        if self.may_react(now) {
            congestion.delayed = self.delay_reaction(&congestion);
        }
        if self.config.ignore_draining && self.rtt.is_falling() && self.alpha.fraction == 1.0 {
            congestion.marked = false;
        }
        if congestion.is_any() {
            self.reacted = now;
        }
        self.reaction = congestion;
        let updated = *self.updated.get_or_insert(now);
        let interval = self.update_interval.min(self.rtt.ticks());
        let is_due = self.update_interval == 0 || now.saturating_sub(updated) > interval;
        if is_due || congestion.is_any() || self.new_frame {
            self.update(now, congestion, in_flight);
            self.updated = Some(now);
            self.new_frame = false;
            self.lost = false;
        }
    }

    /// `l4s_alpha_v`, if the queue delay asks for a reaction.
    fn delay_reaction(&self, congestion: &Congestion) -> Option<f64> {
        let half = self.competing.target() / 2.0;
        let excess = ((self.delay.average - half) / half).clamp(0.0, 1.0);
        match self.config.delay_reaction {
            DelayReaction::Always => (self.delay.average > half)
                .then(|| excess / self.window.reactions_per_rtt(&self.rtt)),
            DelayReaction::Unmarked => {
                let bits = 8.0 * self.window.mss() as f64;
                let limit = 2.0 * bits / (self.rate.target * self.rtt.seconds()).max(1.0);
                let applies = self.delay.newest > half && self.alpha.get() < limit;
                (applies && !congestion.is_any()).then(|| (2.0 * limit * excess).min(1.0))
            }
        }
    }

    fn update(&mut self, now: u64, congestion: Congestion, in_flight: u64) {
        self.delay.note_minimum();
        self.transmission.pace(self.rate.target, self.rates.media);
        let share = in_flight as f64 / self.window.get().max(1.0);
        if now.saturating_sub(self.slowly_updated) > SLOW_INTERVAL {
            self.slowly_update(now);
        }
        self.renew_in_flight(now);
        self.transmission.relax(&self.delay);
        self.lost_in_round_trip |= congestion.lost;
        let (acked, acked_marked) = self.flight.take_acked();
        let situation = Situation {
            now,
            rtt: &self.rtt,
            delay: &self.delay,
            alpha: &self.alpha,
            delay_target: self.competing.target(),
            in_flight: self.in_flight,
            target: self.rate.target,
            max_target: self.rate.max,
            acked_rate: self.rates.acked,
            acked,
            acked_marked,
        };
        self.window.update(congestion, &situation);
        if now.saturating_sub(self.round_trip) > self.rtt.ticks() {
            self.competing.on_round_trip(self.lost_in_round_trip);
            self.lost_in_round_trip = false;
            self.round_trip = now;
        }
        let crowded = self.delay.newest > self.competing.target() / 4.0;
        self.rate.update(&self.window, &self.rtt, share, crowded);
        self.discard(now);
        self.open();
    }

    /// Discards a queue that is too old. The queue of the controller is emptied; an endpoint that
    /// does not discard corrects it with the next frame.
    fn discard(&mut self, now: u64) {
        let is_old = self.queue.age(now) > self.discard_age;
        let may_discard = now.saturating_sub(self.discarded) > DISCARD_INTERVAL;
        if self.discard_age > 0 && is_old && may_discard {
            self.queue.clear();
            self.rates.restart_correction();
            self.discarded = now;
        }
    }

    /// Each 50 ms: the target of the delay, and near the greatest rate the limit of the window.
    fn slowly_update(&mut self, now: u64) {
        self.slowly_updated = now;
        self.competing.on_sample(self.delay.newest);
        self.in_flight_history[self.in_flight_next] = self.in_flight[0];
        self.in_flight_next = (self.in_flight_next + 1) % IN_FLIGHT_HISTORY;
        if self.rate.target > NEAR_MAX * self.rate.max {
            let seen = self.in_flight_history.iter().copied().max().unwrap_or(0);
            let bytes = self.config.pacing_head_room * self.frame_size.high * self.rate.max / 8.0;
            let needed = bytes * (self.rtt.seconds() + NEAR_MAX_MARGIN);
            self.window.limit((seen as f64).max(needed.floor()));
        }
        let settle = ntp::span(self.config.in_flight_settle);
        let since_start = now.saturating_sub(self.started.unwrap_or(now));
        if settle > 0 && since_start > settle {
            self.in_flight = [0, self.in_flight[0]];
        }
    }

    /// Each round-trip time, unless it is each 50 ms: the maxima of the bytes in flight.
    fn renew_in_flight(&mut self, now: u64) {
        let is_due = now.saturating_sub(self.in_flight_renewed) > self.rtt.ticks();
        if self.config.in_flight_settle == Duration::ZERO && is_due {
            self.in_flight = [self.flight.bytes, self.in_flight[0]];
            self.in_flight_renewed = now;
        }
    }

    /// A standing queue halves the rate for a moment, after which the base delay is forgotten.
    fn limit_rate(&mut self, now: u64) {
        self.halved = false;
        let standing = self.delay.slow_minimum > STANDING * self.competing.target();
        if self.base_reset == 0 || !standing {
            return;
        }
        if now.saturating_sub(self.rate_limited) > self.base_reset {
            self.rate_limited = now;
        }
        let span = HALVED.max(HALVED_RTTS * self.rtt.ticks());
        self.halved = now.saturating_sub(self.rate_limited) < span;
        if !self.halved && self.can_reset {
            self.delay.reset();
        }
        self.can_reset = self.halved;
    }

    /// The rate for the encoder, unless it is halved. The correction is applied twice, as in the
    /// code.
    fn encoder_rate(&self) -> f64 {
        let correction = self.rates.correction();
        correction * correction * self.rate.target
    }
}

impl crate::Sender for ScreamV2Sender {
    fn on_sent(&mut self, packet: &SentPacket) {
        let (now, size) = (ntp::ticks(packet.sent), packet.size.get());
        self.tick(now);
        let frame = self.queue.on_sent(size);
        self.flight.on_sent(now, packet.sequence, size, frame);
        self.rates.on_sent(size);
        self.sent = now;
        self.window.on_packet(size);
        self.open();
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
        let share = if self.halved { 0.5 } else { 1.0 };
        let target = (share * self.encoder_rate()).clamp(min, max);
        Decision {
            target_rate: Bitrate::from_bps_f64(target),
            pacing_rate: Bitrate::from_bps_f64(self.transmission.pacing.max(min)),
            probe: None,
        }
    }

    fn on_frame(&mut self, now: Time, frame: &MediaFrame) {
        let (now, size) = (ntp::ticks(now), frame.size.get());
        self.start(now);
        self.limit_rate(now);
        self.new_frame = true;
        self.queue.on_frame(now, size, frame.queued.get());
        let nominal = self.frame_size.on_frame(now, size as f64, self.rate.target);
        self.transmission.on_frame(self.queue.bytes().max(size) as f64, nominal);
        let waited = ntp::seconds(self.queue.age(now)) / self.frame_size.period;
        self.rate.on_frame(waited);
        self.discard(now);
        self.rates.on_frame(size);
        self.tick(now);
    }

    fn on_allocation(&mut self, _now: Time, allocation: Allocation) {
        if allocation.max_rate > Bitrate::ZERO {
            self.rate.set_max(allocation.max_rate.min(self.max_rate).as_bps_f64());
        }
    }

    fn send_window(&self) -> Option<Bytes> {
        Some(Bytes::new(self.transmission.send_window(self.flight.bytes)))
    }

    fn ecn(&self) -> Ecn {
        self.config.ecn.field()
    }

    fn signals(&self, sink: &mut SignalSink<'_>) {
        sink("ref_wnd", self.window.get());
        sink("ref_wnd_i", self.window.inflection());
        sink("ref_wnd_min", self.window.least());
        sink("bytes_in_flight", self.flight.bytes as f64);
        sink("max_bytes_in_flight", self.in_flight[0].max(self.in_flight[1]) as f64);
        sink("ref_wnd_overhead", self.transmission.factor);
        sink("qdelay", self.delay.newest);
        sink("qdelay_avg", self.delay.average);
        sink("qdelay_min_slow", self.delay.slow_minimum);
        sink("qdelay_target", self.competing.target());
        sink("latency_variation", self.delay.variation);
        sink("s_rtt", self.rtt.seconds());
        sink("l4s_alpha", self.alpha.get());
        sink("fraction_marked", self.alpha.fraction);
        sink("l4s_alpha_v", self.reaction.delayed.unwrap_or(0.0));
        sink("post_congestion_scale", self.window.post_congestion());
        sink("loss_ratio", self.loss_ratio);
        sink("lost_packets", self.lost_packets as f64);
        sink("reordering_window", self.flight.reordering());
        sink("target_bitrate", self.rate.target);
        sink("encoder_rate", self.encoder_rate());
        sink("queue_factor", self.rate.queue_factor);
        sink("pacing_scale", self.transmission.scale());
        sink("rel_framesize_high", self.frame_size.high);
        sink("rate_transmitted", self.rates.sent);
        sink("rate_acked", self.rates.acked);
        sink("rate_media", self.rates.media);
        sink("mss", self.window.mss() as f64);
    }
}
