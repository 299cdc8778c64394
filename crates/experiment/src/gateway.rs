//! The queues of an experiment as tc commands, for a real gateway.

use super::Cell;
use net::{Direction, LineConfig, QueueConfig, RateConfig};
use units::Bitrate;

/// A queue of an experiment as tc commands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GatewayQueue {
    /// The line: `alice.up`.
    pub line: String,
    /// The line's rate; `None` if the line has none or the queue shapes.
    pub rate: Option<Bitrate>,
    /// The tc commands, one per line.
    pub tc: String,
}

impl Cell {
    /// The queues of the cell's lines as tc commands for the device `dev`. Lines with an unlimited
    /// queue are left out.
    #[must_use]
    pub fn gateway_queues(&self, dev: &str) -> Vec<GatewayQueue> {
        let lines = self.scenario.network.hosts.iter().flat_map(|host| {
            Direction::ALL.into_iter().filter_map(|direction| {
                Some((format!("{}.{direction}", host.name), host.access.line(direction)?))
            })
        });
        lines.filter_map(|(name, line)| gateway_queue(name, line, dev)).collect()
    }
}

fn gateway_queue(name: String, line: &LineConfig, dev: &str) -> Option<GatewayQueue> {
    let rate = match &line.rate {
        RateConfig::Scheduled(schedule) => schedule.values().next(),
        RateConfig::Trace(trace) => Some(trace.mean_rate()),
        RateConfig::Unlimited => None,
    };
    let queue = match &line.queue {
        QueueConfig::Unlimited => return None,
        // tc has no limit in time: as many bytes as the line sends in that time at its first rate.
        QueueConfig::DropTail(time) => QueueConfig::Bfifo(rate?.bytes_in(*time)),
        queue => queue.clone(),
    };
    let rate = rate.filter(|_| !queue.shapes());
    Some(GatewayQueue { line: name, rate, tc: queue.script(dev) })
}

#[cfg(test)]
mod tests {
    use crate::Experiment;

    #[test]
    fn a_limit_in_time_becomes_bytes_and_unlimited_queues_are_left_out() {
        let text = "title = \"t\"\nduration = \"1s\"\n\
            [host.a]\nup = { rate = \"1Mbit/s\", queue = \"droptail limit 150ms\" }\ndown = { queue = \"tbf rate 1Mbit burst 5kB limit 9kB\" }\n\
            [host.b]\nup = { rate = \"1Mbit/s\" }\n[call.c]\nfrom = \"a\"\nto = \"b\"\n";
        let experiment = Experiment::parse(text, "x.toml").unwrap();
        let queues = experiment.cells()[0].gateway_queues("ppp0");
        let shown: Vec<_> = queues
            .iter()
            .map(|queue| (queue.line.as_str(), queue.rate.is_some(), queue.tc.as_str()))
            .collect();
        assert_eq!(
            shown,
            [
                ("a.up", true, "tc qdisc add dev ppp0 root handle 1: bfifo limit 18750"),
                (
                    "a.down",
                    false,
                    "tc qdisc add dev ppp0 root handle 1: tbf rate 1Mbit burst 5000 limit 9000"
                ),
            ]
        );
    }
}
