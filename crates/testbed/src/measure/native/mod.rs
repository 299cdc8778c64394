//! Native peers: ends of calls that are no browser, all of a run on one thread. To the signalling
//! server they are pages.

mod endpoint;
mod error;
mod spec;

pub use error::NativePeerError;
pub(super) use spec::NativePeerSpec;

use emulator::Host;
use server::signalling::{FromPage, Place};
use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};

/// How long peers have for their end.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(1);

/// The native peers of a run. They end when this is dropped.
#[derive(Default)]
pub(super) struct NativePeers(Option<Runtime>);

impl NativePeers {
    /// Lets a peer take part in a call from a host.
    ///
    /// # Errors
    /// When the host has no socket for it, or the system no thread.
    pub(super) fn start(
        &mut self,
        host: &Host,
        mut participant: Place,
        spec: NativePeerSpec,
    ) -> Result<(), NativePeerError> {
        let failed =
            |error: io::Error| NativePeerError::Socket { host: host.name().to_owned(), error };
        let (host_id, dscp) = (spec.host, spec.dscp);
        let bind = move || {
            let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::DGRAM, None)?;
            // The code point is the upper six bits of the octet (RFC 2474 § 3).
            socket.set_tos_v4(u32::from(dscp.0) << 2)?;
            socket.set_nonblocking(true)?;
            socket.bind(&SocketAddr::from((host_id.address(), 0)).into())?;
            Ok::<_, io::Error>(UdpSocket::from(socket))
        };
        let socket = host.within(bind)?.map_err(failed)?;
        let runtime = match &mut self.0 {
            Some(runtime) => runtime,
            none => none.insert(
                Builder::new_multi_thread()
                    .worker_threads(1)
                    .thread_name("native peers")
                    .enable_all()
                    .build()
                    .map_err(failed)?,
            ),
        };
        runtime.spawn(async move {
            if let Err(error) = endpoint::run_peer(&mut participant, socket, spec).await {
                // NoCalls is told when the call is over.
                let _ = participant.take(FromPage::Failed { message: error.to_string() });
            }
        });
        Ok(())
    }
}

impl Drop for NativePeers {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_timeout(SHUTDOWN_TIMEOUT);
        }
    }
}
