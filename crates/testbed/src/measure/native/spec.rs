use experiment::Native;
use net::{Dscp, HostId};
use server::signalling::Seat;
use sim::codec::AudioConfig;
use sim::{CallConfig, VideoConfig};
use units::Seed;

/// What a native peer is to do.
pub(in crate::measure) struct NativePeerSpec {
    pub(super) native: Native,
    pub(super) seat: Seat,
    pub(super) host: HostId,
    /// On all of its packets.
    pub(super) dscp: Dscp,
    pub(super) video: Option<VideoConfig>,
    pub(super) audio: Option<AudioConfig>,
    pub(super) seed: Seed,
}

impl NativePeerSpec {
    /// The end of a call in this seat.
    pub(in crate::measure) fn new(
        native: Native,
        call: &CallConfig,
        seat: Seat,
        seed: Seed,
    ) -> Self {
        let (host, name) = match seat {
            Seat::Caller => (call.from, format!("{}.caller", call.name)),
            Seat::Callee => (call.to, format!("{}.callee", call.name)),
        };
        let seed = Seed(seed.stream(&name).next_u64());
        let (video, audio) = (call.video.clone(), call.audio.clone());
        Self { native, seat, host, dscp: call.dscp.video, video, audio, seed }
    }
}
