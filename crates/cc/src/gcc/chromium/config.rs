//! The settings of the profiles 'as run': the rules and constants of libwebrtc's congestion control
//! with REMB, 2014 to 2016, each of which changed between the versions or may be varied.

use super::detector::Rules;
use super::groups::GroupRules;
use super::loss::LossRules;
use super::words::{Clock, Divisor, ProbeRule, Silence, Updates};
use crate::gcc::config::{Probing, Threshold};
use crate::setting::settings;
use units::{Bitrate, Duration};

settings! {
    /// Every rule and constant of libwebrtc with REMB that has a setting. File names are below
    /// `webrtc/modules/`.
    pub struct ChromiumConfig {
        /// The clock of the sending times: abs-send-time (Chromium from December 2014,
        /// `9f79fe684a`) or rtp-timestamp (Firefox 48, which did not offer the extension).
        "group.clock" => clock: Clock,
        /// Step of the sender's clock that gives abs-send-time (`rtp_rtcp/source/rtp_sender.cc`:
        /// 1 ms).
        "group.clock_step" => clock_step: Duration,
        /// Packets sent within this time after the first packet of a group belong to the group
        /// (`remote_bitrate_estimator/remote_bitrate_estimator_abs_send_time.cc`: 5 ms).
        "group.length" => group_length: Duration,
        /// A packet that arrives within this time after a group and with less delay joins the group
        /// as part of a burst (`remote_bitrate_estimator/inter_arrival.cc`: 5 ms). 0: no bursts.
        "group.burst_gap" => burst_gap: Duration,
        /// Whether a packet is ignored that would complete a group whose arrival lies before that
        /// of its predecessor (`remote_bitrate_estimator/inter_arrival.cc`, `cfd5f96307`,
        /// 2015-07-24).
        "group.skip_reordered" => skip_reordered: bool,
        /// What is forgotten after silence.time without packets: groups, groups-and-filter (from
        /// `1112b2bc68`, 2016-04-14) or everything (`remote_bitrate_estimator_single_stream.cc`).
        "silence" => silence: Silence,
        /// Length of a silence (`remote_bitrate_estimator/include/bwe_defines.h`: 2 s).
        "silence.time" => silence_time: Duration,
        /// Process noise of the slope 1/C, in (ms/byte)² (`webrtc/common_types.h`: 1e-10; 1e-13
        /// from `c62642c7a6`, 2015-07-07).
        "filter.q_slope" => q_slope: f64,
        /// Process noise of the offset m, in ms² (`webrtc/common_types.h`: 1e-2; the code and the
        /// paper of 2015 differ, see the page of the profiles).
        "filter.q_offset" => q_offset: f64,
        /// Minimum of the noise variance, in ms² (`remote_bitrate_estimator/overuse_estimator.cc`:
        /// 1e-7; 1 from `c62642c7a6`, 2015-07-07).
        "filter.min_noise" => min_noise: f64,
        /// Whether the threshold adapts (`remote_bitrate_estimator/overuse_detector.cc`: static;
        /// adaptive in a field trial from `c62642c7a6`, 2015-07-07, and by default from
        /// `44c65e9eed`, 2016-02-16).
        "threshold" => threshold: Threshold,
        /// Initial threshold, in ms (`webrtc/common_types.h`: 25; 12.5 from `c62642c7a6`).
        "threshold.initial" => initial_threshold: f64,
        /// Static threshold near or above the known maximum rate, in ms
        /// (`remote_bitrate_estimator/overuse_detector.cc` before `c62642c7a6`: 12.5).
        "threshold.near" => near_threshold: f64,
        /// k_up, the gain of the threshold while |T| is above it, per ms
        /// (`remote_bitrate_estimator/overuse_detector.cc`: 0.01 in the trial of 2015, 0.004 from
        /// `44c65e9eed`, 2016-02-16).
        "threshold.k_up" => k_up: f64,
        /// k_down, the gain of the threshold while |T| is below it, per ms (the same file: 0.00018,
        /// then 0.00006).
        "threshold.k_down" => k_down: f64,
        /// The threshold is not updated while |T| exceeds it by more than this, in ms (the same
        /// file: 15).
        "threshold.skip" => threshold_skip: f64,
        /// Minimum of the adaptive threshold, in ms (the same file: 6).
        "threshold.min" => min_threshold: f64,
        /// Maximum of the adaptive threshold, in ms (the same file: 600).
        "threshold.max" => max_threshold: f64,
        /// Maximum elapsed time in an update of the threshold (the same file, `1069cac518`,
        /// 2016-03-10: 100 ms). 0: no maximum.
        "threshold.longest_step" => longest_step: Duration,
        /// Over-use is signalled after more than this time
        /// (`remote_bitrate_estimator/overuse_detector.cc`: 100 ms; 10 ms with the adaptive
        /// threshold).
        "overuse_time" => overuse_time: Duration,
        /// β: at over-use the rate decreases to this fraction of the received rate
        /// (`remote_bitrate_estimator/aimd_rate_control.cc`: 0.9; 0.85 from `c62642c7a6`).
        "decrease" => decrease: f64,
        /// β near the known maximum rate (the same file, before `c62642c7a6`: 0.95). 0: as
        /// decrease.
        "decrease.near" => decrease_near: f64,
        /// Whether the multiplicative increase returns already at 2.5 standard deviations above the
        /// known maximum, which is kept (the same file, before `c62642c7a6`).
        "region.above" => above_region: bool,
        /// Whether the rate returns after a hold to β times the highest rate received in the hold
        /// (the same file, before `c62642c7a6`).
        "hold.recovery" => hold_recovery: bool,
        /// Factor of the multiplicative increase, per second (the same file: 1.08).
        "increase.factor" => factor: f64,
        /// Share of the average packet by which the rate increases per response time near the known
        /// maximum (the same file: 1; 0.5 with the adaptive threshold).
        "increase.packet_share" => packet_share: f64,
        /// Minimum increase per update, in bit/s (the same file: 1 kbit/s).
        "increase.min" => min_increase: Bitrate,
        /// Response time minus round-trip time (the same file: 100 ms).
        "increase.response_extra" => response_extra: Duration,
        /// The rate is unchanged if it would increase above this multiple of the received rate (the
        /// same file: 1.5).
        "rate_cap" => rate_cap: f64,
        /// Time after the first packet until the received rate is the first estimate (the same
        /// file: 500 ms; 5 s from `11324b9561`, 2015-07-09).
        "first.time" => first_time: Duration,
        /// Whether before the first estimate only over-use changes the rate, and gives the first
        /// estimate (the same file, `11324b9561`, 2015-07-09).
        "first.at_decrease" => first_at_decrease: bool,
        /// Whether the rate decreases at once when over-use begins (`…_abs_send_time.cc`). Else the
        /// time since the last change counts (from `62a5ccdb53`, 2016-02-16).
        "reduce.at_onset" => reduce_at_onset: bool,
        /// During over-use the rate decreases again at once if it exceeds the received rate by more
        /// than this multiple of the received rate (`aimd_rate_control.cc`: 1.05).
        "reduce.excess" => reduce_excess: f64,
        /// Window over which the received rate R is measured (`bwe_defines.h`: 1 s).
        "rate.window" => rate_window: Duration,
        /// The time by which the bytes in the window are divided: window, or elapsed (from
        /// `fb8fc5391e`, 2016-04-22).
        "rate.divisor" => rate_divisor: Divisor,
        /// Whether a timer or the packets update the rate (`…_abs_send_time.cc`: timer; packet from
        /// `1112b2bc68`, 2016-04-14). The interval is that of REMB: 200 ms above 64 kbit/s.
        "updates" => updates: Updates,
        /// Interval of the timer before the first estimate (`…_abs_send_time.cc`: 1 s; 500 ms in
        /// October 2015).
        "updates.first_interval" => first_interval: Duration,
        /// Which results of probes set the rate (`…_abs_send_time.cc`): ignored, raising, or
        /// above-received (from `11324b9561`, 2015-07-09, to `fb8fc5391e`, 2016-04-22).
        "probe.result" => probe_rule: ProbeRule,
        /// Packets of more than this size count as probes, in bytes without RTP header
        /// (`…_abs_send_time.cc`, `fe0c90501b`, 2015-07-27: 200).
        "probe.min_size" => probe_min_size: u32,
        /// Whether the result of a probe is sent at once (`…_abs_send_time.cc`, 2016).
        "probe.at_once" => probe_at_once: bool,
        /// Probe clusters at the start of a call: none, or initial (`pacing/bitrate_prober.cc`,
        /// `0e8bf6c4d3`, February 2015: 6 packets at 3 times and 5 at 6 times the start rate).
        "probing" => probing: Probing,
        /// Time between REMB messages (`webrtc/video_engine/vie_remb.cc`, `9d4762e8b6`, 2014-03-24:
        /// 200 ms).
        "remb.interval" => remb_interval: Duration,
        /// Whether the receiver learns the round-trip time. A receiver that does not send media
        /// does not (libjingle did not enable receiver reference time reports), and 200 ms are
        /// assumed.
        "rtt_at_receiver" => rtt_at_receiver: bool,
        /// The rate increases up to this fraction lost, in 256ths
        /// (`bitrate_controller/send_side_bandwidth_estimation.cc`: 5).
        "loss.low" => loss_low: u32,
        /// The rate decreases above this fraction lost, in 256ths (the same file: 26).
        "loss.high" => loss_high: u32,
        /// Factor of the increase, from the least rate of the last second (the same file: 1.08).
        "loss.increase" => loss_increase: f64,
        /// Additional increase (the same file: 1 kbit/s).
        "loss.increase_extra" => loss_increase_extra: Bitrate,
        /// Minimum time between two decreases minus round-trip time (the same file: 300 ms).
        "loss.decrease_interval" => loss_decrease_interval: Duration,
        /// Whether a report causes at most one decrease (the same file, `b7edb88ae2`, 2015-10-22).
        /// Else the timer repeats the decrease.
        "loss.once_per_report" => loss_once: bool,
        /// Whether the rate does not decrease below that of TFRC (RFC 3448 § 3.1), with packets of
        /// 1000 B (the same file; removed by `757077b34e`, 2015-10-16).
        "loss.tfrc_floor" => tfrc_floor: bool,
        /// Packets that a loss rate needs (the same file: 20).
        "loss.min_packets" => loss_min_packets: u64,
        /// Time after the first report in which REMB is trusted, if no packet was lost (the same
        /// file, `e9f0f591b5`, 2015-02-16: 2 s).
        "loss.start_phase" => start_phase: Duration,
        /// Time after the last report until the rate no longer changes
        /// (the same file, `52200d0b7f`, 2016-09-20: 6 s). 0: the rate changes by the last report.
        "loss.stale_after" => stale_after: Duration,
        /// Interval of the timer (`webrtc/modules/bitrate_controller/bitrate_controller_impl.cc`:
        /// 25 ms).
        "loss.timer" => loss_timer: Duration,
        /// Pacing rate as a multiple of the target (`pacing/paced_sender.h`: 2.5).
        "pacing.factor" => pacing_factor: f64,
    }
}

impl ChromiumConfig {
    /// The part of the configuration that the grouping uses.
    pub(super) fn groups(&self) -> GroupRules {
        GroupRules {
            clock: self.clock,
            length: self.group_length,
            burst_gap: self.burst_gap,
            longest_burst: Duration::ZERO,
            skip_reordered: self.skip_reordered,
            resets: false,
        }
    }

    /// The part of the configuration that the detector uses.
    pub(super) fn detector(&self) -> Rules {
        Rules {
            adaptive: self.threshold == Threshold::Adaptive,
            initial: (self.initial_threshold, self.near_threshold),
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
            tfrc_floor: self.tfrc_floor,
            min_packets: self.loss_min_packets,
            start_phase: self.start_phase,
            stale_after: self.stale_after,
            by_packets: false,
        }
    }
}
