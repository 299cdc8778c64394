//! The settings, with the values of the draft and those of the authors' code.

use crate::Ecn;
use crate::gcc::words::words;
use crate::profile::BuildError;
use crate::ranges::{at_least, within};
use crate::setting::settings;
use units::{Bytes, Duration};

words! {
    /// The ECN field of the packets that leave, which also selects the response to marks.
    pub enum EcnMode {
        /// Not ECN-capable.
        NotEct = "not-ect",
        /// ECT(0): the classic response.
        Ect0 = "ect0",
        /// ECT(1): the L4S response (`IS_L4S`).
        Ect1 = "ect1",
    }
}

impl EcnMode {
    /// The field itself.
    pub(crate) fn field(self) -> Ecn {
        match self {
            Self::NotEct => Ecn::NotEct,
            Self::Ect0 => Ecn::Ect0,
            Self::Ect1 => Ecn::Ect1,
        }
    }
}

words! {
    /// When a packet that is missing counts as lost.
    pub enum LossDetection {
        /// After a reordering window that adapts to the reordering seen (§ on lost data units; as
        /// RACK, RFC 8985).
        Adaptive = "adaptive",
        /// After 30 ms of sending time plus the difference of the frames' times, or 512 packets
        /// (the code, `detectLoss`).
        Fixed = "fixed",
        /// After a reordering window of sending time (the code of SCReAM v1, `detectLoss`).
        Spaced = "spaced",
    }
}

words! {
    /// When a queue causes a reaction.
    pub enum DelayReaction {
        /// Only if the marking ratio is too low for an active L4S bottleneck.
        Unmarked = "unmarked",
        /// Always.
        Always = "always",
    }
}

words! {
    /// When the inflection point of the window is set.
    pub enum Inflection {
        /// At a reaction, at most each 10 round-trip times.
        Spaced = "spaced",
        /// At the first reaction after the window grew.
        Grown = "grown",
    }
}

words! {
    /// How the round-trip time is smoothed.
    pub enum RttFilter {
        /// As RFC 6298.
        Rfc6298 = "rfc6298",
        /// With two stages, the second once per round-trip time; falls slowly while the media limit
        /// the rate (the code, `markAcked`).
        TwoStage = "two-stage",
    }
}

