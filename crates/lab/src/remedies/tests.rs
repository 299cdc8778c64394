use super::catalogue::{RemedyKind, remedies};
use super::score::delay_factor;
use super::{Advice, Group, Judgement, Measure, Situation};
use crate::runner::{NO_CACHE, Runner};
use experiment::Experiment;
use metrics::Request;
use net::QueueConfig;
use report::{Cells, Table};
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
    advice_on(situation(name, set), name, chosen)
}

/// These remedies, run.
fn advice_on(situation: Situation, name: &str, chosen: &[&str]) -> Advice {
    run(Group { name: name.to_owned(), situations: vec![situation] }, chosen)
}

fn run(group: Group, chosen: &[&str]) -> Advice {
    let remedies = remedies().into_iter().filter(|remedy| chosen.contains(&remedy.name)).collect();
    let mut advice = Advice::new(group, remedies).unwrap();
    let cancel = AtomicBool::new(false);
    let jobs = NonZeroUsize::new(2).unwrap();
    let runner = Runner { jobs, cancel: &cancel, progress: &|_, _| {}, cache: &NO_CACHE };
    let summary =
        advice.run(runner, |job, reason| panic!("seed {}: {reason}", job.seed), |_| ()).unwrap();
    assert_eq!(summary.done, advice.runs());
    advice
}

#[test]
fn every_remedy_has_a_name_of_its_own_and_a_source() {
    let all = remedies();
    let names: BTreeSet<&str> = all.iter().map(|remedy| remedy.name).collect();
    assert_eq!(names.len(), all.len());
    assert!(
        !names.iter().any(|name| RemedyKind::ALL.iter().any(|kind| kind.as_str() == *name)),
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
        format!(
            "{name}: {}; lines {lines:?}, wifi {:?}, lte {:?}, {beside:?}",
            it.summary(),
            it.wifi,
            it.lte
        )
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
                    assert!(
                        !settled.experiment.simulates(&it.experiment),
                        "{name}: {}",
                        remedy.name
                    );
                    let set: Vec<&str> =
                        settled.set.iter().map(|(path, _)| path.as_str()).collect();
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
                assert!(
                    queue
                        .tc
                        .lines()
                        .all(|line| line.starts_with("tc ") && line.contains("dev ppp0"))
                );
                let read: QueueConfig = queue.tc.parse().unwrap();
                assert_eq!(read.gateway_script("ppp0"), queue.tc);
            }
        }
    }
}

