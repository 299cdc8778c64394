//! Waits for packets and deadlines: sleeps until shortly before the deadline and spins for the
//! rest.

use crate::clock::Clock;
use crate::device::Device;
use crate::error::EmulatorError;
use rustix::event::{Timespec, epoll};
use rustix::io::Errno;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use units::{Duration, Time};

/// An event source that is ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ready {
    /// The interface of this host has packets.
    Device(usize),
    /// A request waits.
    Control,
}

/// The epoll data of the control socket; interfaces have the index of their host.
const CONTROL: u64 = u64::MAX;

/// The most events that one call returns. The next call returns the others.
const MAX_EVENTS: usize = 64;

/// Waits for all interfaces and the control socket.
pub(crate) struct Waiter {
    epoll: OwnedFd,
    spin: Spin,
    /// When an event source was last ready.
    active: Time,
}

impl Waiter {
    pub(crate) fn new(
        devices: &[Device],
        control: Option<BorrowedFd<'_>>,
    ) -> Result<Self, EmulatorError> {
        let failed = |error| EmulatorError::system("epoll", error);
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC).map_err(failed)?;
        let numbered =
            (0..).zip(devices.iter().map(AsFd::as_fd)).chain(control.map(|fd| (CONTROL, fd)));
        for (number, fd) in numbered {
            epoll::add(&epoll, fd, epoll::EventData::new_u64(number), epoll::EventFlags::IN)
                .map_err(failed)?;
        }
        Ok(Self { epoll, spin: Spin::default(), active: Time::ZERO })
    }

    /// Waits until an event source is ready or until `due`. Puts the ready sources into `ready`.
    pub(crate) fn wait(
        &mut self,
        clock: Clock,
        due: Time,
        ready: &mut Vec<Ready>,
    ) -> Result<(), EmulatorError> {
        ready.clear();
        let mut now = clock.now();
        let wake = self.spin.wake_before(now, due);
        // More packets often follow at once. Sleeping, and being woken up by the host, costs more
        // than spinning for a moment.
        let lingers = self.spin.lingers_until(self.active).min(wake);
        now = self.spin_until(lingers, now, clock, ready)?;
        if ready.is_empty() {
            let by_time = self.poll(wake.saturating_since(now), ready)?;
            let slept = wake > now;
            now = clock.now();
            if by_time && slept {
                self.spin.woke(wake, now);
            }
            if by_time && wake < due {
                now = self.spin_until(due, now, clock, ready)?;
            }
        }
        if !ready.is_empty() {
            self.active = now;
        }
        Ok(())
    }

    /// Polls without sleeping until an event source is ready or until `end`. Returns the time.
    fn spin_until(
        &mut self,
        end: Time,
        from: Time,
        clock: Clock,
        ready: &mut Vec<Ready>,
    ) -> Result<Time, EmulatorError> {
        let mut now = from;
        while ready.is_empty() && now < end {
            self.poll(Duration::ZERO, ready)?;
            now = clock.now();
        }
        self.spin.spun(from, now);
        Ok(now)
    }

    /// Waits for `span`. Returns whether the whole span passed without an event and without a
    /// signal.
    fn poll(&self, span: Duration, ready: &mut Vec<Ready>) -> Result<bool, EmulatorError> {
        let span = Timespec {
            tv_sec: (span.as_nanos() / 1_000_000_000).cast_signed(),
            tv_nsec: (span.as_nanos() % 1_000_000_000).cast_signed(),
        };
        let mut events = [MaybeUninit::uninit(); MAX_EVENTS];
        match epoll::wait(&self.epoll, &mut events[..], Some(&span)) {
            Ok((events, _)) => {
                ready.extend(events.iter().map(source));
                Ok(ready.is_empty())
            }
            Err(Errno::INTR) => Ok(false),
            Err(error) => {
                Err(EmulatorError::system("epoll_pwait2 (needs Linux 5.11 or later)", error))
            }
        }
    }
}

fn source(event: &epoll::Event) -> Ready {
    match event.data.u64() {
        CONTROL => Ready::Control,
        device => Ready::Device(device as usize),
    }
}

/// How long before a deadline a sleep ends, learnt from how late earlier sleeps have ended, and how
/// much time has been spent spinning.
#[derive(Debug)]
struct Spin {
    /// How late sleeps usually end. The estimate rises fast and falls slowly.
    late: Duration,
    /// The start of the current period, and the time spent spinning in it.
    period: Time,
    spun: Duration,
}

impl Default for Spin {
    fn default() -> Self {
        Self { late: Duration::from_micros(50), period: Time::ZERO, spun: Duration::ZERO }
    }
}

impl Spin {
    /// The upper bound of the expected lateness of a sleep. Longer delays come from the machine,
    /// and spinning does not help.
    const MAX_LATENESS: Duration = Duration::from_micros(150);
    /// How long to spin for more events after the last one.
    const LINGER: Duration = Duration::from_micros(30);
    const PERIOD: Duration = Duration::from_millis(100);
    /// The most time that is spent spinning per period. A quarter: the programs under test need the
    /// processor too.
    const BUDGET: Duration = Duration::from_millis(25);

    fn wake_before(&mut self, now: Time, due: Time) -> Time {
        if now.saturating_since(self.period) >= Self::PERIOD {
            (self.period, self.spun) = (now, Duration::ZERO);
        }
        if self.spun >= Self::BUDGET { due } else { due.saturating_sub(self.late + self.late / 2) }
    }

    fn lingers_until(&self, active: Time) -> Time {
        if self.spun >= Self::BUDGET { active } else { active + Self::LINGER }
    }

    fn woke(&mut self, planned: Time, now: Time) {
        let late = now.saturating_since(planned).min(Self::MAX_LATENESS);
        self.late = if late > self.late {
            self.late + (late - self.late) / 4
        } else {
            self.late - (self.late - late) / 64
        };
    }

    fn spun(&mut self, from: Time, to: Time) {
        self.spun += to.saturating_since(from);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_spin_adapts_to_the_lateness_of_sleeps() {
        let mut spin = Spin::default();
        let due = Time::from_millis(10);
        for _ in 0..2_000 {
            spin.woke(Time::ZERO, Time::from_micros(4));
        }
        let early = due.saturating_since(spin.wake_before(Time::ZERO, due)).as_micros();
        assert!((5..=8).contains(&early), "{early}");
        for _ in 0..20 {
            spin.woke(Time::ZERO, Time::from_millis(80));
        }
        let early = due.saturating_since(spin.wake_before(Time::ZERO, due)).as_micros();
        assert!((200..=225).contains(&early), "{early}");
    }

    #[test]
    fn at_most_a_quarter_of_the_time_is_spun() {
        let mut spin = Spin::default();
        let at = Time::from_millis;
        spin.spun(at(0), at(26));
        assert_eq!(spin.wake_before(at(30), at(31)), at(31), "no more in this period");
        assert!(spin.wake_before(at(101), at(102)) < at(102), "the next period has its own budget");
    }
}
