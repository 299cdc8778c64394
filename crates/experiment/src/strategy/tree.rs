//! The queue of a gateway's line with a class for eligible packets: HTB with two leaves.

use net::{Dscp, HostId, QueueConfig};
use sim::Marks;
use std::fmt::Write;
use units::{Bitrate, Bytes};

/// The marks of the class, for audio and video (RFC 8837 § 5 for interactive media; in Janczukowicz
/// 2017 § 4.4.2 applications set them).
pub const MARKS: [Dscp; 2] = [Dscp::EF, Dscp::AF41];

/// The marks of a call, with the class's marks for a medium without a mark.
pub fn marked(own: Marks) -> Marks {
    let or = |own: Dscp, usual: Dscp| if own == Dscp::DEFAULT { usual } else { own };
    Marks { audio: or(own.audio, MARKS[0]), video: or(own.video, MARKS[1]) }
}

/// The assured rate of best effort, almost zero (Janczukowicz 2017 § 6.3.6).
const BEST_EFFORT: Bitrate = Bitrate::from_bps(8);
/// The queue of eligible packets (Janczukowicz 2017 Table 6.4): 25 kB of packets of 610 bytes.
const LEAF: &str = "sfq limit 40 perturb 10";

/// Which class gets the capacity beyond the assured rates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Priority {
    /// The class first, as HTB204 (Janczukowicz 2017 § 6.3.6).
    High,
    /// Both in turn.
    Same,
    /// Best effort first, as HTB654.
    Low,
}

impl Priority {
    /// The `prio` of the class and that of best effort: tc serves the lower number first.
    const fn numbers(self) -> (u8, u8) {
        match self {
            Self::High => (0, 1),
            Self::Same => (0, 0),
            Self::Low => (1, 0),
        }
    }
}

/// The packets of the class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Eligible {
    /// All packets with one of the class's marks.
    Marked,
    /// Marked packets to this host.
    To(HostId),
    /// Marked packets from this host.
    From(HostId),
}

impl Eligible {
    /// The match of an address in a tc-u32 filter; empty if every address matches.
    fn address(self) -> String {
        let matching = |field, host: HostId| format!("match ip {field} {}/32 ", host.address());
        match self {
            Self::Marked => String::new(),
            Self::To(host) => matching("dst", host),
            Self::From(host) => matching("src", host),
        }
    }
}

/// HTB on a line: a class for eligible packets with SFQ (Janczukowicz 2017 § 5.5.2), and a class
/// for best effort. Each class may use capacity that the other leaves.
#[derive(Clone, Copy, Debug)]
pub struct Tree<'a> {
    /// The rate of the line, above the class's.
    pub line: Bitrate,
    /// The assured rate of the class, above zero.
    pub class: Bitrate,
    /// Which class gets the remaining capacity first.
    pub priority: Priority,
    /// The packets of the class.
    pub eligible: Eligible,
    /// The queue of all other packets. It must exist in tc and must not shape.
    pub best_effort: &'a QueueConfig,
}

impl Tree<'_> {
    /// The tc commands that set up the tree on a device.
    pub fn script(&self, dev: &str) -> String {
        let (line, class, least) = (rate(self.line), rate(self.class), rate(BEST_EFFORT));
        let (prio, other_prio) = self.priority.numbers();
        let address = self.eligible.address();
        let mut text = String::new();
        let mut add = |object: &str, rest: std::fmt::Arguments<'_>| {
            // Writing to a String cannot fail.
            let _ = writeln!(text, "tc {object} add dev {dev} {rest}");
        };
        add("qdisc", format_args!("root handle 1: htb default 20"));
        add("class", format_args!("parent 1: classid 1:1 htb rate {line}"));
        add(
            "class",
            format_args!("parent 1:1 classid 1:10 htb rate {class} ceil {line} prio {prio}"),
        );
        add(
            "class",
            format_args!("parent 1:1 classid 1:20 htb rate {least} ceil {line} prio {other_prio}"),
        );
        for mark in MARKS {
            // DSCP is the upper six bits of the byte (RFC 2474 § 3).
            let byte = mark.0 << 2;
            let filter = format!("u32 {address}match ip dsfield {byte:#04x} 0xfc flowid 1:10");
            add("filter", format_args!("parent 1: protocol ip prio 1 {filter}"));
        }
        add("qdisc", format_args!("parent 1:10 handle 10: {LEAF}"));
        add("qdisc", format_args!("parent 1:20 handle 20: {}", self.best_effort));
        text.truncate(text.trim_end().len());
        text
    }
}

