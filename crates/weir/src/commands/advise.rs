use super::{conclude, eprint, outputs_apart, with_runner};
use crate::cli::Advise as Args;
use crate::failure::Failure;
use crate::output::{Output, table};
use comfy_table::Table;
use lab::claims::Catalogue;
use lab::experiment::{Experiment, names};
use lab::metrics::{Estimate, Unit};
use lab::remedies::{Advice, Agreement, Group, Measure, Rank, Remedy, Settled, Standing, Unfit, remedies};
use lab::runner::{Job, Runner, Summary};
use serde::Serialize;
use serde_json::{Map, Value};
use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;

/// How many times the seeds '--check' runs.
const CHECK: u32 = 10;
/// Kendall's τ of rankings that agree; fewer than one pair in twenty then stands the other way round.
const AGREES: f64 = 0.9;

pub(crate) fn run(args: &Args) -> Result<ExitCode, Failure> {
    let outputs: Vec<&Path> = args.output.iter().map(AsRef::as_ref).collect();
    outputs_apart(&outputs, &args.situations.iter().map(Path::new).collect::<Vec<_>>())?;
    let wanted = Wanted::of(&args.remedy)?;
    let catalogue = Catalogue::embedded()?;
    let mut advices = Vec::new();
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
    let summary = with_runner(args.jobs, args.quiet, work)??;
    if summary.cancelled || summary.failed > 0 {
        return conclude(summary, ExitCode::SUCCESS);
    }
    let mut out = Output::new();
    let mut agrees = true;
    for (place, advice) in advices.iter().enumerate() {
        let runs = few(args, advice);
        let ranks = advice.ranks(runs, args.weight);
        let shown = Shown { args, advice, ranks: &ranks };
        if args.json {
            shown.json(&mut out)?;
        } else {
            if place > 0 {
                out.line("")?;
            }
            shown.print(&mut out)?;
        }
        if args.check {
            let agreement = advice.agreement(runs, args.weight);
            agrees &= agreement.tau >= AGREES && agreement.same_best;
            say_agreement(&advice.group.name, runs, agreement);
        }
    }
    out.finish()?;
    Ok(if agrees { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Runs one advice.
fn one(advice: &mut Advice, runner: Runner<'_>) -> Result<Summary, Failure> {
    let failed = |job: Job, reason: &str| eprint(&format!("seed {}: {reason}", job.seed));
    advice.run(runner, failed).map_err(|error| Failure::new(format!("a run cannot be judged: {error}")))
}

/// The runs that the ranking is of.
fn few(args: &Args, advice: &Advice) -> usize {
    let runs = advice.group.situations.iter().map(|situation| situation.experiment.runs).max().unwrap_or(1);
    (if args.check { runs / CHECK } else { runs }) as usize
}

/// Which remedies are asked for.
struct Wanted<'a>(&'a [String]);

impl<'a> Wanted<'a> {
    fn of(words: &'a [String]) -> Result<Self, Failure> {
        let all = remedies();
        for word in words {
            if !all.iter().any(|remedy| fits(remedy, word)) {
                let names: Vec<&str> = all.iter().map(|remedy| remedy.name).collect();
                let reason = format!("--remedy: there is no remedy or kind '{word}'");
                return Err(Failure::new(format!(
                    "{reason}; the kinds are queue, class, wifi, lte and controller, the remedies {}",
                    names.join(", ")
                )));
            }
        }
        Ok(Self(words))
    }

    fn remedies(&self) -> Vec<Remedy> {
        let chosen = |remedy: &Remedy| self.0.is_empty() || self.0.iter().any(|word| fits(remedy, word));
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
        vec![Experiment::open(name)?]
    } else {
        let mut tested: Vec<&str> = Vec::new();
        for claim in claims {
            if !tested.contains(&claim.experiment.as_str()) {
                tested.push(&claim.experiment);
            }
        }
        tested.into_iter().map(Experiment::open).collect::<Result<_, _>>()?
    };
    let mut experiments = Vec::new();
    for experiment in opened {
        let experiment = args.chosen.of(experiment)?.simulated()?;
        let runs = if args.check { experiment.runs.saturating_mul(CHECK) } else { experiment.runs };
        experiments.push(experiment.with_overrides(&[("runs".to_owned(), runs.to_string())])?);
    }
    let (group, left_out) = Group::of(name, &experiments, &args.cell)?;
    if group.situations.is_empty() {
        let reason = if args.cell.is_empty() || !left_out.is_empty() {
            "no call with video, whose frames tell how it fares; add one".to_owned()
        } else {
            let axes =
                experiments.iter().flat_map(|experiment| experiment.cells()).flat_map(|cell| &cell.params);
            let mut known: Vec<String> = axes.map(|(axis, value)| format!("{axis}={value}")).collect();
            known.sort_unstable();
            known.dedup();
            format!("--cell: no cell has these values; there are {}", known.join(", "))
        };
        return Err(Failure::new(format!("{name}: {reason}")));
    }
    if !args.quiet {
        for (experiment, cell) in left_out {
            eprint(&format!("note: {experiment} {cell}: no call with video; left out"));
        }
    }
    Ok(group)
}

fn say_agreement(name: &str, runs: usize, agreement: Agreement) {
    let Agreement { tau, told_apart, turned, same_best } = agreement;
    let best = if same_best { "the same best" } else { "another best" };
    let many = runs * CHECK as usize;
    eprint(&format!(
        "{name}: {runs} seeds against {many}: Kendall's τ {tau:.2}, {best}; of {told_apart} pairs that {runs} seeds tell apart {turned} turn round"
    ));
}

/// An advice, for people and for programs.
struct Shown<'a> {
    args: &'a Args,
    advice: &'a Advice,
    ranks: &'a [Rank],
}

/// A remedy as one line of JSON.
#[derive(Serialize)]
struct Line<'a> {
    r#for: &'a str,
    remedy: &'a str,
    kind: Option<lab::remedies::Kind>,
    about: &'a str,
    source: &'a str,
    /// How many situations it was applied in, and of how many.
    applied: usize,
    situations: usize,
    place: Option<usize>,
    score: Option<f64>,
    call: Option<CallLine>,
    others: Option<Map<String, Value>>,
    jain: Option<f64>,
    set: Map<String, Value>,
    tc: Vec<String>,
    unfit: Vec<String>,
}

