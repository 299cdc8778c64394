//! The network of `net` in real time, between network namespaces.

mod tcp_info;

pub use tcp_info::{TcpInfo, tcp_info};
