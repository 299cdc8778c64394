//! The hosts of a run: one network namespace per host, each with one interface.

use crate::device::{Device, MTU};
use crate::error::EmulatorError;
use crate::leftovers::{NetnsName, sweep};
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
use std::sync::Arc;
use std::thread::sleep;
use std::time::Duration;

/// The name of the interface on every host.
const INTERFACE: &str = "eth0";
const INTERFACE_C: &std::ffi::CStr = c"eth0";
/// The queue of the interface, packets (`ip link … txqueuelen`): 40 ms at a million packets per
/// second, so that a stall of the loop loses none.
const TX_QUEUE: usize = 40_000;
/// How long programs have to terminate before they are killed.
const GRACE: Duration = Duration::from_secs(2);
/// How long the kernel may take to accept packets for a new address.
const READY: Duration = Duration::from_secs(10);

/// The hosts of a run. Dropping it ends the programs on them and removes them.
pub struct Testbed {
    owner: Owner,
    hosts: Vec<Host>,
    not_swept: Vec<EmulatorError>,
}

/// A host: its namespaces, its interface, and the programs in them.
pub struct Host {
    name: String,
    owner: Owner,
    namespace: Namespace,
    id: NamespaceId,
    /// The name for `ip netns`; `None` without the rights to make one.
    netns_name: Option<NetnsName>,
    device: Option<Device>,
}

impl Testbed {
    /// Makes one host per name. Host n has the addresses [`HostId::address`] and
    /// [`HostId::address_v6`]. It knows the other hosts by name: `bob` over IPv4, as in the
    /// simulator, and `bob.ipv6` over IPv6. First removes what killed runs have left.
    ///
    /// # Errors
    /// If the rights to make namespaces and devices, or the program `ip`, are missing.
    pub fn new(names: &[String]) -> Result<Self, EmulatorError> {
        let owner = Owner::this()?;
        let not_swept = sweep().failed;
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
        Ok(Self { owner, hosts, not_swept })
    }

    /// The hosts, in the order of the names given to [`Self::new`].
    #[must_use]
    pub fn hosts(&self) -> &[Host] {
        &self.hosts
    }

    /// The host of this number.
    ///
    /// # Panics
    /// If there is no such host.
    #[must_use]
    pub fn host(&self, id: HostId) -> &Host {
        &self.hosts[usize::from(id.0)]
    }

    pub(crate) fn take_devices(&mut self) -> Result<Vec<Device>, EmulatorError> {
        let taken = self.hosts.iter_mut().map(|host| host.device.take());
        taken.collect::<Option<_>>().ok_or(EmulatorError::InUse)
    }

    /// Ends every program on every host, and the processes that these have started elsewhere: sends
    /// SIGTERM first, SIGKILL later. Returns how many processes still run.
    pub fn end_programs(&self) -> usize {
        let namespaces: Vec<NamespaceId> = self.hosts.iter().map(|host| host.id).collect();
        processes::end(&namespaces, |owner| owner == self.owner, GRACE)
    }

    /// Why namespaces of killed runs could not be removed when this testbed was made.
    #[must_use]
    pub fn not_swept(&self) -> &[EmulatorError] {
        &self.not_swept
    }

    /// Ends the programs and removes the hosts, as dropping the testbed does. Returns why
    /// namespaces could not be removed.
    #[must_use]
    pub fn remove(mut self) -> Vec<EmulatorError> {
        self.end_programs();
        self.hosts.drain(..).filter_map(|host| host.remove().err()).collect()
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
        let number =
            processes::namespace(&path).ok_or_else(|| EmulatorError::NoNamespace(path.clone()))?;
        let netns_name = NetnsName::assign(owner, name, &path)?;
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
            netns_name,
            device: Some(device),
        })
    }

    /// Ends the thread of the host, closes its interface, and removes its name.
    fn remove(self) -> Result<(), EmulatorError> {
        let Self { namespace, netns_name, device, .. } = self;
        drop((namespace, device));
        netns_name.map_or(Ok(()), |name| name.remove())
    }

    /// The name of the host in the experiment.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The name that `ip netns` shows, if the rights to make one were there.
    #[must_use]
    pub fn netns(&self) -> Option<String> {
        self.netns_name.as_ref().map(NetnsName::name)
    }

    /// Runs `job` in the network namespace of the host and waits for its result.
    ///
    /// # Errors
    /// If the thread of the host has ended.
    pub fn within<T: Send + 'static>(
        &self,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, EmulatorError> {
        self.namespace.within(job)
    }

    /// Starts a program on the host. The program ends when this process ends, for any reason.
    /// Processes that it starts end with the testbed, or at the next [`sweep`].
    ///
    /// # Errors
    /// If the program cannot be started.
    pub fn spawn(&self, mut command: Command) -> Result<Child, EmulatorError> {
        let program = command.get_program().to_string_lossy().into_owned();
        command.env(MARK, self.owner.to_string());
        end_with_parent(&mut command);
        self.within(move || command.spawn())?.map_err(|error| EmulatorError::Spawn {
            host: self.name.clone(),
            program,
            source: Arc::new(error),
        })
    }

    /// Whether a program on the host listens for TCP on this port.
    #[must_use]
    pub fn listens(&self, port: u16) -> bool {
        let sockets = ["net/tcp", "net/tcp6"]
            .map(|name| fs::read_to_string(self.namespace.proc().join(name)));
        sockets.iter().flatten().any(|text| has_listener(text, port))
    }

    /// The file in which the kernel counts the packets of the host's interface.
    pub(crate) fn counters(&self) -> PathBuf {
        self.namespace.proc().join("net/dev")
    }
}

