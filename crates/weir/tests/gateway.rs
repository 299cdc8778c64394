//! The tc commands that `weir tc` prints, applied to a device of a network namespace of their own:
//! the kernel takes them without a word, twice too, and the way back restores its own queue.
//!
//! Needs root, ip, tc, unshare, /dev/net/tun and a kernel with htb; without them the tests are
//! skipped, and say so. The disciplines of the leaves are some that every kernel has.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

mod common;

use common::{in_folder, note};
use std::fs;
use std::process::{Command, Output};

const EXPERIMENT: &str = r#"
title = "A gateway"
duration = "10s"

[host.home]
up = { queue = """
tc qdisc add dev eth0 root handle 1: htb default 20
tc class add dev eth0 parent 1: classid 1:1 htb rate 1Mbit
tc class add dev eth0 parent 1:1 classid 1:10 htb rate 200kbit ceil 1Mbit prio 0
tc class add dev eth0 parent 1:1 classid 1:20 htb rate 8bit ceil 1Mbit prio 1
tc filter add dev eth0 parent 1: protocol ip prio 1 u32 match ip dsfield 0xb8 0xfc flowid 1:10
tc filter add dev eth0 parent 1: protocol ip prio 1 u32 match ip protocol 17 0xff match ip dport 3478 0xffff flowid 1:10
tc qdisc add dev eth0 parent 1:10 handle 2: pfifo limit 40
tc qdisc add dev eth0 parent 1:20 handle 3: bfifo limit 125000
""" }

[host.lan]
up = { rate = "1Mbit/s", queue = "bfifo limit 125kB", shaper = "tbf rate 950kbit burst 1600 limit 12000" }
down = { rate = "5Mbit/s", shaper = "tbf rate 4750kbit burst 1600 limit 60000" }

[host.net]
up = { queue = "tbf rate 5Mbit burst 5000 limit 62500" }
down = { rate = "5Mbit/s", queue = "bfifo limit 62500" }

[call.main]
from = "home"
to = "net"
"#;

/// What `weir tc` prints for a line.
fn tc(folder: &std::path::Path, args: &[&str]) -> String {
    let mut all = vec!["tc", "e.toml", "--dev", "d0"];
    all.extend(args);
    let output = in_folder(folder, &all).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Runs a script of the shell in a network namespace with the device d0.
fn in_namespace(script: &str) -> std::io::Result<Output> {
    let script =
        format!("set -e\nip tuntap add d0 mode tap\nip link set d0 up\nset -o pipefail\n{script}");
    Command::new("unshare").args(["--net", "bash", "-c", &script]).output()
}

/// Whether the machine can do it; says once if not.
fn is_able() -> bool {
    let able = in_namespace("tc qdisc add dev d0 root htb")
        .is_ok_and(|output| output.status.success() && output.stderr.is_empty());
    if !able {
        note("skipped: needs root, unshare, ip, tc, /dev/net/tun and a kernel with htb");
    }
    able
}

#[test]
fn the_kernel_takes_the_commands_twice_and_the_way_back() {
    if !is_able() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("e.toml"), EXPERIMENT).unwrap();
    let own = in_namespace("tc qdisc show").unwrap().stdout;
    let lines = [
        ("home.up", "htb 1: dev d0 root"),
        ("net.up", "tbf"),
        ("net.down", "bfifo"),
        ("lan.up", "rate 950Kbit"),
        ("lan.down", "rate 4750Kbit"),
    ];
    let has_ifb = in_namespace("ip link add x type ifb").is_ok_and(|made| made.status.success());
    if !has_ifb {
        note("lan.down is left out: needs a kernel with ifb");
    }
    for (line, shown) in lines.into_iter().filter(|(line, _)| has_ifb || *line != "lan.down") {
        let undo = tc(folder.path(), &["--line", line, "--undo"]);
        let commands = tc(folder.path(), &["--line", line]);
        let batch = tc(folder.path(), &["--line", line, "--batch"]);
        let script = format!(
            "{commands}\n{commands}\ntc -batch - <<'END'\n{batch}END\ntc qdisc show\n\
             tc filter show dev d0\necho ---\n{undo}\ntc qdisc show"
        );
        let output = in_namespace(&script).unwrap();
        let (out, error) =
            (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success() && error.is_empty(), "{line}: {error}");
        let (with, after) = out.split_once("---\n").unwrap();
        assert!(with.contains(shown), "{line}: {with}");
        assert_eq!(after.as_bytes(), own, "{line}: {after}");
        if line == "home.up" {
            assert!(with.contains("protocol ip ") && with.contains("protocol ipv6 "), "{with}");
        }
    }
}

#[test]
fn a_shaper_of_a_modem_is_what_the_router_gets() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("e.toml"), EXPERIMENT).unwrap();
    let up = tc(folder.path(), &["--line", "lan.up"]);
    assert!(up.contains("dev d0 root tbf rate 950kbit") && !up.contains("bfifo"), "{up}");
    let set =
        ["--set", "host.lan.up.shaper=cake bandwidth 950kbit", "--line", "lan.up", "--openwrt"];
    let settings = tc(folder.path(), &set);
    assert!(settings.contains("uci set sqm.weir.upload=950\n"), "{settings}");
    let down = tc(folder.path(), &["--line", "lan.down", "--batch"]);
    assert!(down.contains("# before, in a shell: ip link set ifb-weir up\n"), "{down}");
    assert!(down.contains("qdisc replace dev ifb-weir root tbf rate 4.75Mbit"), "{down}");
}

#[test]
fn what_sqm_scripts_lack_is_said() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("e.toml"), EXPERIMENT).unwrap();
    let refused = in_folder(folder.path(), &["tc", "e.toml", "--openwrt"]).output().unwrap();
    let error = String::from_utf8(refused.stderr).unwrap();
    assert_eq!(refused.status.code(), Some(2), "{error}");
    assert!(error.contains("sqm-scripts have no htb; they have fq_codel and cake"), "{error}");
    let set = ["--set", "host.net.down.queue=fq_codel", "--line", "net.down", "--openwrt"];
    let settings = tc(folder.path(), &set);
    assert!(
        settings.contains("uci set sqm.weir.download=4750\n")
            && settings.contains("uci set sqm.weir.qdisc=fq_codel\n"),
        "{settings}"
    );
}
