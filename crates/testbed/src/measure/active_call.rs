//! A running call: from two pages that are ready to its records.

use super::plan::PlannedCall;
use super::stats::{self, Collected, Collector};
use server::signalling::{CallRole, MeasuredRoom, Milestone, PageEvent};
use sim::recording::Event;
use std::fmt;
use units::{Duration, Time};

/// The time until browsers must be connected. On an idle machine with a short path they take less
/// than a second; each round trip counts about six times (ICE, DTLS).
const PATIENCE: Duration = Duration::from_secs(20);
/// A page without statistics for so long has failed: it reports every sampling interval, and a page
/// without processor time is late by a second.
const SILENCE: Duration = Duration::from_secs(10);

/// Why a call fails, and with it the run.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// The page of an endpoint does not become ready within 20 s.
    #[error("the endpoint {host} of '{call}' is not ready within 20 s{log}")]
    NotReady {
        /// The host of the endpoint.
        host: String,
        /// The call.
        call: String,
        /// The last message of the pages.
        log: LastMessage,
    },
    /// No page becomes ready.
    #[error("the pages are not ready within 20 s")]
    PagesNotReady,
    /// A user of an IMS is not registered in time.
    #[error("the user {host} of '{call}' is not registered {deadline}{log}")]
    NotRegistered {
        /// The host of the endpoint.
        host: String,
        /// The call.
        call: String,
        /// The time at which the user should be registered.
        deadline: Deadline,
        /// The last message of the pages.
        log: LastMessage,
    },
    /// The endpoints do not connect in time.
    #[error("the endpoints of '{call}' are not connected {deadline}: {states}{log}")]
    NotConnected {
        /// The call.
        call: String,
        /// The time at which they should be connected.
        deadline: Deadline,
        /// The state of each endpoint.
        states: String,
        /// The last message of the pages.
        log: LastMessage,
    },
    /// An endpoint reports an error.
    #[error("the endpoint {host} of '{call}' failed: {message}")]
    Failed {
        /// The host of the endpoint.
        host: String,
        /// The call.
        call: String,
        /// What it reports.
        message: String,
    },
    /// An endpoint closes its connection to the signalling server.
    #[error("the endpoint {host} of '{call}' has left the call")]
    Left {
        /// The host of the endpoint.
        host: String,
        /// The call.
        call: String,
    },
    /// An endpoint sends no statistics.
    #[error("the endpoint {host} of '{call}' has sent no statistics for {SILENCE}")]
    Silent {
        /// The host of the endpoint.
        host: String,
        /// The call.
        call: String,
    },
}

/// The time at which the endpoints of a call should be connected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deadline {
    /// This long after the start of the call.
    After(Duration),
    /// The end of the call.
    CallEnd,
}

impl fmt::Display for Deadline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::After(time) => write!(f, "after {time}"),
            Self::CallEnd => f.write_str("when the call ends"),
        }
    }
}

/// The last message that the pages of a call wrote, if there is one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LastMessage(pub Option<String>);

impl fmt::Display for LastMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.as_ref().map_or(Ok(()), |message| write!(f, "; last message: {message}"))
    }
}

/// A running call.
pub(super) struct ActiveCall {
    call: PlannedCall,
    hosts: [String; 2],
    room: MeasuredRoom,
    state: CallState,
    collector: Option<Collector>,
    endpoints: [EndpointState; 2],
    events: Vec<Event>,
    /// The durations of the steps of a call through an IMS.
    notes: Vec<(String, String)>,
    /// The log messages of the pages.
    messages: Vec<String>,
}

#[derive(Clone, Debug, Default)]
struct EndpointState {
    ready: bool,
    /// Whether it is registered with the IMS that the call passes.
    registered: bool,
    connection: String,
    gone: bool,
    /// The time of its newest statistics.
    last_statistics: Time,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CallState {
    Waiting,
    Calling {
        since: Time,
    },
    Connected,
    /// It was connected and broke. This is a result: the network may have been too bad for the
    /// call.
    Broken,
    Over,
}

impl ActiveCall {
    /// A call whose signalling room exists, between hosts of these names.
    pub(super) fn new(call: PlannedCall, hosts: [String; 2], room: MeasuredRoom) -> Self {
        Self {
            call,
            hosts,
            room,
            state: CallState::Waiting,
            collector: None,
            endpoints: [EndpointState::default(), EndpointState::default()],
            events: Vec::new(),
            notes: Vec::new(),
            messages: Vec::new(),
        }
    }

