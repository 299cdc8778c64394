use crate::{Experiment, ExperimentError};
use sim::Scenario;
use units::{Bitrate, Duration, Seed, Time};

const CITY: &str = r#"title = "t"
duration = "181s"
[host.server]
[defaults.call]
max_rate = "2Mbit/s"
[users.city]
present = 7
lifetime = "60s"
peer = "server"
host = { down = { rate = "5Mbit/s" } }
call = { controller = "gcc:draft-02", audio = "amr" }
web = { pages = 20, page_size = "100kB", reading = ["2s", "20s"] }
"#;

fn parse(text: &str) -> Result<Experiment, ExperimentError> {
    Experiment::parse(text, "x.toml")
}

fn scenario(text: &str) -> Scenario {
    parse(text).unwrap_or_else(|error| panic!("{error}")).cells()[0].scenario(Seed(1))
}

#[test]
fn users_arrive_one_after_the_other_with_all_of_their_traffic() {
    let scenario = scenario(CITY);
    // 181 s × 7 / 60 s = 21.1.
    assert_eq!(
        [scenario.network.hosts.len(), scenario.calls.len(), scenario.tcp.len()],
        [23, 22, 22],
        "with the server"
    );
    let (call, web) = (&scenario.calls[8], &scenario.tcp[8]);
    assert_eq!((call.name.as_str(), web.name.as_str()), ("city009", "city009-web"));
    assert_eq!((scenario.name(call.from), scenario.name(call.to)), ("server", "city009"));
    assert_eq!((call.from, call.to), (web.from, web.to));
    let start = Time::ZERO + Duration::from_secs(60) * 8 / 7;
    assert_eq!((call.start, call.stop), (start, start + Duration::from_secs(60)));
    assert_eq!((web.start, web.stop), (call.start, call.stop));
    assert_eq!(call.video.as_ref().unwrap().controller.max_rate, Bitrate::from_mbps(2));
    assert!(!call.two_way && call.audio.is_some());
    assert_eq!(
        scenario.calls[21].stop,
        Time::from_secs(181),
        "a user leaves at the end of the run at the latest"
    );
    let names = scenario.stream_names();
    for name in ["city001.video", "city022.audio", "city022-web.tcp"] {
        assert!(names.iter().any(|known| known == name), "{name}");
    }
}

#[test]
fn the_direction_decides_who_sends() {
    let ends = |direction: &str| {
        let scenario = scenario(&format!("{CITY}direction = \"{direction}\"\n"));
        let (call, web) = (&scenario.calls[0], &scenario.tcp[0]);
        (scenario.name(call.from).to_owned(), call.two_way, scenario.name(web.from).to_owned())
    };
    assert_eq!(ends("up"), ("city001".into(), false, "city001".into()));
    assert_eq!(ends("both"), ("city001".into(), true, "server".into()));
}

#[test]
fn users_can_be_set_and_varied() {
    let grid = "[grid]\n\"users.city.present\" = [1, 63]\n";
    let experiment = parse(&format!("{CITY}{grid}")).unwrap();
    let calls: Vec<usize> =
        experiment.cells().iter().map(|cell| cell.scenario(Seed(1)).calls.len()).collect();
    assert_eq!(calls, [4, 191]);
    let set =
        |key: &str, value: &str| experiment.with_overrides(&[(key.to_owned(), value.to_owned())]);
    let other = set("users.city.call.controller", "gcc:jansen-2016").unwrap();
    assert!(other.controllers().all(|controller| controller == "gcc:jansen-2016"));
    let other = experiment.with_controller("gcc:libwebrtc").unwrap();
    assert!(other.controllers().all(|controller| controller == "gcc:libwebrtc"));
    let missing = set("users.town.present", "3").unwrap_err().to_string();
    assert!(
        missing.contains("there is no group of users 'town'; the groups of users are city"),
        "{missing}"
    );
    let quick = experiment.quick().unwrap().cells()[0].scenario(Seed(1));
    assert_eq!(
        (quick.duration, quick.calls.len()),
        (Duration::from_secs(60), 4),
        "the same number of users in a shorter time"
    );
}

