//! Who passes on what whom sends: the streams that go through a forwarding unit, by the places of
//! the sessions.

use crate::scenario::{CallConfig, Scenario, Sfu};
use crate::simulation::RunError;

/// The way of the streams through forwarding units.
pub(crate) struct Forwarding {
    /// Of a stream that is published to a unit: the sessions that pass it on.
    pub(crate) onward: Vec<Vec<usize>>,
    /// Of a session that passes a stream on: where that is published.
    pub(crate) source: Vec<Option<usize>>,
}

impl Forwarding {
    /// Of a scenario with so many sessions, the legs of its calls first.
    pub(crate) fn new(scenario: &Scenario, count: usize) -> Result<Self, RunError> {
        let mut forwarding = Self { onward: vec![Vec::new(); count], source: vec![None; count] };
        let legs = scenario.calls.iter().scan(0, |next, call| {
            let place = *next;
            *next += if call.two_way { 2 } else { 1 };
            Some(place)
        });
        let places: Vec<usize> = legs.collect();
        for (call, &place) in scenario.calls.iter().zip(&places) {
            if call.sfu.is_some() && call.two_way {
                return Err(RunError(format!(
                    "call '{}': through a forwarding unit it goes one way",
                    call.name
                )));
            }
            let Some(Sfu::Forward { call: wanted }) = &call.sfu else { continue };
            let published = |other: &CallConfig| {
                other.name == *wanted && matches!(other.sfu, Some(Sfu::Publish { .. }))
            };
            let source = scenario.calls.iter().position(published).map(|index| places[index]);
            let source = source.ok_or_else(|| {
                RunError(format!(
                    "call '{}': no call '{wanted}' is published to a forwarding unit",
                    call.name
                ))
            })?;
            forwarding.onward[source].push(place);
            forwarding.source[place] = Some(source);
        }
        Ok(forwarding)
    }
}
