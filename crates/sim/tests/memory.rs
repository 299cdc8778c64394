//! A run's memory does not grow with its length, apart from its samples: a counting allocator looks
//! on.

#![expect(
    unsafe_code,
    reason = "a global allocator can only be written so; it hands everything on to the system's"
)]

mod common;

use common::{dumbbell, run};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use units::{Bitrate, Time};

thread_local! {
    /// Bytes allocated now, and the most there were.
    static LIVE: Cell<(i64, i64)> = const { Cell::new((0, 0)) };
}

fn count(change: i64) {
    let (live, peak) = LIVE.get();
    LIVE.set((live + change, peak.max(live + change)));
}

struct Counting;

// SAFETY: every call goes to the system's allocator unchanged; counting touches no memory of its
// own on the heap.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size().cast_signed() as i64);
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(-(layout.size().cast_signed() as i64));
        // SAFETY: the pointer came from `alloc` above, that is, from the system.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The most bytes during a run, and those of its recording.
fn bytes(controller: &str, seconds: u64) -> (i64, i64) {
    let scenario = dumbbell(controller, Bitrate::from_mbps(2), seconds);
    LIVE.set((0, 0));
    let recording = run(&scenario);
    let (live, peak) = LIVE.get();
    drop(recording);
    (peak, live)
}

#[test]
fn memory_is_flat_but_for_the_samples() {
    for profile in cc::profiles() {
        let (short_peak, short_samples) = bytes(&profile.name, 100);
        let (long_peak, long_samples) = bytes(&profile.name, 1000);
        // A vector that grows holds up to twice what is in it, and half of that again while it
        // moves.
        let samples = 3 * (long_samples - short_samples);
        assert!(
            long_peak - short_peak <= samples,
            "{}: {short_peak} bytes at most in 100 s, {long_peak} in 1000 s, of which samples {short_samples} and {long_samples}",
            profile.name
        );
    }
}

#[test]
fn who_is_not_there_costs_little() {
    let one_by_one = common::users(60, 30);
    let mut together = one_by_one.clone();
    for call in &mut together.calls {
        (call.start, call.stop) = (Time::ZERO, Time::from_secs(10));
    }
    for flow in &mut together.tcp {
        (flow.start, flow.stop) = (Time::ZERO, Time::from_secs(10));
    }
    // The most beside the records, which are about as long.
    let [one_by_one, together] = [one_by_one, together].map(|scenario| {
        LIVE.set((0, 0));
        let recording = run(&scenario);
        let (live, peak) = LIVE.get();
        drop(recording);
        peak - live
    });
    // At most half of them are there at a time.
    assert!(one_by_one < together * 6 / 10, "{one_by_one} bytes one by one, {together} together");
}
