//! `weir emulate` as a user meets it: real programs behind the modelled network, and a machine that
//! is left as it was.
//!
//! Needs root and /dev/net/tun; without them the tests are skipped, and say so.
#![expect(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

mod common;

use common::{Bench, lacking, note, run_of, said, signal, wait_for};
use serde_json::Value;
use std::fs;
use std::ops::Range;
use std::process::{Child, Command, Output};
use std::thread::sleep;
use std::time::Duration;

const FILE: &str = r#"
title = "An upload beside a ping"
duration = "4s"
sample_interval = "100ms"

[host.alice]
up = { rate = "1Mbit/s", delay = "10ms", queue = "bfifo limit 30kB" }
down = { delay = "10ms" }

[host.bob]

[tcp.upload]
from = "alice"
to = "bob"
congestion_control = "cubic"
bytes = "250kB"

[program.probe]
host = "alice"
ping = { to = "bob", interval = "200ms" }
"#;

/// `None` where a host cannot be made.
fn bench() -> Option<Bench> {
    Bench::new(FILE, &lacking())
}

impl Bench {
    fn emulate(&self, args: &[&str]) -> Command {
        self.weir(&[&["emulate"], args].concat())
    }

    /// Starts one that is to be disturbed, and waits until its hosts are there.
    fn start_emulation(&self, args: &[&str]) -> Child {
        let mut child = self.start(&mut self.emulate(args));
        let up = wait_for(|| names(child.id()).len() == 2 && !self.sleepers().is_empty());
        if !up {
            child.kill().unwrap();
            panic!("the hosts did not come up: {:?}", child.wait_with_output());
        }
        child
    }

    /// The programs of the bench's runs with [`SLEEPER`].
    fn sleepers(&self) -> Vec<String> {
        let commands = self.processes().into_iter().map(|process| process.command);
        commands
            .filter(|command| command.starts_with("sleep") && command.contains(SLEEPER))
            .collect()
    }
}

/// The namespaces of a process's run.
fn names(pid: u32) -> Vec<String> {
    let entries = fs::read_dir("/run/netns").into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.filter(|name| name.starts_with(&format!("weir-{pid}-"))).collect()
}

/// What the tests leave running on a host has this in its command line.
const SLEEPER: &str = "86399";

#[test]
fn processes_of_other_runs_are_not_judged() {
    let bench = Bench::new("", &[]).unwrap();
    // A process of a run that is not of this bench. The run counts as alive, so that no sweep of
    // another run ends the process.
    let mut stat = fs::read_to_string("/proc/self/stat").unwrap();
    let start = stat.split_off(stat.rfind(')').unwrap()).split(' ').nth(20).unwrap().to_owned();
    let mark = format!("{}-{start}", std::process::id());
    let mut other = Command::new("sleep").arg(SLEEPER).env("WEIR_RUN", mark).spawn().unwrap();
    let found = bench.sleepers();
    other.kill().unwrap();
    other.wait().unwrap();
    assert_eq!(found, [""; 0]);
}

/// The run, also one that the machine could not keep up with.
fn json_whatever(output: &Output) -> Value {
    run_of(output).unwrap_or_else(|said| panic!("{said}"))
}

#[test]
fn a_file_runs_with_real_programs_and_leaves_records_logs_and_captures() {
    let Some(bench) = bench() else { return };
    let args =
        ["e.toml", "--json", "--quiet", "--store", "s.sqlite", "--logs", "logs", "--pcap", "pcap"];
    let run = json_whatever(&bench.emulate(&args).output().unwrap());
    let line = &run["lines"]["alice.up"];
    let rate = line["rate_out"].as_f64().unwrap();
    assert!((400e3..1.01e6).contains(&rate), "250 kB and pings in 4 s: {rate}");
    let completed = run["streams"]["upload.tcp"]["completion_time"].as_f64().unwrap();
    assert!((2.05..3.5).contains(&completed), "250 kB at 1 Mbit/s: {completed}");
    assert!(run["lateness"]["packets"].as_u64().unwrap() > 300);
    let log = fs::read_to_string(bench.folder.path().join("logs/probe.log")).unwrap();
    assert!(log.contains("bytes from 10.0.0.2"), "{log}");
    for host in ["alice", "bob"] {
        let path = bench.folder.path().join(format!("pcap/{host}.pcapng"));
        assert!(fs::metadata(path).unwrap().len() > 250_000);
    }
    let list = bench.weir(&["list", "--store", "s.sqlite", "--json"]).output();
    assert_eq!(json_whatever(&list.unwrap())["mode"], "emulated");
}

