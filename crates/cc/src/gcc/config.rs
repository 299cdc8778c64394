//! The settings of the published forms of Google Congestion Control.

use super::arrival_filter::FilterConfig;
use super::buffer_hint::BufferHint;
use super::words::words;
use crate::setting::settings;
use units::Duration;

words! {
    /// Where the delay-based controller runs.
    pub enum Side {
        /// At the receiver, which sends REMB messages.
        Receiver = "receiver",
        /// At the sender, on transport-wide feedback.
        Sender = "sender",
    }
}

words! {
    /// How packets are grouped.
    pub enum Grouping {
        /// By video frame: departure of the first packet, arrival of the last (Carlucci 2017, eq.
        /// 3).
        Frame = "frame",
        /// By burst, that is, packets sent within a burst time: departure and arrival of the last
        /// packet (draft-02 § 5.2; Guerrero Viveros 2019 § 2.2.2).
        Burst = "burst",
    }
}

words! {
    /// The state vector of the arrival filter.
    pub enum Filter {
        /// 1/C and m (Carlucci 2017, eqs. 4–10).
        TwoComponent = "two-component",
        /// Only m (Jansen 2016, eqs. 5-4 to 5-7; draft-02 § 5.3).
        OneComponent = "one-component",
    }
}

words! {
    /// Whether the threshold γ adapts.
    pub enum Threshold {
        /// γ follows |m| (Carlucci 2017, eqs. 11–12).
        Adaptive = "adaptive",
        /// γ keeps its initial value.
        Static = "static",
    }
}

words! {
    /// The quantity that is compared with the threshold.
    pub enum Compare {
        /// m, in ms (the papers, and the wording of the draft).
        Gradient = "m",
        /// min(deltas, 60) · m (libwebrtc `overuse_estimator.cc`).
        Scaled = "scaled-m",
    }
}

words! {
    /// How the rate increases in the state Increase.
    pub enum Increase {
        /// Half a packet per response time (Carlucci 2017, eq. 13).
        Additive = "additive",
        /// By a factor per second (Jansen 2016, eq. 5-1).
        Multiplicative = "multiplicative",
        /// Multiplicative far from convergence, additive near it (draft-02 § 5.5; Guerrero Viveros
        /// 2019 § 2.2.2).
        MultiplicativeAdditive = "multiplicative-additive",
    }
}

words! {
    /// Probing at the start of a call.
    pub enum Probing {
        /// No probes.
        None = "none",
        /// Probe clusters at the start, and further clusters while they succeed.
        Initial = "initial",
    }
}

