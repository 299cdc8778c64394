//! What the network told of its buffers (Janczukowicz 2017 § 7.5.1, § 7.5.2): where they are so
//! short that the delay hardly varies before packets are lost, less loss is needed to react.

use std::fmt;
use std::str::FromStr;
use units::{Bitrate, Bytes, Duration};

/// The size of the smallest buffer on the path, as far as it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BufferHint {
    /// Nothing is known.
    None,
    /// Whoever builds the controller is to put the size here; the controller takes it for `none`.
    Path,
    /// It is this.
    Size(Bytes),
}

impl BufferHint {
    /// By what the thresholds of loss are multiplied at the rate `target`: the time in which the
    /// buffer drains at it over `short`, at most 1.
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
                    Err("a buffer of no size; write none, path or a size such as 16kB".into())
                }
                Ok(size) => Ok(Self::Size(size)),
                Err(_) => Err("it is none, path or a size such as 16kB".into()),
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
        assert!("0B".parse::<BufferHint>().unwrap_err().starts_with("a buffer of no size"));
        assert!("big".parse::<BufferHint>().is_err());
    }

    #[test]
    fn a_short_buffer_counts_by_the_time_in_which_it_drains() {
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
