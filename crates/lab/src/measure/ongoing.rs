//! A call under way: from two pages that are ready to the records.

use super::plan::Call;
use super::stats::{self, Collected, Collector};
use crate::signalling::{Measured, PageEvent, Seat};
use sim::recording::Event;
use units::{Duration, Time};

/// How long browsers may take until they are connected: on an idle machine it is under a second on a short path, and each
/// round trip counts about six times (ICE, DTLS).
const PATIENCE: Duration = Duration::from_secs(20);

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
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Waiting,
    Calling { since: Time },
    Connected,
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

    /// The call's name.
    pub(super) fn name(&self) -> &str {
        &self.call.config.name
    }

    /// Whether both pages wait for the start.
    pub(super) fn is_ready(&self) -> bool {
        self.ends.iter().all(|end| end.ready)
    }

    /// Whose page is not ready, for people.
    pub(super) fn unready(&self) -> Option<String> {
        let late = self.ends.iter().position(|end| !end.ready)?;
        let said = self.said.last().map_or(String::new(), |said| format!("; it said: {said}"));
        Some(format!("the page of {} in '{}' does not get ready{said}", self.hosts[late], self.name()))
    }

    /// The run begins, at `start` (milliseconds since 1970).
    pub(super) fn begin(&mut self, start: f64, interval: Duration, duration: Duration) {
        let call = stats::Call::new(&self.call.config, &self.hosts);
        self.collector = Some(Collector::new(call, start, interval, duration));
    }

    /// Does what is due at this time of a run that began at `start`.
    pub(super) fn turn(&mut self, now: Time, start: f64) -> Result<(), String> {
        let config = &self.call.config;
        if self.state == State::Waiting && now >= config.start {
            self.room.start(start);
            self.state = State::Calling { since: now };
        }
        if self.state != State::Over && now >= config.stop {
            self.hang_up();
        }
        self.listen(now)?;
        match self.state {
            State::Calling { since } if now.saturating_since(since) > PATIENCE => Err(self.unconnected()),
            _ => Ok(()),
        }
    }

    /// Asks both pages to hang up.
    pub(super) fn hang_up(&mut self) {
        if self.state != State::Over {
            self.room.stop();
            self.state = State::Over;
        }
    }

    /// Takes what the pages have told; at `now`, if the run has begun.
    pub(super) fn listen(&mut self, now: Time) -> Result<(), String> {
        while let Some((seat, event)) = self.room.next(std::time::Duration::ZERO) {
            self.told(seat, event, now)?;
        }
        Ok(())
    }

    /// Whether both pages have said goodbye, or are gone.
    pub(super) fn is_over(&self) -> bool {
        self.ends.iter().all(|end| end.gone)
    }

    fn told(&mut self, seat: Seat, event: PageEvent, now: Time) -> Result<(), String> {
        let place = usize::from(seat == Seat::Callee);
        let host = self.hosts[place].clone();
        let end = &mut self.ends[place];
        match event {
            PageEvent::Ready => end.ready = true,
            PageEvent::ConnectionState(state) => {
                end.connection = state;
                self.connection(place, now);
            }
            PageEvent::Stats(report) => {
                if let Some(collector) = &mut self.collector {
                    collector.take(seat, &report);
                }
            }
            PageEvent::Log(text) => self.said.push(format!("{host}: {text}")),
            PageEvent::Bye => end.gone = true,
            PageEvent::Failed(text) => {
                return Err(format!("the page of {host} in '{}' failed: {text}", self.name()));
            }
            PageEvent::Left => {
                end.gone = true;
                if self.state != State::Over {
                    return Err(format!("the page of {host} in '{}' is gone", self.name()));
                }
            }
        }
        Ok(())
    }

    /// An end's connection has changed. One that breaks once it stood is a result: the network may have been too bad for it.
    fn connection(&mut self, place: usize, now: Time) {
        let connected = self.ends.iter().all(|end| end.connection == "connected");
        if connected && matches!(self.state, State::Calling { .. }) {
            self.state = State::Connected;
        }
        let broken = ["failed", "closed"].contains(&self.ends[place].connection.as_str());
        if broken && self.state == State::Connected {
            let back = if place == 0 { "" } else { ".back" };
            let stream = format!("{}.video{back}", self.name());
            let value = now.saturating_since(self.call.config.start).as_secs_f64();
            self.events.push(Event { at: now, stream, what: "connectionFailed", value });
        }
    }

    fn unconnected(&self) -> String {
        let ends = self.hosts.iter().zip(&self.ends);
        let ends: Vec<String> = ends
            .map(|(host, end)| {
                let state = if end.connection.is_empty() { "new" } else { &end.connection };
                format!("{host} is '{state}'")
            })
            .collect();
        let said = if self.said.is_empty() { String::new() } else { format!("; {}", self.said.join("; ")) };
        format!(
            "the browsers of '{}' are not connected after {PATIENCE}: {}{said}",
            self.name(),
            ends.join(", ")
        )
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
