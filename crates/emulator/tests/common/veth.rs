//! Two namespaces with a wire of the kernel's between them: what the emulator is measured against.

use std::fs::File;
use std::os::fd::AsFd;
use std::process::{Command, Stdio};

/// Not a name that `emulator::sweep` takes for one of a run.
const PREFIX: &str = "weir-veth-";

/// Two hosts with the addresses of an emulated network's first two.
pub(crate) struct Veth([String; 2]);

impl Veth {
    /// With what a script of tc makes of the first's eth0. A packet on the wire is one of at most
    /// 1500 bytes: offloads are off.
    pub(crate) fn new(name: &str, script: &str) -> Self {
        let veth =
            Self(["a", "b"].map(|host| format!("{PREFIX}{}-{name}-{host}", std::process::id())));
        for host in &veth.0 {
            run(&format!("ip netns add {host}"));
        }
        let [first, second] = &veth.0;
        run(&format!("ip -n {first} link add eth0 type veth peer name eth0 netns {second}"));
        for (number, host) in veth.0.iter().enumerate() {
            let address = super::rig::address(number);
            run(&format!("ip -n {host} addr add {address}/16 dev eth0"));
            run(&format!("ip netns exec {host} ethtool -K eth0 tso off gso off gro off"));
            run(&format!("ip -n {host} link set eth0 up"));
        }
        script.lines().for_each(|line| run(&format!("ip netns exec {first} {line}")));
        // Both know each other's Ethernet address before anything is measured.
        run(&format!("ip netns exec {first} ping -c 1 -W 5 {}", super::rig::address(1)));
        veth
    }

    /// Does something in a host's network.
    pub(crate) fn within<T: Send>(&self, host: usize, job: impl FnOnce() -> T + Send) -> T {
        let namespace = File::open(format!("/run/netns/{}", self.0[host])).unwrap();
        std::thread::scope(|scope| {
            let job = scope.spawn(move || {
                let network = rustix::thread::LinkNameSpaceType::Network;
                rustix::thread::move_into_link_name_space(namespace.as_fd(), Some(network))
                    .unwrap();
                job()
            });
            job.join().unwrap()
        })
    }
}

impl Drop for Veth {
    fn drop(&mut self) {
        for host in &self.0 {
            // It may not have been made.
            let _ = Command::new("ip").args(["netns", "del", host]).stderr(Stdio::null()).status();
        }
    }
}

fn run(line: &str) {
    let mut words = line.split_whitespace();
    let mut command = Command::new(words.next().unwrap());
    let output = command.args(words).stdin(Stdio::null()).output();
    let output = output.unwrap_or_else(|error| panic!("{line}: {error}"));
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
}
