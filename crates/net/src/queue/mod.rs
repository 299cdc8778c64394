//! Queue disciplines: where packets wait for a line. Each is one file and one line in [`tc`].

mod cake;
mod codel;
mod droptail;
mod dualpi2;
mod error;
mod fifo;
mod filter;
mod fq_codel;
mod hash;
mod htb;
mod pie;
mod red;
mod script;
mod sfq;
mod tbf;
mod tc;
mod tc_units;
mod words;

pub use cake::{CakeClasses, CakeConfig, CakeFraming, CakeIsolation};
pub use codel::{CeSelector, CodelConfig, CodelParameters};
pub use dualpi2::{DualPi2Config, StepThreshold};
pub use error::{ParameterError, QueueConfigError};
pub use filter::{Field, Filter, Match};
pub use fq_codel::FqCodelConfig;
pub use htb::{HtbClass, HtbConfig};
pub use pie::PieConfig;
pub use red::RedConfig;
pub use sfq::SfqConfig;
pub use tbf::TbfConfig;

use crate::packet::{DropReason, Ecn, Packet};
use cake::Cake;
use codel::CodelQueue;
use droptail::{DropTail, Limit};
use dualpi2::DualPi2;
use fq_codel::FqCodel;
use htb::Htb;
use pie::Pie;
use red::Red;
use sfq::Sfq;
use tbf::Tbf;
use units::{Bitrate, Bytes, Duration, Seed, Stream, Time};

/// A queue discipline and its parameters. Parses and prints the syntax of tc; `droptail`, which tc
/// does not have, is a FIFO whose limit is a time at the line's rate (`150ms`), bytes (`125kB`) or
/// packets (`100p`). A discipline with classes or a child is written as a script of `tc` commands.
///
/// ```
/// use net::QueueConfig;
///
/// let script = "tc qdisc add dev eth0 root handle 1: htb default 20
/// tc class add dev eth0 parent 1: classid 1:10 htb rate 204kbit ceil 1mbit prio 0
/// tc class add dev eth0 parent 1: classid 1:20 htb rate 8bit ceil 1mbit prio 1
/// tc filter add dev eth0 parent 1: protocol ip prio 1 u32 match ip dsfield 0x88 0xfc flowid 1:10";
/// let QueueConfig::Htb(htb) = script.parse()? else { unreachable!() };
/// assert_eq!(htb.classes.len(), 2);
/// # Ok::<(), net::QueueConfigError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum QueueConfig {
    /// tc-pfifo: a limit in packets.
    Pfifo(u64),
    /// tc-bfifo: a limit in bytes.
    Bfifo(Bytes),
    /// droptail: the bytes that the line sends in this time.
    DropTail(Duration),
    /// tc-codel.
    Codel(CodelConfig),
    /// tc-fq_codel.
    FqCodel(FqCodelConfig),
    /// tc-pie.
    Pie(PieConfig),
    /// tc-red.
    Red(RedConfig),
    /// tc-sfq.
    Sfq(SfqConfig),
    /// tc-dualpi2.
    DualPi2(DualPi2Config),
    /// tc-cake.
    Cake(CakeConfig),
    /// tc-tbf.
    Tbf(Box<TbfConfig>),
    /// tc-htb.
    Htb(Box<HtbConfig>),
    /// A FIFO without limit: nothing is dropped.
    #[default]
    Unlimited,
}

impl QueueConfig {
    /// The names of the disciplines, for suggestions.
    pub const DISCIPLINES: [&str; 13] = [
        "pfifo",
        "bfifo",
        "droptail",
        "codel",
        "fq_codel",
        "pie",
        "red",
        "sfq",
        "dualpi2",
        "cake",
        "tbf",
        "htb",
        "unlimited",
    ];

