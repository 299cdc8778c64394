//! The constants of Google Congestion Control by name, and the published profiles.
//!
//! Where a source is silent, the profile takes the value of draft-ietf-rmcat-gcc-02, by the same authors as
//! Carlucci 2017; where that is silent too, libwebrtc's. Two values of Carlucci 2017 and Jansen 2016 are those of the
//! browser that was measured, because the draft's describe something else: the pacing factor, and γ(0), whose
//! 12.5 the browser compares with 60 m and not with m.

use super::arrival_filter::FilterConfig;
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
        /// A video frame: departure of its first packet, arrival of its last (Carlucci 2017, eq. 3).
        Frame = "frame",
        /// Packets sent within a burst time, and bursts that an outage pushed together (draft-02 § 5.2; Guerrero Viveros 2019
        /// § 2.2.2): departure and arrival of the last packet.
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
        /// Multiplicative far from convergence, additive near it (draft-02 § 5.5; Guerrero Viveros 2019 § 2.2.2).
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
    /// Every constant of the forms of Google Congestion Control that were published. Times of the delay
    /// estimation are in milliseconds, sizes in bytes.
    pub struct GccConfig {
        /// Where the delay-based controller runs: receiver (Carlucci 2017, Fig. 1) or sender (Guerrero Viveros 2019 § 2.2).
        "side" => side: Side,
        /// What a group of packets is: frame (Carlucci 2017, eq. 3) or burst (draft-02 § 5.2).
        "grouping" => grouping: Grouping,
        /// Packets sent within this time are one burst (draft-02 § 5.2: 5 ms).
        "burst_time" => burst_time: Duration,
        /// The arrival filter: two-component (Carlucci 2017, eqs. 4–10) or one-component (Jansen 2016, eqs. 5-4 to 5-7).
        "filter" => filter: Filter,
        /// State noise variance of 1/C, q_11 (Carlucci 2017 § III-A: 1e-10), (ms/byte)².
        "filter.q_capacity" => q_capacity: f64,
        /// State noise variance of m, q_22 (Carlucci 2017 § III-A; Jansen 2016, eq. 5-5: 1e-3), ms².
        "filter.q_gradient" => q_gradient: f64,
        /// Weight of the past in the measurement noise variance, β (Carlucci 2017, eq. 10: 0.95).
        "filter.beta" => beta: f64,
        /// β is meant for 30 groups a second: it is raised to 30 over the highest rate at which the last so many groups left (draft-02 § 5.3, which leaves the number open; libwebrtc `overuse_estimator.h`: 60). 0: β as it is (Carlucci 2017, eq. 10). At most 60.
        "filter.beta_groups" => beta_groups: usize,
        /// The measurement noise variance falls no lower (draft-02 § 5.3: 1), ms².
        "filter.min_noise" => min_noise: f64,
        /// Residuals count for the noise variance only up to this many deviations (draft-02 § 5.3: 3); 0: all of them (Carlucci 2017, eq. 10).
        "filter.outlier" => outlier: f64,
        /// Adaptive (Carlucci 2017, eqs. 11–12) or static.
        "threshold" => threshold: Threshold,
        /// γ at the start: 12.5 ms (draft-02 § 5.4; Guerrero Viveros 2019 § 2.2.2) or 0.2 ms (Jansen 2016 § 5-1-2), which is libwebrtc's 12.5 over the 60 by which it scales m.
        "threshold.initial" => initial_threshold: f64,
        /// k_u, per ms (Carlucci 2017 § IV: 0.01).
        "threshold.k_up" => k_up: f64,
        /// k_d, per ms (Carlucci 2017 § IV: 0.00018).
        "threshold.k_down" => k_down: f64,
        /// No update while |m| exceeds γ by more than this (draft-02 § 5.4; Guerrero Viveros 2019 § 2.2.2: 15), ms.
        "threshold.skip" => skip: f64,
        /// γ falls no lower (draft-02 § 5.4 and libwebrtc `overuse_detector.cc`: 6, where scaled m is compared; 0: no bound), ms.
        "threshold.min" => min_threshold: f64,
        /// γ rises no higher (draft-02 § 5.4 and libwebrtc `overuse_detector.cc`: 600), ms.
        "threshold.max" => max_threshold: f64,
        /// What is compared with γ: m (the papers) or scaled-m, min(deltas, 60) · m (libwebrtc, after which draft-02 sets its thresholds).
        "threshold.compare" => compare: Compare,
        /// Over-use is signalled when it has lasted this long (draft-02 § 5.4: 10 ms; Jansen 2016 § 5-1-2: 100 ms).
        "overuse_time" => overuse_time: Duration,
        /// Over-use is signalled only while m does not fall (draft-02 § 5.4).
        "overuse_rising" => overuse_rising: bool,
        /// The increase rule (Carlucci 2017, eq. 13: additive; Jansen 2016, eq. 5-1: multiplicative).
        "increase" => increase: Increase,
        /// The factor a second of the multiplicative increase (Jansen 2016 § 8-2-1: 1.05; draft-02 § 5.5: 1.08).
        "increase.factor" => factor: f64,
        /// Added to the round-trip time to make the response time (draft-02 § 5.5: 100 ms; Carlucci 2017, eq. 13: 0).
        "increase.response_extra" => response_extra: Duration,
        /// α, the share of the received rate to which the rate falls (Carlucci 2017, eq. 13: 0.85).
        "decrease" => decrease: f64,
        /// The rate is not raised above this multiple of the received rate (Carlucci 2017 § III-A: 1.5).
        "rate_cap" => rate_cap: f64,
        /// The window of the received rate R (Jansen 2016 § 5-1: 500 ms).
        "rate_window" => rate_window: Duration,
        /// Time between REMB messages (Jansen 2016 § 8-2-1; draft-02 § 4: 1 s).
        "remb.interval" => remb_interval: Duration,
        /// A fall by more than this share is reported at once (libwebrtc `remote_bitrate_estimator/remb_throttler.cc`: 0.03).
        "remb.fall" => remb_fall: f64,
        /// Above this share of loss A_s falls (Carlucci 2017, eq. 14: 0.1).
        "loss.high" => loss_high: f64,
        /// Below this share of loss A_s rises (Carlucci 2017, eq. 14: 0.02).
        "loss.low" => loss_low: f64,
        /// The factor by which A_s rises (Carlucci 2017, eq. 14: 1.05).
        "loss.increase" => loss_increase: f64,
        /// A_s falls by this share of the loss (Carlucci 2017, eq. 14: 0.5).
        "loss.decrease" => loss_decrease: f64,
        /// A_s rises at most once in this time (libwebrtc `send_side_bandwidth_estimation.cc`: 1 s; the reports of the papers come once a second).
        "loss.increase_interval" => loss_increase_interval: Duration,
        /// A_s never exceeds A_r (Jansen 2016, eq. 5-12; libwebrtc `send_side_bandwidth_estimation.cc`); Carlucci 2017 and draft-02 § 6 take the minimum only at the end, after which A_s grows without bound; the profile draft-02 caps it as libwebrtc does.
        "loss.capped" => loss_capped: bool,
        /// The pacing rate as a multiple of the target: 1 (draft-02 § 4) or 2.5 (libwebrtc `goog_cc_network_control.cc`), as the browsers of the experiments paced.
        "pacing.factor" => pacing_factor: f64,
        /// Probes at the start: none, or initial (Jansen 2016 § 8-1-2 observed the ramp-up function).
        "probing" => probing: Probing,
    }
}

