//! Who made runs of an experiment, and what the runs say.

use super::compares;
use crate::claims::{Claim, Computed, Verdict};
use crate::experiment::Experiment;
use crate::figures::{Drawings, Pieces};
use crate::metrics::{StreamSummary, summary};
use crate::report::Section;
use crate::runner::{Job, stored};
use crate::store::{Mode, RunMeta, StoredRun};
use sim::Recording;

/// The controller that stands for today's browsers.
pub use crate::experiment::TODAY as REFERENCE;
/// The note that says that the machine limited a run (`docs/STORE.md`).
const LIMITED: &str = "cpuLimited";

/// A browser, the emulator or the simulator, and its runs of one experiment.
#[derive(Debug)]
pub struct Party<'c> {
    /// What it ran.
    pub experiment: Experiment,
    /// Its name: `Chromium 156`, `simulator, gcc:libwebrtc`.
    pub who: String,
    /// How the runs were made.
    pub mode: Mode,
    /// The numbers in the store of its runs, each with its place in the experiment and whether the machine limited it.
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
    pieces: Pieces,
    summary: Vec<StreamSummary>,
}

/// The parties that made these runs, in the order of the store. Of simulations that are there twice the newest counts.
pub(super) fn parties<'c>(
    runs: &[StoredRun],
    claims: &[&'c Claim],
) -> Result<Vec<Party<'c>>, crate::FileError> {
    let mut all: Vec<(String, Party<'c>)> = Vec::new();
    for run in runs {
        let (experiment, job) = stored(run)?;
        let (who, essence) = (name(&run.meta, &experiment), experiment.essence());
        let entry = (run.id, job, run.meta.note(LIMITED).is_some());
        let same = |(text, party): &&mut (String, Party<'_>)| {
            *text == essence && party.stem() == who && compares(&party.experiment, &experiment)
        };
        if let Some((_, party)) = all.iter_mut().find(same) {
            party.store(entry);
            continue;
        }
        // Two that differ in something else are told apart by their first run.
        let taken = all.iter().any(|(_, party)| party.who == who && compares(&party.experiment, &experiment));
        let who = if taken { format!("{who}{APART}{}", run.id) } else { who };
        let mut party = Party::new(experiment, who, run.meta.mode, claims);
        party.store(entry);
        all.push((essence, party));
    }
    Ok(all.into_iter().map(|(_, party)| party).collect())
}

/// What stands between a party's name and its first run, where two have the same name.
const APART: &str = ", from run ";

/// Who made a run: its browsers with their first numbers, or its mode and controllers.
fn name(meta: &RunMeta, experiment: &Experiment) -> String {
    match meta.mode {
        Mode::Measured => {
            let browsers = meta.notes.iter().filter(|(name, _)| name.starts_with("browser."));
            let names =
                distinct(browsers.map(|(_, value)| value.split_once('.').map_or(&**value, |(name, _)| name)));
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
    fn new(experiment: Experiment, who: String, mode: Mode, claims: &[&'c Claim]) -> Self {
        let claims = claims.iter().copied().filter(|claim| claim.experiment == experiment.name).collect();
        Self { experiment, who, mode, stored: Vec::new(), claims, facts: Vec::new() }
    }

    /// The simulator, with an experiment that is yet to be run.
    pub(super) fn simulated(experiment: Experiment, claims: Vec<&'c Claim>) -> Self {
        let who = simulator(&experiment);
        Self { experiment, who, mode: Mode::Simulated, stored: Vec::new(), claims, facts: Vec::new() }
    }

    /// Its name without what tells it from another of the same name.
    fn stem(&self) -> &str {
        self.who.split_once(APART).map_or(&self.who, |(stem, _)| stem)
    }

    fn store(&mut self, entry: (i64, Job, bool)) {
        let twin =
            |other: &&mut (i64, Job, bool)| other.1.cell == entry.1.cell && other.1.seed == entry.1.seed;
        // A simulation repeats exactly; a real run never does.
        match self.stored.iter_mut().find(|other| self.mode == Mode::Simulated && twin(other)) {
            Some(old) => *old = entry,
            None => self.stored.push(entry),
        }
    }

    /// Whether its runs were made in real time.
    #[must_use]
    pub fn is_real(&self) -> bool {
        self.mode != Mode::Simulated
    }

    /// Whether it is the simulator under [`REFERENCE`].
    #[must_use]
    pub fn is_reference(&self) -> bool {
        self.mode == Mode::Simulated
            && self.experiment.controllers().all(|controller| controller == REFERENCE)
    }

    /// What is needed of one run.
    #[must_use]
    pub fn facts(&self, job: Job, recording: &Recording, limited: bool) -> Facts {
        Facts {
            job,
            limited,
            computed: self.claims.iter().map(|claim| claim.compute(&self.experiment, recording)).collect(),
            pieces: Drawings::pieces(&self.experiment, job, recording),
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
            .map(|cell| if cell.params.is_empty() { self.experiment.name.clone() } else { cell.label() })
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
        let mut drawings = Drawings::new(&self.experiment);
        self.facts.iter().for_each(|facts| drawings.add(facts.pieces.clone()));
        drawings.section()
    }

    /// The summaries of the runs of a cell.
    pub(super) fn summaries(&self, cell: usize) -> impl Iterator<Item = &Vec<StreamSummary>> {
        self.facts.iter().filter(move |facts| facts.job.cell == cell).map(|facts| &facts.summary)
    }
}
