//! The verdicts as a Markdown page: `docs/results.md`.

use super::{Beside, Status, Verdict};
use experiment::Experiment;
use std::fmt::Write as _;

/// The mark of a check that holds, and of one that does not.
const HOLDS: &str = "✓";
const FAILS: &str = "✗";
const NOT_TESTED: &str = "–";

/// How the claims are tested, in lines of 100 columns.
const METHOD: &str = "\
Every claim is an entry of a file in `claims/`: an experiment, the values that are measured in it,
and a check. A claim is judged twice. **As run**: the experiment has the code that the browsers of
the study ran, and its testbed. **As printed**: it has the equations that the paper prints, in the
same testbed; empty if the study ran what it prints. A claim counts as reproduced if its check holds
as run. No constant is tuned to the claims. Each value is the mean over the runs of the
experiment, which have different seeds. `weir verify CLAIM` prints the check of a claim too, and
`weir verify --report FILE` writes the figures and, if it is known, the reason why a claim is not
reproduced. This page is the output of";

/// The text above the tables of factors.
const FACTORS: &str = "\
Each claim that does not hold as run is tried again with one rule, one constant or one detail of the
testbed changed, and nothing else. ✓: then the check holds. ✗: it still does not. –: the experiment
has no such thing.";

/// The text above the table of controllers.
const CONTROLLERS: &str = "\
The same experiments under other controllers. ✓: the check holds. ✗: it does not hold. –: not run,
or the controller lacks a setting that the experiment needs, or the experiment varies the controller
itself. Bold: the code that the study ran.";

/// The text above the table of improvements.
const IMPROVEMENTS: &str = "\
The same experiments with each [improvement](algorithms/gcc.md#improvements) added to their own
controllers. ✓: the check holds. ✗: it does not hold. –: no controller of the experiment supports
the improvement, or all have it already.";

/// The verdicts as a Markdown page. It has a table of all claims, and if the verdicts have results
/// of other controllers or of improvements ([`Verdict::beside`]), a table of each.
#[must_use]
pub fn markdown(verdicts: &[Verdict]) -> String {
    let mut page = format!("# Results\n\n{}\n", introduction(verdicts));
    page += "\n| claim | where | published | as run | | as printed | |\n|---|---|---|---|---|---|---|\n";
    for verdict in verdicts {
        let source = format!("{}, {}", citation(&verdict.paper), verdict.location);
        let printed = verdict.as_printed.as_ref();
        let cells: [&str; 7] = [
            &verdict.id,
            &source,
            &verdict.published,
            &verdict.measured,
            mark(verdict),
            printed.map_or("", |printed| &printed.measured),
            printed.map_or("", |printed| mark_of(printed.holds)),
        ];
        row(&mut page, &cells);
    }
    factors(&mut page, verdicts);
    let own: Vec<Option<String>> = verdicts.iter().map(own_controller).collect();
    let is_improvement = |beside: &Beside| beside.controller.starts_with('+');
    let has = |wanted: bool| {
        verdicts.iter().flat_map(|verdict| &verdict.beside).any(|one| is_improvement(one) == wanted)
    };
    if has(false) {
        let _ = writeln!(page, "\n## Other controllers\n\n{CONTROLLERS}");
        let columns = columns(verdicts, &own, |beside| !is_improvement(beside));
        alternatives(&mut page, verdicts, &own, &columns);
    }
    if has(true) {
        let _ = writeln!(page, "\n## Improvements\n\n{IMPROVEMENTS}");
        let columns = columns(verdicts, &[], is_improvement);
        alternatives(&mut page, verdicts, &vec![None; verdicts.len()], &columns);
    }
    page
}

/// The tables of the factors, one per paper: a row per factor, a column per claim that does not
/// hold.
fn factors(page: &mut String, verdicts: &[Verdict]) {
    let tried: Vec<&Verdict> = verdicts.iter().filter(|one| !one.factors.is_empty()).collect();
    if tried.is_empty() {
        return;
    }
    let _ = writeln!(page, "\n## What the other claims depend on\n\n{FACTORS}");
    for paper in tried.chunk_by(|one, other| one.paper == other.paper) {
        let _ = write!(page, "\n| {}: changed alone |", citation(&paper[0].paper));
        paper.iter().for_each(|verdict| *page += &format!(" {} |", verdict.id));
        *page += &format!("\n|---|{}\n", "---|".repeat(paper.len()));
        for (index, factor) in paper[0].factors.iter().enumerate() {
            let _ = write!(page, "| {} |", factor.factor);
            for verdict in paper {
                let holds = verdict.factors.get(index).and_then(|factor| factor.holds);
                let _ = write!(page, " {} |", mark_of(holds));
            }
            *page += "\n";
        }
    }
}

