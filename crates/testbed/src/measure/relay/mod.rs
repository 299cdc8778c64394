//! The media relays of a measured run: one coturn on each relay's host, and the broker that gives
//! the callers their credentials.

mod config;
mod coturn;
mod error;
mod probe;

pub use coturn::{Coturn, PROGRAM};
pub use error::RelayError;

use super::plan::PlannedCall;
use emulator::Testbed;
use net::{HostId, NetworkConfig};
use server::broker::{Broker, Class, Config, Relay, Request, Service};
use server::{Secret, since_1970};
use sim::CallConfig;
use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use units::Duration;

/// The service name with which measured calls ask the broker for a relay.
const SERVICE: &str = "weir-measure";
/// The time that credentials last beyond the run: browsers are launched before it begins.
const LAUNCH: Duration = Duration::from_secs(120);
/// The capacity of a relay: more than the calls of a run.
const CAPACITY: u32 = 1_000;

/// The running relays of a run.
#[derive(Default)]
pub(super) struct Relays {
    servers: BTreeMap<HostId, Coturn>,
}

impl Relays {
    /// Starts a relay on every host that is one, and gives the callers of relayed calls their
    /// credentials, which are valid for the length of the run.
    pub(super) fn start(
        testbed: &Testbed,
        calls: &mut [PlannedCall],
        run_length: Duration,
        cancel: &AtomicBool,
    ) -> Result<Self, RelayError> {
        let mut relays = Self::default();
        let mut config = config(run_length);
        for host in calls.iter().filter_map(|call| call.config.relay) {
            if relays.servers.contains_key(&host) {
                continue;
            }
            let secret = Secret::random().map_err(|error| RelayError::Secret(error.to_string()))?;
            let server = Coturn::start(testbed.host(host), host.address(), &secret, cancel)?;
            config.relays.extend(
                [Class::Basic, Class::Specialised]
                    .map(|class| relay(testbed.host(host).name(), host, class, &secret, calls)),
            );
            relays.servers.insert(host, server);
        }
        let broker = Broker::new(config);
        calls
            .iter_mut()
            .enumerate()
            .try_for_each(|(index, call)| assign_relay(index, call, &broker))?;
        Ok(relays)
    }

    /// Checks that all relays run.
    pub(super) fn check_alive(&mut self) -> Result<(), RelayError> {
        Ok(self.servers.values_mut().try_for_each(Coturn::is_alive)?)
    }

    /// Notes with the version of each relay.
    pub(super) fn notes(&self) -> Vec<(String, String)> {
        let note =
            |server: &Coturn| (format!("relay.{}", server.host()), server.version().to_owned());
        self.servers.values().map(note).collect()
    }
}

fn config(run_length: Duration) -> Config {
    let services = vec![Service { name: SERVICE.to_owned(), specialised: true }];
    Config { lifetime: run_length + LAUNCH, relays: Vec::new(), services }
}

/// The broker's description of a relay: near for the callers whose calls use it.
fn relay(name: &str, host: HostId, class: Class, secret: &Secret, calls: &[PlannedCall]) -> Relay {
    let near = calls.iter().enumerate().filter(|(_, call)| call.config.relay == Some(host));
    Relay {
        name: name.to_owned(),
        urls: vec![format!("turn:{}:{}?transport=udp", host.address(), sim::relay::TURN_PORT)],
        secret: secret.clone(),
        class,
        capacity: CAPACITY,
        distances: near.map(|(index, _)| (region(index), Duration::ZERO)).collect(),
    }
}

/// Each call is its own region and user, because the experiment chooses the relay of each call.
fn region(index: usize) -> String {
    format!("call-{index}")
}

