use std::net::SocketAddr;

/// The address from which a request comes. The listener adds it to every request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Client(pub(crate) SocketAddr);