/// How many claims are reproduced, and how they were tested.
fn introduction(verdicts: &[Verdict]) -> String {
    let count = |status| verdicts.iter().filter(|verdict| verdict.status == status).count();
    let (reproduced, not) = (count(Status::Reproduced), count(Status::NotReproduced));
    let untested = match count(Status::NotRun) {
        0 => String::new(),
        count => format!(" {count} could not be tested."),
    };
    let with_factors = verdicts.iter().any(|verdict| !verdict.factors.is_empty());
    let mut option = if with_factors { " --with factors" } else { "" }.to_owned();
    let beside = verdicts.iter().flat_map(|verdict| &verdict.beside);
    let mut with: Vec<&str> = beside.map(|beside| &*beside.controller).collect();
    with.sort_unstable();
    with.dedup();
    option += &with.iter().map(|name| format!(" --with {name}")).collect::<String>();
    let printed: Vec<_> =
        verdicts.iter().filter_map(|verdict| verdict.as_printed.as_ref()).collect();
    let holding = printed.iter().filter(|printed| printed.holds == Some(true)).count();
    let as_printed = match printed.len() {
        0 => String::new(),
        // A line break keeps the line short.
        count if untested.is_empty() => format!(" As printed, {holding} of {count} hold."),
        count => format!("\nAs printed, {holding} of {count} hold."),
    };
    format!(
        "Of {} published claims, {reproduced} are reproduced and {not} are not.{untested}{as_printed}\n\n\
         {METHOD}\n\n```\nweir verify{option} --markdown docs/results.md\n```",
        verdicts.len(),
    )
}

/// The short name of a paper as a citation: `carlucci-2017` as `Carlucci 2017`.
fn citation(paper: &str) -> String {
    // The only paper with two authors whose names form its short name.
    if paper == "kilinc-andersson-2014" {
        return "Kilinc & Andersson 2014".to_owned();
    }
    let capitalised = paper.split('-').map(|word| {
        let mut letters = word.chars();
        letters.next().map(|first| first.to_uppercase().chain(letters).collect::<String>())
    });
    capitalised.flatten().collect::<Vec<_>>().join(" ")
}

fn mark(verdict: &Verdict) -> &'static str {
    mark_of(verdict.status.holds())
}

fn mark_of(holds: Option<bool>) -> &'static str {
    match holds {
        Some(true) => HOLDS,
        Some(false) => FAILS,
        None => NOT_TESTED,
    }
}

/// The controller that the paper used: that of all calls of the experiment, or if the experiment
/// varies it, the profile that is named after the paper.
fn own_controller(verdict: &Verdict) -> Option<String> {
    let experiment = crate::open(&verdict.experiment).ok()?;
    own_controller_of(&experiment, &verdict.paper).map(str::to_owned)
}

fn own_controller_of<'e>(experiment: &'e Experiment, paper: &str) -> Option<&'e str> {
    let mut controllers: Vec<&str> = experiment.controllers().collect();
    controllers.sort_unstable();
    controllers.dedup();
    match controllers[..] {
        [one] => Some(one),
        _ => controllers.into_iter().find(|name| {
            let profile = name.rsplit_once(':').map_or(*name, |(_, profile)| profile);
            paper.starts_with(profile)
        }),
    }
}

/// The names of the alternatives that are tested, and the papers' own controllers, in the order of
/// the catalogue of controllers.
fn columns(
    verdicts: &[Verdict],
    own: &[Option<String>],
    include: impl Fn(&Beside) -> bool,
) -> Vec<String> {
    let beside = verdicts.iter().flat_map(|verdict| &verdict.beside).filter(|one| include(one));
    let mut names: Vec<String> = Vec::new();
    for name in beside.map(|one| &one.controller).chain(own.iter().flatten()) {
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    let profiles = experiment::controllers::profiles();
    let position = |name: &String| profiles.iter().position(|profile| profile.name == *name);
    names.sort_by_key(|name| position(name).unwrap_or(usize::MAX));
    names
}

/// The table of the alternatives, one row per claim.
fn alternatives(
    page: &mut String,
    verdicts: &[Verdict],
    own: &[Option<String>],
    columns: &[String],
) {
    *page += "\n| claim |";
    for column in columns {
        let _ = write!(page, " `{column}` |");
    }
    *page += "\n|---|";
    *page += &"---|".repeat(columns.len());
    *page += "\n";
    for (verdict, own) in verdicts.iter().zip(own) {
        let cell = |column: &String| {
            if own.as_ref() == Some(column) {
                return format!("**{}**", mark(verdict));
            }
            let result = verdict.beside.iter().find(|one| one.controller == *column);
            mark_of(result.and_then(|one| one.holds)).to_owned()
        };
        let _ = write!(page, "| {} |", verdict.id);
        for column in columns {
            let _ = write!(page, " {} |", cell(column));
        }
        *page += "\n";
    }
}

fn row(page: &mut String, cells: &[&str]) {
    for cell in cells {
        let _ = write!(page, "| {} ", cell.replace('|', "\\|"));
    }
    *page += "|\n";
}
