//! One direction of a call in the simulation: its two ends, their samples, and its addresses.

use crate::ends::{Ends, Plan};
use crate::envelopes::End;
use crate::media::{Ending, Outbox, Sources};
use crate::payload::{Rtcp, Rtp};
use crate::recording::{Event, Kind, Points, StreamRecord};
use crate::relay::Relay;
use crate::sampler::Sampler;
use crate::scenario::{CallConfig, Marks};
use crate::simulation::RunError;
use net::{Flow, HostId, Protocol};
use units::{Duration, Seed, Time};

/// RTP and RTCP of a leg share a port (RFC 5761), each leg its own.
const FIRST_PORT: u16 = 5004;

/// One direction of a call.
pub(crate) struct Leg {
    state: State,
    pub(crate) active: (Time, Time),
    pub(crate) dscp: Marks,
    hosts: (HostId, HostId),
    port: u16,
    relay: Option<Relay>,
    ideal_feedback: bool,
    video: Option<Sampler>,
    audio: Option<Sampler>,
    sampled: Time,
}

/// The ends are there only while the call is: a run may have many that come and go.
enum State {
    Ahead(Box<Plan>),
    On(Box<Ends>),
    Over { video: Vec<Points>, audio: Vec<Points>, events: Vec<Event> },
}

impl Leg {
    /// # Errors
    /// When its controller cannot be built.
    pub(crate) fn new(
        index: usize,
        call: &CallConfig,
        back: bool,
        end: Time,
        seed: Seed,
    ) -> Result<Self, RunError> {
        let suffix = if back { ".back" } else { "" };
        let name = format!("{}{suffix}", call.name);
        let active = (call.start, call.stop.min(end));
        let plan = Plan { sources: Sources::of_place(index), call: call.clone(), name, seed };
        plan.controllers()?;
        let sampler = |kind: Kind| {
            Sampler::new(format!("{}.{}{suffix}", call.name, kind.as_str()), kind, active)
        };
        Ok(Self {
            state: State::Ahead(Box::new(plan)),
            active,
            dscp: call.dscp,
            hosts: if back { (call.to, call.from) } else { (call.from, call.to) },
            port: FIRST_PORT.wrapping_add(u16::try_from(2 * index).unwrap_or(u16::MAX)),
            relay: call.relay.map(|host| Relay { host, client: call.from }),
            ideal_feedback: call.video.as_ref().is_some_and(|video| video.ideal_feedback),
            video: call.video.is_some().then(|| sampler(Kind::Video)),
            audio: call.audio.is_some().then(|| sampler(Kind::Audio)),
            sampled: call.start,
        })
    }

    /// The 5-tuple of packets to the given end, as they leave the other.
    pub(crate) fn flow(&self, to: End) -> Flow {
        let direct = self.direct(to);
        self.relay.map_or(direct, |relay| relay.path(direct)[0])
    }

    /// Whether RTCP to this end arrives at once, beside the network.
    pub(crate) fn is_told_at_once(&self, end: End) -> bool {
        self.ideal_feedback && end == End::Sender
    }

    /// How the relay, if this packet is there, sends it on to the given end.
    pub(crate) fn onward(&self, to: End, arrived: Flow) -> Option<Flow> {
        let [to_relay, onward] = self.relay?.path(self.direct(to));
        (arrived == to_relay).then_some(onward)
    }

    /// The 5-tuple without a relay.
    fn direct(&self, to: End) -> Flow {
        let (src, dst) = match to {
            End::Receiver => self.hosts,
            End::Sender => (self.hosts.1, self.hosts.0),
        };
        Flow { src, dst, src_port: self.port, dst_port: self.port, protocol: Protocol::Udp }
    }

    /// The ends from when the call begins until it is over.
    #[inline]
    fn ends(&mut self, now: Time) -> Option<&mut Ends> {
        if let State::Ahead(plan) = &self.state
            && now >= self.active.0
        {
            // That the controller can be built was seen when the leg was made.
            self.state = State::On(Box::new(plan.carry_out().ok()?));
        }
        match &mut self.state {
            State::On(ends) => Some(ends),
            State::Ahead(_) | State::Over { .. } => None,
        }
    }

    /// When an end next wants to be woken; never outside the call.
    pub(crate) fn next_wake(&self, end: End) -> Time {
        let wake = match (&self.state, end) {
            (State::Ahead(_), _) => Some(self.active.0),
            (State::On(ends), End::Sender) => ends.sender.next_wake(),
            (State::On(ends), End::Receiver) => ends.receiver.next_wake(),
            (State::Over { .. }, _) => None,
        };
        match wake {
            Some(at) if at < self.active.1 => at.max(self.active.0),
            _ => Time::MAX,
        }
    }

    /// Lets an end do what is due.
    pub(crate) fn wake(&mut self, end: End, now: Time, out: &mut impl Outbox) {
        // Both are woken for the call's beginning, whether or not they have anything to do then.
        let begins = now == self.active.0;
        let Some(Ends { sender, receiver }) = self.ends(now) else { return };
        let is_due = |wake: Option<Time>| wake.is_some_and(|at| at <= now);
        match end {
            End::Sender if !begins || is_due(sender.next_wake()) => sender.wake(now, out),
            End::Receiver if !begins || is_due(receiver.next_wake()) => receiver.wake(now, out),
            End::Sender | End::Receiver => {}
        }
    }

    /// An RTP packet reached the receiver.
    pub(crate) fn on_rtp(&mut self, now: Time, packet: &Rtp, out: &mut impl Outbox) {
        if let Some(ends) = self.ends(now) {
            ends.receiver.on_rtp(now, packet, out);
        }
    }

