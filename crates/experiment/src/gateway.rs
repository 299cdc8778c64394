//! The queues of an experiment as tc commands, for a real gateway.

use super::Cell;
use net::{Direction, HostId, HtbClass, LineConfig, QueueConfig, RateConfig};
use std::fmt::Display;
use std::net::Ipv4Addr;
use units::{Bitrate, Ratio};

/// A queue of an experiment as tc commands.
#[derive(Clone, Debug, PartialEq)]
pub struct GatewayQueue {
    /// The line: `alice.up`.
    pub line: String,
    /// The line's rate; `None` if the line has none or the queue shapes.
    pub rate: Option<Bitrate>,
    /// The commands of ip and tc that make the device of the queue, one per line; empty unless the
    /// queue shapes what comes in.
    pub device: String,
    /// The tc commands, one per line. They replace what the device has.
    pub tc: String,
    /// The commands that restore what the device had by default, one per line.
    pub undo: String,
    /// The versions of Linux and of tc that the queue needs; `None`: any that is still in use.
    pub needs: Option<&'static str>,
    /// The hosts whose addresses the commands name, which are other ones at the gateway.
    pub hosts: Vec<(Ipv4Addr, String)>,
    queue: QueueConfig,
    direction: Direction,
}

/// The device on which incoming packets wait.
const IFB: &str = "ifb-weir";

/// The commands that pass what comes in at `dev` through a device whose queue can be set (Linux
/// has none at an entrance: tc-mirred(8), 'EXAMPLES'). They can be run again.
fn redirection(dev: &str) -> String {
    [
        format!("ip link show {IFB} > /dev/null 2>&1 || ip link add {IFB} type ifb"),
        format!("ip link set {IFB} up"),
        format!("tc qdisc replace dev {dev} ingress"),
        format!(
            "tc filter replace dev {dev} parent ffff: protocol all prio 1 handle 800::1 u32 match u32 0 0 action mirred egress redirect dev {IFB}"
        ),
    ]
    .join("\n")
}

/// Why a queue cannot be configured with sqm-scripts.
#[derive(Debug, thiserror::Error)]
pub enum SqmError {
    /// sqm-scripts do not have the discipline.
    #[error("sqm-scripts have no {queue}; they have fq_codel and cake")]
    Discipline {
        /// The first word of the discipline.
        queue: String,
    },
    /// sqm-scripts shape always.
    #[error("{line} has no rate, and sqm-scripts shape; give the line a rate")]
    NoRate {
        /// The line.
        line: String,
    },
}

impl GatewayQueue {
    /// The commands that make the device and set its queue, one per line.
    #[must_use]
    pub fn commands(&self) -> String {
        let parts = [&self.device, &self.tc].map(String::as_str);
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n")
    }

    /// The commands of UCI that configure sqm-scripts on an OpenWrt router for this queue
    /// (`/etc/config/sqm`, OpenWrt user guide, 'SQM configuration'): the line shaped at `share` of
    /// its rate, or at the rate of the queue itself. sqm-scripts choose the other parameters. `dev`
    /// is the name of the device as a word of the shell.
    ///
    /// # Errors
    /// If sqm-scripts do not have the queue, or the line has no rate.
    pub fn sqm(&self, dev: &str, share: Ratio) -> Result<String, SqmError> {
        let (queue, own_rate) = self.unshaped();
        let words = queue.to_string();
        let (qdisc, script) = match queue {
            QueueConfig::FqCodel(_) => ("fq_codel", "simplest.qos"),
            QueueConfig::Cake(_) if words.contains("diffserv") => ("cake", "layer_cake.qos"),
            QueueConfig::Cake(_) => ("cake", "piece_of_cake.qos"),
            other => {
                let queue = match other {
                    QueueConfig::Htb(_) => "htb",
                    QueueConfig::Tbf(_) => "tbf",
                    _ => words.split_whitespace().next().unwrap_or_default(),
                };
                return Err(SqmError::Discipline { queue: queue.to_owned() });
            }
        };
        let line = self.rate.map(|rate| Bitrate::from_bps_f64(rate.as_bps_f64() * share.as_f64()));
        let rate = line.or(own_rate);
        let Some(rate) = rate else { return Err(SqmError::NoRate { line: self.line.clone() }) };
        let kbps = rate.as_bps() / 1000;
        let (upload, download) = match self.direction {
            Direction::Up => (kbps, 0),
            Direction::Down => (0, kbps),
        };
        let set = |option: &str, value: &dyn Display| format!("uci set sqm.weir.{option}={value}");
        let lines = [
            "uci set sqm.weir=queue".to_owned(),
            set("interface", &dev),
            set("upload", &upload),
            set("download", &download),
            set("qdisc", &qdisc),
            set("script", &script),
            set("linklayer", &"none"),
            set("enabled", &1),
            "uci commit sqm".to_owned(),
            "/etc/init.d/sqm restart".to_owned(),
        ];
        Ok(lines.join("\n"))
    }