#[test]
fn captures_are_read_by_tshark() {
    let Some(bench) = bench() else { return };
    let command =
        ["--pcap", "pcap", "--quiet", "--", "ping", "-c", "3", "-i", "0.1", "-Q", "0xb8", "bob"];
    let output = bench
        .emulate(&[&["e.toml", "--set", "tcp.upload.start=3s"], &command[..]].concat())
        .output();
    assert!(output.unwrap().status.success());
    let path = bench.folder.path().join("pcap/bob.pcapng");
    let Ok(seen) = Command::new("tshark")
        .arg("-r")
        .arg(&path)
        .args(["-Y", "icmp.type == 8 && ip.dsfield.dscp == 46"])
        .output()
    else {
        note("skipped: needs tshark");
        return;
    };
    assert_eq!(String::from_utf8_lossy(&seen.stdout).lines().count(), 3);
}

#[test]
fn a_command_has_the_terminal_and_its_exit_code_is_the_run_s() {
    let Some(bench) = bench() else { return };
    let script =
        "ping -c 1 -W 5 alice > /dev/null && ip -o addr show eth0 | grep -c 10.0.0.2/16; exit 7";
    let output = bench
        .emulate(&["e.toml", "--quiet", "--host", "bob", "--", "sh", "-c", script])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(7));
    assert_eq!(String::from_utf8_lossy(&output.stdout).lines().next(), Some("1"));
}

#[test]
fn the_queue_of_table_6_2_is_at_work() {
    let Some(bench) = bench() else { return };
    let median = |cell: &str| {
        let cell = format!("config={cell}");
        let set = [
            "--set",
            "duration=14s",
            "--set",
            "tcp.upload.start=0s",
            "--set",
            "tcp.upload.bytes=1500kB",
        ];
        // The RTT of a ping once the upload has filled the queue.
        let ping = "ping -c 12 -i 0.5 -q bob > /dev/null; sleep 1; ping -c 5 -i 0.5 bob | sed -n 's/.*time=\\([0-9.]*\\).*/\\1/p' | sort -n | sed -n 3p";
        let args = [
            &["janczukowicz-2017/adsl-ct", "--quiet", "--cell", &cell],
            &set[..],
            &["--", "sh", "-c", ping],
        ]
        .concat();
        let output = bench.emulate(&args).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        text.lines()
            .next()
            .and_then(|line| line.parse::<f64>().ok())
            .unwrap_or_else(|| panic!("{cell}: {text}"))
    };
    let (droptail, fq_codel) = (median("Droptail 125kB"), median("FQ Codel"));
    assert!(
        (500.0..1_300.0).contains(&droptail),
        "125 kB at 1 Mbit/s are 1 s, and a CUBIC upload keeps most of it full: {droptail} ms"
    );
    assert!(fq_codel < 80.0, "a ping has a queue of its own: {fq_codel} ms");
}

