//! Classes of traffic at the lines of one's own, by the marks of the calls (Janczukowicz 2017 §
//! 5.5.2).

use super::queue::{at_lines, cake, rate};
use super::{Edits, Kind, Remedy, Unfit, class_marks};
use crate::remedies::Situation;
use crate::remedies::situation::{Line, Section};
use experiment::{Eligible, Priority, Tree, best_effort};
use net::{Direction, HostId};
use units::Ratio;

/// HTB204's share of 1 Mbit/s (Janczukowicz 2017 § 6.3.6).
const LOW: Ratio = Ratio::from_percent(20);
/// HTB654's.
const HIGH: Ratio = Ratio::from_percent(65);
pub(super) fn remedies() -> Vec<Remedy> {
    let class = |name, about, source, shape: Shape| {
        Remedy::new((name, Kind::Class), about, source, move |situation: &Situation| {
            let mut edits = at_lines(situation, |line| shape.words(line, Eligible::Marked))?;
            edits.set.extend(class_marks(situation)?);
            Ok(edits)
        })
    };
    vec![
        class(
            "htb-priority",
            "HTB: marked calls go first, a fifth of the line assured",
            "Janczukowicz 2017 § 7.6.2 (HTB204)",
            Shape { share: LOW, priority: Priority::High, best_effort: None },
        ),
        class(
            "htb-priority-fq_codel",
            "HTB: marked calls go first, a fifth of the line assured, and FQ-CoDel for the rest",
            "Janczukowicz 2017 § 7.6.1, § 7.6.2",
            Shape { share: LOW, priority: Priority::High, best_effort: Some("fq_codel") },
        ),
        class(
            "htb-share",
            "HTB: marked calls have two thirds of the line assured, and what is left goes to the rest first",
            "Janczukowicz 2017 § 6.3.6 (HTB654)",
            Shape { share: HIGH, priority: Priority::Low, best_effort: None },
        ),
        Remedy::new(
            ("htb-one-call", Kind::Class),
            "HTB: the judged call goes first, a fifth of the line assured; other calls are unmarked",
            "Janczukowicz 2017 § 4.3.3, § 7.6.3 (enterprise)",
            one_call,
        ),
        Remedy::new(
            ("htb-relayed", Kind::Class),
            "HTB: marked calls that pass the eligible relay go first, a fifth of the line assured",
            "Janczukowicz 2017 § 4.3.2, § 7.6.2 (OTT-driven)",
            relayed,
        ),
        Remedy::new(
            ("cake-diffserv4", Kind::Class),
            "CAKE at 95 % of the line, with tins by DSCP",
            "tc-cake(8) (diffserv4); RFC 8837",
            |situation| {
                let mut edits = at_lines(situation, |line| cake(line, "diffserv4"))?;
                edits.set.extend(class_marks(situation)?);
                Ok(edits)
            },
        ),
    ]
}

/// What a class is assured of, and who goes first.
#[derive(Clone, Copy)]
struct Shape {
    share: Ratio,
    priority: Priority,
    /// Where the rest waits; as it stands if `None`.
    best_effort: Option<&'static str>,
}

impl Shape {
    const PRIORITY: Self = Self { share: LOW, priority: Priority::High, best_effort: None };

    /// The tree of a line.
    fn words(self, line: &Line, eligible: Eligible) -> Result<String, Unfit> {
        let rate = rate(line)?;
        let rest = match self.best_effort {
            Some(words) => {
                words.parse().map_err(|error: net::QueueConfigError| Unfit(error.to_string()))?
            }
            None => best_effort(&line.queue, rate),
        };
        let class = rate.scale(self.share.as_f64());
        let tree =
            Tree { line: rate, class, priority: self.priority, eligible, best_effort: &rest };
        Ok(tree.script("eth0"))
    }
}

fn one_call(situation: &Situation) -> Result<Edits, Unfit> {
    let others: Vec<&Section> = situation.other_calls().collect();
    if others.is_empty() {
        return Err(Unfit("there is no other call: htb-priority is the same".to_owned()));
    }
    let mut edits = at_lines(situation, |line| Shape::PRIORITY.words(line, Eligible::Marked))?;
    edits.set.extend(class_marks(situation)?);
    edits
        .set
        .retain(|(path, _)| !others.iter().any(|other| *path == format!("{}.dscp", other.path)));
    edits.set.extend(others.iter().map(|other| (format!("{}.dscp", other.path), "be".to_owned())));
    Ok(edits)
}

fn relayed(situation: &Situation) -> Result<Edits, Unfit> {
    let Some(relay) = situation.calls(&situation.call).find_map(|call| call.relay) else {
        return Err(Unfit("no media relay on the call's way: give the call a relay".to_owned()));
    };
    let mut edits = at_lines(situation, |line| Shape::PRIORITY.words(line, passing(line, relay)))?;
    edits.set.extend(class_marks(situation)?);
    Ok(edits)
}

/// What goes up from a client goes to the relay, and what comes down comes from it; the relay's own
/// lines see the other end of the same leg.
fn passing(line: &Line, relay: HostId) -> Eligible {
    match (line.direction, line.host == relay) {
        (Direction::Up, false) | (Direction::Down, true) => Eligible::To(relay),
        (Direction::Down, false) | (Direction::Up, true) => Eligible::From(relay),
    }
}
