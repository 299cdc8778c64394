//! Token bucket filter: a rate and a burst (tc-tbf; Linux `net/sched/sch_tbf.c`).
//!
//! Tokens are a time: a packet costs its transmission time at the rate, and the depth of the bucket
//! is the transmission time of a burst. Sizes are those of IP packets, without a link's header.

use super::QueueConfig;
use super::error::QueueConfigError;
use super::tc_units::Printed;
use super::words::Words;
use super::{Drops, Queue, QueueDiscipline, Streams};
use crate::packet::{DropReason, Packet};
use crate::serialisation::time_for;
use std::fmt;
use units::{Bitrate, Bytes, Duration, Time};

/// TBF's parameters.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct TbfConfig {
    /// The rate.
    pub rate: Bitrate,
    /// The bytes that may leave at once. A larger packet is dropped.
    pub burst: Bytes,
    /// The most bytes in the queue, unless there is a `child`.
    pub limit: Bytes,
    /// A second bucket: rate and burst (tc's `peakrate` and `mtu`).
    pub peak: Option<(Bitrate, Bytes)>,
    /// The queue of the packets; `None`: a bfifo of `limit` bytes.
    pub child: Option<QueueConfig>,
}

pub(super) const USAGE: &str =
    "tbf rate RATE burst BYTES limit BYTES|latency TIME [peakrate RATE mtu BYTES]";

impl TbfConfig {
    /// The most bytes that can wait in the queue; `None` if its child has no limit.
    pub(super) fn buffer(&self) -> Option<Bytes> {
        match &self.child {
            Some(child) => child.buffer(Some(self.rate)),
            None => Some(self.limit),
        }
    }

    pub(super) fn read(mut words: Words<'_>) -> Result<Self, QueueConfigError> {
        let (mut rate, mut burst, mut limit, mut latency) = (None, None, None, None);
        let (mut peakrate, mut mtu) = (None, None);
        while let Some(key) = words.key() {
            match key {
                "rate" => rate = Some(words.rate(key)?),
                "burst" | "buffer" | "maxburst" => burst = Some(words.bytes(key)?),
                "limit" => limit = Some(words.bytes(key)?),
                "latency" => latency = Some(words.time(key)?),
                "peakrate" => peakrate = Some(words.rate(key)?),
                "mtu" | "minburst" => mtu = Some(words.bytes(key)?),
                _ => return Err(words.unknown(key)),
            }
        }
        let (Some(rate), Some(burst)) = (rate, burst) else {
            return Err(words.wrong("'rate' and 'burst' are both needed"));
        };
        let peak = match (peakrate, mtu) {
            (None, _) => None,
            (Some(peakrate), Some(mtu)) if peakrate > rate => Some((peakrate, mtu)),
            (Some(_), Some(_)) => return Err(words.wrong("'peakrate' is above 'rate'")),
            (Some(_), None) => return Err(words.wrong("'peakrate' needs 'mtu'")),
        };
        let limit = match (limit, latency) {
            (Some(limit), None) => limit,
            (None, Some(latency)) => {
                let within = |rate: Bitrate, burst| rate.bytes_in(latency) + burst;
                let limit = within(rate, burst);
                peak.map_or(limit, |(rate, mtu)| limit.min(within(rate, mtu)))
            }
            _ => return Err(words.wrong("one of 'limit' and 'latency' is needed")),
        };
        Ok(Self { rate, burst, limit, peak, child: None })
    }
}

impl fmt::Display for TbfConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rate, burst, limit, peak, .. } = self;
        write!(
            f,
            "tbf rate {} burst {} limit {}",
            Printed(*rate),
            Printed(*burst),
            Printed(*limit)
        )?;
        match peak {
            Some((rate, mtu)) => write!(f, " peakrate {} mtu {}", Printed(*rate), Printed(*mtu)),
            None => Ok(()),
        }
    }
}

/// A bucket of tokens.
struct Bucket {
    rate: Bitrate,
    depth: u64,
    /// Tokens at the checkpoint, ns.
    tokens: u64,
}

impl Bucket {
    fn new(rate: Bitrate, burst: Bytes) -> Self {
        let depth = cost(rate, burst);
        Self { rate, depth, tokens: depth }
    }

    /// Tokens at `since` after the checkpoint.
    fn after(&self, since: Duration) -> u64 {
        self.tokens.saturating_add(since.as_nanos()).min(self.depth)
    }

    /// Time from the checkpoint until there are enough tokens for a packet.
    fn wait(&self, size: Bytes) -> Duration {
        Duration::from_nanos(cost(self.rate, size).saturating_sub(self.tokens))
    }
}

/// The cost of a packet: its transmission time at the rate, in ns.
pub(super) fn cost(rate: Bitrate, size: Bytes) -> u64 {
    time_for(u128::from(size.bits()) * 1_000_000_000, rate).map_or(u64::MAX, Duration::as_nanos)
}

/// TBF.
pub(crate) struct Tbf {
    child: Box<Queue>,
    buckets: [Option<Bucket>; 2],
    /// The largest packet that can pass.
    largest: Bytes,
    checkpoint: Time,
    /// The next packet and its arrival time, if the child cannot tell the packet's size before it
    /// is dequeued.
    next: Option<(Time, Packet)>,
}

