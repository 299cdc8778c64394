use super::*;
use crate::{Experiment, ExperimentError};
use std::path::Path;
use units::Seed;

const BASE: &str = "title = \"t\"\nduration = \"60s\"\n[host.alice]\n[host.bob]\n[host.carol]\n";

fn parse(sections: &str) -> Result<Experiment, ExperimentError> {
    Experiment::parse(&format!("{BASE}{sections}"), "x.toml")
}

fn programs(sections: &str) -> Vec<Program> {
    parse(sections).unwrap_or_else(|error| panic!("{error}")).cells()[0].programs().to_vec()
}

fn command(program: &Program) -> String {
    let words = program.command(Path::new("/opt/weir"));
    words.iter().map(|word| word.to_str().unwrap()).collect::<Vec<_>>().join(" ")
}

/// The command of a program on alice with this line.
fn line(line: &str) -> String {
    command(&programs(&format!("[program.p]\nhost = \"alice\"\n{line}\n"))[0])
}

#[test]
fn every_kind_becomes_a_command() {
    assert_eq!(line("ping = \"bob\""), "ping -D -n -i 1 -s 56 -w 60 10.0.0.2");
    assert_eq!(
        line(
            "ping = { to = \"carol\", interval = \"200ms\", size = \"1kB\" }\nstart = \"1s\"\nstop = \"3500ms\""
        ),
        "ping -D -n -i 0.2 -s 1000 -w 3 10.0.0.3"
    );
    assert_eq!(
        line("iperf3 = \"bob\"\nstop = \"9500ms\""),
        "iperf3 --client 10.0.0.2 --port 5201 --json --connect-timeout 10000 --time 9"
    );
    assert_eq!(
        line(
            "iperf3 = { to = \"bob\", congestion_control = \"cubic\", flows = 3, bytes = \"5MB\", reverse = true, port = 7, dscp = \"ef\" }"
        ),
        "iperf3 --client 10.0.0.2 --port 7 --json --connect-timeout 10000 --bytes 5000000 --congestion cubic --parallel 3 \
         --reverse --dscp 46"
    );
    assert_eq!(
        line("iperf3 = { to = \"bob\", udp_rate = \"1Mbit/s\" }"),
        "iperf3 --client 10.0.0.2 --port 5201 --json --connect-timeout 10000 --time 60 --udp --bitrate 1000000"
    );
    assert_eq!(line("iperf3 = \"server\""), "iperf3 --server --port 5201");
    assert_eq!(
        line(
            "upload = { to = \"bob\", bytes = \"5MB\", congestion_control = \"cubic\", dscp = \"cs1\" }"
        ),
        "/opt/weir upload client 10.0.0.2 --port 5601 --json --interval 100ms --duration 60s --bytes 5MB \
         --congestion-control cubic --dscp 8"
    );
    assert_eq!(
        line("upload = { to = \"bob\", on = \"5s\", off = \"10s\" }\nstart = \"20s\""),
        "/opt/weir upload client 10.0.0.2 --port 5601 --json --interval 100ms --duration 40s --on 5s --off 10s"
    );
    assert_eq!(line("upload = \"bob\"").split(" --").count(), 5);
    let own = &programs("[program.p]\nhost = \"bob\"\ncommand = \"echo a  'b' | cat\"\n")[0];
    assert_eq!(own.command(Path::new("weir")), ["sh", "-c", "echo a  'b' | cat"]);
}

#[test]
fn clients_of_one_host_get_different_ports() {
    let sections = "[program.a]\nhost = \"alice\"\niperf3 = \"bob\"\n[program.b]\nhost = \"carol\"\niperf3 = \"bob\"\n\
        [program.c]\nhost = \"bob\"\niperf3 = { to = \"carol\" }\n[program.d]\nhost = \"alice\"\niperf3 = { to = \"bob\", port = 5202 }\n\
        [program.u]\nhost = \"alice\"\nupload = \"bob\"\n[program.v]\nhost = \"carol\"\nupload = \"bob\"\nstop = \"30s\"\n";
    let programs = programs(sections);
    let ports: Vec<u16> = programs
        .iter()
        .filter_map(|program| match &program.kind {
            ProgramKind::Iperf3(client) => Some(client.port),
            _ => None,
        })
        .collect();
    assert_eq!(ports, [5201, 5203, 5201, 5202]);
    let network = &parse(sections).unwrap().cells()[0].scenario(Seed(1)).network;
    let servers = servers(&programs, network);
    let names: Vec<&str> = servers.iter().map(|server| server.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "bob.iperf3-5201",
            "bob.iperf3-5203",
            "carol.iperf3-5201",
            "bob.iperf3-5202",
            "bob.upload-5601"
        ]
    );
    assert_eq!(command(&servers[1]), "iperf3 --server --port 5203");
    assert_eq!(
        command(&servers[4]),
        "/opt/weir upload server --listen [::]:5601 --max-clients 1000 --max-clients-per-address 1000 --idle-timeout 86400s --interval 100ms --json"
    );
    assert_eq!(
        (servers[4].host, servers[4].start, servers[4].stop),
        (HostId(1), Time::ZERO, Time::from_secs(60))
    );
}