settings! {
    /// Every constant. `min_rate` and `max_rate` of the call are `TARGET_BITRATE_MIN` and
    /// `TARGET_BITRATE_MAX`.
    pub struct ScreamV2Config {
        /// The ECN field of the packets that leave: not-ect, ect0 (the classic response), ect1 (the
        /// L4S response). The draft's `IS_L4S` is false, and ECN is optional; marks need feedback
        /// that carries ECN.
        "ecn" => ecn: EcnMode,
        /// `BETA_LOSS`, the factor of the reference window at a loss (0.7).
        "beta_loss" => beta_loss: f64,
        /// `BETA_ECN`, the factor of the reference window at a classic mark (draft: 0.8; code:
        /// 0.9).
        "beta_ecn" => beta_ecn: f64,
        /// `QDELAY_TARGET_LO`, the least target of the queue delay (draft: 60 ms; code: 100 ms).
        "qdelay_target.lo" => target_lo: Duration,
        /// `QDELAY_TARGET_HI`, the greatest target of the queue delay (draft: 400 ms; code: 300
        /// ms).
        "qdelay_target.hi" => target_hi: Duration,
        /// Whether the target adapts to competing flows (the draft describes it and allows to turn
        /// it off; code: off).
        "competing_flows" => competing_flows: bool,
        /// `MIN_REF_WND`, the least reference window (draft: 3000 bytes; the code has only a
        /// multiple of the MSS).
        "min_ref_wnd" => min_ref_wnd: Bytes,
        /// The least reference window in segments (the code, `addTransmitted`: 2, and 3 when the
        /// MSS is measured again each second; draft: none, 0).
        "min_ref_wnd_segments" => min_segments: u64,
        /// `MSS`, the greatest packet; the first value if it is measured (draft: 1000 bytes; code:
        /// 100).
        "mss" => mss: Bytes,
        /// Whether the MSS is measured (code, `kMssUpdateInterval`: over the last one to two
        /// seconds).
        "mss.measured" => mss_measured: bool,
        /// `BYTES_IN_FLIGHT_HEAD_ROOM`, how far the reference window may exceed the bytes in flight
        /// (draft: 1.5; code: 2).
        "head_room" => head_room: f64,
        /// `MUL_INCREASE_FACTOR`, the multiplicative increase per round-trip time (draft: 0.02;
        /// code: 0.05).
        "mul_increase" => mul_increase: f64,
        /// `REF_WND_OVERHEAD`, how far the bytes in flight may exceed the reference window (draft:
        /// 5; code: 3).
        "overhead" => overhead: f64,
        /// The same while the queue delay varies (code, `kMinWindowHeadroom`: 1.5; draft: no
        /// difference).
        "overhead.min" => overhead_min: f64,
        /// Whether the window for sending is scaled with the high percentile of the frame sizes
        /// (draft: true; code: false, and a segment is added).
        "overhead.frame_size" => overhead_frame_size: bool,
        /// `POST_CONGESTION_DELAY_RTTS`, how many round-trip times after a reaction the increase is
        /// reduced (draft: 100; code: 200).
        "post_congestion.rtts" => post_congestion_rtts: f64,
        /// Whether these round-trip times are at least `VIRTUAL_RTT` (draft: true; code: false).
        "post_congestion.virtual" => post_congestion_virtual: bool,
        /// `VIRTUAL_RTT`, below which the increase is reduced, for fairness as in Prague (25 ms).
        "virtual_rtt" => virtual_rtt: Duration,
        /// Minimum time between two reactions, or the round-trip time if that is less (draft:
        /// `VIRTUAL_RTT`, 25 ms; code: 30 ms).
        "reaction.interval" => reaction_interval: Duration,
        /// Whether only one sign of congestion counts per reaction: loss before marks before delay
        /// (code: true; draft: false, the reductions multiply).
        "reaction.one_sign" => one_sign: bool,
        /// Minimum time between two updates of the reference window without a reaction or a frame,
        /// or the round-trip time if that is less (code: 30 ms; draft: each feedback).
        "update.interval" => update_interval: Duration,
        /// `L4S_AVG_G_UP`, the gain of l4s_alpha upwards (1/8).
        "l4s.gain_up" => gain_up: f64,
        /// `L4S_AVG_G_DOWN`, the gain of l4s_alpha downwards (1/128).
        "l4s.gain_down" => gain_down: f64,
        /// First value of l4s_alpha (draft: 0; code: 0.1).
        "l4s.alpha" => alpha: f64,
        /// Maximum interval of l4s_alpha's updates (10 ms, or the round-trip time if that is less).
        "l4s.interval" => alpha_interval: Duration,
        /// Whether marks of a whole interval are ignored while the round-trip time falls (code,
        /// `incomingStandardizedFeedback`: true; draft: false).
        "l4s.ignore_draining" => ignore_draining: bool,
        /// `QDELAY_AVG_G`, the gain of the average queue delay upwards (1/4).
        "qdelay_avg.gain" => average_gain: f64,
        /// Whether a slow minimum is subtracted from the queue delay before averaging (code,
        /// `kQueueDelayMinSlowAvgAlpha`: true).
        "qdelay_avg.less_minimum" => less_minimum: bool,
        /// When a queue causes a reaction: unmarked (draft) or always (code).
        "delay.reaction" => delay_reaction: DelayReaction,
        /// Whether the average queue delay over a quarter of the target reduces the increase while
        /// nothing is marked (draft: true; code: false).
        "delay.reduces_increase" => delay_reduces_increase: bool,
        /// Difference of the greatest and least delay at which the increase is least (code,
        /// `kLatencyDiffThreshold`: 10 ms; draft: no such rule, 0).
        "delay.variation" => variation: Duration,
        /// Whether a reaction to delay ends the time without congestion in the increase (code:
        /// true; draft: false, only losses and marks do).
        "delay.congests" => delay_congests: bool,
        /// Whether small windows change less: by 1 − MSS/window, at least 0.5 (draft: true; code:
        /// false).
        "small_window" => small_window: bool,
        /// Power of the ratio of the round-trip time to `VIRTUAL_RTT` in the increase (draft: 2;
        /// code: 1).
        "virtual_rtt.power" => virtual_power: f64,
        /// Whether the reduction by marks and delay is divided by the number of reactions per
        /// round-trip time (code, `updateCwnd`: true; draft: false).
        "reduction.per_rtt" => per_rtt: bool,
        /// The reduction is a quarter if the target is below this share of the acknowledged rate
        /// (code, `kTotalAckedBitrateFraction`: 0.8; draft: none, 0).
        "reduction.acked_share" => acked_share: f64,
        /// When the inflection point is set: spaced (draft) or grown (code).
        "inflection" => inflection: Inflection,
        /// The smoothed loss ratio, or a queue of a quarter of the target, from which losses cause
        /// a reaction (code, `kLossRateThreshold`: 0.01; draft: each loss, 0).
        "loss.threshold" => loss_threshold: f64,
        /// When a missing packet is lost: adaptive (draft), fixed (code) or spaced (the authors'
        /// code of SCReAM v1).
        "loss.detection" => loss_detection: LossDetection,
        /// The reordering window: the first value if it adapts (draft: none, 0; code: 30 ms).
        "loss.reordering" => reordering: Duration,
        /// How the round-trip time is smoothed: rfc6298 (draft) or two-stage (code).
        "rtt.filter" => rtt_filter: RttFilter,
        /// The round-trip time before the first sample (draft: 0; code: 50 ms).
        "rtt.initial" => rtt_initial: Duration,
        /// Length of one entry of the base delay's history (draft: RFC 6817 § 4.2, 60 s; code:
        /// 10 s).
        "base_delay.step" => base_step: Duration,
        /// Number of entries of the base delay's history (draft: RFC 6817 § 4.2, 10; code: 50).
        "base_delay.entries" => base_entries: usize,
        /// Minimum interval between two resets of the base delay because the slow minimum is over
        /// an eighth of the target; the rate is halved for 5 round-trip times before (code,
        /// `getTargetBitrate`: 60 s; the draft describes it in words without values: never, 0).
        "base_delay.reset" => base_reset: Duration,
        /// `PACKET_PACING_HEADROOM` (1.5).
        "pacing.head_room" => pacing_head_room: f64,
        /// Greatest factor of the pacing rate while the sender's queue is long (code,
        /// `kMaxAdaptivePacingRateScale`: 1.5; draft: 1).
        "pacing.frame_size" => pacing_frame_size: f64,
        /// Whether the media rate raises the pacing rate (code: true; draft: false).
        "pacing.media_rate" => pacing_media_rate: bool,
        /// `PACKET_OVERHEAD`, bytes below RTP per packet (20).
        "rate.packet_overhead" => packet_overhead: Bytes,
        /// `BYTES_IN_FLIGHT_LIMIT`, the share of the window in flight from which the rate is
        /// reduced (draft: 0.9; the code defines it without effect: 0).
        "rate.in_flight_limit" => in_flight_limit: f64,
        /// `BYTES_IN_FLIGHT_LIMIT_COMPENSATION`, the greatest divisor of that rule (1.5).
        "rate.in_flight_compensation" => in_flight_compensation: f64,
        /// Divisor of the rate (code, `updateCwnd`: 1.1; draft: 1).
        "rate.divisor" => divisor: f64,
        /// Time that is added to the round-trip time in the rate (code: 1 ms; draft: 0).
        "rate.rtt_margin" => rtt_margin: Duration,
        /// Greatest round-trip time in the rate (code: 200 ms; draft: none, 0).
        "rate.rtt_max" => rtt_max: Duration,
        /// Gain with which the age of the sender's queue reduces the rate (code,
        /// `kRateAdjustGain1`: 0.2; draft: none, 0).
        "rate.queue_gain" => queue_gain: f64,
        /// Whether a slow factor, 0.8 to 1.1, corrects the rate for an encoder that misses it
        /// (code, `updateRate`: true; the draft leaves it to be described).
        "rate.coder_correction" => coder_correction: bool,
        /// Percentile of the frame sizes (draft: 0.75; code: 0.8).
        "frame_size.percentile" => percentile: f64,
        /// Age of the sender's queue from which the sender discards it, at most each 250 ms (code,
        /// `kMaxRtpQueueDelay`: 0.1 s; the draft allows it without a value: never, 0).
        "queue.discard" => discard: Duration,
        /// Without a packet for this time nothing counts as in flight any more, so that sending
        /// resumes (code, `isOkToTransmit`: 0.5 s; the draft asks for a minimum send rate without a
        /// value).
        "stall" => stall: Duration,
        /// Whether window and increments are whole bytes (code: true; draft: false).
        "whole_bytes" => whole_bytes: bool,
        /// Time from which the maxima of the bytes in flight are renewed each 50 ms (code: 2 s).
        /// 0s: renewed each round-trip time, as in the draft.
        "in_flight.settle" => in_flight_settle: Duration,
    }
}

