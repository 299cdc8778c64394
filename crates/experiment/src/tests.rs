use super::*;
use units::{Duration, Time};

const GOOD: &str = r#"
title = "A call"
duration = "60s"

[host.alice]
up = { rate = "1Mbit/s", delay = "25ms", queue = "droptail limit 150ms" }

[host.bob]

[call.main]
from = "alice"
to = "bob"
controller = "gcc:carlucci-2017"
"#;

fn parse(text: &str) -> Result<Experiment, ExperimentError> {
    Experiment::parse(text, "x.toml")
}

/// The error of `GOOD` with a text replaced.
fn message(old: &str, new: &str) -> String {
    assert!(GOOD.contains(old), "{old}");
    parse(&GOOD.replacen(old, new, 1)).unwrap_err().to_string()
}

/// The error of `GOOD` with lines added.
fn message_with(more: &str) -> String {
    parse(&format!("{GOOD}{more}")).unwrap_err().to_string()
}

#[test]
fn every_built_in_experiment_is_valid() {
    assert!(names().len() >= 18, "{:?}", names());
    for name in names() {
        let experiment = Experiment::open(name).unwrap_or_else(|error| panic!("{error}"));
        assert!(!experiment.cells().is_empty() && experiment.runs > 0, "{name}");
    }
    let index = |name: &str| names().iter().position(|other| other == name);
    assert!(index("jansen-2016/fig8-7") < index("jansen-2016/fig8-10"), "7 is before 10");
}

#[test]
fn a_grid_is_every_combination_and_the_last_axis_varies_fastest() {
    let experiment = Experiment::open("carlucci-2017/fig11").unwrap();
    let labels: Vec<String> = experiment.cells().iter().map(Cell::label).collect();
    let label = |queue: &str, rate: &str, bottleneck: &str| {
        format!(
            "host.alice.up.queue=droptail limit {queue}, host.alice.up.rate={rate}, bottleneck={bottleneck}"
        )
    };
    assert_eq!(labels.len(), 24);
    assert_eq!(labels[0], label("150ms", "500kbit/s", "tbf"));
    assert_eq!(labels[1], label("150ms", "500kbit/s", "serial"));
    assert_eq!(labels[2], label("150ms", "1Mbit/s", "tbf"));
    assert_eq!(labels[23], label("700ms", "2Mbit/s", "serial"));
    assert_eq!(
        experiment.seeds().map(|seed| seed.0).collect::<Vec<_>>(),
        (1..=10).collect::<Vec<_>>()
    );
}

#[test]
fn a_point_of_an_axis_can_select_calls() {
    let experiment = Experiment::open("carlucci-2017/fig14").unwrap();
    let calls: Vec<usize> =
        experiment.cells().iter().map(|cell| cell.scenario(Seed(1)).calls.len()).collect();
    assert_eq!(calls, [[2; 6], [3; 6], [4; 6]].concat());
}

#[test]
fn settings_of_a_point_reach_the_controller() {
    let experiment = Experiment::open("carlucci-2017/fig6").unwrap().as_printed().unwrap().unwrap();
    let settings =
        |cell: &Cell| cell.scenario(Seed(1)).calls[0].video.clone().unwrap().controller.settings;
    let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    assert_eq!(
        settings(&experiment.cells()[0]),
        [pair("threshold", "static"), pair("threshold.initial", "5.13")]
    );
    assert_eq!(settings(&experiment.cells()[2]), []);
}

