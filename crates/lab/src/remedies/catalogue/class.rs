//! Traffic classes at the user's own lines, by the DSCP marks of the calls (Janczukowicz 2017
//! § 5.5.2).

use super::queue::{at_lines, cake, rate};
use super::{Edits, Remedy, RemedyKind, Unfit, class_marks};
use crate::remedies::Situation;
use crate::remedies::situation::{LimitedLine, Section};
use experiment::{Eligible, Priority, Tree, best_effort};
use net::{Direction, HostId};
use units::Ratio;

/// The assured share of HTB204 at 1 Mbit/s (Janczukowicz 2017 § 6.3.6).
const LOW: Ratio = Ratio::from_percent(20);
/// The assured share of HTB654 at 1 Mbit/s (Janczukowicz 2017 § 6.3.6).
const HIGH: Ratio = Ratio::from_percent(65);

pub(super) fn remedies() -> Vec<Remedy> {
    let class = |name, about, source, shape: Shape| {
        Remedy::new((name, RemedyKind::Class), about, source, move |situation: &Situation| {
            let mut edits = at_lines(situation, |line| shape.words(line, Eligible::Marked))?;
            edits.set.extend(class_marks(situation)?);
            Ok(edits)
        })
    };
    vec![
        class(
            "htb-priority",
            "HTB: priority for marked calls, 20 % of the rate assured",
            "Janczukowicz 2017 § 7.6.2 (HTB204)",
            Shape { share: LOW, priority: Priority::High, best_effort: None },
        ),
        class(
            "htb-priority-fq_codel",
            "HTB: priority for marked calls, 20 % of the rate assured; FQ-CoDel for other traffic",
            "Janczukowicz 2017 § 7.6.1, § 7.6.2",
            Shape { share: LOW, priority: Priority::High, best_effort: Some("fq_codel") },
        ),
        class(
            "htb-share",
            "HTB: 65 % of the rate assured to marked calls; other traffic has priority for the remainder",
            "Janczukowicz 2017 § 6.3.6 (HTB654)",
            Shape { share: HIGH, priority: Priority::Low, best_effort: None },
        ),
        Remedy::new(
            ("htb-one-call", RemedyKind::Class),
            "HTB: priority for the judged call, 20 % of the rate assured; other calls are unmarked",
            "Janczukowicz 2017 § 4.3.3, § 7.6.3 (enterprise)",
            one_call,
        ),
        Remedy::new(
            ("htb-relayed", RemedyKind::Class),
            "HTB: priority for marked calls through the eligible relay, 20 % of the rate assured",
            "Janczukowicz 2017 § 4.3.2, § 7.6.2 (OTT-driven)",
            relayed,
        ),
        Remedy::new(
            ("cake-diffserv4", RemedyKind::Class),
            "CAKE at a share of the rate of the line, with tins by DSCP",
            "tc-cake(8) (diffserv4); RFC 8837",
            |situation| {
                let mut edits = at_lines(situation, |line| cake(line, "diffserv4"))?;
                edits.set.extend(class_marks(situation)?);
                Ok(edits)
            },
        ),
    ]
}

/// The assured rate and the priority of the class of the calls.
#[derive(Clone, Copy)]
struct Shape {
    share: Ratio,
    priority: Priority,
    /// The queue of other traffic; unchanged if `None`.
    best_effort: Option<&'static str>,
}

impl Shape {
    const PRIORITY: Self = Self { share: LOW, priority: Priority::High, best_effort: None };

    /// The HTB tree of a line, as tc commands.
    fn words(self, line: &LimitedLine, eligible: Eligible) -> Result<String, Unfit> {
        let rate = rate(line)?;
        let rest = match self.best_effort {
            Some(words) => words.parse()?,
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
        return Err(Unfit::NoOtherCall);
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
        return Err(Unfit::NoRelay);
    };
    let mut edits = at_lines(situation, |line| Shape::PRIORITY.words(line, passing(line, relay)))?;
    edits.set.extend(class_marks(situation)?);
    Ok(edits)
}

/// The packets of the relayed call on a line. On the uplink of a client they go to the relay, on
/// the downlink they come from it. On the lines of the relay itself it is the reverse.
fn passing(line: &LimitedLine, relay: HostId) -> Eligible {
    match (line.direction, line.host == relay) {
        (Direction::Up, false) | (Direction::Down, true) => Eligible::To(relay),
        (Direction::Down, false) | (Direction::Up, true) => Eligible::From(relay),
    }
}
