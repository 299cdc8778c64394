//! The IP multimedia subsystem of a measured run (3GPP TS 23.228): Kamailio as P-, I- and S-CSCF,
//! rtpengine as access gateway, and doubles of HSS and PCRF, each on its host.
//!
//! ```text
//!                 Cx ┌─────┐ Cx
//!             ┌──────┤ HSS ├──────┐
//!           ┌─┴──────┐     ┌──────┴─┐
//!           │ I-CSCF ├─────┤ S-CSCF │
//!           └─┬──────┘ SIP └──────┬─┘
//!             └───────┬───────────┘
//! page ──wss──▶ ┌─────┴──┐ Rx ┌──────┐ control socket ┌──────────────────┐
//!               │ P-CSCF ├────┤ PCRF ├───────────────▶│ emulated LTE cell │ bearers
//!               └─────┬──┘    └──────┘                └──────────────────┘
//!                     │ ng
//! page ──media─▶ ┌────┴────────┐ ◀─media── the other page
//!                │ rtpengine   │
//!                └─────────────┘
//! ```
//!
//! All signalling and all media cross the modelled network. `docs/ims.md` has the flows.

mod certificate;
mod control;
mod cscf;
mod double;
mod error;
mod gateway;
mod hss;
mod media;
mod pcrf;

pub use cscf::PROGRAM as CSCF_PROGRAM;
pub use error::ImsError;
pub use gateway::PROGRAM as GATEWAY_PROGRAM;

use super::leftovers;
use super::plan::PlannedCall;
use super::server_process::{ServerError, ServerProcess};
use certificate::Certificate;
use control::ControlSocket;
use cscf::{Names, Role};
use double::{Double, Service};
use emulator::Testbed;
use experiment::{Browser, Endpoint, ImsFault};
use hss::{Hss, Subscriber};
use net::{AccessKind, HostId, NetworkConfig};
use pcrf::{Behaviour, Pcrf, PcrfEvent, Policy, Terminal};
use server::Secret;
use server::signalling::ImsSettings;
use sim::Scenario;
use sim::recording::Event;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use tempfile::TempDir;
use units::{Duration, Time};

/// The home domain (RFC 2606 § 2 reserves `.test`).
const DOMAIN: &str = "ims.test";
/// A user without a subscription.
const NOBODY: &str = "nobody";
/// The time for the Diameter connections. On an idle machine they take 1.5 s.
const READY: Duration = Duration::from_secs(20);
/// Lines of the P-CSCF with this text become warnings: see `templates/pcscf.cfg`.
const NO_BEARER: &str = "no bearer";

/// The folder of the control socket of a run whose calls pass an IMS.
pub(super) struct ControlFolder(TempDir);

impl ControlFolder {
    pub(super) fn new() -> Result<Self, ImsError> {
        let prefix = leftovers::clean_up(&std::env::temp_dir(), "weir-control-");
        let prefix = prefix.map_err(ServerError::from)?;
        let folder = tempfile::Builder::new().prefix(&prefix).tempdir();
        folder.map(Self).map_err(ImsError::Folder)
    }

    pub(super) fn socket(&self) -> PathBuf {
        self.0.path().join("control")
    }
}

/// What happened in an IMS since the last poll.
#[derive(Default)]
pub(super) struct Happened {
    pub(super) events: Vec<Event>,
    pub(super) warnings: Vec<String>,
}

/// A running IMS. Dropping it ends it.
pub(super) struct Ims {
    config: experiment::Ims,
    names: Names,
    certificate: Certificate,
    /// The user of each end of a call and its password: as the HSS knows it.
    passwords: BTreeMap<HostId, (String, Secret)>,
    hss: Double<Hss>,
    pcrf: Option<Double<Pcrf<ControlSocket>>>,
    /// The CSCFs and the gateway.
    servers: Vec<ServerProcess>,
    pcscf: ServerProcess,
    /// When the P-CSCF is to be killed.
    kill_at: Option<Time>,
    ready: bool,
}

