//! Remedies put to the test in one situation or many.

use super::catalogue::{Remedy, Settled, Unfit};
use super::judge::{Call, Judgement};
use super::score::{Compared, Standing, change, score};
use super::situation::Situation;
use crate::runner::{Job, Outcome, Runner, Summary};
use experiment::{Experiment, ExperimentError};
use metrics::{Estimate, MetricError, mean};
use std::collections::BTreeMap;

/// Situations that are judged together: the cells of a file, or of all experiments of a paper.
#[derive(Debug)]
pub struct Group {
    /// What it was called for by: a file, a name, a paper.
    pub name: String,
    /// Its situations, experiment by experiment.
    pub situations: Vec<Situation>,
}

/// A cell that has no call with video: of which experiment, and which.
pub type NotSituation = (String, String);

impl Group {
    /// The situations of these experiments, in which `cell` chooses by axis and value; and the
    /// cells that are none.
    ///
    /// # Errors
    /// When `[advise]` names something that is not there.
    pub fn of(
        name: &str,
        experiments: &[Experiment],
        cell: &[(String, String)],
    ) -> Result<(Self, Vec<NotSituation>), ExperimentError> {
        let (mut situations, mut left_out) = (Vec::new(), Vec::new());
        for experiment in experiments {
            for cell in experiment.cells().iter().filter(|of| of.has(cell)) {
                match Situation::of(experiment, cell.index)? {
                    Some(situation) => situations.push(situation),
                    None => left_out.push((experiment.name.clone(), cell.label())),
                }
            }
        }
        Ok((Self { name: name.to_owned(), situations }, left_out))
    }
}

/// What is run of a situation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Variant {
    /// As it stands.
    Plain,
    /// The judged call alone.
    Alone,
    /// With this remedy.
    With(usize),
}

/// A group and what can be done about it.
#[derive(Debug)]
pub struct Advice {
    /// The situations.
    pub group: Group,
    /// The remedies that were asked for.
    pub remedies: Vec<Remedy>,
    /// By remedy, by situation: the experiment with it, or why there is none.
    pub settled: Vec<Vec<Result<Settled, Unfit>>>,
    /// What is run, and of which situation; the experiments are those of `experiments`.
    variants: Vec<(usize, Variant)>,
    experiments: Vec<Experiment>,
    /// By variant, by run; none of a run that broke off.
    judged: Vec<Vec<Option<Judgement>>>,
    /// The variants of which a run broke off, and why.
    broken: BTreeMap<usize, String>,
}

impl Advice {
    /// Applies the remedies to every situation of the group.
    ///
    /// # Errors
    /// When the call cannot be had alone, as when the file needs what is beside it.
    pub fn new(group: Group, remedies: Vec<Remedy>) -> Result<Self, ExperimentError> {
        let settle = |remedy: &Remedy| {
            group.situations.iter().map(|situation| remedy.apply(situation)).collect()
        };
        let settled: Vec<Vec<Result<Settled, Unfit>>> = remedies.iter().map(settle).collect();
        let (mut variants, mut experiments) = (Vec::new(), Vec::new());
        for (place, situation) in group.situations.iter().enumerate() {
            // A store knows them apart by their names.
            let mut add = |variant, name: String, mut experiment: Experiment| {
                experiment.name = name;
                variants.push((place, variant));
                experiments.push(experiment);
            };
            let name = situation.name();
            add(Variant::Plain, name.clone(), situation.experiment.clone());
            if !situation.beside.is_empty() {
                add(
                    Variant::Alone,
                    format!("{name}, {} alone", situation.call.name),
                    situation.alone()?,
                );
            }
            for (remedy, by_situation) in settled.iter().enumerate() {
                if let Ok(settled) = &by_situation[place] {
                    let name = format!("{name}, {}", remedies[remedy].name);
                    add(Variant::With(remedy), name, settled.experiment.clone());
                }
            }
        }
        let judged =
            experiments.iter().map(|experiment| vec![None; experiment.runs as usize]).collect();
        Ok(Self {
            group,
            remedies,
            settled,
            variants,
            experiments,
            judged,
            broken: BTreeMap::new(),
        })
    }

    /// How many runs it takes.
    #[must_use]
    pub fn runs(&self) -> usize {
        self.experiments.iter().map(|experiment| experiment.runs as usize).sum()
    }