impl Tbf {
    pub(crate) fn new(config: &TbfConfig, streams: &Streams) -> Self {
        let bfifo = QueueConfig::Bfifo(config.limit);
        let child = Queue::new(config.child.as_ref().unwrap_or(&bfifo), &streams.within("1"));
        let peak = config.peak.map(|(rate, mtu)| Bucket::new(rate, mtu));
        Self {
            child: Box::new(child),
            largest: config.peak.map_or(config.burst, |(_, mtu)| mtu.min(config.burst)),
            buckets: [Some(Bucket::new(config.rate, config.burst)), peak],
            checkpoint: Time::ZERO,
            next: None,
        }
    }

    /// The size of the next packet; `None` if there is none or the size is unknown.
    fn next_size(&self) -> Option<Bytes> {
        self.next.map(|(_, packet)| packet.size).or_else(|| self.child.head())
    }

    /// Earliest time at which a packet of this size may leave.
    fn allowed(&self, size: Bytes) -> Time {
        let waits = self.buckets.iter().flatten().map(|bucket| bucket.wait(size));
        self.checkpoint + waits.max().unwrap_or(Duration::ZERO)
    }
}

impl QueueDiscipline for Tbf {
    fn enqueue(&mut self, now: Time, packet: Packet, drops: &mut impl Drops) {
        if packet.size > self.largest {
            drops.drop(packet, DropReason::QueueFull);
        } else {
            self.child.enqueue(now, packet, drops);
        }
    }

    fn dequeue(&mut self, now: Time, drops: &mut impl Drops) -> Option<(Packet, Duration)> {
        if self.next_size().is_none() {
            let (packet, sojourn) = self.child.dequeue(now, drops)?;
            let came = Time::from_nanos(now.as_nanos().saturating_sub(sojourn.as_nanos()));
            self.next = Some((came, packet));
        }
        let size = self.next_size()?;
        if self.allowed(size) > now {
            return None;
        }
        let since = now.saturating_since(self.checkpoint);
        for bucket in self.buckets.iter_mut().flatten() {
            bucket.tokens = bucket.after(since) - cost(bucket.rate, size);
        }
        self.checkpoint = now;
        match self.next.take() {
            Some((came, packet)) => Some((packet, now.saturating_since(came))),
            None => self.child.dequeue(now, drops),
        }
    }

    fn next_ready(&self, now: Time) -> Option<Time> {
        match self.next_size() {
            Some(size) => Some(self.allowed(size).max(now)),
            None => self.child.next_ready(now),
        }
    }

    fn oldest(&self) -> Option<Time> {
        let next = self.next.map(|(came, _)| came);
        next.into_iter().chain(self.child.oldest()).min()
    }

    fn packets(&self) -> usize {
        self.child.packets() + usize::from(self.next.is_some())
    }

    fn bytes(&self) -> Bytes {
        self.child.bytes() + self.next.map_or(Bytes::ZERO, |(_, packet)| packet.size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Seed;

    /// Queues packets of these sizes at once. Returns the departure times in µs and the number of
    /// drops.
    fn leaves(words: &str, sizes: &[u64]) -> (Vec<u64>, usize) {
        let config = words.parse::<QueueConfig>().unwrap();
        let mut queue = Queue::new(&config, &Streams::new(Seed(1), "queue"));
        let mut drops = Vec::new();
        for &size in sizes {
            queue.enqueue(
                Time::ZERO,
                Packet { size: Bytes::new(size), ..Packet::default() },
                &mut drops,
            );
        }
        let (mut now, mut left) = (Time::ZERO, Vec::new());
        while let Some(at) = queue.next_ready(now) {
            now = at;
            left.extend(queue.dequeue(now, &mut drops).map(|_| now.as_nanos() / 1_000));
        }
        (left, drops.len())
    }

    #[test]
    fn a_burst_leaves_at_once_and_the_rest_at_the_rate() {
        let (left, dropped) = leaves("tbf rate 1Mbit burst 3000 limit 100000", &[1_000; 6]);
        assert_eq!((left, dropped), (vec![0, 0, 0, 8_000, 16_000, 24_000], 0));
        // At the peak rate of 2 Mbit/s a packet of 1000 B takes 4 ms.
        let peak = "tbf rate 1Mbit burst 3000 limit 100000 peakrate 2Mbit mtu 1000";
        assert_eq!(leaves(peak, &[1_000; 6]).0, [0, 4_000, 8_000, 12_000, 16_000, 24_000]);
    }

    #[test]
    fn nested_buckets_send_at_the_lower_rate() {
        let script = "tc qdisc add dev x root handle 1: tbf rate 1100kbit burst 1540 limit 9000
            tc qdisc add dev x parent 1: tbf rate 1mbit burst 1540 limit 9000";
        let (left, dropped) = leaves(script, &[1_000; 9]);
        assert_eq!((left.last(), dropped), (Some(&(8 * 8_000 - 540 * 8)), 0), "{left:?}");
    }

    #[test]
    fn packets_that_do_not_fit_are_dropped() {
        assert_eq!(
            leaves("tbf rate 1Mbit burst 1500 limit 2000", &[1_000, 1_501, 1_000, 1_000]).1,
            2
        );
        let config = "tbf rate 1Mbit burst 1000 latency 16ms".parse::<QueueConfig>().unwrap();
        assert_eq!(
            config.to_string(),
            "tbf rate 1Mbit burst 1000 limit 3000",
            "the bytes of 16 ms at the rate, and the burst"
        );
    }
}
