/// Why a peer cannot go on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// `rtc` refused something: what failed, and the error of `rtc`.
    #[error("{0}: {1}")]
    Rtc(&'static str, #[source] rtc::shared::error::Error),
    /// `str0m` refused something: what failed, and the error of `str0m`.
    #[error("{0}: {1}")]
    Str0m(&'static str, #[source] Box<dyn std::error::Error + Send + Sync>),
    /// An answer arrived before this endpoint made an offer.
    #[error("an answer arrived without an offer; let this endpoint make the offer first")]
    NoOffer,
    /// The socket failed.
    #[error("the socket of the peer: {0}")]
    Socket(#[from] std::io::Error),
    /// The remote description has no VP8 that this endpoint could send.
    #[error("the remote endpoint does not accept VP8; let it offer or answer video/VP8")]
    NoVp8,
}
