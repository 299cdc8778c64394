use super::*;
use crate::runner::{NO_CACHE, Runner};
use experiment::Experiment;
use std::num::NonZeroUsize;
use std::sync::atomic::AtomicBool;

const HEAD: &str = "paper = \"a-paper\"\ntitle = \"A paper\"\n";
const CLAIM: &str = r#"
[[claim]]
id = "X-1"
where = "Fig. 11"
setting = "12 cells"
published = "much"
check = "≥ 0"
experiment = "carlucci-2017/fig11"
value.rate = { metric = "received_rate", stream = "main.video" }
measured.lowest = "min(cells.map(c, c.rate))"
holds = "lowest >= 0.0"
show = "lowest {lowest:bit/s}"
"#;

fn catalogue(claims: &str) -> Result<Catalogue, document::FileError> {
    Catalogue::parse(&format!("{HEAD}{claims}"), "x.toml")
}

fn message(old: &str, new: &str) -> String {
    assert!(CLAIM.contains(old), "{old}");
    catalogue(&CLAIM.replacen(old, new, 1)).unwrap_err().to_string()
}

/// Verifies the claims in 5 s of simulated time with one seed.
fn verify(claims: &str, cancel: bool) -> Vec<Verdict> {
    let catalogue = catalogue(claims).unwrap();
    let short = |experiment: Experiment| {
        let set = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        experiment.with_overrides(&[set("duration", "5s"), set("runs", "1")])
    };
    let plan = Plan::new(catalogue.select(&[]).unwrap(), short);
    let cancel = AtomicBool::new(cancel);
    let jobs = NonZeroUsize::new(2).unwrap();
    plan.run(
        Runner { jobs, cancel: &cancel, progress: &|_, _| {}, cache: &NO_CACHE },
        |_, _| (),
        |_, ()| {},
    )
    .0
}

#[test]
fn the_built_in_claims_are_valid_and_name_existing_experiments() {
    let catalogue = Catalogue::embedded().unwrap();
    assert!(catalogue.claims.len() >= 20);
    for claim in &catalogue.claims {
        let known = if claim.is_sweep {
            crate::sweep::names().contains(&claim.experiment)
        } else {
            experiment::names().contains(&claim.experiment)
        };
        assert!(known, "{}: {}", claim.id, claim.experiment);
    }
    let ids = |words: &[&str]| {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        catalogue
            .select(&words)
            .map(|claims| claims.iter().map(|claim| claim.id.clone()).collect::<Vec<_>>())
    };
    assert_eq!(ids(&["c-5", "V-1"]).unwrap(), ["C-5", "V-1"]);
    assert!(ids(&["carlucci-2017"]).unwrap().iter().all(|id| id.starts_with("C-")));
    assert_eq!(ids(&["c"]).unwrap(), ids(&["carlucci-2017"]).unwrap());
    let error = ids(&["carluci-2017"]).unwrap_err().to_string();
    assert_eq!(error, "there is no claim or paper 'carluci-2017'; did you mean carlucci-2017?");
}

#[test]
fn a_claim_is_reproduced_not_reproduced_or_not_run() {
    let holds = verify(CLAIM, false);
    assert_eq!(holds[0].status, Status::Reproduced, "{}", holds[0].measured);
    assert!(holds[0].measured.starts_with("lowest "), "{}", holds[0].measured);
    assert_eq!((holds[0].values.len(), holds[0].runs), (24, 1));
    let fails = verify(&CLAIM.replace(">= 0.0", "< 0.0"), false);
    assert_eq!(fails[0].status, Status::NotReproduced);
    for (old, new, reason) in [
        ("main.video", "mian.video", "there is no stream 'mian.video'"),
        ("carlucci-2017/fig11", "carlucci-2017/fig99", "no experiment of this name"),
        ("lowest >= 0.0", "lowest", "claim X-1: 'holds' is neither true nor false"),
        ("c.rate)", "c.rates)", "claim X-1: 'min(cells.map(c, c.rates))': No such key: rates"),
    ] {
        let verdict = &verify(&CLAIM.replace(old, new), false)[0];
        assert_eq!(verdict.status, Status::NotRun, "{new}");
        assert!(verdict.measured.contains(reason), "{}", verdict.measured);
    }
    let stopped = &verify(CLAIM, true)[0];
    assert_eq!(
        (stopped.status, stopped.measured.as_str()),
        (Status::NotRun, "stopped after 0 of 24 runs")
    );
}

