use crate::Experiment;
use net::{AccessConfig, Dscp};
use sim::Scenario;
use units::Seed;

const HOME: &str = r#"title = "t"
duration = "60s"
[host.home]
up = { rate = "1Mbit/s", queue = "droptail limit 1s" }
down = { rate = "8Mbit/s", queue = "tbf rate 8Mbit burst 5kB limit 90kB" }
[host.net]
[host.turn]
[defaults.call]
from = "home"
to = "net"
[call.main]
[call.other]
dscp = { audio = "ef", video = "af41" }
[strategy]
calls = ["main"]
relay = "turn"
"#;

fn parse(text: &str) -> Result<Experiment, String> {
    Experiment::parse(text, "x.toml").map_err(|error| error.to_string())
}

/// `HOME` with more of the strategy.
fn home(more: &str) -> Result<Experiment, String> {
    parse(&format!("{HOME}{more}\n"))
}

/// What a strategy can change: queues, relays and marks.
fn changed(scenario: &Scenario) -> String {
    let mut lines = Vec::new();
    for host in &scenario.network.hosts {
        if let AccessConfig::Wired { up, down } = &host.access {
            let queues =
                [("up", up), ("down", down)].map(|(way, line)| (way, line.queue.script("eth0")));
            for (way, queue) in queues.iter().filter(|(_, queue)| !queue.contains("unlimited")) {
                lines.push(format!("{}.{way}\n{queue}", host.name));
            }
        }
    }
    for call in &scenario.calls {
        let relay = call.relay.map_or("nobody", |relay| scenario.name(relay));
        let (audio, video) = (call.dscp.audio.0, call.dscp.video.0);
        lines.push(format!("{}: relayed by {relay}, audio {audio}, video {video}", call.name));
    }
    lines.join("\n")
}

#[test]
fn each_kind_changes_queues_relays_and_marks() {
    let grid = "[grid]\n\"strategy.kind\" = [\"none\", \"neutral\", \"ott\", \"enterprise\"]";
    let experiment = home(grid).unwrap_or_else(|error| panic!("{error}"));
    let cells = experiment.cells().iter();
    let shown =
        cells.map(|cell| format!("{}\n{}\n", cell.label(), changed(&cell.scenario(Seed(1)))));
    insta::assert_snapshot!(shown.collect::<Vec<_>>().join("\n"));
}

#[test]
fn none_is_what_the_file_says_without_it() {
    let without = HOME.split("[strategy]").next().unwrap();
    let none = home("kind = \"none\"").unwrap();
    assert!(none.simulates(&parse(without).unwrap()));
    assert!(none.simulates(&parse(HOME).unwrap()), "left out it is none");
    let neutral = home("kind = \"neutral\"\nlines = [\"home.up\"]").unwrap();
    let by_hand = parse(&without.replacen("droptail limit 1s", "fq_codel", 1)).unwrap();
    assert!(neutral.simulates(&by_hand));
}

#[test]
fn what_tc_prints_of_a_strategy_is_read_again() {
    for more in ["kind = \"ott\"", "kind = \"enterprise\"\nqueue = \"pie\"", "kind = \"neutral\""] {
        let experiment = home(more).unwrap();
        let queues = experiment.cells()[0].gateway_queues("ppp0");
        assert_eq!(queues.len(), 2);
        for queue in queues {
            let read: net::QueueConfig = queue.tc.parse().unwrap();
            assert_eq!(read.gateway_script("ppp0"), queue.tc, "{more}");
        }
    }
}

#[test]
fn the_class_may_have_a_rate_and_the_lower_priority() {
    let classes = |more: &str| {
        let experiment =
            home(&format!("kind = \"enterprise\"\nlines = [\"home.up\"]\n{more}")).unwrap();
        let queue = experiment.cells()[0].gateway_queues("eth0").swap_remove(0).tc;
        let of = |class: &str| {
            let line =
                queue.lines().find(|line| line.contains(&format!("classid 1:{class}"))).unwrap();
            line.split(" htb ").nth(1).unwrap().split(" burst").next().unwrap().to_owned()
        };
        [of("10"), of("20")]
    };
    let rest = |prio: u8| format!("rate 8bit ceil 1Mbit prio {prio}");
    assert_eq!(classes(""), ["rate 200kbit ceil 1Mbit prio 0".to_owned(), rest(1)]);
    assert_eq!(
        classes("class = { rate = \"654kbit/s\", prio = \"low\" }"),
        ["rate 654kbit ceil 1Mbit prio 1".to_owned(), rest(0)]
    );
    assert_eq!(
        classes("class.rate = \"65%\"\nclass.prio = \"same\""),
        ["rate 650kbit ceil 1Mbit prio 0".to_owned(), rest(0)]
    );
}