#[test]
fn a_remedy_that_may_not_be_applied_says_which_key_forbids_it() {
    let reason = |set: &[(&str, &str)], name: &str, remedy: &str| {
        let it = situation(name, set);
        let remedy = remedies().into_iter().find(|other| other.name == remedy).unwrap();
        remedy.apply(&it).map(|settled| settled.set).unwrap_err().to_string()
    };
    let adsl = "situations/adsl-upload";
    for (set, name, remedy, part) in [
        (&[("advise.lines", "[]")][..], adsl, "fq_codel", "advise.lines is empty"),
        (&[("advise.dscp", "false")], adsl, "htb-priority", "advise.dscp is false"),
        (&[("advise.dscp", "false")], adsl, "cake-diffserv4", "advise.dscp is false"),
        (&[("advise.controller", "false")], adsl, "short-hold", "advise.controller is false"),
        (
            &[("advise.radio", "false")],
            "situations/wifi-tcp",
            "per-station",
            "advise.radio is false: the access point",
        ),
        (
            &[("advise.radio", "false")],
            "situations/lte-tcp",
            "bearer-codel",
            "advise.radio is false: the base station",
        ),
        (
            &[("advise.dscp", "false")],
            "situations/lte-tcp",
            "dedicated-bearer",
            "advise.dscp is false",
        ),
        (&[], adsl, "htb-relayed", "the call passes no media relay"),
        (&[], adsl, "htb-one-call", "there is no other call"),
        (&[], adsl, "today", "already configured; nothing to change"),
        (&[], adsl, "wmm", "the call passes no Wi-Fi cell"),
        (
            &[("host.home.up.queue", "fq_codel"), ("host.home.down.queue", "fq_codel")],
            adsl,
            "fq_codel",
            "already configured; nothing to change",
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
fn slips_in_advise_are_named_with_their_suggestion() {
    for (set, part) in [
        (("advise.call", "mian"), "there is no call 'mian'; did you mean main?"),
        (
            ("advise.lines", "[\"home.pu\"]"),
            "the call passes no line 'home.pu' with a limited rate; did you mean home.up?",
        ),
        (("call.main.video", "false"), ""),
    ] {
        let experiment = Experiment::open("situations/adsl-upload").unwrap();
        let experiment =
            experiment.with_overrides(&[(set.0.to_owned(), set.1.to_owned())]).unwrap();
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
    assert_eq!((ranks[0].position, ranks[2].position), (1, 3));
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
    assert_eq!(
        table.rows[2].cells,
        Cells::Inapplicable("the call passes no Wi-Fi cell".to_owned())
    );
    assert!(table.rows[0].label.ends_with("fq_codel"), "{:?}", table.rows[0]);
    let heads =
        |table: &Table| table.columns.iter().map(|column| column.name.clone()).collect::<Vec<_>>();
    assert_eq!(
        heads(&table),
        [
            "kind",
            "score",
            "call",
            "goodput",
            "frame delay p95",
            "frozen",
            "upload",
            "others keep",
            "Jain"
        ]
    );
    // Only where something ends the call recovers from it.
    let whole = self::advice("situations/adsl-upload", &[("runs", "1")], &["sfq"]);
    assert!(heads(&whole.table(&whole.ranks(1, 0.5))).contains(&"recovery".to_owned()));
    assert!(
        section.text.starts_with("Best: fq_codel, ") && section.text.contains("upload: "),
        "{}",
        section.text
    );
    let rows = section.table.unwrap().rows;
    assert_eq!(rows.iter().map(|row| row[0].as_str()).collect::<Vec<_>>(), ["home.up"]);
    assert!(rows[0][1].starts_with("tc qdisc replace dev ppp0 root"));
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
    let reasons: BTreeSet<String> = advice.settled[0]
        .iter()
        .filter_map(|one| one.as_ref().err())
        .map(ToString::to_string)
        .collect();
    assert_eq!(
        reasons.into_iter().collect::<Vec<_>>(),
        ["already configured; nothing to change", "the call passes no Wi-Fi cell"]
    );
}

/// A file of one's own: a home on 1 Mbit/s with these lines besides.
fn own(lines: &str) -> Experiment {
    let text = format!(
        "title = \"t\"\nduration = \"40s\"\nruns = 2\n[host.home]\nup = {{ rate = \"1Mbit/s\", delay = \"20ms\", queue = \"bfifo limit 125kB\" }}\n\
         [host.net]\n[host.turn]\n[defaults.call]\nfrom = \"home\"\nto = \"net\"\n{lines}\n"
    );
    Experiment::parse(&text, "own.toml").unwrap()
}

fn first(experiment: &Experiment) -> Situation {
    Situation::of(experiment, 0).unwrap().unwrap()
}

fn applied(situation: &Situation, name: &str) -> Result<Vec<(String, String)>, String> {
    let remedy = remedies().into_iter().find(|remedy| remedy.name == name).unwrap();
    remedy.apply(situation).map(|settled| settled.set).map_err(|unfit| unfit.to_string())
}

/// The ranks of a file of one's own.
fn ranks_of(experiment: &Experiment, chosen: &[&str]) -> (Advice, Vec<super::Rank>) {
    let advice = advice_on(first(experiment), "own", chosen);
    let ranks = advice.ranks(usize::MAX, 0.5);
    (advice, ranks)
}

/// A call, an upload that fills the queue of a second, and a voice from 10 s on.
const VOICE: &str = "[call.main]\n[call.voice]\nvideo = false\naudio = true\nstart = \"10s\"\n\
                     [tcp.upload]\nfrom = \"home\"\nto = \"net\"";

#[test]
fn a_voice_gains_by_what_takes_its_delay_away() {
    let it = first(&own(VOICE));
    let settled = remedies()
        .into_iter()
        .find(|remedy| remedy.name == "fq_codel")
        .unwrap()
        .apply(&it)
        .unwrap();
    let [plain, fair] = [&it.experiment, &settled.experiment].map(|experiment| {
        let recording =
            sim::run(&experiment.cells()[0].scenario(Seed(1)), sim::Options::default()).unwrap();
        let voice = Judgement::of(&it, &recording).unwrap().beside[0];
        let loss = Request::new("loss", &["voice.audio"], None).unwrap();
        (voice, loss.compute(&recording).unwrap())
    });
    for (voice, loss) in [plain, fair] {
        assert_eq!(
            (voice.measure, voice.speed),
            (Measure::Voice, (1.0 - loss) * delay_factor(voice.shown))
        );
    }
    // Nearly all of it arrives either way, but about a second late or at once.
    assert!(plain.1 < 0.1 && fair.1 < 0.1, "{plain:?} {fair:?}");
    assert!(plain.0.shown > 0.7 && fair.0.shown < 0.1, "{plain:?} {fair:?}");
    assert!(fair.0.speed > 3.0 * plain.0.speed, "{plain:?} {fair:?}");
}

#[test]
fn a_voice_of_which_nothing_came_is_of_no_use() {
    // It begins one packet before the end, and its way takes 20 ms.
    let late =
        own(VOICE).with_overrides(&[("call.voice.start".to_owned(), "39.99s".to_owned())]).unwrap();
    let it = first(&late);
    let recording = sim::run(&late.cells()[0].scenario(Seed(1)), sim::Options::default()).unwrap();
    let voice = Judgement::of(&it, &recording).unwrap().beside[0];
    assert_eq!((voice.shown, voice.speed), (f64::INFINITY, 0.0));
}

#[test]
fn who_was_starved_is_freed_tenfold_at_most() {
    // Pages of 2 MB behind an upload and a call: as it stands none comes.
    let page = "[call.main]\n[tcp.web]\nfrom = \"home\"\nto = \"net\"\npages = 9\npage_size = \"2MB\"\nstart = \"5s\"\n\
                [tcp.upload]\nfrom = \"home\"\nto = \"net\"";
    let (_, ranks) = ranks_of(&own(page), &["sfq", "htb-priority", "codel"]);
    for rank in &ranks {
        assert!(rank.standing.score().is_finite() && rank.standing.kept.mean <= 10.0, "{rank:?}");
    }
}

#[test]
fn a_network_that_does_not_carry_the_call_is_called_so() {
    let slow = own("[call.main]\n[tcp.upload]\nfrom = \"home\"\nto = \"net\"");
    let slow =
        slow.with_overrides(&[("host.home.up.rate".to_owned(), "60kbit/s".to_owned())]).unwrap();
    let (advice, ranks) = ranks_of(&slow, &["fq_codel"]);
    let words = advice.verdict(&ranks);
    assert!(
        advice.is_poor_alone() && words.contains("does not carry the call well even alone"),
        "{words}"
    );
    assert!(ranks.iter().all(|rank| rank.standing.quality.mean < 1.0), "{ranks:?}");
}

#[test]
fn one_seed_tells_nothing_apart() {
    let one = own("[call.main]\n[tcp.upload]\nfrom = \"home\"\nto = \"net\"");
    let one = one.with_overrides(&[("runs".to_owned(), "1".to_owned())]).unwrap();
    let (advice, ranks) = ranks_of(&one, &["fq_codel"]);
    assert!(ranks.iter().all(|rank| rank.as_good), "{ranks:?}");
    assert!(advice.verdict(&ranks).ends_with("use more seeds with --runs."));
    assert!(!advice.agreement(&ranks, 0.5).holds());
}

#[test]
fn a_strategy_of_the_file_is_written_out_before_it_is_changed() {
    let calls =
        "[call.main]\n[call.other]\n[strategy]\ncalls = [\"other\"]\nrelay = \"turn\"\nkind = ";
    for (kind, remedy) in
        [("neutral", "codel"), ("enterprise", "fq_codel"), ("ott", "htb-one-call")]
    {
        let it = first(&own(&format!("{calls}\"{kind}\"")));
        let set = applied(&it, remedy).unwrap();
        assert!(set.iter().any(|(path, _)| path == "host.home.up.queue"), "{kind}: {set:?}");
        assert_eq!(
            it.alone().unwrap().streams(),
            ["main.video"],
            "{kind}: though the other call is eligible"
        );
    }
    let it = first(&own(&format!("{calls}\"neutral\"")));
    assert_eq!(applied(&it, "fq_codel").unwrap_err(), "already configured; nothing to change");
}

#[test]
fn controllers_from_the_top_of_a_file_are_improved_there() {
    let top = |line: &str| {
        let text = own("[call.main]").text;
        first(&Experiment::parse(&format!("{line}\n{text}"), "own.toml").unwrap())
    };
    let set = |names: &str| vec![("improvement".to_owned(), names.to_owned())];
    assert_eq!(applied(&top("today = true"), "short-hold").unwrap(), set("short-hold"));
    let improved = top("improvement = \"short-hold\"");
    assert_eq!(applied(&improved, "aqm-alpha").unwrap(), set("short-hold+aqm-alpha"));
    assert!(applied(&improved, "short-hold").unwrap_err().contains("already lists short-hold"));
}

#[test]
fn what_a_section_made_is_its_own_whatever_others_are_called() {
    let text = "[conference.a]\nparties = [\"home\", \"net\"]\ntopology = \"mesh\"\n[conference.a-home]\nparties = [\"home\", \"turn\"]\ntopology = \"mesh\"\n\
                [tcp.upload]\nfrom = \"home\"\nto = \"net\"\nflows = 2\n[tcp.upload-3]\nfrom = \"home\"\nto = \"net\"\nbytes = \"1MB\"";
    let it = first(&own(text));
    let beside: Vec<(&str, Measure, usize)> = it
        .beside
        .iter()
        .map(|one| (one.name.as_str(), one.measure, one.section.members.len()))
        .collect();
    assert_eq!(
        beside,
        [
            ("a-home", Measure::Call, 1),
            ("upload", Measure::Rate, 2),
            ("upload-3", Measure::CompletionTime, 1)
        ]
    );
}

#[test]
fn a_relays_own_lines_are_on_the_way() {
    let relayed = own("[call.main]\nrelay = \"turn\"");
    let line = (
        "host.turn.up".to_owned(),
        "{ rate = \"2Mbit/s\", queue = \"pfifo limit 100\" }".to_owned(),
    );
    let it = first(&relayed.with_overrides(&[line]).unwrap());
    let lines: Vec<&str> = it.lines.iter().map(|line| line.name.as_str()).collect();
    assert_eq!(lines, ["home.up", "turn.up"]);
    let set = applied(&it, "htb-relayed").unwrap();
    // To the relay on the client's line, from it on its own.
    assert!(
        set[0].1.contains("match ip dst 10.0.0.3") && set[1].1.contains("match ip src 10.0.0.3"),
        "{set:?}"
    );
}

#[test]
fn marks_that_a_class_does_not_take_are_said_and_missing_ones_filled_in() {
    let reason = applied(&first(&own("[call.main]\ndscp = \"cs5\"")), "htb-priority").unwrap_err();
    assert_eq!(reason, "'main' has the DSCP mark 40, but the class matches only EF and AF41");
    let half = applied(
        &first(&own("[call.main]\naudio = true\ndscp = { audio = \"ef\" }")),
        "htb-priority",
    )
    .unwrap();
    assert_eq!(
        half[1],
        ("call.main.dscp".to_owned(), "{ audio = \"ef\", video = \"af41\" }".to_owned())
    );
}

#[test]
fn a_dedicated_bearer_is_the_judged_calls_alone_and_holds_all_of_it() {
    let it = situation(
        "situations/lte-tcp",
        &[(
            "call.two",
            "{ from = \"phone\", to = \"server\", audio = true, controller = \"gcc:libwebrtc\" }",
        )],
    );
    let set = applied(&it, "dedicated-bearer").unwrap();
    let paths: Vec<&str> = set.iter().map(|(path, _)| path.as_str()).collect();
    assert_eq!(paths, ["lte.cell.bearer.call", "call.main.dscp"]);
    // Video of 2500 and Opus of 69 kbit/s, and a tenth.
    let audio = it.scenario.calls[0].audio.as_ref().unwrap().rate.as_bps();
    let gbr = (2_500_000 + audio) * 11 / 10;
    assert!(set[0].1.contains(&format!("gbr = \"{}\"", units::Bitrate::from_bps(gbr))), "{set:?}");
}

#[test]
fn a_run_that_breaks_off_takes_its_remedy_alone() {
    let set = [("duration", "40s"), ("runs", "2")];
    let mut advice = advice("situations/adsl-upload", &set, &["codel", "pie"]);
    let names = |advice: &Advice| -> BTreeSet<&str> {
        advice.ranks(2, 0.5).iter().map(|rank| advice.name(rank)).collect()
    };
    assert_eq!(names(&advice), ["as it stands", "codel", "pie"].into());
    // As it stands, the call alone, and the remedies.
    advice.leave_out(2, "its run of seed 2 gave nothing: no memory".to_owned());
    assert_eq!(names(&advice), ["as it stands", "pie"].into());
    let words = advice.verdict(&advice.ranks(2, 0.5));
    assert!(
        words.contains(" Left out: codel: its run of seed 2 gave nothing: no memory."),
        "{words}"
    );
    assert!(advice.unfit().is_empty() && advice.is_ranked());
    advice.leave_out(1, "its run of seed 1 gave nothing: no memory".to_owned());
    assert!(!advice.is_ranked());
    assert_eq!(
        advice.left_out()[0],
        "situations/adsl-upload: its run of seed 1 gave nothing: no memory"
    );
}

#[test]
fn a_situation_without_its_yardstick_is_left_out_of_the_others() {
    let experiment = Experiment::open("wifi/download").unwrap();
    let experiment = experiment.with_overrides(&[("runs".to_owned(), "1".to_owned())]).unwrap();
    let (group, _) = Group::of("wifi", std::slice::from_ref(&experiment), &[]).unwrap();
    assert!(group.situations.len() > 1, "a grid");
    let mut advice = run(group, &["per-station"]);
    let count = |advice: &Advice| advice.standing(None, 1, 0.5).unwrap().quality.runs;
    let all = count(&advice);
    advice.leave_out(0, "its run of seed 1 gave nothing: no memory".to_owned());
    assert!(advice.is_ranked() && count(&advice) == all - 1, "{all}");
    assert!(
        advice.left_out()[0].starts_with("wifi/download, remedy=plain: "),
        "{:?}",
        advice.left_out()
    );
}

#[test]
fn a_voice_that_was_given_up_is_heard_for_a_part_of_its_time() {
    let text = VOICE.replace("start = \"10s\"", "start = \"0s\"\nmedia_timeout = \"1s\"");
    let it = first(&own(&text));
    let dead = [(
        "host.home.up.loss".to_owned(),
        "[{ at = \"0s\", value = \"0%\" }, { at = \"10s\", value = \"100%\" }]".to_owned(),
    )];
    let voices = [own(&text), own(&text).with_overrides(&dead).unwrap()].map(|experiment| {
        let recording =
            sim::run(&experiment.cells()[0].scenario(Seed(1)), sim::Options::default()).unwrap();
        Judgement::of(&it, &recording).unwrap().beside[0]
    });
    assert!(voices[0].shown.is_finite() && voices[1].shown.is_infinite(), "{voices:?}");
    // 10 s of 40 s.
    assert!(voices[1].speed <= 0.25 && voices[1].speed > 0.0, "{voices:?}");
    // Whether the sender gave it up too or sent on: what never came counts once.
    let patient = own(VOICE)
        .with_overrides(&[("call.voice.start".to_owned(), "0s".to_owned()), dead[0].clone()]);
    let recording =
        sim::run(&patient.unwrap().cells()[0].scenario(Seed(1)), sim::Options::default()).unwrap();
    let sent_on = Judgement::of(&it, &recording).unwrap().beside[0];
    assert!((sent_on.speed - voices[1].speed).abs() < 0.02, "{sent_on:?} {voices:?}");
}

#[test]
fn sections_of_one_name_are_separated() {
    let text = "[call.room]\n[conference.room]\nparties = [\"home\", \"net\"]\ntopology = \"mesh\"\n\
                [tcp.room]\nfrom = \"home\"\nto = \"net\"";
    let it = first(&own(text));
    let beside: Vec<&str> = it.beside.iter().map(|beside| beside.name.as_str()).collect();
    assert_eq!(
        (it.call.name.as_str(), &beside[..]),
        ("call.room", &["conference.room", "room"][..])
    );
    let named =
        |call: &str| own(text).with_overrides(&[("advise.call".to_owned(), call.to_owned())]);
    assert_eq!(first(&named("conference.room").unwrap()).call.name, "conference.room");
    let ambiguous = Situation::of(&named("room").unwrap(), 0).unwrap_err().to_string();
    assert!(ambiguous.contains("the calls are call.room, conference.room"), "{ambiguous}");
    assert_eq!(it.alone().unwrap().cells()[0].scenario(Seed(1)).calls.len(), 1);
}
