//! Runs under way: how far they are, and their records so far.

use lab::external::has_program;
use lab::runner::RunFailure;
use sim::{Options, Recording, Scenario, Simulation};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use units::{Seed, Time};

/// The least time between two reports of a run. Our choice: eyes see no more.
const INTERVAL: Duration = Duration::from_millis(100);

/// The runs of a job that are under way.
#[derive(Default)]
pub(crate) struct Live(Mutex<Slots>);

#[derive(Default)]
struct Slots {
    next: u64,
    slots: Vec<Slot>,
}

struct Slot {
    number: u64,
    seed: Seed,
    /// Seconds of virtual time.
    at: f64,
    end: f64,
    /// Whether a page waits for newer records.
    is_wanted: bool,
    records: Option<Arc<Recording>>,
}

/// Takes a run out of the list when it ends, however it ends.
struct Place<'l> {
    live: &'l Live,
    number: u64,
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        let number = self.number;
        self.live.slots().slots.retain(|slot| slot.number != number);
    }
}

impl Live {
    fn slots(&self) -> MutexGuard<'_, Slots> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The time and the end of the first run, in seconds.
    pub(super) fn time(&self) -> (f64, f64) {
        self.slots().slots.first().map_or((0.0, 0.0), |slot| (slot.at, slot.end))
    }

    /// How many runs the parts that are done add up to.
    pub(super) fn share(&self) -> f64 {
        self.slots().slots.iter().map(|slot| slot.at / slot.end.max(1e-9)).sum()
    }

    /// The seed and the records of the first run so far, and asks the run for newer ones; `None` if
    /// no run is under way or has records.
    pub(crate) fn records(&self) -> Option<(Seed, Arc<Recording>)> {
        let mut slots = self.slots();
        let slot = slots.slots.first_mut()?;
        slot.is_wanted = true;
        Some((slot.seed, Arc::clone(slot.records.as_ref()?)))
    }

    /// Runs a scenario in steps and calls `changed` a few times per second. The result is that of
    /// [`sim::run`].
    ///
    /// # Errors
    /// As [`sim::run`], and if a controller is a program: pages may not start programs.
    pub(super) fn simulate(
        &self,
        scenario: &Scenario,
        options: Options<'_>,
        changed: impl Fn(),
    ) -> Result<Recording, RunFailure> {
        if has_program(scenario) {
            let reason =
                "a controller that is a program is not started from a page; use 'weir run'";
            return Err(RunFailure::Controller(reason.to_owned()));
        }
        let mut simulation = Simulation::new(scenario, options)?;
        let end = simulation.end();
        let place = self.place(scenario.seed, end);
        let (mut next, mut reported) = (Time::ZERO, now());
        while next <= end {
            next += scenario.sample_interval;
            simulation.advance(next)?;
            if reported.elapsed() >= INTERVAL {
                self.report(&place, next.min(end), || simulation.records());
                changed();
                reported = now();
            }
        }
        simulation.advance(Time::MAX)?;
        Ok(simulation.finish())
    }

    fn place(&self, seed: Seed, end: Time) -> Place<'_> {
        let mut slots = self.slots();
        let number = slots.next;
        slots.next += 1;
        let end = end.as_secs_f64();
        slots.slots.push(Slot { number, seed, at: 0.0, end, is_wanted: true, records: None });
        Place { live: self, number }
    }

    fn report(&self, place: &Place<'_>, at: Time, records: impl FnOnce() -> Recording) {
        let is_wanted = {
            let mut slots = self.slots();
            let slot = slots.slots.iter_mut().find(|slot| slot.number == place.number);
            slot.is_some_and(|slot| {
                slot.at = at.as_secs_f64();
                std::mem::take(&mut slot.is_wanted)
            })
        };
        if is_wanted {
            let records = Arc::new(records());
            let mut slots = self.slots();
            let slot = slots.slots.iter_mut().find(|slot| slot.number == place.number);
            slot.into_iter().for_each(|slot| slot.records = Some(Arc::clone(&records)));
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "when a page is told, not what a run computes")]
fn now() -> Instant {
    Instant::now()
}
