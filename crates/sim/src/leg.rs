//! One direction of a call in the simulation: its two ends, samples and addresses.

use crate::endpoint::End;
use crate::ends::{Ends, Plan};
use crate::media::{EndReason, Outbox, Sources};
use crate::payload::{Rtcp, Rtp};
use crate::recording::{Event, Points, StreamKind, StreamRecord};
use crate::relay::Relay;
use crate::sampler::Sampler;
use crate::scenario::{CallConfig, Marks};
use crate::simulation::{MakeControllers, RunError};
use net::{Flow, HostId, Protocol};
use std::sync::Arc;
use units::{Bytes, Duration, Seed, Time};

/// First port. RTP and RTCP of a leg share a port (RFC 5761); each leg has its own.
const FIRST_PORT: u16 = 5004;

/// One direction of a call.
pub(crate) struct Leg {
    state: LegState,
    pub(crate) active: (Time, Time),
    pub(crate) dscp: Marks,
    hosts: (HostId, HostId),
    port: u16,
    relay: Option<Relay>,
    ideal_feedback: bool,
    video: Option<Sampler>,
    audio: Option<Sampler>,
    last_sample: Time,
}

/// The life of a leg. The ends exist only while the call is active, because a run may have many
/// short calls.
enum LegState {
    Scheduled(Box<Plan>),
    Active(Box<Ends>),
    Ended { video: Vec<Points>, audio: Vec<Points>, events: Vec<Event> },
}

impl Leg {
    /// # Errors
    /// [`RunError::Controller`] if its controller cannot be built.
    pub(crate) fn new(
        index: usize,
        call: &CallConfig,
        reverse: bool,
        (end, seed): (Time, Seed),
        make: Option<Arc<MakeControllers>>,
    ) -> Result<Self, RunError> {
        let suffix = if reverse { ".back" } else { "" };
        let name = format!("{}{suffix}", call.name);
        let active = (call.start, call.stop.min(end));
        let sources = Sources::of_session(index);
        let plan = Plan { sources, call: call.clone(), name, seed, make };
        plan.check()?;
        let sampler = |kind: StreamKind| {
            Sampler::new(format!("{}.{}{suffix}", call.name, kind.as_str()), kind, active)
        };
        Ok(Self {
            state: LegState::Scheduled(Box::new(plan)),
            active,
            dscp: call.dscp,
            hosts: if reverse { (call.to, call.from) } else { (call.from, call.to) },
            port: FIRST_PORT.wrapping_add(u16::try_from(2 * index).unwrap_or(u16::MAX)),
            relay: call.relay.map(|host| Relay { host, client: call.from }),
            ideal_feedback: call.video.as_ref().is_some_and(|video| video.ideal_feedback),
            video: call.video.is_some().then(|| sampler(StreamKind::Video)),
            audio: call.audio.is_some().then(|| sampler(StreamKind::Audio)),
            last_sample: call.start,
        })
    }

    /// The 5-tuple of packets to `to` when they leave the other end.
    pub(crate) fn flow(&self, to: End) -> Flow {
        let direct = self.direct(to);
        self.relay.map_or(direct, |relay| relay.path(direct)[0])
    }

    /// Whether RTCP to `end` arrives at once, without crossing the network.
    pub(crate) fn has_ideal_feedback(&self, end: End) -> bool {
        self.ideal_feedback && end == End::Sender
    }

    /// The 5-tuple with which the relay sends on a packet to `to`; `None` if the packet is not at
    /// the relay.
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

    /// The ends, built when the call starts; `None` before and after the call.
    #[inline]
    fn ends(&mut self, now: Time) -> Option<&mut Ends> {
        if let LegState::Scheduled(plan) = &self.state
            && now >= self.active.0
        {
            // `new` has checked that the controller can be built.
            self.state = LegState::Active(Box::new(plan.build_ends().ok()?));
        }
        match &mut self.state {
            LegState::Active(ends) => Some(ends),
            LegState::Scheduled(_) | LegState::Ended { .. } => None,
        }
    }

    /// When `end` next needs a call of `wake`; never outside the call.
    pub(crate) fn next_wake(&self, end: End) -> Time {
        let wake = match (&self.state, end) {
            (LegState::Scheduled(_), _) => Some(self.active.0),
            (LegState::Active(ends), End::Sender) => ends.sender.next_wake(),
            (LegState::Active(ends), End::Receiver) => ends.receiver.next_wake(),
            (LegState::Ended { .. }, _) => None,
        };
        match wake {
            Some(at) if at < self.active.1 => at.max(self.active.0),
            _ => Time::MAX,
        }
    }

