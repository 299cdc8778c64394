//! The constants of Google Congestion Control by name.

use super::arrival_filter::FilterConfig;
use super::buffer_hint::BufferHint;
use super::words::words;
use crate::setting::settings;
use units::Duration;

words! {
    /// Where the delay-based controller runs.
    pub enum Side {
        /// At the receiver, which sends REMB.
        Receiver = "receiver",
        /// At the sender, fed by transport-wide feedback.
        Sender = "sender",
    }
}

words! {
    /// What a group of packets is.
    pub enum Grouping {
        /// A video frame: departure of its first packet, arrival of its last (Carlucci 2017, eq.
        /// 3).
        Frame = "frame",
        /// Packets sent within a burst time (draft-02 § 5.2; Guerrero Viveros 2019 § 2.2.2):
        /// departure and arrival of the last packet.
        Burst = "burst",
    }
}

words! {
    /// The state of the arrival filter.
    pub enum Filter {
        /// 1/C and m (Carlucci 2017, eqs. 4–10).
        TwoComponent = "two-component",
        /// m alone (Jansen 2016, eqs. 5-4 to 5-7; draft-02 § 5.3).
        OneComponent = "one-component",
    }
}

words! {
    /// Whether the threshold moves.
    pub enum Threshold {
        /// It follows |m| (Carlucci 2017, eqs. 11–12).
        Adaptive = "adaptive",
        /// It stays at its initial value.
        Static = "static",
    }
}

words! {
    /// What is compared with the threshold.
    pub enum Compare {
        /// m itself, in ms (the papers, and the draft's wording).
        Gradient = "m",
        /// min(deltas, 60) · m (libwebrtc `overuse_estimator.cc`).
        Scaled = "scaled-m",
    }
}

words! {
    /// How the rate grows in the state Increase.
    pub enum Increase {
        /// Half a packet per response time (Carlucci 2017, eq. 13).
        Additive = "additive",
        /// By a factor a second (Jansen 2016, eq. 5-1).
        Multiplicative = "multiplicative",
        /// Multiplicative far from convergence, additive near it (draft-02 § 5.5; Guerrero Viveros
        /// 2019 § 2.2.2).
        MultiplicativeAdditive = "multiplicative-additive",
    }
}

words! {
    /// Whether the start is probed.
    pub enum Probing {
        /// No probes.
        None = "none",
        /// Clusters at the start, and further ones while they succeed.
        Initial = "initial",
    }
}

