//! How a device comes to send: it waits until the channel has been idle for so long, then counts
//! slots down (IEEE 802.11-2016 § 10.3.3, § 10.3.4.3 for DCF, § 10.22.2 for EDCA).

use super::edca::AccessParameters;
use super::phy;
use units::{Duration, Stream, Time};

/// One who contends for the channel: a device, or with EDCA one of its access categories (an
/// EDCAF).
#[derive(Debug)]
pub(super) struct Contender {
    parameters: AccessParameters,
    window: u32,
    /// Slots that are left to count from `ready` on.
    backoff: u32,
    /// From when on it holds the channel for idle: the end of a transmission, or of what that
    /// reserved.
    idle_from: Time,
    /// From when on slots are counted.
    ready: Time,
    /// Since when there is something to send.
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

    /// Something is to be sent from `now` on. Where the channel is busy, the next free moment is
    /// not taken at once.
    pub(super) fn ask(&mut self, now: Time, busy: bool) {
        if self.pending.is_some() {
            return;
        }
        self.pending = Some(now);
        if self.backoff == 0 && (busy || now < self.idle_from) {
            self.draw();
        }
    }

    /// Nothing is left to send.
    pub(super) fn rest(&mut self) {
        self.pending = None;
    }

    /// When it will send, if nobody does before.
    pub(super) fn starts(&self) -> Option<Time> {
        let since = self.pending?;
        Some(since.max(self.ready + slots(self.backoff)))
    }

    /// The channel is taken by others from `now` on: the slots that passed are counted. An EDCAF
    /// also counts the slot in which the channel became busy (§ 10.22.2.4: one action at each slot
    /// boundary), a device under DCF does not (§ 10.3.4.3).
    pub(super) fn interrupt(&mut self, now: Time) {
        if now < self.ready {
            return;
        }
        let whole = now.saturating_since(self.ready).as_nanos() / phy::SLOT.as_nanos()
            + u64::from(self.parameters.counts_busy_slot);
        self.backoff = self.backoff.saturating_sub(u32::try_from(whole).unwrap_or(u32::MAX));
    }

    /// It holds the channel for idle from then on, and waits for `extra` beyond its own pause
    /// before it counts.
    pub(super) fn resume(&mut self, idle_from: Time, extra: Duration) {
        self.idle_from = idle_from;
        self.ready = idle_from + self.parameters.aifs + extra;
    }

    /// Counts from `earliest` on, if that is later.
    pub(super) fn not_before(&mut self, earliest: Time) {
        self.ready = self.ready.max(earliest);
    }

    /// Its transmission got through, or was given up.
    pub(super) fn succeeded(&mut self) {
        self.window = self.parameters.cw_min;
        self.draw();
    }

    /// Nothing came back.
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