impl Ims {
    /// Starts the functions on their hosts.
    pub(super) fn start(
        testbed: &Testbed,
        config: &experiment::Ims,
        scenario: &Scenario,
        control: &Path,
        cancel: &AtomicBool,
    ) -> Result<Self, ImsError> {
        let name = |host: HostId| scenario.name(host).to_owned();
        let random = || Secret::random().map_err(|error| ImsError::Random(error.to_string()));
        let mut passwords = BTreeMap::new();
        for host in scenario.calls.iter().flat_map(|call| [call.from, call.to]) {
            passwords.insert(host, (name(host), random()?));
        }
        let certificate = Certificate::new(config.pcscf.address())
            .map_err(|error| ImsError::Certificate(error.to_string()))?;
        let names = Names {
            domain: DOMAIN.to_owned(),
            icscf: name(config.icscf),
            scscf: name(config.scscf),
            hss: name(config.hss),
            pcrf: config.pcrf.map(name),
            agw: config.agw.address(),
            control_port: gateway::CONTROL_PORT,
        };
        let subscribers = passwords.values();
        let subscribers = subscribers
            .map(|(user, password)| Subscriber::new(user, DOMAIN, password.expose()))
            .collect();
        let hss = double(testbed, config.hss, Hss::new(DOMAIN, subscribers))?;
        let pcrf = config.pcrf.filter(|_| config.fault != Some(ImsFault::PcrfDown));
        let pcrf = pcrf.map(|host| {
            let policy = policy(config);
            let terminals = terminals(&scenario.network);
            let service = Pcrf::new(policy, ControlSocket(control.to_owned()), terminals);
            double(testbed, host, service)
        });
        let pcrf = pcrf.transpose()?;
        // The private key must not appear in messages.
        let secret = random()?;
        let start = |role, host: HostId| {
            let (at, address) = (testbed.host(host), host.address());
            cscf::start(role, at, address, &names, &certificate, &secret, cancel)
        };
        let mut servers = Vec::new();
        if config.fault != Some(ImsFault::AgwDown) {
            let (host, address) = (testbed.host(config.agw), config.agw.address());
            servers.push(gateway::start(host, address, &secret, cancel)?);
        }
        servers.push(start(Role::Interrogating, config.icscf)?);
        servers.push(start(Role::Serving, config.scscf)?);
        let pcscf = start(Role::Proxy, config.pcscf)?;
        let killed = config.fault == Some(ImsFault::PcscfKilled);
        let kill_at = scenario.calls.first().filter(|_| killed).map(|call| {
            let stop = call.stop.min(Time::ZERO + scenario.duration);
            call.start + stop.saturating_since(call.start) / 2
        });
        let (config, ready) = (config.clone(), false);
        Ok(Self {
            config,
            names,
            certificate,
            passwords,
            hss,
            pcrf,
            servers,
            pcscf,
            kill_at,
            ready,
        })
    }

    /// Gives the pages of the calls what they need to register and to call.
    pub(super) fn assign(&self, calls: &mut [PlannedCall]) -> Result<(), ImsError> {
        for call in calls {
            let chromium = Some(Endpoint::Browser(Browser::Chromium));
            if call.endpoints != [chromium; 2] {
                return Err(ImsError::Endpoint(call.config.name.clone()));
            }
            let ends = [call.config.from, call.config.to];
            for (index, (host, settings)) in ends.into_iter().zip(&mut call.settings).enumerate() {
                settings.ims = Some(self.settings(host, (index == 0).then_some(ends[1])));
            }
        }
        Ok(())
    }

    fn settings(&self, host: HostId, callee: Option<HostId>) -> ImsSettings {
        let name = |host: HostId| {
            self.passwords.get(&host).map_or_else(String::new, |(name, _)| name.clone())
        };
        let password = self.passwords.get(&host).map_or("", |(_, password)| password.expose());
        let wrong = self.config.fault == Some(ImsFault::WrongPassword) && callee.is_some();
        let unknown = self.config.fault == Some(ImsFault::UnknownUser);
        ImsSettings {
            server: self.origin(),
            user: name(host),
            domain: DOMAIN.to_owned(),
            password: if wrong { format!("not {password}") } else { password.to_owned() },
            address: host.address().to_string(),
            callee: callee.map(|callee| if unknown { NOBODY.to_owned() } else { name(callee) }),
        }
    }

    /// The origin of the P-CSCF's WebSockets.
    pub(super) fn origin(&self) -> String {
        format!("wss://{}:{}", self.config.pcscf.address(), cscf::WSS_PORT)
    }

    /// The fingerprint of the P-CSCF's key.
    pub(super) fn fingerprint(&self) -> &str {
        &self.certificate.fingerprint
    }

