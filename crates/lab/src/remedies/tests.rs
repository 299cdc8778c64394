use super::catalogue::{Kind, remedies};
use super::{Advice, Group, Judgement, Measure, Situation};
use crate::experiment::Experiment;
use crate::report::Cells;
use crate::runner::Runner;
use net::QueueConfig;
use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::sync::atomic::AtomicBool;
use units::Seed;

const SITUATIONS: [&str; 5] = [
    "situations/adsl-upload",
    "situations/fibre-100-flows",
    "situations/wifi-tcp",
    "situations/lte-tcp",
    "situations/several-calls",
];

fn situation(name: &str, set: &[(&str, &str)]) -> Situation {
    let set: Vec<(String, String)> =
        set.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect();
    let experiment = Experiment::open(name).unwrap().with_overrides(&set).unwrap();
    Situation::of(&experiment, 0).unwrap().unwrap()
}

fn advice(name: &str, set: &[(&str, &str)], chosen: &[&str]) -> Advice {
    let situation = situation(name, set);
    let group = Group { name: name.to_owned(), situations: vec![situation] };
    let remedies = remedies().into_iter().filter(|remedy| chosen.contains(&remedy.name)).collect();
    let mut advice = Advice::new(group, remedies).unwrap();
    let cancel = AtomicBool::new(false);
    let jobs = NonZeroUsize::new(2).unwrap();
    let runner = Runner { jobs, cancel: &cancel, progress: &|_, _| {} };
    let summary = advice.run(runner, |job, reason| panic!("seed {}: {reason}", job.seed)).unwrap();
    assert_eq!(summary.done, advice.runs());
    advice
}

#[test]
fn every_remedy_has_a_name_of_its_own_and_a_source() {
    let all = remedies();
    let names: BTreeSet<&str> = all.iter().map(|remedy| remedy.name).collect();
    assert_eq!(names.len(), all.len());
    assert!(
        !names.iter().any(|name| Kind::ALL.iter().any(|kind| kind.as_str() == *name)),
        "a word is one thing"
    );
    assert!(all.iter().all(|remedy| !remedy.about.is_empty() && !remedy.source.is_empty()));
}

#[test]
fn the_situations_are_what_their_titles_say() {
    let shown = SITUATIONS.map(|name| {
        let it = situation(name, &[]);
        let lines: Vec<&str> = it.lines.iter().map(|line| line.name.as_str()).collect();
        let beside: Vec<Measure> = it.beside.iter().map(|beside| beside.measure).collect();
        format!("{name}: {}; lines {lines:?}, wifi {:?}, lte {:?}, {beside:?}", it.summary(), it.wifi, it.lte)
    });
    insta::assert_snapshot!(shown.join("\n"));
}

#[test]
fn in_every_situation_each_remedy_applies_or_says_why_not() {
    let mut shown = String::new();
    for name in SITUATIONS {
        let it = situation(name, &[]);
        for remedy in remedies() {
            match remedy.apply(&it) {
                Ok(settled) => {
                    assert!(!settled.experiment.simulates(&it.experiment), "{name}: {}", remedy.name);
                    let set: Vec<&str> = settled.set.iter().map(|(path, _)| path.as_str()).collect();
                    shown += &format!("{name}: {}: {}\n", remedy.name, set.join(", "));
                }
                Err(unfit) => shown += &format!("{name}: {}: not, {unfit}\n", remedy.name),
            }
        }
    }
    insta::assert_snapshot!(shown);
}

#[test]
fn the_lines_of_tc_mean_the_queue_that_was_judged() {
    for name in SITUATIONS {
        let it = situation(name, &[]);
        let settled = remedies().into_iter().filter_map(|remedy| remedy.apply(&it).ok());
        for settled in settled.filter(|settled| !settled.lines.is_empty()) {
            let queues = settled.experiment.cells()[0].gateway_queues("ppp0");
            let own: Vec<_> =
                queues.into_iter().filter(|queue| settled.lines.contains(&queue.line)).collect();
            assert_eq!(own.len(), settled.lines.len());
            for queue in own {
                assert!(queue.tc.lines().all(|line| line.starts_with("tc ") && line.contains("dev ppp0")));
                let read: QueueConfig = queue.tc.parse().unwrap();
                assert_eq!(read.script("ppp0"), queue.tc);
            }
        }
    }
}