    /// Whether an endpoint sends statistics: all but forwarding units do.
    fn sends_statistics(&self, index: usize) -> bool {
        let config = &self.call.config;
        config.unit() != Some([config.from, config.to][index])
    }

    /// The call's name.
    fn name(&self) -> &str {
        &self.call.config.name
    }

    /// Whether both pages wait for the start.
    pub(super) fn is_ready(&self) -> bool {
        self.endpoints.iter().all(|endpoint| endpoint.ready)
    }

    /// The error that names an endpoint whose page is not ready.
    pub(super) fn find_unready(&self) -> Option<CallError> {
        let late = self.endpoints.iter().position(|endpoint| !endpoint.ready)?;
        let (host, call) = (self.hosts[late].clone(), self.name().to_owned());
        Some(CallError::NotReady { host, call, log: self.last_message() })
    }

    /// Asks the pages of a call through an IMS to register.
    pub(super) fn register(&self) {
        self.room.register();
    }

    /// The error that names a user who is not registered with the IMS that the call passes.
    fn find_unregistered(&self) -> Option<CallError> {
        let mut ends = self.call.settings.iter().zip(&self.endpoints);
        let late = ends.position(|(page, end)| page.ims.is_some() && !end.registered)?;
        let (host, call) = (self.hosts[late].clone(), self.name().to_owned());
        let (deadline, log) = (Deadline::After(PATIENCE), self.last_message());
        Some(CallError::NotRegistered { host, call, deadline, log })
    }

    /// The run begins, at `start` (milliseconds since 1970).
    pub(super) fn begin(&mut self, start: f64, interval: Duration, duration: Duration) {
        let call = stats::CallInfo::new(&self.call.config, self.hosts.clone());
        self.collector = Some(Collector::new(call, start, interval, duration));
    }

    /// Does what is due at this time of a run that began at `start` (milliseconds since 1970).
    pub(super) fn poll(&mut self, now: Time, start: f64) -> Result<(), CallError> {
        let due = self.state == CallState::Waiting && now >= self.call.config.start;
        let unregistered = if due { self.find_unregistered() } else { None };
        if due && unregistered.is_none() {
            self.room.start(start);
            self.state = CallState::Calling { since: now };
        }
        self.receive(now)?;
        let late = due && now.saturating_since(self.call.config.start) > PATIENCE;
        if let Some(error) = unregistered.filter(|_| late) {
            return Err(error);
        }
        if now >= self.call.config.stop {
            self.hang_up()?;
        }
        match self.state {
            CallState::Calling { since } if now.saturating_since(since) > PATIENCE => {
                Err(self.unconnected(Deadline::After(PATIENCE)))
            }
            CallState::Connected => self.silent(now).map_or(Ok(()), Err),
            _ => Ok(()),
        }
    }

    /// Asks both pages to hang up. A call that never connected is an error.
    pub(super) fn hang_up(&mut self) -> Result<(), CallError> {
        match std::mem::replace(&mut self.state, CallState::Over) {
            CallState::Over => return Ok(()),
            CallState::Calling { .. } => return Err(self.unconnected(Deadline::CallEnd)),
            CallState::Waiting | CallState::Connected | CallState::Broken => {}
        }
        self.room.stop();
        Ok(())
    }

    /// Handles the messages of the pages; `now` is the time of the run.
    pub(super) fn receive(&mut self, now: Time) -> Result<(), CallError> {
        while let Some((seat, event)) = self.room.next(std::time::Duration::ZERO) {
            self.handle(seat, event, now)?;
        }
        Ok(())
    }

    /// Whether both pages have left the call.
    pub(super) fn is_over(&self) -> bool {
        self.endpoints.iter().all(|endpoint| endpoint.gone)
    }

