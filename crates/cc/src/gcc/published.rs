//! The published profiles: their constants.
//!
//! Where a source gives no value, the profile takes the value of draft-ietf-rmcat-gcc-02, which has
//! the same authors as Carlucci 2017; where the draft gives none, the value of libwebrtc. Two
//! values of Carlucci 2017 and Jansen 2016 are those of the measured browser, because the values of
//! the draft do not fit: the pacing factor, and γ(0), whose 12.5 the browser compares with 60 m and
//! not with m. The improvements that the papers propose are off in all profiles (`improvements`).

use super::buffer_hint::BufferHint;
use super::config::{Compare, Filter, GccConfig, Grouping, Increase, Probing, Side, Threshold};
use units::Duration;

/// A published form: name, constants and summary.
pub(crate) struct Published {
    pub(crate) name: &'static str,
    pub(crate) config: fn() -> GccConfig,
    pub(crate) summary: &'static str,
}

impl GccConfig {
    /// Carlucci, De Cicco, Holmer, Mascolo 2017.
    pub(crate) fn carlucci_2017() -> Self {
        Self {
            side: Side::Receiver,
            grouping: Grouping::Frame,
            burst_time: Duration::from_millis(5),
            prefilter: false,
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
            overuse_rising: false,
            increase: Increase::Additive,
            factor: 1.08,
            response_extra: Duration::ZERO,
            acceleration: 0.0,
            hold_longest: Duration::ZERO,
            hold_increase: 0.0,
            decrease: 0.85,
            decrease_dynamic: false,
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
            hint_buffer: BufferHint::None,
            hint_short: Duration::from_millis(250),
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

    /// draft-ietf-rmcat-gcc-02, July 2016, as Guerrero Viveros 2019 § 2.2 describes it. The
    /// thresholds of the draft (12.5 ms, from 6 to 600) are those of libwebrtc, which compares them
    /// with scaled m. m itself, which § 5.4 compares, stays below them until the queue is full.
    pub(crate) fn draft_02() -> Self {
        Self {
            grouping: Grouping::Burst,
            prefilter: true,
            filter: Filter::OneComponent,
            beta_groups: 60,
            outlier: 3.0,
            initial_threshold: 12.5,
            min_threshold: 6.0,
            compare: Compare::Scaled,
            overuse_rising: true,
            pacing_factor: 1.0,
            increase: Increase::MultiplicativeAdditive,
            response_extra: Duration::from_millis(100),
            loss_capped: true,
            probing: Probing::Initial,
            ..Self::carlucci_2017()
        }
    }

    pub(crate) const PROFILES: [Published; 3] = [
        Published {
            name: "carlucci-2017",
            config: Self::carlucci_2017,
            summary: "Carlucci, De Cicco, Holmer, Mascolo 2017: delay-based at the receiver, \
                      loss-based at the sender",
        },
        Published {
            name: "jansen-2016",
            config: Self::jansen_2016,
            summary: "Jansen 2016, chapter 5: one-component filter, ×1.05 per second (Chrome 52)",
        },
        Published {
            name: "draft-02",
            config: Self::draft_02,
            summary: "draft-ietf-rmcat-gcc-02, as in Guerrero Viveros 2019 § 2.2: packet bursts, \
                      multiplicative-additive increase",
        },
    ];
}
