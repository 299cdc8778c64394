use experiment::Native;
use net::{Dscp, HostId};
use server::signalling::CallRole;
use sim::codec::AudioConfig;
use sim::{CallConfig, VideoConfig};
use units::Seed;

/// The configuration of a native peer.
pub(in crate::measure) struct NativePeerSpec {
    pub(super) native: Native,
    pub(super) seat: CallRole,
    pub(super) host: HostId,
    /// The DSCP of all its packets.
    pub(super) dscp: Dscp,
    pub(super) video: Option<VideoConfig>,
    pub(super) audio: Option<AudioConfig>,
    pub(super) seed: Seed,
}

impl NativePeerSpec {
    /// The configuration of the caller or callee of a call.
    pub(in crate::measure) fn new(
        native: Native,
        call: &CallConfig,
        seat: CallRole,
        seed: Seed,
    ) -> Self {
        let (host, name) = match seat {
            CallRole::Caller => (call.from, format!("{}.caller", call.name)),
            CallRole::Callee => (call.to, format!("{}.callee", call.name)),
        };
        let seed = Seed(seed.stream(&name).next_u64());
        let (video, audio) = (call.video.clone(), call.audio.clone());
        Self { native, seat, host, dscp: call.dscp.video, video, audio, seed }
    }
}
