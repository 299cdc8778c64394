//! The two ends of a direction of a call, and what they are made from.

use crate::media::{Forwarder, MediaReceiver, MediaSender, Room, Sources};
use crate::scenario::{CallConfig, Sfu, VideoConfig};
use crate::sending::Sending;
use crate::simulation::RunError;
use units::Seed;

/// What the ends are made from.
pub(crate) struct Plan {
    pub(crate) sources: Sources,
    pub(crate) call: CallConfig,
    pub(crate) name: String,
    pub(crate) seed: Seed,
}

/// The ends while the call takes place.
pub(crate) struct Ends {
    pub(crate) sender: Sending,
    pub(crate) receiver: MediaReceiver,
}

impl Plan {
    /// The controllers of its video.
    ///
    /// # Errors
    /// When there are none of this name or with these settings.
    pub(crate) fn controllers(&self) -> Result<Option<cc::Controllers>, RunError> {
        let build = |video: &VideoConfig| {
            cc::build(&video.controller)
                .map_err(|error| RunError(format!("call '{}': {error}", self.call.name)))
        };
        self.call.video.as_ref().map(build).transpose()
    }

    /// Makes the ends.
    ///
    /// # Errors
    /// As for [`Self::controllers`].
    pub(crate) fn carry_out(&self) -> Result<Ends, RunError> {
        let Self { sources, call, name, seed } = self;
        let (mut sending, mut receiving) = (None, (None, false));
        if let (Some(video), Some(controllers)) = (&call.video, self.controllers()?) {
            sending = Some((video, controllers.sender));
            receiving = (controllers.receiver, controllers.transport_feedback);
        }
        if let Some(Sfu::Publish { bitrate }) = call.sfu {
            receiving.0 = Some(Box::new(Room::new(bitrate)));
        }
        let sender = if let Some(Sfu::Forward { .. }) = call.sfu {
            Sending::Unit(Box::new(Forwarder::new(*sources, call, *seed, name)))
        } else {
            Sending::Party(Box::new(MediaSender::new(*sources, call, sending, *seed, name)))
        };
        Ok(Ends { sender, receiver: MediaReceiver::new(*sources, call, receiving, *seed, name) })
    }
}
