use super::{close, conclude, eprint, outputs_apart, with_runner};
use crate::cli::{Advise as Args, Goal};
use crate::failure::Failure;
use crate::output::{Output, Rows};
use experiment::{Experiment, names};
use lab::claims::Catalogue;
use lab::remedies::{
    AS_IT_STANDS, Advice, Agreement, Group, Rank, Remedy, Standing, change, remedies,
};
use lab::runner::{Job, RunCache, Runner, Summary};
use metrics::Estimate;
use report::Cells;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;

/// The name of a situation that '--line' describes.
const HOME: &str = "home";

/// The factor by which '--check' multiplies the seeds.
const CHECK: u32 = 10;

pub(crate) fn run(args: &Args) -> Result<ExitCode, Failure> {
    let outputs: Vec<&Path> = args.output.iter().chain(&args.save).map(AsRef::as_ref).collect();
    let read = args.situations.iter().map(Path::new).chain(args.store.as_deref());
    outputs_apart(&outputs, &read.collect::<Vec<_>>())?;
    let wanted = Wanted::of(&args.remedy)?;
    let catalogue = Catalogue::embedded()?;
    let mut advices = Vec::new();
    if let Some(home) = args.home() {
        let experiment = home.experiment()?;
        if let Some(path) = &args.save {
            super::write_file(path, &home.text())?;
        }
        advices.push(Advice::new(grouped(args, HOME, vec![experiment])?, wanted.remedies())?);
    }
    for name in &args.situations {
        let group = group(args, name, &catalogue)?;
        advices.push(Advice::new(group, wanted.remedies())?);
    }
    let work = |runner: Runner<'_>| {
        let mut all = Summary::default();
        for advice in &mut advices {
            if !all.cancelled {
                all = all + one(advice, runner)?;
            }
        }
        Ok::<Summary, Failure>(all)
    };
    let cache = RunCache::open(args.store.as_deref())?;
    let summary = with_runner((args.jobs, args.quiet), &cache, work)?;
    // Report an error of the store first: it may be the reason why a run cannot be judged.
    close(cache, args.quiet)?;
    let summary = summary?;
    if summary.cancelled {
        let Summary { done, total, .. } = summary;
        let kept = if args.store.is_some() {
            "the store keeps them for the next command"
        } else {
            "use --store FILE to keep them"
        };
        eprint(&format!(
            "stopped: {done} of {total} runs are finished, too few for a ranking; {kept}"
        ));
        return Err(Failure::Interrupted);
    }
    // A ranking remains valid without some remedies.
    let (ranked, broken): (Vec<_>, Vec<_>) = advices.iter().partition(|advice| advice.is_ranked());
    for advice in broken {
        eprint(&format!("{}; there is nothing to compare with", advice.left_out().join("; ")));
    }
    let mut out = Output::new();
    let mut agrees = true;
    let ranked: Vec<Shown<'_>> = ranked.into_iter().map(|advice| Shown::of(args, advice)).collect();
    for (place, shown) in ranked.iter().enumerate() {
        if args.json {
            shown.json(&mut out)?;
        } else {
            if place > 0 {
                out.line("")?;
            }
            shown.print(&mut out)?;
        }
        if args.check {
            let agreement = shown.advice.agreement(&shown.ranks, args.weight());
            agrees &= agreement.holds();
            say_agreement(&shown.advice.group.name, shown.runs, agreement);
        }
    }
    out.finish()?;
    if let Some(path) = args.output.as_ref().filter(|_| !ranked.is_empty()) {
        let sections =
            ranked.iter().map(|shown| shown.advice.section(&shown.ranks, &args.dev.word()));
        super::report::write(
            path,
            "Remedies for the call and their cost",
            &args.chosen,
            args.quiet,
            &[],
            sections.collect(),
            summary.done,
        )?;
    }
    conclude(summary, if agrees { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Runs one advice.
fn one(advice: &mut Advice, runner: Runner<'_>) -> Result<Summary, Failure> {
    let failed = |job: Job, reason: &str| eprint(&format!("seed {}: {reason}", job.seed));
    advice.run(runner, failed).map_err(|error| Failure::new(format!("cannot judge a run: {error}")))
}

/// The selected remedies.
struct Wanted<'a>(&'a [String]);

impl<'a> Wanted<'a> {
    fn of(words: &'a [String]) -> Result<Self, Failure> {
        let all = remedies();
        for word in words {
            if !all.iter().any(|remedy| fits(remedy, word)) {
                let names: Vec<&str> = all.iter().map(|remedy| remedy.name).collect();
                let reason = format!("--remedy: there is no remedy or kind '{word}'");
                let suggestion = match document::nearest(word, names.iter().copied()) {
                    Some(near) => format!("did you mean {near}?"),
                    None => format!(
                        "the kinds are queue, class, wifi, lte and controller; the remedies are {}",
                        names.join(", ")
                    ),
                };
                return Err(Failure::new(format!("{reason}; {suggestion}")));
            }
        }
        Ok(Self(words))
    }

    fn remedies(&self) -> Vec<Remedy> {
        let chosen =
            |remedy: &Remedy| self.0.is_empty() || self.0.iter().any(|word| fits(remedy, word));
        remedies().into_iter().filter(chosen).collect()
    }
}

fn fits(remedy: &Remedy, word: &str) -> bool {
    remedy.name == word || remedy.kind.as_str() == word
}

/// The situations of an experiment, or of the experiments that some claims test.
fn group(args: &Args, name: &str, catalogue: &Catalogue) -> Result<Group, Failure> {
    let claims = catalogue.select(&[name.to_owned()]).unwrap_or_default();
    let is_experiment = claims.is_empty() || names().iter().any(|other| other == name);
    let opened = if is_experiment {
        vec![lab::open(name)?]
    } else {
        let mut tested: Vec<&str> = Vec::new();
        for claim in claims.into_iter().filter(|claim| !claim.is_sweep) {
            if !tested.contains(&claim.experiment.as_str()) {
                tested.push(&claim.experiment);
            }
        }
        tested.into_iter().map(lab::open).collect::<Result<_, _>>()?
    };
    grouped(args, name, opened)
}

/// The situations of these experiments, with the changes that the arguments ask for.
fn grouped(args: &Args, name: &str, opened: Vec<Experiment>) -> Result<Group, Failure> {
    let mut experiments = Vec::new();
    for experiment in opened {
        let experiment = args.chosen.of(experiment)?.simulated()?;
        let runs = if args.check { experiment.runs.saturating_mul(CHECK) } else { experiment.runs };
        experiments.push(experiment.with_overrides(&[("runs".to_owned(), runs.to_string())])?);
    }
    let (group, left_out) = Group::of(name, &experiments, &args.cell)?;
    if group.situations.is_empty() {
        let reason = if args.cell.is_empty() || !left_out.is_empty() {
            "there is no call with video; add one, because its frames are judged".to_owned()
        } else {
            let axes = experiments.iter().flat_map(Experiment::cells).flat_map(|cell| &cell.params);
            let mut known: Vec<String> =
                axes.map(|(axis, value)| format!("{axis}={value}")).collect();
            known.sort_unstable();
            known.dedup();
            if known.is_empty() {
                "--cell: the experiment has no axes; remove --cell".to_owned()
            } else {
                format!("--cell: no cell has these values; there are {}", known.join(", "))
            }
        };
        return Err(Failure::new(format!("{name}: {reason}")));
    }
    if !args.quiet {
        for (experiment, cell) in left_out {
            eprint(&format!(
                "note: {experiment} {cell}: left out, because it has no call with video"
            ));
        }
    }
    Ok(group)
}

fn say_agreement(name: &str, runs: usize, agreement: Agreement) {
    let Agreement { tau, separated, reversed, same_best, same_first } = agreement;
    let word = if agreement.holds() { "agree" } else { "do not agree" };
    let best = match (same_first, same_best) {
        (true, _) => "the same best",
        (false, true) => "the best with many seeds equals the first with few",
        (false, false) => "another best",
    };
    let many = runs * CHECK as usize;
    let few = seeds(runs);
    eprint(&format!(
        "{name}: {few} and {many} {word}: {best}; {reversed} of {separated} pairs that {runs} separate are reversed; Kendall's τ of all pairs {tau:.2}"
    ));
}

/// What the ranking is for, in words.
fn goal(args: &Args) -> String {
    let weight = args.weight();
    let word = match (args.weight, args.goal) {
        (Some(_), _) => format!("a weight of {weight} for the call"),
        (None, Goal::Call) => "the call (--goal balance, --goal others)".to_owned(),
        (None, Goal::Balance) => {
            "a balance of call and other traffic (--goal call, --goal others)".to_owned()
        }
        (None, Goal::Others) => "other traffic (--goal call, --goal balance)".to_owned(),
    };
    format!("Goal: {word}.")
}

fn seeds(runs: usize) -> String {
    if runs == 1 { "1 seed".to_owned() } else { format!("{runs} seeds") }
}

/// The output of an advice as text and as JSON.
struct Shown<'a> {
    args: &'a Args,
    advice: &'a Advice,
    /// The number of runs of the ranking.
    runs: usize,
    ranks: Vec<Rank>,
}

