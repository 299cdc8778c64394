//! One direction of a wired access: random loss, then a queue, then the server, then propagation.

use crate::accounting::{Accounting, Count, DropCounts};
use crate::config::{Change, LineConfig};
use crate::impair::{Jitter, Loss};
use crate::link::{DelayLine, Server};
use crate::packet::{DropReason, Packet};
use crate::queue::{Drops, Queue, Streams};
use crate::schedule::Schedule;
use units::{Bitrate, Duration, Seed, Time};

/// Told of what a line does with packets.
pub(crate) trait Watch: Drops {
    /// A packet left the queue for the server, having waited so long.
    fn departed(&mut self, packet: &Packet, sojourn: Duration);
}

/// One direction of a wired access. What it shows is the truth; it is for records, never for
/// controllers.
pub struct Line {
    loss: Loss,
    queue: Queue,
    /// The queue holds packets back by itself: it is asked on a line without a rate too.
    shapes: bool,
    server: Server,
    delay: Schedule<Duration>,
    jitter: Jitter,
    pipe: DelayLine,
    entered: Count,
    left: Count,
    dropped: DropCounts,
    /// How long the newest packet to leave the queue had waited.
    sojourn: Duration,
    /// Streams for changed random elements: of the run, by the line's name and how many were
    /// changed before.
    streams: Streams,
    changes: u32,
}

impl Line {
    pub(crate) fn new(config: &LineConfig, seed: Seed, name: &str) -> Self {
        let server = Server::new(&config.rate);
        let mut queue = Queue::new(&config.queue, &Streams::new(seed, &format!("{name}.queue")));
        queue.set_rate(server.first_rate().unwrap_or(Bitrate::MAX));
        Self {
            loss: Loss::new(&config.loss, seed.stream(&format!("{name}.loss"))),
            queue,
            shapes: config.queue.shapes(),
            server,
            delay: config.delay.clone(),
            jitter: Jitter::new(&config.jitter, seed.stream(&format!("{name}.jitter"))),
            pipe: DelayLine::default(),
            entered: Count::default(),
            left: Count::default(),
            dropped: DropCounts::default(),
            sojourn: Duration::ZERO,
            streams: Streams::new(seed, &format!("{name}.loss")),
            changes: 0,
        }
    }

    /// Changes what holds for the line from now on.
    pub(crate) fn change(&mut self, now: Time, change: Change, watch: &mut impl Watch) {
        match change {
            Change::Rate(rate) => {
                self.server.set_rate(now, rate);
                self.tell_rate(now);
                if self.server.is_idle() {
                    self.serve(now, watch);
                }
            }
            Change::Delay(delay) => self.delay = Schedule::constant(delay),
            Change::Loss(loss) => {
                self.changes += 1;
                self.loss = Loss::new(&loss, self.streams.within(&self.changes.to_string()).own());
            }
        }
    }

    /// Takes in a packet. Returns it if it passes at once.
    pub(crate) fn enter(
        &mut self,
        now: Time,
        packet: Packet,
        watch: &mut impl Watch,
    ) -> Option<Packet> {
        self.entered.count(&packet);
        if self.loss.loses(now) {
            self.dropped.add(&packet, DropReason::RandomLoss);
            watch.drop(packet, DropReason::RandomLoss);
            return None;
        }
        if self.server.is_unlimited() && !self.shapes && !self.waits() {
            return self.propagate(now, packet);
        }
        self.tell_rate(now);
        self.queue.enqueue(now, packet, &mut Counted { dropped: &mut self.dropped, drops: watch });
        if self.server.is_idle() {
            self.serve(now, watch);
        }
        None
    }

    /// Whether a packet is being sent or waits to be.
    fn waits(&self) -> bool {
        !self.server.is_idle() || self.queue.packets() > 0
    }

    /// Tells the queue the rate in force, if it wants to know.
    fn tell_rate(&mut self, now: Time) {
        if self.queue.uses_rate()
            && let Some(rate) = self.server.rate(now)
        {
            self.queue.set_rate(rate);
        }
    }

    /// Lets the idle server take the next packet, if one can be had.
    fn serve(&mut self, now: Time, watch: &mut impl Watch) {
        let mut counted = Counted { dropped: &mut self.dropped, drops: watch };
        if let Some((packet, sojourn)) = self.queue.dequeue(now, &mut counted) {
            self.sojourn = sojourn;
            watch.departed(&packet, sojourn);
            self.server.start(now, packet);
        } else {
            self.server.rest();
        }
    }

