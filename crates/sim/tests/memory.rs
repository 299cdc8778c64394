//! A run's memory does not grow with its length, apart from its samples. Measured with a counting
//! allocator.

#![expect(
    unsafe_code,
    reason = "a global allocator requires unsafe code; this one forwards every call to the system's"
)]

mod common;

use common::{dumbbell, run};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use units::{Bitrate, Time};

thread_local! {
    /// (currently allocated bytes, peak).
    static LIVE: Cell<(i64, i64)> = const { Cell::new((0, 0)) };
}

fn count(change: i64) {
    let (live, peak) = LIVE.get();
    LIVE.set((live + change, peak.max(live + change)));
}

struct Counting;

// SAFETY: every call is forwarded unchanged to the system's allocator; counting allocates nothing
// on the heap.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size().cast_signed() as i64);
        // SAFETY: the caller upholds the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(-(layout.size().cast_signed() as i64));
        // SAFETY: the pointer was returned by `alloc` above, so by the system's allocator.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The peak of allocated bytes during a run, and the bytes of its recording.
fn bytes(controller: &str, seconds: u64) -> (i64, i64) {
    let scenario = dumbbell(controller, Bitrate::from_mbps(2), seconds);
    LIVE.set((0, 0));
    let recording = run(&scenario);
    let (live, peak) = LIVE.get();
    drop(recording);
    (peak, live)
}

#[test]
fn memory_is_constant_except_for_the_samples() {
    for profile in cc::profiles() {
        let (short_peak, short_samples) = bytes(&profile.name, 100);
        let (long_peak, long_samples) = bytes(&profile.name, 1000);
        // A growing vector has up to twice the capacity of its content, and half of that again
        // while it is moved.
        let samples = 3 * (long_samples - short_samples);
        assert!(
            long_peak - short_peak <= samples,
            "{}: peak of {short_peak} bytes in 100 s and {long_peak} in 1000 s, of which samples {short_samples} and {long_samples}",
            profile.name
        );
    }
}

#[test]
fn inactive_users_cost_little_memory() {
    let one_by_one = common::users(60, 30);
    let mut together = one_by_one.clone();
    for call in &mut together.calls {
        (call.start, call.stop) = (Time::ZERO, Time::from_secs(10));
    }
    for flow in &mut together.tcp {
        (flow.start, flow.stop) = (Time::ZERO, Time::from_secs(10));
    }
    // The peak without the records, which have about the same length.
    let [one_by_one, together] = [one_by_one, together].map(|scenario| {
        LIVE.set((0, 0));
        let recording = run(&scenario);
        let (live, peak) = LIVE.get();
        drop(recording);
        peak - live
    });
    // At most half of the users are active at a time.
    assert!(
        one_by_one < together * 6 / 10,
        "{one_by_one} bytes one after the other, {together} together"
    );
}