    /// Lets `end` handle what is due.
    pub(crate) fn wake(&mut self, end: End, now: Time, out: &mut impl Outbox) {
        // Both ends are woken at the start of the call, even if nothing is due for one of them.
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

    /// Forwards a packet that session `from` received.
    pub(crate) fn forward(&mut self, now: Time, packet: &Rtp, from: usize, out: &mut impl Outbox) {
        if (self.active.0..self.active.1).contains(&now)
            && let Some(ends) = self.ends(now)
        {
            ends.sender.forward(now, packet, from, out);
        }
    }

    /// Whether the receiver of the forwarded stream has requested a key frame since the last call.
    pub(crate) fn take_key_frame_request(&mut self) -> bool {
        match &mut self.state {
            LegState::Active(ends) => ends.sender.take_key_frame_request(),
            LegState::Scheduled(_) | LegState::Ended { .. } => false,
        }
    }

    /// Requests a key frame from the publisher.
    pub(crate) fn relay_key_frame_request(&mut self, now: Time, out: &mut impl Outbox) {
        if let Some(ends) = self.ends(now) {
            ends.receiver.relay_key_frame_request(now, out);
        }
    }

    /// The video frames that the receiver could decode, from the frame with this index on: (time,
    /// delay since capture in seconds, payload).
    pub(crate) fn decoded(&self, from: usize) -> impl Iterator<Item = (Time, f64, Bytes)> {
        let ends = if let LegState::Active(ends) = &self.state { Some(ends) } else { None };
        ends.into_iter().flat_map(move |ends| ends.receiver.decoded(from))
    }

    pub(crate) fn sample(&mut self, now: Time) {
        let since_last = now.saturating_since(self.last_sample).max(Duration::from_nanos(1));
        self.last_sample = now.max(self.active.0);
        let Self { state, video, audio, .. } = self;
        let samplers = [video.as_mut(), audio.as_mut()];
        let LegState::Active(ends) = state else {
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

    /// Ends the leg: keeps only what is to be recorded.
    fn end(&mut self) {
        let active = self.active;
        let Some(ends) = self.ends(active.0) else { return };
        let [video, audio] = points(ends);
        let events = self.call_events();
        self.state = LegState::Ended { video, audio, events };
    }

    /// Ends the leg and takes its events.
    pub(crate) fn events(&mut self) -> Vec<Event> {
        self.end();
        match &mut self.state {
            LegState::Ended { events, .. } => std::mem::take(events),
            LegState::Scheduled(_) | LegState::Active(_) => Vec::new(),
        }
    }

    /// The events of the call: freezes when they end (value: seconds), requests for key frames, and
    /// why an end ended the call.
    fn call_events(&self) -> Vec<Event> {
        let LegState::Active(ends) = &self.state else { return Vec::new() };
        // A call without video reports only the reason of its end, as events of its audio.
        let Some(stream) = self.video.as_ref().or(self.audio.as_ref()) else { return Vec::new() };
        let event = |at, what, value| Event { at, stream: stream.name().to_owned(), what, value };
        let (freezes, requests) =
            (ends.receiver.freezes().iter(), ends.receiver.key_requests.iter());
        let freezes = freezes.map(|&(at, length)| event(at, "freeze", length.as_secs_f64()));
        let reasons = [ends.sender.ended(), ends.receiver.ended()].into_iter().flatten();
        let reasons = reasons.filter_map(|(at, reason)| match reason {
            EndReason::CircuitBreaker(breaker) => {
                Some(event(at, "circuitBreaker", breaker as u8 as f64))
            }
            EndReason::MediaTimeout(time) => Some(event(at, "mediaTimeout", time.as_secs_f64())),
            EndReason::Left => None,
        });
        freezes
            .chain(requests.map(|&at| event(at, "keyFrameRequest", 1.0)))
            .chain(reasons)
            .collect()
    }

    /// Ends this direction where `other`, the reverse direction of the same call, has ended. The
    /// sender of one is the receiver of the other.
    pub(crate) fn end_with(&mut self, now: Time, other: &Self) {
        let [sender, receiver] = other.ended();
        let Some(ends) = self.ends(now) else { return };
        if receiver {
            ends.sender.hang_up(now);
        }
        if sender {
            ends.receiver.hang_up(now);
        }
    }

    /// Whether an end has ended the call.
    pub(crate) fn has_ended(&self) -> bool {
        self.ended().contains(&true)
    }

    /// Whether the sender and the receiver have ended the call.
    fn ended(&self) -> [bool; 2] {
        match &self.state {
            LegState::Active(ends) => {
                [ends.sender.ended().is_some(), ends.receiver.ended().is_some()]
            }
            LegState::Scheduled(_) | LegState::Ended { .. } => [false; 2],
        }
    }

    /// The records of the leg so far.
    pub(crate) fn records(&self) -> impl Iterator<Item = StreamRecord> {
        let [video, audio] = match &self.state {
            LegState::Scheduled(_) => [Vec::new(), Vec::new()],
            LegState::Active(ends) => points(ends),
            LegState::Ended { video, audio, .. } => [video.clone(), audio.clone()],
        };
        let video = self.video.clone().map(|sampler| sampler.finish(video));
        let audio = self.audio.clone().map(|sampler| sampler.finish(audio));
        video.into_iter().chain(audio)
    }

    /// The events of the leg so far.
    pub(crate) fn events_so_far(&self) -> Vec<Event> {
        match &self.state {
            LegState::Ended { events, .. } => events.clone(),
            LegState::Scheduled(_) | LegState::Active(_) => self.call_events(),
        }
    }

    /// Ends the leg and returns its records.
    pub(crate) fn finish(mut self) -> impl Iterator<Item = StreamRecord> {
        self.end();
        let (video_points, audio_points) = match self.state {
            LegState::Ended { video, audio, .. } => (video, audio),
            LegState::Scheduled(_) | LegState::Active(_) => (Vec::new(), Vec::new()),
        };
        let video = self.video.map(|sampler| sampler.finish(video_points));
        let audio = self.audio.map(|sampler| sampler.finish(audio_points));
        video.into_iter().chain(audio)
    }
}

/// The points of the video and of the audio.
fn points(ends: &Ends) -> [Vec<Points>; 2] {
    let points = |name, values: &[(Time, f64)]| Points { name, values: values.to_vec() };
    let reported = ends.sender.reported();
    let video = vec![
        points("roundTripTime", reported.map_or(&[], |reported| &reported.rtts)),
        points("fractionLost", reported.map_or(&[], |reported| &reported.fractions)),
        points("frameDelay", &ends.receiver.frame_delays),
    ];
    [video, vec![points("frameDelay", &ends.receiver.audio_delays)]]
}
