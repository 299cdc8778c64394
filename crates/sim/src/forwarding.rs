//! The routes of streams through forwarding units, as session indices.

use crate::scenario::{CallConfig, Scenario, Sfu};
use crate::simulation::RunError;

/// The routes of streams through forwarding units.
pub(crate) struct Forwarding {
    /// For each session: the sessions that forward the stream that this session publishes to a
    /// unit.
    pub(crate) onward: Vec<Vec<usize>>,
    /// For each session: the session whose published stream it forwards.
    pub(crate) source: Vec<Option<usize>>,
}

impl Forwarding {
    /// The routes of a scenario with `count` sessions, of which the legs of the calls come first.
    pub(crate) fn new(scenario: &Scenario, count: usize) -> Result<Self, RunError> {
        let mut forwarding = Self { onward: vec![Vec::new(); count], source: vec![None; count] };
        let legs = scenario.calls.iter().scan(0, |next, call| {
            let index = *next;
            *next += if call.two_way { 2 } else { 1 };
            Some(index)
        });
        let indices: Vec<usize> = legs.collect();
        for (call, &index) in scenario.calls.iter().zip(&indices) {
            if call.sfu.is_some() && call.two_way {
                return Err(RunError::TwoWaySfu { call: call.name.clone() });
            }
            let Some(Sfu::Forward { call: wanted }) = &call.sfu else { continue };
            let published = |other: &CallConfig| {
                other.name == *wanted && matches!(other.sfu, Some(Sfu::Publish { .. }))
            };
            let source = scenario.calls.iter().position(published).map(|call| indices[call]);
            let source = source.ok_or_else(|| RunError::NotPublished {
                call: call.name.clone(),
                wanted: wanted.clone(),
            })?;
            forwarding.onward[source].push(index);
            forwarding.source[index] = Some(source);
        }
        Ok(forwarding)
    }
}
