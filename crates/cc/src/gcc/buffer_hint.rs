//! A hint from the network on the size of its buffers (Janczukowicz 2017 § 7.5.1, § 7.5.2). In a
//! short buffer the delay hardly varies before packets are lost, so the controller reacts to less
//! loss.

use std::fmt;
use std::str::FromStr;
use units::{Bitrate, Bytes, Duration};

/// Size of the smallest buffer on the path, if known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BufferHint {
    /// The size is unknown.
    None,
    /// The caller of [`crate::build`] should replace this by the size. The controller treats it as
    /// `none`.
    Path,
    /// The size.
    Size(Bytes),
}

impl BufferHint {
    /// Factor of the loss thresholds at the rate `target`: the time in which the buffer drains at
    /// `target`, divided by `short`; at most 1.
    pub(crate) fn sensitivity(self, target: Bitrate, short: Duration) -> f64 {
        let Self::Size(size) = self else { return 1.0 };
        match target.time_to_send(size) {
            Some(drain) if drain < short => drain.as_secs_f64() / short.as_secs_f64(),
            _ => 1.0,
        }
    }
}

impl FromStr for BufferHint {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "none" => Ok(Self::None),
            "path" => Ok(Self::Path),
            _ => match text.parse() {
                Ok(Bytes::ZERO) => {
                    Err("a buffer of size 0; use none, path or a size such as 16kB".into())
                }
                Ok(size) => Ok(Self::Size(size)),
                Err(_) => Err("use none, path or a size such as 16kB".into()),
            },
        }
    }
}

impl fmt::Display for BufferHint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("none"),
            Self::Path => f.write_str("path"),
            Self::Size(size) => size.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_reads_what_it_prints() {
        for text in ["none", "path", "16kB"] {
            assert_eq!(text.parse::<BufferHint>().unwrap().to_string(), text);
        }
        assert!("0B".parse::<BufferHint>().unwrap_err().starts_with("a buffer of size 0"));
        assert!("big".parse::<BufferHint>().is_err());
    }

    #[test]
    fn the_factor_of_a_short_buffer_is_its_drain_time_over_the_limit() {
        let short = Duration::from_millis(250);
        let at = |hint: BufferHint, kbps| hint.sensitivity(Bitrate::from_kbps(kbps), short);
        let hint = BufferHint::Size(Bytes::new(16_000));
        // 128 ms at 1 Mbit/s.
        assert!((at(hint, 1000) - 0.512).abs() < 1e-12);
        assert_eq!(at(hint, 512), 1.0);
        assert_eq!(at(hint, 100), 1.0);
        assert_eq!(at(hint, 0), 1.0);
        assert_eq!([at(BufferHint::None, 1000), at(BufferHint::Path, 1000)], [1.0, 1.0]);
    }
}
