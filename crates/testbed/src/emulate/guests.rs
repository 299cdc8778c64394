//! Who takes part in an emulation beside its programs: the browsers of a measurement, which make
//! the calls.

use super::EmulationError;
use emulator::Testbed;
use sim::recording::{Event, StreamRecord};
use std::sync::atomic::AtomicBool;
use units::{Duration, Time};

/// Those who make the calls of a run, in the order of what happens to them.
pub trait Guests {
    /// Why the calls fail, and with them the run.
    type Error: From<EmulationError>;

    /// They take their places, before the run's time begins, and give up soon when cancelled.
    fn arrive(&mut self, testbed: &Testbed, cancel: &AtomicBool) -> Result<(), Self::Error>;

    /// The run's time begins, at this time since 1970.
    fn begin(&mut self, since_1970: Duration);

    /// Does what is due; called every few milliseconds. An error ends the run.
    fn turn(&mut self, now: Time) -> Result<(), Self::Error>;

    /// They go, also when the run has broken off or they have not all arrived. The hosts are there
    /// until then. An error is one that shows only now.
    fn leave(&mut self) -> Result<(), Self::Error>;

    /// What was recorded of the calls of a run of this length; `None` if nobody makes them.
    fn records(&mut self, duration: Duration) -> Option<Records>;
}

/// What is recorded of the calls.
#[derive(Clone, Debug, Default)]
pub struct Records {
    /// Their streams.
    pub streams: Vec<StreamRecord>,
    /// What happened to them.
    pub events: Vec<Event>,
    /// What a reader should know, a sentence each.
    pub warnings: Vec<String>,
    /// Facts for the store.
    pub notes: Vec<(String, String)>,
    /// Whether they were short of processor.
    pub limited: bool,
}

/// No one: the calls are left out.
pub(super) struct Nobody;

impl Guests for Nobody {
    type Error = EmulationError;

    fn arrive(&mut self, _: &Testbed, _: &AtomicBool) -> Result<(), EmulationError> {
        Ok(())
    }

    fn begin(&mut self, _: Duration) {}

    fn turn(&mut self, _: Time) -> Result<(), EmulationError> {
        Ok(())
    }

    fn leave(&mut self) -> Result<(), EmulationError> {
        Ok(())
    }

    fn records(&mut self, _: Duration) -> Option<Records> {
        None
    }
}
