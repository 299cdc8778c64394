//! What is counted.

use super::super::{Relay, Session};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;
use std::fmt;

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct OfRelay {
    relay: String,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Issued {
    relay: String,
    class: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Refused {
    reason: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Answered {
    status: u16,
}

/// The counts since the start.
pub(super) struct Metrics {
    registry: Registry,
    sessions: Family<OfRelay, Gauge>,
    capacity: Family<OfRelay, Gauge>,
    issued: Family<Issued, Counter>,
    refused: Family<Refused, Counter>,
    requests: Family<Answered, Counter>,
}

impl Default for Metrics {
    fn default() -> Self {
        let mut registry = Registry::with_prefix("weir_broker");
        let sessions = Family::<OfRelay, Gauge>::default();
        let capacity = Family::<OfRelay, Gauge>::default();
        let issued = Family::<Issued, Counter>::default();
        let refused = Family::<Refused, Counter>::default();
        let requests = Family::<Answered, Counter>::default();
        registry.register("sessions", "Sessions of a relay now", sessions.clone());
        registry.register("capacity", "Sessions that a relay may have", capacity.clone());
        registry.register("issued", "Sessions given to a relay", issued.clone());
        registry.register("refused", "Sessions that were refused", refused.clone());
        registry.register("requests", "Requests by the status of their answers", requests.clone());
        Self { registry, sessions, capacity, issued, refused, requests }
    }
}

impl Metrics {
    /// A session was given.
    pub(super) fn issued(&self, session: &Session) {
        let labels = Issued { relay: session.relay.clone(), class: session.class.as_str() };
        self.issued.get_or_create(&labels).inc();
    }

    /// A session was refused.
    pub(super) fn refused(&self, reason: &'static str) {
        self.refused.get_or_create(&Refused { reason }).inc();
    }

    /// A request was answered.
    pub(super) fn answered(&self, status: u16) {
        self.requests.get_or_create(&Answered { status }).inc();
    }

    /// All of them, with the relays as they are now.
    pub(super) fn text(&self, loads: &[(&Relay, u32)]) -> Result<String, fmt::Error> {
        for (relay, load) in loads {
            let labels = OfRelay { relay: relay.name.clone() };
            self.sessions.get_or_create(&labels).set(i64::from(*load));
            self.capacity.get_or_create(&labels).set(i64::from(relay.capacity));
        }
        let mut text = String::new();
        encode(&mut text, &self.registry)?;
        Ok(text)
    }
}