    /// The most bytes that a flow can have waiting in the queue; in a tree, in the smallest queue
    /// of a leaf. A limit in packets counts full-sized packets of 1500 bytes. `rate` is the line's,
    /// which a limit in time needs. `None`: the queue has no limit, or one in time and the rate is
    /// unknown or zero.
    #[must_use]
    pub fn buffer(&self, rate: Option<Bitrate>) -> Option<Bytes> {
        let limit = match self {
            Self::Pfifo(packets) => FULL_PACKET * *packets,
            Self::Bfifo(bytes) => *bytes,
            Self::DropTail(time) => rate?.bytes_in(*time),
            Self::Codel(config) => config.buffer(),
            Self::FqCodel(config) => config.buffer(),
            Self::Pie(config) => config.buffer(),
            Self::Red(config) => config.buffer(),
            Self::Sfq(config) => config.buffer(),
            Self::DualPi2(config) => config.buffer(),
            Self::Cake(config) => config.buffer(),
            Self::Tbf(config) => config.buffer()?,
            Self::Htb(config) => config.buffer()?,
            Self::Unlimited => return None,
        };
        // With a rate of zero at first, a limit in time says nothing about the buffer.
        Some(limit).filter(|limit| *limit > Bytes::ZERO)
    }

    /// Whether the queue is a shaper: it limits the rate by itself, whatever the line could send.
    #[must_use]
    pub const fn shapes(&self) -> bool {
        matches!(
            self,
            Self::Tbf(_) | Self::Htb(_) | Self::Cake(CakeConfig { bandwidth: Some(_), .. })
        )
    }
}

/// What a packet counts as in a limit of packets when the limit is converted to bytes: a full-sized
/// IP packet of Ethernet.
pub(crate) const FULL_PACKET: Bytes = Bytes::new(1_500);

/// Receives every packet that a discipline drops.
pub(crate) trait Drops {
    fn drop(&mut self, packet: Packet, reason: DropReason);
}

impl Drops for Vec<(Packet, DropReason)> {
    fn drop(&mut self, packet: Packet, reason: DropReason) {
        self.push((packet, reason));
    }
}

/// A queue discipline.
pub(crate) trait QueueDiscipline {
    /// Queues a packet. `drops` receives the packets that are dropped: this one or others.
    fn enqueue(&mut self, now: Time, packet: Packet, drops: &mut impl Drops);
    /// Removes the next packet; returns it and how long it waited. `None` if no packet may leave at
    /// `now`.
    fn dequeue(&mut self, now: Time, drops: &mut impl Drops) -> Option<(Packet, Duration)>;
    /// Earliest time at which [`dequeue`](Self::dequeue) can succeed; `None` if the queue is empty.
    /// Work-conserving queues return `now`.
    fn next_ready(&self, now: Time) -> Option<Time> {
        (self.packets() > 0).then_some(now)
    }
    /// Whether the discipline depends on the line's rate.
    fn uses_rate(&self) -> bool {
        false
    }
    /// Sets the line's rate, for disciplines that depend on it.
    fn set_rate(&mut self, _: Bitrate) {}
    /// The size of the next packet; `None` if the queue is empty, or if the discipline decides only
    /// in [`dequeue`](Self::dequeue) which packet leaves.
    fn head(&self) -> Option<Bytes> {
        None
    }
    /// Arrival time of the packet that has waited longest; `None` if the queue is empty.
    fn oldest(&self) -> Option<Time>;
    /// The number of waiting packets.
    fn packets(&self) -> usize;
    /// The bytes of the waiting packets.
    fn bytes(&self) -> Bytes;
}

/// Sets the CE mark on an ECN-capable packet (RFC 3168 § 5); returns whether the packet is
/// ECN-capable.
fn mark(packet: &mut Packet) -> bool {
    let capable = packet.ecn != Ecn::NotEct;
    if capable {
        packet.ecn = Ecn::Ce;
    }
    capable
}

/// The random streams of a queue and of the queues within it, by name.
pub(crate) struct Streams {
    seed: Seed,
    name: String,
}

impl Streams {
    pub(crate) fn new(seed: Seed, name: &str) -> Self {
        Self { seed, name: name.to_owned() }
    }

    /// The queue's stream.
    pub(crate) fn own(&self) -> Stream {
        self.seed.stream(&self.name)
    }

