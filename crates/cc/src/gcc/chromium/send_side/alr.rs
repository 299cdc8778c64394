//! Detects application-limited regions, in which the sender has less to send than the estimate
//! allows (libwebrtc `goog_cc/alr_detector.cc`, `pacing/interval_budget.cc`).

/// Share of the estimate that counts as full use, percent
/// (`rtc_base/experiments/alr_experiment.cc`, its default settings: 80).
const USAGE_PERCENT: i64 = 80;
/// Levels of the budget at which a region begins and ends, percent (the same settings: 40 and −60).
const LEVELS_PERCENT: (i64, i64) = (40, -60);
/// The budget holds at most this time, ms (`interval_budget.cc`: 500).
const WINDOW: i64 = 500;

/// Compares the sent bytes with the estimate.
#[derive(Default)]
pub(super) struct Alr {
    kbps: i64,
    budget: i64,
    last: Option<i64>,
    since: Option<i64>,
}

impl Alr {
    fn most(&self) -> i64 {
        WINDOW * self.kbps / 8
    }

    pub(super) fn set_estimate(&mut self, rate: u32) {
        self.kbps = i64::from(rate) * USAGE_PERCENT / 100_000;
        self.budget = self.budget.clamp(-self.most(), self.most());
    }

    pub(super) fn on_sent(&mut self, now: i64, size: u64) {
        let Some(last) = self.last.replace(now) else { return };
        let most = self.most();
        self.budget = (self.budget - size as i64).max(-most);
        self.budget = (self.budget + self.kbps * (now - last) / 8).min(most);
        let level = if most == 0 { 0 } else { self.budget * 100 / most };
        if level > LEVELS_PERCENT.0 {
            self.since.get_or_insert(now);
        } else if level < LEVELS_PERCENT.1 {
            self.since = None;
        }
    }

    /// When the region began, ms; `None` outside of a region.
    pub(super) fn since(&self) -> Option<i64> {
        self.since
    }
}
