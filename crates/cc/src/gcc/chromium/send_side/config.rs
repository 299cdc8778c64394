//! The settings of `gcc:chrome-72`.

use super::super::detector::Rules;
use super::super::groups::GroupRules;
use super::super::loss::LossRules;
use super::super::words::Clock;
use crate::setting::settings;
use units::{Bitrate, Duration};

settings! {
    /// Every rule and constant of libwebrtc at the sender of November 2018 that has a setting. File
    /// names are below `modules/`, `goog_cc/` stands for `congestion_controller/goog_cc/`.
    pub struct SendSideConfig {
        /// Packets sent within this time after the first packet of a group belong to the group
        /// (`goog_cc/delay_based_bwe.cc`: 5 ms).
        "group.length" => group_length: Duration,
        /// A packet that arrives within this time after a group and with less delay joins the group
        /// as part of a burst (`remote_bitrate_estimator/inter_arrival.cc`: 5 ms). 0: no bursts.
        "group.burst_gap" => burst_gap: Duration,
        /// Maximum length of a burst (`remote_bitrate_estimator/inter_arrival.cc`, `be20ef789d`,
        /// 2018-09-06: 100 ms). 0: no maximum.
        "group.longest_burst" => longest_burst: Duration,
        /// Whether a packet is ignored that would complete a group whose arrival lies before that
        /// of its predecessor (`remote_bitrate_estimator/inter_arrival.cc`, `cfd5f96307`,
        /// 2015-07-24).
        "group.skip_reordered" => skip_reordered: bool,
        /// Whether the groups are forgotten after three such packets in a row, or if the arrival
        /// time jumps by 3 s (`remote_bitrate_estimator/inter_arrival.cc`, 2016).
        "group.resets" => group_resets: bool,
        /// After a pause of this length in the feedback, groups, trend and threshold are reset
        /// (`goog_cc/delay_based_bwe.cc`: 2 s).
        "silence.time" => silence_time: Duration,
        /// Number of groups in the least-squares window, 2 to 200 (`goog_cc/delay_based_bwe.cc`,
        /// `76d9c9c382`, 2017-04-01: 20).
        "trend.window" => trend_window: usize,
        /// Weight of the past in the smoothed delay (`goog_cc/delay_based_bwe.cc`: 0.9).
        "trend.smoothing" => trend_smoothing: f64,
        /// Factor of the slope (`goog_cc/delay_based_bwe.cc`: 4).
        "trend.gain" => trend_gain: f64,
        /// Initial threshold, in ms (`goog_cc/trendline_estimator.cc`: 12.5).
        "threshold.initial" => initial_threshold: f64,
        /// k_up, the gain of the threshold while |T| is above it, per ms
        /// (`goog_cc/trendline_estimator.cc`; `db7543809e`, 2016-08-04: 0.0087).
        "threshold.k_up" => k_up: f64,
        /// k_down, the gain of the threshold while |T| is below it, per ms (the same: 0.039).
        "threshold.k_down" => k_down: f64,
        /// The threshold is not updated while |T| exceeds it by more than this, in ms (the same
        /// file: 15).
        "threshold.skip" => threshold_skip: f64,
        /// Minimum of the threshold, in ms (the same file: 6).
        "threshold.min" => min_threshold: f64,
        /// Maximum of the threshold, in ms (the same file: 600).
        "threshold.max" => max_threshold: f64,
        /// Maximum elapsed time in an update of the threshold (the same file: 100 ms). 0: no
        /// maximum.
        "threshold.longest_step" => longest_step: Duration,
        /// Over-use is signalled after more than this time (the same file: 10 ms).
        "overuse_time" => overuse_time: Duration,
        /// First window of the acknowledged rate (`goog_cc/bitrate_estimator.cc`: 500 ms).
        "acknowledged.first_window" => first_window: Duration,
        /// Further windows of the acknowledged rate (`goog_cc/bitrate_estimator.cc`: 150 ms).
        "acknowledged.window" => acknowledged_window: Duration,
        /// β: at over-use the rate decreases to this fraction of the acknowledged rate
        /// (`remote_bitrate_estimator/aimd_rate_control.cc`: 0.85).
        "decrease" => decrease: f64,
        /// Factor of the multiplicative increase, per second (the same file: 1.08).
        "increase.factor" => factor: f64,
        /// Minimum of the multiplicative increase per update, in bit/s (the same file: 1 kbit/s).
        "increase.min" => min_increase: Bitrate,
        /// Share of the average packet by which the rate increases per response time near the link
        /// capacity (the same file: 0.5).
        "increase.packet_share" => packet_share: f64,
        /// Minimum of the additive increase, per second (the same file, `8490f8af21`, 2017-04-20: 4
        /// kbit/s).
        "increase.additive_min" => additive_min: Bitrate,
        /// Response time minus round-trip time (the same file: 100 ms).
        "increase.response_extra" => response_extra: Duration,
        /// The rate does not increase above this multiple of the acknowledged rate, plus 10 kbit/s
        /// (the same file, `db752f9b37`, 2016-12-05: 1.5).
        "rate_cap" => rate_cap: f64,
        /// During over-use the rate decreases again at once if the acknowledged rate is below this
        /// fraction of the rate (the same file, `df28e47a4b`, 2016-12-02: 0.5).
        "reduce.below" => reduce_below: f64,
        /// Whether clusters at 3 and 6 times the start rate probe the path, and further clusters
        /// while the results are near the probed rate (`goog_cc/probe_controller.cc`, `b2540bb99f`,
        /// 2016-09-12).
        "probe.start" => probe_start: bool,
        /// Maximum rate of a probe (`goog_cc/probe_controller.cc`: 5 Mbit/s).
        "probe.max" => probe_max: Bitrate,
        /// Maximum rate of a probe as a multiple of max_rate, which stands for the allocated
        /// maximum (`goog_cc/probe_controller.cc`, `cfe36ca3b3`, 2018-11-29: 1; `74fb822b67`,
        /// 2018-12-04: 2). 0: no such maximum.
        "probe.allocated" => probe_allocated: f64,
        /// The rate increases up to this fraction lost, in 256ths
        /// (`bitrate_controller/send_side_bandwidth_estimation.cc`: 0.02, that is 5).
        "loss.low" => loss_low: u32,
        /// The rate decreases above this fraction lost, in 256ths (the same file: 0.1, that is 25).
        "loss.high" => loss_high: u32,
        /// Factor of the increase, from the least rate of the last second (the same file: 1.08).
        "loss.increase" => loss_increase: f64,
        /// Additional increase (the same file: 1 kbit/s).
        "loss.increase_extra" => loss_increase_extra: Bitrate,
        /// Minimum time between two decreases minus round-trip time (the same file: 300 ms).
        "loss.decrease_interval" => loss_decrease_interval: Duration,
        /// Whether a report causes at most one decrease (the same file, `b7edb88ae2`, 2015-10-22).
        "loss.once_per_report" => loss_once: bool,
        /// Packets that a loss rate needs (the same file: 20).
        "loss.min_packets" => loss_min_packets: u64,
        /// Time after the first report in which the delay-based rate is trusted, if no packet was
        /// lost (the same file: 2 s).
        "loss.start_phase" => start_phase: Duration,
        /// Time after the last report until the rate no longer changes (the same file,
        /// `52200d0b7f`, 2016-09-20: 6 s). 0: the rate changes by the last report.
        "loss.stale_after" => stale_after: Duration,
        /// Interval of the timer (`goog_cc/goog_cc_factory.cc`: 25 ms).
        "loss.timer" => loss_timer: Duration,
        /// Pacing rate as a multiple of the target (`goog_cc/goog_cc_network_control.cc`: 2.5; 1 in
        /// the field trial of 2019).
        "pacing.factor" => pacing_factor: f64,
    }
}