    /// Runs everything. Runs that break off are told to `failed`. A remedy of which one does is
    /// left out, and so is a situation of which one does as it stands or with the call alone, for
    /// there is nothing to compare with.
    ///
    /// # Errors
    /// When a run cannot be judged.
    pub fn run(
        &mut self,
        runner: Runner<'_>,
        mut failed: impl FnMut(Job, &str),
    ) -> Result<Summary, MetricError> {
        let (situations, variants, judged) =
            (&self.group.situations, &self.variants, &mut self.judged);
        let (mut fault, mut broken) = (None, Vec::new());
        let judge = |job: Job, recording: &_| {
            Judgement::of(&situations[variants[job.experiment].0], recording)
        };
        let summary =
            runner.run(&self.experiments, judge, |Outcome { job, result }| match result {
                Ok(Ok(judgement)) => judged[job.experiment][job.run as usize] = Some(judgement),
                Ok(Err(error)) => fault = Some(error),
                Err(failure) => {
                    failed(job, &failure.to_string());
                    broken.push((job, failure.to_string()));
                }
            });
        for (job, reason) in broken {
            self.break_off(
                job.experiment,
                format!("its run of seed {} gave nothing: {reason}", job.seed),
            );
        }
        fault.map_or(Ok(summary), Err)
    }

    /// Leaves out what cannot be judged as a run of this variant broke off.
    pub(super) fn break_off(&mut self, variant: usize, reason: String) {
        self.broken.entry(variant).or_insert(reason);
    }

    /// What is left out of the ranking as a run of it broke off, and why.
    #[must_use]
    pub fn left_out(&self) -> Vec<String> {
        let of = |(variant, reason): (&usize, &String)| match self.variants[*variant] {
            (_, Variant::With(remedy)) => format!("{}, {reason}", self.remedies[remedy].name),
            (situation, _) => format!("{}, {reason}", self.group.situations[situation].name()),
        };
        self.broken.iter().map(of).collect()
    }

    /// Whether there is a situation left to rank remedies in.
    #[must_use]
    pub fn is_ranked(&self) -> bool {
        self.whole().next().is_some()
    }

    /// The situations of which what stands, and the call alone, can be compared with.
    fn whole(&self) -> impl Iterator<Item = usize> + Clone {
        let breaks = move |place: usize| move |variant: &usize| matches!(self.variants[*variant], (of, Variant::Plain | Variant::Alone) if of == place);
        (0..self.group.situations.len())
            .filter(move |place| !self.broken.keys().any(breaks(*place)))
    }

    /// How one remedy did, or what stands already (`None`), over the first `runs` runs of each
    /// situation; `weight` is that of the call against what is beside it. `None` where it can be
    /// applied nowhere. Where it cannot be applied in some situations, these count as they stand.
    #[must_use]
    pub fn standing(&self, remedy: Option<usize>, runs: usize, weight: f64) -> Option<Standing> {
        if remedy
            .is_some_and(|remedy| self.whole().all(|place| self.settled[remedy][place].is_err()))
        {
            return None;
        }
        let broke = |variant: &usize| self.variants[*variant].1;
        if remedy.is_some_and(|remedy| {
            self.broken.keys().map(broke).any(|of| of == Variant::With(remedy))
        }) {
            return None;
        }
        let each: Vec<(&str, Standing)> = self
            .whole()
            .map(|place| {
                let name = self.group.situations[place].experiment.name.as_str();
                (name, self.in_situation(place, remedy, runs, weight))
            })
            .collect();
        let mut names: Vec<&str> = each.iter().map(|(name, _)| *name).collect();
        names.dedup();
        let of = |name: &str| -> Vec<&Standing> {
            each.iter().filter(|(of, _)| *of == name).map(|(_, standing)| standing).collect()
        };
        let by_experiment: Vec<Standing> = names.iter().map(|name| mean_of(&of(name))).collect();
        Some(mean_of(&by_experiment.iter().collect::<Vec<_>>()))
    }

    /// The judged call alone, in each run.
    pub(super) fn alone(&self) -> impl Iterator<Item = Call> + Clone {
        self.whole().flat_map(|place| {
            let plain = || self.runs_of(place, Variant::Plain);
            let runs = self.runs_of(place, Variant::Alone).or_else(plain).unwrap_or_default();
            runs.iter().flatten().map(|judgement| judgement.call)
        })
    }

    /// The runs of a variant of a situation.
    fn runs_of(&self, situation: usize, variant: Variant) -> Option<&[Option<Judgement>]> {
        let place = self.variants.iter().position(|of| *of == (situation, variant))?;
        Some(&self.judged[place])
    }

