//! What a packet waits in, sans-IO: queues, links, impairments, access networks, and the network that
//! joins them. Packets go in with a time, packets come out with a time, and the network says when it
//! next wants to be woken. Nothing here knows whether the clock is virtual or real.

mod packet;

pub use packet::*;
