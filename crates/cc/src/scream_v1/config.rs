//! The settings, with the values of RFC 8298 § 4.1.1.

use crate::gcc::words::words;
use crate::profile::BuildError;
use crate::ranges::{at_least, within};
use crate::setting::settings;
use units::{Bitrate, Bytes, Duration};

words! {
    /// The ECN field of the packets that leave.
    pub enum EcnMode {
        /// Not ECN-capable.
        NotEct = "not-ect",
        /// ECT(0).
        Ect0 = "ect0",
    }
}

settings! {
    /// Every constant. `min_rate` and `max_rate` of the call are `TARGET_BITRATE_MIN` and
    /// `TARGET_BITRATE_MAX`.
    pub struct ScreamV1Config {
        /// The ECN field of the packets that leave: not-ect or ect0 (ECN is optional; marks need
        /// feedback that carries ECN).
        "ecn" => ecn: EcnMode,
        /// `QDELAY_TARGET_LO`, the least target of the queue delay (§ 4.1.1.1: 0.1 s).
        "qdelay_target.lo" => target_lo: Duration,
        /// `QDELAY_TARGET_HI`, the greatest target of the queue delay (§ 4.1.1.1: 0.4 s).
        "qdelay_target.hi" => target_hi: Duration,
        /// Whether the target adapts to competing flows (§ 4.1.2.3; it may be turned off).
        "competing_flows" => competing_flows: bool,
        /// `QDELAY_WEIGHT`, the gain of the average queue delay (§ 4.1.1.1: 0.1).
        "qdelay_weight" => weight: f64,
        /// `QDELAY_TREND_TH`, the trend from which fast increase ends (§ 4.1.1.1: 0.2).
        "qdelay_trend.threshold" => trend_threshold: f64,
        /// `QDELAY_TREND_LO`, the trend below which fast increase may resume (§ 4.1.1.1: 0.2).
        "qdelay_trend.low" => trend_low: f64,
        /// `T_RESUME_FAST_INCREASE`, for how long the trend must be low (§ 4.1.1.1: 5 s).
        "resume_fast_increase" => resume: Duration,
        /// `MIN_CWND`, the least congestion window (§ 4.1.1.1: 3000 bytes).
        "min_cwnd" => min_cwnd: Bytes,
        /// `MSS`, the greatest packet (§ 4.1.1.1: 1000 bytes).
        "mss" => mss: Bytes,
        /// `MAX_BYTES_IN_FLIGHT_HEAD_ROOM`, how far the window may exceed the greatest bytes in
        /// flight (§ 4.1.1.1: 1.1).
        "head_room" => head_room: f64,
        /// Time of the greatest bytes in flight (§ 4.1.2.2: 5 s).
        "head_room.window" => head_room_window: Duration,
        /// `GAIN`, the gain of the window's change (§ 4.1.1.1: 1).
        "gain" => gain: f64,
        /// `BETA_LOSS`, the factor of the window at a loss event (§ 4.1.1.1: 0.8).
        "beta_loss" => beta_loss: f64,
        /// `BETA_ECN`, the factor of the window at a mark (§ 4.1.1.1: 0.9). The target rate gets
        /// the same factor (§ 4.1.3).
        "beta_ecn" => beta_ecn: f64,
        /// `BETA_R`, the factor of the target rate at a loss event (§ 4.1.1.1: 0.9).
        "beta_r" => beta_r: f64,
        /// `RATE_ADJUST_INTERVAL`, the interval of the target rate (§ 4.1.1.1: 0.2 s).
        "rate_adjust_interval" => adjust_interval: Duration,
        /// `RAMP_UP_SPEED`, the greatest increase of the target rate per second (§ 4.1.1.1: 200
        /// kbit/s).
        "ramp_up_speed" => ramp_up_speed: Bitrate,
        /// `PRE_CONGESTION_GUARD`, how much the trend reduces the rate (§ 4.1.1.1: 0 to 0.2; 0.1 is
        /// the middle).
        "pre_congestion_guard" => guard: f64,
        /// `TX_QUEUE_SIZE_FACTOR`, how much the sender's queue reduces the rate (§ 4.1.1.1: 0 to 2;
        /// 1 is the middle).
        "tx_queue_size_factor" => queue_factor: f64,
        /// `RTP_QDELAY_TH`, the delay of the sender's queue from which the rate is scaled down (§
        /// 4.1.1.1: 0.02 s).
        "rtp_qdelay.threshold" => rtp_threshold: Duration,
        /// `TARGET_RATE_SCALE_RTP_QDELAY`, that scale (§ 4.1.1.1: 0.95).
        "rtp_qdelay.scale" => rtp_scale: f64,
        /// `RATE_PACE_MIN`, the least pacing rate (§ 4.1.1.1: 50 kbit/s).
        "rate_pace_min" => pace_min: Bitrate,
        /// Length of one entry of the base delay's history (RFC 6817 § 4.2: 60 s).
        "base_delay.step" => base_step: Duration,
        /// Number of entries of the base delay's history (RFC 6817 § 4.2: 10).
        "base_delay.entries" => base_entries: usize,
        /// Without a packet for this time nothing counts as in flight any more, so that sending
        /// resumes (the text has no rule; the authors' code, `isOkToTransmit`: 0.5 s).
        "stall" => stall: Duration,
    }
}

