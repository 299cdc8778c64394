//! Experiment files: read or refused, and what is read makes scenarios.

#![no_main]

use lab::experiment::Experiment;
use libfuzzer_sys::fuzz_target;
use units::Seed;

fuzz_target!(|text: &str| {
    if let Ok(experiment) = Experiment::parse(text, "fuzz.toml") {
        for cell in experiment.cells().iter().take(4) {
            let _scenario = cell.scenario(Seed(1));
        }
    }
});
