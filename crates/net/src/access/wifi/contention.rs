//! Channel access: a contender waits until the channel has been idle for its interframe space, then
//! counts backoff slots down (IEEE 802.11-2016 § 10.3.3, § 10.3.4.3 for DCF, § 10.22.2 for EDCA).

use super::edca::AccessParameters;
use super::phy;
use units::{Duration, Stream, Time};

/// A contender for the channel: a device under DCF, or one of its access categories under EDCA (an
/// EDCAF).
#[derive(Debug)]
pub(super) struct Contender {
    parameters: AccessParameters,
    window: u32,
    /// The slots left to count from `ready` on.
    backoff: u32,
    /// The time from which it considers the channel idle: the end of a transmission or of its
    /// reservation.
    idle_from: Time,
    /// The time from which slots are counted.
    ready: Time,
    /// The time since which it has a frame to send; `None` if it has none.
    pending: Option<Time>,
    draws: Stream,
}

impl Contender {
    pub(super) fn new(parameters: AccessParameters, draws: Stream) -> Self {
        Self {
            parameters,
            window: parameters.cw_min,
            backoff: 0,
            idle_from: Time::ZERO,
            ready: Time::ZERO + parameters.aifs,
            pending: None,
            draws,
        }
    }

    pub(super) fn parameters(&self) -> &AccessParameters {
        &self.parameters
    }

    /// Requests the channel from `now` on. If the channel is busy, a backoff is drawn.
    pub(super) fn request(&mut self, now: Time, busy: bool) {
        if self.pending.is_some() {
            return;
        }
        self.pending = Some(now);
        if self.backoff == 0 && (busy || now < self.idle_from) {
            self.draw();
        }
    }

    /// Withdraws the request: no frame is left to send.
    pub(super) fn withdraw(&mut self) {
        self.pending = None;
    }

    /// When it will send unless the channel becomes busy before; `None` without a request.
    pub(super) fn starts(&self) -> Option<Time> {
        let since = self.pending?;
        Some(since.max(self.ready + slots(self.backoff)))
    }

    /// Others occupy the channel from `now` on: subtracts the idle slots from the backoff. An EDCAF
    /// also counts the slot in which the channel became busy (§ 10.22.2.4: one action per slot
    /// boundary), a device under DCF does not (§ 10.3.4.3).
    pub(super) fn interrupt(&mut self, now: Time) {
        if now < self.ready {
            return;
        }
        let whole = now.saturating_since(self.ready).as_nanos() / phy::SLOT.as_nanos()
            + u64::from(self.parameters.counts_busy_slot);
        self.backoff = self.backoff.saturating_sub(u32::try_from(whole).unwrap_or(u32::MAX));
    }

    /// Considers the channel idle from `idle_from` on, and counts after its interframe space and
    /// `extra`.
    pub(super) fn resume(&mut self, idle_from: Time, extra: Duration) {
        self.idle_from = idle_from;
        self.ready = idle_from + self.parameters.aifs + extra;
    }

    /// Counts no slots before `earliest`.
    pub(super) fn not_before(&mut self, earliest: Time) {
        self.ready = self.ready.max(earliest);
    }

    /// Its transmission was acknowledged, or the frame was given up: resets the contention window.
    pub(super) fn succeeded(&mut self) {
        self.window = self.parameters.cw_min;
        self.draw();
    }

    /// No acknowledgement arrived: doubles the contention window.
    pub(super) fn failed(&mut self) {
        self.window = (2 * self.window + 1).min(self.parameters.cw_max);
        self.draw();
    }

    fn draw(&mut self) {
        #[expect(clippy::cast_possible_truncation, reason = "below a 32-bit bound")]
        let backoff = self.draws.below(u64::from(self.window) + 1) as u32;
        self.backoff = backoff;
    }
}

fn slots(count: u32) -> Duration {
    Duration::from_nanos(phy::SLOT.as_nanos() * u64::from(count))
}
