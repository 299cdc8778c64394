//! The two ends of one direction of a call, and the plan that they are built from.

use crate::media::{Forwarder, MediaReceiver, MediaSender, Room, Sources};
use crate::scenario::{CallConfig, Sfu, VideoConfig};
use crate::sending::SendingEnd;
use crate::simulation::{MakeControllers, RunError};
use std::sync::Arc;
use units::Seed;

/// Everything that is needed to build the ends when the call starts.
pub(crate) struct Plan {
    pub(crate) sources: Sources,
    pub(crate) call: CallConfig,
    pub(crate) name: String,
    pub(crate) seed: Seed,
    /// Makes controllers that are not profiles.
    pub(crate) make: Option<Arc<MakeControllers>>,
}

/// The ends of a direction while the call is active.
pub(crate) struct Ends {
    pub(crate) sender: SendingEnd,
    pub(crate) receiver: MediaReceiver,
}

impl Plan {
    /// Checks that the profile of the call's video can be built. A program needs a caller who makes
    /// its controllers.
    ///
    /// # Errors
    /// [`RunError::Controller`] if no controller has this name or its settings are wrong.
    pub(crate) fn check(&self) -> Result<(), RunError> {
        let Some(video) = &self.call.video else { return Ok(()) };
        if self.make.is_none() {
            return self.profile(video).map(drop);
        }
        cc::check(&video.controller).map_err(|error| self.refused(error))
    }

    fn refused(&self, error: cc::BuildError) -> RunError {
        RunError::Controller { call: self.call.name.clone(), error }
    }

    fn profile(&self, video: &VideoConfig) -> Result<cc::Controllers, RunError> {
        cc::build(&video.controller).map_err(|error| self.refused(error))
    }

    /// Builds the controllers of the call's video; `None` for a call without video.
    fn controllers(&self) -> Result<Option<cc::Controllers>, RunError> {
        let Some(video) = &self.call.video else { return Ok(None) };
        let made = self.make.as_ref().and_then(|make| make(&self.name, &video.controller));
        made.map_or_else(|| self.profile(video), Ok).map(Some)
    }

    /// Builds the ends.
    ///
    /// # Errors
    /// As for [`Self::check`].
    pub(crate) fn build_ends(&self) -> Result<Ends, RunError> {
        let Self { sources, call, name, seed, make: _ } = self;
        let (mut sending, mut receiving) = (None, (None, false));
        if let (Some(video), Some(controllers)) = (&call.video, self.controllers()?) {
            sending = Some((video, controllers.sender, controllers.transport_feedback));
            receiving = (controllers.receiver, controllers.transport_feedback);
        }
        if let Some(Sfu::Publish { bitrate }) = call.sfu {
            receiving.0 = Some(Box::new(Room::new(bitrate)));
        }
        let sender = if let Some(Sfu::Forward { .. }) = call.sfu {
            SendingEnd::Sfu(Box::new(Forwarder::new(*sources, call, *seed, name)))
        } else {
            SendingEnd::Endpoint(Box::new(MediaSender::new(*sources, call, sending, *seed, name)))
        };
        Ok(Ends { sender, receiver: MediaReceiver::new(*sources, call, receiving, *seed, name) })
    }
}
