//! Native peers: endpoints of calls that are not browsers. All peers of a run share one thread. The
//! signalling server treats them like pages.

mod endpoint;
mod error;
mod spec;

pub use error::NativePeerError;
pub(super) use spec::NativePeerSpec;

use emulator::Host;
use server::signalling::{FromPage, Membership};
use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};

/// The time that peers get for their end.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(1);

/// The native peers of a run. Dropping this value ends them.
#[derive(Default)]
pub(super) struct NativePeers(Option<Runtime>);

impl NativePeers {
    /// Starts a peer on a host, as a participant of a call.
    ///
    /// # Errors
    /// When the host has no socket for it, or the system has no thread.
    pub(super) fn start(
        &mut self,
        host: &Host,
        mut participant: Membership,
        spec: NativePeerSpec,
    ) -> Result<(), NativePeerError> {
        let failed =
            |error: io::Error| NativePeerError::Socket { host: host.name().to_owned(), error };
        let (host_id, dscp) = (spec.host, spec.dscp);
        let bind = move || {
            let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::DGRAM, None)?;
            // The DSCP is the upper six bits of the octet (RFC 2474, section 3).
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
                // After the end of the call, the error has no receiver.
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