/// A remedy as one line of JSON.
#[derive(Serialize, JsonSchema)]
pub(super) struct RemedyLine<'a> {
    /// The experiment, paper or claim for which advice was asked.
    r#for: &'a str,
    /// The name of the remedy; "as it stands" for the unchanged network.
    remedy: &'a str,
    kind: Option<lab::remedies::RemedyKind>,
    /// A description of one line.
    about: &'a str,
    /// The publication that proposes or measures it.
    source: &'a str,
    /// The number of situations to which it applies.
    applied: usize,
    /// The number of all situations.
    situations: usize,
    /// The place in the ranking, from 1; `null` if it applies to no situation.
    place: Option<usize>,
    /// Whether its difference from the best is not significant.
    as_good: Option<bool>,
    /// The score, from 0 (docs/guides/advise.md, 'How remedies are judged').
    score: Option<f64>,
    call: Option<CallLine>,
    /// The speed of the other traffic: `kept` is the share of its speed without the remedy; by
    /// section its duration in s, its rate in bit/s or what the section is judged by.
    others: Option<BTreeMap<String, Estimate>>,
    /// Jain's fairness index of all rates, 0 to 1.
    jain: Option<Estimate>,
    /// What to change in the experiment, as for `--set`: values by key.
    #[schemars(with = "BTreeMap<String, String>")]
    set: Map<String, Value>,
    /// The commands of tc for a gateway, one text per line of the network.
    tc: Vec<String>,
    /// Why it cannot be applied, for situations where it cannot.
    unfit: Vec<String>,
}