#[test]
fn claims_that_share_an_experiment_run_it_once() {
    let second = CLAIM
        .replace("X-1", "X-2")
        .replace("received_rate", "media_rate")
        .replace(">= 0.0", "< 0.0");
    let both = format!("{CLAIM}{second}");
    let catalogue = catalogue(&both).unwrap();
    let plan = Plan::new(catalogue.select(&[]).unwrap(), Ok);
    assert_eq!((plan.experiments.len(), plan.runs()), (1, 240));
    let verdicts = verify(&both, false);
    assert_eq!(
        verdicts.iter().map(|verdict| verdict.status).collect::<Vec<_>>(),
        [Status::Reproduced, Status::NotReproduced]
    );
    assert_eq!(verdicts[1].values[0].metric, "media_rate");
}

#[test]
fn a_verdict_is_one_json_object_and_its_own_baseline() {
    let verdicts = verify(CLAIM, false);
    let line = serde_json::to_string(&verdicts[0]).unwrap();
    assert!(
        line.starts_with("{\"id\":\"X-1\",\"status\":\"reproduced\",\"measured\":\"lowest "),
        "{line}"
    );
    assert!(!line.contains('\n') && line.contains("\"where\":\"Fig. 11\""));
    let baseline = Baseline::parse(&line, "old.json").unwrap();
    assert_eq!(baseline.regressions(&verdicts), []);
    let mut worse = verdicts.clone();
    worse[0].status = Status::NotReproduced;
    worse[0].values[3].mean *= 0.5;
    worse[0].values[4].mean *= 0.97;
    worse[0].values[5].mean *= 2.0;
    let regressions: Vec<String> =
        baseline.regressions(&worse).iter().map(ToString::to_string).collect();
    assert_eq!(regressions.len(), 2, "{regressions:?}");
    assert_eq!(regressions[0], "X-1 was reproduced, now not reproduced");
    assert!(
        regressions[1].starts_with("X-1 rate, received_rate (host.alice.up.queue="),
        "{}",
        regressions[1]
    );
    // Another controller beside that of the experiment: nothing is worse, then its rate halves.
    let mut beside = verdicts.clone();
    beside[0].add_beside("gcc:libwebrtc", verdicts[0].clone());
    let line = serde_json::to_string(&beside[0]).unwrap();
    let baseline = Baseline::parse(&line, "old.json").unwrap();
    assert_eq!(baseline.regressions(&beside), []);
    assert_eq!(baseline.regressions(&verdicts), []);
    let mut slower = worse[0].clone();
    slower.status = Status::NotReproduced;
    beside[0].beside.clear();
    beside[0].add_beside("gcc:libwebrtc", slower);
    let regressions: Vec<String> =
        baseline.regressions(&beside).iter().map(ToString::to_string).collect();
    assert_eq!(regressions.len(), 2, "{regressions:?}");
    assert_eq!(regressions[0], "X-1 under gcc:libwebrtc was reproduced, now not reproduced");
    assert!(regressions[1].starts_with("X-1 under gcc:libwebrtc rate, "), "{}", regressions[1]);
    let error = Baseline::parse("{}\n", "old.json").unwrap_err().to_string();
    assert!(error.starts_with("old.json:1: not a verdict (missing field `id`"), "{error}");
    assert!(Baseline::parse(" \n", "old.json").unwrap_err().to_string().contains("empty"));
}

#[test]
fn errors_name_the_line_the_claim_and_the_suggestion() {
    let messages = [
        message("id = \"X-1\"", ""),
        message("metric = \"received_rate\"", "metric = \"recieved_rate\""),
        message("stream = \"main.video\"", "stream = \"main.video\", from = \"5s\", to = \"5s\""),
        message("stream = \"main.video\"", "stream = \"main.video\", reduce = \"median\""),
        message("stream = \"main.video\"", "steam = \"main.video\""),
        message("min(cells.map(c, c.rate))", "min(cells.map(c, c.rate)"),
        message("lowest >= 0.0", "lowst >= 0.0"),
        message("{lowest:bit/s}", "{highest}"),
        message("where = \"Fig. 11\"", "were = \"Fig. 11\""),
        message("holds = \"lowest >= 0.0\"", "holds = true"),
        catalogue(&format!("{CLAIM}{CLAIM}")).unwrap_err().to_string(),
    ];
    insta::assert_snapshot!(messages.join("\n"));
}

#[test]
fn no_check_holds_on_values_that_were_not_measured() {
    let none = CLAIM.replace("cells.map(c, c.rate)", "cells.map(c, c.rate).filter(r, r < 0.0)");
    for holds in ["lowest <= 1.0", "lowest >= 1.0", "lowest == lowest"] {
        let verdicts = verify(&none.replace("lowest >= 0.0", holds), false);
        assert_eq!(verdicts[0].status, Status::NotReproduced, "{holds}: {}", verdicts[0].measured);
    }
}