impl Default for SendSideConfig {
    /// libwebrtc `35f1e8568a`, 2018-11-29 (Chrome 72), without field trials.
    fn default() -> Self {
        Self {
            group_length: Duration::from_millis(5),
            burst_gap: Duration::from_millis(5),
            longest_burst: Duration::from_millis(100),
            skip_reordered: true,
            group_resets: true,
            silence_time: Duration::from_secs(2),
            trend_window: 20,
            trend_smoothing: 0.9,
            trend_gain: 4.0,
            initial_threshold: 12.5,
            k_up: 0.0087,
            k_down: 0.039,
            threshold_skip: 15.0,
            min_threshold: 6.0,
            max_threshold: 600.0,
            longest_step: Duration::from_millis(100),
            overuse_time: Duration::from_millis(10),
            first_window: Duration::from_millis(500),
            acknowledged_window: Duration::from_millis(150),
            decrease: 0.85,
            factor: 1.08,
            min_increase: Bitrate::from_kbps(1),
            packet_share: 0.5,
            additive_min: Bitrate::from_kbps(4),
            response_extra: Duration::from_millis(100),
            rate_cap: 1.5,
            reduce_below: 0.5,
            probe_start: true,
            probe_max: Bitrate::from_mbps(5),
            probe_allocated: 1.0,
            loss_low: 5,
            loss_high: 25,
            loss_increase: 1.08,
            loss_increase_extra: Bitrate::from_kbps(1),
            loss_decrease_interval: Duration::from_millis(300),
            loss_once: true,
            loss_min_packets: 20,
            start_phase: Duration::from_secs(2),
            stale_after: Duration::from_secs(6),
            loss_timer: Duration::from_millis(25),
            pacing_factor: 2.5,
        }
    }
}

impl SendSideConfig {
    /// The part of the configuration that the grouping uses.
    pub(super) fn groups(&self) -> GroupRules {
        GroupRules {
            clock: Clock::AbsSendTime,
            length: self.group_length,
            burst_gap: self.burst_gap,
            longest_burst: self.longest_burst,
            skip_reordered: self.skip_reordered,
            resets: self.group_resets,
        }
    }

    /// The part of the configuration that the detector uses.
    pub(super) fn detector(&self) -> Rules {
        Rules {
            adaptive: true,
            initial: (self.initial_threshold, self.initial_threshold),
            gains: (self.k_up, self.k_down),
            skip: self.threshold_skip,
            bounds: (self.min_threshold, self.max_threshold.max(self.min_threshold)),
            longest_step: self.longest_step,
            overuse_time: self.overuse_time,
        }
    }

    /// The part of the configuration that the loss-based rate uses.
    pub(super) fn loss(&self) -> LossRules {
        LossRules {
            low: self.loss_low,
            high: self.loss_high,
            increase: self.loss_increase,
            increase_extra: self.loss_increase_extra,
            decrease_interval: self.loss_decrease_interval,
            once_per_report: self.loss_once,
            tfrc_floor: false,
            min_packets: self.loss_min_packets,
            start_phase: self.start_phase,
            stale_after: self.stale_after,
            by_packets: true,
        }
    }
}
