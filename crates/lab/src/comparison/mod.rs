//! Runs of the same experiment by several parties, side by side: real browsers, the emulator, the
//! simulator under one controller and another.
//!
//! `stored runs ─▶ parties (who made them) ─▶ facts of each run ─▶ verdicts | a section of the
//! report | differences`
//!
//! Runs are compared where they are of the same experiment with the same schedule, full or
//! shortened.

mod difference;
mod party;
#[cfg(test)]
mod tests;

pub use difference::{Difference, differences};
pub use party::{Facts, Party};

use crate::claims::{Claim, Verdict, schedule};
use experiment::{Experiment, ExperimentError};
use report::{Compared, Finding, Section, Status, merge_by_source};
use store::StoredRun;

/// The parties that ran one experiment with one schedule, in the order in which they are shown.
#[derive(Debug)]
pub struct Comparison<'c> {
    /// The parties: browsers, emulations, simulations; each as they come in the store.
    pub parties: Vec<Party<'c>>,
}

impl<'c> Comparison<'c> {
    /// Who made these runs, by experiment and schedule. The facts of the runs are yet to be added:
    /// of those in [`Party::stored`].
    ///
    /// # Errors
    /// When a run's text is not an experiment of this version, or has no such cell.
    pub fn of(runs: &[StoredRun], claims: &[&'c Claim]) -> Result<Vec<Self>, document::FileError> {
        let mut all: Vec<Self> = Vec::new();
        for party in party::parties(runs, claims)? {
            let same = |other: &&mut Self| {
                other.experiment().is_some_and(|other| compares(other, &party.experiment))
            };
            match all.iter_mut().find(same) {
                Some(comparison) => comparison.parties.push(party),
                None => all.push(Self { parties: vec![party] }),
            }
        }
        for comparison in &mut all {
            comparison.parties.sort_by_key(|party| std::cmp::Reverse(party.mode));
        }
        Ok(all)
    }

    /// The experiment, as the first party ran it.
    #[must_use]
    pub fn experiment(&self) -> Option<&Experiment> {
        self.parties.first().map(|party| &party.experiment)
    }

    /// The simulations that what was measured is to be seen beside and that are not in the store,
    /// each once: of every measured party's experiment as today's Chromium makes it
    /// ([`Experiment::as_today`]), and under the file's own controllers, the paper's profile. Of a
    /// party of which nothing can be simulated: why.
    #[must_use]
    pub fn missing_simulations(&self) -> Vec<Result<Party<'c>, ExperimentError>> {
        let mut missing: Vec<Result<Party<'c>, ExperimentError>> = Vec::new();
        for real in self.parties.iter().filter(|party| party.is_measured()) {
            let simulations = match real.simulations() {
                Ok(simulations) => simulations,
                Err(error) => {
                    missing.push(Err(error));
                    continue;
                }
            };
            for mut party in simulations {
                let known = || self.parties.iter().chain(missing.iter().flatten());
                if known().any(|other| other.simulates(&party.experiment)) {
                    continue;
                }
                if known().any(|other| other.who == party.who) {
                    party.who = format!("{} for {}", party.who, real.who);
                }
                missing.push(Ok(party));
            }
        }
        missing
    }

    /// What each party's runs say of each claim: by claim, then by party.
    #[must_use]
    pub fn verdicts(&self) -> Vec<Verdict> {
        let by_party: Vec<Vec<Verdict>> = self.parties.iter().map(Party::verdicts).collect();
        let count = by_party.iter().map(Vec::len).max().unwrap_or(0);
        (0..count)
            .flat_map(|place| by_party.iter().filter_map(move |all| all.get(place)).cloned())
            .collect()
    }

    /// The experiment in the report: its claims party by party, its figures plot over plot, and the
    /// differences.
    #[must_use]
    pub fn section(&self) -> Section {
        let Some(first) = self.parties.first() else { return Section::default() };
        let section = first.section();
        let shortened = first.experiment.time_scale < 1.0;
        let (mut id, mut title) = (section.id, section.title);
        let mut text = vec![section.text];
        if shortened {
            id = format!("{id} {}", schedule(first.experiment.time_scale));
            title = format!("{title}, in {} s", self.length());
            let schedule = schedule(first.experiment.time_scale);
            text.push(format!(
                "Short form: the published {schedule}. Times that a check compares in seconds are not shortened."
            ));
        }
        text.extend(self.parties.iter().filter_map(Party::limits));
        let drawn: Vec<_> =
            self.parties.iter().map(|party| (party.label(), party.section().figures)).collect();
        let differences = differences(self);
        Section {
            id,
            title,
            text: text.join("\n\n"),
            compared: self.compared(),
            figures: merge_by_source(&drawn),
            table: (!differences.is_empty()).then(|| difference::table(&differences)),
        }
    }

    fn length(&self) -> f64 {
        let spans = self
            .experiment()
            .into_iter()
            .flat_map(Experiment::cells)
            .map(|cell| cell.scenario(units::Seed(1)).duration);
        spans.max().unwrap_or_default().as_secs_f64()
    }

    /// The claims with what each party found.
    fn compared(&self) -> Vec<Compared> {
        let mut rows: Vec<Compared> = Vec::new();
        for verdict in self.verdicts() {
            let finding = Finding {
                status: Status::from(verdict.status),
                caveat: verdict.caveat(),
                who: verdict.who,
                measured: verdict.measured,
            };
            match rows.iter_mut().find(|row| row.id == verdict.id) {
                Some(row) => row.findings.push(finding),
                None => rows.push(Compared {
                    id: verdict.id,
                    source: format!("{}, {}", verdict.paper, verdict.location),
                    published: verdict.published,
                    check: verdict.check,
                    findings: vec![finding],
                }),
            }
        }
        rows
    }
}

/// Whether what two parties ran is the same network with the same schedule.
fn compares(one: &Experiment, other: &Experiment) -> bool {
    one.name == other.name && one.time_scale.total_cmp(&other.time_scale).is_eq()
}
