//! One direction of a wired access: random loss, then a queue, then the server or a token bucket,
//! then propagation; with a shaper of another device in front of the queue, or before propagation.

use crate::accounting::{Accounting, Count, DropCounts};
use crate::config::{Change, LineConfig, RateConfig};
use crate::impair::{Jitter, JitterConfig, Loss, LossConfig};
use crate::link::{Bucket, DelayLine, Server};
use crate::packet::{Direction, DropReason, Packet};
use crate::queue::{Drops, Queue, QueueConfig, Streams};
use crate::schedule::Schedule;
use units::{Bitrate, Bytes, Duration, Seed, Time};

/// Receives what a line does with packets.
pub(crate) trait Watch: Drops {
    /// A packet left the queue for the server after `sojourn`.
    fn departed(&mut self, packet: &Packet, sojourn: Duration);
}

/// One direction of a wired access. Its state is for records; controllers must not see it.
pub struct Line {
    /// See [`Self::is_transparent`].
    is_transparent: bool,
    loss: Loss,
    shaper: Option<Shaper>,
    queue: Queue,
    /// Whether the queue is a shaper: then packets wait even on a line of unlimited rate.
    shapes: bool,
    /// Sends the packets, and knows the rate. It sends none if there is a bucket.
    server: Server,
    bucket: Option<Bucket>,
    /// A packet that left the queue and waits for tokens, and when it came. Only from a discipline
    /// that cannot tell the size of the next packet.
    waiting: Option<(Time, Packet)>,
    delay: Schedule<Duration>,
    jitter: Jitter,
    pipe: DelayLine,
    entered: Count,
    left: Count,
    dropped: DropCounts,
    /// The sojourn time of the packet that left the queue last.
    sojourn: Duration,
    /// Streams of replaced random elements, named after the line and the number of changes before.
    streams: Streams,
    changes: u32,
}

