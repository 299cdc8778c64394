//! The acknowledged rate: the rate at which packets arrive, by one of two estimators (libwebrtc
//! `goog_cc/acknowledged_bitrate_estimator_interface.cc`).

use super::bayesian_rate::BayesianRate;
use super::choices::AcknowledgedEstimator;
use super::config::LibwebrtcConfig;
use super::robust_throughput::RobustThroughput;
use crate::SentPacket;
use units::{Bitrate, Time};

/// Estimates the rate at which packets arrive.
pub(super) enum AcknowledgedRate {
    Robust(RobustThroughput),
    Bayesian(BayesianRate),
}

impl AcknowledgedRate {
    pub(super) fn new(config: &LibwebrtcConfig) -> Self {
        match config.acknowledged_estimator {
            AcknowledgedEstimator::Robust => Self::Robust(RobustThroughput::new(config)),
            AcknowledgedEstimator::Bayesian => Self::Bayesian(BayesianRate::new(config)),
        }
    }

    /// An application-limited region ended.
    pub(super) fn on_alr_ended(&mut self, now: Time) {
        if let Self::Bayesian(bayesian) = self {
            bayesian.on_alr_ended(now);
        }
    }

    /// Processes the packets that one feedback message reports as received, in order of arrival.
    pub(super) fn on_feedback(&mut self, arrived: &[(SentPacket, Time)]) {
        for (packet, arrival) in arrived {
            match self {
                Self::Robust(robust) => robust.on_packet(packet.sent, *arrival, packet.size),
                Self::Bayesian(bayesian) => bayesian.on_packet(packet.sent, *arrival, packet.size),
            }
        }
        if let Self::Robust(robust) = self {
            robust.on_feedback_end();
        }
    }

    /// The rate; `None` before the first estimate.
    pub(super) fn rate(&self) -> Option<Bitrate> {
        match self {
            Self::Robust(robust) => robust.rate(),
            Self::Bayesian(bayesian) => bayesian.rate(),
        }
    }

    /// The rate; before the first estimate that of the window so far, if the estimator has one.
    pub(super) fn first_rate(&self) -> Option<Bitrate> {
        match self {
            Self::Robust(robust) => robust.rate(),
            Self::Bayesian(bayesian) => bayesian.rate().or(bayesian.partial()),
        }
    }
}
