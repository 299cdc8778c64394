//! The hosts: a network namespace each, with one interface.

use crate::device::{Device, MTU};
use crate::error::EmulatorError;
use crate::leftovers::{Name, sweep};
use crate::namespace::Namespace;
use crate::processes::{self, MARK, NamespaceId, Owner};
use net::HostId;
use rustix::process::{Signal, set_parent_process_death_signal};
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// The interface's name on every host.
const INTERFACE: &str = "eth0";
const INTERFACE_C: &std::ffi::CStr = c"eth0";
/// Packets that wait for the loop to take them, as `ip link … txqueuelen`: 40 ms at a million a
/// second, so that a stall of the loop loses none.
const TX_QUEUE: usize = 40_000;
/// How long programs are asked to end before they are made to.
const GRACE: Duration = Duration::from_secs(2);

/// The hosts of a run. Dropping it ends what runs in them and takes everything down.
pub struct Testbed {
    owner: Owner,
    hosts: Vec<Host>,
}

/// A host: its namespace, and what runs in it.
pub struct Host {
    name: String,
    owner: Owner,
    namespace: Namespace,
    id: NamespaceId,
    /// What `ip netns` calls it; `None` without the rights for it.
    named: Option<Name>,
    device: Option<Device>,
}

impl Testbed {
    /// Makes a host of each name. Host n has the addresses [`HostId::address`] and
    /// [`HostId::address_v6`], and knows the others by name: `bob` over IPv4, as the simulator has
    /// it, and `bob.ipv6`. What a killed run left is removed first.
    ///
    /// # Errors
    /// Without the rights to make namespaces and devices, or without the program `ip`.
    pub fn new(names: &[String]) -> Result<Self, EmulatorError> {
        let owner = Owner::this()?;
        sweep();
        let hosts = (0..).map(HostId).zip(names);
        let file = hosts.clone().fold(
            "127.0.0.1 localhost\n::1 localhost\n".to_owned(),
            |mut file, (id, name)| {
                // Writing to a String does not fail.
                let _ = write!(file, "{} {name}\n{} {name}.ipv6\n", id.address(), id.address_v6());
                file
            },
        );
        let hosts =
            hosts.map(|(id, name)| Host::new(owner, id, name, &file)).collect::<Result<_, _>>()?;
        Ok(Self { owner, hosts })
    }

    /// The hosts, in the order of their names.
    #[must_use]
    pub fn hosts(&self) -> &[Host] {
        &self.hosts
    }

    /// A host.
    ///
    /// # Panics
    /// When there is no such host.
    #[must_use]
    pub fn host(&self, id: HostId) -> &Host {
        &self.hosts[usize::from(id.0)]
    }

    pub(crate) fn take_devices(&mut self) -> Result<Vec<Device>, EmulatorError> {
        let taken = self.hosts.iter_mut().map(|host| host.device.take());
        taken
            .collect::<Option<_>>()
            .ok_or_else(|| EmulatorError("the hosts already have an emulator".into()))
    }

    /// Ends every program on every host, and what these have started elsewhere: asks first. Returns
    /// how many could not be ended.
    pub fn end_programs(&self) -> usize {
        let namespaces: Vec<NamespaceId> = self.hosts.iter().map(|host| host.id).collect();
        processes::end(&namespaces, |owner| owner == self.owner, GRACE)
    }
}

impl Drop for Testbed {
    fn drop(&mut self) {
        self.end_programs();
    }
}

impl Host {
    fn new(owner: Owner, id: HostId, name: &str, hosts: &str) -> Result<Self, EmulatorError> {
        let namespace = Namespace::new(hosts)?;
        let path = namespace.proc().join("ns/net");
        let number = processes::namespace(&path).ok_or_else(|| {
            EmulatorError(format!("{}: the namespace is not there", path.display()))
        })?;
        let named = Name::give(owner, name, &path)?;
        let device = namespace.within(move || {
            let device = Device::create(INTERFACE_C)?;
            configure(id)?;
            Ok::<_, EmulatorError>(device)
        })??;
        Ok(Self {
            name: name.to_owned(),
            owner,
            namespace,
            id: number,
            named,
            device: Some(device),
        })
    }

    /// The name in the experiment.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What `ip netns` calls it, if it could be named.
    #[must_use]
    pub fn netns(&self) -> Option<String> {
        self.named.as_ref().map(Name::word)
    }

    /// Does something in the host's network.
    ///
    /// # Errors
    /// When the host's thread has ended.
    pub fn within<T: Send + 'static>(
        &self,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, EmulatorError> {
        self.namespace.within(job)
    }

    /// Starts a program on the host. It ends with this process, however that ends; what it has
    /// started in turn ends with the testbed, or at the next [`sweep`].
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn spawn(&self, mut command: Command) -> Result<Child, EmulatorError> {
        let program = command.get_program().to_string_lossy().into_owned();
        command.env(MARK, self.owner.to_string());
        end_with_parent(&mut command);
        self.within(move || command.spawn())?.map_err(|error| {
            EmulatorError::of(&format!("{}: cannot start {program}", self.name), error)
        })
    }