/// The tc commands of an HTB with one class of this rate, in which `queue` waits. A queue with a
/// limit in time has as many bytes as the class sends in that time, because tc has no such limit.
#[must_use]
pub fn shaped(line: Bitrate, queue: &QueueConfig) -> String {
    let leaf = match queue {
        QueueConfig::DropTail(time) => QueueConfig::Bfifo(line.bytes_in(*time)),
        queue => queue.clone(),
    };
    let dev = "eth0";
    [
        format!("tc qdisc add dev {dev} root handle 1: htb default 10"),
        format!("tc class add dev {dev} parent 1: classid 1:10 htb rate {}", rate(line)),
        format!("tc qdisc add dev {dev} parent 1:10 handle 10: {leaf}"),
    ]
    .join("\n")
}

/// A rate as tc writes it.
fn rate(rate: Bitrate) -> String {
    rate.to_string().trim_end_matches("/s").to_owned()
}

/// The queue of best effort if a class cannot have the line's queue: the large buffer of
/// Janczukowicz 2017 § 6.3.6.
const LARGE_BUFFER: QueueConfig = QueueConfig::Bfifo(Bytes::new(125_000));

/// The queue of best effort on a line of this rate: the line's own queue if a class can have it,
/// else a large buffer.
pub fn best_effort(own: &QueueConfig, rate: Bitrate) -> QueueConfig {
    match own {
        own if !is_leaf(own) => LARGE_BUFFER,
        // tc has no limit in time.
        QueueConfig::DropTail(time) => QueueConfig::Bfifo(rate.bytes_in(*time)),
        own => own.clone(),
    }
}

/// Whether a class can have this queue.
pub(super) fn is_leaf(queue: &QueueConfig) -> bool {
    !queue.shapes() && *queue != QueueConfig::Unlimited
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Experiment;
    use net::Direction;
    use units::Seed;

    /// The queue of alice's uplink in the cell of this label.
    fn published(experiment: &str, config: &str) -> QueueConfig {
        let experiment = Experiment::open(experiment).unwrap();
        let cell = experiment.cells().iter().find(|cell| cell.params[0].1 == config).unwrap();
        let access = &cell.scenario(Seed(1)).network.hosts[0].access;
        access.line(Direction::Up).unwrap().queue.clone()
    }

    #[test]
    fn the_trees_of_the_thesis_can_be_made() {
        let droptail = "bfifo limit 125000".parse().unwrap();
        let tree = |kbps, priority, eligible| Tree {
            line: Bitrate::from_mbps(1),
            class: Bitrate::from_kbps(kbps),
            priority,
            eligible,
            best_effort: &droptail,
        };
        for (tree, experiment, config) in [
            (
                tree(204, Priority::High, Eligible::Marked),
                "janczukowicz-2017/adsl-ct",
                "HTB204 fifo 125kB",
            ),
            (
                tree(654, Priority::Low, Eligible::Marked),
                "janczukowicz-2017/adsl-ct",
                "HTB654 fifo 125kB",
            ),
            (
                tree(654, Priority::Low, Eligible::To(HostId(2))),
                "janczukowicz-2017/adsl-ct-turn",
                "Specialised TURN",
            ),
        ] {
            let read: QueueConfig = tree.script("eth0").parse().unwrap();
            assert_eq!(read, published(experiment, config), "{config}");
        }
    }

    #[test]
    fn every_printed_tree_reads_back() {
        for words in
            ["fq_codel", "pie bytemode", "bfifo limit 16kB", "sfq", "codel ecn", "cake unlimited"]
        {
            let best_effort: QueueConfig = words.parse().unwrap();
            for priority in [Priority::High, Priority::Same, Priority::Low] {
                for eligible in
                    [Eligible::Marked, Eligible::To(HostId(300)), Eligible::From(HostId(0))]
                {
                    let line = Bitrate::from_bps(1_500_001);
                    let class = Bitrate::from_bps(333_333);
                    let tree = Tree { line, class, priority, eligible, best_effort: &best_effort };
                    let read: QueueConfig = tree.script("ppp0").parse().unwrap();
                    let again: QueueConfig = read.script("ppp0").parse().unwrap();
                    assert_eq!(read, again);
                    let QueueConfig::Htb(htb) = &read else { panic!("{read:?}") };
                    assert_eq!(htb.classes[2].leaf.as_ref(), Some(&best_effort), "{words}");
                    let prios = (htb.classes[1].prio, htb.classes[2].prio);
                    assert_eq!(prios, priority.numbers());
                }
            }
        }
    }
}