#[test]
fn a_rate_is_changed_while_it_runs() {
    let Some(bench) = bench() else { return };
    let set = [
        "--set",
        "tcp.upload.bytes=10MB",
        "--set",
        "duration=60s",
        "--run",
        "alice=exec sleep 86399",
    ];
    let child = bench
        .start_emulation(&[&["e.toml", "--quiet", "--json", "--control", "s"], &set[..]].concat());
    let control = |words: &[&str]| {
        let output = bench.weir(&["control", "s"]).args(words).output().unwrap();
        let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        (output.status.code(), text)
    };
    sleep(Duration::from_secs(1));
    assert_eq!(control(&["set", "alice.up", "rate", "200kbit/s"]).0, Some(0));
    // When the run was asked, s, and what has left the line by then: the clock is the run's, as a
    // busy machine may ask late.
    let shown = || {
        let (_, text) = control(&["show"]);
        let after = |line: &str, word: &str| {
            let line = text.lines().find(|text| text.starts_with(line)).unwrap();
            let mut words = line.split(' ').skip_while(|found| *found != word);
            words.nth(1).unwrap().parse::<f64>().unwrap()
        };
        (after("time", "time"), after("alice.up", "bytesOut"))
    };
    let (since, before) = shown();
    sleep(Duration::from_secs(3));
    let (until, bytes) = shown();
    let rate = (bytes - before) * 8.0 / (until - since);
    assert!((150e3..260e3).contains(&rate), "{rate}");
    let (code, text) = control(&["set", "carol.up", "rate", "1Mbit/s"]);
    assert!(code == Some(2) && text.contains("the hosts are alice, bob"), "{text}");
    assert_eq!(control(&["stop"]).0, Some(0));
    let run = json_whatever(&child.wait_with_output().unwrap());
    assert!(run["duration"].as_f64().unwrap() < 20.0);
    assert!(!bench.folder.path().join("s").exists() && bench.sleepers().is_empty());
}

#[test]
fn ctrl_c_leaves_nothing() {
    let Some(bench) = bench() else { return };
    // It asks for more: it does not end when it is asked to.
    let stubborn = "alice=trap '' TERM INT; sh -c 'sleep 86399; true'; true";
    let child = bench.start_emulation(&[
        "e.toml",
        "--quiet",
        "--set",
        "duration=60s",
        "--run",
        stubborn,
        "--store",
        "s.sqlite",
    ]);
    let pid = child.id();
    signal(child.id(), "INT");
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", said(&output));
    assert!(names(pid).is_empty() && bench.sleepers().is_empty());
}

#[test]
fn after_kill_9_the_next_run_repairs_the_machine() {
    let Some(bench) = bench() else { return };
    let grandchild = "bob=sleep 86399 & sleep 86399";
    // A run of another clone of the repository may clean up first; then there is another attempt.
    let kill = || {
        let args = ["e.toml", "--quiet", "--set", "duration=60s", "--run", grandchild];
        let mut child = bench.start_emulation(&args);
        signal(child.id(), "KILL");
        child.wait().unwrap();
        let pid = child.id();
        (names(pid).len() == 2 && !bench.sleepers().is_empty()).then_some(pid)
    };
    let pid = (0..5).find_map(|_| kill()).expect("a killed run cannot clean up");
    let next = bench.output(&mut bench.emulate(&["e.toml", "--quiet", "--", "true"]));
    assert!(next.status.success(), "{}", said(&next));
    assert!(names(pid).is_empty() && bench.sleepers().is_empty());
}