    /// The streams of a queue within it: `alice.up.queue.10`.
    pub(crate) fn within(&self, name: &str) -> Self {
        Self { seed: self.seed, name: format!("{}.{name}", self.name) }
    }
}

/// A queue of any discipline.
pub(crate) enum Queue {
    DropTail(DropTail),
    Codel(CodelQueue),
    FqCodel(FqCodel),
    Pie(Box<Pie>),
    Red(Box<Red>),
    Sfq(Box<Sfq>),
    DualPi2(Box<DualPi2>),
    Cake(Box<Cake>),
    Tbf(Box<Tbf>),
    Htb(Box<Htb>),
}

/// Calls a method of whichever discipline it is: one line per discipline.
macro_rules! each {
    ($queue:expr, $name:ident => $call:expr) => {
        match $queue {
            Queue::DropTail($name) => $call,
            Queue::Codel($name) => $call,
            Queue::FqCodel($name) => $call,
            Queue::Pie($name) => $call,
            Queue::Red($name) => $call,
            Queue::Sfq($name) => $call,
            Queue::DualPi2($name) => $call,
            Queue::Cake($name) => $call,
            Queue::Tbf($name) => $call,
            Queue::Htb($name) => $call,
        }
    };
}

impl Queue {
    pub(crate) fn new(config: &QueueConfig, streams: &Streams) -> Self {
        let droptail = |limit| Self::DropTail(DropTail::new(limit));
        match config {
            QueueConfig::Pfifo(packets) => droptail(Limit::Packets(*packets)),
            QueueConfig::Bfifo(bytes) => droptail(Limit::Bytes(*bytes)),
            QueueConfig::DropTail(time) => droptail(Limit::Time(*time)),
            QueueConfig::Unlimited => droptail(Limit::Unlimited),
            QueueConfig::Codel(config) => Self::Codel(CodelQueue::new(config)),
            QueueConfig::FqCodel(config) => Self::FqCodel(FqCodel::new(config, streams.own())),
            QueueConfig::Pie(config) => Self::Pie(Box::new(Pie::new(config, streams.own()))),
            QueueConfig::Red(config) => Self::Red(Box::new(Red::new(config, streams.own()))),
            QueueConfig::Sfq(config) => Self::Sfq(Box::new(Sfq::new(config, streams.own()))),
            QueueConfig::DualPi2(config) => {
                Self::DualPi2(Box::new(DualPi2::new(config, streams.own())))
            }
            QueueConfig::Cake(config) => Self::Cake(Box::new(Cake::new(config, streams.own()))),
            QueueConfig::Tbf(config) => Self::Tbf(Box::new(Tbf::new(config, streams))),
            QueueConfig::Htb(config) => Self::Htb(Box::new(Htb::new(config, streams))),
        }
    }

    pub(crate) fn enqueue(&mut self, now: Time, packet: Packet, drops: &mut impl Drops) {
        each!(self, queue => queue.enqueue(now, packet, drops));
    }

    pub(crate) fn dequeue(
        &mut self,
        now: Time,
        drops: &mut impl Drops,
    ) -> Option<(Packet, Duration)> {
        each!(self, queue => queue.dequeue(now, drops))
    }

    pub(crate) fn next_ready(&self, now: Time) -> Option<Time> {
        each!(self, queue => queue.next_ready(now))
    }

    pub(crate) fn uses_rate(&self) -> bool {
        each!(self, queue => queue.uses_rate())
    }

    pub(crate) fn set_rate(&mut self, rate: Bitrate) {
        each!(self, queue => queue.set_rate(rate));
    }

    pub(crate) fn head(&self) -> Option<Bytes> {
        each!(self, queue => queue.head())
    }

    pub(crate) fn oldest(&self) -> Option<Time> {
        each!(self, queue => queue.oldest())
    }

    pub(crate) fn packets(&self) -> usize {
        each!(self, queue => queue.packets())
    }

    pub(crate) fn bytes(&self) -> Bytes {
        each!(self, queue => queue.bytes())
    }
}