    /// A compound RTCP packet reached an end.
    pub(crate) fn on_rtcp(&mut self, end: End, now: Time, packet: &Rtcp, out: &mut impl Outbox) {
        match (self.ends(now), end) {
            (Some(ends), End::Sender) => ends.sender.on_rtcp(now, packet, out),
            (Some(ends), End::Receiver) => ends.receiver.on_rtcp(now, packet),
            (None, _) => {}
        }
    }

    /// Passes on what the leg at the place `from` received.
    pub(crate) fn forward(&mut self, now: Time, packet: &Rtp, from: usize, out: &mut impl Outbox) {
        if (self.active.0..self.active.1).contains(&now)
            && let Some(ends) = self.ends(now)
        {
            ends.sender.forward(now, packet, from, out);
        }
    }

    /// Whether a receiver of what is forwarded has asked for a key frame since this was called
    /// last.
    pub(crate) fn take_key_frame_request(&mut self) -> bool {
        match &mut self.state {
            State::On(ends) => ends.sender.take_key_frame_request(),
            State::Ahead(_) | State::Over { .. } => false,
        }
    }

    /// Asks the publisher for a key frame.
    pub(crate) fn relay_key_frame_request(&mut self, now: Time, out: &mut impl Outbox) {
        if let Some(ends) = self.ends(now) {
            ends.receiver.relay_key_frame_request(now, out);
        }
    }

    pub(crate) fn sample(&mut self, now: Time) {
        let since_last = now.saturating_since(self.sampled).max(Duration::from_nanos(1));
        self.sampled = now.max(self.active.0);
        let Self { state, video, audio, .. } = self;
        let samplers = [video.as_mut(), audio.as_mut()];
        let State::On(ends) = state else {
            samplers.into_iter().flatten().for_each(|sampler| sampler.skip(now));
            return;
        };
        let Ends { sender, receiver } = &mut **ends;
        let [video, audio] = samplers;
        if let Some(video) = video {
            video.sample(now, |show| {
                sender.show_video(since_last, show);
                receiver.show_video(since_last, show);
            });
        }
        if let Some(audio) = audio {
            audio.sample(now, |show| {
                sender.show_audio(show);
                receiver.show_audio(show);
            });
        }
        if now >= self.active.1 {
            self.end();
        }
    }

    /// Keeps of the ends what is to be recorded.
    fn end(&mut self) {
        let active = self.active;
        let Some(ends) = self.ends(active.0) else { return };
        let reported = ends.sender.take_reported();
        let video = vec![
            Points { name: "roundTripTime", values: reported.rtts },
            Points { name: "fractionLost", values: reported.fractions },
            Points { name: "frameDelay", values: std::mem::take(&mut ends.receiver.frame_delays) },
        ];
        let audio = vec![Points {
            name: "frameDelay",
            values: std::mem::take(&mut ends.receiver.audio_delays),
        }];
        let events = self.happened();
        self.state = State::Over { video, audio, events };
    }

    /// What happened, once.
    pub(crate) fn events(&mut self) -> Vec<Event> {
        self.end();
        match &mut self.state {
            State::Over { events, .. } => std::mem::take(events),
            State::Ahead(_) | State::On(_) => Vec::new(),
        }
    }

    /// What happened to its video: freezes at their ends, in seconds, and requests for key frames.
    fn happened(&self) -> Vec<Event> {
        let State::On(ends) = &self.state else { return Vec::new() };
        // Of a call without video the end alone is told, as of its audio.
        let Some(stream) = self.video.as_ref().or(self.audio.as_ref()) else { return Vec::new() };
        let event = |at, what, value| Event { at, stream: stream.name().to_owned(), what, value };
        let (freezes, requests) =
            (ends.receiver.freezes().iter(), ends.receiver.key_requests.iter());
        let freezes = freezes.map(|&(at, length)| event(at, "freeze", length.as_secs_f64()));
        let endings = [ends.sender.ended(), ends.receiver.ended()].into_iter().flatten();
        let endings = endings.filter_map(|(at, ending)| match ending {
            Ending::CircuitBreaker(breaker) => {
                Some(event(at, "circuitBreaker", breaker as u8 as f64))
            }
            Ending::MediaTimeout(time) => Some(event(at, "mediaTimeout", time.as_secs_f64())),
            Ending::Left => None,
        });
        freezes
            .chain(requests.map(|&at| event(at, "keyFrameRequest", 1.0)))
            .chain(endings)
            .collect()
    }

    /// Hangs up where the other direction of its call did: its sender is where the other's receiver
    /// is.
    pub(crate) fn follow(&mut self, now: Time, other: &Self) {
        let [sender, receiver] = other.ended();
        let Some(ends) = self.ends(now) else { return };
        if receiver {
            ends.sender.hang_up(now);
        }
        if sender {
            ends.receiver.hang_up(now);
        }
    }

    /// Whether an end has given the call up.
    pub(crate) fn has_ended(&self) -> bool {
        self.ended().contains(&true)
    }

    /// Whether the sender and the receiver have given the call up.
    fn ended(&self) -> [bool; 2] {
        match &self.state {
            State::On(ends) => [ends.sender.ended().is_some(), ends.receiver.ended().is_some()],
            State::Ahead(_) | State::Over { .. } => [false; 2],
        }
    }

    /// The leg's records.
    pub(crate) fn finish(mut self) -> impl Iterator<Item = StreamRecord> {
        self.end();
        let (video_points, audio_points) = match self.state {
            State::Over { video, audio, .. } => (video, audio),
            State::Ahead(_) | State::On(_) => (Vec::new(), Vec::new()),
        };
        let video = self.video.map(|sampler| sampler.finish(video_points));
        let audio = self.audio.map(|sampler| sampler.finish(audio_points));
        video.into_iter().chain(audio)
    }
}
