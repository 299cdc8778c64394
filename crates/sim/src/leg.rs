//! One direction of a call in the simulation: its two ends, their samples, and its addresses.

use crate::envelopes::End;
use crate::media::{Ending, MediaReceiver, MediaSender, Sources};
use crate::recording::{Event, Kind, Points, StreamRecord};
use crate::sampler::Sampler;
use crate::scenario::{CallConfig, Marks};
use crate::simulation::RunError;
use net::{Flow, HostId, Protocol};
use units::{Duration, Seed, Time};

/// RTP and RTCP of a leg share a port (RFC 5761), each leg its own.
const FIRST_PORT: u16 = 5004;

/// One direction of a call.
pub(crate) struct Leg {
    pub(crate) sender: MediaSender,
    pub(crate) receiver: MediaReceiver,
    pub(crate) active: (Time, Time),
    pub(crate) dscp: Marks,
    hosts: (HostId, HostId),
    port: u16,
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
        let place = u32::try_from(index).unwrap_or(u32::MAX);
        let sources = Sources::of_leg(place);
        let active = (call.start, call.stop.min(end));
        let (mut sending, mut receiving) = (None, (None, false));
        if let Some(video) = &call.video {
            let controllers = cc::build(&video.controller)
                .map_err(|error| RunError(format!("call '{}': {error}", call.name)))?;
            sending = Some((video, controllers.sender));
            receiving = (controllers.receiver, controllers.transport_feedback);
        }
        let sampler =
            |kind: Kind| Sampler::new(format!("{}.{}{suffix}", call.name, kind.as_str()), kind, active);
        Ok(Self {
            sender: MediaSender::new(sources, call, sending, seed, &name),
            receiver: MediaReceiver::new(sources, call, receiving, seed, &name),
            active,
            dscp: call.dscp,
            hosts: if back { (call.to, call.from) } else { (call.from, call.to) },
            port: FIRST_PORT.wrapping_add(u16::try_from(2 * index).unwrap_or(u16::MAX)),
            video: call.video.is_some().then(|| sampler(Kind::Video)),
            audio: call.audio.is_some().then(|| sampler(Kind::Audio)),
            sampled: call.start,
        })
    }

    /// The 5-tuple of packets to the given end.
    pub(crate) fn flow(&self, to: End) -> Flow {
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
        let reported = self.sender.take_reported().unwrap_or_default();
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