/// The results of the call; changes are ratios to the unchanged network, minus 1.
#[derive(Serialize, JsonSchema)]
struct CallLine {
    /// The quality of the call, 1 for that of the call alone.
    quality: Estimate,
    /// The rate of decodable frames, bit/s.
    goodput: Estimate,
    /// Its change, as a share.
    goodput_change: Estimate,
    /// The 95th percentile of the delay of frames, s.
    frame_delay_p95: Estimate,
    /// Its change, as a share.
    frame_delay_change: Estimate,
    /// The share of time in which the video is frozen, 0 to 1.
    freeze_share: Estimate,
    /// Its change, absolute.
    freeze_change: Estimate,
    /// The time until the call is back at its rate after the other traffic has ended, s.
    recovery_time: Estimate,
}

impl<'a> Shown<'a> {
    fn of(args: &'a Args, advice: &'a Advice) -> Self {
        let situations = advice.group.situations.iter();
        let all = situations.map(|situation| situation.experiment.runs).max().unwrap_or(1);
        let runs = (if args.check { all / CHECK } else { all }) as usize;
        Self { args, advice, runs, ranks: advice.ranks(runs, args.weight()) }
    }

    fn json(&self, out: &mut Output) -> Result<(), Failure> {
        for rank in &self.ranks {
            out.json(&self.line(rank.remedy, Some(rank)))?;
        }
        for (place, settled) in self.advice.settled.iter().enumerate() {
            if settled.iter().all(Result::is_err) {
                out.json(&self.line(Some(place), None))?;
            }
        }
        Ok(())
    }