#[test]
fn an_alternative_controller_runs_the_same_experiment() {
    let catalogue = catalogue(CLAIM).unwrap();
    let set = |experiment: Experiment| {
        let setting = ("call.main.settings".to_owned(), "{ threshold = \"static\" }".to_owned());
        experiment.with_overrides(&[setting])
    };
    let plan = Plan::new(catalogue.select(&[]).unwrap(), set);
    let under = plan.under(&"gcc:draft-02".parse().unwrap());
    assert_eq!(under.experiments.len(), 1);
    assert!(under.experiments[0].controllers().all(|controller| controller == "gcc:draft-02"));
    let without = plan.under(&"gcc:libwebrtc".parse().unwrap());
    assert_eq!(without.experiments.len(), 1, "it has no static threshold, which is left out");
    assert!(
        plan.under(&"gcc:chromium-2015".parse().unwrap()).experiments.is_empty(),
        "that is what was run"
    );
}

#[test]
fn an_improvement_is_run_only_for_the_claims_that_it_changes() {
    let catalogue = catalogue(CLAIM).unwrap();
    let under = |experiment: &str, other: &str| {
        let draft = |own: Experiment| own.with_controller(experiment);
        let plan = Plan::new(catalogue.select(&[]).unwrap(), draft);
        let other: Alternative = other.parse().unwrap();
        let controllers: Vec<String> = plan
            .under(&other)
            .experiments
            .iter()
            .flat_map(Experiment::controllers)
            .map(str::to_owned)
            .collect();
        (controllers, plan.not_improved(&other))
    };
    let (controllers, left_out) = under("gcc:carlucci-2017", "+short-hold");
    assert!(
        controllers.iter().all(|own| own == "gcc:carlucci-2017+short-hold")
            && !controllers.is_empty()
    );
    assert_eq!(left_out, []);
    let (controllers, left_out) = under("gcc:draft-02", "+packet-groups");
    assert!(controllers.is_empty());
    let reason = "gcc:draft-02 already has packet-groups: the settings of the improvement equal those of the profile";
    assert_eq!(left_out, [(reason.to_owned(), vec!["X-1"])]);
    let (controllers, _) = under("gcc:draft-02", "+packet-groups+aqm-loss");
    assert!(controllers.iter().all(|own| own == "gcc:draft-02+aqm-loss"), "one of two");
    let unknown = "+short".parse::<Alternative>().unwrap_err();
    assert!(unknown.to_string().starts_with("there is no improvement 'short'; "), "{unknown}");
}

#[test]
fn a_claim_is_judged_as_run_and_as_printed() {
    let catalogue = catalogue(&CLAIM.replace(">= 0.0", "== 0.0")).unwrap();
    let plan = Plan::new(catalogue.select(&[]).unwrap(), |experiment| {
        // As printed, nothing can be sent.
        let printed = "[as_printed]\n\"host.alice.up.loss\" = \"100%\"\n";
        let text = experiment.text.replace("[as_printed]\n", printed);
        let experiment = Experiment::parse(&text, &experiment.name)?;
        let set = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        experiment.with_overrides(&[set("duration", "5s"), set("runs", "1")])
    });
    let cancel = AtomicBool::new(false);
    let jobs = NonZeroUsize::new(2).unwrap();
    let runner = Runner { jobs, cancel: &cancel, progress: &|_, _| {}, cache: &NO_CACHE };
    let (mut verdicts, _) = plan.run(runner, |_, _| (), |_, ()| {});
    let printed = plan.as_printed();
    assert_eq!(printed.runs(), 24);
    printed.add_printed(runner, &mut verdicts);
    assert_eq!(verdicts[0].status, Status::NotReproduced);
    assert_eq!(verdicts[0].as_printed.as_ref().unwrap().holds, Some(true));
    let page = markdown(&verdicts);
    assert!(page.contains("0 are reproduced and 1 are not. As printed, 1 of 1 hold."), "{page}");
    assert!(page.contains("| ✗ | lowest 0 kbit/s | ✓ |"), "{page}");
}

#[test]
fn the_check_sees_only_the_cells_that_the_claim_names() {
    let of = |cell: &str| {
        let claim = CLAIM
            .replace("experiment =", &format!("cell = {cell}\nexperiment ="))
            .replace("lowest >= 0.0", "cells.size() == 8");
        verify(&claim, false).remove(0)
    };
    assert_eq!(
        of(r#"{ "host.alice.up.queue" = "droptail limit 150ms" }"#).status,
        Status::Reproduced
    );
    assert_eq!(of(r#"{ "host.alice.up.rate" = "1Mbit/s" }"#).status, Status::NotReproduced);
    assert_eq!(of(r#"{ "removed.by.an.override" = "1" }"#).status, Status::NotReproduced);
    let none = of(r#"{ "host.alice.up.rate" = "9Mbit/s" }"#);
    assert_eq!(none.status, Status::NotRun);
    assert!(none.measured.contains("no cell of the experiment"), "{}", none.measured);
}
