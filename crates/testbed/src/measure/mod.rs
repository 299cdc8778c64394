//! Measurement: a run in real time, with real browsers and native peers on the hosts and the
//! modelled network between them.
//!
//! ```text
//! cell ─▶ Plan ─▶ media (ffmpeg, cached) ─▶ MeasuredCalls: signalling server, and browsers in the namespaces of the hosts
//!      └▶ Emulation, with the measured calls ─▶ getStats reports ─▶ stats ─▶ Recording, notes
//! ```

mod active_call;
pub mod browser;
mod calls;
mod error;
mod event_logs;
mod feedback;
pub mod ims;
pub mod internals;
mod leftovers;
pub mod machine;
pub mod media;
mod native;
mod notes;
mod output_tail;
mod plan;
pub mod relay;
mod server_process;
pub mod sfu;
pub mod stats;

pub use active_call::{CallError, Deadline, LastMessage};
pub use error::{BrowserLog, MeasureError};
pub use native::NativePeerError;
pub use plan::PlanError;
pub use server_process::{ConfigurationError, ServerError, ServerFailure, ServerProgram};

use crate::emulate::{Emulated, Emulation};
use calls::MeasuredCalls;
use experiment::{Browser, Cell};
use media::Cache;
use plan::Plan;
use std::path::Path;
use units::Seed;

/// The options of a measurement.
#[derive(Clone, Copy)]
pub struct Measurement<'a> {
    /// The cache of the files that ffmpeg makes.
    pub cache: &'a Cache,
    /// Called with the name of each file before ffmpeg makes it.
    pub making: &'a (dyn Fn(&str) + Sync),
    /// The folder for the logs that Chromium itself writes: `HOST.rtclog`, and `HOST-2.rtclog` and
    /// so on for further peer connections.
    pub event_logs: Option<&'a Path>,
}

impl Measurement<'_> {
    /// Measures a cell: its network, its programs, its TCP flows as uploads, and its calls between
    /// browsers.
    ///
    /// # Errors
    /// When picture or sound cannot be made, a browser cannot be started, ends early or never
    /// connects, or the emulation fails (see [`Emulation::run`]). All processes are then ended.
    pub fn run(
        &self,
        emulation: &Emulation<'_>,
        cell: &Cell,
        seed: Seed,
    ) -> Result<Emulated, MeasureError> {
        // The IMS requests the bearers that the simulation has from the start.
        let cell = &cell.without_requested_bearers();
        let control = cell.ims().map(|_| ims::ControlFolder::new()).transpose()?;
        let socket = control.as_ref().map(ims::ControlFolder::socket);
        let emulation =
            Emulation { control: emulation.control.or(socket.as_deref()), ..*emulation };
        let scenario = cell.scenario(seed);
        let plan = Plan::new(cell, &scenario)?;
        let make = |browser_host: &plan::BrowserHost| {
            let Some(spec) = &browser_host.media else { return Ok(None) };
            let film = browser_host.browser == Browser::Firefox;
            spec.prepare(self.cache, film, emulation.cancel, self.making).map(Some)
        };
        let media =
            plan.browser_hosts.iter().map(make).collect::<Result<Vec<_>, media::MediaError>>()?;
        let logs = self.event_logs.map(event_logs::EventLogs::create).transpose()?;
        let ims = cell.ims().zip(emulation.control);
        let mut calls = MeasuredCalls::new(plan, &scenario, media, logs, ims);
        emulation.run_with(cell, seed, &mut calls)
    }
}
