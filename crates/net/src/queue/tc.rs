//! Queue configurations in the syntax of tc: `pfifo limit 100`, `fq_codel target 5ms noecn`, or a
//! script of `tc` commands.

use super::QueueConfig;
use super::cake::{self, CakeConfig};
use super::codel::{self, CodelConfig};
use super::dualpi2::{self, DualPi2Config};
use super::error::QueueConfigError;
use super::fq_codel::{self, FqCodelConfig};
use super::pie::{self, PieConfig};
use super::red::{self, RedConfig};
use super::script;
use super::sfq::{self, SfqConfig};
use super::tbf::{self, TbfConfig};
use super::tc_units::{Printed, UnitSystem};
use super::words::Words;
use std::fmt;
use std::str::FromStr;
use units::{Bytes, Duration};

impl fmt::Display for QueueConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pfifo(packets) => write!(f, "pfifo limit {packets}"),
            Self::Bfifo(bytes) => write!(f, "bfifo limit {}", Printed(*bytes)),
            Self::DropTail(time) => write!(f, "droptail limit {}", Printed(*time)),
            Self::Codel(config) => config.fmt(f),
            Self::FqCodel(config) => config.fmt(f),
            Self::Pie(config) => config.fmt(f),
            Self::Red(config) => config.fmt(f),
            Self::Sfq(config) => config.fmt(f),
            Self::DualPi2(config) => config.fmt(f),
            Self::Cake(config) => config.fmt(f),
            Self::Tbf(config) if config.child.is_none() => config.fmt(f),
            Self::Tbf(_) | Self::Htb(_) => f.write_str(&self.script("eth0")),
            Self::Unlimited => f.write_str("unlimited"),
        }
    }
}

/// Linux's default limit of pfifo, the device's txqueuelen in packets; bfifo's is as many frames of
/// `FRAME` bytes, the MTU and its Ethernet header (`net/sched/sch_fifo.c`).
const TXQUEUELEN: u64 = 1_000;
const FRAME: u64 = 1_514;

impl FromStr for QueueConfig {
    type Err = QueueConfigError;

    fn from_str(text: &str) -> Result<Self, QueueConfigError> {
        if script::is_script(text) {
            return script::read(text);
        }
        let words: Vec<&str> = text.split_whitespace().collect();
        Self::read(&words, UnitSystem::Weir)
    }
}

impl QueueConfig {
    /// The `tc` commands that configure this queue on a device. `droptail` in time and `unlimited`,
    /// which tc does not have, are written as they are.
    #[must_use]
    pub fn script(&self, dev: &str) -> String {
        script::write(self, dev)
    }

    /// The `tc` commands that put this queue on the device of a gateway, whatever it has now: run
    /// twice they do the same, and they draw no warning. Filters of IPv4 by DSCP, protocol or port
    /// are written for IPv6 too. `tc qdisc del dev DEV root` is the way back.
    #[must_use]
    pub fn gateway_script(&self, dev: &str) -> String {
        script::write_gateway(self, dev)
    }

