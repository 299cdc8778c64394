//! At which rate the estimate starts after a change of the network route (libwebrtc
//! `goog_cc/goog_cc_network_control.cc`, field trial WebRTC-Bwe-SafeResetOnRouteChange).

use crate::gcc::words::words;

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