settings! {
    /// Every constant of the published forms of Google Congestion Control. The delay estimation
    /// counts times in milliseconds and sizes in bytes.
    pub struct GccConfig {
        /// Where the delay-based controller runs: receiver (Carlucci 2017, Fig. 1) or sender
        /// (Guerrero Viveros 2019 § 2.2).
        "side" => side: Side,
        /// How packets are grouped: by frame (Carlucci 2017, eq. 3) or by burst (draft-02 § 5.2).
        "grouping" => grouping: Grouping,
        /// Packets sent within this time form one burst (draft-02 § 5.2: 5 ms).
        "burst_time" => burst_time: Duration,
        /// Pre-filter: whether groups that arrive together after an outage of the channel are
        /// merged into one (draft-02 § 5.2; Jansen 2016 § 6.3, its reference 50). On in draft-02,
        /// off in the forms that group by frame.
        "prefilter" => prefilter: bool,
        /// The arrival filter: two-component (Carlucci 2017, eqs. 4–10) or one-component (Jansen
        /// 2016, eqs. 5-4 to 5-7).
        "filter" => filter: Filter,
        /// State noise variance of 1/C, q_11, in (ms/byte)² (Carlucci 2017 § III-A: 1e-10).
        "filter.q_capacity" => q_capacity: f64,
        /// State noise variance of m, q_22, in ms² (Carlucci 2017 § III-A; Jansen 2016, eq. 5-5:
        /// 1e-3).
        "filter.q_gradient" => q_gradient: f64,
        /// β, the weight of the past in the measurement noise variance (Carlucci 2017, eq. 10:
        /// 0.95).
        "filter.beta" => beta: f64,
        /// Number of recent groups, at most 60, from which f_max, the highest group rate, is taken
        /// (draft-02 § 5.3 gives no number; libwebrtc `overuse_estimator.h`: 60). β holds for 30
        /// groups per second and is raised to the power 30/f_max. 0: β is not adjusted (Carlucci
        /// 2017, eq. 10).
        "filter.beta_groups" => beta_groups: usize,
        /// Minimum of the measurement noise variance, in ms² (draft-02 § 5.3: 1).
        "filter.min_noise" => min_noise: f64,
        /// Residuals are clamped to this many standard deviations for the noise variance (draft-02
        /// § 5.3: 3). 0: residuals are not clamped (Carlucci 2017, eq. 10).
        "filter.outlier" => outlier: f64,
        /// The threshold γ: adaptive (Carlucci 2017, eqs. 11–12) or static.
        "threshold" => threshold: Threshold,
        /// Initial γ, in ms: 12.5 (draft-02 § 5.4; Guerrero Viveros 2019 § 2.2.2) or 0.2 (Jansen
        /// 2016 § 5-1-2), which is the 12.5 of libwebrtc divided by 60, its scale of m.
        "threshold.initial" => initial_threshold: f64,
        /// k_u, the gain of γ while |m| is above γ, per ms (Carlucci 2017 § IV: 0.01).
        "threshold.k_up" => k_up: f64,
        /// k_d, the gain of γ while |m| is below γ, per ms (Carlucci 2017 § IV: 0.00018).
        "threshold.k_down" => k_down: f64,
        /// γ is not updated while |m| exceeds γ by more than this, in ms (draft-02 § 5.4; Guerrero
        /// Viveros 2019 § 2.2.2: 15).
        "threshold.skip" => skip: f64,
        /// Minimum of γ, in ms (draft-02 § 5.4 and libwebrtc `overuse_detector.cc`: 6, for scaled
        /// m). 0: no minimum.
        "threshold.min" => min_threshold: f64,
        /// Maximum of γ, in ms (draft-02 § 5.4 and libwebrtc `overuse_detector.cc`: 600).
        "threshold.max" => max_threshold: f64,
        /// The quantity that is compared with γ: m (the papers) or scaled-m, which is
        /// min(deltas, 60) · m (libwebrtc; the thresholds of draft-02 are for scaled m).
        "threshold.compare" => compare: Compare,
        /// Over-use is signalled after it has lasted this long (draft-02 § 5.4: 10 ms; Jansen 2016
        /// § 5-1-2: 100 ms).
        "overuse_time" => overuse_time: Duration,
        /// Whether over-use is signalled only while m does not decrease (draft-02 § 5.4).
        "overuse_rising" => overuse_rising: bool,
        /// The rule of increase: additive (Carlucci 2017, eq. 13), multiplicative (Jansen 2016, eq.
        /// 5-1) or multiplicative-additive (draft-02 § 5.5).
        "increase" => increase: Increase,
        /// Factor of the multiplicative increase, per second (Jansen 2016 § 8-2-1: 1.05; draft-02 §
        /// 5.5: 1.08).
        "increase.factor" => factor: f64,
        /// Response time minus round-trip time (draft-02 § 5.5: 100 ms; Carlucci 2017, eq. 13: 0).
        "increase.response_extra" => response_extra: Duration,
        /// Growth per second of the exponent of increase.factor during the multiplicative increase,
        /// until the rate doubles per second. 0: the exponent is 1, as in the papers (Guerrero
        /// Viveros 2019 § 7.1 asks for a faster mode and gives no rule; this rule is Weir's).
        "increase.acceleration" => acceleration: f64,
        /// Maximum time in the state Hold, after which the rate increases even if the signal is
        /// still under-use. 0: no maximum, as in the papers (Janczukowicz 2017 § 7.5.1 asks for a
        /// shorter Hold).
        "hold.longest" => hold_longest: Duration,
        /// Step of the rate in the state Hold, as a fraction of the step in the state Increase. 0:
        /// the rate is constant, as in the papers (Janczukowicz 2017 § 7.5.1 asks for a very small
        /// increase).
        "hold.increase" => hold_increase: f64,
        /// α: at over-use the rate decreases to this fraction of the received rate (Carlucci 2017,
        /// eq. 13: 0.85).
        "decrease" => decrease: f64,
        /// Whether α depends on the excess (|m| − γ)/γ: α = 1 − (1 − α₀) · excess, with the excess
        /// clamped to 1/3 … 2 (Jansen 2016 § 6.3, its reference 49; Jansen gives no formula, this
        /// one is Weir's).
        "decrease.dynamic" => decrease_dynamic: bool,
        /// The rate does not increase above this multiple of the received rate (Carlucci 2017 §
        /// III-A: 1.5).
        "rate_cap" => rate_cap: f64,
        /// Window over which the received rate R is measured (Jansen 2016 § 5-1: 500 ms).
        "rate_window" => rate_window: Duration,
        /// Time between REMB messages (Jansen 2016 § 8-2-1; draft-02 § 4: 1 s).
        "remb.interval" => remb_interval: Duration,
        /// A decrease of A_r by more than this fraction is sent at once (libwebrtc
        /// `remote_bitrate_estimator/remb_throttler.cc`: 0.03).
        "remb.fall" => remb_fall: f64,
        /// A_s decreases if the fraction lost is above this (Carlucci 2017, eq. 14: 0.1).
        "loss.high" => loss_high: f64,
        /// A_s increases if the fraction lost is below this (Carlucci 2017, eq. 14: 0.02).
        "loss.low" => loss_low: f64,
        /// Factor by which A_s increases (Carlucci 2017, eq. 14: 1.05).
        "loss.increase" => loss_increase: f64,
        /// A_s is multiplied by 1 minus this times the fraction lost (Carlucci 2017, eq. 14: 0.5).
        "loss.decrease" => loss_decrease: f64,
        /// Minimum time between two increases of A_s (libwebrtc
        /// `send_side_bandwidth_estimation.cc`: 1 s; in the papers reports are sent once per
        /// second).
        "loss.increase_interval" => loss_increase_interval: Duration,
        /// Whether A_s is capped by A_r (Jansen 2016, eq. 5-12; libwebrtc
        /// `send_side_bandwidth_estimation.cc`). Carlucci 2017 and draft-02 § 6 only take the
        /// minimum at the end, so that A_s grows without bound. The profile draft-02 caps A_s as
        /// libwebrtc does.
        "loss.capped" => loss_capped: bool,
        /// Size of the smallest buffer on the path: none (unknown), path (Weir fills in the size
        /// from the experiment), or a size such as 16kB (Janczukowicz 2017 § 7.5.1, § 7.5.2).
        "hint.buffer" => hint_buffer: BufferHint,
        /// If hint.buffer drains at the target rate in a time t shorter than this, loss.low and
        /// loss.high are multiplied by t over this (Weir's rule: Janczukowicz 2017 § 7.2.2 reports
        /// problems with 16 kB at 1 Mbit/s, 128 ms, and none with 32 kB, 256 ms).
        "hint.short" => hint_short: Duration,
        /// Pacing rate as a multiple of the target: 1 (draft-02 § 4) or 2.5 (libwebrtc
        /// `goog_cc_network_control.cc`, as in the browsers that the papers measured).
        "pacing.factor" => pacing_factor: f64,
        /// Probing at the start of a call: none, or initial (Jansen 2016 § 8-1-2 observed this
        /// ramp-up function).
        "probing" => probing: Probing,
    }
}

impl GccConfig {
    /// The part of the configuration that the arrival filter uses.
    pub(crate) fn filter(&self) -> FilterConfig {
        FilterConfig {
            form: self.filter,
            q: [self.q_capacity, self.q_gradient],
            q_by_rate: false,
            beta: self.beta,
            beta_groups: self.beta_groups,
            min_interval: self.burst_time,
            min_noise: self.min_noise,
            outlier: self.outlier,
        }
    }
}
