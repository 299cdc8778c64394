//! Who made runs of an experiment, and what the runs say.

use super::compares;
use crate::claims::{Claim, Computed, Verdict};
use crate::figures::{Figures, RunExtracts, SectionBuilder};
use crate::runner::{Job, stored};
use experiment::{Experiment, ExperimentError, peers_make_all_calls};
use metrics::{StreamSummary, summary};
use report::Section;
use sim::Recording;
use store::{Mode, RunMeta, StoredRun};

/// The note that says that a run was made elsewhere (`docs/STORE.md`).
const IMPORTED: &str = "imported";
/// The simulator with the calls of today's Chromium.
const AS_TODAY: &str = "simulator, today's Chromium";

/// A browser, the emulator or the simulator, and its runs of one experiment.
#[derive(Debug)]
pub struct Party<'c> {
    /// What it ran.
    pub experiment: Experiment,
    figures: Figures,
    /// Its name: `Chromium 156`, `simulator, gcc:libwebrtc`.
    pub who: String,
    /// How the runs were made.
    pub mode: Mode,
    /// Whether they were made elsewhere, on a network that is not known.
    imported: bool,
    /// The numbers in the store of its runs, each with its place in the experiment and whether the
    /// machine limited it.
    pub stored: Vec<(i64, Job, bool)>,
    pub(super) claims: Vec<&'c Claim>,
    facts: Vec<Facts>,
}

/// What claims, figures and tables need of one run.
#[derive(Debug)]
pub struct Facts {
    job: Job,
    limited: bool,
    computed: Vec<Computed>,
    extracts: RunExtracts,
    summary: Vec<StreamSummary>,
}

/// The parties that made these runs, in the order of the store. Of simulations that are there twice
/// the newest counts.
pub(super) fn parties<'c>(
    runs: &[StoredRun],
    claims: &[&'c Claim],
) -> Result<Vec<Party<'c>>, document::FileError> {
    // Each with its name and what it ran.
    let mut all: Vec<(String, String, Party<'c>)> = Vec::new();
    for run in runs {
        let (experiment, job) = stored(run)?;
        let (name, identity) = (name(&run.meta, &experiment), experiment.identity());
        let entry = (run.id, job, run.meta.cpu_limited().is_some());
        let alike = |other: &str, party: &Party<'_>| {
            other == name && compares(&party.experiment, &experiment)
        };
        let same =
            all.iter_mut().find(|(other, text, party)| *text == identity && alike(other, party));
        if let Some((_, _, party)) = same {
            party.store(entry);
            continue;
        }
        // Two that differ in something else are told apart by their first run.
        let is_taken = all.iter().any(|(other, _, party)| alike(other, party));
        let who = if is_taken { format!("{name}, from run {}", run.id) } else { name.clone() };
        let mut party = Party::new(experiment, who, &run.meta, claims)?;
        party.store(entry);
        all.push((name, identity, party));
    }
    Ok(all.into_iter().map(|(_, _, party)| party).collect())
}

/// Who made a run: its browsers with their first numbers and its native peers, or its mode and
/// controllers.
fn name(meta: &RunMeta, experiment: &Experiment) -> String {
    match meta.mode {
        Mode::Measured => {
            let names = distinct(meta.endpoints());
            if names.is_empty() { "a browser".to_owned() } else { names.join(" + ") }
        }
        Mode::Emulated => "emulator".to_owned(),
        Mode::Simulated => simulator(experiment),
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

/// Each once, in the order in which they come.
fn distinct<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut all = Vec::new();
    for name in names {
        if !all.contains(&name) {
            all.push(name);
        }
    }
    all
}

impl<'c> Party<'c> {
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
        let (stored, facts) = (Vec::new(), Vec::new());
        Ok(Self { experiment, figures, who, mode, imported, stored, claims, facts })
    }

    /// A simulation of what this party measured, which is yet to be run.
    fn simulation(&self, experiment: Experiment, who: String) -> Self {
        let (stored, claims, facts) = (Vec::new(), self.claims.clone(), Vec::new());
        let (figures, mode) = (self.figures.clone(), Mode::Simulated);
        Self { experiment, figures, who, mode, imported: false, stored, claims, facts }
    }

    fn store(&mut self, entry: (i64, Job, bool)) {
        let twin = |other: &&mut (i64, Job, bool)| {
            other.1.cell == entry.1.cell && other.1.seed == entry.1.seed
        };
        // A simulation repeats exactly; a real run never does.
        match self.stored.iter_mut().find(|other| self.mode == Mode::Simulated && twin(other)) {
            Some(old) => *old = entry,
            None => self.stored.push(entry),
        }
    }

    /// Whether its runs can be held against simulations: real calls, which emulations leave out, on
    /// a network that is known.
    pub(super) fn is_measured(&self) -> bool {
        self.mode == Mode::Measured && !self.imported
    }

    /// Whether it is the simulator with this.
    pub(super) fn simulates(&self, experiment: &Experiment) -> bool {
        self.mode == Mode::Simulated && self.experiment.simulates(experiment)
    }

    /// What measured runs are to be seen beside: the same experiment as today's Chromium makes it,
    /// and with the file's own controllers, the paper's profile.
    pub(super) fn simulations(&self) -> Result<[Self; 2], ExperimentError> {
        let own = self.experiment.clone().simulated()?;
        let (today, name) = (own.as_today()?, simulator(&own));
        let who = if peers_make_all_calls(&own) { name.clone() } else { AS_TODAY.to_owned() };
        Ok([self.simulation(today, who), self.simulation(own, name)])
    }

    /// What is needed of one run.
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

    /// Adds a run.
    pub fn add(&mut self, facts: Facts) {
        self.facts.push(facts);
    }

    /// What its runs say of the claims.
    #[must_use]
    pub fn verdicts(&self) -> Vec<Verdict> {
        let judge = |(place, claim): (usize, &&Claim)| {
            let mut cells: Vec<Vec<&Computed>> = vec![Vec::new(); self.experiment.cells().len()];
            for facts in &self.facts {
                cells[facts.job.cell].push(&facts.computed[place]);
            }
            let verdict = claim.judge_runs(&self.experiment, &cells);
            Verdict { who: self.who.clone(), cpu_limited: self.limited_cells(), ..verdict }
        };
        self.claims.iter().enumerate().map(judge).collect()
    }

    /// The cells of which the machine limited a run, by their labels.
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
        self.facts.iter().any(|facts| facts.limited && facts.job.cell == cell)
    }

    /// Its name in legends, with a star if the machine limited any of its runs.
    pub(super) fn label(&self) -> String {
        if self.limited_cells().is_empty() { self.who.clone() } else { format!("{} *", self.who) }
    }

    /// What the star means; `None` if there is none.
    pub(super) fn limits(&self) -> Option<String> {
        let cells = self.limited_cells();
        (!cells.is_empty()).then(|| {
            format!(
                "* CPU-limited: in {} the machine had not enough processor time for {}, which looks like a slower network.",
                cells.join(" | "),
                self.who
            )
        })
    }

    /// Its figures.
    pub(super) fn section(&self) -> Section {
        let mut builder = SectionBuilder::new(&self.experiment, &self.figures);
        self.facts.iter().for_each(|facts| builder.add(facts.extracts.clone()));
        builder.section()
    }

    /// The summaries of the runs of a cell.
    pub(super) fn summaries(&self, cell: usize) -> impl Iterator<Item = &Vec<StreamSummary>> {
        self.facts.iter().filter(move |facts| facts.job.cell == cell).map(|facts| &facts.summary)
    }
}