impl ScreamV1Config {
    /// The values of RFC 8298.
    pub(crate) fn published() -> Self {
        let ms = Duration::from_millis;
        Self {
            ecn: EcnMode::NotEct,
            target_lo: ms(100),
            target_hi: ms(400),
            competing_flows: true,
            weight: 0.1,
            trend_threshold: 0.2,
            trend_low: 0.2,
            resume: Duration::from_secs(5),
            min_cwnd: Bytes::new(3000),
            mss: Bytes::new(1000),
            head_room: 1.1,
            head_room_window: Duration::from_secs(5),
            gain: 1.0,
            beta_loss: 0.8,
            beta_ecn: 0.9,
            beta_r: 0.9,
            adjust_interval: ms(200),
            ramp_up_speed: Bitrate::from_kbps(200),
            guard: 0.1,
            queue_factor: 1.0,
            rtp_threshold: ms(20),
            rtp_scale: 0.95,
            pace_min: Bitrate::from_kbps(50),
            base_step: Duration::from_secs(60),
            base_entries: 10,
            stall: ms(500),
        }
    }

    /// Checks the ranges of the values.
    pub(crate) fn check(&self) -> Result<(), BuildError> {
        let shares = [
            ("qdelay_weight", self.weight),
            ("qdelay_trend.threshold", self.trend_threshold),
            ("qdelay_trend.low", self.trend_low),
            ("beta_loss", self.beta_loss),
            ("beta_ecn", self.beta_ecn),
            ("beta_r", self.beta_r),
            ("pre_congestion_guard", self.guard),
            ("rtp_qdelay.scale", self.rtp_scale),
        ];
        within(&shares, &(0.0..=1.0))?;
        within(&[("head_room", self.head_room)], &(1.0..=100.0))?;
        let factors = [("gain", self.gain), ("tx_queue_size_factor", self.queue_factor)];
        within(&factors, &(0.0..=100.0))?;
        let sizes = [("mss", self.mss), ("min_cwnd", self.min_cwnd)];
        within(&sizes, &(Bytes::new(1)..=Bytes::new(1_000_000)))?;
        within(&[("base_delay.entries", self.base_entries)], &(1..=1000))?;
        let times = [
            ("qdelay_target.lo", self.target_lo),
            ("rate_adjust_interval", self.adjust_interval),
            ("head_room.window", self.head_room_window),
            ("base_delay.step", self.base_step),
            ("stall", self.stall),
        ];
        at_least(&times, &Duration::from_millis(1))?;
        at_least(&[("qdelay_target.hi", self.target_hi)], &self.target_lo)
    }
}
