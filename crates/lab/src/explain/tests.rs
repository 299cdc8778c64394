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

/// An over-use signal tells the capacity where the queue is too short to do so, and what the call
/// carries bounds the capacity.
#[test]
fn a_step_is_found_by_over_use_and_by_what_the_call_carries() {
    let narrow = &cases(2, 2)[1];
    let mut signals = run(narrow, 2).unwrap().signals;
    signals.queue.fill(0.005);
    signals.standing.fill(0.005);
    signals.carried.fill(450e3);
    signals.carried[45..].fill(800e3);
    for step in [5, 12, 20, 28, 35] {
        signals.overused[step] = 500e3;
    }
    let found = of(signals.clone());
    let steps: Vec<&Finding> =
        found.findings.iter().filter(|finding| finding.cause == Cause::Step).collect();
    let [step] = steps[..] else { panic!("{:?}", found.findings) };
    assert_eq!(step.steps, (35, 46));
    assert_eq!(step.evidence, "from 500 kbit/s to at least 800 kbit/s");
    assert!(found.has(Cause::Capacity));
    // A single value that does not agree with the others is no step.
    signals.carried.fill(450e3);
    signals.overused[20] = 1_500e3;
    let found = of(signals);
    assert!(!found.has(Cause::Step), "{:?}", found.findings);
}

#[test]
fn the_fitted_network_is_an_experiment_that_runs() {
    for case in &cases(9, 2) {
        let explanation = run(case, 2).unwrap();
        for today in [false, true] {
            let text = network(&explanation, "gcc:libwebrtc", today);
            let experiment = crate::parse(&text, "fitted.toml")
                .unwrap_or_else(|error| panic!("{error}\n{text}"));
            assert_eq!(experiment.cells().len(), 1);
        }
        // A packet that is lost at random does not say that the buffer was full.
        let is_bounded =
            network(&explanation, "nada", false).contains("# Buffer: packets were lost");
        assert!(!(explanation.has(Cause::Loss) && is_bounded));
    }
}
