//! The profiles 'as run' with REMB: their constants.

use super::config::ChromiumConfig;
use super::words::{Clock, Divisor, ProbeRule, Silence, Updates};
use crate::gcc::config::{Probing, Threshold};
use units::{Bitrate, Duration};

/// A version of a browser: name, constants and summary.
pub(crate) struct AsRun {
    pub(crate) name: &'static str,
    pub(crate) config: fn() -> ChromiumConfig,
    pub(crate) summary: &'static str,
}

impl ChromiumConfig {
    /// libwebrtc `4e7aa43ea0`, 2015-07-07: the last version before the adaptive threshold.
    pub(crate) fn chromium_2014() -> Self {
        Self {
            clock: Clock::AbsSendTime,
            clock_step: Duration::from_millis(1),
            group_length: Duration::from_millis(5),
            burst_gap: Duration::from_millis(5),
            skip_reordered: false,
            silence: Silence::Groups,
            silence_time: Duration::from_secs(2),
            q_slope: 1e-10,
            q_offset: 1e-2,
            min_noise: 1e-7,
            threshold: Threshold::Static,
            initial_threshold: 25.0,
            near_threshold: 12.5,
            k_up: 0.0,
            k_down: 0.0,
            threshold_skip: 15.0,
            min_threshold: 6.0,
            max_threshold: 600.0,
            longest_step: Duration::ZERO,
            overuse_time: Duration::from_millis(100),
            decrease: 0.9,
            decrease_near: 0.95,
            above_region: true,
            hold_recovery: true,
            factor: 1.08,
            packet_share: 1.0,
            min_increase: Bitrate::from_kbps(1),
            response_extra: Duration::from_millis(100),
            rate_cap: 1.5,
            first_time: Duration::from_millis(500),
            first_at_decrease: false,
            reduce_at_onset: true,
            reduce_excess: 1.05,
            rate_window: Duration::from_secs(1),
            rate_divisor: Divisor::Window,
            updates: Updates::Timer,
            first_interval: Duration::from_secs(1),
            probe_rule: ProbeRule::Raising,
            probe_min_size: 0,
            probe_at_once: false,
            probing: Probing::Initial,
            remb_interval: Duration::from_millis(200),
            rtt_at_receiver: false,
            loss_low: 5,
            loss_high: 26,
            loss_increase: 1.08,
            loss_increase_extra: Bitrate::from_kbps(1),
            loss_decrease_interval: Duration::from_millis(300),
            loss_once: false,
            tfrc_floor: true,
            loss_min_packets: 20,
            start_phase: Duration::from_secs(2),
            stale_after: Duration::ZERO,
            loss_timer: Duration::from_millis(25),
            pacing_factor: 2.5,
        }
    }

    /// libwebrtc `c62642c7a6`, 2015-07-07, with the trial `WebRTC-AdaptiveBweThreshold` set to
    /// `Enabled-0.01,0.00018`.
    pub(crate) fn chromium_2015() -> Self {
        Self {
            q_slope: 1e-13,
            q_offset: 1e-3,
            min_noise: 1.0,
            threshold: Threshold::Adaptive,
            initial_threshold: 12.5,
            k_up: 0.01,
            k_down: 0.00018,
            overuse_time: Duration::from_millis(10),
            decrease: 0.85,
            decrease_near: 0.0,
            above_region: false,
            hold_recovery: false,
            packet_share: 0.5,
            ..Self::chromium_2014()
        }
    }

    /// libwebrtc `067fb652c1`, 2015-10-02, without field trials: the threshold is static.
    pub(crate) fn chrome_47() -> Self {
        Self {
            skip_reordered: true,
            q_slope: 1e-13,
            min_noise: 1.0,
            initial_threshold: 12.5,
            decrease: 0.85,
            decrease_near: 0.0,
            above_region: false,
            hold_recovery: false,
            first_time: Duration::from_secs(5),
            first_at_decrease: true,
            first_interval: Duration::from_millis(500),
            probe_rule: ProbeRule::AboveReceived,
            probe_min_size: 200,
            ..Self::chromium_2014()
        }
    }

    /// libwebrtc `efafd7f90c`, 2016-05-19, without field trials: the threshold is adaptive by
    /// default.
    pub(crate) fn chrome_52() -> Self {
        Self {
            silence: Silence::GroupsAndFilter,
            q_offset: 1e-3,
            threshold: Threshold::Adaptive,
            k_up: 0.004,
            k_down: 0.00006,
            longest_step: Duration::from_millis(100),
            overuse_time: Duration::from_millis(10),
            packet_share: 0.5,
            reduce_at_onset: false,
            rate_divisor: Divisor::Elapsed,
            updates: Updates::Packet,
            probe_rule: ProbeRule::Raising,
            probe_at_once: true,
            loss_once: true,
            tfrc_floor: false,
            ..Self::chrome_47()
        }
    }

    /// Firefox 48, with libwebrtc of spring 2015 (`7351f4689c`, 2015-04-02) and without
    /// abs-send-time.
    pub(crate) fn firefox_48() -> Self {
        Self {
            clock: Clock::RtpTimestamp,
            silence: Silence::Everything,
            probe_rule: ProbeRule::Ignored,
            probing: Probing::None,
            ..Self::chromium_2014()
        }
    }

    pub(crate) const PROFILES: [AsRun; 5] = [
        AsRun {
            name: "chromium-2014",
            config: Self::chromium_2014,
            summary: "Chromium before the adaptive threshold, as run for Carlucci 2017 with a \
                      static threshold (libwebrtc 4e7aa43ea0, July 2015)",
        },
        AsRun {
            name: "chromium-2015",
            config: Self::chromium_2015,
            summary: "Chromium with the first adaptive threshold, as run for Carlucci 2017 \
                      (libwebrtc c62642c7a6, July 2015)",
        },
        AsRun {
            name: "chrome-47",
            config: Self::chrome_47,
            summary: "Chrome 47, as run for Janczukowicz 2017: static threshold (libwebrtc \
                      067fb652c1, October 2015)",
        },
        AsRun {
            name: "chrome-52",
            config: Self::chrome_52,
            summary: "Chrome 52, as run for Jansen 2016: slow adaptive threshold (libwebrtc \
                      efafd7f90c, May 2016)",
        },
        AsRun {
            name: "firefox-48",
            config: Self::firefox_48,
            summary: "Firefox 48, as run for Jansen 2016: static threshold, RTP timestamps \
                      (libwebrtc 7351f4689c, April 2015)",
        },
    ];
}