    /// Puts a packet on the line; returns it if it arrives at once.
    fn propagate(&mut self, now: Time, packet: Packet) -> Option<Packet> {
        let delay = self.delay.at(now);
        if self.jitter.is_none() && self.pipe.passes(now, delay) {
            self.left.count(&packet);
            return Some(packet);
        }
        let delay = delay + self.jitter.draw();
        self.pipe.push(now, delay, packet);
        None
    }

    /// When the server has something to do: a packet has been sent, the rate changes, or a packet
    /// can be had.
    pub(crate) fn server_due(&self, now: Time) -> Option<Time> {
        if self.server.is_idle() { self.queue.next_ready(now) } else { self.server.due() }
    }

    /// When the next packet arrives.
    pub(crate) fn pipe_due(&self) -> Option<Time> {
        self.pipe.next()
    }

    /// Does what the server has to do now; returns a packet that arrives at once.
    pub(crate) fn advance_server(&mut self, now: Time, watch: &mut impl Watch) -> Option<Packet> {
        if self.server.is_idle() {
            self.serve(now, watch);
            return None;
        }
        let sent = self.server.advance(now)?;
        self.serve(now, watch);
        self.propagate(now, sent)
    }

    /// The packet that arrives now.
    pub(crate) fn advance_pipe(&mut self, now: Time) -> Option<Packet> {
        let packet = self.pipe.pop(now)?;
        self.left.count(&packet);
        Some(packet)
    }

    /// What waits: the packet that is being sent and those in propagation do not count.
    #[must_use]
    pub fn queued(&self) -> Count {
        Count { packets: self.queue.packets() as u64, bytes: self.queue.bytes() }
    }

    /// The rate in force; `None` where nothing limits it. Of a trace's opportunities, the mean over
    /// the second around `now`.
    #[must_use]
    pub fn rate(&self, now: Time) -> Option<Bitrate> {
        self.server.rate(now)
    }

    /// How long the packet has waited that has waited longest; zero when none waits.
    #[must_use]
    pub fn head_sojourn(&self, now: Time) -> Duration {
        self.queue.oldest().map_or(Duration::ZERO, |came| now.saturating_since(came))
    }

    /// How long the newest packet to leave the queue had waited.
    #[must_use]
    pub fn last_sojourn(&self) -> Duration {
        self.sojourn
    }

    /// What was dropped here for this reason.
    #[must_use]
    pub fn dropped(&self, reason: DropReason) -> Count {
        self.dropped.of(reason)
    }

    /// Every packet that ever came in.
    #[must_use]
    pub fn accounting(&self) -> Accounting {
        let sending =
            Count { packets: u64::from(!self.server.is_idle()), bytes: self.server.bytes() };
        let propagating = Count { packets: self.pipe.packets() as u64, bytes: self.pipe.bytes() };
        Accounting {
            entered: self.entered,
            left: self.left,
            dropped: self.dropped.total(),
            held: self.queued() + sending + propagating,
        }
    }

    /// Shows the truth about the line, by name: rates in bit/s, times in seconds, sizes in bytes.
    pub fn show(&self, now: Time, sink: &mut dyn FnMut(&'static str, f64)) {
        let dropped = self.dropped.total();
        sink("rate", self.server.rate(now).map_or(f64::INFINITY, Bitrate::as_bps_f64));
        sink("queuedBytes", self.queue.bytes().get() as f64);
        sink("queuedPackets", self.queue.packets() as f64);
        sink("queueDelay", if self.waits() { self.sojourn.as_secs_f64() } else { 0.0 });
        sink("bytesIn", self.entered.bytes.get() as f64);
        sink("bytesOut", self.left.bytes.get() as f64);
        sink("packetsIn", self.entered.packets as f64);
        sink("packetsOut", self.left.packets as f64);
        sink("packetsDropped", dropped.packets as f64);
        sink("bytesDropped", dropped.bytes.get() as f64);
    }
}

/// Counts the queue's drops on their way out.
struct Counted<'a, D> {
    dropped: &'a mut DropCounts,
    drops: &'a mut D,
}

impl<D: Drops> Drops for Counted<'_, D> {
    fn drop(&mut self, packet: Packet, reason: DropReason) {
        self.dropped.add(&packet, reason);
        self.drops.drop(packet, reason);
    }
}
