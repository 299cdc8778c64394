//! Real-time scheduling of the loop's thread.

use rustix::io::Errno;
use std::num::NonZeroU64;

/// The priority under SCHED_FIFO (1 to 99): above every ordinary thread, below the kernel's
/// interrupt threads (50).
const PRIORITY: libc::c_int = 40;

/// How the loop's thread is scheduled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RealTime {
    /// SCHED_FIFO: the thread runs as soon as it is ready.
    Fifo,
    /// SCHED_OTHER, as every ordinary thread, and why.
    Ordinary(SchedulingError),
}

/// Why a thread does not have real-time scheduling.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SchedulingError {
    /// The loop has not started, so it has not requested real-time scheduling yet.
    #[error("SCHED_FIFO: not requested")]
    NotRequested,
    /// The kernel refused it.
    #[error("SCHED_FIFO: {0}")]
    Refused(Errno),
    /// The thread that was to try it panicked.
    #[error("internal error (the thread that tries SCHED_FIFO panicked); please report it")]
    Panicked,
}

/// Requests real-time scheduling (sched(7), SCHED_FIFO) and a timer slack of 1 ns for the calling
/// thread.
#[must_use]
pub fn real_time() -> RealTime {
    // The default timer slack makes the sleeps of an ordinary thread up to 50 µs longer
    // (PR_SET_TIMERSLACK(2const)). If the kernel refuses, the slack stays at its default.
    let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
    match fifo() {
        Ok(()) => RealTime::Fifo,
        Err(error) => RealTime::Ordinary(SchedulingError::Refused(error)),
    }
}

#[expect(unsafe_code, reason = "rustix has no binding of sched_setscheduler")]
fn fifo() -> Result<(), Errno> {
    // SAFETY: sched_param is a C struct of integers, for which zeros are valid.
    let mut parameters: libc::sched_param = unsafe { std::mem::zeroed() };
    parameters.sched_priority = PRIORITY;
    // Children must not inherit it: they are the programs under test.
    let policy = libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK;
    // SAFETY: the kernel reads one sched_param, which outlives the call; 0 is the calling thread.
    let done = unsafe { libc::sched_setscheduler(0, policy, &raw const parameters) };
    let error = || Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::PERM);
    if done == 0 { Ok(()) } else { Err(error()) }
}
