use std::net::SocketAddr;

/// The address of a client. The listener adds it to every request as an extension.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Client(pub(crate) SocketAddr);