    /// The queue without a shaper of one class, and the rate at which it shapes by itself.
    fn unshaped(&self) -> (&QueueConfig, Option<Bitrate>) {
        match &self.queue {
            QueueConfig::Cake(cake) => (&self.queue, cake.bandwidth),
            QueueConfig::Htb(htb) => match &htb.classes[..] {
                [HtbClass { leaf: Some(leaf), rate, .. }] => (leaf, Some(*rate)),
                _ => (&self.queue, None),
            },
            QueueConfig::Tbf(tbf) => (tbf.child.as_ref().unwrap_or(&self.queue), Some(tbf.rate)),
            queue => (queue, None),
        }
    }

    /// The commands of UCI that remove what [`Self::sqm`] configures.
    pub const SQM_UNDO: &str = "uci delete sqm.weir\nuci commit sqm\n/etc/init.d/sqm restart";
}

impl Cell {
    /// The queues of the cell's lines as tc commands for the device `dev`. Lines with an unlimited
    /// queue are left out.
    #[must_use]
    pub fn gateway_queues(&self, dev: &str) -> Vec<GatewayQueue> {
        let lines = self.scenario.network.hosts.iter().flat_map(|host| {
            Direction::ALL.into_iter().filter_map(|direction| {
                Some((
                    format!("{}.{direction}", host.name),
                    direction,
                    host.access.line(direction)?,
                ))
            })
        });
        let hosts: Vec<(Ipv4Addr, String)> = (0..)
            .map(HostId)
            .zip(&self.scenario.network.hosts)
            .map(|(id, host)| (id.address(), host.name.clone()))
            .collect();
        let queue = |(name, direction, line)| gateway_queue(name, direction, line, dev, &hosts);
        lines.filter_map(queue).collect()
    }
}

fn gateway_queue(
    name: String,
    direction: Direction,
    line: &LineConfig,
    dev: &str,
    hosts: &[(Ipv4Addr, String)],
) -> Option<GatewayQueue> {
    let rate = match &line.rate {
        RateConfig::Scheduled(schedule) => schedule.values().next(),
        RateConfig::Trace(trace) => Some(trace.mean_rate()),
        RateConfig::Unlimited => None,
    };
    let queue = match line.shaper.as_ref().unwrap_or(&line.queue) {
        QueueConfig::Unlimited => return None,
        // tc has no limit in time: as many bytes as the line sends in that time at its first rate.
        QueueConfig::DropTail(time) => QueueConfig::Bfifo(rate?.bytes_in(*time)),
        queue => queue.clone(),
    };
    let rate = rate.filter(|_| !queue.shapes());
    let incoming = line.shaper.is_some() && direction == Direction::Down;
    let tc = queue.gateway_script(if incoming { IFB } else { dev });
    let named = hosts.iter().filter(|(address, _)| tc.contains(&format!(" {address}/")));
    let hosts = named.cloned().collect();
    let (device, undo) = match incoming {
        true => (redirection(dev), format!("tc qdisc del dev {dev} ingress\nip link del {IFB}")),
        false => (String::new(), format!("tc qdisc del dev {dev} root")),
    };
    let needs = queue.needs();
    Some(GatewayQueue { line: name, rate, device, tc, undo, needs, hosts, queue, direction })
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
                ("a.up", true, "tc qdisc replace dev ppp0 root bfifo limit 18750"),
                (
                    "a.down",
                    false,
                    "tc qdisc replace dev ppp0 root tbf rate 1Mbit burst 5000 limit 9000"
                ),
            ]
        );
    }
}