#[test]
fn what_is_not_ones_own_is_not_touched_and_said_so() {
    let reason = |set: &[(&str, &str)], name: &str, remedy: &str| {
        let it = situation(name, set);
        let remedy = remedies().into_iter().find(|other| other.name == remedy).unwrap();
        remedy.apply(&it).map(|settled| settled.set).unwrap_err().0
    };
    let adsl = "situations/adsl-upload";
    for (set, name, remedy, part) in [
        (&[("advise.lines", "[]")][..], adsl, "fq_codel", "no gateway of one's own"),
        (&[("advise.dscp", "false")], adsl, "htb-priority", "no DSCP on the way"),
        (&[("advise.dscp", "false")], adsl, "cake-diffserv4", "no DSCP on the way"),
        (&[("advise.controller", "false")], adsl, "short-hold", "the application is not one's own"),
        (
            &[("advise.radio", "false")],
            "situations/wifi-tcp",
            "per-station",
            "the access point is not one's own",
        ),
        (
            &[("advise.radio", "false")],
            "situations/lte-tcp",
            "bearer-codel",
            "the base station is not one's own",
        ),
        (&[("advise.dscp", "false")], "situations/lte-tcp", "dedicated-bearer", "no DSCP on the way"),
        (&[], adsl, "htb-relayed", "no media relay on the call's way"),
        (&[], adsl, "htb-one-call", "there is no other call"),
        (&[], adsl, "today", "the call has that controller"),
        (&[], adsl, "wmm", "no Wi-Fi on the call's way"),
        (
            &[("host.home.up.queue", "fq_codel"), ("host.home.down.queue", "fq_codel")],
            adsl,
            "fq_codel",
            "it is so already",
        ),
        (
            &[(
                "host.home.up.rate",
                "[{ at = \"0s\", value = \"1Mbit/s\" }, { at = \"9s\", value = \"2Mbit/s\" }]",
            )],
            adsl,
            "htb-priority",
            "the rate of home.up changes",
        ),
    ] {
        let said = reason(set, name, remedy);
        assert!(said.contains(part), "{remedy}: {said}");
    }
}

#[test]
fn slips_in_advise_are_named_with_their_mend() {
    for (set, part) in [
        (("advise.call", "mian"), "there is no call 'mian'; did you mean main?"),
        (
            ("advise.lines", "[\"home.pu\"]"),
            "the call passes no line 'home.pu' with a rate; did you mean home.up?",
        ),
        (("call.main.video", "false"), ""),
    ] {
        let experiment = Experiment::open("situations/adsl-upload").unwrap();
        let experiment = experiment.with_overrides(&[(set.0.to_owned(), set.1.to_owned())]).unwrap();
        match Situation::of(&experiment, 0) {
            Err(error) => assert!(error.to_string().contains(part), "{error}"),
            Ok(found) => assert!(part.is_empty() && found.is_none(), "{set:?}"),
        }
    }
    let voice = Experiment::open("situations/adsl-upload").unwrap();
    let set = [("call.main.video", "false"), ("advise.call", "main")]
        .map(|(key, value)| (key.into(), value.into()));
    let error = Situation::of(&voice.with_overrides(&set).unwrap(), 0).unwrap_err().to_string();
    assert!(error.contains("'main' has no video"), "{error}");
}

#[test]
fn a_call_alone_is_all_that_it_can_be() {
    let it = situation(
        "situations/several-calls",
        &[("duration", "20s"), ("call.two.start", "5s"), ("call.three", "{ start = \"6s\" }")],
    );
    let alone = it.alone().unwrap();
    assert_eq!(alone.streams(), ["one.audio", "one.audio.back", "one.video", "one.video.back"]);
    let recording = sim::run(&alone.cells()[0].scenario(Seed(1)), sim::Options::default()).unwrap();
    let judgement = Judgement::of(&it, &recording).unwrap();
    assert!(judgement.beside.is_empty() && judgement.recovery_time.is_nan());
    assert!(
        judgement.call.goodput > 300e3 && judgement.call.useful_rate <= judgement.call.goodput,
        "{judgement:?}"
    );
}

