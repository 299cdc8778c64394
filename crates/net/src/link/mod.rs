//! Links: a server that serialises packets, or a token bucket that lets them pass, and a delay line on which they propagate.

mod bucket;
mod delay_line;
mod server;

pub(crate) use bucket::Bucket;
pub(crate) use delay_line::DelayLine;
pub(crate) use server::Server;