#[test]
fn conferences_and_groups_of_calls_can_be_eligible() {
    let conference = "[conference.room]\nparties = [\"home\", \"net\"]\ntopology = \"mesh\"\n";
    let users = "[users.crowd]\npresent = 2\nlifetime = \"60s\"\npeer = \"net\"\nhost = {}\ncall = { audio = true }\n";
    let text = HOME.replace("calls = [\"main\"]", "kind = \"ott\"\ncalls = [\"room\", \"crowd*\"]");
    let scenario =
        parse(&format!("{text}{conference}{users}")).unwrap().cells()[0].scenario(Seed(1));
    let relayed: Vec<&str> = scenario
        .calls
        .iter()
        .filter(|call| {
            call.relay.is_some() && call.dscp.audio == Dscp::EF && call.dscp.video == Dscp::AF41
        })
        .map(|call| call.name.as_str())
        .collect();
    assert_eq!(relayed, ["crowd001", "crowd002", "room-home-net"]);
}

#[test]
fn a_strategy_can_be_varied_and_set() {
    let axis = "[[axis]]\nname = \"who\"\npoints = [\n\
        { label = \"both\", set = { \"strategy.calls\" = [\"*\"] } },\n\
        { label = \"not main\", set = { \"strategy.kind\" = \"enterprise\" }, calls = [\"other\"] } ]";
    let experiment = home(&format!("kind = \"ott\"\n{axis}")).unwrap();
    let relays = |cell: usize| -> Vec<bool> {
        let calls = experiment.cells()[cell].scenario(Seed(1)).calls;
        calls.iter().map(|call| call.relay.is_some()).collect()
    };
    assert_eq!(relays(0), [true, true]);
    assert_eq!(relays(1), [false]);
    let other = &experiment.cells()[1].scenario(Seed(1)).calls[0];
    assert_eq!(other.dscp.video, Dscp::DEFAULT, "main is eligible, but left out");

    let without = HOME.split("[strategy]").next().unwrap();
    let set = |pairs: &[(&str, &str)]| {
        let pairs: Vec<_> =
            pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        parse(without).unwrap().with_overrides(&pairs).map_err(|error| error.to_string())
    };
    let pairs =
        [("strategy.kind", "ott"), ("strategy.calls", "[\"main\"]"), ("strategy.relay", "turn")];
    assert!(set(&pairs).unwrap().simulates(&home("kind = \"ott\"").unwrap()));
    assert_eq!(
        set(&pairs[..2]).unwrap_err(),
        "--set: strategy.relay: it is missing; write relay = \"…\", the host of the eligible media relay"
    );
    let quick = experiment.quick().unwrap();
    assert_eq!(quick.cells().len(), 2);
}

#[test]
fn errors_name_the_key_and_a_suggestion() {
    let wrong = |text: String| parse(&text).unwrap_err();
    let ott = HOME.replacen("[strategy]", "[strategy]\nkind = \"ott\"", 1);
    let with = |old: &str, new: &str| {
        assert!(ott.contains(old), "{old}");
        wrong(ott.replacen(old, new, 1))
    };
    let more = |line: &str| with("calls = [\"main\"]", &format!("calls = [\"main\"]\n{line}"));
    let phone = "[wifi.cell]\n[host.phone]\nwifi = { cell = \"cell\", distance = \"3m\" }\n[strategy]\nlines = [\"phone.up\"]";
    let messages = [
        with("\"ott\"", "\"oott\""),
        with("calls = [\"main\"]\n", ""),
        with("relay = \"turn\"\n", ""),
        with("relay =", "relais ="),
        with("\"main\"]\nrelay", "\"mian\"]\nrelay"),
        with("\"main\"]\nrelay", "\"x*\"]\nrelay"),
        with("relay = \"turn\"", "relay = \"trun\""),
        with("relay = \"turn\"", "relay = \"net\""),
        more("lines = [\"hoem.up\"]"),
        more("lines = [\"home\"]"),
        more("lines = [\"net.up\"]"),
        more("line = [\"home.up\"]"),
        more("lines = \"home.up\""),
        with("[strategy]", phone),
        with(
            "rate = \"1Mbit/s\"",
            "rate = [{ at = \"0s\", value = \"1Mbit/s\" }, { at = \"9s\", value = \"2Mbit/s\" }]",
        ),
        with("rate = \"1Mbit/s\"", "rate = { trace = \"drive.mahimahi\" }"),
        more("queue = \"fq_kodel\""),
        more("queue = \"tbf rate 1Mbit burst 5kB limit 9kB\""),
        more("queue = \"unlimited\""),
        more("class = \"20%\""),
        more("class.rate = \"0%\""),
        more("class.rate = \"120%\""),
        more("class.rate = \"fast\""),
        more("class.rate = \"2Mbit/s\""),
        more("class.prio = \"highest\""),
        more("class.share = \"20%\""),
        with("[call.main]", "[call.main]\ndscp = \"cs5\""),
        with("[call.main]", "[call.main]\ndscp = \"gold\""),
    ];
    insta::assert_snapshot!(messages.join("\n"));
    let nowhere = HOME.replace("rate = \"1Mbit/s\", ", "").replace("rate = \"8Mbit/s\", ", "");
    let error = wrong(format!("{nowhere}kind = \"neutral\"\n"));
    assert!(
        error.contains("strategy.lines: no wired line has a rate, so there is no gateway"),
        "{error}"
    );
}