#[test]
fn a_server_that_is_a_program_is_not_started_twice() {
    let own = "[program.s]\nhost = \"bob\"\niperf3 = \"server\"\n[program.c]\nhost = \"alice\"\niperf3 = { to = \"bob\", port = 5201 }\n";
    let network = parse(own).unwrap().cells()[0].scenario(Seed(1)).network;
    assert_eq!(servers(&programs(own), &network), []);
    let other = own.replace(", port = 5201", "");
    assert_eq!(servers(&programs(&other), &network)[0].name, "bob.iperf3-5202");
}

#[test]
fn flows_of_an_experiment_become_uploads() {
    let experiment = Experiment::open("janczukowicz-2017/adsl-ct").unwrap();
    let cell = experiment.cells().iter().find(|cell| cell.label() == "config=FQ Codel").unwrap();
    let program = upload_of(&cell.scenario(Seed(1)).tcp[0]).unwrap();
    assert_eq!((program.name.as_str(), program.start), ("upload", Time::from_secs(30)));
    assert_eq!(
        command(&program),
        "/opt/weir upload client 10.0.0.2 --port 5601 --json --interval 100ms --duration 270s --bytes 5MB --congestion-control cubic"
    );
}

#[test]
fn programs_alone_are_valid_and_cannot_be_simulated() {
    let alone = "[program.p]\nhost = \"alice\"\nping = \"bob\"\n";
    let error = parse(alone).unwrap().simulated().unwrap_err().to_string();
    assert!(
        error.starts_with("x.toml: nothing to simulate: there is no call and no TCP flow; run it with 'weir emulate'"),
        "{error}"
    );
    let flow = "[tcp.f]\nfrom = \"alice\"\nto = \"bob\"\n";
    assert!(parse(&format!("{alone}{flow}")).unwrap().simulated().is_ok());
    let axis =
        "[[axis]]\nname = \"a\"\npoints = [{ label = \"x\" }, { label = \"y\", tcp = [] }]\n";
    let error =
        parse(&format!("{alone}{flow}{axis}")).unwrap().simulated().unwrap_err().to_string();
    assert!(
        error.contains("nothing to simulate in the cell a=y: there is no call and no TCP flow"),
        "{error}"
    );
}

#[test]
fn programs_can_be_set_and_varied() {
    let sections = "[program.p]\nhost = \"alice\"\nping = { to = \"bob\" }\n[program.q]\nhost = \"alice\"\niperf3 = \"bob\"\n\
        [grid]\n\"program.p.ping.size\" = [\"10B\", \"20B\"]\n\
        [[axis]]\nname = \"a\"\npoints = [{ label = \"x\" }, { label = \"y\", programs = [\"p\"] }]\n";
    let experiment = parse(sections).unwrap();
    let counts: Vec<usize> = experiment.cells().iter().map(|cell| cell.programs().len()).collect();
    assert_eq!(counts, [2, 1, 2, 1]);
    let set =
        |key: &str, value: &str| experiment.with_overrides(&[(key.to_owned(), value.to_owned())]);
    let changed = set("program.*.start", "5s").unwrap();
    assert!(
        changed.cells()[0].programs().iter().all(|program| program.start == Time::from_secs(5))
    );
    let error = set("program.pp.start", "5s").unwrap_err().to_string();
    assert_eq!(error, "--set: program.pp.start: there is no program 'pp'; the programs are p, q");
    let error = parse(&sections.replace("programs = [\"p\"]", "programs = [\"r\"]"));
    let error = error.unwrap_err().to_string();
    assert!(error.contains("axis.points.programs: there is no [program.r]"), "{error}");
}

