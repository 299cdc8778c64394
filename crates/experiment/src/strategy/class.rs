//! The class of eligible packets: its assured rate and its HTB tree on a line.

use super::super::values::choice;
use super::line::GatewayLine;
use super::tree::{Eligible, Priority, Tree, best_effort, is_leaf};
use document::{Fault, FromNode, Node, Reader, ValueError};
use net::QueueConfig;
use units::{Bitrate, Ratio};

/// The default rate of the class. § 7.6.2 recommends a low rate and the higher priority; HTB204 has
/// a fifth of its line (§ 6.3.6).
const SHARE: Ratio = Ratio::from_percent(20);

/// The keys of `class`.
pub(super) struct Class {
    rate: AssuredRate,
    priority: Priority,
}

/// A rate, or a share of the line's rate.
enum AssuredRate {
    Rate(Bitrate),
    Share(Ratio),
}

impl FromNode for AssuredRate {
    const WHAT: &'static str = "a share such as \"20%\" or a rate such as \"204kbit/s\"";
    fn from_node(node: &Node) -> Option<Result<Self, ValueError>> {
        if let Some(Ok(rate)) = Bitrate::from_node(node) {
            return Some(Ok(Self::Rate(rate)));
        }
        let share = Ratio::from_node(node)?;
        let neither = |error| ValueError::Neither(Box::new(error), "a rate such as 204kbit/s");
        Some(share.map(Self::Share).map_err(neither))
    }
}

impl Class {
    /// The class under `class`; that of § 7.6.2 if the key is missing.
    pub(super) fn read(table: &mut Reader<'_>) -> Result<Self, Fault> {
        let usual = Self { rate: AssuredRate::Share(SHARE), priority: Priority::High };
        let path = table.path("class");
        let Some(node) = table.node("class") else { return Ok(usual) };
        let mut class = Reader::new(node, &path)?;
        let rate = class.or("rate", usual.rate)?;
        if matches!(rate, AssuredRate::Rate(Bitrate::ZERO) | AssuredRate::Share(Ratio::ZERO)) {
            let suggestion = "write a share above 0% or a rate above zero";
            return Err(class.fault("rate", "zero is not allowed", suggestion));
        }
        let words = [("high", Priority::High), ("same", Priority::Same), ("low", Priority::Low)];
        let priority = choice(&mut class, "prio", &words)?;
        class.finish()?;
        Ok(Self { rate, priority })
    }

    /// The tc commands of the tree on a line. Best effort waits in `queue`, or else in the line's
    /// own queue if a class can have that queue.
    pub(super) fn script(
        &self,
        table: &Reader<'_>,
        eligible: Eligible,
        queue: Option<&QueueConfig>,
        line: &GatewayLine,
    ) -> Result<String, Fault> {
        let rate = line.constant_rate(table)?;
        let assured = match self.rate {
            AssuredRate::Rate(rate) => rate,
            AssuredRate::Share(share) => rate.scale(share.as_f64()),
        };
        if assured == Bitrate::ZERO || assured > rate {
            let reason = format!("the class of {line} has {assured}, and the line {rate}");
            let suggestion = "write a share, such as rate = \"20%\", or a lower rate";
            return Err(table.fault("class", reason, suggestion));
        }
        let rest = match queue {
            Some(queue) if !is_leaf(queue) => {
                let reason =
                    "best effort needs a queue that has a limit and does not limit the rate";
                return Err(table.fault(
                    "queue",
                    reason,
                    "write for example fq_codel or bfifo limit 125kB",
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
