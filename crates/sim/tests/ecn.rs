//! ECN in calls: packets leave with the field that the controller asks for, queues mark them, and
//! feedback carries the marks back.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

mod common;

use common::{dumbbell, late_rate, run};
use net::AccessConfig;
use sim::{Recording, Scenario};
use units::Bitrate;

/// A call over 1 Mbit/s with DualPI2; the controller sends with this ECN field.
fn marked(controller: &str, ecn: &str) -> Scenario {
    let mut scenario = dumbbell(controller, Bitrate::from_mbps(1), 60);
    let video = scenario.calls[0].video.as_mut().unwrap();
    video.controller.settings = vec![("ecn".to_owned(), ecn.to_owned())];
    let AccessConfig::Wired { up, .. } = &mut scenario.network.hosts[0].access else {
        panic!("the first host has a wired access")
    };
    up.queue = "dualpi2".parse().unwrap();
    scenario
}

fn mean(recording: &Recording, stream: &str, column: &str) -> f64 {
    let values = recording.stream(stream).unwrap().column(column).unwrap();
    let values: Vec<f64> = values.iter().copied().filter(|value| value.is_finite()).collect();
    values.iter().sum::<f64>() / values.len() as f64
}

#[test]
fn marks_of_an_l4s_queue_reach_scream_and_keep_the_queue_short() {
    for controller in ["scream-v2", "scream-v2@ericsson"] {
        let with = run(&marked(controller, "ect1"));
        assert!(mean(&with, "main.video", "l4s_alpha") > 0.05, "{controller}");
        assert!(mean(&with, "alice.up", "queueDelay") < 0.01, "{controller}");
        let rate = late_rate(&with, "main.video", "bytesReceived");
        assert!((0.4e6..1e6).contains(&rate), "{controller}: {rate}");
        let without = run(&marked(controller, "not-ect"));
        assert_eq!(mean(&without, "main.video", "l4s_alpha"), 0.0, "{controller}");
    }
}

#[test]
fn marks_are_part_of_nadas_signal_in_both_forms() {
    for controller in ["nada", "nada@ns3-rmcat"] {
        let with = run(&marked(controller, "ect1"));
        assert!(mean(&with, "main.video", "p_mark") > 0.001, "{controller}");
        let without = run(&marked(controller, "not-ect"));
        assert_eq!(mean(&without, "main.video", "p_mark"), 0.0, "{controller}");
    }
}
