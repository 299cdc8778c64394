//! Comparison of runs of the same experiment from several sources: browsers, the emulator, and the
//! simulator with several controllers.
//!
//! `stored runs ─▶ sources ─▶ facts of each run ─▶ verdicts | a section of the report |
//! differences`
//!
//! Only runs with the same schedule, full or shortened, are compared.

mod difference;
mod source;
#[cfg(test)]
mod tests;

pub use difference::{Difference, differences};
pub use source::{Facts, ResultSource};

use crate::claims::{Claim, Verdict, schedule};
use experiment::{Experiment, ExperimentError};
use report::{Compared, Finding, Section, Status, merge_by_source};
use store::StoredRun;

/// The sources that ran one experiment with the same schedule, in the order of the report.
#[derive(Debug)]
pub struct Comparison<'c> {
    /// The sources: browsers, emulations, simulations; within each group in the order of the store.
    pub sources: Vec<ResultSource<'c>>,
}

impl<'c> Comparison<'c> {
    /// Groups these runs by experiment and schedule, and by source. The caller then adds the facts
    /// of the runs in [`ResultSource::stored`].
    ///
    /// # Errors
    /// If the stored text of a run is not an experiment of this version, or has no cell with the
    /// parameters of the run.
    pub fn of(runs: &[StoredRun], claims: &[&'c Claim]) -> Result<Vec<Self>, document::FileError> {
        let mut all: Vec<Self> = Vec::new();
        for source in source::sources(runs, claims)? {
            let same = |other: &&mut Self| {
                other.experiment().is_some_and(|other| compares(other, &source.experiment))
            };
            match all.iter_mut().find(same) {
                Some(comparison) => comparison.sources.push(source),
                None => all.push(Self { sources: vec![source] }),
            }
        }
        for comparison in &mut all {
            comparison.sources.sort_by_key(|source| std::cmp::Reverse(source.mode));
        }
        Ok(all)
    }

    /// The experiment of the first source.
    #[must_use]
    pub fn experiment(&self) -> Option<&Experiment> {
        self.sources.first().map(|source| &source.experiment)
    }

    /// The simulations to compare the measured sources with that are not in the store, each once:
    /// with the calls of today's Chromium ([`Experiment::as_today`]), and with the controllers of
    /// the file, which are the profiles of the paper. If a source cannot be simulated, the error is
    /// returned in its place.
    #[must_use]
    pub fn missing_simulations(&self) -> Vec<Result<ResultSource<'c>, ExperimentError>> {
        let mut missing: Vec<Result<ResultSource<'c>, ExperimentError>> = Vec::new();
        for real in self.sources.iter().filter(|source| source.is_measured()) {
            let simulations = match real.simulations() {
                Ok(simulations) => simulations,
                Err(error) => {
                    missing.push(Err(error));
                    continue;
                }
            };
            for mut source in simulations {
                let known = || self.sources.iter().chain(missing.iter().flatten());
                if known().any(|other| other.simulates(&source.experiment)) {
                    continue;
                }
                if known().any(|other| other.who == source.who) {
                    source.who = format!("{} for {}", source.who, real.who);
                }
                missing.push(Ok(source));
            }
        }
        missing
    }

    /// The verdicts: by claim, then by source.
    #[must_use]
    pub fn verdicts(&self) -> Vec<Verdict> {
        let by_source: Vec<Vec<Verdict>> =
            self.sources.iter().map(ResultSource::verdicts).collect();
        let count = by_source.iter().map(Vec::len).max().unwrap_or(0);
        (0..count)
            .flat_map(|index| by_source.iter().filter_map(move |all| all.get(index)).cloned())
            .collect()
    }

    /// The section of the report: the claims and figures of all sources, and the differences.
    #[must_use]
    pub fn section(&self) -> Section {
        let Some(first) = self.sources.first() else { return Section::default() };
        let section = first.section();
        let shortened = first.experiment.time_scale < 1.0;
        let (mut id, mut title) = (section.id, section.title);
        let mut text = vec![section.text];
        if shortened {
            id = format!("{id} {}", schedule(first.experiment.time_scale));
            title = format!("{title}, in {} s", self.length());
            let schedule = schedule(first.experiment.time_scale);
            text.push(format!(
                "Short form: the published {schedule}. Times that a check compares in seconds are not scaled."
            ));
        }
        text.extend(self.sources.iter().filter_map(ResultSource::limits));
        let drawn: Vec<_> =
            self.sources.iter().map(|source| (source.label(), source.section().figures)).collect();
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

    /// The claims with the verdict of each source.
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

/// Whether two sources ran the same experiment with the same schedule.
fn compares(one: &Experiment, other: &Experiment) -> bool {
    one.name == other.name && one.time_scale.total_cmp(&other.time_scale).is_eq()
}
