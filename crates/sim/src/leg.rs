//! One direction of a call in the simulation: its two ends, their samples, and its addresses.

use crate::envelopes::End;
use crate::media::{Ending, Forwarder, MediaReceiver, MediaSender, Outbox, Reported, Room, Show, Sources};
use crate::payload::{Rtcp, Rtp};
use crate::recording::{Event, Kind, Points, StreamRecord};
use crate::relay::Relay;
use crate::sampler::Sampler;
use crate::scenario::{CallConfig, Marks, Sfu};
use crate::simulation::RunError;
use net::{Flow, HostId, Protocol};
use units::{Duration, Seed, Time};

/// RTP and RTCP of a leg share a port (RFC 5761), each leg its own.
const FIRST_PORT: u16 = 5004;

/// A sending end.
pub(crate) enum Sending {
    /// A party's, with a source of its own.
    Party(Box<MediaSender>),
    /// A forwarding unit's.
    Unit(Box<Forwarder>),
}

/// One direction of a call.
pub(crate) struct Leg {
    pub(crate) sender: Sending,
    pub(crate) receiver: MediaReceiver,
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

impl Leg {
    pub(crate) fn new(
        index: usize,
        call: &CallConfig,
        back: bool,
        end: Time,
        seed: Seed,
    ) -> Result<Self, RunError> {
        let suffix = if back { ".back" } else { "" };
        let name = format!("{}{suffix}", call.name);
        let sources = Sources::of_place(index);
        let active = (call.start, call.stop.min(end));
        let (mut sending, mut receiving) = (None, (None, false));
        if let Some(video) = &call.video {
            let controllers = cc::build(&video.controller)
                .map_err(|error| RunError(format!("call '{}': {error}", call.name)))?;
            sending = Some((video, controllers.sender));
            receiving = (controllers.receiver, controllers.transport_feedback);
        }
        if let Some(Sfu::Publish { bitrate }) = call.sfu {
            receiving.0 = Some(Box::new(Room::new(bitrate)));
        }
        let sender = if let Some(Sfu::Forward { .. }) = call.sfu {
            Sending::Unit(Box::new(Forwarder::new(sources, call, seed, &name)))
        } else {
            Sending::Party(Box::new(MediaSender::new(sources, call, sending, seed, &name)))
        };
        let sampler =
            |kind: Kind| Sampler::new(format!("{}.{}{suffix}", call.name, kind.as_str()), kind, active);
        Ok(Self {
            sender,
            receiver: MediaReceiver::new(sources, call, receiving, seed, &name),
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

    /// When an end next wants to be woken; never outside the call.
    pub(crate) fn next_wake(&self, end: End) -> Time {
        let wake = match end {
            End::Sender => self.sender.next_wake(),
            End::Receiver => self.receiver.next_wake(),
        };
        match wake {
            Some(at) if at < self.active.1 => at.max(self.active.0),
            _ => Time::MAX,
        }
    }

    pub(crate) fn sample(&mut self, now: Time) {
        let since_last = now.saturating_since(self.sampled).max(Duration::from_nanos(1));
        self.sampled = now.max(self.active.0);
        let (sender, receiver) = (&mut self.sender, &mut self.receiver);
        if let Some(video) = &mut self.video {
            video.sample(now, |show| {
                sender.show_video(since_last, show);
                receiver.show_video(since_last, show);
            });
        }
        if let Some(audio) = &mut self.audio {
            audio.sample(now, |show| {
                sender.show_audio(show);
                receiver.show_audio(show);
            });
        }
    }

    /// What happened to its video: freezes at their ends, in seconds, and requests for key frames.
    pub(crate) fn events(&self) -> Vec<Event> {
        // Of a call without video the end alone is told, as of its audio.
        let Some(stream) = self.video.as_ref().or(self.audio.as_ref()) else { return Vec::new() };
        let event = |at, what, value| Event { at, stream: stream.name().to_owned(), what, value };
        let (freezes, requests) = (self.receiver.freezes().iter(), self.receiver.key_requests.iter());
        let freezes = freezes.map(|&(at, length)| event(at, "freeze", length.as_secs_f64()));
        let ends = [self.sender.ended(), self.receiver.ended()].into_iter().flatten();
        let ends = ends.filter_map(|(at, ending)| match ending {
            Ending::CircuitBreaker(breaker) => Some(event(at, "circuitBreaker", breaker as u8 as f64)),
            Ending::MediaTimeout(time) => Some(event(at, "mediaTimeout", time.as_secs_f64())),
            Ending::Left => None,
        });
        freezes.chain(requests.map(|&at| event(at, "keyFrameRequest", 1.0))).chain(ends).collect()
    }

    /// Hangs up where the other direction of its call did: its sender is where the other's receiver is.
    pub(crate) fn follow(&mut self, now: Time, other: &Self) {
        if other.receiver.ended().is_some() {
            self.sender.hang_up(now);
        }
        if other.sender.ended().is_some() {
            self.receiver.hang_up(now);
        }
    }

    /// Whether an end has given the call up.
    pub(crate) fn has_ended(&self) -> bool {
        self.sender.ended().is_some() || self.receiver.ended().is_some()
    }

    /// The leg's records.
    pub(crate) fn finish(mut self) -> impl Iterator<Item = StreamRecord> {
        let reported = self.sender.take_reported();
        let points = vec![
            Points { name: "roundTripTime", values: reported.rtts },
            Points { name: "fractionLost", values: reported.fractions },
            Points { name: "frameDelay", values: self.receiver.frame_delays },
        ];
        let video = self.video.map(|sampler| sampler.finish(points));
        let audio = self.audio.map(|sampler| sampler.finish(Vec::new()));
        video.into_iter().chain(audio)
    }
}

impl Sending {
    /// Does what is due.
    pub(crate) fn wake(&mut self, now: Time, out: &mut impl Outbox) {
        match self {
            Self::Party(sender) => sender.wake(now, out),
            Self::Unit(forwarder) => forwarder.wake(now, out),
        }
    }

    fn next_wake(&self) -> Option<Time> {
        match self {
            Self::Party(sender) => sender.next_wake(),
            Self::Unit(forwarder) => forwarder.next_wake(),
        }
    }

    /// A compound RTCP packet of the receiver arrived.
    pub(crate) fn on_rtcp(&mut self, now: Time, packet: &Rtcp, out: &mut impl Outbox) {
        match self {
            Self::Party(sender) => sender.on_rtcp(now, packet),
            Self::Unit(forwarder) => forwarder.on_rtcp(now, packet, out),
        }
    }

    /// Passes on what the leg at the place `from` received.
    pub(crate) fn forward(&mut self, now: Time, packet: &Rtp, from: usize, out: &mut impl Outbox) {
        if let Self::Unit(forwarder) = self {
            forwarder.forward(now, packet, &Sources::of_place(from), out);
        }
    }

    /// Whether a receiver of what is forwarded has asked for a key frame since this was called last.
    pub(crate) fn take_key_frame_request(&mut self) -> bool {
        match self {
            Self::Party(_) => false,
            Self::Unit(forwarder) => forwarder.take_key_frame_request(),
        }
    }

    fn hang_up(&mut self, now: Time) {
        match self {
            Self::Party(sender) => sender.hang_up(now),
            Self::Unit(forwarder) => forwarder.hang_up(now),
        }
    }

    fn ended(&self) -> Option<(Time, Ending)> {
        match self {
            Self::Party(sender) => sender.ended(),
            Self::Unit(forwarder) => forwarder.ended(),
        }
    }

    fn show_video(&mut self, since_last: Duration, show: &mut Show<'_>) {
        match self {
            Self::Party(sender) => sender.show_video(since_last, show),
            Self::Unit(forwarder) => forwarder.show_video(show),
        }
    }

    fn show_audio(&self, show: &mut Show<'_>) {
        match self {
            Self::Party(sender) => sender.show_audio(show),
            Self::Unit(forwarder) => forwarder.show_audio(show),
        }
    }

    fn take_reported(&mut self) -> Reported {
        match self {
            Self::Party(sender) => sender.take_reported().unwrap_or_default(),
            Self::Unit(forwarder) => forwarder.take_reported(),
        }
    }
}