impl ScreamV2Config {
    /// The values of the draft.
    pub(crate) fn draft() -> Self {
        let ms = Duration::from_millis;
        Self {
            ecn: EcnMode::NotEct,
            beta_loss: 0.7,
            beta_ecn: 0.8,
            target_lo: ms(60),
            target_hi: ms(400),
            competing_flows: true,
            min_ref_wnd: Bytes::new(3000),
            min_segments: 0,
            mss: Bytes::new(1000),
            mss_measured: false,
            head_room: 1.5,
            mul_increase: 0.02,
            overhead: 5.0,
            overhead_min: 5.0,
            overhead_frame_size: true,
            post_congestion_rtts: 100.0,
            post_congestion_virtual: true,
            virtual_rtt: ms(25),
            reaction_interval: ms(25),
            one_sign: false,
            update_interval: Duration::ZERO,
            gain_up: 1.0 / 8.0,
            gain_down: 1.0 / 128.0,
            alpha: 0.0,
            alpha_interval: ms(10),
            ignore_draining: false,
            average_gain: 0.25,
            less_minimum: false,
            delay_reaction: DelayReaction::Unmarked,
            delay_reduces_increase: true,
            delay_congests: false,
            variation: Duration::ZERO,
            small_window: true,
            virtual_power: 2.0,
            per_rtt: false,
            acked_share: 0.0,
            inflection: Inflection::Spaced,
            loss_threshold: 0.0,
            loss_detection: LossDetection::Adaptive,
            reordering: Duration::ZERO,
            rtt_filter: RttFilter::Rfc6298,
            rtt_initial: Duration::ZERO,
            base_step: Duration::from_secs(60),
            base_entries: 10,
            base_reset: Duration::ZERO,
            pacing_head_room: 1.5,
            pacing_frame_size: 1.0,
            pacing_media_rate: false,
            packet_overhead: Bytes::new(20),
            in_flight_limit: 0.9,
            in_flight_compensation: 1.5,
            divisor: 1.0,
            rtt_margin: Duration::ZERO,
            rtt_max: Duration::ZERO,
            queue_gain: 0.0,
            coder_correction: false,
            percentile: 0.75,
            discard: Duration::ZERO,
            stall: ms(500),
            whole_bytes: false,
            in_flight_settle: Duration::ZERO,
        }
    }