#[test]
fn overrides_reach_every_cell_and_every_call() {
    let experiment = Experiment::open("carlucci-2017/fig13").unwrap();
    let set = |pairs: &[(&str, &str)]| {
        let pairs: Vec<_> =
            pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        experiment.with_overrides(&pairs)
    };
    let changed =
        set(&[("call.*.controller", "gcc:jansen-2016"), ("duration", "100s"), ("runs", "3")])
            .unwrap();
    let scenario = changed.cells()[0].scenario(Seed(9));
    assert_eq!(
        (scenario.duration, scenario.seed, changed.runs),
        (Duration::from_secs(100), Seed(9), 3)
    );
    assert_eq!(scenario.calls.len(), 4);
    assert!(
        scenario
            .calls
            .iter()
            .all(|call| call.video.as_ref().unwrap().controller.profile == "gcc:jansen-2016")
    );
    assert_eq!(scenario.calls[1].stop, Time::from_secs(100));
    let again = parse(&changed.text).unwrap();
    assert_eq!(
        format!("{:?}", again.cells()),
        format!("{:?}", changed.cells()),
        "the text describes what is run"
    );
    let refused = |key: &str, value: &str| set(&[(key, value)]).unwrap_err().to_string();
    assert_eq!(
        refused("host.alice.up.rate", "0bit/s"),
        "--set: host.alice.up.rate: the rate is always 0, so no packet would ever arrive; \
         write a rate above 0, or leave it out for unlimited"
    );
    assert_eq!(
        refused("host.alice.up.rat", "1"),
        "--set: host.alice.up.rat: there is no such key; did you mean rate?"
    );
    assert_eq!(
        refused("a..b", "1"),
        "--set: 'a..b' is not the path of a value; write for example host.alice.up.rate"
    );
    assert_eq!(
        refused("title.a", "1"),
        "--set: title.a: title is not a table; see the keys in the file"
    );
    assert_eq!(
        refused("host.alcie.up.rate", "1Mbit/s"),
        "--set: host.alcie.up.rate: there is no host 'alcie'; the hosts are alice, bob"
    );
}

#[test]
fn an_override_replaces_the_axis_of_its_path() {
    let set = |name: &str, key: &str, value: &str| {
        Experiment::open(name).unwrap().with_overrides(&[(key.to_owned(), value.to_owned())])
    };
    let changed = set("carlucci-2017/fig11", "host.*.up.rate", "3Mbit/s").unwrap();
    assert_eq!(changed.cells().len(), 6, "the queue and the bottleneck still vary");
    assert!(changed.cells().iter().all(|cell| !cell.label().contains("rate")));
    let changed = set("carlucci-2017/fig11", "call.main.video.fps", "25").unwrap();
    assert_eq!(changed.cells().len(), 24);
    let error =
        set("carlucci-2017/fig14", "host.alice.up.rate", "3Mbit/s").unwrap_err().to_string();
    assert!(
        error.contains("host.alice.up.rate: an axis of the experiment sets this in every cell"),
        "{error}"
    );
}

#[test]
fn missing_keys_of_a_call_are_taken_from_the_defaults() {
    let text = format!(
        "{GOOD}\n[call.main.video]\nfps = 50\n[defaults.call]\nstart = \"5s\"\nvideo = {{ fps = 10, width = 640 }}\n"
    );
    let call = parse(&text).unwrap().cells()[0].scenario(Seed(1)).calls[0].clone();
    let source = call.video.unwrap().encoder.source;
    assert_eq!(
        (call.start, source.fps, source.width, source.height),
        (Time::from_secs(5), 50, 640, 720)
    );
}

#[test]
fn another_controller_keeps_the_settings_that_it_has() {
    let settings = "settings = { 'pacing.factor' = 2, 'threshold' = \"static\" }\n";
    let other = parse(&format!("{GOOD}{settings}")).unwrap().with_controller("gcc:libwebrtc");
    let scenario = other.unwrap().cells()[0].scenario(units::Seed(1));
    let controller = &scenario.calls[0].video.as_ref().unwrap().controller;
    assert_eq!(controller.settings, [("pacing.factor".to_owned(), "2".to_owned())]);
    let axis = "[grid]\n\"call.main.settings.'threshold'\" = [\"static\"]\n";
    let varied = parse(&format!("{GOOD}{axis}")).unwrap().with_controller("gcc:libwebrtc");
    assert!(varied.is_err(), "the axis varies what it does not have");
}

#[test]
fn ramps_end_at_their_value() {
    let ramp = |shape: &str, from: &str, to: &str| {
        let list = format!(
            "delay = [{{ at = \"0s\", value = \"{from}\" }}, \
             {{ at = \"10s\", ramp_to = \"{to}\", over = \"2s\", every = \"500ms\", shape = \"{shape}\" }}]"
        );
        let node = document::parse(&list).unwrap();
        let mut table = Reader::new(&node, "").unwrap();
        let schedule =
            schedule::read_schedule::<Duration>(table.node("delay").unwrap(), "delay").unwrap();
        schedule
            .as_steps()
            .iter()
            .map(|(at, value)| format!("{at} {}", value.as_micros()))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        ramp("linear", "0ms", "8ms"),
        ["0s 0", "10s 2000", "10.5s 4000", "11s 6000", "11.5s 8000"]
    );
    let exponential = ramp("exponential", "0ms", "1023ms");
    assert_eq!((exponential.len(), exponential.last().unwrap().as_str()), (5, "11.5s 1023000"));
}

