//! Controllers allocate nothing per packet, feedback included. A counting allocator checks this.

#![expect(
    unsafe_code,
    reason = "a global allocator needs unsafe code; it forwards every call to the system allocator"
)]

mod common;

use common::{Path, Run, config};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use units::{Bitrate, Time};

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: every call goes to the system allocator unchanged; counting uses no heap memory.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller upholds the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the pointer came from `alloc` above, that is, from the system allocator.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The profile with every improvement that applies to it.
fn improved(profile: &str) -> String {
    let improve = |profile: String, name| cc::improve(&profile, name).unwrap_or(profile);
    cc::improvements().iter().fold(profile.to_owned(), |profile, one| improve(profile, one.name))
}

#[test]
fn nothing_is_allocated_per_packet() {
    let profiles: Vec<String> = cc::profiles().into_iter().map(|profile| profile.name).collect();
    for profile in
        profiles.iter().chain(&profiles.iter().map(|name| improved(name)).collect::<Vec<_>>())
    {
        let ceiling = Bitrate::from_kbps(2500);
        let path = Path { rate: |_| Bitrate::from_mbps(2), lose_every: 50, ceiling };
        let mut run = Run::new(&config(profile), path);
        while run.now() < Time::from_secs(30) {
            run.frame();
        }
        let before = ALLOCATIONS.get();
        while run.now() < Time::from_secs(90) {
            run.frame();
        }
        assert_eq!(ALLOCATIONS.get() - before, 0, "{profile}");
    }
}
