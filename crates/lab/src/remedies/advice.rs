//! Tests of remedies in one or several situations.

use super::catalogue::{Remedy, Settled, Unfit};
use super::judge::{Call, Judgement};
use super::score::{Compared, Standing, change, score};
use super::situation::Situation;
use crate::runner::{Job, Outcome, Runner, Summary};
use experiment::{Experiment, ExperimentError};
use metrics::{Estimate, MetricError, mean};
use std::collections::BTreeMap;

/// Situations that are ranked together: the cells of a file, or of all experiments of a paper.
#[derive(Debug)]
pub struct Group {
    /// The name under which the user asked for it: a file, an experiment or a paper.
    pub name: String,
    /// The situations, ordered by experiment.
    pub situations: Vec<Situation>,
}

/// A cell without a call with video: the names of the experiment and of the cell.
pub type NotSituation = (String, String);

impl Group {
    /// The situations of these experiments, and the cells without a call with video. `cell` selects
    /// cells by (axis, value).
    ///
    /// # Errors
    /// If `[advise]` names a call or a line that does not exist.
    pub fn of(
        name: &str,
        experiments: &[Experiment],
        cell: &[(String, String)],
    ) -> Result<(Self, Vec<NotSituation>), ExperimentError> {
        let (mut situations, mut left_out) = (Vec::new(), Vec::new());
        for experiment in experiments {
            for cell in experiment.cells().iter().filter(|other| other.has(cell)) {
                match Situation::of(experiment, cell.index)? {
                    Some(situation) => situations.push(situation),
                    None => left_out.push((experiment.name.clone(), cell.label())),
                }
            }
        }
        Ok((Self { name: name.to_owned(), situations }, left_out))
    }
}

/// A variant of a situation that is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Variant {
    /// Without a remedy.
    Plain,
    /// With the judged call only.
    Alone,
    /// With the remedy of this index.
    With(usize),
}

/// The remedies in the situations of a group, and their results.
#[derive(Debug)]
pub struct Advice {
    /// The situations.
    pub group: Group,
    /// The requested remedies.
    pub remedies: Vec<Remedy>,
    /// By remedy, by situation: the experiment with the remedy, or why it cannot be applied.
    pub settled: Vec<Vec<Result<Settled, Unfit>>>,
    /// The index of the situation and the variant of each of `experiments`.
    variants: Vec<(usize, Variant)>,
    experiments: Vec<Experiment>,
    /// By variant, by run; `None` if the run failed.
    judged: Vec<Vec<Option<Judgement>>>,
    /// The variants with a failed run, and the reason.
    failed: BTreeMap<usize, String>,
}

