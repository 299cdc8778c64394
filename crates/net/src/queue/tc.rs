//! Disciplines in tc's words: `pfifo limit 100`, `bfifo limit 125kB`.

use std::fmt;
use std::str::FromStr;
use units::{Bytes, Duration};

/// A discipline and its parameters. Reads and prints tc's words; `droptail` is Weir's word for a FIFO
/// whose limit is a time at the line's rate (`150ms`), bytes (`125kB`) or packets (`100p`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum QueueConfig {
    /// tc-pfifo: a limit in packets.
    Pfifo(u64),
    /// tc-bfifo: a limit in bytes.
    Bfifo(Bytes),
    /// A limit as the line drains it in this time.
    DropTail(Duration),
    /// No limit: nothing is dropped.
    #[default]
    Unlimited,
}

/// What bounds a FIFO.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Limit {
    Packets(u64),
    Bytes(Bytes),
    Time(Duration),
    Unlimited,
}

/// Why words are not a queue: what is wrong, and the mend.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueConfigError(String);

impl fmt::Display for QueueConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for QueueConfigError {}

impl QueueConfig {
    pub(crate) fn limit(self) -> Limit {
        match self {
            Self::Pfifo(packets) => Limit::Packets(packets),
            Self::Bfifo(bytes) => Limit::Bytes(bytes),
            Self::DropTail(time) => Limit::Time(time),
            Self::Unlimited => Limit::Unlimited,
        }
    }
}

impl fmt::Display for QueueConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pfifo(packets) => write!(f, "pfifo limit {packets}"),
            Self::Bfifo(bytes) => write!(f, "bfifo limit {bytes}"),
            Self::DropTail(time) => write!(f, "droptail limit {time}"),
            Self::Unlimited => f.write_str("unlimited"),
        }
    }
}

const KNOWN: &str =
    "there are 'pfifo limit PACKETS', 'bfifo limit BYTES', 'droptail limit 150ms|125kB|100p' and 'unlimited'";

impl FromStr for QueueConfig {
    type Err = QueueConfigError;

    fn from_str(text: &str) -> Result<Self, QueueConfigError> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let (kind, limit) = match words[..] {
            ["unlimited"] => return Ok(Self::Unlimited),
            [kind @ ("pfifo" | "bfifo" | "droptail"), "limit", limit] => (kind, limit),
            [kind @ ("pfifo" | "bfifo" | "droptail"), ..] => {
                return Err(QueueConfigError(format!("'{kind}' needs 'limit' and a size: {KNOWN}")));
            }
            [kind, ..] => return Err(QueueConfigError(format!("no queue '{kind}': {KNOWN}"))),
            [] => return Err(QueueConfigError(format!("no queue is named: {KNOWN}"))),
        };
        let config = match kind {
            "pfifo" => limit.parse().ok().map(Self::Pfifo),
            "bfifo" => limit.parse().ok().map(Self::Bfifo),
            _ => droptail(limit),
        };
        let config =
            config.ok_or_else(|| QueueConfigError(format!("'{limit}' is not a limit of {kind}: {KNOWN}")))?;
        if matches!(config, Self::Pfifo(0) | Self::Bfifo(Bytes::ZERO) | Self::DropTail(Duration::ZERO)) {
            let reason =
                format!("a {kind} of 0 would drop everything; leave the queue out for one without limit");
            return Err(QueueConfigError(reason));
        }
        Ok(config)
    }
}

fn droptail(limit: &str) -> Option<QueueConfig> {
    if let Some(packets) = limit.strip_suffix('p') {
        return packets.parse().ok().map(QueueConfig::Pfifo);
    }
    let time = limit.parse().map(QueueConfig::DropTail);
    time.or_else(|_| limit.parse().map(QueueConfig::Bfifo)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_read_back() {
        for text in ["pfifo limit 100", "bfifo limit 125kB", "droptail limit 150ms", "unlimited"] {
            assert_eq!(text.parse::<QueueConfig>().unwrap().to_string(), text);
        }
        assert_eq!("droptail limit 100p".parse(), Ok(QueueConfig::Pfifo(100)));
        assert_eq!("droptail limit 16kB".parse(), Ok(QueueConfig::Bfifo(Bytes::new(16_000))));
    }

    #[test]
    fn errors_name_the_word_and_the_mend() {
        let error = |text: &str| text.parse::<QueueConfig>().unwrap_err().to_string();
        assert!(error("fq limit 3").starts_with("no queue 'fq': there are 'pfifo limit"));
        assert!(error("pfifo").starts_with("'pfifo' needs 'limit' and a size"));
        assert!(error("pfifo limit 1.5").starts_with("'1.5' is not a limit of pfifo"));
        assert_eq!(
            error("droptail limit 0ms"),
            "a droptail of 0 would drop everything; leave the queue out for one without limit"
        );
        assert!(error("").starts_with("no queue is named"));
    }
}
