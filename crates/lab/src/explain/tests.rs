use super::judge::{Judgement, cases, run};
use super::*;

/// A call of each kind: the figures of the guide are those of many.
#[test]
#[ignore]
fn development() {
    let mut judgement = Judgement::default();
    for (index, case) in cases(100, 1).iter().enumerate() {
        let found = run(case, 1).unwrap();
        let causes: Vec<Cause> = Cause::ALL.into_iter().filter(|cause| found.has(*cause)).collect();
        let ok = case.causes.iter().all(|c| causes.contains(c))
            && causes.iter().all(|c| case.causes.contains(c) || case.allowed.contains(c));
        println!(
            "{index} {} want {:?} got {causes:?}",
            if ok { "ok " } else { "BAD" },
            case.causes
        );
        if !ok {
            for finding in &found.findings {
                println!("     {:?} {:?} {}", finding.cause, finding.steps, finding.evidence);
            }
        }
        judgement.add(case, &found);
    }
    for cause in Cause::ALL {
        println!("{cause} {:?}", judgement.score(cause));
    }
    println!("{judgement:?}");
}
