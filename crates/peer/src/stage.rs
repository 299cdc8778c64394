//! What all interceptors have in common: what goes in comes out of a queue, in each direction.

use rtc::interceptor::{Interceptor, StreamInfo, TaggedPacket};
use rtc::sansio::Protocol;
use rtc::shared::error::Error;
use std::collections::VecDeque;
use std::time::Instant;

/// What leaves an interceptor towards the application and towards the wire.
#[derive(Default)]
pub struct Out {
    pub(crate) read: VecDeque<TaggedPacket>,
    pub(crate) write: VecDeque<TaggedPacket>,
}

/// What is particular to an interceptor. Left alone, everything passes.
pub trait Stage: Send + Sync {
    /// A packet came from the wire.
    fn read(&mut self, message: TaggedPacket, out: &mut Out) {
        out.read.push_back(message);
    }

    /// A packet goes to the wire.
    fn write(&mut self, message: TaggedPacket, out: &mut Out) {
        out.write.push_back(message);
    }

    /// The time that [`Self::next_timeout`] said has come, or any other.
    fn timeout(&mut self, _now: Instant, _out: &mut Out) {}

    /// When something is due.
    fn next_timeout(&mut self) -> Option<Instant> {
        None
    }

    /// A stream is sent.
    fn bind_local(&mut self, _stream: &StreamInfo) {}

    /// It is sent no more.
    fn unbind_local(&mut self, _stream: &StreamInfo) {}

    /// A stream is received.
    fn bind_remote(&mut self, _stream: &StreamInfo) {}

    /// It is received no more.
    fn unbind_remote(&mut self, _stream: &StreamInfo) {}
}

/// A stage as an interceptor of `rtc`.
pub struct Staged<S> {
    stage: S,
    out: Out,
}

impl<S> Staged<S> {
    pub(crate) fn new(stage: S) -> Self {
        Self { stage, out: Out::default() }
    }
}

impl<S: Stage> Protocol<TaggedPacket, TaggedPacket, ()> for Staged<S> {
    type Rout = TaggedPacket;
    type Wout = TaggedPacket;
    type Eout = ();
    type Error = Error;
    type Time = Instant;

    fn handle_read(&mut self, message: TaggedPacket) -> Result<(), Error> {
        self.stage.read(message, &mut self.out);
        Ok(())
    }

    fn poll_read(&mut self) -> Option<TaggedPacket> {
        self.out.read.pop_front()
    }

    fn handle_write(&mut self, message: TaggedPacket) -> Result<(), Error> {
        self.stage.write(message, &mut self.out);
        Ok(())
    }

    fn poll_write(&mut self) -> Option<TaggedPacket> {
        self.out.write.pop_front()
    }

    fn handle_timeout(&mut self, now: Instant) -> Result<(), Error> {
        self.stage.timeout(now, &mut self.out);
        Ok(())
    }

    fn poll_timeout(&mut self) -> Option<Instant> {
        self.stage.next_timeout()
    }
}

impl<S: Stage> Interceptor for Staged<S> {
    fn bind_local_stream(&mut self, stream: &StreamInfo) {
        self.stage.bind_local(stream);
    }

    fn unbind_local_stream(&mut self, stream: &StreamInfo) {
        self.stage.unbind_local(stream);
    }

    fn bind_remote_stream(&mut self, stream: &StreamInfo) {
        self.stage.bind_remote(stream);
    }

    fn unbind_remote_stream(&mut self, stream: &StreamInfo) {
        self.stage.unbind_remote(stream);
    }
}
