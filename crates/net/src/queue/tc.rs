//! Disciplines in tc's words: `pfifo limit 100`, `bfifo limit 125kB`, `fq_codel target 5ms noecn`.

use super::cake::{self, CakeConfig};
use super::codel::{self, CodelConfig};
use super::fq_codel::{self, FqCodelConfig};
use super::pie::{self, PieConfig};
use super::red::{self, RedConfig};
use super::sfq::{self, SfqConfig};
use super::words::Words;
use std::fmt;
use std::str::FromStr;
use units::{Bytes, Duration};

/// A discipline and its parameters. Reads and prints tc's words; `droptail` is Weir's word for a FIFO
/// whose limit is a time at the line's rate (`150ms`), bytes (`125kB`) or packets (`100p`).
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub enum QueueConfig {
    /// tc-pfifo: a limit in packets.
    Pfifo(u64),
    /// tc-bfifo: a limit in bytes.
    Bfifo(Bytes),
    /// A limit as the line drains it in this time.
    DropTail(Duration),
    /// tc-codel.
    Codel(CodelConfig),
    /// tc-fq_codel.
    FqCodel(FqCodelConfig),
    /// tc-pie.
    Pie(PieConfig),
    /// tc-red.
    Red(RedConfig),
    /// tc-sfq.
    Sfq(SfqConfig),
    /// tc-cake.
    Cake(CakeConfig),
    /// No limit: nothing is dropped.
    #[default]
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

impl QueueConfigError {
    pub(super) fn new(reason: String) -> Self {
        Self(reason)
    }
}

impl fmt::Display for QueueConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pfifo(packets) => write!(f, "pfifo limit {packets}"),
            Self::Bfifo(bytes) => write!(f, "bfifo limit {bytes}"),
            Self::DropTail(time) => write!(f, "droptail limit {time}"),
            Self::Codel(config) => config.fmt(f),
            Self::FqCodel(config) => config.fmt(f),
            Self::Pie(config) => config.fmt(f),
            Self::Red(config) => config.fmt(f),
            Self::Sfq(config) => config.fmt(f),
            Self::Cake(config) => config.fmt(f),
            Self::Unlimited => f.write_str("unlimited"),
        }
    }
}

const KNOWN: &str = "there are 'pfifo limit PACKETS', 'bfifo limit BYTES', 'droptail limit 150ms|125kB|100p', 'codel', 'fq_codel', 'pie', 'red', 'sfq', 'cake' and 'unlimited'";

impl FromStr for QueueConfig {
    type Err = QueueConfigError;

    fn from_str(text: &str) -> Result<Self, QueueConfigError> {
        let mut rest = text.split_whitespace();
        let kind = rest.next().unwrap_or_default();
        match kind {
            "codel" => return CodelConfig::read(Words::new(kind, rest, codel::USAGE)).map(Self::Codel),
            "fq_codel" => {
                return FqCodelConfig::read(Words::new(kind, rest, fq_codel::USAGE)).map(Self::FqCodel);
            }
            "red" => return RedConfig::read(Words::new(kind, rest, red::USAGE)).map(Self::Red),
            "sfq" => return SfqConfig::read(Words::new(kind, rest, sfq::USAGE)).map(Self::Sfq),
            "cake" => return CakeConfig::read(Words::new(kind, rest, cake::USAGE)).map(Self::Cake),
            "pie" => return PieConfig::read(Words::new(kind, rest, pie::USAGE)).map(Self::Pie),
            _ => {}
        }
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
        for (text, whole) in [
            ("codel", "codel limit 1000 target 5ms interval 100ms noecn"),
            ("codel ecn limit 50", "codel limit 50 target 5ms interval 100ms ecn"),
            (
                "fq_codel limit 10240 target 5ms interval 100ms noecn",
                "fq_codel limit 10240 flows 1024 quantum 1514 target 5ms interval 100ms noecn",
            ),
            (
                "pie limit 1000 target 20ms tupdate 30ms noecn bytemode",
                "pie limit 1000 target 20ms tupdate 30ms alpha 2 beta 20 noecn bytemode",
            ),
            (
                "red limit 400000 min 30000 max 90000 avpkt 1000 burst 55 adaptive ecn",
                "red limit 400kB min 30kB max 90kB avpkt 1kB burst 55 bandwidth 10Mbit/s probability 0.02 ecn adaptive",
            ),
            (
                "cake bandwidth 10Mbit",
                "cake bandwidth 10Mbit/s diffserv3 triple-isolate nowash rtt 100ms noatm overhead 0 mpu 0",
            ),
            ("sfq perturb 10", "sfq limit 127 depth 127 divisor 1024 quantum 1514 perturb 10"),
        ] {
            let config = text.parse::<QueueConfig>().unwrap();
            assert_eq!(config.to_string(), whole);
            assert_eq!(whole.parse(), Ok(config));
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
        assert!(error("red min 3kB").starts_with("red: 'limit' is missing; write 'red limit BYTES"));
        assert!(
            error("red limit 9kB min 5kB max 4kB")
                .starts_with("red: min 5kB, max 4kB and limit 9kB must rise")
        );
        assert!(
            error("red limit 400000 min 30000 max 90000 burst 9")
                .starts_with("red: a burst of 9 does not go with min: from 31 packets on")
        );
        assert!(error("pie tupdate 1us").starts_with("pie: 'tupdate' is 1ms or more"));
        assert!(error("fq_codel flows 70000").starts_with("fq_codel: 'flows' is 65536 at most"));
        assert!(error("fq_codel quantum 18446744073709551615").starts_with("fq_codel: 'quantum' is 1 to"));
        assert!(error("cake ingress").starts_with("cake: 'ingress' is not modelled; leave it out"));
        assert!(error("sfq divisor 1000").starts_with("sfq: 'divisor' is a power of two"));
        let usage = "; write 'codel limit PACKETS target TIME interval TIME ecn|noecn'";
        assert_eq!(error("codel limit"), format!("codel: 'limit' needs a value{usage}"));
        assert_eq!(error("codel limit x"), format!("codel: 'x' is not a value of 'limit'{usage}"));
        assert_eq!(error("codel target 0ms"), format!("codel: 'target' cannot be 0{usage}"));
        assert_eq!(error("codel quantum 3"), format!("codel: no parameter 'quantum'{usage}"));
    }
}