    fn handle(&mut self, seat: CallRole, event: PageEvent, now: Time) -> Result<(), CallError> {
        let index = usize::from(seat == CallRole::Callee);
        let (over, host) = (self.state == CallState::Over, &self.hosts[index]);
        let endpoint = &mut self.endpoints[index];
        match event {
            PageEvent::Ready => endpoint.ready = true,
            PageEvent::Milestone(step, elapsed) => {
                endpoint.registered |= step == Milestone::Registered;
                self.milestone(index, step, elapsed, now);
            }
            PageEvent::ConnectionState(state) => {
                endpoint.connection = state;
                self.connection(index, now);
            }
            PageEvent::Stats(report) => {
                endpoint.last_statistics = now;
                if let Some(collector) = &mut self.collector {
                    collector.take(seat, &report);
                }
            }
            PageEvent::Log(text) => self.messages.push(format!("{host}: {text}")),
            // A page may fail while it leaves.
            PageEvent::Failed(_) | PageEvent::Left if over => endpoint.gone = true,
            PageEvent::Bye => endpoint.gone = true,
            PageEvent::Failed(text) => {
                let (host, call) = (host.clone(), self.call.config.name.clone());
                return Err(CallError::Failed { host, call, message: text });
            }
            PageEvent::Left => {
                let (host, call) = (host.clone(), self.call.config.name.clone());
                return Err(CallError::Left { host, call });
            }
        }
        Ok(())
    }

    /// A step of a call through an IMS is done, after `elapsed` milliseconds.
    fn milestone(&mut self, index: usize, step: Milestone, elapsed: f64, now: Time) {
        let (what, name) = match step {
            Milestone::Registered => ("registered", "registration"),
            Milestone::Accepted => ("accepted", "set-up"),
        };
        let (stream, value) = (self.stream(), elapsed / 1e3);
        self.events.push(Event { at: now, stream, what, value });
        let name = format!("{}.{}.{name}", self.name(), self.hosts[index]);
        self.notes.push((name, format!("{elapsed:.0} ms")));
    }

    /// The name of the stream that stands for the call.
    fn stream(&self) -> String {
        let medium = if self.call.config.video.is_some() { "video" } else { "audio" };
        format!("{}.{medium}", self.name())
    }

    /// The connection state of an endpoint has changed.
    fn connection(&mut self, index: usize, now: Time) {
        let connected = self.endpoints.iter().all(|endpoint| endpoint.connection == "connected");
        if connected && matches!(self.state, CallState::Calling { .. }) {
            self.state = CallState::Connected;
            self.endpoints.iter_mut().for_each(|endpoint| endpoint.last_statistics = now);
        }
        if self.endpoints[index].connection == "failed" && self.state == CallState::Connected {
            self.state = CallState::Broken;
            let stream = self.stream();
            let value = now.saturating_since(self.call.config.start).as_secs_f64();
            self.events.push(Event { at: now, stream, what: "connectionFailed", value });
        }
    }

    /// The error that names an endpoint without recent statistics.
    fn silent(&self, now: Time) -> Option<CallError> {
        let hangs = |index: &usize| {
            self.sends_statistics(*index)
                && now.saturating_since(self.endpoints[*index].last_statistics) > SILENCE
        };
        let index = (0..self.endpoints.len()).find(hangs)?;
        let (host, call) = (self.hosts[index].clone(), self.name().to_owned());
        Some(CallError::Silent { host, call })
    }

    fn unconnected(&self, deadline: Deadline) -> CallError {
        let endpoints = self.hosts.iter().zip(&self.endpoints).map(|(host, endpoint)| {
            let state = if endpoint.connection.is_empty() { "new" } else { &endpoint.connection };
            format!("{host} is '{state}'")
        });
        let states = endpoints.collect::<Vec<String>>().join(", ");
        let (call, log) = (self.name().to_owned(), self.last_message());
        CallError::NotConnected { call, deadline, states, log }
    }

    fn last_message(&self) -> LastMessage {
        LastMessage(self.messages.last().cloned())
    }

    /// The records of the call.
    pub(super) fn finish(&mut self) -> Collected {
        let mut collected = self.collector.take().map(Collector::finish).unwrap_or_default();
        collected.events.append(&mut self.events);
        collected.notes.append(&mut self.notes);
        collected.warnings.extend(
            self.messages.drain(..).map(|said| format!("'{}', {said}", self.call.config.name)),
        );
        collected
    }
}
