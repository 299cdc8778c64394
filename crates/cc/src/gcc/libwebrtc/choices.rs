//! The settings whose values are words: the estimator of the acknowledged rate (libwebrtc
//! `goog_cc/acknowledged_bitrate_estimator_interface.cc`), and the rate at which the estimate starts
//! after a change of the network route (libwebrtc `goog_cc/goog_cc_network_control.cc`, field trial
//! WebRTC-Bwe-SafeResetOnRouteChange).

use crate::gcc::words::words;

words! {
    /// How the acknowledged rate is estimated.
    pub enum AcknowledgedEstimator {
        /// From a window of packets, as by default since 2023.
        Robust = "robust",
        /// By Bayesian updates with the bytes of fixed windows, as by default until 2023.
        Bayesian = "bayesian",
    }
}

words! {
    /// A rate above which the estimate does not start after a change of the network route.
    pub enum SafeReset {
        /// None: the estimate starts at the start rate, as by default.
        Off = "off",
        /// The estimate before the change, as with the field trial `Enabled`.
        Estimate = "estimate",
        /// The acknowledged rate before the change, as with the field trial `Enabled,ack`.
        Acknowledged = "acknowledged",
    }
}
