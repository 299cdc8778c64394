//! The settings of libwebrtc's estimator, as of July 2026. File names are below `modules/`.

use super::choices::{AcknowledgedEstimator, SafeReset};
use crate::gcc::BufferHint;
use crate::setting::settings;
use units::{Bitrate, Duration};

settings! {
    /// Every constant of the profile. The delay estimation counts times in milliseconds.
    pub struct LibwebrtcConfig {
        /// Packets sent within this time after the first packet of a group belong to the group
        /// (`congestion_controller/goog_cc/delay_based_bwe.cc`: 5 ms).
        "group.length" => group_length: Duration,
        /// A packet that arrives within this time after a group and with less delay joins the group
        /// as part of a burst (`goog_cc/inter_arrival_delta.cc`: 5 ms).
        "group.burst_gap" => burst_gap: Duration,
        /// Maximum length of a burst (`goog_cc/inter_arrival_delta.cc`: 100 ms).
        "group.longest_burst" => longest_burst: Duration,
        /// After a pause of this length in the feedback, groups, trend and threshold are reset
        /// (`goog_cc/delay_based_bwe.cc`: 2 s).
        "group.stream_timeout" => stream_timeout: Duration,
        /// Number of groups in the least-squares window (`goog_cc/trendline_estimator.h`: 20), 2
        /// to 200.
        "trend.window" => trend_window: usize,
        /// Weight of the past in the smoothed delay (`goog_cc/trendline_estimator.cc`: 0.9).
        "trend.smoothing" => trend_smoothing: f64,
        /// Factor of the slope in the modified trend, which is compared with the threshold
        /// (`goog_cc/trendline_estimator.cc`: 4).
        "trend.gain" => trend_gain: f64,
        /// Maximum of the second factor of the slope, the number of groups so far
        /// (`goog_cc/trendline_estimator.cc`: 60).
        "trend.most_deltas" => most_deltas: u32,
        /// Initial threshold (`goog_cc/trendline_estimator.cc`: 12.5), ms.
        "threshold.initial" => initial_threshold: f64,
        /// Minimum of the threshold (`goog_cc/trendline_estimator.cc`: 6), ms.
        "threshold.min" => min_threshold: f64,
        /// Maximum of the threshold (`goog_cc/trendline_estimator.cc`: 600), ms.
        "threshold.max" => max_threshold: f64,
        /// k_up, the gain of the threshold while the trend is above it, per ms
        /// (`goog_cc/trendline_estimator.cc`: 0.0087).
        "threshold.k_up" => k_up: f64,
        /// k_down, the gain of the threshold while the trend is below it, per ms
        /// (`goog_cc/trendline_estimator.cc`: 0.039).
        "threshold.k_down" => k_down: f64,
        /// The threshold is not updated while the trend exceeds it by more than this
        /// (`goog_cc/trendline_estimator.cc`: 15), ms.
        "threshold.skip" => threshold_skip: f64,
        /// Maximum elapsed time in an update of the threshold (`goog_cc/trendline_estimator.cc`:
        /// 100 ms).
        "threshold.longest_step" => longest_step: Duration,
        /// Over-use is signalled after it has lasted longer than this, while the trend does not
        /// decrease (`goog_cc/trendline_estimator.cc`: 10 ms).
        "overuse_time" => overuse_time: Duration,
        /// Estimator of the acknowledged rate: robust (the default since 2023) or bayesian (before
        /// 2023) (`goog_cc/acknowledged_bitrate_estimator_interface.cc`).
        "acknowledged.estimator" => acknowledged_estimator: AcknowledgedEstimator,
        /// Number of packets that the window of the robust estimator holds at least
        /// (`goog_cc/acknowledged_bitrate_estimator_interface.h`: 20).
        "throughput.packets" => throughput_packets: usize,
        /// Maximum number of packets in the window of the robust estimator
        /// (`goog_cc/acknowledged_bitrate_estimator_interface.h`: 500), 1 to 10000.
        "throughput.max_packets" => throughput_max_packets: usize,
        /// Minimum duration of the window of the robust estimator
        /// (`goog_cc/acknowledged_bitrate_estimator_interface.h`: 1 s).
        "throughput.window" => throughput_window: Duration,
        /// Maximum duration of the window of the robust estimator
        /// (`goog_cc/acknowledged_bitrate_estimator_interface.h`: 5 s).
        "throughput.max_window" => throughput_max_window: Duration,
        /// Number of packets before the robust estimator gives a rate
        /// (`goog_cc/acknowledged_bitrate_estimator_interface.h`: 10).
        "throughput.required" => throughput_required: usize,
        /// First window of the acknowledged rate (`goog_cc/bitrate_estimator.cc`: 500 ms).
        "acknowledged.first_window" => first_window: Duration,
        /// Further windows of the acknowledged rate (`goog_cc/bitrate_estimator.cc`: 150 ms).
        "acknowledged.window" => acknowledged_window: Duration,
        /// Scale of a sample's uncertainty (`goog_cc/bitrate_estimator.cc`: 10).
        "acknowledged.uncertainty" => uncertainty: f64,
        /// Initial variance of the estimate (`goog_cc/bitrate_estimator.cc`: 50), (kbit/s)².
        "acknowledged.initial_variance" => initial_variance: f64,
        /// Variance that every sample adds (`goog_cc/bitrate_estimator.cc`: 5), (kbit/s)².
        "acknowledged.variance_step" => variance_step: f64,
        /// Variance that the end of an application-limited region adds
        /// (`goog_cc/bitrate_estimator.cc`: 200), (kbit/s)².
        "acknowledged.variance_after_alr" => variance_after_alr: f64,
        /// Weight of the newest throughput at over-use in the average that is the link capacity
        /// (`goog_cc/link_capacity_estimator.cc`: 0.05).
        "capacity.weight" => capacity_weight: f64,
        /// Throughput within this many standard deviations belongs to the same link capacity
        /// (`goog_cc/link_capacity_estimator.cc`: 3).
        "capacity.deviations" => capacity_deviations: f64,
        /// Minimum normalised variance of the link capacity (`goog_cc/link_capacity_estimator.cc`:
        /// 0.4), kbit/s.
        "capacity.min_variance" => min_variance: f64,
        /// Maximum normalised variance of the link capacity (`goog_cc/link_capacity_estimator.cc`:
        /// 2.5), kbit/s.
        "capacity.max_variance" => max_variance: f64,
        /// At over-use the rate decreases to this fraction of the acknowledged rate
        /// (`remote_bitrate_estimator/aimd_rate_control.cc`: 0.85).
        "aimd.decrease" => decrease: f64,
        /// Subtracted from the decreased rate, if the rate is above this
        /// (`remote_bitrate_estimator/aimd_rate_control.cc`: 5 kbit/s).
        "aimd.decrease_extra" => decrease_extra: Bitrate,
        /// Factor of the multiplicative increase, per second, while the link capacity is unknown
        /// (`remote_bitrate_estimator/aimd_rate_control.cc`: 1.08).
        "aimd.increase" => increase: f64,
        /// Minimum multiplicative step (`remote_bitrate_estimator/aimd_rate_control.cc`: 1 kbit/s).
        "aimd.least_step" => least_step: Bitrate,
        /// Minimum additive increase per second (`remote_bitrate_estimator/aimd_rate_control.cc`: 4
        /// kbit/s).
        "aimd.least_additive" => least_additive: Bitrate,
        /// Response time minus round-trip time. In the additive increase the rate grows by one
        /// packet per two response times (`remote_bitrate_estimator/aimd_rate_control.cc`: 100 ms).
        "aimd.response_extra" => response_extra: Duration,
        /// Round-trip time before the first measurement
        /// (`remote_bitrate_estimator/aimd_rate_control.cc`: 200 ms).
        "aimd.default_rtt" => default_rtt: Duration,
        /// The rate increases up to this multiple of the acknowledged rate, plus aimd.limit_extra
        /// (`remote_bitrate_estimator/aimd_rate_control.cc`: 1.5).
        "aimd.limit" => increase_limit: f64,
        /// Added to aimd.limit times the acknowledged rate
        /// (`remote_bitrate_estimator/aimd_rate_control.cc`: 10 kbit/s).
        "aimd.limit_extra" => limit_extra: Bitrate,
        /// Whether the delay-based rate increases within an application-limited region
        /// (`remote_bitrate_estimator/aimd_rate_control.cc`: true; a field trial that is off by
        /// default would allow only probes to raise the rate).
        "aimd.increase_in_alr" => increase_in_alr: bool,
        /// Growth per second of the exponent of aimd.increase during the multiplicative increase,
        /// until the rate doubles per second. 0: the exponent is 1, as in libwebrtc (Guerrero
        /// Viveros 2019 § 7.1 asks for a faster mode and gives no rule; this rule is Weir's).
        "increase.acceleration" => acceleration: f64,
        /// Maximum time for which under-use holds the rate, after which the rate increases. 0: no
        /// maximum, as in libwebrtc (Janczukowicz 2017 § 7.5.1 asks for a shorter hold).
        "hold.longest" => hold_longest: Duration,
        /// Step of the rate in under-use, as a fraction of the usual step. 0: the rate is held, as
        /// in libwebrtc (Janczukowicz 2017 § 7.5.1 asks for a very small increase).
        "hold.increase" => hold_increase: f64,
        /// Whether the factor of the decrease depends on the relative excess of the trend over the
        /// threshold: 1 − (1 − aimd.decrease) · excess, with the excess clamped to 1/3 … 2 (Jansen
        /// 2016 § 6.3, its reference 49; Jansen gives no formula, this one is Weir's).
        "decrease.dynamic" => decrease_dynamic: bool,
        /// Size of the smallest buffer on the path: none (unknown), path (Weir fills in the size
        /// from the experiment), or a size such as 16kB (Janczukowicz 2017 § 7.5.1, § 7.5.2).
        "hint.buffer" => hint_buffer: BufferHint,
        /// If hint.buffer drains at the estimated rate in a time t shorter than this,
        /// loss.bias_threshold and loss.instant_offset are multiplied by t over this (Weir's rule:
        /// Janczukowicz 2017 § 7.2.2 reports problems with 16 kB at 1 Mbit/s, 128 ms, and none with
        /// 32 kB, 256 ms).
        "hint.short" => hint_short: Duration,
        /// Whether the loss-based controller bounds the estimate (`goog_cc/loss_based_bwe_v2.cc`:
        /// enabled by default).
        "loss" => loss: bool,
        /// The higher candidate, as a multiple of the estimate (`goog_cc/loss_based_bwe_v2.cc`:
        /// 1.02). The estimate itself is always a candidate.
        "loss.candidate_up" => candidate_up: f64,
        /// The lower candidate, as a multiple of the estimate (`goog_cc/loss_based_bwe_v2.cc`:
        /// 0.95).
        "loss.candidate_down" => candidate_down: f64,
        /// Minimum span of sending times in an observation (`goog_cc/loss_based_bwe_v2.cc`: 250
        /// ms).
        "loss.observation" => observation: Duration,
        /// Number of observations that are kept (`goog_cc/loss_based_bwe_v2.cc`: 15), 2 to 1000.
        "loss.window" => loss_window: usize,
        /// Minimum number of observations before the estimate is used
        /// (`goog_cc/loss_based_bwe_v2.cc`: 3).
        "loss.min_observations" => min_observations: u64,
        /// Weight of an observation relative to the next newer observation
        /// (`goog_cc/loss_based_bwe_v2.cc`: 0.9).
        "loss.temporal_weight" => temporal_weight: f64,
        /// Factor of the Newton step of the inherent loss (`goog_cc/loss_based_bwe_v2.cc`: 0.75).
        "loss.newton_step" => newton_step: f64,
        /// Initial inherent loss (`goog_cc/loss_based_bwe_v2.cc`: 0.01).
        "loss.inherent_initial" => inherent_initial: f64,
        /// Minimum inherent loss (`goog_cc/loss_based_bwe_v2.cc`: 0.001).
        "loss.inherent_min" => inherent_min: f64,
        /// Maximum inherent loss at an infinite rate; loss.inherent_balance over the rate is added
        /// (`goog_cc/loss_based_bwe_v2.cc`: 0.05).
        "loss.inherent_offset" => inherent_offset: f64,
        /// This over the rate is added to loss.inherent_offset (`goog_cc/loss_based_bwe_v2.cc`: 100
        /// kbit/s).
        "loss.inherent_balance" => inherent_balance: Bitrate,
        /// Preference for higher rates, per kbit/s (`goog_cc/loss_based_bwe_v2.cc`: 0.0002).
        "loss.bias" => bias: f64,
        /// Preference for higher rates, per ln(1 + kbit/s) (`goog_cc/loss_based_bwe_v2.cc`: 0.02).
        "loss.log_bias" => log_bias: f64,
        /// Loss above which lower rates are preferred (`goog_cc/loss_based_bwe_v2.cc`: 0.2).
        "loss.bias_threshold" => bias_threshold: f64,
        /// Smoothing of the change from higher to lower rates at loss.bias_threshold
        /// (`goog_cc/loss_based_bwe_v2.cc`: 0.002).
        "loss.bias_smoothing" => bias_smoothing: f64,
        /// Average loss above this limits the estimate at once to loss.instant_balance over the
        /// excess (`goog_cc/loss_based_bwe_v2.cc`: 0.05).
        "loss.instant_offset" => instant_offset: f64,
        /// The limit of the estimate is this divided by the average loss above loss.instant_offset
        /// (`goog_cc/loss_based_bwe_v2.cc`: 100 kbit/s).
        "loss.instant_balance" => instant_balance: Bitrate,
        /// The average loss excludes the observations of minimum and maximum loss, unless the rate
        /// of the latter was at least this multiple of the median rate
        /// (`goog_cc/loss_based_bwe_v2.cc`: 2).
        "loss.median_factor" => median_factor: f64,
        /// Maximum factor of the increase within a delayed-increase window
        /// (`goog_cc/loss_based_bwe_v2.cc`: 1.3).
        "loss.max_increase" => max_increase: f64,
        /// Length of the delayed-increase window (`goog_cc/loss_based_bwe_v2.cc`: 300 ms).
        "loss.increase_window" => increase_window: Duration,
        /// While loss limits the estimate, it increases up to this multiple of the acknowledged
        /// rate (`goog_cc/loss_based_bwe_v2.cc`: 1.5).
        "loss.rampup" => rampup: f64,
        /// The multiple that replaces loss.rampup near the held rate
        /// (`goog_cc/loss_based_bwe_v2.cc`: 1.2).
        "loss.rampup_in_hold" => rampup_in_hold: f64,
        /// An acknowledged rate below this multiple of the held rate is near the held rate
        /// (`goog_cc/loss_based_bwe_v2.cc`: 1.3).
        "loss.hold_threshold" => hold_threshold: f64,
        /// Duration of the first hold after a decrease (`goog_cc/loss_based_bwe_v2.cc`: 300 ms).
        "loss.hold" => hold: Duration,
        /// Factor by which every further hold is longer. 0: no holds
        /// (`goog_cc/loss_based_bwe_v2.cc`: 2).
        "loss.hold_factor" => hold_factor: f64,
        /// Maximum duration of a hold (`goog_cc/loss_based_bwe_v2.cc`: 60 s).
        "loss.longest_hold" => longest_hold: Duration,
        /// Time for which the estimate increases by padding before it is held again. 0s: the
        /// estimate increases without padding (`goog_cc/loss_based_bwe_v2.cc`: 2 s).
        "loss.padding" => padding: Duration,
        /// Length of the start phase, in which the delay-based rate and probes set the estimate as
        /// long as no loss is reported (`goog_cc/send_side_bandwidth_estimation.cc`: 2 s).
        "start_phase" => start_phase: Duration,
        /// Rate of the first initial probe, as a multiple of the start rate
        /// (`goog_cc/probe_controller.cc`: 3). 0: no initial probes.
        "probe.first" => probe_first: f64,
        /// Rate of the second initial probe, as a multiple of the start rate
        /// (`goog_cc/probe_controller.cc`: 6); 0: none.
        "probe.second" => probe_second: f64,
        /// Rate of a further probe, as a multiple of the estimate (`goog_cc/probe_controller.cc`:
        /// 2).
        "probe.further" => probe_further: f64,
        /// A further probe follows if the estimate exceeds this fraction of the probed rate
        /// (`goog_cc/probe_controller.cc`: 0.7).
        "probe.further_threshold" => further_threshold: f64,
        /// Minimum duration of a probe (`goog_cc/probe_controller.cc`: 15 ms; the 100 ms in that
        /// file are for repeated initial probes, which calls do not use).
        "probe.duration" => probe_duration: Duration,
        /// Minimum number of packets of a probe (`goog_cc/probe_controller.cc`: 5).
        "probe.packets" => probe_packets: u32,
        /// Time between probes in an application-limited region. 0s: no such probes, as for cameras
        /// (`goog_cc/probe_controller.cc`: 5 s if a stream requests these probes, which only
        /// screen sharing does).
        "probe.alr_interval" => alr_interval: Duration,
        /// Rate of a probe in an application-limited region, as a multiple of the estimate
        /// (`goog_cc/probe_controller.cc`: 2).
        "probe.alr" => probe_alr: f64,
        /// A decrease to less than this fraction of the estimate is a large drop
        /// (`goog_cc/probe_controller.cc`: 0.66).
        "probe.drop" => large_drop: f64,
        /// Rate of the probe after a large drop, as a fraction of the rate before the drop
        /// (`goog_cc/probe_controller.cc`: 0.85).
        "probe.after_drop" => after_drop: f64,
        /// The probe after a large drop is sent within this time after the drop, and at most once
        /// in this time (`goog_cc/probe_controller.cc`: 5 s).
        "probe.drop_timeout" => drop_timeout: Duration,
        /// The probe after a large drop is sent in an application-limited region, or if such a
        /// region ended less than this ago (`goog_cc/probe_controller.cc`: 3 s).
        "probe.alr_ended" => alr_ended: Duration,
        /// A probe after a large drop is not sent if its rate, minus this fraction, is not above
        /// the estimate (`goog_cc/probe_controller.cc`: 0.05).
        "probe.uncertainty" => probe_uncertainty: f64,
        /// Maximum rate of a probe while loss limits the estimate and the estimate increases, as a
        /// multiple of the estimate (`goog_cc/probe_controller.cc`: 1.5).
        "probe.loss_limited" => loss_limited: f64,
        /// Maximum rate of a probe if the application sets no maximum rate
        /// (`goog_cc/probe_controller.cc`: 5 Mbit/s).
        "probe.max" => probe_max: Bitrate,
        /// Maximum rate of a probe, as a multiple of the allocated maximum
        /// (`goog_cc/probe_controller.cc`: 2). 0: no such maximum.
        "probe.allocated" => probe_allocated: f64,
        /// Rate of the first probe when the allocated maximum changes in an application-limited
        /// region, as a multiple of that maximum (`goog_cc/probe_controller.cc`: 1). 0: no such
        /// probes.
        "probe.allocation_first" => allocation_first: f64,
        /// Rate of the second probe when the allocated maximum changes
        /// (`goog_cc/probe_controller.cc`: 2); 0: none.
        "probe.allocation_second" => allocation_second: f64,
        /// Maximum rate of a probe when the allocated maximum changes, as a multiple of the
        /// estimate (`goog_cc/probe_controller.cc`: 2). 0: no such maximum.
        "probe.allocation_limit" => allocation_limit: f64,
        /// Maximum time to wait for the result of a probe (`goog_cc/probe_controller.cc`: 1 s).
        "probe.patience" => patience: Duration,
        /// A cluster that has not been sent after this time is abandoned
        /// (`pacing/bitrate_prober.cc`: 5 s).
        "probe.expiry" => probe_expiry: Duration,
        /// Fraction of the packets and bytes of a cluster that must be reported
        /// (`goog_cc/probe_bitrate_estimator.cc`: 0.8).
        "probe.received" => probe_received: f64,
        /// A cluster received faster than this multiple of the rate sent is invalid
        /// (`goog_cc/probe_bitrate_estimator.cc`: 2).
        "probe.max_ratio" => max_ratio: f64,
        /// A cluster received at less than this fraction of the rate sent has filled the link; its
        /// result is probe.utilisation times the rate received
        /// (`goog_cc/probe_bitrate_estimator.cc`: 0.9).
        "probe.unsaturated" => unsaturated: f64,
        /// Fraction of the rate received that is the result of a cluster that has filled the link
        /// (`goog_cc/probe_bitrate_estimator.cc`: 0.95).
        "probe.utilisation" => utilisation: f64,
        /// Maximum span of a cluster (`goog_cc/probe_bitrate_estimator.cc`: 1 s).
        "probe.longest" => longest_probe: Duration,
        /// The result of a probe lowers the estimate at most to this fraction of the acknowledged
        /// rate (`goog_cc/goog_cc_network_control.cc`: 0.85).
        "probe.fall" => probe_fall: f64,
        /// Fraction of the estimate at which the budget of the application-limited region detector
        /// fills (`rtc_base/experiments/alr_experiment.cc`: 0.8, by an experiment that is on by
        /// default).
        "alr.usage" => alr_usage: f64,
        /// An application-limited region begins when the unused fraction of the budget is above
        /// this (`rtc_base/experiments/alr_experiment.cc`: 0.4).
        "alr.start" => alr_start: f64,
        /// An application-limited region ends when the unused fraction of the budget is below this
        /// (`goog_cc/alr_detector.h`: 0.5).
        "alr.end" => alr_end: f64,
        /// Size of the budget, in time at its fill rate (`pacing/interval_budget.cc`: 500 ms).
        "alr.window" => alr_window: Duration,
        /// A round-trip time above this, including the time since the last feedback, reduces the
        /// estimate (`goog_cc/send_side_bandwidth_estimation.cc`: 3 s).
        "backoff.rtt" => backoff_rtt: Duration,
        /// Factor of the reduction because of the round-trip time
        /// (`goog_cc/send_side_bandwidth_estimation.cc`: 0.8).
        "backoff.factor" => backoff_factor: f64,
        /// Minimum time between two reductions because of the round-trip time
        /// (`goog_cc/send_side_bandwidth_estimation.cc`: 1 s).
        "backoff.interval" => backoff_interval: Duration,
        /// Minimum rate after a reduction because of the round-trip time
        /// (`goog_cc/send_side_bandwidth_estimation.cc`: 5 kbit/s).
        "backoff.floor" => backoff_floor: Bitrate,
        /// Minimum of the estimate (`remote_bitrate_estimator/include/bwe_defines.h`: 5 kbit/s).
        "min_rate" => min_rate: Bitrate,
        /// Pacing rate as a multiple of the estimate before the first feedback
        /// (`goog_cc/goog_cc_network_control.cc`: 2.5; camera video of browsers: 1.1).
        "pacing.first_factor" => first_pacing_factor: f64,
        /// Pacing rate as a multiple of the estimate after the first feedback
        /// (`goog_cc/goog_cc_network_control.cc`: 1.1 since December 2025).
        "pacing.factor" => pacing_factor: f64,
        /// Length of a burst of the pacer. The pacing rate is a whole number of bytes per burst
        /// (`pacing/pacing_controller.cc`: 40 ms).
        "pacing.burst" => pacing_burst: Duration,
        /// Time at the target rate that the congestion window holds in addition to the minimum
        /// round-trip time of feedback. 0s: no congestion window
        /// (`rtc_base/experiments/rate_control_settings.cc`: 350 ms).
        "window.queue" => window_queue: Duration,
        /// Minimum rate after the reduction by a full congestion window
        /// (`rtc_base/experiments/rate_control_settings.cc`: 30 kbit/s).
        "window.min_rate" => window_min_rate: Bitrate,
        /// Whether a full congestion window drops frames instead of reducing the target rate
        /// (`rtc_base/experiments/rate_control_settings.cc`: true).
        "window.drop_frames" => window_drop_frames: bool,
        /// Maximum rate at which the estimate starts after a change of the network route: off (the
        /// start rate), estimate (the estimate before the change) or acknowledged (the acknowledged
        /// rate before the change) (`goog_cc/goog_cc_network_control.cc`: off; the others are field
        /// trials).
        "route.safe_reset" => safe_reset: SafeReset,
    }
}