#[test]
fn a_rate_may_be_zero_for_a_time() {
    let steps = "rate = [{ at = \"0s\", value = \"1Mbit/s\" }, { at = \"5s\", value = \"0bit/s\" }, { at = \"9s\", value = \"1Mbit/s\" }]";
    assert!(parse(&GOOD.replace("rate = \"1Mbit/s\"", steps)).is_ok());
}

#[test]
fn error_correction_is_off_by_default() {
    let fec = |line: &str| {
        let experiment =
            parse(&GOOD.replace("to = \"bob\"", &format!("to = \"bob\"{line}"))).unwrap();
        let scenario = experiment.cells()[0].scenario(units::Seed(1));
        scenario.calls[0].video.as_ref().unwrap().fec
    };
    assert_eq!(fec(""), sim::Fec::Off);
    assert_eq!(fec("\nfec = \"off\""), sim::Fec::Off);
    assert_eq!(fec("\nfec = \"hybrid\""), sim::Fec::Hybrid);
}

#[test]
fn feedback_is_rtcp_by_default() {
    let call = |line: &str| GOOD.replace("to = \"bob\"", &format!("to = \"bob\"{line}"));
    let is_ideal = |line: &str| {
        let scenario = parse(&call(line)).unwrap().cells()[0].scenario(units::Seed(1));
        scenario.calls[0].video.as_ref().unwrap().ideal_feedback
    };
    assert!(
        !is_ideal("") && !is_ideal("\nfeedback = \"rtcp\"") && is_ideal("\nfeedback = \"ideal\"")
    );
    let error = parse(&call("\nfeedback = \"none\"")).unwrap_err().to_string();
    assert!(error.contains("there is no feedback 'none'; write rtcp or ideal"), "{error}");
}

#[test]
fn a_recording_that_would_not_fit_into_memory_is_refused() {
    let short = "duration = \"5s\"\nsample_interval = \"1us\"";
    let error = message("duration = \"60s\"", short);
    assert!(error.contains("sample_interval: a run would record"), "{error}");
    assert!(error.contains("\"1ms\" or longer"), "{error}");
    let long = "duration = \"5s\"\nsample_interval = \"1ms\"";
    parse(&GOOD.replacen("duration = \"60s\"", long, 1)).unwrap();
}

