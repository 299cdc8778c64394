//! The constants of libwebrtc's estimator by name, as of July 2026. Files are those below
//! `modules/`.

use crate::gcc::BufferHint;
use crate::setting::settings;
use units::{Bitrate, Duration};

settings! {
    /// Every constant of the profile. Times of the delay estimation are in milliseconds.
    pub struct LibwebrtcConfig {
        /// Packets sent within this time of the group's first are one group
        /// (`congestion_controller/goog_cc/delay_based_bwe.cc`: 5 ms).
        "group.length" => group_length: Duration,
        /// A packet that arrives within this time of the group, with less delay than it, joins it
        /// as part of a burst (`goog_cc/inter_arrival_delta.cc`: 5 ms).
        "group.burst_gap" => burst_gap: Duration,
        /// Bursts are joined up to this length (`goog_cc/inter_arrival_delta.cc`: 100 ms).
        "group.longest_burst" => longest_burst: Duration,
        /// After a pause this long in the feedback, groups, trend and threshold start anew
        /// (`goog_cc/delay_based_bwe.cc`: 2 s).
        "group.stream_timeout" => stream_timeout: Duration,
        /// Groups in the least-squares window (`goog_cc/trendline_estimator.h`: 20), 2 to 200.
        "trend.window" => trend_window: usize,
        /// Weight of the past in the smoothed delay (`goog_cc/trendline_estimator.cc`: 0.9).
        "trend.smoothing" => trend_smoothing: f64,
        /// Factor between the slope and what is compared with the threshold
        /// (`goog_cc/trendline_estimator.cc`: 4).
        "trend.gain" => trend_gain: f64,
        /// The slope is also multiplied by the number of groups so far, up to this
        /// (`goog_cc/trendline_estimator.cc`: 60).
        "trend.most_deltas" => most_deltas: u32,
        /// The threshold at the start (`goog_cc/trendline_estimator.cc`: 12.5), ms.
        "threshold.initial" => initial_threshold: f64,
        /// The threshold falls no lower (`goog_cc/trendline_estimator.cc`: 6), ms.
        "threshold.min" => min_threshold: f64,
        /// The threshold rises no higher (`goog_cc/trendline_estimator.cc`: 600), ms.
        "threshold.max" => max_threshold: f64,
        /// k_up, per ms (`goog_cc/trendline_estimator.cc`: 0.0087).
        "threshold.k_up" => k_up: f64,
        /// k_down, per ms (`goog_cc/trendline_estimator.cc`: 0.039).
        "threshold.k_down" => k_down: f64,
        /// No update while the trend exceeds the threshold by more than this
        /// (`goog_cc/trendline_estimator.cc`: 15), ms.
        "threshold.skip" => threshold_skip: f64,
        /// Elapsed time in an update counts up to this (`goog_cc/trendline_estimator.cc`: 100 ms).
        "threshold.longest_step" => longest_step: Duration,
        /// Over-use is signalled when it has lasted longer than this and the trend does not fall
        /// (`goog_cc/trendline_estimator.cc`: 10 ms).
        "overuse_time" => overuse_time: Duration,
        /// The first window of the acknowledged rate (`goog_cc/bitrate_estimator.cc`: 500 ms).
        "acknowledged.first_window" => first_window: Duration,
        /// Every further window of the acknowledged rate (`goog_cc/bitrate_estimator.cc`: 150 ms).
        "acknowledged.window" => acknowledged_window: Duration,
        /// Scale of a sample's uncertainty (`goog_cc/bitrate_estimator.cc`: 10).
        "acknowledged.uncertainty" => uncertainty: f64,
        /// Variance of the estimate at the start (`goog_cc/bitrate_estimator.cc`: 50), (kbit/s)².
        "acknowledged.initial_variance" => initial_variance: f64,
        /// Variance added with every sample (`goog_cc/bitrate_estimator.cc`: 5), (kbit/s)².
        "acknowledged.variance_step" => variance_step: f64,
        /// Variance added when an application-limited region has ended
        /// (`goog_cc/bitrate_estimator.cc`: 200), (kbit/s)².
        "acknowledged.variance_after_alr" => variance_after_alr: f64,
        /// Weight of the newest throughput in the link capacity, at over-use
        /// (`goog_cc/link_capacity_estimator.cc`: 0.05).
        "capacity.weight" => capacity_weight: f64,
        /// Throughput within this many deviations belongs to the same capacity
        /// (`goog_cc/link_capacity_estimator.cc`: 3).
        "capacity.deviations" => capacity_deviations: f64,
        /// Least normalised variance of the link capacity (`goog_cc/link_capacity_estimator.cc`:
        /// 0.4), kbit/s.
        "capacity.min_variance" => min_variance: f64,
        /// Greatest normalised variance of the link capacity (`goog_cc/link_capacity_estimator.cc`:
        /// 2.5), kbit/s.
        "capacity.max_variance" => max_variance: f64,
        /// Share of the acknowledged rate to which over-use lowers the rate
        /// (`remote_bitrate_estimator/aimd_rate_control.cc`: 0.85).
        "aimd.decrease" => decrease: f64,
        /// Taken off in addition, where the result is above it
        /// (`remote_bitrate_estimator/aimd_rate_control.cc`: 5 kbit/s).
        "aimd.decrease_extra" => decrease_extra: Bitrate,
        /// Factor a second far from the link capacity
        /// (`remote_bitrate_estimator/aimd_rate_control.cc`: 1.08).
        "aimd.increase" => increase: f64,
        /// Least multiplicative step (`remote_bitrate_estimator/aimd_rate_control.cc`: 1 kbit/s).
        "aimd.least_step" => least_step: Bitrate,
        /// Least additive increase in a second (`remote_bitrate_estimator/aimd_rate_control.cc`: 4
        /// kbit/s).
        "aimd.least_additive" => least_additive: Bitrate,
        /// Added to the round-trip time, twice the sum being the time in which the rate grows by a
        /// packet (`remote_bitrate_estimator/aimd_rate_control.cc`: 100 ms).
        "aimd.response_extra" => response_extra: Duration,
        /// Round-trip time before any is known (`remote_bitrate_estimator/aimd_rate_control.cc`:
        /// 200 ms).
        "aimd.default_rtt" => default_rtt: Duration,
        /// The rate grows up to this multiple of the acknowledged rate…
        /// (`remote_bitrate_estimator/aimd_rate_control.cc`: 1.5).
        "aimd.limit" => increase_limit: f64,
        /// …and this much more (`remote_bitrate_estimator/aimd_rate_control.cc`: 10 kbit/s).
        "aimd.limit_extra" => limit_extra: Bitrate,
        /// Whether the delay-based rate grows within an application-limited region
        /// (`remote_bitrate_estimator/aimd_rate_control.cc`: only a probe raises it).
        "aimd.increase_in_alr" => increase_in_alr: bool,
        /// Far from the link capacity the exponent of the factor grows by this much a second while
        /// that lasts, until the rate doubles in a second; 0: it is 1, as in libwebrtc (Guerrero
        /// Viveros 2019 § 7.1 asks for a faster mode; the law is ours).
        "increase.acceleration" => acceleration: f64,
        /// After so long of under-use the rate rises nevertheless; 0: it is held while that lasts,
        /// as in libwebrtc (Janczukowicz 2017 § 7.5.1 asks for a shorter hold).
        "hold.longest" => hold_longest: Duration,
        /// The share of its usual step by which the rate grows in under-use; 0: it is held, as in
        /// libwebrtc (Janczukowicz 2017 § 7.5.1 asks for a very small growth).
        "hold.increase" => hold_increase: f64,
        /// Whether the fall follows the excess of the trend over the threshold: 1 − (1 −
        /// aimd.decrease) · excess, within 1/3 and 2 (Jansen 2016 § 6.3, its reference [49], of
        /// which it gives no formula: this one is ours).
        "decrease.dynamic" => decrease_dynamic: bool,
        /// The smallest buffer on the path: none (unknown), path (whoever builds the controller
        /// puts the size here), or a size such as 16kB (Janczukowicz 2017 § 7.5.1, § 7.5.2).
        "hint.buffer" => hint_buffer: BufferHint,
        /// Where that drains at the estimate in less than this, loss.bias_threshold and
        /// loss.instant_offset are multiplied by the time over this (ours: Janczukowicz 2017 §
        /// 7.2.2 found trouble with 16 kB at 1 Mbit/s, 128 ms, and none with 32 kB, 256 ms).
        "hint.short" => hint_short: Duration,
        /// Whether the loss-based controller bounds the estimate (`goog_cc/loss_based_bwe_v2.cc`:
        /// enabled by default).
        "loss" => loss: bool,
        /// Higher candidate, as a multiple of the estimate (`goog_cc/loss_based_bwe_v2.cc`: 1.02);
        /// 1.0 is one always.
        "loss.candidate_up" => candidate_up: f64,
        /// Lower candidate, as a multiple of the estimate (`goog_cc/loss_based_bwe_v2.cc`: 0.95).
        "loss.candidate_down" => candidate_down: f64,
        /// An observation spans at least this much sending time (`goog_cc/loss_based_bwe_v2.cc`:
        /// 250 ms).
        "loss.observation" => observation: Duration,
        /// Observations remembered (`goog_cc/loss_based_bwe_v2.cc`: 15), 2 to 1000.
        "loss.window" => loss_window: usize,
        /// Observations before the estimate is used (`goog_cc/loss_based_bwe_v2.cc`: 3).
        "loss.min_observations" => min_observations: u64,
        /// Weight of an observation relative to the next newer one (`goog_cc/loss_based_bwe_v2.cc`:
        /// 0.9).
        "loss.temporal_weight" => temporal_weight: f64,
        /// Length of the Newton step on the inherent loss (`goog_cc/loss_based_bwe_v2.cc`: 0.75).
        "loss.newton_step" => newton_step: f64,
        /// Inherent loss at the start (`goog_cc/loss_based_bwe_v2.cc`: 0.01).
        "loss.inherent_initial" => inherent_initial: f64,
        /// Least inherent loss (`goog_cc/loss_based_bwe_v2.cc`: 0.001).
        "loss.inherent_min" => inherent_min: f64,
        /// Greatest inherent loss at an infinite rate… (`goog_cc/loss_based_bwe_v2.cc`: 0.05).
        "loss.inherent_offset" => inherent_offset: f64,
        /// …to which this over the rate is added (`goog_cc/loss_based_bwe_v2.cc`: 100 kbit/s).
        "loss.inherent_balance" => inherent_balance: Bitrate,
        /// Preference for higher rates, per kbit/s (`goog_cc/loss_based_bwe_v2.cc`: 0.0002).
        "loss.bias" => bias: f64,
        /// Preference for higher rates, per ln(1 + kbit/s) (`goog_cc/loss_based_bwe_v2.cc`: 0.02).
        "loss.log_bias" => log_bias: f64,
        /// Above this loss lower rates are preferred instead (`goog_cc/loss_based_bwe_v2.cc`: 0.2).
        "loss.bias_threshold" => bias_threshold: f64,
        /// How softly the preference turns round at that loss (`goog_cc/loss_based_bwe_v2.cc`:
        /// 0.002).
        "loss.bias_smoothing" => bias_smoothing: f64,
        /// Average loss above this bounds the estimate at once… (`goog_cc/loss_based_bwe_v2.cc`:
        /// 0.05).
        "loss.instant_offset" => instant_offset: f64,
        /// …to this over the excess (`goog_cc/loss_based_bwe_v2.cc`: 100 kbit/s).
        "loss.instant_balance" => instant_balance: Bitrate,
        /// The observations of least and most loss are left out of the average, unless the latter
        /// sent at this multiple of the median rate (`goog_cc/loss_based_bwe_v2.cc`: 2).
        "loss.median_factor" => median_factor: f64,
        /// Greatest increase within a delayed-increase window (`goog_cc/loss_based_bwe_v2.cc`:
        /// 1.3).
        "loss.max_increase" => max_increase: f64,
        /// The delayed-increase window (`goog_cc/loss_based_bwe_v2.cc`: 300 ms).
        "loss.increase_window" => increase_window: Duration,
        /// While limited by loss, the estimate grows up to this multiple of the acknowledged rate
        /// (`goog_cc/loss_based_bwe_v2.cc`: 1.5).
        "loss.rampup" => rampup: f64,
        /// The same near the rate that is held (`goog_cc/loss_based_bwe_v2.cc`: 1.2).
        "loss.rampup_in_hold" => rampup_in_hold: f64,
        /// Near is below this multiple of the rate that is held (`goog_cc/loss_based_bwe_v2.cc`:
        /// 1.3).
        "loss.hold_threshold" => hold_threshold: f64,
        /// The first hold after a fall (`goog_cc/loss_based_bwe_v2.cc`: 300 ms).
        "loss.hold" => hold: Duration,
        /// Every further hold is longer by this factor (`goog_cc/loss_based_bwe_v2.cc`: 2).
        "loss.hold_factor" => hold_factor: f64,
        /// The longest hold (`goog_cc/loss_based_bwe_v2.cc`: 60 s).
        "loss.longest_hold" => longest_hold: Duration,
        /// While no loss was reported, the first so much time trusts the delay-based rate and
        /// probes (`goog_cc/send_side_bandwidth_estimation.cc`: 2 s).
        "start_phase" => start_phase: Duration,
        /// First initial probe, as a multiple of the start rate (`goog_cc/probe_controller.cc`: 3);
        /// 0: no initial probes.
        "probe.first" => probe_first: f64,
        /// Second initial probe, as a multiple of the start rate (`goog_cc/probe_controller.cc`:
        /// 6); 0: none.
        "probe.second" => probe_second: f64,
        /// Further probe, as a multiple of the result (`goog_cc/probe_controller.cc`: 2).
        "probe.further" => probe_further: f64,
        /// It follows while the estimate exceeds this share of what was probed
        /// (`goog_cc/probe_controller.cc`: 0.7).
        "probe.further_threshold" => further_threshold: f64,
        /// Length of a probe (`goog_cc/probe_controller.cc`: 15 ms; the 100 ms there are for
        /// initial probes that are repeated, which calls do not ask for).
        "probe.duration" => probe_duration: Duration,
        /// Packets of a probe, at least (`goog_cc/probe_controller.cc`: 5).
        "probe.packets" => probe_packets: u32,
        /// Time between probes in an application-limited region (`goog_cc/probe_controller.cc`: 5
        /// s); 0s: no such probes.
        "probe.alr_interval" => alr_interval: Duration,
        /// Probe in an application-limited region, as a multiple of the estimate
        /// (`goog_cc/probe_controller.cc`: 2).
        "probe.alr" => probe_alr: f64,
        /// A fall below this share of the estimate is a large drop (`goog_cc/probe_controller.cc`:
        /// 0.66).
        "probe.drop" => large_drop: f64,
        /// Probe after a large drop, as a share of the rate before (`goog_cc/probe_controller.cc`:
        /// 0.85).
        "probe.after_drop" => after_drop: f64,
        /// It is sent within this time of the drop, and at most once in this time
        /// (`goog_cc/probe_controller.cc`: 5 s).
        "probe.drop_timeout" => drop_timeout: Duration,
        /// It is sent if an application-limited region ended less than this ago, or lasts
        /// (`goog_cc/probe_controller.cc`: 3 s).
        "probe.alr_ended" => alr_ended: Duration,
        /// Nothing is gained by a probe within this share of the estimate
        /// (`goog_cc/probe_controller.cc`: 0.05).
        "probe.uncertainty" => probe_uncertainty: f64,
        /// While loss limits the estimate and it rises, probes go up to this multiple of it
        /// (`goog_cc/probe_controller.cc`: 1.5).
        "probe.loss_limited" => loss_limited: f64,
        /// Probes go up to this (`goog_cc/probe_controller.cc`: 5 Mbit/s unless the application
        /// sets a maximum).
        "probe.max" => probe_max: Bitrate,
        /// A result is awaited this long (`goog_cc/probe_controller.cc`: 1 s).
        "probe.patience" => patience: Duration,
        /// A cluster that has not been sent after this time is given up
        /// (`pacing/bitrate_prober.cc`: 5 s).
        "probe.expiry" => probe_expiry: Duration,
        /// Share of a cluster's packets and bytes that must be reported
        /// (`goog_cc/probe_bitrate_estimator.cc`: 0.8).
        "probe.received" => probe_received: f64,
        /// A cluster received faster than this multiple of the rate sent is invalid
        /// (`goog_cc/probe_bitrate_estimator.cc`: 2).
        "probe.max_ratio" => max_ratio: f64,
        /// Received slower than this share of the rate sent, it has filled the link…
        /// (`goog_cc/probe_bitrate_estimator.cc`: 0.9).
        "probe.unsaturated" => unsaturated: f64,
        /// …and the result is this share of the rate received
        /// (`goog_cc/probe_bitrate_estimator.cc`: 0.95).
        "probe.utilisation" => utilisation: f64,
        /// A cluster spans at most this time (`goog_cc/probe_bitrate_estimator.cc`: 1 s).
        "probe.longest" => longest_probe: Duration,
        /// A result lowers the estimate no further than to this share of the acknowledged rate
        /// (`goog_cc/goog_cc_network_control.cc`: 0.85).
        "probe.fall" => probe_fall: f64,
        /// Share of the estimate that fills the budget of the application-limited region detector
        /// (`goog_cc/alr_detector.h`: 0.65).
        "alr.usage" => alr_usage: f64,
        /// The region begins when the unused budget exceeds this level (`goog_cc/alr_detector.h`:
        /// 0.8).
        "alr.start" => alr_start: f64,
        /// It ends when the unused budget falls below this level (`goog_cc/alr_detector.h`: 0.5).
        "alr.end" => alr_end: f64,
        /// The budget holds this much time (`pacing/interval_budget.cc`: 500 ms).
        "alr.window" => alr_window: Duration,
        /// A round-trip time above this, silence included, lowers the estimate
        /// (`goog_cc/send_side_bandwidth_estimation.cc`: 3 s).
        "backoff.rtt" => backoff_rtt: Duration,
        /// The factor by which it is lowered (`goog_cc/send_side_bandwidth_estimation.cc`: 0.8).
        "backoff.factor" => backoff_factor: f64,
        /// Time between two such falls (`goog_cc/send_side_bandwidth_estimation.cc`: 1 s).
        "backoff.interval" => backoff_interval: Duration,
        /// They end at this rate (`goog_cc/send_side_bandwidth_estimation.cc`: 5 kbit/s).
        "backoff.floor" => backoff_floor: Bitrate,
        /// No estimate lies below this rate (`remote_bitrate_estimator/include/bwe_defines.h`: 5
        /// kbit/s).
        "min_rate" => least_rate: Bitrate,
        /// The pacing rate as a multiple of the estimate (`goog_cc/goog_cc_network_control.cc`:
        /// 2.5).
        "pacing.factor" => pacing_factor: f64,
    }
}
