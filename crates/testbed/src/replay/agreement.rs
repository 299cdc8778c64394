//! How far a replay agrees with its recording.

use super::{Replay, Step, Values};
use units::{Bitrate, Time};

/// Rates that differ by at most this share of the recorded rate agree.
const TOLERANCE: f64 = 0.05;

/// A value that is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// The state of the overuse detector.
    State,
    /// The delay-based estimate.
    Estimate,
    /// The target rate.
    Target,
}

/// The first feedback message after which a value does not agree.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Divergence {
    /// When, since the begin of the log.
    pub at: Time,
    /// The first value in the order of the stages: state, estimate, target.
    pub quantity: Quantity,
    /// The recorded values.
    pub recorded: Values,
    /// The replayed values.
    pub replayed: Values,
}

/// Counts of feedback messages, and of those after which a value agrees.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Share {
    /// Feedback messages after which both values are known.
    pub compared: u64,
    /// Those after which they agree.
    pub agree: u64,
}

impl Share {
    fn add(&mut self, agrees: Option<bool>) {
        self.compared += u64::from(agrees.is_some());
        self.agree += u64::from(agrees == Some(true));
    }

    /// The share that agrees, 0 to 1; `None` if nothing was compared.
    #[must_use]
    pub fn share(self) -> Option<f64> {
        (self.compared > 0).then(|| self.agree as f64 / self.compared as f64)
    }
}

/// The agreement of a replay with its recording.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Agreement {
    /// The detector's state is the same, after every feedback message.
    pub state: Share,
    /// The delay-based estimate is within 5 %, after every feedback message.
    pub estimate: Share,
    /// The target rate is within 5 %, after every feedback message.
    pub target: Share,
    /// The detector's state is the same, after the feedback messages that changed the recorded
    /// estimate or state.
    pub state_at_updates: Share,
    /// The delay-based estimate is within 5 %, after the same messages.
    pub estimate_at_updates: Share,
    /// The first feedback message after which a value does not agree.
    pub first_divergence: Option<Divergence>,
}

impl Agreement {
    /// Compares a replay with its recording.
    #[must_use]
    pub fn of(replay: &Replay) -> Self {
        let mut agreement = Self::default();
        for step in &replay.steps {
            agreement.add(step);
        }
        agreement
    }

    fn add(&mut self, step: &Step) {
        let (recorded, replayed) = (step.recorded, step.replayed);
        let state = both(recorded.state, replayed.state).map(|(one, other)| one == other);
        let estimate = both(recorded.estimate, replayed.estimate).map(close);
        let target = both(recorded.target, replayed.target).map(close);
        self.state.add(state);
        self.estimate.add(estimate);
        self.target.add(target);
        if step.updates > 0 {
            self.state_at_updates.add(state);
            self.estimate_at_updates.add(estimate);
        }
        let quantity =
            [(state, Quantity::State), (estimate, Quantity::Estimate), (target, Quantity::Target)];
        let differs = quantity.into_iter().find(|(agrees, _)| *agrees == Some(false));
        if let Some((_, quantity)) = differs {
            let divergence = Divergence { at: step.at, quantity, recorded, replayed };
            self.first_divergence.get_or_insert(divergence);
        }
    }
}

fn both<T>(one: Option<T>, other: Option<T>) -> Option<(T, T)> {
    one.zip(other)
}

fn close((recorded, replayed): (Bitrate, Bitrate)) -> bool {
    let (recorded, replayed) = (recorded.as_bps_f64(), replayed.as_bps_f64());
    (recorded - replayed).abs() <= TOLERANCE * recorded
}
