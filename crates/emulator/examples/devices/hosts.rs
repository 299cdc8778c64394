//! The two hosts between which packets pass: a network namespace each, and a third for the
//! forwarder's ends.

use std::io;
use std::process::{Command, Stdio};
use std::thread;

use rustix::fs::{Mode, OFlags};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

/// The namespaces of host 0 and host 1.
pub(crate) const HOSTS: [&str; 2] = ["weirdev-a", "weirdev-b"];
/// The namespace of whatever the forwarder holds of a pair of devices: nothing of ours is ever seen
/// outside.
pub(crate) const MIDDLE: &str = "weirdev-f";
/// What the one interface of a host is called.
pub(crate) const DEVICE: &str = "w0";
/// The addresses of the hosts.
pub(crate) const ADDRESSES: [&str; 2] = ["10.99.0.1", "10.99.0.2"];
/// What Ethernet calls the hosts, where there is Ethernet.
pub(crate) const MACS: [&str; 2] = ["02:00:00:00:00:01", "02:00:00:00:00:02"];

/// The namespaces, removed with all that is in them when this is dropped, after a panic too.
///
/// The names are the same every time, so a run that was killed leaves nothing that the next does
/// not remove.
pub(crate) struct Hosts(());

impl Hosts {
    /// Makes the namespaces, without any device but the loopback.
    pub(crate) fn new() -> io::Result<Self> {
        remove();
        let hosts = Self(());
        for name in HOSTS.into_iter().chain([MIDDLE]) {
            run(&format!("ip netns add {name}"))?;
            run(&format!("ip netns exec {name} sysctl -qw net.ipv6.conf.default.disable_ipv6=1"))?;
        }
        Ok(hosts)
    }
}

impl Drop for Hosts {
    fn drop(&mut self) {
        remove();
    }
}

/// Removes the namespaces that exist; `ip` complains of the others to nobody.
fn remove() {
    for name in HOSTS.into_iter().chain([MIDDLE]) {
        let _ = Command::new("ip").args(["netns", "del", name]).stderr(Stdio::null()).status();
    }
}

/// Runs a command given as one line, its words parted by blanks.
pub(crate) fn run(line: &str) -> io::Result<()> {
    let mut words = line.split_whitespace();
    let program = words.next().unwrap_or_default();
    let output = Command::new(program).args(words).output()?;
    if output.status.success() {
        return Ok(());
    }
    let message = String::from_utf8_lossy(&output.stderr);
    Err(io::Error::other(format!("{line}: {}", message.trim())))
}

/// What `work` returns on a thread of its own that is in the namespace `name`; its sockets and
/// devices stay there.
pub(crate) fn inside<T: Send>(
    name: &str,
    work: impl FnOnce() -> io::Result<T> + Send,
) -> io::Result<T> {
    let entered = || {
        enter(name)?;
        work()
    };
    thread::scope(|scope| scope.spawn(entered).join())
        .unwrap_or_else(|_| Err(io::Error::other(format!("a thread in {name} panicked"))))
}

/// Moves the calling thread into the namespace `name`.
pub(crate) fn enter(name: &str) -> io::Result<()> {
    let file = rustix::fs::open(
        format!("/run/netns/{name}"),
        OFlags::RDONLY | OFlags::CLOEXEC,
        Mode::empty(),
    )?;
    Ok(move_into_link_name_space(
        std::os::fd::AsFd::as_fd(&file),
        Some(LinkNameSpaceType::Network),
    )?)
}

/// Gives host `n` its address, and its interface the state up.
pub(crate) fn configure(n: usize) -> io::Result<()> {
    let (host, address) = (HOSTS[n], ADDRESSES[n]);
    run(&format!("ip -n {host} link set lo up"))?;
    run(&format!("ip -n {host} addr add {address}/24 dev {DEVICE}"))?;
    run(&format!("ip -n {host} link set {DEVICE} mtu 1500 txqueuelen {QUEUE} up"))
}

/// How many packets wait for the forwarder at most. A lab's queues are in its model, so the one
/// before it must not be what loses packets.
const QUEUE: u32 = 4096;

/// A pair of virtual Ethernet devices for each host: one end in the host, without any offload so
/// that what comes out is what would be on a wire, and the other, named `f0` or `f1`, in the
/// namespace of the forwarder.
pub(crate) fn ethernet() -> io::Result<()> {
    for (n, host) in HOSTS.into_iter().enumerate() {
        run(&format!("ip -n {MIDDLE} link add f{n} type veth peer name {DEVICE} netns {host}"))?;
        run(&format!("ip -n {MIDDLE} link set f{n} mtu 1500 txqueuelen {QUEUE} up"))?;
        run(&format!("ip -n {host} link set {DEVICE} address {}", MACS[n]))?;
        let offloads = "tx off tso off gso off gro off";
        run(&format!("ip netns exec {host} ethtool -K {DEVICE} {offloads}"))?;
        configure(n)?;
        let (other, mac) = (ADDRESSES[1 - n], MACS[1 - n]);
        run(&format!(
            "ip -n {host} neigh replace {other} lladdr {mac} dev {DEVICE} nud permanent"
        ))?;
    }
    Ok(())
}