    /// Whether the CSCFs are connected to HSS and PCRF, from the first time on.
    pub(super) fn is_ready(&mut self, now: Time) -> Result<bool, ImsError> {
        let pcscf = self.pcscf.host();
        let registrars = [self.names.icscf.as_str(), self.names.scscf.as_str()];
        self.ready = self.ready
            || self.hss.has_peers(&registrars)
                && self.pcrf.as_ref().is_none_or(|pcrf| pcrf.has_peers(&[pcscf]));
        if !self.ready && now > Time::ZERO + READY {
            return Err(ImsError::NotReady(READY));
        }
        Ok(self.ready)
    }

    /// What happened since the last call. Does what is due at `now`.
    pub(super) fn poll(&mut self, now: Time) -> Result<Happened, ImsError> {
        let mut happened = Happened::default();
        let hss = &self.names.hss;
        let faults = [
            (hss.as_str(), self.hss.fault()),
            (self.names.pcrf.as_deref().unwrap_or(""), self.pcrf.as_ref().and_then(Double::fault)),
        ];
        for (host, fault) in faults {
            if let Some(fault) = fault {
                return Err(ImsError::Fault { host: host.to_owned(), fault });
            }
        }
        for event in self.pcrf.iter().flat_map(|pcrf| pcrf.service().poll(now)) {
            let stream = |host: &str| format!("{host}.up");
            let (stream, what, value) = match event {
                PcrfEvent::Established { host, gbr } => {
                    (stream(&host), "bearerEstablished", gbr.as_bps_f64())
                }
                PcrfEvent::Released { host } => (stream(&host), "bearerReleased", 0.0),
                PcrfEvent::Refused { host, reason } => {
                    happened.warnings.push(format!("{host} has no bearer: {reason}"));
                    (stream(&host), "bearerRefused", 0.0)
                }
            };
            happened.events.push(Event { at: now, stream, what, value });
        }
        Ok(happened)
    }

    /// Kills the P-CSCF and starts it again, if that is due.
    pub(super) fn break_down(&mut self, testbed: &Testbed, now: Time) -> Result<(), ImsError> {
        if self.kill_at.is_none_or(|at| now < at) {
            return Ok(());
        }
        self.kill_at = None;
        self.pcscf.kill();
        let secret = Secret::random().map_err(|error| ImsError::Random(error.to_string()))?;
        let (host, address) = (self.config.pcscf, self.config.pcscf.address());
        let (names, certificate) = (&self.names, &self.certificate);
        self.pcscf = cscf::start(
            Role::Proxy,
            testbed.host(host),
            address,
            names,
            certificate,
            &secret,
            &AtomicBool::new(false),
        )?;
        Ok(())
    }

    /// Checks that the functions run.
    pub(super) fn check_alive(&mut self) -> Result<(), ImsError> {
        self.servers.iter_mut().try_for_each(ServerProcess::is_alive)?;
        Ok(self.pcscf.is_alive()?)
    }

    /// What the P-CSCF says about calls without bearers.
    pub(super) fn warnings(&self) -> Vec<String> {
        let lines = self.pcscf.lines();
        let said = lines.iter().filter_map(|line| line.find(NO_BEARER).map(|at| &line[at..]));
        let mut said: Vec<String> =
            said.map(|text| format!("{}: {text}", self.pcscf.host())).collect();
        said.dedup();
        said
    }
}

fn double<S: Service>(testbed: &Testbed, host: HostId, service: S) -> Result<Double<S>, ImsError> {
    let at = testbed.host(host);
    Double::start(at, host.address(), DOMAIN, service)
        .map_err(|error| ImsError::Listen { host: at.name().to_owned(), error })
}

fn policy(config: &experiment::Ims) -> Policy {
    let behaviour = match config.fault {
        Some(ImsFault::PcrfSilent) => Behaviour::Silent,
        Some(ImsFault::BearerRefused) => Behaviour::Refuse,
        _ => Behaviour::Normal,
    };
    Policy { behaviour, max_gbr: config.max_gbr, rlc: config.rlc }
}

/// The hosts of a network by their addresses.
fn terminals(network: &NetworkConfig) -> BTreeMap<std::net::Ipv4Addr, Terminal> {
    let hosts = (0..).map(HostId).zip(&network.hosts);
    hosts
        .map(|(id, host)| {
            let has_bearers = host.access.kind() == AccessKind::Lte;
            (id.address(), Terminal { host: host.name.clone(), has_bearers })
        })
        .collect()
}
