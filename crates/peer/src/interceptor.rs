//! The common part of all interceptors: one queue per direction.

use rtc::interceptor::{Interceptor, StreamInfo, TaggedPacket};
use rtc::sansio::Protocol;
use rtc::shared::error::Error;
use std::collections::VecDeque;
use std::time::Instant;

/// The packets that leave an interceptor, towards the application (`read`) and towards the network
/// (`write`).
#[derive(Default)]
pub struct OutputQueues {
    pub(crate) read: VecDeque<TaggedPacket>,
    pub(crate) write: VecDeque<TaggedPacket>,
}

/// The part that differs between interceptors. By default every packet passes.
pub trait PacketHandler: Send + Sync {
    /// Processes a packet from the network.
    fn read(&mut self, message: TaggedPacket, out: &mut OutputQueues) {
        out.read.push_back(message);
    }

    /// Processes a packet to the network.
    fn write(&mut self, message: TaggedPacket, out: &mut OutputQueues) {
        out.write.push_back(message);
    }

    /// Called at the time of [`Self::next_timeout`], or at any other time.
    fn timeout(&mut self, _now: Instant, _out: &mut OutputQueues) {}

    /// The time of the next timeout; `None` if there is none.
    fn next_timeout(&mut self) -> Option<Instant> {
        None
    }

    /// A stream starts to be sent.
    fn bind_local(&mut self, _stream: &StreamInfo) {}

    /// A stream is no longer sent.
    fn unbind_local(&mut self, _stream: &StreamInfo) {}

    /// A stream starts to be received.
    fn bind_remote(&mut self, _stream: &StreamInfo) {}

    /// A stream is no longer received.
    fn unbind_remote(&mut self, _stream: &StreamInfo) {}
}

/// Makes a [`PacketHandler`] an interceptor of `rtc`.
pub struct HandlerInterceptor<H> {
    handler: H,
    out: OutputQueues,
}

impl<H> HandlerInterceptor<H> {
    pub(crate) fn new(handler: H) -> Self {
        Self { handler, out: OutputQueues::default() }
    }
}

impl<H: PacketHandler> Protocol<TaggedPacket, TaggedPacket, ()> for HandlerInterceptor<H> {
    type Rout = TaggedPacket;
    type Wout = TaggedPacket;
    type Eout = ();
    type Error = Error;
    type Time = Instant;

    fn handle_read(&mut self, message: TaggedPacket) -> Result<(), Error> {
        self.handler.read(message, &mut self.out);
        Ok(())
    }

    fn poll_read(&mut self) -> Option<TaggedPacket> {
        self.out.read.pop_front()
    }

    fn handle_write(&mut self, message: TaggedPacket) -> Result<(), Error> {
        self.handler.write(message, &mut self.out);
        Ok(())
    }

    fn poll_write(&mut self) -> Option<TaggedPacket> {
        self.out.write.pop_front()
    }

    fn handle_timeout(&mut self, now: Instant) -> Result<(), Error> {
        self.handler.timeout(now, &mut self.out);
        Ok(())
    }

    fn poll_timeout(&mut self) -> Option<Instant> {
        self.handler.next_timeout()
    }
}

impl<H: PacketHandler> Interceptor for HandlerInterceptor<H> {
    fn bind_local_stream(&mut self, stream: &StreamInfo) {
        self.handler.bind_local(stream);
    }

    fn unbind_local_stream(&mut self, stream: &StreamInfo) {
        self.handler.unbind_local(stream);
    }

    fn bind_remote_stream(&mut self, stream: &StreamInfo) {
        self.handler.bind_remote(stream);
    }

    fn unbind_remote_stream(&mut self, stream: &StreamInfo) {
        self.handler.unbind_remote(stream);
    }
}
