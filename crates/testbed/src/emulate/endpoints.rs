//! The endpoints of the calls of a run in real time, such as the browsers of a measurement.

use super::EmulationError;
use emulator::Testbed;
use sim::recording::{Event, StreamRecord};
use std::sync::atomic::AtomicBool;
use units::{Duration, Time};

/// The endpoints of the calls of a run. The methods are called in the order in which they are
/// listed.
pub trait CallEndpoints {
    /// Why the calls fail, and with them the run.
    type Error: From<EmulationError>;

    /// Starts the endpoints, before the time of the run begins. Returns soon after `cancel` is set.
    fn start(&mut self, testbed: &Testbed, cancel: &AtomicBool) -> Result<(), Self::Error>;

    /// The time of the run begins, at this time since 1970.
    fn begin(&mut self, since_1970: Duration);

    /// Does what is due at `now`; called every few milliseconds. An error ends the run.
    fn poll(&mut self, testbed: &Testbed, now: Time) -> Result<(), Self::Error>;

    /// Ends the endpoints, also after a failed start or a failed run. The hosts still exist.
    /// Returns errors that only show at the end.
    fn stop(&mut self) -> Result<(), Self::Error>;

    /// The records of the calls of a run of this length; `None` if there are no calls.
    fn records(&mut self, duration: Duration) -> Option<CallRecords>;
}

/// The records of the calls of a run.
#[derive(Clone, Debug, Default)]
pub struct CallRecords {
    /// Their streams.
    pub streams: Vec<StreamRecord>,
    /// Their events.
    pub events: Vec<Event>,
    /// Warnings for the reader of the result, one sentence each.
    pub warnings: Vec<String>,
    /// Facts for the store: name and value.
    pub notes: Vec<(String, String)>,
    /// Whether the endpoints had too little processor time.
    pub limited: bool,
}

/// No endpoints: the calls are left out.
pub(super) struct NoCalls;

impl CallEndpoints for NoCalls {
    type Error = EmulationError;

    fn start(&mut self, _: &Testbed, _: &AtomicBool) -> Result<(), EmulationError> {
        Ok(())
    }

    fn begin(&mut self, _: Duration) {}

    fn poll(&mut self, _: &Testbed, _: Time) -> Result<(), EmulationError> {
        Ok(())
    }

    fn stop(&mut self) -> Result<(), EmulationError> {
        Ok(())
    }

    fn records(&mut self, _: Duration) -> Option<CallRecords> {
        None
    }
}
