//! The sources of stored runs: browsers, emulator and simulator.

use super::compares;
use crate::StoredExperiments;
use crate::claims::{Claim, Computed, Verdict};
use crate::figures::{Figures, RunExtracts, SectionBuilder};
use crate::runner::Job;
use experiment::{Experiment, ExperimentError, peers_make_all_calls};
use metrics::{StreamSummary, summary};
use report::Section;
use sim::Recording;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use store::{Mode, RunMeta, StoredRun};
use units::Seed;

/// The name of the note on a run that Weir did not make (`docs/STORE.md`).
const IMPORTED: &str = "imported";
/// The name of the simulator with the calls of today's Chromium.
const AS_TODAY: &str = "simulator, today's Chromium";

/// A browser, the emulator or the simulator, with its runs of one experiment.
#[derive(Debug)]
pub struct ResultSource<'c> {
    /// The experiment as it was run.
    pub experiment: Experiment,
    figures: Figures,
    /// The name: `Chromium 156`, `simulator, gcc:libwebrtc`.
    pub who: String,
    /// How the runs were made.
    pub mode: Mode,
    /// Whether the runs were imported, from an unknown network.
    imported: bool,
    /// The runs: number in the store, job in the experiment, and whether the machine limited the
    /// run.
    pub stored: Vec<(i64, Job, bool)>,
    /// The index in `stored` of each simulation, by cell and seed.
    simulations: BTreeMap<(usize, Seed), usize>,
    pub(super) claims: Vec<&'c Claim>,
    facts: Vec<Facts>,
    /// The index in `facts` of the runs of each cell.
    by_cell: BTreeMap<usize, Vec<usize>>,
    /// The cells in which the machine limited a run.
    limited: BTreeSet<usize>,
}

/// The data of one run for claims, figures and tables.
#[derive(Debug)]
pub struct Facts {
    job: Job,
    limited: bool,
    computed: Vec<Computed>,
    extracts: RunExtracts,
    summary: Vec<StreamSummary>,
}

/// The sources of these runs, in the order of the store. Of equal simulations only the newest is
/// used.
pub(super) fn sources<'c>(
    runs: &[StoredRun],
    claims: &[&'c Claim],
) -> Result<Vec<ResultSource<'c>>, document::FileError> {
    // Each with its name and the identity of its experiment.
    let mut all: Vec<(String, String, ResultSource<'c>)> = Vec::new();
    let mut experiments = StoredExperiments::default();
    // What an experiment of many cells takes long to compute, by experiment.
    let mut facts: Vec<(Arc<Experiment>, String, String)> = Vec::new();
    for run in runs {
        let (experiment, job) = experiments.of(run)?;
        let known = facts.iter().position(|(other, ..)| Arc::ptr_eq(other, &experiment));
        let known = known.unwrap_or_else(|| {
            facts.push((Arc::clone(&experiment), experiment.identity(), simulator(&experiment)));
            facts.len() - 1
        });
        let (_, identity, simulator) = &facts[known];
        let name = name(&run.meta, simulator);
        let entry = (run.id, job, run.meta.cpu_limited().is_some());
        let alike = |other: &str, source: &ResultSource<'_>| {
            other == name && compares(&source.experiment, &experiment)
        };
        let same =
            all.iter_mut().find(|(other, text, source)| text == identity && alike(other, source));
        if let Some((_, _, source)) = same {
            source.add_stored(entry);
            continue;
        }
        // Two sources with the same name but different experiments are distinguished by their first
        // run.
        let is_taken = all.iter().any(|(other, _, source)| alike(other, source));
        let who = if is_taken { format!("{name}, from run {}", run.id) } else { name.clone() };
        let mut source = ResultSource::new((*experiment).clone(), who, &run.meta, claims)?;
        source.add_stored(entry);
        all.push((name, identity.clone(), source));
    }
    Ok(all.into_iter().map(|(_, _, source)| source).collect())
}

/// The name of the source of a run: its browsers with their major versions and its native peers, or
/// its mode and controllers. `simulator` is the name of the simulator with the run's experiment.
fn name(meta: &RunMeta, simulator: &str) -> String {
    match meta.mode {
        Mode::Measured => {
            let names = distinct(meta.endpoints());
            if names.is_empty() { "a browser".to_owned() } else { names.join(" + ") }
        }
        Mode::Emulated => "emulator".to_owned(),
        Mode::Simulated => simulator.to_owned(),
    }
}

fn simulator(experiment: &Experiment) -> String {
    let controllers = distinct(experiment.controllers());
    match controllers.len() {
        0 => "simulator".to_owned(),
        1..=2 => format!("simulator, {}", controllers.join(" and ")),
        more => format!("simulator, {more} controllers"),
    }
}

/// The names without duplicates, in the order of their first occurrence.
fn distinct<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut all = Vec::new();
    for name in names {
        if !all.contains(&name) {
            all.push(name);
        }
    }
    all
}