    fn in_situation(
        &self,
        place: usize,
        remedy: Option<usize>,
        runs: usize,
        weight: f64,
    ) -> Standing {
        let plain = self.runs_of(place, Variant::Plain).unwrap_or_default();
        let with =
            remedy.and_then(|remedy| self.runs_of(place, Variant::With(remedy))).unwrap_or(plain);
        let alone = self.runs_of(place, Variant::Alone).unwrap_or(plain);
        let compared: Vec<Compared<'_>> = with
            .iter()
            .zip(plain)
            .zip(alone)
            .take(runs)
            .filter_map(|((with, without), alone)| {
                Some(Compared {
                    with: with.as_ref()?,
                    without: without.as_ref()?,
                    alone: alone.as_ref()?,
                })
            })
            .collect();
        of_runs(&compared, weight)
    }
}

/// The standing in one situation.
fn of_runs(runs: &[Compared<'_>], weight: f64) -> Standing {
    let values = |of: &dyn Fn(&Compared<'_>) -> f64| runs.iter().map(of).collect::<Vec<f64>>();
    let estimate = |of: &dyn Fn(&Judgement) -> f64| Estimate::of(&values(&|run| of(run.with)));
    let (quality, kept) = (values(&|run| run.quality()), values(&|run| run.kept()));
    let mut recoveries = values(&|run| run.with.recovery_time);
    recoveries.retain(|time| !time.is_nan());
    let sections = runs.first().map_or(0, |run| run.with.beside.len());
    Standing {
        scores: quality
            .iter()
            .zip(&kept)
            .map(|(quality, kept)| score(*quality, *kept, weight))
            .collect(),
        quality: Estimate::of(&quality),
        kept: Estimate::of(&kept),
        goodput: estimate(&|of| of.call.goodput),
        goodput_change: Estimate::of(&values(&|run| run.goodput_change())),
        frame_delay_p95: estimate(&|of| of.call.frame_delay_p95),
        frame_delay_change: Estimate::of(&values(&|run| run.frame_delay_change())),
        freeze_share: estimate(&|of| of.call.freeze_share),
        freeze_change: Estimate::of(&values(&|run| {
            run.with.call.freeze_share - run.without.call.freeze_share
        })),
        recovery_time: Estimate::of(&recoveries),
        jain: estimate(&|of| of.jain),
        beside: (0..sections).map(|place| estimate(&|of| of.beside[place].shown)).collect(),
    }
}

/// The mean of several standings, value by value, of those that have one.
fn mean_of(standings: &[&Standing]) -> Standing {
    if let [one] = standings {
        return (*one).clone();
    }
    let of =
        |value: fn(&Standing) -> &Estimate| mean_estimate(standings.iter().map(|one| value(one)));
    Standing {
        scores: standings.iter().map(|one| one.score()).collect(),
        quality: of(|one| &one.quality),
        kept: geometric(standings.iter().map(|one| one.kept)),
        goodput: of(|one| &one.goodput),
        goodput_change: of(|one| &one.goodput_change),
        frame_delay_p95: of(|one| &one.frame_delay_p95),
        frame_delay_change: of(|one| &one.frame_delay_change),
        freeze_share: of(|one| &one.freeze_share),
        freeze_change: of(|one| &one.freeze_change),
        recovery_time: of(|one| &one.recovery_time),
        jain: of(|one| &one.jain),
        beside: Vec::new(),
    }
}

/// The mean of independent means, of those that there are: its interval is the root of the sum of
/// their squares, over how many they are. Infinite if none is finite and some never came.
fn mean_estimate<'e>(each: impl Iterator<Item = &'e Estimate>) -> Estimate {
    let there: Vec<&Estimate> = each.filter(|one| !one.mean.is_nan()).collect();
    let means = finite(there.iter().map(|one| one.mean));
    let squares: Option<f64> = there.iter().map(|one| one.half_width.map(|half| half * half)).sum();
    let mean = if means.is_empty() && !there.is_empty() { f64::INFINITY } else { mean(&means) };
    Estimate {
        mean,
        half_width: squares.map(|squares| squares.sqrt() / there.len() as f64),
        runs: there.iter().map(|one| one.runs).sum(),
        never: there.iter().map(|one| one.never).sum(),
        missing: there.iter().map(|one| one.missing).sum(),
    }
}

/// The geometric mean of independent ratios.
fn geometric(each: impl Iterator<Item = Estimate>) -> Estimate {
    let logarithm = |one: Estimate| Estimate {
        mean: libm::log(one.mean),
        half_width: one.half_width.map(|half| half / one.mean),
        ..one
    };
    let logarithms: Vec<Estimate> = each.map(logarithm).collect();
    let mean = change(&mean_estimate(logarithms.iter()));
    Estimate { mean: 1.0 + mean.mean, ..mean }
}

fn finite(values: impl Iterator<Item = f64>) -> Vec<f64> {
    values.filter(|value| value.is_finite()).collect()
}
