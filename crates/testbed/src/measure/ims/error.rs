use crate::measure::server_process::ServerError;
use std::io;
use units::Duration;

/// Why the calls of a run cannot pass an IMS.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ImsError {
    /// A CSCF or the access gateway failed.
    #[error(transparent)]
    Server(#[from] ServerError),
    /// The HSS or the PCRF cannot listen.
    #[error("{host}: cannot listen for Diameter: {error}")]
    Listen {
        /// The host.
        host: String,
        /// What the system answered.
        error: io::Error,
    },
    /// The HSS or the PCRF got a request that it does not understand.
    #[error("{host}: {fault}; this is a difference between the CSCFs and 3GPP TS 29.229 or 29.214")]
    Fault {
        /// The host.
        host: String,
        /// The request, and what is wrong.
        fault: String,
    },
    /// The system gives no random numbers for passwords and keys.
    #[error("no random numbers for the secrets of the IMS: {0}")]
    Random(String),
    /// The certificate of the P-CSCF cannot be made.
    #[error("cannot make the certificate of the P-CSCF: {0}")]
    Certificate(String),
    /// The functions of the IMS do not find each other.
    #[error(
        "the CSCFs are not connected to the HSS and the PCRF after {0}; they connect over the modelled network, which must carry TCP between them"
    )]
    NotReady(Duration),
    /// An end of a call is not a Chromium.
    #[error(
        "call.{0}: a call through an IMS is between two Chromiums; remove the other endpoints from [measure]"
    )]
    Endpoint(String),
    /// The folder of the control socket cannot be made.
    #[error("cannot make a folder for the control socket: {0}")]
    Folder(io::Error),
}