impl Line {
    pub(crate) fn new(config: &LineConfig, direction: Direction, seed: Seed, name: &str) -> Self {
        let server = Server::new(&config.rate, config.overhead);
        let shaper = |config| Shaper::new(config, direction, seed, name);
        let mut queue = Queue::new(&config.queue, &Streams::new(seed, &format!("{name}.queue")));
        queue.set_rate(server.first_rate().unwrap_or(Bitrate::MAX));
        let LineConfig { rate, delay, jitter, loss, queue: discipline, .. } = config;
        let is_transparent = matches!(rate, RateConfig::Unlimited)
            && !discipline.shapes()
            && config.shaper.is_none()
            && *loss == LossConfig::None
            && *jitter == JitterConfig::None
            && delay.values().all(|delay| delay == Duration::ZERO);
        Self {
            is_transparent,
            loss: Loss::new(&config.loss, seed.stream(&format!("{name}.loss"))),
            shaper: config.shaper.as_ref().map(shaper),
            queue,
            shapes: config.queue.shapes(),
            server,
            bucket: config.burst.and_then(|burst| bucket(&config.rate, burst)),
            waiting: None,
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

    /// Whether every packet passes at once: the line has had no element that could hold or drop
    /// one.
    #[inline]
    pub(crate) fn is_transparent(&self) -> bool {
        self.is_transparent
    }

    /// A packet passes the [transparent](Self::is_transparent) line.
    #[inline]
    pub(crate) fn pass_through(&mut self, packet: &Packet) {
        self.entered.count(packet);
        self.left.count(packet);
    }

    /// Changes the line from now on.
    pub(crate) fn change(&mut self, now: Time, change: Change, watch: &mut impl Watch) {
        self.is_transparent = false;
        match change {
            Change::Rate(rate) => {
                if let (Some(bucket), RateConfig::Scheduled(rate)) = (&mut self.bucket, &rate) {
                    bucket.set_rate(now, rate.clone());
                }
                self.server.set_rate(now, rate);
                self.update_queue_rate(now);
                if self.server.is_idle() && self.bucket.is_none() {
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

    /// Lets a packet in. Returns it if it leaves at once.
    #[inline]
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
        if self.shaper.as_ref().is_some_and(|shaper| shaper.direction == Direction::Up) {
            return self.shape(now, packet, watch);
        }
        self.admit(now, packet, watch)
    }

    /// Lets a packet into the queue of the line. Returns it if it leaves at once.
    #[inline]
    fn admit(&mut self, now: Time, packet: Packet, watch: &mut impl Watch) -> Option<Packet> {
        if self.server.is_unlimited() && !self.shapes && !self.waits() {
            return self.sent(now, packet, watch);
        }
        self.update_queue_rate(now);
        let mut counted = Counted { dropped: &mut self.dropped, drops: watch };
        if self.bucket.as_ref().is_some_and(|bucket| !bucket.passes(packet.size)) {
            counted.drop(packet, DropReason::QueueFull);
            return None;
        }
        self.queue.enqueue(now, packet, &mut counted);
        if self.bucket.is_some() {
            let is_first = self.waiting.is_none() && self.queue.packets() == 1;
            return if is_first { self.pass(now, watch) } else { None };
        }
        if self.server.is_idle() {
            self.serve(now, watch);
        }
        None
    }

    /// Lets a packet into the shaper. Returns one that leaves at once.
    fn shape(&mut self, now: Time, packet: Packet, watch: &mut impl Watch) -> Option<Packet> {
        let shaper = self.shaper.as_mut()?;
        shaper.queue.enqueue(
            now,
            packet,
            &mut Counted { dropped: &mut self.dropped, drops: watch },
        );
        self.release(now, watch)
    }

    /// Lets the next packet leave the shaper, if one may; returns a packet that leaves the line at
    /// once.
    fn release(&mut self, now: Time, watch: &mut impl Watch) -> Option<Packet> {
        let shaper = self.shaper.as_mut()?;
        let mut counted = Counted { dropped: &mut self.dropped, drops: watch };
        let (packet, sojourn) = shaper.queue.dequeue(now, &mut counted)?;
        shaper.sojourn = sojourn;
        match shaper.direction {
            Direction::Up => self.admit(now, packet, watch),
            Direction::Down => self.propagate(now, packet),
        }
    }

    /// A packet has been sent: it passes a shaper behind the line, or propagates. Returns a packet
    /// that arrives at once.
    #[inline]
    fn sent(&mut self, now: Time, packet: Packet, watch: &mut impl Watch) -> Option<Packet> {
        if self.shaper.as_ref().is_some_and(|shaper| shaper.direction == Direction::Down) {
            return self.shape(now, packet, watch);
        }
        self.propagate(now, packet)
    }

    /// Whether a packet is in transmission or in the queue.
    #[inline]
    fn waits(&self) -> bool {
        !self.server.is_idle() || self.waiting.is_some() || self.queue.packets() > 0
    }

    /// Passes the current rate to the queue, if the discipline depends on it.
    #[inline]
    fn update_queue_rate(&mut self, now: Time) {
        if self.queue.uses_rate()
            && let Some(rate) = self.server.rate(now)
        {
            self.queue.set_rate(rate);
        }
    }

    /// Starts the transmission of the next packet on the idle server, if one may leave the queue.
    #[inline]
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

    /// Lets the next packet pass the bucket if there are tokens for it; returns it if it arrives at
    /// once.
    fn pass(&mut self, now: Time, watch: &mut impl Watch) -> Option<Packet> {
        if self.waiting.is_none() && self.queue.head().is_none() {
            let mut counted = Counted { dropped: &mut self.dropped, drops: watch };
            let (packet, sojourn) = self.queue.dequeue(now, &mut counted)?;
            let came = Time::from_nanos(now.as_nanos().saturating_sub(sojourn.as_nanos()));
            self.waiting = Some((came, packet));
        }
        let size = self.next_size()?;
        if !self.bucket.as_mut()?.take(now, size) {
            return None;
        }
        let (packet, sojourn) = match self.waiting.take() {
            Some((came, packet)) => (packet, now.saturating_since(came)),
            None => {
                let mut counted = Counted { dropped: &mut self.dropped, drops: watch };
                self.queue.dequeue(now, &mut counted)?
            }
        };
        self.sojourn = sojourn;
        watch.departed(&packet, sojourn);
        self.sent(now, packet, watch)
    }

    /// The size of the packet that leaves next; `None` if there is none, or the discipline cannot
    /// tell.
    fn next_size(&self) -> Option<Bytes> {
        self.waiting.map(|(_, packet)| packet.size).or_else(|| self.queue.head())
    }

    /// Starts the propagation of a packet; returns it if it arrives at once.
    #[inline]
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

    /// When [`Self::advance_server`] is due: a packet has been sent, the rate changes, or a packet
    /// may leave the queue.
    #[inline]
    pub(crate) fn server_due(&self, now: Time) -> Option<Time> {
        let line = self.line_due(now);
        match &self.shaper {
            None => line,
            Some(shaper) => {
                let due = shaper.queue.next_ready(now);
                line.into_iter().chain(due).min()
            }
        }
    }

    /// When the server, the bucket or the queue of the line itself has something to do.
    #[inline]
    fn line_due(&self, now: Time) -> Option<Time> {
        match (&self.bucket, self.next_size()) {
            (Some(bucket), Some(size)) => bucket.due(now, size),
            _ if self.server.is_idle() => self.queue.next_ready(now),
            _ => self.server.due(),
        }
    }

    /// When the next packet in propagation arrives.
    #[inline]
    pub(crate) fn pipe_due(&self) -> Option<Time> {
        self.pipe.next()
    }

    /// Performs the server's step that is due; returns a packet that arrives at once.
    #[inline]
    pub(crate) fn advance_server(&mut self, now: Time, watch: &mut impl Watch) -> Option<Packet> {
        if self.shaper.is_some() && self.line_due(now).is_none_or(|due| due > now) {
            return self.release(now, watch);
        }
        if self.bucket.is_some() {
            return self.pass(now, watch);
        }
        if self.server.is_idle() {
            self.serve(now, watch);
            return None;
        }
        let sent = self.server.advance(now)?;
        self.serve(now, watch);
        self.sent(now, sent, watch)
    }

    /// Removes the packet that arrives now; `None` if none does.
    #[inline]
    pub(crate) fn advance_pipe(&mut self, now: Time) -> Option<Packet> {
        let packet = self.pipe.pop(now)?;
        self.left.count(&packet);
        Some(packet)
    }

    /// The packets in the queue and in the shaper, without the one in transmission and those in
    /// propagation.
    #[must_use]
    pub fn queued(&self) -> Count {
        let of = |queue: &Queue| Count { packets: queue.packets() as u64, bytes: queue.bytes() };
        of(&self.queue) + self.shaper.as_ref().map(|shaper| of(&shaper.queue)).unwrap_or_default()
    }

    /// The current rate; `None` if it is unlimited. For a trace of opportunities, the mean over the
    /// second around `now`.
    #[must_use]
    pub fn rate(&self, now: Time) -> Option<Bitrate> {
        self.server.rate(now)
    }

    /// The sojourn time of the oldest packet in the queue, plus that in the shaper; zero if both
    /// are empty.
    #[must_use]
    pub fn head_sojourn(&self, now: Time) -> Duration {
        let of = |queue: &Queue| {
            queue.oldest().map_or(Duration::ZERO, |came| now.saturating_since(came))
        };
        of(&self.queue) + self.shaper.as_ref().map_or(Duration::ZERO, |shaper| of(&shaper.queue))
    }

    /// The sojourn time of the packet that left the queue last, plus that of the packet that left
    /// the shaper last.
    #[must_use]
    pub fn last_sojourn(&self) -> Duration {
        self.sojourn + self.shaper.as_ref().map_or(Duration::ZERO, |shaper| shaper.sojourn)
    }

    /// The packets dropped here for this reason.
    #[must_use]
    pub fn dropped(&self, reason: DropReason) -> Count {
        self.dropped.of(reason)
    }

    /// The counts of all packets so far.
    #[must_use]
    pub fn accounting(&self) -> Accounting {
        let waiting = self.waiting.map_or(Bytes::ZERO, |(_, packet)| packet.size);
        let sending = Count {
            packets: u64::from(!self.server.is_idle()) + u64::from(self.waiting.is_some()),
            bytes: self.server.bytes() + waiting,
        };
        let propagating = Count { packets: self.pipe.packets() as u64, bytes: self.pipe.bytes() };
        Accounting {
            entered: self.entered,
            left: self.left,
            dropped: self.dropped.total(),
            held: self.queued() + sending + propagating,
        }
    }

    /// Passes the state of the line to `sink`, by name: rates in bit/s, times in seconds, sizes in
    /// bytes.
    pub fn show(&self, now: Time, sink: &mut dyn FnMut(&'static str, f64)) {
        let (dropped, queued) = (self.dropped.total(), self.queued());
        let waits = self.waits() || queued.packets > 0;
        sink("rate", self.server.rate(now).map_or(f64::INFINITY, Bitrate::as_bps_f64));
        sink("queuedBytes", queued.bytes.get() as f64);
        sink("queuedPackets", queued.packets as f64);
        sink("queueDelay", if waits { self.last_sojourn().as_secs_f64() } else { 0.0 });
        sink("bytesIn", self.entered.bytes.get() as f64);
        sink("bytesOut", self.left.bytes.get() as f64);
        sink("packetsIn", self.entered.packets as f64);
        sink("packetsOut", self.left.packets as f64);
        sink("packetsDropped", dropped.packets as f64);
        sink("bytesDropped", dropped.bytes.get() as f64);
    }
}

/// The shaper of another device in series with the line.
struct Shaper {
    /// Up: it is in front of the line's queue. Down: it is behind the line.
    direction: Direction,
    queue: Queue,
    /// The sojourn time of the packet that left it last.
    sojourn: Duration,
}

impl Shaper {
    fn new(config: &QueueConfig, direction: Direction, seed: Seed, name: &str) -> Self {
        let queue = Queue::new(config, &Streams::new(seed, &format!("{name}.shaper")));
        Self { direction, queue, sojourn: Duration::ZERO }
    }
}

/// The bucket of a line with a rate; `None` if the rate is unlimited or a trace.
fn bucket(rate: &RateConfig, burst: Bytes) -> Option<Bucket> {
    match rate {
        RateConfig::Scheduled(rate) => Some(Bucket::new(rate.clone(), burst)),
        RateConfig::Unlimited | RateConfig::Trace(_) => None,
    }
}

/// Counts the drops of the queue and passes them on.
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