#[test]
fn errors_name_the_line_the_key_and_the_suggestion() {
    let messages = [
        message("title = \"A call\"", "title = "),
        message("duration = \"60s\"", ""),
        message("duration = \"60s\"", "duration = \"0s\""),
        message("duration = \"60s\"", "duration = 60"),
        message("duration = \"60s\"", "duration = \"60 parsecs\""),
        message("duration = \"60s\"", "duration = \"60s\"\nsample_interval = \"0s\""),
        message("duration = \"60s\"", "duration = \"60s\"\nsample_interval = \"61s\""),
        message("duration = \"60s\"", "duration = \"60s\"\nruns = 0"),
        message("duration = \"60s\"", "duration = \"60s\"\nsample_intervall = \"1s\""),
        message("1Mbit/s", "0bit/s"),
        message("1Mbit/s", "fast"),
        message("rate = \"1Mbit/s\"", "rate = [{ at = \"1s\", value = \"1Mbit/s\" }]"),
        message(
            "rate = \"1Mbit/s\"",
            "rate = [{ at = \"0s\", value = \"1Mbit/s\" }, { at = \"9s\", value = \"2Mbit/s\" }, { at = \"8s\", value = \"1Mbit/s\" }]",
        ),
        message("rate = \"1Mbit/s\"", "rate = []"),
        message("rate = \"1Mbit/s\"", "rate = { trace = \"missing.mahimahi\" }"),
        message("rate = \"1Mbit/s\"", "loss = \"120%\""),
        message("rate = \"1Mbit/s\"", "loss = { model = \"gilbert\" }"),
        message("[host.bob]", "[host.'b.b']"),
        message("to = \"bob\"", "to = \"bop\""),
        message("to = \"bob\"", "to = \"alice\""),
        message("to = \"bob\"", "to = \"bob\"\nstart = \"10s\"\nstop = \"5s\""),
        message("to = \"bob\"", "to = \"bob\"\nstart = \"60s\""),
        message("to = \"bob\"", "to = \"bob\"\nvideo = false"),
        message("to = \"bob\"", "to = \"bob\"\nvideo = { fps = 0 }"),
        message("to = \"bob\"", "to = \"bob\"\nvideo = { codec = \"av1\" }"),
        message("to = \"bob\"", "to = \"bob\"\nvideo = { codec = \"csv\" }"),
        message(
            "to = \"bob\"",
            "to = \"bob\"\nvideo = { min_rate = \"3Mbit/s\", max_rate = \"2Mbit/s\" }",
        ),
        message("to = \"bob\"", "to = \"bob\"\nburst_time = \"0s\""),
        message("to = \"bob\"", "to = \"bob\"\ndscp = 64"),
        message("to = \"bob\"", "to = \"bob\"\nfec = \"ulpfec\""),
        message("gcc:carlucci-2017", "gcc:carlucci-2071"),
        message("to = \"bob\"", "to = \"bob\"\nsettings = { treshold = \"static\" }"),
        message_with("[call.main]\nfrom = \"bob\"\n"),
        message_with("[grid]\n\"host.alice.up.rate\" = []\n"),
        message_with("[grid]\n\"host.alice.up.rate\" = [\"1Mbit/s\", \"1Mbit/s\"]\n"),
        message_with("[grid]\n\"host.alice.up.rate\" = [\n  \"1Mbit/s\",\n  \"0bit/s\",\n]\n"),
        message_with("[[axis]]\nname = \"a\"\npoints = []\n"),
        message_with("[[axis]]\nname = \"a\"\npoints = [{ label = \"x\", calls = [\"mane\"] }]\n"),
        message_with("[grid]\nruns = [1, 2]\n"),
        parse(&format!("title = \"{}\"", "x".repeat(2 << 20))).unwrap_err().to_string(),
    ];
    insta::assert_snapshot!(messages.join("\n"));
}

