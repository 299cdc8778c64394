//! Real-time scheduling of the loop's thread.

use std::io;
use std::num::NonZeroU64;

/// Above every ordinary thread, below the kernel's own (SCHED_FIFO has 1 to 99; interrupt threads
/// are at 50).
const PRIORITY: libc::c_int = 40;

/// How the loop's thread is scheduled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RealTime {
    /// SCHED_FIFO: it runs as soon as it wants to.
    Fifo,
    /// As everything else, and why.
    Ordinary(String),
}

/// Asks for real-time scheduling of the calling thread (sched(7), SCHED_FIFO), and for timers that
/// are not gathered.
#[must_use]
pub fn real_time() -> RealTime {
    // Without it, an ordinary thread's sleep is up to 50 µs longer (PR_SET_TIMERSLACK); a kernel
    // that refuses leaves it at that.
    let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
    match fifo() {
        Ok(()) => RealTime::Fifo,
        Err(error) => RealTime::Ordinary(format!("SCHED_FIFO: {error}")),
    }
}

#[expect(
    unsafe_code,
    reason = "sched_setscheduler is a system call, of which rustix does not know"
)]
fn fifo() -> io::Result<()> {
    // SAFETY: sched_param is a C struct of one integer (musl has more, zero too).
    let mut parameters: libc::sched_param = unsafe { std::mem::zeroed() };
    parameters.sched_priority = PRIORITY;
    // Children must not inherit it: they are the programs under test.
    let policy = libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK;
    // SAFETY: the kernel reads one sched_param, which outlives the call; 0 is the calling thread.
    let done = unsafe { libc::sched_setscheduler(0, policy, &raw const parameters) };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
