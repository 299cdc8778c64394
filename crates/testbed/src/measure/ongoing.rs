//! A call under way: from two pages that are ready to the records.

use super::plan::Call;
use super::stats::{self, Collected, Collector};
use server::signalling::{Measured, PageEvent, Seat};
use sim::recording::Event;
use std::fmt;
use units::{Duration, Time};

/// How long browsers may take until they are connected: on an idle machine it is under a second on
/// a short path, and each round trip counts about six times (ICE, DTLS).
const PATIENCE: Duration = Duration::from_secs(20);
/// A page that says nothing for so long hangs: it reports every sampling interval, and a starved
/// one is a second late.
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
    End,
}

impl fmt::Display for Deadline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::After(time) => write!(f, "after {time}"),
            Self::End => f.write_str("when the call ends"),
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

/// A call under way.
pub(super) struct Ongoing {
    call: Call,
    hosts: [String; 2],
    room: Measured,
    state: State,
    collector: Option<Collector>,
    ends: [End; 2],
    events: Vec<Event>,
    /// What the pages had to say.
    said: Vec<String>,
}

#[derive(Clone, Debug, Default)]
struct End {
    ready: bool,
    connection: String,
    gone: bool,
    /// When its newest statistics came.
    heard: Time,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Waiting,
    Calling {
        since: Time,
    },
    Connected,
    /// It stood and broke, which is a result: the network may have been too bad for it.
    Broken,
    Over,
}

impl Ongoing {
    /// A call whose room has been made, between hosts of these names.
    pub(super) fn new(call: Call, hosts: [String; 2], room: Measured) -> Self {
        Self {
            call,
            hosts,
            room,
            state: State::Waiting,
            collector: None,
            ends: [End::default(), End::default()],
            events: Vec::new(),
            said: Vec::new(),
        }
    }

    /// Whether an end tells statistics: all do but a forwarding unit.
    fn tells_statistics(&self, place: usize) -> bool {
        let config = &self.call.config;
        config.unit() != Some([config.from, config.to][place])
    }

    /// The call's name.
    fn name(&self) -> &str {
        &self.call.config.name
    }

    /// Whether both pages wait for the start.
    pub(super) fn is_ready(&self) -> bool {
        self.ends.iter().all(|end| end.ready)
    }

    /// Whose page is not ready, for people.
    pub(super) fn unready(&self) -> Option<CallError> {
        let late = self.ends.iter().position(|end| !end.ready)?;
        let (host, call) = (self.hosts[late].clone(), self.name().to_owned());
        Some(CallError::NotReady { host, call, log: self.last_words() })
    }

    /// The run begins, at `start` (milliseconds since 1970).
    pub(super) fn begin(&mut self, start: f64, interval: Duration, duration: Duration) {
        let call = stats::Call::new(&self.call.config, self.hosts.clone());
        self.collector = Some(Collector::new(call, start, interval, duration));
    }

    /// Does what is due at this time of a run that began at `start`.
    pub(super) fn turn(&mut self, now: Time, start: f64) -> Result<(), CallError> {
        if self.state == State::Waiting && now >= self.call.config.start {
            self.room.start(start);
            self.state = State::Calling { since: now };
        }
        self.listen(now)?;
        if now >= self.call.config.stop {
            self.hang_up()?;
        }
        match self.state {
            State::Calling { since } if now.saturating_since(since) > PATIENCE => {
                Err(self.unconnected(Deadline::After(PATIENCE)))
            }
            State::Connected => self.silent(now).map_or(Ok(()), Err),
            _ => Ok(()),
        }
    }

    /// Asks both pages to hang up. A call that was never connected has failed.
    pub(super) fn hang_up(&mut self) -> Result<(), CallError> {
        match std::mem::replace(&mut self.state, State::Over) {
            State::Over => return Ok(()),
            State::Calling { .. } => return Err(self.unconnected(Deadline::End)),
            State::Waiting | State::Connected | State::Broken => {}
        }
        self.room.stop();
        Ok(())
    }

    /// Takes what the pages have told; at `now`, if the run has begun.
    pub(super) fn listen(&mut self, now: Time) -> Result<(), CallError> {
        while let Some((seat, event)) = self.room.next(std::time::Duration::ZERO) {
            self.told(seat, event, now)?;
        }
        Ok(())
    }

    /// Whether both pages have said goodbye, or are gone.
    pub(super) fn is_over(&self) -> bool {
        self.ends.iter().all(|end| end.gone)
    }

    fn told(&mut self, seat: Seat, event: PageEvent, now: Time) -> Result<(), CallError> {
        let place = usize::from(seat == Seat::Callee);
        let (over, host) = (self.state == State::Over, &self.hosts[place]);
        let end = &mut self.ends[place];
        match event {
            PageEvent::Ready => end.ready = true,
            PageEvent::ConnectionState(state) => {
                end.connection = state;
                self.connection(place, now);
            }
            PageEvent::Stats(report) => {
                end.heard = now;
                if let Some(collector) = &mut self.collector {
                    collector.take(seat, &report);
                }
            }
            PageEvent::Log(text) => self.said.push(format!("{host}: {text}")),
            // In leaving, a page may fail as it likes.
            PageEvent::Failed(_) | PageEvent::Left if over => end.gone = true,
            PageEvent::Bye => end.gone = true,
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

    /// An end's connection has changed.
    fn connection(&mut self, place: usize, now: Time) {
        let connected = self.ends.iter().all(|end| end.connection == "connected");
        if connected && matches!(self.state, State::Calling { .. }) {
            self.state = State::Connected;
            self.ends.iter_mut().for_each(|end| end.heard = now);
        }
        if self.ends[place].connection == "failed" && self.state == State::Connected {
            self.state = State::Broken;
            let medium = if self.call.config.video.is_some() { "video" } else { "audio" };
            let stream = format!("{}.{medium}", self.name());
            let value = now.saturating_since(self.call.config.start).as_secs_f64();
            self.events.push(Event { at: now, stream, what: "connectionFailed", value });
        }
    }

    /// Whose page hangs, for people.
    fn silent(&self, now: Time) -> Option<CallError> {
        let hangs = |place: &usize| {
            self.tells_statistics(*place) && now.saturating_since(self.ends[*place].heard) > SILENCE
        };
        let place = (0..self.ends.len()).find(hangs)?;
        let (host, call) = (self.hosts[place].clone(), self.name().to_owned());
        Some(CallError::Silent { host, call })
    }

    fn unconnected(&self, deadline: Deadline) -> CallError {
        let ends = self.hosts.iter().zip(&self.ends).map(|(host, end)| {
            let state = if end.connection.is_empty() { "new" } else { &end.connection };
            format!("{host} is '{state}'")
        });
        let states = ends.collect::<Vec<String>>().join(", ");
        let (call, log) = (self.name().to_owned(), self.last_words());
        CallError::NotConnected { call, deadline, states, log }
    }

    fn last_words(&self) -> LastMessage {
        LastMessage(self.said.last().cloned())
    }

    /// What was recorded of it.
    pub(super) fn finish(&mut self) -> Collected {
        let mut collected = self.collector.take().map(Collector::finish).unwrap_or_default();
        collected.events.append(&mut self.events);
        collected
            .warnings
            .extend(self.said.drain(..).map(|said| format!("'{}', {said}", self.call.config.name)));
        collected
    }
}
