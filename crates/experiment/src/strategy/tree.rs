//! The queue of a gateway's line with a class of its own for eligible flows: HTB with two leaves.

use net::{Dscp, HostId, QueueConfig};
use sim::Marks;
use std::fmt::Write;
use units::{Bitrate, Bytes};

/// The marks of the class: audio's and video's (RFC 8837 § 5 has them for interactive media;
/// Janczukowicz 2017 § 4.4.2 has applications set them).
pub const MARKS: [Dscp; 2] = [Dscp::EF, Dscp::AF41];

/// Marks of one's own, and those of the class where there are none.
pub fn marked(own: Marks) -> Marks {
    let or = |own: Dscp, usual: Dscp| if own == Dscp::DEFAULT { usual } else { own };
    Marks { audio: or(own.audio, MARKS[0]), video: or(own.video, MARKS[1]) }
}

/// What best effort is assured of, which is next to nothing (Janczukowicz 2017 § 6.3.6).
const BEST_EFFORT: Bitrate = Bitrate::from_bps(8);
/// What eligible packets wait in (Janczukowicz 2017 Table 6.4): 25 kB of packets of 610 bytes.
const LEAF: &str = "sfq limit 40 perturb 10";

/// Who gets what neither class is assured of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Priority {
    /// The class before best effort, as HTB204 (Janczukowicz 2017 § 6.3.6).
    High,
    /// Both in turn.
    Same,
    /// Best effort before the class, as HTB654.
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

/// Which packets the class takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Eligible {
    /// All that carry one of its marks.
    Marked,
    /// Those of them that go to this host.
    To(HostId),
    /// Those of them that come from this host.
    From(HostId),
}

impl Eligible {
    /// What a filter of tc-u32 asks besides the mark.
    fn address(self) -> String {
        let matching = |way, host: HostId| format!("match ip {way} {}/32 ", host.address());
        match self {
            Self::Marked => String::new(),
            Self::To(host) => matching("dst", host),
            Self::From(host) => matching("src", host),
        }
    }
}

/// HTB on a line: a class of eligible packets with SFQ within (Janczukowicz 2017 § 5.5.2), and best
/// effort. Each may take all of the line if the other leaves it.
#[derive(Clone, Copy, Debug)]
pub struct Tree<'a> {
    /// What the line carries; above the class's rate.
    pub line: Bitrate,
    /// What the class is assured of; above zero.
    pub class: Bitrate,
    /// Which of both is first with the rest.
    pub priority: Priority,
    /// What belongs to the class.
    pub eligible: Eligible,
    /// What all else waits in: a discipline that tc has and that sends at no rate of its own.
    pub best_effort: &'a QueueConfig,
}

impl Tree<'_> {
    /// The lines of tc that make it of a device.
    pub fn script(&self, dev: &str) -> String {
        let (line, class, least) = (rate(self.line), rate(self.class), rate(BEST_EFFORT));
        let (prio, other_prio) = self.priority.numbers();
        let address = self.eligible.address();
        let mut text = String::new();
        let mut add = |object: &str, rest: std::fmt::Arguments<'_>| {
            // A String takes everything.
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

/// A rate in tc's words.
fn rate(rate: Bitrate) -> String {
    rate.to_string().trim_end_matches("/s").to_owned()
}

/// What best effort waits in where the line has no queue that could be a class's: the large buffer
/// of Janczukowicz 2017 § 6.3.6.
const LARGE_BUFFER: QueueConfig = QueueConfig::Bfifo(Bytes::new(125_000));

/// Where best effort waits on a line of this rate: in the line's own queue, if packets of a class
/// can wait there.
pub fn best_effort(own: &QueueConfig, rate: Bitrate) -> QueueConfig {
    match own {
        own if !is_leaf(own) => LARGE_BUFFER,
        // tc has no limit in time.
        QueueConfig::DropTail(time) => QueueConfig::Bfifo(rate.bytes_in(*time)),
        own => own.clone(),
    }
}

/// Whether packets of a class can wait in it.
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
    fn the_trees_of_the_thesis_are_among_them() {
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
    fn what_is_printed_for_a_device_reads_back_whatever_it_is() {
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