#[test]
fn an_error_in_a_trace_names_its_line() {
    let folder = std::env::temp_dir().join(format!("weir-trace-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("path.mahimahi"), "0\n5\nsoon\n").unwrap();
    let path = folder.join("x.toml");
    let text = GOOD.replace("rate = \"1Mbit/s\"", "rate = { trace = \"path.mahimahi\" }");
    let error = Experiment::parse(&text, path.to_str().unwrap()).unwrap_err();
    std::fs::remove_dir_all(&folder).unwrap();
    assert_eq!((error.line, error.key.as_str()), (Some(6), "host.alice.up.rate"));
    assert!(error.reason.starts_with("path.mahimahi: line 3"), "{error}");
}

#[test]
fn an_unknown_name_gets_the_most_similar_one_as_suggestion() {
    let error = Experiment::open("carlucci-2017/fig12x").unwrap_err().to_string();
    assert!(
        error.contains("there is no experiment of this name")
            && error.contains("did you mean carlucci-2017/fig1"),
        "{error}"
    );
}

const UPLOAD: &str = r#"
[tcp.upload]
from = "alice"
to = "bob"
bytes = "5MB"
congestion_control = "bbr"
flows = 3
"#;

#[test]
fn tcp_flows_take_defaults_and_may_be_several() {
    let text = format!(
        "{GOOD}{UPLOAD}\n[defaults.tcp]\nstart = \"5s\"\necn = true\n[tcp.back]\nfrom = \"bob\"\nto = \"alice\"\n"
    );
    let experiment =
        parse(&text.replace("[host.bob]", "[host.bob]\nup = { rate = \"1Mbit/s\" }\ntsq = true"))
            .unwrap();
    let scenario = experiment.cells()[0].scenario(Seed(1));
    let names: Vec<&str> = scenario.tcp.iter().map(|flow| flow.name.as_str()).collect();
    assert_eq!(names, ["upload-1", "upload-2", "upload-3", "back"]);
    assert!(scenario.tcp.iter().all(|flow| flow.ecn && flow.start == Time::from_secs(5)));
    assert_eq!(scenario.tcp[0].congestion_control.to_string(), "bbr");
    assert_eq!(scenario.stacks.iter().map(|stack| stack.tsq).collect::<Vec<_>>(), [false, true]);
}

#[test]
fn a_simulation_needs_a_call_or_a_tcp_flow_and_an_emulation_does_not() {
    let without_call = GOOD.split("[call.main]").next().unwrap();
    assert!(parse(&format!("{without_call}{UPLOAD}")).unwrap().simulated().is_ok());
    let network = parse(without_call).unwrap();
    assert_eq!(network.cells().len(), 1);
    let error = network.simulated().unwrap_err().to_string();
    assert!(error.contains("nothing to simulate") && error.contains("[tcp.upload]"), "{error}");
}

#[test]
fn errors_in_tcp_sections_name_the_key_and_a_suggestion() {
    let with = |old: &str, new: &str| {
        assert!(UPLOAD.contains(old), "{old}");
        message_with(&UPLOAD.replacen(old, new, 1))
    };
    for (old, new, part) in [
        ("\"bbr\"", "\"cubik\"", "did you mean cubic?"),
        ("\"bbr\"", "\"vegas\"", "there are reno, cubic, bbr, prague"),
        ("\"5MB\"", "\"0B\"", "zero"),
        ("flows = 3", "flows = 0", "1 to 1000"),
        ("flows = 3", "on = \"5s\"\noff = \"5s\"", "bytes excludes on and off"),
        ("bytes = \"5MB\"", "on = \"5s\"", "off ="),
        ("bytes = \"5MB\"", "off = \"5s\"", "on ="),
        ("flows = 3", "hz = 300", "100, 250 or 1000"),
        ("flows = 3", "receive_window = \"1kB\"", "1.448kB or more"),
        ("\"bob\"", "\"alice\"", "from a host to itself"),
        ("flows = 3", "stop = \"0s\"", "not after the start"),
        ("flows = 3", "flow = 3", "flow"),
        (
            "[tcp.upload]",
            "[tcp.upload-1]\nfrom = \"alice\"\nto = \"bob\"\n[tcp.upload]",
            "two flows called 'upload-1'",
        ),
    ] {
        let error = with(old, new);
        assert!(error.contains(part) && error.contains("tcp."), "{new}: {error}");
    }
    let error = message("[host.bob]", "[host.bob]\ntsq = true");
    assert!(error.contains("host.bob.tsq") && error.contains("give 'up' a rate"), "{error}");
}

#[test]
fn a_call_may_pass_a_relay_that_is_another_host() {
    let with = |relay: &str| format!("to = \"bob\"\nrelay = \"{relay}\"");
    let text = GOOD.replacen("to = \"bob\"", &with("turn"), 1) + "[host.turn]\n";
    let calls = parse(&text).unwrap().cells()[0].scenario(Seed(1)).calls;
    assert_eq!(calls[0].relay, Some(net::HostId(2)));
    for (relay, part) in [
        ("bop", "call.main.relay: there is no host 'bop'; did you mean bob?"),
        ("bob", "call.main.relay: 'bob' is an end of the call; name a host between them"),
    ] {
        let error = message("to = \"bob\"", &with(relay));
        assert!(error.contains(part) && error.starts_with("x.toml:13"), "{error}");
    }
}

/// [`GOOD`] with another controller as printed, and an axis whose second point has its own.
const PRINTED: &str = r#"
[as_printed]
"call.main.controller" = "gcc:draft-02"

[[axis]]
name = "threshold"
points = [
  { label = "adaptive" },
  { label = "static", set = { "host.alice.up.delay" = "10ms" }, as_printed = { "call.main.settings.threshold" = "static" } },
]
"#;

#[test]
fn an_experiment_as_printed_differs_where_it_says() {
    let experiment = parse(&format!("{GOOD}{PRINTED}")).unwrap();
    let of = |experiment: &Experiment, cell: usize| {
        let scenario = experiment.cells()[cell].scenario(Seed(1));
        let controller = scenario.calls[0].video.clone().unwrap().controller;
        (controller.profile, controller.settings.len(), scenario.network)
    };
    let printed = experiment.as_printed().unwrap().unwrap();
    assert_eq!(of(&experiment, 0).0, "gcc:carlucci-2017");
    assert_eq!(of(&printed, 0).0, "gcc:draft-02");
    // The point as run sets the delay, as printed it sets the threshold instead.
    assert_eq!((of(&experiment, 1).1, of(&printed, 1).1), (0, 1));
    assert_ne!(of(&experiment, 0).2, of(&experiment, 1).2);
    assert_eq!(of(&printed, 0).2, of(&printed, 1).2);
    // It is an experiment of its own, and nothing is printed about it any more.
    assert!(printed.as_printed().is_none());
    assert_eq!(parse(&printed.text).unwrap().identity(), printed.identity());
    let only = experiment.only(1).unwrap();
    assert!(only.as_printed().is_none());
}

#[test]
fn an_override_replaces_what_is_printed() {
    let experiment = parse(&format!("{GOOD}{PRINTED}")).unwrap();
    let set = [("call.main.controller".to_owned(), "gcc:jansen-2016".to_owned())];
    let printed = experiment.with_overrides(&set).unwrap().as_printed().unwrap().unwrap();
    assert!(printed.controllers().all(|controller| controller == "gcc:jansen-2016"));
    let varied = [("call.main.settings.threshold".to_owned(), "adaptive".to_owned())];
    let error = experiment.with_overrides(&varied).unwrap_err().to_string();
    assert!(error.contains("an axis of the experiment sets this"), "{error}");
}

#[test]
fn what_is_printed_does_not_change_the_runs_as_run() {
    let experiment = parse(&format!("{GOOD}{PRINTED}")).unwrap();
    let plain = PRINTED
        .replace("[as_printed]\n\"call.main.controller\" = \"gcc:draft-02\"\n", "")
        .replace(", as_printed = { \"call.main.settings.threshold\" = \"static\" }", "");
    assert_eq!(experiment.identity(), parse(&format!("{GOOD}{plain}")).unwrap().identity());
    assert!(parse(&format!("{GOOD}{plain}")).unwrap().as_printed().is_none());
}

#[test]
fn wrong_paths_of_what_is_printed_are_refused() {
    let error = message_with("[as_printed]\n\"title\" = \"x\"\n");
    assert!(error.contains("this key cannot be varied"), "{error}");
    let printed = parse(&format!("{GOOD}[as_printed]\n\"call.main.controller\" = \"gcc:none\"\n"));
    let error = printed.unwrap().as_printed().unwrap().unwrap_err().to_string();
    assert!(error.contains("gcc:none"), "{error}");
}

#[test]
fn every_controller_is_an_axis() {
    let text = "title = \"t\"\nduration = \"9s\"\n[host.a]\n[host.b]\n[call.c]\nfrom = \"a\"\nto = \"b\"\n[grid]\n";
    let cells = |line: &str| {
        let read = Experiment::parse(&format!("{text}{line}\n"), "x.toml");
        read.map(|experiment| experiment.cells().len()).map_err(|error| error.to_string())
    };
    let adaptive = crate::controllers::adaptive().count();
    assert_eq!(cells("\"call.c.controller\" = \"all\""), Ok(adaptive));
    let error = cells("\"call.c.start_rate\" = \"all\"").unwrap_err();
    assert!(error.contains("a text where a list belongs"), "{error}");
}

#[test]
fn pauses_are_in_order_of_time_and_belong_to_the_schedule() {
    let text = |pauses: &str| {
        format!(
            "title = \"t\"\nduration = \"120s\"\n[host.a]\n[host.b]\n[call.c]\nfrom = \"a\"\nto = \"b\"\npauses = {pauses}\n"
        )
    };
    let read = |pauses: &str| Experiment::parse(&text(pauses), "x.toml");
    let of = |experiment: &Experiment| experiment.cells()[0].scenario.calls[0].pauses.clone();
    let pause = |from, to| (units::Time::from_secs(from), units::Time::from_secs(to));
    let two = read("[[\"40s\", \"60s\"], [\"60s\", \"70s\"]]").unwrap();
    assert_eq!(of(&two), [pause(40, 60), pause(60, 70)]);
    assert_eq!(of(&two.quick().unwrap()), [pause(20, 30), pause(30, 35)]);
    for wrong in ["[[\"60s\", \"40s\"]]", "[[\"4s\", \"6s\"], [\"5s\", \"7s\"]]", "[\"4s\"]"] {
        let error = read(wrong).unwrap_err().to_string();
        assert!(error.contains("call.c.pauses"), "{wrong}: {error}");
    }
}