settings! {
    /// Every constant of the forms of Google Congestion Control that were published. Times of the
    /// delay estimation are in milliseconds, sizes in bytes.
    pub struct GccConfig {
        /// Where the delay-based controller runs: receiver (Carlucci 2017, Fig. 1) or sender
        /// (Guerrero Viveros 2019 § 2.2).
        "side" => side: Side,
        /// What a group of packets is: frame (Carlucci 2017, eq. 3) or burst (draft-02 § 5.2).
        "grouping" => grouping: Grouping,
        /// Packets sent within this time are one burst (draft-02 § 5.2: 5 ms).
        "burst_time" => burst_time: Duration,
        /// Whether groups that an outage pushed together are one (draft-02 § 5.2; Jansen 2016 §
        /// 6.3, its reference [50]): on in draft-02, off in the forms that group by frames.
        "prefilter" => prefilter: bool,
        /// The arrival filter: two-component (Carlucci 2017, eqs. 4–10) or one-component (Jansen
        /// 2016, eqs. 5-4 to 5-7).
        "filter" => filter: Filter,
        /// State noise variance of 1/C, q_11 (Carlucci 2017 § III-A: 1e-10), (ms/byte)².
        "filter.q_capacity" => q_capacity: f64,
        /// State noise variance of m, q_22 (Carlucci 2017 § III-A; Jansen 2016, eq. 5-5: 1e-3),
        /// ms².
        "filter.q_gradient" => q_gradient: f64,
        /// Weight of the past in the measurement noise variance, β (Carlucci 2017, eq. 10: 0.95).
        "filter.beta" => beta: f64,
        /// β is meant for 30 groups a second: it is raised to 30 over the highest rate at which the
        /// last so many groups left (draft-02 § 5.3, which leaves the number open; libwebrtc
        /// `overuse_estimator.h`: 60). 0: β as it is (Carlucci 2017, eq. 10). At most 60.
        "filter.beta_groups" => beta_groups: usize,
        /// The measurement noise variance falls no lower (draft-02 § 5.3: 1), ms².
        "filter.min_noise" => min_noise: f64,
        /// Residuals count for the noise variance only up to this many deviations (draft-02 § 5.3:
        /// 3); 0: all of them (Carlucci 2017, eq. 10).
        "filter.outlier" => outlier: f64,
        /// Adaptive (Carlucci 2017, eqs. 11–12) or static.
        "threshold" => threshold: Threshold,
        /// γ at the start: 12.5 ms (draft-02 § 5.4; Guerrero Viveros 2019 § 2.2.2) or 0.2 ms
        /// (Jansen 2016 § 5-1-2), which is libwebrtc's 12.5 over the 60 by which it scales m.
        "threshold.initial" => initial_threshold: f64,
        /// k_u, per ms (Carlucci 2017 § IV: 0.01).
        "threshold.k_up" => k_up: f64,
        /// k_d, per ms (Carlucci 2017 § IV: 0.00018).
        "threshold.k_down" => k_down: f64,
        /// No update while |m| exceeds γ by more than this (draft-02 § 5.4; Guerrero Viveros 2019 §
        /// 2.2.2: 15), ms.
        "threshold.skip" => skip: f64,
        /// γ falls no lower (draft-02 § 5.4 and libwebrtc `overuse_detector.cc`: 6, where scaled m
        /// is compared; 0: no bound), ms.
        "threshold.min" => min_threshold: f64,
        /// γ rises no higher (draft-02 § 5.4 and libwebrtc `overuse_detector.cc`: 600), ms.
        "threshold.max" => max_threshold: f64,
        /// What is compared with γ: m (the papers) or scaled-m, min(deltas, 60) · m (libwebrtc,
        /// after which draft-02 sets its thresholds).
        "threshold.compare" => compare: Compare,
        /// Over-use is signalled when it has lasted this long (draft-02 § 5.4: 10 ms; Jansen 2016 §
        /// 5-1-2: 100 ms).
        "overuse_time" => overuse_time: Duration,
        /// Over-use is signalled only while m does not fall (draft-02 § 5.4).
        "overuse_rising" => overuse_rising: bool,
        /// The increase rule (Carlucci 2017, eq. 13: additive; Jansen 2016, eq. 5-1:
        /// multiplicative).
        "increase" => increase: Increase,
        /// The factor a second of the multiplicative increase (Jansen 2016 § 8-2-1: 1.05; draft-02
        /// § 5.5: 1.08).
        "increase.factor" => factor: f64,
        /// Added to the round-trip time to make the response time (draft-02 § 5.5: 100 ms; Carlucci
        /// 2017, eq. 13: 0).
        "increase.response_extra" => response_extra: Duration,
        /// In multiplicative mode the exponent of the factor grows by this much a second while it
        /// lasts, until the rate doubles in a second; 0: it is 1, as in the papers (Guerrero
        /// Viveros 2019 § 7.1 asks for a faster mode; the law is ours).
        "increase.acceleration" => acceleration: f64,
        /// After so long in the state Hold the rate rises although the signal is still under-use;
        /// 0: as long as that lasts, as in the papers (Janczukowicz 2017 § 7.5.1 asks for a shorter
        /// one).
        "hold.longest" => hold_longest: Duration,
        /// The share of the step of Increase by which the rate grows in the state Hold; 0: it is
        /// constant, as in the papers (Janczukowicz 2017 § 7.5.1 asks for a very small growth).
        "hold.increase" => hold_increase: f64,
        /// α, the share of the received rate to which the rate falls (Carlucci 2017, eq. 13: 0.85).
        "decrease" => decrease: f64,
        /// Whether the fall follows the excess (|m| − γ)/γ: α = 1 − (1 − α₀) · excess, within 1/3
        /// and 2 (Jansen 2016 § 6.3, its reference [49], of which it gives no formula: this one is
        /// ours).
        "decrease.dynamic" => decrease_dynamic: bool,
        /// The rate is not raised above this multiple of the received rate (Carlucci 2017 § III-A:
        /// 1.5).
        "rate_cap" => rate_cap: f64,
        /// The window of the received rate R (Jansen 2016 § 5-1: 500 ms).
        "rate_window" => rate_window: Duration,
        /// Time between REMB messages (Jansen 2016 § 8-2-1; draft-02 § 4: 1 s).
        "remb.interval" => remb_interval: Duration,
        /// A fall by more than this share is reported at once (libwebrtc
        /// `remote_bitrate_estimator/remb_throttler.cc`: 0.03).
        "remb.fall" => remb_fall: f64,
        /// Above this share of loss A_s falls (Carlucci 2017, eq. 14: 0.1).
        "loss.high" => loss_high: f64,
        /// Below this share of loss A_s rises (Carlucci 2017, eq. 14: 0.02).
        "loss.low" => loss_low: f64,
        /// The factor by which A_s rises (Carlucci 2017, eq. 14: 1.05).
        "loss.increase" => loss_increase: f64,
        /// A_s falls by this share of the loss (Carlucci 2017, eq. 14: 0.5).
        "loss.decrease" => loss_decrease: f64,
        /// A_s rises at most once in this time (libwebrtc `send_side_bandwidth_estimation.cc`: 1 s;
        /// the reports of the papers come once a second).
        "loss.increase_interval" => loss_increase_interval: Duration,
        /// A_s never exceeds A_r (Jansen 2016, eq. 5-12; libwebrtc
        /// `send_side_bandwidth_estimation.cc`); Carlucci 2017 and draft-02 § 6 take the minimum
        /// only at the end, after which A_s grows without bound; the profile draft-02 caps it as
        /// libwebrtc does.
        "loss.capped" => loss_capped: bool,
        /// The smallest buffer on the path: none (unknown), path (whoever builds the controller
        /// puts the size here), or a size such as 16kB (Janczukowicz 2017 § 7.5.1, § 7.5.2).
        "hint.buffer" => hint_buffer: BufferHint,
        /// Where that drains at the target in less than this, loss.low and loss.high are multiplied
        /// by the time over this (ours: Janczukowicz 2017 § 7.2.2 found trouble with 16 kB at 1
        /// Mbit/s, 128 ms, and none with 32 kB, 256 ms).
        "hint.short" => hint_short: Duration,
        /// The pacing rate as a multiple of the target: 1 (draft-02 § 4) or 2.5 (libwebrtc
        /// `goog_cc_network_control.cc`), as the browsers of the experiments paced.
        "pacing.factor" => pacing_factor: f64,
        /// Probes at the start: none, or initial (Jansen 2016 § 8-1-2 observed the ramp-up
        /// function).
        "probing" => probing: Probing,
    }
}

impl GccConfig {
    /// What of it the arrival filter needs.
    pub(crate) fn filter(&self) -> FilterConfig {
        FilterConfig {
            form: self.filter,
            q: [self.q_capacity, self.q_gradient],
            q_by_rate: false,
            beta: self.beta,
            beta_groups: self.beta_groups,
            least_interval: self.burst_time,
            min_noise: self.min_noise,
            outlier: self.outlier,
        }
    }
}
