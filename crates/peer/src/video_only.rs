//! Hides audio from an interceptor of `rtc`.

use crate::packets::is_video;
use rtc::interceptor::{Interceptor, StreamInfo, TaggedPacket};
use rtc::sansio::Protocol;
use rtc::shared::error::Error;
use std::time::Instant;

/// Passes only streams of video to the inner interceptor. The history of `rtc` would otherwise
/// record every stream that is sent, with or without transport-wide sequence numbers, and pass it
/// to the controller, whose estimate covers only the video.
pub(crate) struct VideoOnly<I>(pub(crate) I);

impl<I: Interceptor> Protocol<TaggedPacket, TaggedPacket, ()> for VideoOnly<I> {
    type Rout = TaggedPacket;
    type Wout = TaggedPacket;
    type Eout = ();
    type Error = Error;
    type Time = Instant;

    fn handle_read(&mut self, message: TaggedPacket) -> Result<(), Error> {
        self.0.handle_read(message)
    }

    fn poll_read(&mut self) -> Option<TaggedPacket> {
        self.0.poll_read()
    }

    fn handle_write(&mut self, message: TaggedPacket) -> Result<(), Error> {
        self.0.handle_write(message)
    }

    fn poll_write(&mut self) -> Option<TaggedPacket> {
        self.0.poll_write()
    }

    fn handle_timeout(&mut self, now: Instant) -> Result<(), Error> {
        self.0.handle_timeout(now)
    }

    fn poll_timeout(&mut self) -> Option<Instant> {
        self.0.poll_timeout()
    }

    fn close(&mut self) -> Result<(), Error> {
        self.0.close()
    }
}

impl<I: Interceptor> Interceptor for VideoOnly<I> {
    fn bind_local_stream(&mut self, stream: &StreamInfo) {
        if is_video(stream) {
            self.0.bind_local_stream(stream);
        }
    }

    fn unbind_local_stream(&mut self, stream: &StreamInfo) {
        if is_video(stream) {
            self.0.unbind_local_stream(stream);
        }
    }

    fn bind_remote_stream(&mut self, stream: &StreamInfo) {
        if is_video(stream) {
            self.0.bind_remote_stream(stream);
        }
    }

    fn unbind_remote_stream(&mut self, stream: &StreamInfo) {
        if is_video(stream) {
            self.0.unbind_remote_stream(stream);
        }
    }
}
