//! The estimate: the minimum of the delay-based rate, the loss-based rate and the receiver's limit,
//! reduced when the round-trip time is extreme. Before the loss-based estimator is ready, receiver
//! reports set the rate (libwebrtc `goog_cc/send_side_bandwidth_estimation.cc`).

use super::config::LibwebrtcConfig;
use super::loss_based::{LossBased, LossState};
use super::rtt_backoff::RttBackoff;
use crate::PacketResult;
use std::collections::VecDeque;
use units::{Bitrate, Duration, Time};

/// Packets in receiver reports before their loss counts (libwebrtc
/// `goog_cc/send_side_bandwidth_estimation.cc`: 20).
const MIN_PACKETS: u64 = 20;
/// Reports of receivers count for this long (same file: 1.2 × 5 s).
const REPORT_AGE: Duration = Duration::from_secs(6);
/// The rate rises from its minimum within this time (same file: 1 s, less 1 ms).
const INCREASE_INTERVAL: Duration = Duration::from_millis(999);
/// Minimum time between two decreases, in addition to the round-trip time (same file: 300 ms).
const DECREASE_INTERVAL: Duration = Duration::from_millis(300);
/// Loss in 1/256 up to which the rate increases, and above which it decreases (same file: 2 % and
/// 10 %).
const LOSS: (f64, f64) = (0.02 * 256.0, 0.1 * 256.0);
/// Factor and constant of an increase (same file: 8 % and 1 kbit/s).
const INCREASE: (f64, Bitrate) = (1.08, Bitrate::from_kbps(1));
/// Maximum rate if the application sets none (same file: 1 Gbit/s).
const DEFAULT_MAX: Bitrate = Bitrate::from_mbps(1000);
/// Capacity of the history of rates.
const HISTORY: usize = 256;

/// Receiver reports (RFC 3550 § 6.4.1).
#[derive(Clone, Copy, Debug, Default)]
struct Reports {
    /// Lost and expected packets that do not count yet.
    pending: (u64, u64),
    first: Option<Time>,
    /// When the newest loss was computed.
    newest: Option<Time>,
    /// Loss in 1/256.
    loss: u64,
    decreased: bool,
}

/// Combines the estimates.
pub(super) struct SendSide {
    config: LibwebrtcConfig,
    bounds: (Bitrate, Bitrate),
    loss: LossBased,
    loss_state: LossState,
    backoff: RttBackoff,
    current: Bitrate,
    delay_limit: Option<Bitrate>,
    receiver_limit: Option<Bitrate>,
    reports: Reports,
    rtt: Duration,
    /// The last decrease because of loss or of the round-trip time.
    last_decrease: Option<Time>,
    /// Minima of the rate in the last second: a window whose rates rise.
    history: VecDeque<(Time, Bitrate)>,
}

impl SendSide {
    pub(super) fn new(config: &LibwebrtcConfig) -> Self {
        let bounds = (config.min_rate, DEFAULT_MAX);
        Self {
            config: config.clone(),
            bounds,
            loss: LossBased::new(config, bounds),
            loss_state: LossState::DelayBased,
            backoff: RttBackoff::new(config),
            current: Bitrate::ZERO,
            delay_limit: None,
            receiver_limit: None,
            reports: Reports::default(),
            rtt: Duration::ZERO,
            last_decrease: None,
            history: VecDeque::with_capacity(HISTORY),
        }
    }

    /// The network route changed. The round-trip time of feedback is kept.
    pub(super) fn on_route_change(&mut self) {
        let fresh = Self::new(&self.config);
        let backoff = std::mem::replace(&mut self.backoff, RttBackoff::new(&self.config));
        *self = Self { backoff, ..fresh };
    }

    /// Sets the bounds of the estimate. `Bitrate::MAX`: no maximum.
    pub(super) fn set_bounds(&mut self, min: Bitrate, max: Bitrate) {
        let min = min.max(self.config.min_rate);
        let max = if max == Bitrate::MAX { DEFAULT_MAX } else { max.max(min) };
        self.bounds = (min, max);
        self.loss.set_bounds(self.bounds);
    }

    /// Sets the estimate: the start rate or the result of a probe.
    pub(super) fn set_rate(&mut self, rate: Bitrate) {
        self.delay_limit = None;
        self.set_current(rate);
        self.history.clear();
    }

    pub(super) fn set_receiver_limit(&mut self, limit: Bitrate) {
        self.receiver_limit = Some(limit).filter(|&limit| limit > Bitrate::ZERO);
        self.limit();
    }

    pub(super) fn set_delay_based(&mut self, rate: Bitrate) {
        self.delay_limit = Some(rate);
        self.limit();
    }

    pub(super) fn on_rtt(&mut self, rtt: Duration) {
        if rtt > Duration::ZERO {
            self.rtt = rtt;
        }
    }

    pub(super) fn on_sent(&mut self, sent: Time) {
        self.backoff.on_sent(sent);
    }

    /// Feedback arrived; `rtt` is its minimum round-trip time without waiting at the receiver.
    pub(super) fn on_feedback_rtt(&mut self, now: Time, rtt: Duration) {
        self.backoff.on_feedback(now, rtt);
    }

