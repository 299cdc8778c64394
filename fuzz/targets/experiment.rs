//! Experiment files: read or refused, and what is read makes scenarios, with an improvement of its
//! controllers too.

#![no_main]

use libfuzzer_sys::fuzz_target;
use units::Seed;

fuzz_target!(|text: &str| {
    if let Ok(experiment) = lab::parse(text, "fuzz.toml") {
        for cell in experiment.cells().iter().take(4) {
            let _scenario = cell.scenario(Seed(1));
        }
        let improvements = experiment::controllers::improvements();
        let improvement = improvements[text.len() % improvements.len()].name;
        if let Ok(improved) = experiment.with_improvement(improvement) {
            assert!(improved.controllers().any(|controller| controller.contains(improvement)));
        }
    }
});
