//! Measurement: a run in real time with real browsers and native peers on the hosts and the
//! modelled network between them.
//!
//! ```text
//! cell ─▶ Plan ─▶ media (ffmpeg, cached) ─▶ Party: signalling server and browsers in the hosts' namespaces
//!      └▶ Emulation, with the party as its guests ─▶ getStats reports ─▶ stats ─▶ Recording, notes
//! ```

mod answers;
pub mod browser;
mod error;
pub mod internals;
mod leftovers;
pub mod machine;
pub mod media;
mod native;
mod notes;
mod ongoing;
mod party;
mod plan;
pub mod relay;
mod server;
pub mod sfu;
pub mod stats;

pub use error::{BrowserLog, MeasureError};
pub use native::NativePeerError;
pub use ongoing::{CallError, Deadline, LastMessage};
pub use plan::PlanError;
pub use server::{ConfigurationError, ServerError, ServerFailure, ServerProgram};

use crate::emulate::{Emulated, Emulation};
use experiment::{Browser, Cell};
use media::Cache;
use party::Party;
use plan::Plan;
use units::Seed;

/// How to measure.
#[derive(Clone, Copy)]
pub struct Measurement<'a> {
    /// Where what ffmpeg makes is kept.
    pub cache: &'a Cache,
    /// Told what is being made.
    pub making: &'a (dyn Fn(&str) + Sync),
}

impl Measurement<'_> {
    /// Measures a cell: its network, its programs, its TCP flows as uploads, and its calls between
    /// browsers.
    ///
    /// # Errors
    /// When picture and sound cannot be made, a browser cannot be started, ends or never connects,
    /// or for the reasons that [`Emulation::run`] has; then nothing is left.
    pub fn run(
        &self,
        emulation: &Emulation<'_>,
        cell: &Cell,
        seed: Seed,
    ) -> Result<Emulated, MeasureError> {
        let scenario = cell.scenario(seed);
        let plan = Plan::new(cell, &scenario)?;
        let make = |station: &plan::Station| {
            let Some(spec) = &station.media else { return Ok(None) };
            let film = station.browser == Browser::Firefox;
            spec.prepare(self.cache, film, emulation.cancel, self.making).map(Some)
        };
        let media =
            plan.stations.iter().map(make).collect::<Result<Vec<_>, media::MediaError>>()?;
        let mut party = Party::new(plan, &scenario, media);
        emulation.run_with(cell, seed, &mut party)
    }
}
