use super::judge::{Judgement, cases, run};
use super::*;

/// Some calls of each kind. `weir explain --judge` measures more, with figures in the guide.
#[test]
fn the_causes_of_simulated_calls_are_found() {
    let mut judgement = Judgement::default();
    for case in cases(40, 2) {
        judgement.add(&case, &run(&case, 2).unwrap());
    }
    let all = judgement.scores.iter();
    let (right, wrong, missed) = all.fold((0, 0, 0), |sum, score| {
        (sum.0 + score.right, sum.1 + score.wrong, sum.2 + score.missed)
    });
    assert!(f64::from(right) >= 0.8 * f64::from(right + missed), "{judgement:?}");
    assert!(f64::from(right) >= 0.8 * f64::from(right + wrong), "{judgement:?}");
    assert!(judgement.fitted as f64 >= 0.7 * judgement.used as f64, "{judgement:?}");
}

#[test]
fn what_only_statistics_tell_is_found_and_its_absence_is_said() {
    let case = &cases(2, 2)[1];
    let none = run(case, 2).unwrap();
    assert!(!none.has(Cause::Cpu) && !none.has(Cause::Probing) && !none.has(Cause::Receiver));
    let missing: Vec<Cause> = none.missing.iter().map(|(cause, _)| *cause).collect();
    assert!(missing.contains(&Cause::Cpu) && missing.contains(&Cause::Probing), "{missing:?}");
    let mut signals = none.signals.clone();
    signals.cpu = vec![0.9; signals.len];
    signals.receiver_limit = signals.target.clone();
    signals.failed_probes[30..33].fill(1.0);
    let found = of(signals);
    for cause in [Cause::Cpu, Cause::Receiver, Cause::Probing] {
        assert!(found.has(cause), "{cause}: {:?}", found.findings);
    }
    assert_eq!(found.seconds(Cause::Probing), 3.0);
}

#[test]
fn the_fitted_network_is_an_experiment_that_runs() {
    for case in &cases(9, 2) {
        let text = network(&run(case, 2).unwrap(), "gcc:libwebrtc");
        let experiment =
            crate::parse(&text, "fitted.toml").unwrap_or_else(|error| panic!("{error}\n{text}"));
        assert_eq!(experiment.cells().len(), 1);
    }
}