/// Gives the caller of a relayed call the credentials of its relay.
fn assign_relay(index: usize, call: &mut PlannedCall, broker: &Broker) -> Result<(), RelayError> {
    if call.config.relay.is_none() {
        return Ok(());
    }
    let class =
        if call.config.dscp == sim::Marks::default() { Class::Basic } else { Class::Specialised };
    let request = Request {
        service: SERVICE.to_owned(),
        user: region(index),
        region: Some(region(index)),
        class,
    };
    let session = broker.open(&request, since_1970());
    let session = session
        .map_err(|refusal| RelayError::Refused { call: call.config.name.clone(), refusal })?;
    let [caller, _] = &mut call.settings;
    caller.ice_servers = session.ice_servers;
    caller.relay = true;
    Ok(())
}

/// A warning if the notes of a call do not show that its media passed its relay.
pub(super) fn warning(
    call: &CallConfig,
    network: &NetworkConfig,
    notes: &[(String, String)],
) -> Option<String> {
    let name = |host: HostId| network.hosts[usize::from(host.0)].name.as_str();
    let (relay, caller) = (name(call.relay?), name(call.from));
    let wanted = format!("{}.{caller}.candidate-pair.local.candidateType", call.name);
    match notes.iter().find(|(name, _)| *name == wanted).map(|(_, kind)| kind.as_str()) {
        Some("relay") => None,
        Some(kind) => Some(format!(
            "'{}' did not pass {relay}: the local candidate of {caller} is of type '{kind}'",
            call.name
        )),
        None => Some(format!(
            "'{}': {caller} did not report whether its media passed {relay}",
            call.name
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::plan::Plan;
    use experiment::Experiment;
    use units::Seed;

    const TEXT: &str = r#"
title = "Calls"
duration = "60s"

[host.alice]

[host.bob]

[host.turn]

[call."éligible"]
from = "alice"
to = "bob"
relay = "turn"
dscp = { audio = "ef", video = "af41" }

[call.other]
from = "alice"
to = "bob"
"#;

    fn plan() -> (Plan, NetworkConfig) {
        let experiment = Experiment::parse(TEXT, "x.toml").unwrap();
        let cell = &experiment.cells()[0];
        let scenario = cell.scenario(Seed(1));
        (Plan::new(cell, &scenario).unwrap(), scenario.network)
    }

    #[test]
    fn the_caller_of_a_relayed_call_gets_credentials_from_the_broker() {
        let (mut plan, _) = plan();
        let secret = Secret::new("0123456789abcdef");
        let mut config = config(Duration::from_secs(60));
        let classes = [Class::Basic, Class::Specialised];
        config
            .relays
            .extend(classes.map(|class| relay("turn", HostId(2), class, &secret, &plan.calls)));
        let broker = Broker::new(config);
        plan.calls
            .iter_mut()
            .enumerate()
            .for_each(|(index, call)| assign_relay(index, call, &broker).unwrap());
        let [caller, callee] = &plan.calls[0].settings;
        assert!(caller.relay && !callee.relay && callee.ice_servers.is_empty());
        assert_eq!(caller.ice_servers[0].urls, ["turn:10.0.0.3:3478?transport=udp"]);
        assert!(caller.ice_servers[0].username.as_ref().unwrap().ends_with(":call-0"));
        assert!(
            plan.calls[1].settings.iter().all(|page| !page.relay && page.ice_servers.is_empty())
        );
    }

    #[test]
    fn media_that_did_not_pass_the_relay_is_a_warning() {
        let (plan, network) = plan();
        let [call, direct] = [&plan.calls[0].config, &plan.calls[1].config];
        let note = |kind: &str| {
            vec![("éligible.alice.candidate-pair.local.candidateType".to_owned(), kind.to_owned())]
        };
        assert_eq!(warning(call, &network, &note("relay")), None);
        assert_eq!(warning(direct, &network, &[]), None);
        let said = warning(call, &network, &note("host")).unwrap();
        assert!(said.contains("'éligible' did not pass turn") && said.contains("'host'"), "{said}");
        assert!(warning(call, &network, &[]).unwrap().contains("alice did not report"));
    }
}