impl Advice {
    /// Applies the remedies to every situation of the group.
    ///
    /// # Errors
    /// If a file is not valid without the other traffic.
    pub fn new(group: Group, remedies: Vec<Remedy>) -> Result<Self, ExperimentError> {
        let settle = |remedy: &Remedy| {
            group.situations.iter().map(|situation| remedy.apply(situation)).collect()
        };
        let settled: Vec<Vec<Result<Settled, Unfit>>> = remedies.iter().map(settle).collect();
        let (mut variants, mut experiments) = (Vec::new(), Vec::new());
        for (index, situation) in group.situations.iter().enumerate() {
            // The name distinguishes the variants in a store.
            let mut add = |variant, name: String, mut experiment: Experiment| {
                experiment.name = name;
                variants.push((index, variant));
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
                if let Ok(settled) = &by_situation[index] {
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
            failed: BTreeMap::new(),
        })
    }

    /// The number of runs.
    #[must_use]
    pub fn runs(&self) -> usize {
        self.experiments.iter().map(|experiment| experiment.runs as usize).sum()
    }

    /// Runs all variants and calls `on_failure` for each failed run. If a run with a remedy fails,
    /// the remedy is left out of the ranking. If a run without a remedy or with the call alone
    /// fails, the situation is left out, because the remedies cannot be compared with it. `observe`
    /// gets the advice after each judged run, whose ranking is then over the runs so far.
    ///
    /// # Errors
    /// If a run cannot be judged.
    pub fn run(
        &mut self,
        runner: Runner<'_>,
        mut on_failure: impl FnMut(Job, &str),
        mut observe: impl FnMut(&Self),
    ) -> Result<Summary, MetricError> {
        // Copies, because the threads read them while the results are added.
        let (situations, variants) = (self.group.situations.clone(), self.variants.clone());
        let experiments = self.experiments.clone();
        let (mut error, mut failures) = (None, Vec::new());
        let judge = |job: Job, recording: &_| {
            Judgement::of(&situations[variants[job.experiment].0], recording)
        };
        let summary = runner.run(&experiments, judge, |Outcome { job, result }| match result {
            Ok(Ok(judgement)) => {
                self.judged[job.experiment][job.run as usize] = Some(judgement);
                observe(self);
            }
            Ok(Err(metric_error)) => error = Some(metric_error),
            Err(failure) => {
                on_failure(job, &failure.to_string());
                failures.push((job, failure.to_string()));
            }
        });
        for (job, reason) in failures {
            self.leave_out(
                job.experiment,
                format!("the run with seed {} failed: {reason}", job.seed),
            );
        }
        error.map_or(Ok(summary), Err)
    }

    /// Records that a run of this variant failed.
    pub(super) fn leave_out(&mut self, variant: usize, reason: String) {
        self.failed.entry(variant).or_insert(reason);
    }

    /// The remedies and situations that are left out of the ranking because of a failed run, and
    /// the reason.
    #[must_use]
    pub fn left_out(&self) -> Vec<String> {
        let of = |(variant, reason): (&usize, &String)| match self.variants[*variant] {
            (_, Variant::With(remedy)) => format!("{}: {reason}", self.remedies[remedy].name),
            (situation, _) => format!("{}: {reason}", self.group.situations[situation].name()),
        };
        self.failed.iter().map(of).collect()
    }

    /// Whether a situation is left in which remedies can be ranked.
    #[must_use]
    pub fn is_ranked(&self) -> bool {
        self.comparable().next().is_some()
    }

    /// The situations whose runs without a remedy and with the call alone all succeeded.
    fn comparable(&self) -> impl Iterator<Item = usize> + Clone {
        let is_needed = move |situation: usize| move |variant: &usize| matches!(self.variants[*variant], (of, Variant::Plain | Variant::Alone) if of == situation);
        (0..self.group.situations.len())
            .filter(move |situation| !self.failed.keys().any(is_needed(*situation)))
    }

    /// The result of a remedy, or without a remedy (`None`), over the first `runs` runs of each
    /// situation. `weight`, from 0 to 1, is the weight of the call against the other traffic.
    /// Returns `None` if the remedy can be applied in no situation. A situation in which it cannot
    /// be applied counts without it.
    #[must_use]
    pub fn standing(&self, remedy: Option<usize>, runs: usize, weight: f64) -> Option<Standing> {
        if remedy.is_some_and(|remedy| {
            self.comparable().all(|situation| self.settled[remedy][situation].is_err())
        }) {
            return None;
        }
        let variant_of = |variant: &usize| self.variants[*variant].1;
        if remedy.is_some_and(|remedy| {
            self.failed.keys().map(variant_of).any(|of| of == Variant::With(remedy))
        }) {
            return None;
        }
        let each: Vec<(&str, Standing)> = self
            .comparable()
            .map(|situation| {
                let name = self.group.situations[situation].experiment.name.as_str();
                (name, self.in_situation(situation, remedy, runs, weight))
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

    /// The judged call alone, by run.
    pub(super) fn alone(&self) -> impl Iterator<Item = Call> + Clone {
        self.comparable().flat_map(|situation| {
            let plain = || self.runs_of(situation, Variant::Plain);
            let runs = self.runs_of(situation, Variant::Alone).or_else(plain).unwrap_or_default();
            runs.iter().flatten().map(|judgement| judgement.call)
        })
    }

    /// The runs of a variant of a situation.
    fn runs_of(&self, situation: usize, variant: Variant) -> Option<&[Option<Judgement>]> {
        let index = self.variants.iter().position(|of| *of == (situation, variant))?;
        Some(&self.judged[index])
    }

    fn in_situation(
        &self,
        situation: usize,
        remedy: Option<usize>,
        runs: usize,
        weight: f64,
    ) -> Standing {
        let plain = self.runs_of(situation, Variant::Plain).unwrap_or_default();
        let with = remedy
            .and_then(|remedy| self.runs_of(situation, Variant::With(remedy)))
            .unwrap_or(plain);
        let alone = self.runs_of(situation, Variant::Alone).unwrap_or(plain);
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

/// The result in one situation.
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
        beside: (0..sections).map(|section| estimate(&|of| of.beside[section].shown)).collect(),
    }
}

/// The mean of each value over the standings that have it.
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

/// The mean of independent means that are not not-a-number. The half-width of its interval is the
/// square root of the sum of their squared half-widths, divided by their number. Infinite if no
/// mean is finite and at least one is infinite.
fn mean_estimate<'e>(each: impl Iterator<Item = &'e Estimate>) -> Estimate {
    let known: Vec<&Estimate> = each.filter(|one| !one.mean.is_nan()).collect();
    let means = finite(known.iter().map(|one| one.mean));
    let squares: Option<f64> = known.iter().map(|one| one.half_width.map(|half| half * half)).sum();
    let mean = if means.is_empty() && !known.is_empty() { f64::INFINITY } else { mean(&means) };
    Estimate {
        mean,
        half_width: squares.map(|squares| squares.sqrt() / known.len() as f64),
        runs: known.iter().map(|one| one.runs).sum(),
        never: known.iter().map(|one| one.never).sum(),
        missing: known.iter().map(|one| one.missing).sum(),
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