    /// Passes feedback to the loss-based estimator.
    pub(super) fn on_packets(
        &mut self,
        now: Time,
        results: &[PacketResult],
        acknowledged: Option<Bitrate>,
        in_alr: bool,
    ) {
        if self.config.loss {
            self.loss.update(results, acknowledged, self.delay_limit, in_alr);
        }
        self.update(now);
    }

    /// A receiver report came: packets lost and expected since the report before.
    pub(super) fn on_report(&mut self, now: Time, lost: u64, expected: u64) {
        let reports = &mut self.reports;
        reports.first.get_or_insert(now);
        if expected == 0 {
            return;
        }
        reports.pending.0 += lost;
        reports.pending.1 += expected;
        if reports.pending.1 < MIN_PACKETS {
            return;
        }
        let (lost, expected) = std::mem::take(&mut reports.pending);
        reports.loss = (256 * lost / expected).min(255);
        reports.decreased = false;
        reports.newest = Some(now);
        self.update(now);
    }

    /// Recomputes the estimate.
    pub(super) fn update(&mut self, now: Time) {
        if self.backoff.is_above() {
            self.back_off(now);
        } else if !self.is_trusted(now) || !self.raise_at_start(now) {
            self.update_by_loss(now);
        }
    }

    fn back_off(&mut self, now: Time) {
        match self.backoff.reduced(now, self.last_decrease, self.current) {
            Some(rate) => {
                self.last_decrease = Some(now);
                self.set_current(rate);
            }
            None => self.limit(),
        }
    }

    /// Whether the delay-based rate and the receiver's limit may raise the estimate at the start.
    fn is_trusted(&self, now: Time) -> bool {
        let start = self
            .reports
            .first
            .is_none_or(|first| now.saturating_since(first) < self.config.start_phase);
        start && self.reports.loss == 0 && !self.is_loss_ready()
    }

    fn raise_at_start(&mut self, now: Time) -> bool {
        let known = [self.receiver_limit, self.delay_limit].into_iter().flatten().max();
        let raised = known.map_or(self.current, |known| known.max(self.current));
        if raised == self.current {
            return false;
        }
        self.history.clear();
        self.history.push_back((now, self.current));
        self.set_current(raised);
        true
    }

    fn update_by_loss(&mut self, now: Time) {
        self.update_history(now);
        if let Some(rate) = self.loss.rate().filter(|_| self.config.loss) {
            self.loss_state = self.loss.state();
            return self.set_current(rate);
        }
        let Some(newest) = self.reports.newest else { return self.limit() };
        if now.saturating_since(newest) >= REPORT_AGE {
            return self.limit();
        }
        let loss = self.reports.loss as f64;
        let rate = if loss <= LOSS.0 {
            self.increased()
        } else if loss > LOSS.1 {
            self.decreased(now)
        } else {
            None
        };
        self.set_current(rate.unwrap_or(self.current));
    }

    fn increased(&self) -> Option<Bitrate> {
        self.history.front().map(|(_, rate)| rate.scale(INCREASE.0) + INCREASE.1)
    }

    fn decreased(&mut self, now: Time) -> Option<Bitrate> {
        let interval = DECREASE_INTERVAL + self.rtt;
        let due = self.last_decrease.is_none_or(|last| now.saturating_since(last) >= interval);
        if self.reports.decreased || !due {
            return None;
        }
        (self.last_decrease, self.reports.decreased) = (Some(now), true);
        Some(self.current.scale((512 - self.reports.loss) as f64 / 512.0))
    }

    fn update_history(&mut self, now: Time) {
        let old = |(at, _): &(Time, Bitrate)| now.saturating_since(*at) > INCREASE_INTERVAL;
        while self.history.front().is_some_and(old) || self.history.len() >= HISTORY {
            self.history.pop_front();
        }
        while self.history.back().is_some_and(|(_, rate)| self.current <= *rate) {
            self.history.pop_back();
        }
        self.history.push_back((now, self.current));
    }

    fn limit(&mut self) {
        self.set_current(self.current);
    }

    /// The receiver's limit does not change the estimate, only the target: when it is lifted, the
    /// target is the estimate again.
    fn set_current(&mut self, rate: Bitrate) {
        let upper = self.delay_limit.map_or(self.bounds.1, |limit| limit.min(self.bounds.1));
        self.current = rate.min(upper).max(self.bounds.0);
    }

    fn is_loss_ready(&self) -> bool {
        self.config.loss && self.loss.rate().is_some()
    }

    /// The estimate.
    pub(super) fn target(&self) -> Bitrate {
        self.receiver_limit.map_or(self.current, |limit| self.current.min(limit)).max(self.bounds.0)
    }

    pub(super) fn loss(&self) -> &LossBased {
        &self.loss
    }

    /// What limited the estimate when it was computed.
    pub(super) fn loss_state(&self) -> LossState {
        self.loss_state
    }

    /// Loss by receiver reports in 1/256.
    pub(super) fn fraction_lost(&self) -> u64 {
        self.reports.loss
    }

    /// The newest round-trip time; zero if unknown.
    pub(super) fn rtt(&self) -> Duration {
        self.rtt
    }

    pub(super) fn is_rtt_above_limit(&self) -> bool {
        self.backoff.is_above()
    }

    pub(super) fn receiver_limit(&self) -> Option<Bitrate> {
        self.receiver_limit
    }

    pub(super) fn min_rate(&self) -> Bitrate {
        self.bounds.0
    }
}

#[cfg(test)]
mod tests;
