//! The loss-based estimate: the most likely of a few candidate rates under the loss model, and how
//! fast the estimate may increase after loss has limited it (libwebrtc
//! `goog_cc/loss_based_bwe_v2.cc`).

use super::config::LibwebrtcConfig;
use super::loss_model::{Channel, LossModel};
use super::loss_observations::Observations;
use crate::{PacketResult, SignalSink};
use units::{Bitrate, Duration, Time};

/// What limits the estimate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LossState {
    /// Loss does not limit the estimate; the delay-based rate does.
    DelayBased,
    /// Loss limits the estimate, which increases.
    Increasing,
    /// Loss limits the estimate, which decreases or is held.
    Decreasing,
}

/// The estimate is held for some time after a decrease, each time longer.
#[derive(Clone, Copy, Debug)]
struct Hold {
    until: Option<Time>,
    next: Duration,
    /// Maximum rate during the hold, in bit/s; infinite outside a hold.
    rate: f64,
}

/// Estimates the rate from packet loss. All rates are in bit/s.
pub(super) struct LossBased {
    config: LibwebrtcConfig,
    model: LossModel,
    observations: Observations,
    bounds: (f64, f64),
    /// The most likely hypothesis; `None` before the first delay-based rate.
    best: Option<Channel>,
    rate: f64,
    state: LossState,
    acknowledged: Option<f64>,
    delay_based: f64,
    hold: Hold,
    /// Factor of the loss thresholds: 1, unless a short buffer on the path is known.
    sensitivity: f64,
    /// The delayed-increase window: its start, and the maximum rate within it.
    window: (Option<Time>, f64),
}

impl LossBased {
    pub(super) fn new(config: &LibwebrtcConfig, bounds: (Bitrate, Bitrate)) -> Self {
        Self {
            config: config.clone(),
            model: LossModel::new(config),
            observations: Observations::new(config),
            bounds: (bounds.0.as_bps_f64(), bounds.1.as_bps_f64()),
            best: None,
            rate: f64::INFINITY,
            state: LossState::DelayBased,
            acknowledged: None,
            delay_based: f64::INFINITY,
            hold: Hold { until: None, next: config.hold, rate: f64::INFINITY },
            sensitivity: 1.0,
            window: (None, f64::INFINITY),
        }
    }

    /// Processes feedback, with the acknowledged and the delay-based rate if they are known.
    pub(super) fn update(
        &mut self,
        results: &[PacketResult],
        acknowledged: Option<Bitrate>,
        delay_based: Option<Bitrate>,
        in_alr: bool,
    ) {
        self.acknowledged = acknowledged.map(Bitrate::as_bps_f64).or(self.acknowledged);
        self.delay_based = delay_based.map_or(f64::INFINITY, Bitrate::as_bps_f64);
        if !self.observations.push(results) || (self.best.is_none() && delay_based.is_none()) {
            return;
        }
        let present = self.best.unwrap_or(Channel {
            bandwidth: self.delay_based,
            inherent_loss: self.config.inherent_initial,
        });
        if self.best.is_none() {
            self.rate = self.delay_based;
        }
        self.update_sensitivity();
        let candidate = self.restrained(present, self.best_candidate(present, in_alr));
        let bounded = self.bounded(candidate.bandwidth);
        let floor = self.floor();
        self.best = Some(if bounded < candidate.bandwidth {
            Channel { bandwidth: bounded, inherent_loss: 0.0 }
        } else {
            Channel { bandwidth: candidate.bandwidth.max(floor), ..candidate }
        });
        self.decide(bounded);
    }

    /// Updates the factor of the loss thresholds, which depends on the drain time of the smallest
    /// buffer on the path at the current rate.
    fn update_sensitivity(&mut self) {
        let present = Bitrate::from_bps_f64(self.rate.min(self.delay_based).min(self.bounds.1));
        self.sensitivity = self.config.hint_buffer.sensitivity(present, self.config.hint_short);
        self.model.set_sensitivity(self.sensitivity);
    }

    /// The candidate with the highest objective: likelihood of the observations plus a preference
    /// for high rates.
    fn best_candidate(&self, present: Channel, in_alr: bool) -> Channel {
        let limit =
            if self.is_limited() { self.bounds.1.min(self.window.1) } else { self.bounds.1 };
        let candidates = [
            Some(self.config.candidate_up * present.bandwidth),
            Some(present.bandwidth),
            Some(self.config.candidate_down * present.bandwidth),
            self.acknowledged.filter(|_| !in_alr),
            Some(self.delay_based).filter(|&rate| rate.is_finite() && rate > present.bandwidth),
        ];
        let mut best = (f64::NEG_INFINITY, present);
        for bandwidth in candidates.into_iter().flatten() {
            let bandwidth = bandwidth.min(limit.max(present.bandwidth));
            let candidate = self.model.feasible(Channel { bandwidth, ..present });
            let candidate = self.model.fitted(candidate, &self.observations);
            let objective = self.model.objective(candidate, &self.observations);
            if objective > best.0 {
                best = (objective, candidate);
            }
        }
        best.1
    }