#[test]
fn errors_name_the_line_the_key_and_the_suggestion() {
    let with = |line: &str| {
        let error = parse(&format!("[program.p]\nhost = \"alice\"\n{line}\n"));
        error.err().unwrap_or_else(|| panic!("'{line}' is accepted")).to_string()
    };
    let many: String =
        (0..1_001).map(|n| format!("[program.p{n}]\nhost = \"alice\"\nping = \"bob\"\n")).collect();
    let two = |one: &str, other: &str| {
        parse(&format!(
            "[program.p]\nhost = \"alice\"\n{one}\n[program.q]\nhost = \"alice\"\n{other}\n"
        ))
        .unwrap_err()
        .to_string()
    };
    let messages = [
        with(""),
        with("ping = \"bob\"\ncommand = \"true\""),
        with("ping = \"bop\""),
        with("ping = \"alice\""),
        with("ping = 3"),
        with("ping = { interval = \"1s\" }"),
        with("ping = { to = \"bob\", interval = \"1ms\" }"),
        with("ping = { to = \"bob\", size = \"66kB\" }"),
        with("ping = { to = \"bob\", count = 3 }"),
        with("pong = \"bob\""),
        with("iperf3 = \"sever\""),
        with("iperf3 = { to = \"alice\" }"),
        with("iperf3 = { to = \"bob\", flows = 0 }"),
        with("iperf3 = { to = \"bob\", bytes = \"0B\" }"),
        with("iperf3 = { to = \"bob\", udp_rate = \"0bit/s\" }"),
        with("iperf3 = { to = \"bob\", udp_rate = \"1Mbit/s\", congestion_control = \"cubic\" }"),
        with("iperf3 = { to = \"bob\", congestion_control = \"cu bic\" }"),
        with("iperf3 = { to = \"bob\", port = 65536 }"),
        with("iperf3 = { to = \"bob\", dscp = \"best\" }"),
        with("upload = { to = \"bob\", bytes = \"5MB\", on = \"1s\" }"),
        with("upload = { to = \"bob\", port = 0 }"),
        with("command = \" \""),
        with("command = \"true\"\nstart = \"60s\""),
        with("command = \"true\"\nstop = \"0s\""),
        two("iperf3 = { to = \"bob\", port = 9 }", "iperf3 = { to = \"bob\", port = 9 }"),
        two("upload = { to = \"bob\", port = 9 }", "iperf3 = { to = \"bob\", port = 9 }"),
        two("iperf3 = \"server\"", "iperf3 = \"server\""),
        parse("[program.p]\ncommand = \"true\"\n").unwrap_err().to_string(),
        parse("[program.'a b']\nhost = \"alice\"\ncommand = \"true\"\n").unwrap_err().to_string(),
        parse(&many).unwrap_err().to_string(),
        with("ping = \"bob\"\n[tcp.p]\nfrom = \"alice\"\nto = \"bob\""),
    ];
    insta::assert_snapshot!(messages.join("\n"));
}

#[test]
fn a_program_replaces_the_flow_of_its_name_between_the_same_hosts() {
    let flow = "[tcp.p]\nfrom = \"alice\"\nto = \"bob\"\n";
    let with =
        |host: &str, kind: &str| parse(&format!("{flow}[program.p]\nhost = \"{host}\"\n{kind}\n"));
    for (host, kind) in [
        ("alice", "iperf3 = \"bob\""),
        ("alice", "upload = \"bob\""),
        ("bob", "iperf3 = { to = \"alice\", reverse = true }"),
    ] {
        assert!(with(host, kind).is_ok(), "{kind} on {host}");
    }
    for (host, kind) in [
        ("bob", "iperf3 = \"alice\""),
        ("alice", "iperf3 = \"carol\""),
        ("alice", "iperf3 = { to = \"bob\", udp_rate = \"1Mbit/s\" }"),
        ("alice", "command = \"true\""),
    ] {
        assert!(with(host, kind).is_err(), "{kind} on {host}");
    }
}

#[test]
fn one_port_can_serve_clients_one_after_the_other() {
    let one =
        "[program.p]\nhost = \"alice\"\niperf3 = { to = \"bob\", port = 9 }\nstop = \"10s\"\n";
    let other =
        "[program.q]\nhost = \"alice\"\niperf3 = { to = \"bob\", port = 9 }\nstart = \"10s\"\n";
    assert_eq!(programs(&format!("{one}{other}")).len(), 2);
}
