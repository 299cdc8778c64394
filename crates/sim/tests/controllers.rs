//! Every registered controller in the standard scenarios: it must use a constant link without
//! filling its queue, and reach its maximum on an open link. New controllers are tested
//! automatically.

mod common;

use common::{dumbbell, late_rate, run};
use units::Bitrate;

/// The maximum sending rate of a controller in bit/s, limited by the encoder's 2 Mbit/s and by the
/// controller itself.
fn ceiling(controller: &str) -> f64 {
    match controller {
        // The highest level of its ladder.
        "kilinc-andersson" => 1e6,
        _ => 2e6,
    }
}

/// The profiles with adaptive controllers.
fn adaptive() -> Vec<String> {
    cc::profiles()
        .into_iter()
        .map(|profile| profile.name)
        .filter(|name| !name.starts_with("fixed"))
        .collect()
}

#[test]
fn every_controller_uses_a_constant_link_without_filling_its_queue() {
    for controller in adaptive() {
        let recording = run(&dumbbell(&controller, Bitrate::from_mbps(1), 120));
        let rate = late_rate(&recording, "main.video", "bytesReceived");
        assert!((0.6e6..1.0e6).contains(&rate), "{controller}: {rate}");
        let delays = recording.stream("alice.up").unwrap().column("queueDelay").unwrap();
        let mean =
            delays.iter().filter(|delay| delay.is_finite()).sum::<f64>() / delays.len() as f64;
        assert!(mean < 0.150, "{controller}: mean queue delay {mean} of 350 ms");
    }
}

#[test]
fn every_controller_reaches_the_ceiling_on_an_open_link() {
    for controller in adaptive() {
        let recording = run(&dumbbell(&controller, Bitrate::from_mbps(100), 120));
        let rate = late_rate(&recording, "main.video", "bytesReceived");
        let share = rate / ceiling(&controller);
        assert!((0.925..1.075).contains(&share), "{controller}: {rate}");
    }
}