#[derive(Serialize)]
struct CallLine {
    quality: f64,
    goodput: f64,
    frame_delay_p95: Option<f64>,
    freeze_share: f64,
    recovery_time: Option<f64>,
    recovered: Option<f64>,
}

/// The name of what stands already.
const AS_IT_STANDS: &str = "as it stands";

impl Shown<'_> {
    fn single(&self) -> bool {
        self.advice.group.situations.len() == 1
    }

    fn name(&self, rank: &Rank) -> &str {
        rank.remedy.map_or(AS_IT_STANDS, |remedy| &self.advice.remedies[remedy].name)
    }

    /// The remedy in the only situation.
    fn settled(&self, remedy: Option<usize>) -> Option<&Settled> {
        let [settled] = &self.advice.settled[remedy?][..] else { return None };
        settled.as_ref().ok()
    }

    /// The lines of tc that a remedy comes to.
    fn tc(&self, settled: &Settled) -> Vec<(String, String)> {
        let queues = settled.experiment.cells()[0].gateway_queues(&self.args.dev);
        let own = queues.into_iter().filter(|queue| settled.lines.contains(&queue.line));
        own.map(|queue| (queue.line, queue.tc)).collect()
    }

    /// The remedies that can be applied nowhere, by reason.
    fn unfit(&self) -> Vec<(Vec<&str>, &Unfit)> {
        let mut reasons: Vec<(Vec<&str>, &Unfit)> = Vec::new();
        for (remedy, settled) in self.advice.remedies.iter().zip(&self.advice.settled) {
            if settled.iter().any(Result::is_ok) {
                continue;
            }
            let Some(Err(unfit)) = settled.first() else { continue };
            match reasons.iter_mut().find(|(_, reason)| *reason == unfit) {
                Some((names, _)) => names.push(&remedy.name),
                None => reasons.push((vec![&remedy.name], unfit)),
            }
        }
        reasons
    }

    fn json(&self, out: &mut Output) -> Result<(), Failure> {
        for rank in self.ranks {
            out.json(&self.line(rank.remedy, Some(rank)))?;
        }
        for (place, settled) in self.advice.settled.iter().enumerate() {
            if settled.iter().all(Result::is_err) {
                out.json(&self.line(Some(place), None))?;
            }
        }
        Ok(())
    }

    fn line(&self, remedy: Option<usize>, rank: Option<&Rank>) -> Line<'_> {
        let known = remedy.map(|place| &self.advice.remedies[place]);
        let settled = remedy.map(|place| &self.advice.settled[place][..]).unwrap_or_default();
        let mut unfit: Vec<String> =
            settled.iter().filter_map(|settled| settled.as_ref().err()).map(ToString::to_string).collect();
        unfit.dedup();
        let situations = self.advice.group.situations.len();
        let one = self.settled(remedy);
        let finite = |value: f64| Some(value).filter(|value| value.is_finite());
        Line {
            r#for: &self.advice.group.name,
            remedy: known.map_or(AS_IT_STANDS, |remedy| &remedy.name),
            kind: known.map(|remedy| remedy.kind),
            about: known.map_or("", |remedy| &remedy.about),
            source: known.map_or("", |remedy| &remedy.source),
            applied: if known.is_some() {
                settled.iter().filter(|one| one.is_ok()).count()
            } else {
                situations
            },
            situations,
            place: rank.map(|rank| rank.place),
            score: rank.map(|rank| rank.standing.score()),
            call: rank.map(|Rank { standing, .. }| CallLine {
                quality: standing.quality.mean,
                goodput: standing.goodput.mean,
                frame_delay_p95: finite(standing.frame_delay_p95.mean),
                freeze_share: standing.freeze_share.mean,
                recovery_time: finite(standing.recovery_time.mean),
                recovered: recovered(standing),
            }),
            others: rank.map(|rank| self.others(&rank.standing)),
            jain: rank.and_then(|rank| finite(rank.standing.jain.mean)),
            set: one
                .map(|one| one.set.iter().map(|(key, value)| (key.clone(), value.as_str().into())).collect())
                .unwrap_or_default(),
            tc: one.map(|one| self.tc(one).into_iter().map(|(_, tc)| tc).collect()).unwrap_or_default(),
            unfit,
        }
    }

    /// What became of what is beside the call.
    fn others(&self, standing: &Standing) -> Map<String, Value> {
        let mut others = Map::new();
        others.insert("kept".to_owned(), standing.kept.mean.into());
        if self.single() {
            for (beside, value) in self.advice.group.situations[0].beside.iter().zip(&standing.beside) {
                others.insert(format!("{}.{}", beside.name, metric(beside.measure)), value.mean.into());
            }
        }
        others
    }

    fn print(&self, out: &mut Output) -> Result<(), Failure> {
        out.line(self.heading())?;
        out.line("")?;
        out.line(if self.single() { self.one() } else { self.many() })?;
        let unfit = self.unfit();
        if !unfit.is_empty() {
            out.line("\nNot for this network:")?;
            for (names, reason) in unfit {
                out.line(format_args!("  {}: {reason}", names.join(", ")))?;
            }
        }
        self.winner(out)
    }

    fn heading(&self) -> String {
        let group = &self.advice.group;
        let runs = few(self.args, self.advice);
        let words = if runs == 1 { "seed" } else { "seeds" };
        match &group.situations[..] {
            [one] => {
                let cell = if one.label.is_empty() { String::new() } else { format!(", {}", one.label) };
                format!("{}{cell}: {} ({}; {runs} {words})", group.name, one.experiment.title, one.summary())
            }
            many => format!("{}: {} situations (up to {runs} {words} each)", group.name, many.len()),
        }
    }

    /// The table of one situation, in its own units.
    fn one(&self) -> Table {
        let beside = &self.advice.group.situations[0].beside;
        let mut heads: Vec<String> =
            ["", "remedy", "kind", "call", "rate", "frame p95", "frozen", "recovery"]
                .map(str::to_owned)
                .to_vec();
        heads.extend(beside.iter().map(|beside| beside.name.clone()));
        heads.extend(["others", "Jain", "score"].map(str::to_owned));
        let mut rows = table(heads.iter().map(String::as_str));
        for rank in self.ranks {
            let standing = &rank.standing;
            let mut row = self.first(rank);
            row.extend([
                percent(standing.quality.mean),
                Unit::BitsPerSecond.show(standing.goodput.mean),
                Unit::Seconds.show(standing.frame_delay_p95.mean),
                percent(standing.freeze_share.mean),
                recovery(standing),
            ]);
            let shown = beside.iter().zip(&standing.beside);
            row.extend(shown.map(|(beside, value)| unit(beside.measure).show(value.mean)));
            row.extend(last(standing));
            rows.add_row(row);
        }
        rows
    }

    /// The table of several, as changes against what stands.
    fn many(&self) -> Table {
        let heads = [
            "",
            "remedy",
            "kind",
            "in",
            "call",
            "rate",
            "frame p95",
            "frozen",
            "recovered",
            "others",
            "Jain",
            "score",
        ];
        let mut rows = table(heads);
        for rank in self.ranks {
            let standing = &rank.standing;
            let mut row = self.first(rank);
            let count = rank.remedy.map_or(self.advice.group.situations.len(), |remedy| {
                self.advice.settled[remedy].iter().filter(|settled| settled.is_ok()).count()
            });
            row.extend([
                count.to_string(),
                percent(standing.quality.mean),
                change(standing.goodput_change.mean),
                change(standing.frame_delay_change.mean),
                points(standing.freeze_change.mean),
                recovered(standing).map_or("–".to_owned(), percent),
            ]);
            row.extend(last(standing));
            rows.add_row(row);
        }
        rows
    }

    /// Place, name and kind.
    fn first(&self, rank: &Rank) -> Vec<String> {
        let place = format!("{}{}", rank.place, if rank.as_good { "=" } else { "" });
        let kind = rank.remedy.map_or("", |remedy| self.advice.remedies[remedy].kind.as_str());
        vec![place, self.name(rank).to_owned(), kind.to_owned()]
    }

    /// The best in words, and what to type.
    fn winner(&self, out: &mut Output) -> Result<(), Failure> {
        let Some(best) = self.ranks.first() else { return Ok(()) };
        out.line(format_args!("\n{}", self.verdict(best)))?;
        let Some(settled) = self.settled(best.remedy) else { return Ok(()) };
        let tc = self.tc(settled);
        for (line, script) in &tc {
            out.line(format_args!("\n# {line}\n{script}"))?;
        }
        if tc.is_empty() {
            for (key, value) in &settled.set {
                out.line(format_args!("  {key} = {value}"))?;
            }
        }
        Ok(())
    }

    fn verdict(&self, best: &Rank) -> String {
        let Some(remedy) = best.remedy.map(|remedy| &self.advice.remedies[remedy]) else {
            return "Best: leave it as it stands.".to_owned();
        };
        let mut text = format!("Best: {}, {}.", remedy.name, remedy.about);
        let plain = self.ranks.iter().find(|rank| rank.remedy.is_none());
        if let Some(plain) = plain {
            let (with, without) = (&best.standing, &plain.standing);
            let _ = write!(
                text,
                " The call comes to {} of what it has alone, instead of {}",
                percent(with.quality.mean),
                percent(without.quality.mean)
            );
            if self.single() {
                let beside = self.advice.group.situations[0].beside.iter();
                for ((beside, with), without) in beside.zip(&with.beside).zip(&without.beside) {
                    let unit = unit(beside.measure);
                    let (with, without) = (unit.show(with.mean), unit.show(without.mean));
                    let _ = write!(text, "; {}: {with} instead of {without}", beside.name);
                }
            }
            text.push('.');
        }
        let tied: Vec<&str> = self
            .ranks
            .iter()
            .skip(1)
            .filter(|rank| rank.place == best.place)
            .map(|rank| self.name(rank))
            .collect();
        if !tied.is_empty() {
            let _ = write!(text, " Not worse beyond chance: {}.", tied.join(", "));
        }
        text
    }
}