/// Short runs of the ADSL uplink: what the queue does is there within 40 s.
const SHORT: [(&str, &str); 4] =
    [("duration", "60s"), ("call.main.stop", "40s"), ("tcp.upload.start", "10s"), ("runs", "2")];

#[test]
fn fair_queueing_helps_the_call_and_the_upload_pays() {
    let advice = advice("situations/adsl-upload", &SHORT, &["fq_codel", "ared", "wmm"]);
    let ranks = advice.ranks(2, 0.5);
    let of = |name: &str| ranks.iter().find(|rank| advice.name(rank) == name).unwrap();
    let (plain, fair) = (of("as it stands"), of("fq_codel"));
    assert_eq!(ranks.len(), 3, "WMM cannot be applied");
    assert_eq!(plain.standing.kept.mean, 1.0, "nothing is changed");
    assert!(fair.standing.quality.mean > 2.0 * plain.standing.quality.mean, "{fair:?} {plain:?}");
    assert!(fair.standing.kept.mean < 0.9 && fair.standing.kept.mean > 0.3, "{fair:?}");
    assert!(fair.standing.frame_delay_p95.mean < 0.5 * plain.standing.frame_delay_p95.mean);
    assert_eq!((ranks[0].place, ranks[2].place), (1, 3));
    // All for the call, or all for the others: then nothing beats what stands.
    assert_eq!(advice.name(&advice.ranks(2, 1.0)[0]), "fq_codel");
    let last = advice.ranks(2, 0.0);
    assert!(last.iter().position(|rank| advice.name(rank) == "fq_codel") == Some(2), "{last:?}");
}

#[test]
fn the_table_and_the_picture_have_every_remedy_and_the_words_the_best() {
    let advice = advice("situations/adsl-upload", &SHORT, &["fq_codel", "wmm"]);
    let ranks = advice.ranks(2, 0.5);
    let section = advice.section(&ranks, "ppp0");
    let table = advice.table(&ranks);
    assert_eq!((table.rows.len(), advice.scatter(&ranks).points.len()), (3, 2));
    assert_eq!(table.rows[2].cells, Cells::Inapplicable("no Wi-Fi on the call's way".to_owned()));
    assert!(table.rows[0].label.ends_with("fq_codel"), "{:?}", table.rows[0]);
    let heads: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
    assert_eq!(
        heads,
        [
            "kind",
            "call",
            "goodput",
            "frame delay p95",
            "frozen",
            "recovery",
            "upload",
            "others keep",
            "Jain",
            "score"
        ]
    );
    assert!(
        section.text.starts_with("Best: fq_codel, ") && section.text.contains("upload: "),
        "{}",
        section.text
    );
    let rows = section.table.unwrap().rows;
    assert_eq!(rows.iter().map(|row| row[0].as_str()).collect::<Vec<_>>(), ["home.up"]);
    assert!(rows[0][1].starts_with("tc qdisc add dev ppp0 root"));
}

#[test]
fn many_situations_count_as_their_experiments() {
    let experiments: Vec<Experiment> = ["janczukowicz-2017/adsl-ct", "wifi/download"]
        .iter()
        .map(|name| Experiment::open(name).unwrap())
        .collect();
    let (group, left_out) = Group::of("both", &experiments, &[]).unwrap();
    assert_eq!(left_out, [("janczukowicz-2017/adsl-ct".to_owned(), "config=RefUpload".to_owned())]);
    let cells: usize = experiments.iter().map(|experiment| experiment.cells().len()).sum();
    assert_eq!(group.situations.len(), cells - 1);
    let wmm = remedies().into_iter().filter(|remedy| remedy.name == "wmm").collect();
    let advice = Advice::new(group, wmm).unwrap();
    // Two of the three cells of wifi/download have no WMM yet; the wired ones never can.
    assert_eq!(advice.applied(Some(0)), 2);
    let reasons: BTreeSet<String> =
        advice.settled[0].iter().filter_map(|one| one.as_ref().err()).map(ToString::to_string).collect();
    assert_eq!(reasons.into_iter().collect::<Vec<_>>(), ["it is so already", "no Wi-Fi on the call's way"]);
}