    fn line(&self, remedy: Option<usize>, rank: Option<&Rank>) -> RemedyLine<'_> {
        let known = remedy.map(|place| &self.advice.remedies[place]);
        let settled = remedy.map(|place| &self.advice.settled[place][..]).unwrap_or_default();
        let mut unfit: Vec<String> = settled
            .iter()
            .filter_map(|settled| settled.as_ref().err())
            .map(ToString::to_string)
            .collect();
        unfit.dedup();
        let set = self.advice.settled_once(remedy).map(|one| {
            one.set.iter().map(|(key, value)| (key.clone(), value.as_str().into())).collect()
        });
        RemedyLine {
            r#for: &self.advice.group.name,
            remedy: known.map_or(AS_IT_STANDS, |remedy| remedy.name),
            kind: known.map(|remedy| remedy.kind),
            about: known.map_or("", |remedy| remedy.about),
            source: known.map_or("", |remedy| remedy.source),
            applied: self.advice.applied(remedy),
            situations: self.advice.group.situations.len(),
            place: rank.map(|rank| rank.position),
            as_good: rank.map(|rank| rank.as_good),
            score: rank.map(|rank| rank.standing.score()),
            call: rank.map(|Rank { standing, .. }| CallLine {
                quality: standing.quality,
                goodput: standing.goodput,
                goodput_change: change(&standing.goodput_change),
                frame_delay_p95: standing.frame_delay_p95,
                frame_delay_change: change(&standing.frame_delay_change),
                freeze_share: standing.freeze_share,
                freeze_change: standing.freeze_change,
                recovery_time: standing.recovery_time,
            }),
            others: rank.map(|rank| self.others(&rank.standing)),
            jain: rank.map(|rank| rank.standing.jain),
            set: set.unwrap_or_default(),
            tc: self
                .advice
                .tc(remedy, &self.args.dev.word())
                .into_iter()
                .map(|queue| queue.commands())
                .collect(),
            unfit,
        }
    }

    /// The results of the other traffic.
    fn others(&self, standing: &Standing) -> BTreeMap<String, Estimate> {
        let kept = ("kept".to_owned(), standing.kept);
        let situations = &self.advice.group.situations[..];
        let beside = if let [one] = situations { &one.beside[..] } else { &[] };
        let named =
            beside.iter().map(|beside| format!("{}.{}", beside.name, beside.measure.metric()));
        std::iter::once(kept).chain(named.zip(standing.beside.iter().copied())).collect()
    }

    fn print(&self, out: &mut Output) -> Result<(), Failure> {
        out.line(format_args!("{}; {}", self.advice.heading(), seeds(self.runs)))?;
        out.line(goal(self.args))?;
        if let Some(place) = self.advice.place() {
            out.line(place)?;
        }
        out.line("")?;
        out.table(&shown(&self.advice.table(&self.ranks)))?;
        let unfit = self.advice.unfit();
        if !unfit.is_empty() {
            out.line("")?;
            out.line("Not for this network:")?;
            for (names, reason) in unfit {
                out.line(format_args!("  {}: {reason}", names.join(", ")))?;
            }
        }
        out.line("")?;
        out.line(self.advice.verdict(&self.ranks))?;
        self.recipe(out)
    }

    /// The commands or settings of the best remedy.
    fn recipe(&self, out: &mut Output) -> Result<(), Failure> {
        let best = self.ranks.first().and_then(|rank| rank.remedy);
        for queue in self.advice.tc(best, &self.args.dev.word()) {
            out.line("")?;
            super::tc::print(out, "", &queue)?;
        }
        if self.advice.marks_the_call(best) {
            out.line("")?;
            out.line("The classes know the call by its DSCP marks. A web page sets them with")?;
            out.line("RTCRtpEncodingParameters.networkPriority = \"high\" (docs/guides/advise.md, 'Marks').")?;
        }
        let others = self.advice.other_edits(best);
        if !others.is_empty() {
            out.line("")?;
            out.line("In the file:")?;
            for (key, value) in others {
                out.line(format_args!("  {key} = {value}"))?;
            }
        }
        Ok(())
    }
}

/// A table for the terminal: means without intervals.
fn shown(table: &report::Table) -> Rows {
    let heads = table
        .columns
        .iter()
        .enumerate()
        .map(|(place, column)| table.unit(place).label(&column.name));
    let heads: Vec<String> = std::iter::once(table.label.clone()).chain(heads).collect();
    let mut rows = Rows::new(heads.iter().map(String::as_str));
    let each = table.rows.iter().enumerate();
    for (place, row) in each.filter(|(_, row)| matches!(row.cells, Cells::Each(_))) {
        let texts = (0..table.columns.len()).map(|column| table.text(place, column));
        rows.add(std::iter::once(row.label.clone()).chain(texts));
    }
    rows
}
