use std::fmt;

/// What can go wrong with a peer.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The WebRTC stack refused something: what, and its own words.
    Rtc(&'static str, rtc::shared::error::Error),
    /// `str0m` refused something: what, and its own words.
    Str0m(&'static str, Box<dyn std::error::Error + Send + Sync>),
    /// An answer came to no offer.
    NoOffer,
    /// The socket failed.
    Socket(std::io::Error),
    /// The other end's description has no VP8 to send.
    NoVp8,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rtc(what, error) => write!(f, "{what}: {error}"),
            Self::Str0m(what, error) => write!(f, "{what}: {error}"),
            Self::NoOffer => f.write_str("an answer to no offer: let this end offer first"),
            Self::Socket(error) => write!(f, "the peer's socket: {error}"),
            Self::NoVp8 => {
                f.write_str("the other end takes no VP8: let it offer or answer with video/VP8")
            }
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Rtc(_, error) => Some(error),
            Self::Str0m(_, error) => Some(&**error),
            Self::Socket(error) => Some(error),
            Self::NoOffer | Self::NoVp8 => None,
        }
    }
}

impl From<std::io::Error> for Error {
    fn from(error: std::io::Error) -> Self {
        Self::Socket(error)
    }
}
