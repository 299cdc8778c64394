//! The metrics of the broker.

use super::super::{Relay, Session};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;
use std::fmt;

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct RelayLabels {
    relay: String,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct IssuedLabels {
    relay: String,
    class: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct RefusedLabels {
    reason: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct RequestLabels {
    status: u16,
}

/// The metrics since the start of the broker.
pub(super) struct Metrics {
    registry: Registry,
    sessions: Family<RelayLabels, Gauge>,
    capacity: Family<RelayLabels, Gauge>,
    issued: Family<IssuedLabels, Counter>,
    refused: Family<RefusedLabels, Counter>,
    requests: Family<RequestLabels, Counter>,
}

impl Default for Metrics {
    fn default() -> Self {
        let mut registry = Registry::with_prefix("weir_broker");
        let sessions = Family::<RelayLabels, Gauge>::default();
        let capacity = Family::<RelayLabels, Gauge>::default();
        let issued = Family::<IssuedLabels, Counter>::default();
        let refused = Family::<RefusedLabels, Counter>::default();
        let requests = Family::<RequestLabels, Counter>::default();
        registry.register("sessions", "Current sessions of a relay", sessions.clone());
        registry.register("capacity", "Maximum number of sessions of a relay", capacity.clone());
        registry.register("issued", "Sessions opened on a relay", issued.clone());
        registry.register("refused", "Session requests refused, by reason", refused.clone());
        registry.register("requests", "Requests, by the status of the answer", requests.clone());
        Self { registry, sessions, capacity, issued, refused, requests }
    }
}

impl Metrics {
    /// Counts a session that was opened.
    pub(super) fn issued(&self, session: &Session) {
        let labels = IssuedLabels { relay: session.relay.clone(), class: session.class.as_str() };
        self.issued.get_or_create(&labels).inc();
    }

    /// Counts a session that was refused.
    pub(super) fn refused(&self, reason: &'static str) {
        self.refused.get_or_create(&RefusedLabels { reason }).inc();
    }

    /// Counts an answered request.
    pub(super) fn answered(&self, status: u16) {
        self.requests.get_or_create(&RequestLabels { status }).inc();
    }

    /// The metrics as text, with the current sessions of the relays.
    pub(super) fn text(&self, loads: &[(&Relay, u32)]) -> Result<String, fmt::Error> {
        for (relay, load) in loads {
            let labels = RelayLabels { relay: relay.name.clone() };
            self.sessions.get_or_create(&labels).set(i64::from(*load));
            self.capacity.get_or_create(&labels).set(i64::from(relay.capacity));
        }
        let mut text = String::new();
        encode(&mut text, &self.registry)?;
        Ok(text)
    }
}
