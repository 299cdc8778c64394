//! What the kinds of device have in common, and the thread that forwards.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::time::{ClockId, clock_gettime};

/// The most packets that are taken from one end before the other gets its turn.
pub(crate) const BATCH: usize = 64;

/// The two ends of one kind of device.
pub(crate) trait Relay: Send {
    /// What to wait on for each of the ends.
    fn ends(&self) -> io::Result<[OwnedFd; 2]>;

    /// Takes up to [`BATCH`] packets that wait at the end `from` and puts them out of the other;
    /// never waits.
    fn relay(&mut self, from: usize) -> io::Result<Moved>;
}

/// How many packets passed.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Moved {
    /// Put out of an end; of one that came in as 64 kB, each of its parts.
    pub(crate) packets: u64,
    /// Taken, but refused by the other end.
    pub(crate) refused: u64,
}

/// What the forwarder did in one measurement.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Usage {
    /// What passed.
    pub(crate) moved: Moved,
    /// How often it woke.
    pub(crate) wakes: u64,
    /// The processor time of its thread.
    pub(crate) cpu: Duration,
    /// How long it ran.
    pub(crate) wall: Duration,
}

impl Usage {
    /// Seconds of processor time for a million packets.
    pub(crate) fn seconds_per_million(&self) -> f64 {
        self.cpu.as_secs_f64() * 1e6 / self.moved.packets.max(1) as f64
    }
}

/// Who forwards between the ends.
pub(crate) struct Forwarder<'a> {
    /// The ends.
    pub(crate) relay: &'a mut dyn Relay,
    /// Whether its thread goes before all that are not real-time, by `SCHED_FIFO`.
    pub(crate) fifo: bool,
}

impl Forwarder<'_> {
    /// What `work` returns while a thread forwards, and what that thread did meanwhile.
    pub(crate) fn during<T>(
        &mut self,
        work: impl FnOnce() -> io::Result<T>,
    ) -> io::Result<(T, Usage)> {
        let stop = AtomicBool::new(false);
        thread::scope(|scope| {
            let forwarder = scope.spawn(|| {
                if self.fifo {
                    before_all_others()?;
                }
                forward(self.relay, &stop)
            });
            let stopping = Stopping(&stop);
            let result = work();
            drop(stopping);
            let usage = forwarder.join().map_err(|_| io::Error::other("the forwarder panicked"))?;
            Ok((result?, usage?))
        })
    }
}

/// Gives the calling thread the least of the priorities of `SCHED_FIFO`.
fn before_all_others() -> io::Result<()> {
    let priority = libc::sched_param { sched_priority: 1 };
    // SAFETY: the priority is read during the call only; 0 is the calling thread.
    let result = unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const priority) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Tells a thread to stop when it is dropped, so that a panic elsewhere does not leave it running.
pub(crate) struct Stopping<'a>(pub(crate) &'a AtomicBool);

impl Drop for Stopping<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Forwards until told to stop.
fn forward(relay: &mut dyn Relay, stop: &AtomicBool) -> io::Result<Usage> {
    let ends = relay.ends()?;
    let (cpu, wall) = (clock(ClockId::ThreadCPUTime), clock(ClockId::Monotonic));
    let mut usage = Usage::default();
    while !stop.load(Ordering::Relaxed) {
        let ready = wait(&ends)?;
        usage.wakes += 1;
        for from in (0..2).filter(|&n| ready[n]) {
            let moved = relay.relay(from)?;
            usage.moved.packets += moved.packets;
            usage.moved.refused += moved.refused;
        }
    }
    usage.cpu = clock(ClockId::ThreadCPUTime) - cpu;
    usage.wall = clock(ClockId::Monotonic) - wall;
    Ok(usage)
}

/// Waits until an end has a packet, or not long; which of them have.
fn wait(ends: &[OwnedFd; 2]) -> io::Result<[bool; 2]> {
    let mut fds = [PollFd::new(&ends[0], PollFlags::IN), PollFd::new(&ends[1], PollFlags::IN)];
    poll(&mut fds, Some(&Timespec { tv_sec: 0, tv_nsec: 20_000_000 }))?;
    Ok([0, 1].map(|n| fds[n].revents().contains(PollFlags::IN)))
}

/// The time on one of the system's clocks.
pub(crate) fn clock(id: ClockId) -> Duration {
    let time = clock_gettime(id);
    Duration::new(time.tv_sec.cast_unsigned(), time.tv_nsec as u32)
}