impl<'c> ResultSource<'c> {
    fn new(
        experiment: Experiment,
        who: String,
        meta: &RunMeta,
        claims: &[&'c Claim],
    ) -> Result<Self, ExperimentError> {
        let figures = Figures::read(&experiment)?;
        let claims =
            claims.iter().copied().filter(|claim| claim.experiment == experiment.name).collect();
        let (mode, imported) = (meta.mode, meta.note(IMPORTED).is_some());
        Ok(Self { imported, ..Self::empty(experiment, figures, who, mode, claims) })
    }

    /// A source without runs.
    fn empty(
        experiment: Experiment,
        figures: Figures,
        who: String,
        mode: Mode,
        claims: Vec<&'c Claim>,
    ) -> Self {
        Self {
            experiment,
            figures,
            who,
            mode,
            imported: false,
            stored: Vec::new(),
            simulations: BTreeMap::new(),
            claims,
            facts: Vec::new(),
            by_cell: BTreeMap::new(),
            limited: BTreeSet::new(),
        }
    }

    /// A simulation of the measured experiment, without runs yet.
    fn simulation(&self, experiment: Experiment, who: String) -> Self {
        let (figures, claims) = (self.figures.clone(), self.claims.clone());
        Self::empty(experiment, figures, who, Mode::Simulated, claims)
    }

    fn add_stored(&mut self, entry: (i64, Job, bool)) {
        // A repeated simulation is identical. A repeated run in real time is not.
        if self.mode == Mode::Simulated {
            let next = self.stored.len();
            let place = *self.simulations.entry((entry.1.cell, entry.1.seed)).or_insert(next);
            if let Some(old) = self.stored.get_mut(place) {
                *old = entry;
                return;
            }
        }
        self.stored.push(entry);
    }

    /// Whether its runs can be compared with simulations: real calls, not emulated ones, on a known
    /// network.
    pub(super) fn is_measured(&self) -> bool {
        self.mode == Mode::Measured && !self.imported
    }

    /// Whether this source is the simulator with an equivalent experiment.
    pub(super) fn simulates(&self, experiment: &Experiment) -> bool {
        self.mode == Mode::Simulated && self.experiment.simulates(experiment)
    }

    /// The simulations to compare measured runs with: the experiment with the calls of today's
    /// Chromium, and with the controllers of the file, which are the profiles of the paper.
    ///
    /// # Errors
    /// If the experiment cannot be simulated.
    pub(super) fn simulations(&self) -> Result<[Self; 2], ExperimentError> {
        let own = self.experiment.clone().simulated()?;
        let (today, name) = (own.as_today()?, simulator(&own));
        let who = if peers_make_all_calls(&own) { name.clone() } else { AS_TODAY.to_owned() };
        Ok([self.simulation(today, who), self.simulation(own, name)])
    }

    /// Computes the data of one run.
    #[must_use]
    pub fn facts(&self, job: Job, recording: &Recording, limited: bool) -> Facts {
        Facts {
            job,
            limited,
            computed: self
                .claims
                .iter()
                .map(|claim| claim.compute(&self.experiment, recording))
                .collect(),
            extracts: self.figures.extract(&self.experiment, job, recording),
            summary: summary(recording),
        }
    }

    /// Adds the data of a run.
    pub fn add(&mut self, facts: Facts) {
        self.by_cell.entry(facts.job.cell).or_default().push(self.facts.len());
        if facts.limited {
            self.limited.insert(facts.job.cell);
        }
        self.facts.push(facts);
    }

    /// The verdicts of its runs on the claims.
    #[must_use]
    pub fn verdicts(&self) -> Vec<Verdict> {
        let judge = |(index, claim): (usize, &&Claim)| {
            let mut cells: Vec<Vec<&Computed>> = vec![Vec::new(); self.experiment.cells().len()];
            for facts in &self.facts {
                cells[facts.job.cell].push(&facts.computed[index]);
            }
            let verdict = claim.judge_runs(&self.experiment, &cells);
            Verdict { who: self.who.clone(), cpu_limited: self.limited_cells(), ..verdict }
        };
        self.claims.iter().enumerate().map(judge).collect()
    }

    /// The labels of the cells in which the machine limited a run.
    fn limited_cells(&self) -> Vec<String> {
        let limited = |cell: usize| self.is_limited(cell);
        let cells = self.experiment.cells().iter().filter(|cell| limited(cell.index));
        cells
            .map(
                |cell| {
                    if cell.params.is_empty() { self.experiment.name.clone() } else { cell.label() }
                },
            )
            .collect()
    }

    /// Whether the machine limited a run of this cell.
    pub(super) fn is_limited(&self, cell: usize) -> bool {
        self.limited.contains(&cell)
    }

    /// The name in legends, with an asterisk if the machine limited a run.
    pub(super) fn label(&self) -> String {
        if self.limited_cells().is_empty() { self.who.clone() } else { format!("{} *", self.who) }
    }

    /// The explanation of the asterisk; `None` if the machine limited no run.
    pub(super) fn limits(&self) -> Option<String> {
        let cells = self.limited_cells();
        (!cells.is_empty()).then(|| {
            format!(
                "* CPU-limited: in {} the machine had too little CPU time for {}; the effect resembles a slower network.",
                cells.join(" | "),
                self.who
            )
        })
    }

    /// The figures.
    pub(super) fn section(&self) -> Section {
        let mut builder = SectionBuilder::new(&self.experiment, &self.figures);
        self.facts.iter().for_each(|facts| builder.add(facts.extracts.clone()));
        builder.section()
    }

    /// The summaries of the runs of a cell.
    pub(super) fn summaries(&self, cell: usize) -> impl Iterator<Item = &Vec<StreamSummary>> {
        let runs = self.by_cell.get(&cell).into_iter().flatten();
        runs.map(|index| &self.facts[*index].summary)
    }
}
