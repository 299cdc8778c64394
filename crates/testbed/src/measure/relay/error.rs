use crate::measure::server_process::ServerError;
use server::broker::Refusal;

/// Why a media relay cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RelayError {
    /// The system gives no random numbers for the relay's secret.
    #[error("no random numbers for the secret of a relay: {0}")]
    Secret(String),
    /// coturn failed.
    #[error(transparent)]
    Server(#[from] ServerError),
    /// The broker gives a call no credentials.
    #[error("'{call}' gets no relay: {refusal}")]
    Refused {
        /// The call.
        call: String,
        /// Why.
        refusal: Refusal,
    },
}
