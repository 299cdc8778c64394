//! Selective Forwarding Units on the hosts of a measurement: Janus with its videoroom plugin,
//! controlled through its WebSocket API. In the signalling room of a call, this process takes part
//! for Janus and translates its messages; a page cannot tell the difference.
//!
//! ```text
//! page of alice ─▶ room of 'main-alice' ◀─ Leg (callee) ─▶ Janus: publisher
//!                                                             │ media, across the modelled network
//! page of bob ◀─ room of 'main-alice-bob' ◀─ Leg (caller) ─▶ Janus: subscriber
//! ```

mod connection;
mod error;
mod janus;
mod leg;

pub use error::{JanusError, SfuError};
pub use janus::PROGRAM;

use connection::Connection;
use emulator::Testbed;
use janus::Janus;
use leg::{Leg, Role};
use net::HostId;
use serde_json::{Value, json};
use server::signalling::{CallRole, MeasuredRoom};
use sim::codec::Codec;
use sim::{CallConfig, Sfu};
use std::collections::HashMap;
use std::sync::atomic::AtomicBool;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::watch;

/// The forwarding units of a run. Dropping them ends them.
#[derive(Default)]
pub(super) struct ForwardingUnits {
    /// Dropped before the servers, so that no task sends requests to a server that has ended.
    runtime: Option<Runtime>,
    servers: Vec<(HostId, Janus)>,
    /// The published streams, by the name of the call that publishes them.
    streams: HashMap<String, Stream>,
}

/// A stream that is published to a unit. Each stream has its own room, because bitrate and codec
/// are settings of a room.
struct Stream {
    room: u64,
    is_up: watch::Sender<bool>,
}

impl ForwardingUnits {
    /// Starts the units that these calls need, each on its host, and waits until they answer.
    pub(super) fn start<'c>(
        testbed: &Testbed,
        calls: impl Iterator<Item = &'c CallConfig>,
        cancel: &AtomicBool,
    ) -> Result<Self, SfuError> {
        let mut units = Self::default();
        for host in calls.filter_map(CallConfig::unit) {
            if !units.servers.iter().any(|(known, _)| *known == host) {
                units
                    .servers
                    .push((host, Janus::start(testbed.host(host), host.address(), cancel)?));
            }
        }
        if !units.servers.is_empty() {
            let runtime = Builder::new_multi_thread()
                .worker_threads(1)
                .thread_name("sfu")
                .enable_all()
                .build();
            units.runtime = Some(runtime.map_err(SfuError::Thread)?);
        }
        Ok(units)
    }

    /// Joins a call in place of its unit, if the call has one. The call that publishes a stream
    /// must come before those that forward it.
    pub(super) fn join(
        &mut self,
        testbed: &Testbed,
        call: &CallConfig,
        room: &MeasuredRoom,
    ) -> Result<(), SfuError> {
        let (Some(host), Some(sfu), Some(runtime)) = (call.unit(), &call.sfu, &self.runtime) else {
            return Ok(());
        };
        let failed = |error| SfuError::Janus { call: call.name.clone(), error };
        let Some((_, janus)) = self.servers.iter().find(|(at, _)| *at == host) else {
            return Ok(());
        };
        let socket = janus.connect(testbed.host(host)).map_err(failed)?;
        let connection = runtime.block_on(Connection::open(socket, janus.secret().expose()));
        let mut connection = connection.map_err(failed)?;
        let (seat, role) = match sfu {
            Sfu::Publish { bitrate } => {
                let room = self.streams.len() as u64 + 1;
                let wanted = wanted(call, room, bitrate.as_bps());
                runtime.block_on(connection.request(&wanted)).map_err(failed)?;
                let (is_up, _) = watch::channel(false);
                self.streams.insert(call.name.clone(), Stream { room, is_up: is_up.clone() });
                (CallRole::Callee, Role::Publish { room, is_up })
            }
            Sfu::Forward { call: published } => {
                let stream = self.streams.get(published);
                let stream = stream.ok_or_else(|| SfuError::NotPublished {
                    call: call.name.clone(),
                    published: published.clone(),
                })?;
                (
                    CallRole::Caller,
                    Role::Subscribe { room: stream.room, is_up: stream.is_up.subscribe() },
                )
            }
        };
        let participant = room.join(seat).map_err(|refusal| SfuError::Participant {
            call: call.name.clone(),
            reason: refusal.to_string(),
        })?;
        // The timer of a leg must be made within the runtime.
        runtime.spawn(async move { Leg::new(participant, connection, role).run().await });
        Ok(())
    }

    /// Checks that the units run.
    pub(super) fn check_alive(&mut self) -> Result<(), SfuError> {
        Ok(self.servers.iter_mut().try_for_each(|(_, janus)| janus.is_alive())?)
    }

    /// Notes with the version of each unit.
    pub(super) fn notes(&self) -> Vec<(String, String)> {
        let note = |(_, janus): &(HostId, Janus)| {
            (format!("sfu.{}", janus.host()), janus.version().to_owned())
        };
        self.servers.iter().map(note).collect()
    }
}

impl Drop for ForwardingUnits {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// The request for a room with one stream.
fn wanted(call: &CallConfig, room: u64, bitrate: u64) -> Value {
    let codec =
        call.video.as_ref().map(|video| video.encoder.codec).filter(|codec| *codec != Codec::Csv);
    let codec = codec.map_or("vp8".to_owned(), |codec| codec.to_string());
    json!({
        "request": "create", "room": room, "permanent": false, "publishers": 1, "bitrate": bitrate,
        "videocodec": codec, "audiocodec": "opus", "transport_wide_cc_ext": true, "fir_freq": 0,
        "notify_joining": false, "record": false,
    })
}
