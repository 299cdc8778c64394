//! The constants of the authors' code.

use crate::profile::BuildError;
use crate::ranges::{at_least, within};
use crate::scream_v2::EcnMode;
use crate::setting::settings;
use units::{Bitrate, Bytes, Duration};

settings! {
    /// Every constant. `min_rate` and `max_rate` of the call are the bounds of the target rate.
    pub struct ScreamV1CodeConfig {
        /// The ECN field of the packets that leave: not-ect, ect0 (the classic response) or ect1
        /// (the L4S response; RFC 8298 has none). Marks need feedback that carries ECN.
        "ecn" => ecn: EcnMode,
        /// `kQueueDelayTargetMin`, the target of the queue delay (0.1 s). It does not adapt: the
        /// code's default turns that off.
        "qdelay_target.lo" => target: Duration,
        /// The gain of the average queue delay (`updateCwnd`: 0.1).
        "qdelay_weight" => weight: f64,
        /// The trend from which fast increase ends (`updateCwnd`: 0.2).
        "qdelay_trend.threshold" => trend_threshold: f64,
        /// For how long the trend must be low before fast increase resumes (`updateCwnd`: 0.25 s).
        "resume_fast_increase" => resume: Duration,
        /// The least window in segments (`addTransmitted`: 2, and 3 when the MSS is measured again
        /// each second).
        "min_cwnd_segments" => min_segments: u64,
        /// `kInitMss`, the first value of the measured MSS (100 bytes).
        "mss" => mss: Bytes,
        /// `kMaxBytesInFlightHeadRoom`, how far the window may exceed the bytes in flight after a
        /// first congestion (1.25).
        "head_room" => head_room: f64,
        /// Time of the greatest bytes in flight (`bytesInFlightHistSize`: 30 s).
        "head_room.window" => head_room_window: Duration,
        /// `kGainUp`, the gain of the window below the delay target (1).
        "gain" => gain: f64,
        /// `kGainDown`, the gain above the delay target (2).
        "gain.down" => gain_down: f64,
        /// How far the bytes in flight must fill the window for fast increase (`updateCwnd`: 1.5).
        "filled.fast" => filled_fast: f64,
        /// The same outside fast increase (`updateCwnd`: 1.2).
        "filled" => filled: f64,
        /// The window grows by at most this multiple of what the measured rate sends in the
        /// interval (`updateCwnd`: 1.25).
        "growth" => growth: f64,
        /// `postCongestionDelay`, for how long after congestion the growth is scaled down (0.1 s).
        "post_congestion" => post_congestion: Duration,
        /// `kLossBeta`, the factor of the window at a loss event (0.7).
        "beta_loss" => beta_loss: f64,
        /// `kEcnCeBeta`, the factor of the window at a classic mark (0.9).
        "beta_ecn" => beta_ecn: f64,
        /// `kLossEventRateScale`, the factor of the target rate at a loss event (0.9).
        "beta_r" => beta_r: f64,
        /// `kEcnCeEventRateScale`, the factor of the target rate at a classic mark (0.95).
        "beta_r.ecn" => beta_r_ecn: f64,
        /// `kL4sG`, the gain of the average fraction of marked bytes (0.125).
        "l4s.gain" => l4s_gain: f64,
        /// Its first value (0.1).
        "l4s.alpha" => l4s_alpha: f64,
        /// Minimum time between two reactions to marks, and between two updates of the fraction of
        /// marked bytes, or the round-trip time if that is less (`incomingStandardizedFeedback`:
        /// 30 ms).
        "reaction.interval" => reaction_interval: Duration,
        /// Minimum time between two updates of the window without congestion or a frame
        /// (`incomingStandardizedFeedback`: 10 ms).
        "update.interval" => update_interval: Duration,
        /// `kRateAdjustInterval`, the interval of the target rate (20 ms).
        "rate_adjust_interval" => adjust_interval: Duration,
        /// `kRampUpSpeed`, the greatest increase of the target rate per second (200 kbit/s).
        "ramp_up_speed" => ramp_up_speed: Bitrate,
        /// The same as a share of the target rate; the less counts (`rampUpScale`: 0.2).
        "ramp_up_speed.share" => ramp_up_share: f64,
        /// `kQueueDelayGuard`, how much the trend reduces the rate (0.1).
        "pre_congestion_guard" => guard: f64,
        /// `kTxQueueSizeFactor`, how much the sender's queue reduces the rate (0.2).
        "tx_queue_size_factor" => queue_factor: f64,
        /// The least pacing rate, after the head room (`updateCwnd`: 100 kbit/s).
        "rate_pace_min" => pace_min: Bitrate,
        /// `kPacketPacingHeadRoom`, how much faster than the media packets are paced (1.5).
        "pacing.head_room" => pacing_head_room: f64,
        /// The average delay divided by its target from which packets are paced, unless L4S is on
        /// (`updateCwnd`: 0.02).
        "pacing.threshold" => pacing_threshold: f64,
        /// Greatest factor of pacing rate and send window while a frame is greater than the average
        /// (`maxAdaptivePacingRateScale`: 1.5).
        "pacing.frame_size" => pacing_frame_size: f64,
        /// Length of one entry of the base delay's history (`kBaseDelayUpdateInterval`: 10 s).
        "base_delay.step" => base_step: Duration,
        /// Number of entries of the base delay's history (`kBaseOwdHistSize`: 50).
        "base_delay.entries" => base_entries: usize,
        /// The base delay is forgotten, at most once per this time, when the slow minimum is over a
        /// quarter of the target (`updateCwnd`: 20 s).
        "base_delay.reset" => base_reset: Duration,
        /// `kReordertime`: a packet is lost when one that was sent this much later was acknowledged
        /// (10 ms).
        "loss.reordering" => reordering: Duration,
        /// The round-trip time before the first sample (20 ms).
        "rtt.initial" => rtt_initial: Duration,
        /// Age of the sender's queue from which the sender discards it, at most each 250 ms
        /// (`kMaxRtpQueueDelay`: 0.1 s).
        "queue.discard" => discard: Duration,
        /// Without a packet for this time nothing counts as in flight any more, so that sending
        /// resumes (`isOkToTransmit`: 0.5 s).
        "stall" => stall: Duration,
    }
}