/// A published form: its name, its constants, and a line on it.
pub(crate) struct Published {
    pub(crate) name: &'static str,
    pub(crate) config: fn() -> GccConfig,
    pub(crate) summary: &'static str,
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

    /// Carlucci, De Cicco, Holmer, Mascolo 2017.
    pub(crate) fn carlucci_2017() -> Self {
        Self {
            side: Side::Receiver,
            grouping: Grouping::Frame,
            burst_time: Duration::from_millis(5),
            filter: Filter::TwoComponent,
            q_capacity: 1e-10,
            q_gradient: 1e-3,
            beta: 0.95,
            beta_groups: 0,
            min_noise: 1.0,
            outlier: 0.0,
            threshold: Threshold::Adaptive,
            initial_threshold: 0.2,
            k_up: 0.01,
            k_down: 0.00018,
            skip: 15.0,
            min_threshold: 0.0,
            max_threshold: 600.0,
            compare: Compare::Gradient,
            overuse_time: Duration::from_millis(10),
            overuse_rising: true,
            increase: Increase::Additive,
            factor: 1.08,
            response_extra: Duration::ZERO,
            decrease: 0.85,
            rate_cap: 1.5,
            rate_window: Duration::from_millis(500),
            remb_interval: Duration::from_secs(1),
            remb_fall: 0.03,
            loss_high: 0.1,
            loss_low: 0.02,
            loss_increase: 1.05,
            loss_decrease: 0.5,
            loss_increase_interval: Duration::from_secs(1),
            loss_capped: false,
            pacing_factor: 2.5,
            probing: Probing::None,
        }
    }

    /// Jansen 2016, chapter 5 (Chrome 52).
    pub(crate) fn jansen_2016() -> Self {
        Self {
            filter: Filter::OneComponent,
            overuse_time: Duration::from_millis(100),
            increase: Increase::Multiplicative,
            factor: 1.05,
            loss_capped: true,
            probing: Probing::Initial,
            ..Self::carlucci_2017()
        }
    }

    /// draft-ietf-rmcat-gcc-02, July 2016, as Guerrero Viveros 2019 § 2.2 describes it. Its thresholds (12.5 ms, from
    /// 6 to 600) are those of libwebrtc, which compares scaled m with them; m itself, as § 5.4 is worded, stays
    /// below them until the queue is full.
    pub(crate) fn draft_02() -> Self {
        Self {
            grouping: Grouping::Burst,
            filter: Filter::OneComponent,
            beta_groups: 60,
            outlier: 3.0,
            initial_threshold: 12.5,
            min_threshold: 6.0,
            compare: Compare::Scaled,
            pacing_factor: 1.0,
            increase: Increase::MultiplicativeAdditive,
            response_extra: Duration::from_millis(100),
            loss_capped: true,
            probing: Probing::Initial,
            ..Self::carlucci_2017()
        }
    }

    /// The profiles.
    pub(crate) const PROFILES: [Published; 3] = [
        Published {
            name: "carlucci-2017",
            config: Self::carlucci_2017,
            summary: "Carlucci, De Cicco, Holmer, Mascolo 2017: delay-based at the receiver, loss-based at the sender",
        },
        Published {
            name: "jansen-2016",
            config: Self::jansen_2016,
            summary: "Jansen 2016, chapter 5: one-component filter, ×1.05 a second (Chrome 52)",
        },
        Published {
            name: "draft-02",
            config: Self::draft_02,
            summary: "draft-ietf-rmcat-gcc-02, as in Guerrero Viveros 2019 § 2.2: bursts, far and near",
        },
    ];
}
