//! Two namespaces that are joined by a veth pair of the kernel, with which the emulator is
//! compared.

use std::fs::File;
use std::os::fd::AsFd;
use std::process::{Command, Stdio};

/// A prefix that `emulator::sweep` does not take for that of a run.
const PREFIX: &str = "weir-veth-";

/// Two hosts with the addresses of the first two hosts of an emulated network.
pub(crate) struct Veth([String; 2]);

impl Veth {
    /// Applies a script of tc commands to eth0 of the first host. Offloads are off, so every packet
    /// is at most 1500 bytes.
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
        // A ping, so that both hosts know each other's Ethernet address before the measurement.
        run(&format!("ip netns exec {first} ping -c 1 -W 5 {}", super::rig::address(1)));
        veth
    }

    /// Runs `job` in the network namespace of a host.
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
            // The namespace may not exist if the set-up failed.
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