    /// The versions that a discipline of this queue needs: Linux, and iproute2 of the same version,
    /// whose tc knows the parameters. `None`: any that is still in use.
    #[must_use]
    pub fn needs(&self) -> Option<&'static str> {
        match self {
            // Linux `net/sched/sch_dualpi2.c`, `net/sched/sch_cake.c`.
            Self::DualPi2(_) => Some("Linux 6.17 and tc of iproute2 6.17"),
            Self::Cake(_) => Some("Linux 4.19 and tc of iproute2 4.19"),
            Self::Tbf(tbf) => tbf.child.as_ref().and_then(Self::needs),
            Self::Htb(htb) => {
                htb.classes.iter().filter_map(|class| class.leaf.as_ref()).find_map(Self::needs)
            }
            _ => None,
        }
    }

    /// Parses a discipline without classes.
    pub(super) fn read(words: &[&str], units: UnitSystem) -> Result<Self, QueueConfigError> {
        let Some(&kind) = words.first() else {
            return Err(QueueConfigError::Empty);
        };
        let with = |usage| Words::new(words, units, usage);
        match kind {
            "pfifo" => Self::pfifo(with("pfifo limit PACKETS")),
            "bfifo" => Self::bfifo(with("bfifo limit BYTES")),
            "droptail" | "unlimited" if units == UnitSystem::Tc => {
                Err(QueueConfigError::new(format!("'{kind}' is not a word of tc; write 'bfifo limit BYTES' or 'pfifo limit PACKETS'")))
            }
            "netem" => Err(QueueConfigError::new(
                "netem is not a queue here: a line has 'delay', 'loss', 'jitter' and 'rate' of its own; write them beside 'queue'".to_owned(),
            )),
            "qdisc" | "class" => Err(QueueConfigError::new(format!(
                "'{kind}' is what tc prints; write 'tc {kind} add dev eth0 …'"
            ))),
            "droptail" => Self::droptail(with("droptail limit 150ms|125kB|100p")),
            "codel" => CodelConfig::read(with(codel::USAGE)).map(Self::Codel),
            "fq_codel" => FqCodelConfig::read(with(fq_codel::USAGE)).map(Self::FqCodel),
            "pie" => PieConfig::read(with(pie::USAGE)).map(Self::Pie),
            "red" => RedConfig::read(with(red::USAGE)).map(Self::Red),
            "sfq" => SfqConfig::read(with(sfq::USAGE)).map(Self::Sfq),
            "dualpi2" => DualPi2Config::read(with(dualpi2::USAGE)).map(Self::DualPi2),
            "cake" => CakeConfig::read(with(cake::USAGE)).map(Self::Cake),
            "tbf" => TbfConfig::read(with(tbf::USAGE)).map(Box::new).map(Self::Tbf),
            "unlimited" if words.len() == 1 => Ok(Self::Unlimited),
            "htb" => Err(QueueConfigError::new(
                "htb needs classes; write it as tc commands: 'tc qdisc add dev eth0 root handle 1: htb default 20', 'tc class add …'"
                    .to_owned(),
            )),
            _ => Err(QueueConfigError::UnknownDiscipline { word: kind.to_owned() }),
        }
    }

    fn pfifo(mut words: Words<'_>) -> Result<Self, QueueConfigError> {
        let mut limit = TXQUEUELEN;
        while let Some(key) = words.key() {
            match key {
                "limit" => limit = words.packets(key)?,
                _ => return Err(words.unknown(key)),
            }
        }
        Ok(Self::Pfifo(limit))
    }

    fn bfifo(mut words: Words<'_>) -> Result<Self, QueueConfigError> {
        let mut limit = Bytes::new(TXQUEUELEN * FRAME);
        while let Some(key) = words.key() {
            match key {
                "limit" => limit = words.bytes(key)?,
                _ => return Err(words.unknown(key)),
            }
        }
        Ok(Self::Bfifo(limit))
    }

    fn droptail(mut words: Words<'_>) -> Result<Self, QueueConfigError> {
        let Some("limit") = words.key() else { return Err(words.wrong("'limit' is missing")) };
        let limit = words.word("limit")?;
        if let Some(more) = words.key() {
            return Err(words.unknown(more));
        }
        let config = match limit.strip_suffix('p') {
            Some(packets) => packets.parse().ok().map(Self::Pfifo),
            None => {
                limit.parse().map(Self::DropTail).or_else(|_| limit.parse().map(Self::Bfifo)).ok()
            }
        };
        match config {
            None => Err(words.no_value(limit, "limit")),
            Some(Self::Pfifo(0) | Self::Bfifo(Bytes::ZERO) | Self::DropTail(Duration::ZERO)) => {
                Err(words
                    .wrong("a limit of 0 would drop everything; leave the queue out for no limit"))
            }
            Some(Self::Bfifo(bytes)) => words.bounded("limit", bytes).map(Self::Bfifo),
            Some(config) => Ok(config),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_in_tcs_units_is_refused_with_the_size_here() {
        let error = "tbf rate 1mbit burst 5kb limit 20000".parse::<QueueConfig>().unwrap_err();
        assert!(
            error.to_string().starts_with("tbf: tc's 'burst 5kb' is 'burst 5120B' here; write")
        );
        let error = "bfifo limit many".parse::<QueueConfig>().unwrap_err().to_string();
        assert!(error.starts_with("bfifo: 'many' is not a value of 'limit'"), "{error}");
    }

    #[test]
    fn words_read_back() {
        for text in ["pfifo limit 100", "bfifo limit 125000", "droptail limit 150ms", "unlimited"] {
            assert_eq!(text.parse::<QueueConfig>().unwrap().to_string(), text);
        }
        for (text, whole) in [
            ("pfifo", "pfifo limit 1000"),
            ("bfifo", "bfifo limit 1514000"),
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
                "red limit 400kB min 30000 max 90000 avpkt 1000 burst 55 adaptive ecn",
                "red limit 400000 min 30000 max 90000 avpkt 1000 burst 55 bandwidth 10Mbit probability 0.02 ecn adaptive",
            ),
            ("sfq perturb 10", "sfq limit 127 depth 127 divisor 1024 quantum 1514 perturb 10"),
            (
                "dualpi2",
                "dualpi2 limit 10000 target 15ms tupdate 16ms alpha 0.16015625 beta 3.19921875 coupling_factor 2 step_thresh 1ms min_qlen_step 0 drop_on_overload drop_dequeue l4s_ect classic_protection 10%",
            ),
            (
                "dualpi2 limit 50 memlimit 100000 step_thresh 5pkts min_qlen_step 3 overflow drop_enqueue any_ect classic_protection 20",
                "dualpi2 limit 50 memlimit 100000 target 15ms tupdate 16ms alpha 0.16015625 beta 3.19921875 coupling_factor 2 step_thresh 5p min_qlen_step 3 overflow drop_enqueue any_ect classic_protection 20%",
            ),
            ("tbf rate 1Mbit/s burst 10kB latency 20ms", "tbf rate 1Mbit burst 10000 limit 12500"),
        ] {
            let config = text.parse::<QueueConfig>().unwrap();
            assert_eq!(config.to_string(), whole);
            assert_eq!(whole.parse(), Ok(config));
        }
        assert_eq!("droptail limit 100p".parse(), Ok(QueueConfig::Pfifo(100)));
        assert_eq!("droptail limit 16kB".parse(), Ok(QueueConfig::Bfifo(Bytes::new(16_000))));
    }

    #[test]
    fn errors_name_the_word_and_suggest_a_fix() {
        let error = |text: &str| text.parse::<QueueConfig>().unwrap_err().to_string();
        assert!(error("fq limit 3").starts_with("no queue 'fq': there are 'pfifo limit"));
        assert_eq!(
            error("pfifo limit 1.5"),
            "pfifo: '1.5' is not a value of 'limit'; write 'pfifo limit PACKETS'"
        );
        assert!(error("htb default 1").starts_with("htb needs classes; write it as tc commands"));
        assert_eq!(
            error("droptail limit 0ms"),
            "droptail: a limit of 0 would drop everything; leave the queue out for no limit; write 'droptail limit 150ms|125kB|100p'"
        );
        assert!(error("droptail limit 30ms 5").starts_with("droptail: no parameter '5'"));
        assert!(error("").starts_with("no queue is named"));
        assert!(
            error("red min 3kB").starts_with("red: 'limit' is missing; write 'red limit BYTES")
        );
        assert!(
            error("red limit 9kB min 5kB max 4kB")
                .starts_with("red: min 5kB, max 4kB and limit 9kB must be in ascending order")
        );
        assert!(
            error("red limit 400000 min 30000 max 90000 burst 9")
                .starts_with("red: a burst of 9 is too small for min; write 31 packets or more")
        );
        assert!(error("pie tupdate 1us").starts_with("pie: 'tupdate' is 1ms or more"));
        assert!(error("fq_codel flows 70000").starts_with("fq_codel: 'flows' is 65536 at most"));
        assert!(
            error("fq_codel quantum 18446744073709551615")
                .starts_with("fq_codel: 'quantum' is 1 to")
        );
        assert!(error("sfq divisor 1000").starts_with("sfq: 'divisor' is a power of two"));
        assert!(error("dualpi2 tupdate 1us").starts_with("dualpi2: 'tupdate' is 1ms or more"));
        assert!(
            error("dualpi2 alpha 0.001").starts_with("dualpi2: 'alpha' is 1/256 to 8388607 Hz")
        );
        assert!(
            error("dualpi2 step_thresh 0p")
                .starts_with("dualpi2: '0p' is not a value of 'step_thresh'")
        );
        assert!(
            error("dualpi2 classic_protection 101%")
                .starts_with("dualpi2: 'classic_protection' is 0% to")
        );
        assert!(
            error("dualpi2 max_rtt 5ms typical_rtt 9ms")
                .starts_with("dualpi2: 'typical_rtt' is at most 'max_rtt'")
        );
        assert!(error("dualpi2 split_gso").starts_with("dualpi2: no parameter 'split_gso'"));
        assert!(error("cake ingress").starts_with("cake: 'ingress' is not modelled; leave it out"));
        assert!(
            error("tbf rate 1Mbit limit 3000")
                .starts_with("tbf: 'rate' and 'burst' are both needed")
        );
        assert!(
            error("tbf rate 1Mbit burst 3000")
                .starts_with("tbf: one of 'limit' and 'latency' is needed")
        );
        let usage = "; write 'codel limit PACKETS target TIME interval TIME ce_threshold TIME \
                     ecn|noecn'";
        assert_eq!(error("codel limit"), format!("codel: 'limit' needs a value{usage}"));
        assert_eq!(error("codel limit x"), format!("codel: 'x' is not a value of 'limit'{usage}"));
        assert_eq!(error("codel target 0ms"), format!("codel: 'target' cannot be 0{usage}"));
        assert_eq!(error("codel quantum 3"), format!("codel: no parameter 'quantum'{usage}"));
    }
}
