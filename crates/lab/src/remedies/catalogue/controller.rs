//! Another congestion controller in the application, or one of the improvements that the papers
//! propose.

use super::{Edits, Remedy, RemedyKind, Unfit};
use crate::remedies::Situation;
use experiment::TODAY;

pub(super) fn remedies() -> Vec<Remedy> {
    let today = Remedy::new(
        ("today", RemedyKind::Controller),
        "the controller of today's browsers, gcc:libwebrtc",
        "docs/algorithms/gcc-libwebrtc.md",
        |situation| {
            if situation.controller() == TODAY {
                return Err(Unfit::AlreadyConfigured);
            }
            change(situation, TODAY)
        },
    );
    let improvement = |improvement: &'static cc::Improvement| {
        Remedy::new(
            (improvement.name, RemedyKind::Controller),
            improvement.summary,
            improvement.source,
            |situation: &Situation| {
                let improved = cc::improve(situation.controller(), improvement.name);
                let improved = improved?;
                match situation.experiment.improvement_with(improvement.name) {
                    Some(names) => check_allowed(situation).map(|()| at_top_level(names)),
                    None => change(situation, &improved),
                }
            },
        )
    };
    std::iter::once(today).chain(cc::improvements().iter().map(improvement)).collect()
}

/// Sets the controller of every call of the same application.
fn change(situation: &Situation, profile: &str) -> Result<Edits, Unfit> {
    check_allowed(situation)?;
    let set = |path: &str| (format!("{path}.controller"), profile.to_owned());
    let set = situation.application().map(|section| set(&section.path)).collect();
    Ok(Edits { set, lines: Vec::new() })
}

/// Sets the improvements with the key at the top of the file, for a file that sets its controllers
/// there.
fn at_top_level(names: String) -> Edits {
    Edits { set: vec![("improvement".to_owned(), names)], lines: Vec::new() }
}

fn check_allowed(situation: &Situation) -> Result<(), Unfit> {
    if situation.advise.controller {
        return Ok(());
    }
    Err(Unfit::NotOwnController)
}