#[test]
fn errors_name_the_key_and_a_suggestion() {
    for (from, to, part) in [
        (
            "present = 7",
            "present = 700",
            "x.toml:7: users.city.present: there are 2112 users in the run and 1 other hosts; write a smaller",
        ),
        ("present = 7", "present = 0", "x.toml:7: users.city.present: zero is not allowed"),
        ("lifetime = \"60s\"", "", "users.city.lifetime: it is missing"),
        (
            "\"server\"",
            "\"serve\"",
            "x.toml:9: users.city.peer: there is no host 'serve'; did you mean server?",
        ),
        (
            "controller = ",
            "start = \"3s\", controller = ",
            "users.city.call.start: peer, direction, present and lifetime of the users decide",
        ),
        ("peer =", "pear =", "did you mean peer?"),
        ("host = ", "hosts = ", "did you mean host?"),
        (
            "[host.server]",
            "[host.server]\n[host.city003]",
            "users.city: the file has a section [host.city003] too",
        ),
        ("gcc:draft-02", "gcc:draft-2", "x.toml:11: users.city.call.controller: "),
        ("\"5Mbit/s\"", "\"5Mbits\"", "x.toml:10: users.city.host.down.rate: "),
        ("pages = 20", "page = 20", "x.toml:12: users.city.web.page"),
        ("page_size = \"100kB\", ", "", "users.city.web.page_size: it is missing"),
        ("[\"2s\", \"20s\"]", "[\"20s\", \"2s\"]", "users.city.web.reading: 20s is more than 2s"),
        ("pages = 20, ", "", "users.city.web.page_size: it needs pages"),
    ] {
        assert!(CITY.contains(from), "{from}");
        let error = parse(&CITY.replacen(from, to, 1)).unwrap_err().to_string();
        assert!(error.contains(part), "{error}, not {part}");
    }
}

#[test]
fn generated_sections_know_their_origin() {
    let more = "[call.alone]\nfrom = \"server\"\nto = \"city001\"\n[tcp.upload]\nfrom = \"city001\"\nto = \"server\"\nflows = 2\n\
        [conference.town]\nparties = [\"server\", \"city001\", \"city002\"]\ntopology = \"mesh\"\n";
    let experiment = parse(&CITY.replacen("present = 7", "present = 1", 1).replacen(
        "[defaults",
        &format!("{more}[defaults"),
        1,
    ))
    .unwrap();
    let cell = &experiment.cells()[0];
    let (origins, scenario) = (cell.origins(), cell.scenario(Seed(1)));
    let listed = |names: Vec<&str>, origins: &[String]| {
        let pairs =
            names.into_iter().zip(origins).map(|(name, origin)| format!("{name} of {origin}"));
        pairs.collect::<Vec<_>>().join(", ")
    };
    let calls = scenario.calls.iter().map(|call| call.name.as_str()).collect();
    let flows = scenario.tcp.iter().map(|flow| flow.name.as_str()).collect();
    let hosts = scenario.network.hosts.iter().map(|host| host.name.as_str()).collect();
    assert_eq!(
        listed(calls, &origins.calls),
        "alone of call.alone, city001 of users.city.call, city002 of users.city.call, city003 of users.city.call, \
         city004 of users.city.call, town-server-city001 of conference.town, town-server-city002 of conference.town, \
         town-city001-city002 of conference.town"
    );
    assert_eq!(
        listed(flows, &origins.tcp),
        "upload-1 of tcp.upload, upload-2 of tcp.upload, city001-web of users.city.web, city002-web of users.city.web, \
         city003-web of users.city.web, city004-web of users.city.web"
    );
    assert_eq!(
        listed(hosts, &origins.hosts),
        "server of host.server, city001 of users.city.host, city002 of users.city.host, city003 of users.city.host, \
         city004 of users.city.host"
    );
}
