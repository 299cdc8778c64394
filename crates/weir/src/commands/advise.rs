use super::{close, conclude, eprint, outputs_apart, with_runner};
use crate::cli::{Advise as Args, Goal};
use crate::failure::Failure;
use crate::output::{Output, Rows};
use experiment::{Experiment, names};
use lab::claims::Catalogue;
use lab::remedies::{Advice, Agreement, Group, Rank, selected};
use lab::runner::{Job, RunCache, Runner, Summary};
use report::Cells;
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
    let wanted =
        || selected(&args.remedy).map_err(|problem| Failure::new(format!("--remedy: {problem}")));
    wanted()?;
    let catalogue = Catalogue::embedded()?;
    let mut advices = Vec::new();
    if let Some(home) = args.home() {
        let experiment = home.experiment()?;
        if let Some(path) = &args.save {
            super::write_file(path, &home.text())?;
        }
        advices.push(Advice::new(grouped(args, HOME, vec![experiment])?, wanted()?)?);
    }
    for name in &args.situations {
        let group = group(args, name, &catalogue)?;
        advices.push(Advice::new(group, wanted()?)?);
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
    advice
        .run(runner, failed, |_| ())
        .map_err(|error| Failure::new(format!("cannot judge a run: {error}")))
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

impl<'a> Shown<'a> {
    fn of(args: &'a Args, advice: &'a Advice) -> Self {
        let situations = advice.group.situations.iter();
        let all = situations.map(|situation| situation.experiment.runs).max().unwrap_or(1);
        let runs = (if args.check { all / CHECK } else { all }) as usize;
        Self { args, advice, runs, ranks: advice.ranks(runs, args.weight()) }
    }

    fn json(&self, out: &mut Output) -> Result<(), Failure> {
        let lines = self.advice.lines(&self.ranks, &self.args.dev.word());
        lines.iter().try_for_each(|line| out.json(line))
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