impl ScreamV1CodeConfig {
    /// The values of the code.
    pub(crate) fn published() -> Self {
        let ms = Duration::from_millis;
        Self {
            ecn: EcnMode::NotEct,
            target: ms(100),
            weight: 0.1,
            trend_threshold: 0.2,
            resume: ms(250),
            min_segments: 2,
            mss: Bytes::new(100),
            head_room: 1.25,
            head_room_window: Duration::from_secs(30),
            gain: 1.0,
            gain_down: 2.0,
            filled_fast: 1.5,
            filled: 1.2,
            growth: 1.25,
            post_congestion: ms(100),
            beta_loss: 0.7,
            beta_ecn: 0.9,
            beta_r: 0.9,
            beta_r_ecn: 0.95,
            l4s_gain: 0.125,
            l4s_alpha: 0.1,
            reaction_interval: ms(30),
            update_interval: ms(10),
            adjust_interval: ms(20),
            ramp_up_speed: Bitrate::from_kbps(200),
            ramp_up_share: 0.2,
            guard: 0.1,
            queue_factor: 0.2,
            pace_min: Bitrate::from_kbps(100),
            pacing_head_room: 1.5,
            pacing_threshold: 0.02,
            pacing_frame_size: 1.5,
            base_step: Duration::from_secs(10),
            base_entries: 50,
            base_reset: Duration::from_secs(20),
            reordering: ms(10),
            rtt_initial: ms(20),
            discard: ms(100),
            stall: ms(500),
        }
    }

    /// Checks the ranges of the values.
    pub(crate) fn check(&self) -> Result<(), BuildError> {
        let shares = [
            ("qdelay_weight", self.weight),
            ("qdelay_trend.threshold", self.trend_threshold),
            ("beta_loss", self.beta_loss),
            ("beta_ecn", self.beta_ecn),
            ("beta_r", self.beta_r),
            ("beta_r.ecn", self.beta_r_ecn),
            ("l4s.gain", self.l4s_gain),
            ("l4s.alpha", self.l4s_alpha),
            ("pre_congestion_guard", self.guard),
            ("pacing.threshold", self.pacing_threshold),
        ];
        within(&shares, &(0.0..=1.0))?;
        let multiples = [
            ("head_room", self.head_room),
            ("filled.fast", self.filled_fast),
            ("filled", self.filled),
            ("pacing.head_room", self.pacing_head_room),
            ("pacing.frame_size", self.pacing_frame_size),
        ];
        within(&multiples, &(1.0..=100.0))?;
        let factors = [
            ("gain", self.gain),
            ("gain.down", self.gain_down),
            ("growth", self.growth),
            ("ramp_up_speed.share", self.ramp_up_share),
            ("tx_queue_size_factor", self.queue_factor),
        ];
        within(&factors, &(0.0..=100.0))?;
        within(&[("mss", self.mss)], &(Bytes::new(1)..=Bytes::new(1_000_000)))?;
        within(&[("min_cwnd_segments", self.min_segments)], &(1..=1000))?;
        within(&[("base_delay.entries", self.base_entries)], &(1..=1000))?;
        let seconds = Duration::from_secs;
        within(&[("head_room.window", self.head_room_window)], &(seconds(1)..=seconds(3600)))?;
        let times = [
            ("qdelay_target.lo", self.target),
            ("post_congestion", self.post_congestion),
            ("rate_adjust_interval", self.adjust_interval),
            ("base_delay.step", self.base_step),
            ("queue.discard", self.discard),
            ("stall", self.stall),
        ];
        at_least(&times, &Duration::from_millis(1))
    }
}
