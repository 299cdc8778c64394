//! Links: a server that serialises packets, and a delay line on which they propagate.

mod delay_line;
mod server;

pub(crate) use delay_line::DelayLine;
pub(crate) use server::Server;