#[test]
fn a_host_that_cannot_be_removed_is_an_error() {
    let Some(bench) = bench() else { return };
    // With an empty /run of its own, so that the machine's namespaces are not touched.
    let script = format!(
        "mount -t tmpfs weir /run && exec '{}' emulate e.toml --quiet -- mount -o remount,ro /run",
        common::WEIR
    );
    let mut command = Command::new("unshare");
    command.args(["--mount", "--propagation", "private", "sh", "-c", &script]);
    let output = bench.output(command.current_dir(bench.folder.path()));
    let said = said(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    for host in ["alice", "bob"] {
        let name = format!("-{host}; the next run retries: Read-only file system");
        assert!(said.contains("cannot remove the network namespace weir-"), "{said}");
        assert!(said.contains(&name), "{said}");
    }
}

#[test]
fn a_program_that_left_its_host_is_ended_too() {
    let Some(bench) = bench() else { return };
    // In a network namespace of its own, it still holds the pipe to us.
    let runaway = "alice=unshare --net sleep 86399 & sleep 86399";
    let output = bench.output(&mut bench.emulate(&[
        "e.toml",
        "--quiet",
        "--set",
        "duration=1s",
        "--set",
        "tcp.upload.bytes=10kB",
        "--run",
        runaway,
    ]));
    assert!(output.status.code().is_some_and(|code| code < 2));
    assert!(bench.sleepers().is_empty());
}

#[test]
fn what_cannot_be_started_loses_nothing() {
    let Some(bench) = bench() else { return };
    let set = [
        "--set",
        "program.probe.command=exec /no/such/program",
        "--set",
        "duration=2s",
        "--set",
        "program.probe.start=1s",
    ];
    fs::write(
        bench.folder.path().join("c.toml"),
        FILE.replace("ping = { to = \"bob\", interval = \"200ms\" }", "command = \"true\""),
    )
    .unwrap();
    let output =
        bench.emulate(&[&["c.toml", "--quiet", "--json"], &set[..]].concat()).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let run: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(run["lines"]["alice.up"]["rate_out"].as_f64().unwrap() > 100e3);
    let failed = run["programs"]
        .as_array()
        .unwrap()
        .iter()
        .find(|program| program["name"] == "probe")
        .unwrap();
    assert!(
        failed["succeeded"] == false && failed["output"].to_string().contains("/no/such/program"),
        "{failed}"
    );
}

#[test]
fn iperf3_runs_from_the_file_also_over_ipv6_and_by_udp() {
    let Some(bench) = bench() else { return };
    if Command::new("iperf3").arg("--version").output().is_err() {
        note("skipped: needs iperf3");
        return;
    }
    let programs = "[program.bulk]\nhost = \"alice\"\niperf3 = { to = \"bob\", congestion_control = \"reno\" }\n\
        [program.media]\nhost = \"alice\"\niperf3 = { to = \"bob\", udp_rate = \"100kbit/s\" }\n\
        [program.six]\nhost = \"alice\"\ncommand = \"ping -6 -c 3 -i 0.3 bob.ipv6\"\n";
    let (head, _) = FILE.split_once("[tcp.upload]").unwrap();
    fs::write(bench.folder.path().join("i.toml"), format!("{head}{programs}")).unwrap();
    let run = json_whatever(&bench.emulate(&["i.toml", "--quiet", "--json"]).output().unwrap());
    let of = |name: &str| {
        run["programs"]
            .as_array()
            .unwrap()
            .iter()
            .find(|program| program["name"] == name)
            .unwrap()
            .clone()
    };
    let received = of("bulk")["output"]["end"]["sum_received"]["bits_per_second"].as_f64().unwrap();
    assert!((300e3..1e6).contains(&received), "{received}");
    assert!(of("media")["output"]["end"]["sum"]["packets"].as_u64().unwrap() > 20);
    // The bulk flow fills the queue, which may drop one.
    assert!(
        of("six")["output"].to_string().contains("bytes from bob.ipv6 (fd77:"),
        "{}",
        of("six")
    );
}

/// A download to a laptop over a modelled cell, by iperf3 in the place of the file's flow: what is
/// emulated is what is simulated.
const DOWNLOAD: &str = r#"
[host.server]

[tcp.download]
from = "server"
to = "laptop"
start = "1s"
stop = "5s"

[program.download]
host = "server"
iperf3 = { to = "laptop", congestion_control = "cubic" }
start = "1s"
stop = "5s"
"#;

/// Runs the download over that cell both ways: the simulated flow gets a rate within these, and
/// iperf3 as much.
fn carries_iperf3_as_the_flow(cell: &str, expected: Range<f64>) {
    let head = "title = \"A download\"\nduration = \"6s\"\nsample_interval = \"100ms\"\n";
    let Some(bench) = Bench::new(&format!("{head}{cell}{DOWNLOAD}"), &lacking()) else { return };
    if Command::new("iperf3").arg("--version").output().is_err() {
        note("skipped: needs iperf3");
        return;
    }
    let emulated =
        json_whatever(&bench.emulate(&["e.toml", "--json", "--quiet"]).output().unwrap());
    let simulated =
        bench.weir(&["run", "e.toml", "--json", "--quiet", "--runs", "1"]).output().unwrap();
    let simulated: Value = serde_json::from_slice(&simulated.stdout).unwrap();
    let flow = simulated["streams"]["download.tcp"]["received_rate"].as_f64().unwrap();
    assert!(expected.contains(&flow), "simulated: {flow}");
    let programs = emulated["programs"].as_array().unwrap();
    let program = programs.iter().find(|program| program["name"] == "download").unwrap();
    let iperf3 = program["output"]["end"]["sum_received"]["bits_per_second"].as_f64().unwrap();
    assert!((0.85..1.15).contains(&(iperf3 / flow)), "iperf3 {iperf3}, simulated {flow}");
    assert!(emulated["streams"].get("download.tcp").is_none(), "no upload runs beside it");
}

#[test]
fn a_wifi_cell_carries_iperf3_as_it_carries_the_flow_whose_place_it_takes() {
    // 39 Mbit/s, of which headers, pauses and acknowledgements take a quarter at most.
    let cell = r#"
[wifi.home]
ap = { spatial_streams = 1, rate = "mcs 4" }

[host.laptop]
wifi = { cell = "home", distance = "5m", spatial_streams = 1, rate = "mcs 4" }
"#;
    carries_iperf3_as_the_flow(cell, 29e6..37e6);
}

#[test]
fn an_lte_cell_carries_iperf3_as_it_carries_the_flow_whose_place_it_takes() {
    // 18.3 Mbit/s (36.213 table 7.1.7.2.1-1), of which headers take 4 %.
    let cell = r#"
[lte.cell]
layers = 1
fast_fading = "none"

[host.laptop]
lte = { distance = "30m" }
"#;
    carries_iperf3_as_the_flow(cell, 16e6..18e6);
}

#[test]
fn without_root_a_user_namespace_does_and_without_the_device_there_is_a_clear_word() {
    let Some(bench) = bench() else { return };
    let folder = bench.folder.path();
    let weir = folder.join("weir");
    fs::copy(common::WEIR, &weir).unwrap();
    let nobody = "exec setpriv --reuid=65534 --regid=65534 --clear-groups ./weir emulate e.toml --quiet -- ping -c 1 bob";
    let script = |tun: &str, then: &str| {
        let script = format!("chmod 755 . && {tun} && {then}");
        let mut command = Command::new("unshare");
        command.args(["--mount", "sh", "-c", &script]).current_dir(folder);
        command
    };
    let node = |mode: &str| {
        format!("mknod -m {mode} tun{mode} c 10 200; mount --bind tun{mode} /dev/net/tun")
    };
    let output = script(&node("666"), nobody).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success() && text.contains(" 0% packet loss"), "{text}{}", said(&output));
    let output = script(&node("600"), nobody).output().unwrap();
    let said = said(&output);
    assert!(
        output.status.code() == Some(2)
            && said.contains("cannot open /dev/net/tun")
            && said.lines().count() == 1,
        "{said}"
    );
    // What is killed there leaves no name, but its programs are marked. A run of another clone of
    // the repository may end them first; then there is another attempt.
    let sleeper = nobody.replace("-- ping -c 1 bob", "--run 'bob=sleep 86399 & sleep 86399'");
    let kill = || {
        let mut child = bench.start(&mut script(&node("666"), &sleeper));
        assert!(wait_for(|| bench.sleepers().len() == 2));
        signal(child.id(), "KILL");
        child.wait().unwrap();
        !bench.sleepers().is_empty()
    };
    assert!((0..5).any(|_| kill()), "a killed run cannot clean up");
    assert!(script(&node("666"), nobody).output().unwrap().status.success());
    assert!(bench.sleepers().is_empty());
}

#[test]
fn bad_input_is_answered_with_the_suggestion() {
    let Some(bench) = bench() else { return };
    let said = |args: &[&str]| {
        let output = bench.emulate(args).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        said(&output)
    };
    assert!(said(&["nothing.toml"]).contains("no experiment of this name"));
    for (args, suggestion) in [
        (&["e.toml", "--cell", "a=b"][..], "no cell has these values"),
        (&["e.toml", "--host", "carol", "--", "true"], "there is no host 'carol'"),
        (&["e.toml", "--run", "carol=true"], "there is no host 'carol'"),
        (&["e.toml", "--", "no-such-program-here"], "cannot start no-such-program-here"),
        (&["e.toml", "--control", "e.toml"], "not a socket"),
        (&["e.toml", "--compare", "--", "true"], "cannot be used with"),
        (&["e.toml", "--logs", "e.toml"], "e.toml"),
    ] {
        let text = said(args);
        assert!(text.contains(suggestion), "{args:?}: {text}");
    }
}