    /// Whether a program on the host listens for TCP on this port.
    #[must_use]
    pub fn listens(&self, port: u16) -> bool {
        let sockets = ["net/tcp", "net/tcp6"]
            .map(|name| fs::read_to_string(self.namespace.proc().join(name)));
        sockets.iter().flatten().any(|text| has_listener(text, port))
    }

    /// Where the kernel counts what the host's interface does.
    pub(crate) fn counters(&self) -> PathBuf {
        self.namespace.proc().join("net/dev")
    }
}

/// Packets that an interface has given up because the loop did not take them in time. It counts as
/// long as its other end is open.
pub(crate) fn lost_before_entry(counters: &Path) -> Result<u64, EmulatorError> {
    let text = fs::read_to_string(counters)
        .map_err(|error| EmulatorError::of(&counters.display().to_string(), error))?;
    transmit_drops(&text)
        .ok_or_else(|| EmulatorError(format!("{}: no {INTERFACE}", counters.display())))
}

/// The twelfth number of the interface's line in /proc/net/dev: packets that were to be sent and
/// were dropped.
fn transmit_drops(text: &str) -> Option<u64> {
    let line = text
        .lines()
        .find_map(|line| line.trim_start().strip_prefix(INTERFACE)?.strip_prefix(':'))?;
    line.split_whitespace().nth(11)?.parse().ok()
}

/// Whether /proc/net/tcp shows a socket in state LISTEN (0A) at this port.
fn has_listener(text: &str, port: u16) -> bool {
    text.lines().any(|line| {
        let mut words = line.split_whitespace().skip(1);
        let local = words.next().and_then(|local| local.rsplit_once(':'));
        let at_port = local.is_some_and(|(_, hex)| u16::from_str_radix(hex, 16) == Ok(port));
        at_port && words.nth(1) == Some("0A")
    })
}

#[expect(unsafe_code, reason = "a child can only be told so between fork and exec")]
fn end_with_parent(command: &mut Command) {
    // SAFETY: prctl is a system call, which is allowed between fork and exec.
    unsafe {
        command.pre_exec(|| Ok(set_parent_process_death_signal(Some(Signal::KILL))?));
    }
}

/// Gives the namespace's interface its addresses, in the calling thread's namespace.
fn configure(id: HostId) -> Result<(), EmulatorError> {
    let mut script = format!(
        "link set lo up\nlink set {INTERFACE} mtu {MTU} txqueuelen {TX_QUEUE}\naddr add {}/16 dev {INTERFACE}\n",
        id.address()
    );
    if Path::new("/proc/sys/net/ipv6").exists() {
        // Without addresses and solicitations of its own, an idle host sends nothing.
        let _ = writeln!(
            script,
            "link set {INTERFACE} addrgenmode none\naddr add {}/64 dev {INTERFACE} nodad",
            id.address_v6()
        );
    }
    let _ = writeln!(script, "link set {INTERFACE} up");
    ip(&script)?;
    // What a former connection was like must not show in the next (tcp(7), tcp_no_metrics_save).
    fs::write("/proc/sys/net/ipv4/tcp_no_metrics_save", "1")
        .map_err(|error| EmulatorError::of("cannot set net.ipv4.tcp_no_metrics_save", error))
}

fn ip(script: &str) -> Result<(), EmulatorError> {
    let failed =
        |error| EmulatorError::of("cannot run ip (Debian: apt-get install iproute2)", error);
    let mut command = Command::new("ip");
    // A group of its own: Ctrl-C is ours.
    command
        .process_group(0)
        .args(["-batch", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    let mut child = command.spawn().map_err(failed)?;
    let written = child.stdin.take().map_or(Ok(()), |mut input| input.write_all(script.as_bytes()));
    let output = written.and_then(|()| child.wait_with_output()).map_err(failed)?;
    if output.status.success() {
        return Ok(());
    }
    let said =
        String::from_utf8_lossy(&output.stderr).lines().next().unwrap_or_default().to_owned();
    Err(EmulatorError(format!("ip refuses an interface: {said}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drops_are_read_where_the_kernel_writes_them() {
        let text = "Inter-|   Receive        |  Transmit\n face |bytes packets errs drop fifo frame compressed multicast|bytes packets errs drop fifo colls carrier compressed\n\
            \x20   lo:       0       0    0    0    0     0          0         0        0       0    0    0    0     0       0          0\n\
            \x20 eth0:    1000      10    0    1    0     0          0         0     2000      20    0    7    0     0       0          0\n";
        assert_eq!(transmit_drops(text), Some(7));
        assert_eq!(transmit_drops(""), None);
    }

    #[test]
    fn listeners_are_told_from_connections() {
        let text = "  sl  local_address rem_address   st tx_queue rx_queue\n   0: 00000000:1451 00000000:0000 0A 00000000:00000000\n   1: 0100000A:1F90 0200000A:C350 01 00000000:00000000\n";
        assert!(has_listener(text, 5201) && !has_listener(text, 8080) && !has_listener(text, 1));
    }
}