    /// The values of the authors' code (EricssonResearch/scream of 2026-07).
    pub(crate) fn code() -> Self {
        let ms = Duration::from_millis;
        Self {
            beta_ecn: 0.9,
            target_lo: ms(100),
            target_hi: ms(300),
            competing_flows: false,
            min_ref_wnd: Bytes::ZERO,
            min_segments: 2,
            mss: Bytes::new(100),
            mss_measured: true,
            head_room: 2.0,
            mul_increase: 0.05,
            overhead: 3.0,
            overhead_min: 1.5,
            overhead_frame_size: false,
            post_congestion_rtts: 200.0,
            post_congestion_virtual: false,
            reaction_interval: ms(30),
            one_sign: true,
            update_interval: ms(30),
            alpha: 0.1,
            ignore_draining: true,
            less_minimum: true,
            delay_reaction: DelayReaction::Always,
            delay_reduces_increase: false,
            delay_congests: true,
            variation: ms(10),
            small_window: false,
            virtual_power: 1.0,
            per_rtt: true,
            acked_share: 0.8,
            inflection: Inflection::Grown,
            loss_threshold: 0.01,
            loss_detection: LossDetection::Fixed,
            reordering: ms(30),
            rtt_filter: RttFilter::TwoStage,
            rtt_initial: ms(50),
            base_step: Duration::from_secs(10),
            base_entries: 50,
            base_reset: Duration::from_secs(60),
            pacing_frame_size: 1.5,
            pacing_media_rate: true,
            in_flight_limit: 0.0,
            divisor: 1.1,
            rtt_margin: ms(1),
            rtt_max: ms(200),
            queue_gain: 0.2,
            coder_correction: true,
            percentile: 0.8,
            discard: ms(100),
            whole_bytes: true,
            in_flight_settle: Duration::from_secs(2),
            ..Self::draft()
        }
    }