fn metric(measure: Measure) -> &'static str {
    match measure {
        Measure::Call => "goodput",
        Measure::Rate => "received_rate",
        Measure::CompletionTime => "completion_time",
        Measure::PageLoadTime => "page_load_time",
    }
}

fn unit(measure: Measure) -> Unit {
    match measure {
        Measure::Call | Measure::Rate => Unit::BitsPerSecond,
        Measure::CompletionTime | Measure::PageLoadTime => Unit::Seconds,
    }
}

fn last(standing: &Standing) -> [String; 3] {
    let jain =
        if standing.jain.mean.is_nan() { "–".to_owned() } else { format!("{:.2}", standing.jain.mean) };
    [percent(standing.kept.mean), jain, format!("{:.3}", standing.score())]
}

fn recovery(standing: &Standing) -> String {
    let Estimate { mean, runs, never, .. } = standing.recovery_time;
    match (runs, runs - never) {
        (0, _) => "–".to_owned(),
        (_, 0) => "never".to_owned(),
        (_, did) if never > 0 => format!("{} ({did} of {runs})", Unit::Seconds.show(mean)),
        _ => Unit::Seconds.show(mean),
    }
}

/// In how many of the runs with something to recover from the call did.
fn recovered(standing: &Standing) -> Option<f64> {
    let Estimate { runs, never, .. } = standing.recovery_time;
    (runs > 0).then(|| 1.0 - never as f64 / runs as f64)
}

fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

fn change(share: f64) -> String {
    if share.is_nan() { "–".to_owned() } else { format!("{:+.1} %", share * 100.0) }
}

fn points(share: f64) -> String {
    format!("{:+.2} pp", share * 100.0)
}
