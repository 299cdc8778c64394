//! Another congestion controller in the application, or one of the improvements that the papers end
//! with.

use super::{Edits, Kind, Remedy, Unfit};
use crate::remedies::Situation;
use experiment::TODAY;

pub(super) fn remedies() -> Vec<Remedy> {
    let today = Remedy::new(
        ("today", Kind::Controller),
        "the controller of today's browsers, gcc:libwebrtc",
        "docs/algorithms/gcc-libwebrtc.md",
        |situation| {
            if situation.controller() == TODAY {
                return Err(Unfit("the call has that controller".to_owned()));
            }
            change(situation, TODAY)
        },
    );
    let improvement = |improvement: &'static cc::Improvement| {
        Remedy::new(
            (improvement.name, Kind::Controller),
            improvement.summary,
            improvement.source,
            |situation: &Situation| {
                let improved = cc::improve(situation.controller(), improvement.name);
                let improved = improved.map_err(|error| Unfit(error.to_string()))?;
                match situation.experiment.improvement_with(improvement.name) {
                    Some(names) => may(situation).map(|()| at_the_top(names)),
                    None => change(situation, &improved),
                }
            },
        )
    };
    std::iter::once(today).chain(cc::improvements().iter().map(improvement)).collect()
}

/// This controller for every call of the same application.
fn change(situation: &Situation, profile: &str) -> Result<Edits, Unfit> {
    may(situation)?;
    let set = |path: &str| (format!("{path}.controller"), profile.to_owned());
    let set = situation.application().map(|section| set(&section.path)).collect();
    Ok(Edits { set, lines: Vec::new() })
}

/// Where the file says at its top which controllers calls have, it says there how they are
/// improved.
fn at_the_top(names: String) -> Edits {
    Edits { set: vec![("improvement".to_owned(), names)], lines: Vec::new() }
}

fn may(situation: &Situation) -> Result<(), Unfit> {
    if situation.advise.controller {
        return Ok(());
    }
    Err(Unfit("the application is not one's own: advise.controller is false".to_owned()))
}
