//! Simulates a call of 300 s at 2 Mbit/s several times, to profile it: `call CONTROLLER RUNS`.

#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a tool for developers")]

use units::Bitrate;

#[path = "../tests/common/mod.rs"]
mod common;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let controller = arguments.next().unwrap_or_else(|| "gcc:carlucci-2017".to_owned());
    let runs: usize = arguments.next().map_or(1, |runs| runs.parse().unwrap());
    let scenario = common::dumbbell(&controller, Bitrate::from_mbps(2), 300);
    for _ in 0..runs {
        let recording = common::run(&scenario);
        println!("{} packets", common::last(&recording, "main.video", "packetsSent"));
    }
}