    /// Checks the ranges of the values.
    pub(crate) fn check(&self) -> Result<(), BuildError> {
        let shares = [
            ("beta_loss", self.beta_loss),
            ("beta_ecn", self.beta_ecn),
            ("l4s.gain_up", self.gain_up),
            ("l4s.gain_down", self.gain_down),
            ("l4s.alpha", self.alpha),
            ("qdelay_avg.gain", self.average_gain),
            ("loss.threshold", self.loss_threshold),
            ("reduction.acked_share", self.acked_share),
            ("frame_size.percentile", self.percentile),
            ("rate.in_flight_limit", self.in_flight_limit),
        ];
        within(&shares, &(0.0..=1.0))?;
        let head_rooms = [
            ("head_room", self.head_room),
            ("overhead", self.overhead),
            ("overhead.min", self.overhead_min),
            ("pacing.head_room", self.pacing_head_room),
            ("pacing.frame_size", self.pacing_frame_size),
            ("rate.divisor", self.divisor),
            ("rate.in_flight_compensation", self.in_flight_compensation),
        ];
        within(&head_rooms, &(1.0..=100.0))?;
        let factors = [
            ("mul_increase", self.mul_increase),
            ("post_congestion.rtts", self.post_congestion_rtts),
            ("virtual_rtt.power", self.virtual_power),
            ("rate.queue_gain", self.queue_gain),
        ];
        within(&factors, &(0.0..=1e4))?;
        within(&[("mss", self.mss)], &(Bytes::new(1)..=Bytes::new(65_535)))?;
        within(&[("base_delay.entries", self.base_entries)], &(1..=1000))?;
        let times = [
            ("qdelay_target.lo", self.target_lo),
            ("virtual_rtt", self.virtual_rtt),
            ("base_delay.step", self.base_step),
            ("stall", self.stall),
        ];
        at_least(&times, &Duration::from_millis(1))?;
        at_least(&[("qdelay_target.hi", self.target_hi)], &self.target_lo)
    }
}
