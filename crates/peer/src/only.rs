//! Hides streams from an interceptor of `rtc`.

use crate::packets::{has_congestion_feedback, is_video};
use rtc::interceptor::{Interceptor, StreamInfo, TaggedPacket};
use rtc::sansio::Protocol;
use rtc::shared::error::Error;
use std::time::Instant;

/// Passes only some streams to the inner interceptor.
pub(crate) struct Only<I> {
    inner: I,
    accepts: fn(&StreamInfo) -> bool,
}

impl<I> Only<I> {
    /// Only video: the history of `rtc` would otherwise record every stream that is sent, with or
    /// without transport-wide sequence numbers, and pass it to the controller, whose estimate
    /// covers only the video.
    pub(crate) fn video(inner: I) -> Self {
        Self { inner, accepts: is_video }
    }

    /// Only streams without the feedback of RFC 8888, which replaces transport-wide feedback.
    pub(crate) fn without_congestion_feedback(inner: I) -> Self {
        Self { inner, accepts: |stream| !has_congestion_feedback(stream) }
    }
}

impl<I: Interceptor> Protocol<TaggedPacket, TaggedPacket, ()> for Only<I> {
    type Rout = TaggedPacket;
    type Wout = TaggedPacket;
    type Eout = ();
    type Error = Error;
    type Time = Instant;

    fn handle_read(&mut self, message: TaggedPacket) -> Result<(), Error> {
        self.inner.handle_read(message)
    }

    fn poll_read(&mut self) -> Option<TaggedPacket> {
        self.inner.poll_read()
    }

    fn handle_write(&mut self, message: TaggedPacket) -> Result<(), Error> {
        self.inner.handle_write(message)
    }

    fn poll_write(&mut self) -> Option<TaggedPacket> {
        self.inner.poll_write()
    }

    fn handle_timeout(&mut self, now: Instant) -> Result<(), Error> {
        self.inner.handle_timeout(now)
    }

    fn poll_timeout(&mut self) -> Option<Instant> {
        self.inner.poll_timeout()
    }

    fn close(&mut self) -> Result<(), Error> {
        self.inner.close()
    }
}

impl<I: Interceptor> Interceptor for Only<I> {
    fn bind_local_stream(&mut self, stream: &StreamInfo) {
        if (self.accepts)(stream) {
            self.inner.bind_local_stream(stream);
        }
    }

    fn unbind_local_stream(&mut self, stream: &StreamInfo) {
        if (self.accepts)(stream) {
            self.inner.unbind_local_stream(stream);
        }
    }

    fn bind_remote_stream(&mut self, stream: &StreamInfo) {
        if (self.accepts)(stream) {
            self.inner.bind_remote_stream(stream);
        }
    }

    fn unbind_remote_stream(&mut self, stream: &StreamInfo) {
        if (self.accepts)(stream) {
            self.inner.unbind_remote_stream(stream);
        }
    }
}
