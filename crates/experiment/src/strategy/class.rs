//! The class of eligible flows: what it is assured of, and its tree on a line.

use super::super::words::choice;
use super::line::GatewayLine;
use super::tree::{Eligible, Priority, Tree, best_effort, is_leaf};
use document::{Fault, FromNode, Node, Reader};
use net::QueueConfig;
use units::{Bitrate, Ratio};

/// What the class is assured of (§ 7.6.2: a low rate and the higher priority do best; HTB204 has a
/// fifth of its line, § 6.3.6).
const SHARE: Ratio = Ratio::from_percent(20);

/// What is said of the class.
pub(super) struct Class {
    rate: Assured,
    priority: Priority,
}

/// A rate, or a share of the line's.
enum Assured {
    Rate(Bitrate),
    Share(Ratio),
}

impl FromNode for Assured {
    const WHAT: &'static str = "a share such as \"20%\" or a rate such as \"204kbit/s\"";
    fn from_node(node: &Node) -> Option<Result<Self, String>> {
        if let Some(Ok(rate)) = Bitrate::from_node(node) {
            return Some(Ok(Self::Rate(rate)));
        }
        let share = Ratio::from_node(node)?;
        Some(
            share.map(Self::Share).map_err(|error| format!("{error}, or a rate such as 204kbit/s")),
        )
    }
}

impl Class {
    /// The class under `class`; as § 7.6.2 recommends if it is left out.
    pub(super) fn read(table: &mut Reader<'_>) -> Result<Self, Fault> {
        let usual = Self { rate: Assured::Share(SHARE), priority: Priority::High };
        let path = table.path("class");
        let Some(node) = table.node("class") else { return Ok(usual) };
        let mut class = Reader::new(node, &path)?;
        let rate = class.or("rate", usual.rate)?;
        if matches!(rate, Assured::Rate(Bitrate::ZERO) | Assured::Share(Ratio::ZERO)) {
            let suggestion = "write a share above 0% or a rate above zero";
            return Err(class.fault("rate", "a class of no rate", suggestion));
        }
        let words = [("high", Priority::High), ("same", Priority::Same), ("low", Priority::Low)];
        let priority = choice(&mut class, "prio", &words)?;
        class.finish()?;
        Ok(Self { rate, priority })
    }

    /// The lines of tc of the tree on a line. Best effort waits in `queue`, or else in the line's
    /// own if that can be a class's.
    pub(super) fn script(
        &self,
        table: &Reader<'_>,
        eligible: Eligible,
        queue: Option<&QueueConfig>,
        line: &GatewayLine,
    ) -> Result<String, Fault> {
        let rate = line.constant_rate(table)?;
        let assured = match self.rate {
            Assured::Rate(rate) => rate,
            Assured::Share(share) => rate.scale(share.as_f64()),
        };
        if assured == Bitrate::ZERO || assured > rate {
            let reason = format!("{assured} for the class of {line}, which carries {rate}");
            let suggestion = "write a share, such as rate = \"20%\", or a lower rate";
            return Err(table.fault("class", reason, suggestion));
        }
        let rest = match queue {
            Some(queue) if !is_leaf(queue) => {
                let reason = "best effort within a class waits in a queue with a limit, and without a rate of its own";
                return Err(table.fault(
                    "queue",
                    reason,
                    "write one such as fq_codel or bfifo limit 125kB",
                ));
            }
            Some(queue) => best_effort(queue, rate),
            None => best_effort(&line.queue()?, rate),
        };
        let priority = self.priority;
        let tree = Tree { line: rate, class: assured, priority, eligible, best_effort: &rest };
        Ok(tree.script("eth0"))
    }
}