    /// Limits an increase by the average loss, the delayed-increase window and the acknowledged
    /// rate.
    fn restrained(&self, present: Channel, mut candidate: Channel) -> Channel {
        let raises = candidate.bandwidth > present.bandwidth;
        if raises && self.observations.average_loss() > candidate.inherent_loss {
            candidate.bandwidth = present.bandwidth;
        }
        if !self.is_limited() {
            return candidate;
        }
        if self.in_window() {
            candidate.bandwidth = candidate.bandwidth.min(self.window.1);
        }
        if let Some(acknowledged) = self.acknowledged
            && self.is_increase(present.bandwidth, candidate.bandwidth)
        {
            let near_hold = acknowledged < self.config.hold_threshold * self.hold.rate;
            let in_hold = self.hold.rate.is_finite() && near_hold;
            let factor = if in_hold { self.config.rampup_in_hold } else { self.config.rampup };
            candidate.bandwidth =
                candidate.bandwidth.min(factor * acknowledged).max(present.bandwidth);
            if self.state == LossState::Decreasing && candidate.bandwidth == present.bandwidth {
                // An increase by 1 bit/s, so that the state becomes Increasing.
                candidate.bandwidth += 1.0;
            }
        }
        candidate
    }

    /// The rate, at most the delay-based rate and the ceiling by the average loss, at least the
    /// acknowledged rate.
    fn bounded(&self, bandwidth: f64) -> f64 {
        bandwidth.min(self.ceiling()).min(self.delay_based).max(self.floor())
    }

    fn ceiling(&self) -> f64 {
        let excess =
            self.observations.average_loss() - self.sensitivity * self.config.instant_offset;
        if excess > 0.0 { self.config.instant_balance.as_bps_f64() / excess } else { self.bounds.1 }
    }

    fn floor(&self) -> f64 {
        self.acknowledged.unwrap_or(0.0).max(self.bounds.0)
    }

    /// Sets the estimate and the state.
    fn decide(&mut self, bounded: f64) {
        let now = self.observations.newest();
        let held =
            self.state == LossState::Decreasing && self.hold.until.is_some_and(|until| until > now);
        if held && bounded < self.delay_based {
            self.hold.rate = self.hold.rate.max(self.floor());
            self.rate = self.hold.rate.min(bounded);
            return;
        }
        if bounded >= self.delay_based || bounded >= self.bounds.1 {
            self.hold = Hold { until: None, next: self.config.hold, rate: f64::INFINITY };
            self.state = LossState::DelayBased;
        } else if self.is_increase(self.rate, bounded) {
            self.state = LossState::Increasing;
        } else {
            if self.state != LossState::Decreasing && self.config.hold_factor > 0.0 {
                self.begin_hold(now, bounded);
            }
            self.state = LossState::Decreasing;
        }
        self.rate = bounded;
        if self.is_limited() && !self.in_window() {
            self.begin_window(now);
        }
    }

    fn begin_hold(&mut self, now: Time, rate: f64) {
        let next = Duration::from_secs_f64(self.hold.next.as_secs_f64() * self.config.hold_factor);
        self.hold = Hold {
            until: Some(now + self.hold.next),
            next: next.min(self.config.longest_hold),
            rate,
        };
    }

    fn begin_window(&mut self, now: Time) {
        let bandwidth = self.best.map_or(self.rate, |best| best.bandwidth);
        let min = self.config.min_rate.as_bps_f64();
        self.window = (Some(now), (self.config.max_increase * bandwidth).max(min));
    }

    fn in_window(&self) -> bool {
        let now = self.observations.newest();
        self.window.0.is_some_and(|since| now.saturating_since(since) < self.config.increase_window)
    }

    fn is_limited(&self) -> bool {
        self.state != LossState::DelayBased
    }

    fn is_increase(&self, old: f64, new: f64) -> bool {
        let continues = new == old && self.state == LossState::Increasing;
        self.is_limited() && (new > old || continues)
    }

    /// The estimate; `None` before there are enough observations.
    pub(super) fn rate(&self) -> Option<Bitrate> {
        let ready =
            self.best.is_some() && self.observations.count() >= self.config.min_observations;
        ready.then(|| Bitrate::from_bps_f64(self.rate))
    }

    /// What limits the estimate.
    pub(super) fn state(&self) -> LossState {
        self.state
    }

    pub(super) fn signals(&self, sink: &mut SignalSink<'_>) {
        sink("loss_based_rate", self.rate().map_or(f64::NAN, Bitrate::as_bps_f64));
        sink(
            "inherent_loss",
            self.best.map_or(self.config.inherent_initial, |best| best.inherent_loss),
        );
        sink("average_loss", self.observations.average_loss());
        sink(
            "loss_state",
            match self.state {
                LossState::Decreasing => -1.0,
                LossState::DelayBased => 0.0,
                LossState::Increasing => 1.0,
            },
        );
    }
}

#[cfg(test)]
mod tests;
