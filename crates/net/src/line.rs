//! One direction of a wired access: random loss, then a queue, then the server, then propagation.

use crate::config::LineConfig;
use crate::impair::{Jitter, Loss};
use crate::link::{DelayLine, Server};
use crate::packet::{DropReason, Packet};
use crate::queue::{Drops, Queue};
use crate::schedule::Schedule;
use units::{Bitrate, Bytes, Duration, Seed, Time};

/// Packets that came, went, were dropped, and are held: in = out + dropped + held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Accounting {
    /// Packets that came in.
    pub packets_in: u64,
    /// Packets that went out.
    pub packets_out: u64,
    /// Packets dropped.
    pub packets_dropped: u64,
    /// Packets inside now.
    pub packets_held: u64,
}

impl Accounting {
    /// Whether every packet is accounted for.
    #[must_use]
    pub fn balances(&self) -> bool {
        self.packets_in == self.packets_out + self.packets_dropped + self.packets_held
    }
}

/// One direction of a wired access.
pub struct Line {
    loss: Loss,
    queue: Queue,
    server: Server,
    delay: Schedule<Duration>,
    jitter: Jitter,
    pipe: DelayLine,
    counted: Counted,
    /// How long the newest packet to leave the queue had waited.
    sojourn: Duration,
}

#[derive(Default)]
struct Counted {
    packets_in: u64,
    bytes_in: Bytes,
    packets_out: u64,
    bytes_out: Bytes,
    packets_dropped: u64,
    bytes_dropped: Bytes,
}

impl Line {
    pub(crate) fn new(config: &LineConfig, seed: Seed, name: &str) -> Self {
        let server = Server::new(&config.rate);
        let mut queue = Queue::new(&config.queue);
        queue.set_rate(server.rate(Time::ZERO).unwrap_or(Bitrate::MAX));
        Self {
            loss: Loss::new(&config.loss, seed.stream(&format!("{name}.loss"))),
            queue,
            server,
            delay: config.delay.clone(),
            jitter: Jitter::new(&config.jitter, seed.stream(&format!("{name}.jitter"))),
            pipe: DelayLine::default(),
            counted: Counted::default(),
            sojourn: Duration::ZERO,
        }
    }

    /// Takes in a packet. Returns it if it passes at once.
    pub(crate) fn enter(&mut self, now: Time, packet: Packet, drops: &mut impl Drops) -> Option<Packet> {
        self.counted.packets_in += 1;
        self.counted.bytes_in += packet.size;
        if self.loss.loses(now) {
            self.counted.drop(&packet);
            drops.drop(packet, DropReason::RandomLoss);
            return None;
        }
        if self.server.is_unlimited() {
            return self.propagate(now, packet);
        }
        if let Some(rate) = self.server.rate(now) {
            self.queue.set_rate(rate);
        }
        let mut watched = Watched { counted: &mut self.counted, drops };
        self.queue.enqueue(now, packet, &mut watched);
        self.serve(now, drops);
        None
    }

    /// Lets the server take the next packet, if it is idle and there is one.
    fn serve(&mut self, now: Time, drops: &mut impl Drops) {
        if self.server.is_idle() && self.queue.next_ready(now).is_some_and(|at| at <= now) {
            let mut watched = Watched { counted: &mut self.counted, drops };
            if let Some((packet, sojourn)) = self.queue.dequeue(now, &mut watched) {
                self.sojourn = sojourn;
                self.server.start(now, packet);
            }
        }
    }

    /// Puts a packet on the line; returns it if it arrives at once.
    fn propagate(&mut self, now: Time, packet: Packet) -> Option<Packet> {
        let delay = self.delay.at(now);
        if self.jitter.is_none() && self.pipe.passes(now, delay) {
            return Some(self.leave(packet));
        }
        let delay = delay + self.jitter.draw();
        self.pipe.push(now, delay, packet);
        None
    }

    fn leave(&mut self, packet: Packet) -> Packet {
        self.counted.packets_out += 1;
        self.counted.bytes_out += packet.size;
        packet
    }

    /// When something is due: a packet arrives, has been sent, or can be had from the queue.
    pub(crate) fn next_wake(&self, now: Time) -> Option<Time> {
        let ready = if self.server.is_idle() && !self.server.is_unlimited() {
            self.queue.next_ready(now)
        } else {
            None
        };
        [self.pipe.next(), self.server.due(), ready].into_iter().flatten().min()
    }

    /// Does the next thing that is due now; returns a packet that arrives. Call until [`Line::next_wake`] is later.
    pub(crate) fn advance(&mut self, now: Time, drops: &mut impl Drops) -> Option<Packet> {
        if let Some(packet) = self.pipe.pop(now) {
            return Some(self.leave(packet));
        }
        if self.server.due().is_some_and(|due| due <= now) {
            let sent = self.server.advance(now);
            self.serve(now, drops);
            return sent.and_then(|packet| self.propagate(now, packet));
        }
        self.serve(now, drops);
        None
    }

    /// Every packet that ever came in.
    #[must_use]
    pub fn accounting(&self) -> Accounting {
        let held = self.queue.packets() + usize::from(!self.server.is_idle()) + self.pipe.held();
        Accounting {
            packets_in: self.counted.packets_in,
            packets_out: self.counted.packets_out,
            packets_dropped: self.counted.packets_dropped,
            packets_held: held as u64,
        }
    }

    /// Shows the truth about the line, by name: rates in bit/s, times in seconds, sizes in bytes.
    pub fn show(&self, now: Time, sink: &mut dyn FnMut(&'static str, f64)) {
        sink("rate", self.server.rate(now).map_or(f64::INFINITY, Bitrate::as_bps_f64));
        sink("queuedBytes", self.queue.bytes().get() as f64);
        sink("queuedPackets", self.queue.packets() as f64);
        let waits = !self.server.is_idle() || self.queue.packets() > 0;
        sink("queueDelay", if waits { self.sojourn.as_secs_f64() } else { 0.0 });
        sink("bytesIn", self.counted.bytes_in.get() as f64);
        sink("bytesOut", self.counted.bytes_out.get() as f64);
        sink("packetsIn", self.counted.packets_in as f64);
        sink("packetsOut", self.counted.packets_out as f64);
        sink("packetsDropped", self.counted.packets_dropped as f64);
        sink("bytesDropped", self.counted.bytes_dropped.get() as f64);
    }
}

impl Counted {
    fn drop(&mut self, packet: &Packet) {
        self.packets_dropped += 1;
        self.bytes_dropped += packet.size;
    }
}

/// Counts drops on their way out.
struct Watched<'a, D> {
    counted: &'a mut Counted,
    drops: &'a mut D,
}

impl<D: Drops> Drops for Watched<'_, D> {
    fn drop(&mut self, packet: Packet, reason: DropReason) {
        self.counted.drop(&packet);
        self.drops.drop(packet, reason);
    }
}