/// Packets that the queue of an interface has dropped because the loop did not read them in time.
/// The kernel counts them as long as the device is open.
pub(crate) fn lost_before_entry(counters: &Path) -> Result<u64, EmulatorError> {
    let text = fs::read_to_string(counters)
        .map_err(|error| EmulatorError::system(counters.display().to_string(), error))?;
    transmit_drops(&text).ok_or_else(|| EmulatorError::NoInterface {
        path: counters.to_owned(),
        interface: INTERFACE,
    })
}

/// The transmit drops of the interface: the twelfth number of its line in /proc/net/dev.
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

#[expect(unsafe_code, reason = "the signal can only be set between fork and exec")]
fn end_with_parent(command: &mut Command) {
    // SAFETY: prctl is a system call, which is allowed between fork and exec.
    unsafe {
        command.pre_exec(|| Ok(set_parent_process_death_signal(Some(Signal::KILL))?));
    }
}

/// Configures the interface in the network namespace of the calling thread.
fn configure(id: HostId) -> Result<(), EmulatorError> {
    let mut script = format!(
        "link set lo up\nlink set {INTERFACE} mtu {MTU} txqueuelen {TX_QUEUE}\naddr add {}/16 dev {INTERFACE}\n",
        id.address()
    );
    if Path::new("/proc/sys/net/ipv6").exists() {
        // Without a link-local address, an idle host sends no router or neighbour solicitations.
        let _ = writeln!(
            script,
            "link set {INTERFACE} addrgenmode none\naddr add {}/64 dev {INTERFACE} nodad",
            id.address_v6()
        );
    }
    let _ = writeln!(script, "link set {INTERFACE} up");
    ip(&script)?;
    await_ipv6(id)?;
    // TCP must not take its initial parameters from a former connection (tcp(7),
    // tcp_no_metrics_save).
    fs::write("/proc/sys/net/ipv4/tcp_no_metrics_save", "1")
        .map_err(|error| EmulatorError::system("cannot set net.ipv4.tcp_no_metrics_save", error))
}

/// Waits until the host accepts packets for its IPv6 address. The kernel adds the route to the
/// address later than the address, in a work queue (net/ipv6/addrconf.c, addrconf_dad_work), which
/// waits while another namespace is being removed.
fn await_ipv6(id: HostId) -> Result<(), EmulatorError> {
    let routes = Path::new("/proc/thread-self/net/ipv6_route");
    let read = |error| EmulatorError::system("cannot read /proc/thread-self/net/ipv6_route", error);
    if !routes.exists() {
        return Ok(());
    }
    for _ in 0..READY.as_millis() {
        if has_route(&fs::read_to_string(routes).map_err(read)?, id) {
            return Ok(());
        }
        sleep(Duration::from_millis(1));
    }
    let late = std::io::ErrorKind::TimedOut;
    Err(EmulatorError::system("no route to the IPv6 address of a host", late))
}

/// Whether the table, in the form of /proc/net/ipv6_route, has a route to the address of the host
/// alone: address and prefix length in hexadecimal come first.
fn has_route(table: &str, id: HostId) -> bool {
    let address: String =
        id.address_v6().octets().iter().map(|byte| format!("{byte:02x}")).collect();
    table
        .lines()
        .any(|line| line.strip_prefix(&address).is_some_and(|rest| rest.starts_with(" 80 ")))
}

fn ip(script: &str) -> Result<(), EmulatorError> {
    let failed =
        |error| EmulatorError::system("cannot run ip (Debian: apt-get install iproute2)", error);
    let mut command = Command::new("ip");
    // A separate process group, so that Ctrl-C reaches only this process.
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
    let first_line =
        String::from_utf8_lossy(&output.stderr).lines().next().unwrap_or_default().to_owned();
    Err(EmulatorError::Ip(first_line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_route_to_a_host_differs_from_one_to_its_network() {
        let id = HostId(1);
        let network = "fd776569720000000000000000000000 40 00000000000000000000000000000000 00";
        assert!(!has_route(network, id));
        let own = "fd776569720000000000000000000002 80 00000000000000000000000000000000 00";
        assert!(has_route(&format!("{network}\n{own}\n"), id));
        assert!(!has_route(own, HostId(2)));
    }

    #[test]
    fn transmit_drops_are_read_from_proc_net_dev() {
        let text = "Inter-|   Receive        |  Transmit\n face |bytes packets errs drop fifo frame compressed multicast|bytes packets errs drop fifo colls carrier compressed\n\
            \x20   lo:       0       0    0    0    0     0          0         0        0       0    0    0    0     0       0          0\n\
            \x20 eth0:    1000      10    0    1    0     0          0         0     2000      20    0    7    0     0       0          0\n";
        assert_eq!(transmit_drops(text), Some(7));
        assert_eq!(transmit_drops(""), None);
    }

    #[test]
    fn listening_sockets_are_distinguished_from_connections() {
        let text = "  sl  local_address rem_address   st tx_queue rx_queue\n   0: 00000000:1451 00000000:0000 0A 00000000:00000000\n   1: 0100000A:1F90 0200000A:C350 01 00000000:00000000\n";
        assert!(has_listener(text, 5201) && !has_listener(text, 8080) && !has_listener(text, 1));
    }
}
