//! CAKE's parameters in the syntax of tc (tc-cake(8)).

use super::isolation::CakeIsolation;
use super::tin::MIN_RATE;
use crate::packet::Dscp;
use crate::queue::error::QueueConfigError;
use crate::queue::tc_units::Printed;
use crate::queue::words::Words;
use std::fmt;
use units::{Bitrate, Bytes, Duration};

/// The named round-trip times (tc-cake(8), 'Round trip time parameters').
const RTTS: [(&str, Duration); 8] = [
    ("datacentre", Duration::from_micros(100)),
    ("lan", Duration::from_millis(1)),
    ("metro", Duration::from_millis(10)),
    ("regional", Duration::from_millis(30)),
    ("internet", Duration::from_millis(100)),
    ("oceanic", Duration::from_millis(300)),
    ("satellite", Duration::from_secs(1)),
    ("interplanetary", Duration::from_secs(1_000)),
];
/// The range of `overhead`, in bytes; `MAX_OVERHEAD` is also the largest `mpu` (tc-cake(8)).
const MIN_OVERHEAD: i64 = -64;
const MAX_OVERHEAD: i64 = 256;
/// The smallest and the largest default memory limit (Linux `net/sched/sch_cake.c`,
/// `cake_reconfigure`: 4 MiB, and 10240 packets of 1514 bytes).
const MIN_MEMORY: Bytes = Bytes::new(4 << 20);
const MAX_MEMORY: Bytes = Bytes::new(10_240 * 1_514);

/// The traffic classes, called tins (tc-cake(8), 'Priority queue parameters').
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum CakeClasses {
    /// One class.
    BestEffort,
    /// Bulk, best effort and voice.
    #[default]
    Diffserv3,
    /// Bulk, best effort, video and voice.
    Diffserv4,
}

impl CakeClasses {
    /// The tin's share of the rate is 1/2ⁿ for each n (Linux `cake_config_diffserv3` and `…4`). The
    /// first tin is best effort; later tins have higher priorities.
    pub(super) fn shares(self) -> &'static [u32] {
        match self {
            Self::BestEffort => &[0],
            Self::Diffserv3 => &[0, 4, 2],
            Self::Diffserv4 => &[0, 4, 1, 2],
        }
    }

    /// The bytes that the first tin may send per round if CAKE does not shape.
    pub(super) fn quantum(self) -> i64 {
        if self == Self::BestEffort { 65_535 } else { 1_024 }
    }

    /// The tin of a code point.
    pub(super) fn tin(self, dscp: Dscp) -> usize {
        match (self, dscp.0) {
            (Self::BestEffort, _) => 0,
            // LE and CS1.
            (_, 1 | 8) => 1,
            // VA, EF, CS6 and CS7; and TOS4, which is video in diffserv4.
            (Self::Diffserv3, 4 | 44 | 46 | 48 | 56) => 2,
            // The same without TOS4, and CS4 and CS5.
            (Self::Diffserv4, 32 | 40 | 44 | 46 | 48 | 56) => 3,
            // TOS4, CS2, AF2x, CS3, AF3x and AF4x.
            (Self::Diffserv4, 4 | 16 | 18 | 20 | 22 | 24 | 26 | 28 | 30 | 34 | 36 | 38) => 2,
            _ => 0,
        }
    }
}

impl fmt::Display for CakeClasses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::BestEffort => "besteffort",
            Self::Diffserv3 => "diffserv3",
            Self::Diffserv4 => "diffserv4",
        })
    }
}

/// The framing of the link (tc-cake(8), 'Manual overhead specification').
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum CakeFraming {
    /// No framing.
    #[default]
    NoAtm,
    /// ATM cells of 53 bytes with a payload of 48.
    Atm,
    /// One byte more per 64 bytes (VDSL2).
    Ptm,
}

impl fmt::Display for CakeFraming {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoAtm => "noatm",
            Self::Atm => "atm",
            Self::Ptm => "ptm",
        })
    }
}

/// CAKE's parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct CakeConfig {
    /// The shaped rate; `None`: no shaping (tc-cake(8): unlimited).
    pub bandwidth: Option<Bitrate>,
    /// The traffic classes (tc-cake(8): diffserv3).
    pub classes: CakeClasses,
    /// Between what the line is shared fairly (tc-cake(8): triple-isolate).
    pub isolation: CakeIsolation,
    /// The round-trip time, in which senders can react; the target is a twentieth (tc-cake(8): 100
    /// ms).
    pub rtt: Duration,
    /// The bytes that the link adds to an IP packet (tc-cake(8): none).
    pub overhead: i64,
    /// The smallest size on the link, in bytes (tc-cake(8): none).
    pub mpu: u64,
    /// The framing of the link (tc-cake(8): noatm).
    pub framing: CakeFraming,
    /// Whether the DSCP is cleared after classification (tc-cake(8): nowash).
    pub wash: bool,
    /// The most bytes in all queues; `None`: the bytes of 4 times the rtt, at least 4 MiB (Linux
    /// `cake_reconfigure`).
    pub memlimit: Option<Bytes>,
}

impl Default for CakeConfig {
    fn default() -> Self {
        Self {
            bandwidth: None,
            classes: CakeClasses::default(),
            isolation: CakeIsolation::default(),
            rtt: Duration::from_millis(100),
            overhead: 0,
            mpu: 0,
            framing: CakeFraming::default(),
            wash: false,
            memlimit: None,
        }
    }
}

pub(in crate::queue) const USAGE: &str = "cake bandwidth RATE|unlimited besteffort|diffserv3|diffserv4 flowblind|srchost|dsthost|hosts|flows|dual-srchost|dual-dsthost|triple-isolate rtt TIME|lan|metro|regional|internet|oceanic|satellite overhead BYTES mpu BYTES noatm|atm|ptm wash|nowash memlimit BYTES";

impl CakeConfig {
    /// The most bytes that can wait in the queue whatever the rate: without `memlimit` the smallest
    /// default.
    pub(in super::super) fn buffer(&self) -> Bytes {
        self.memlimit.unwrap_or(MIN_MEMORY)
    }

    pub(in crate::queue) fn read(mut words: Words<'_>) -> Result<Self, QueueConfigError> {
        let mut config = Self::default();
        while let Some(key) = words.key() {
            match key {
                "bandwidth" => {
                    let rate = words.rate(key)?;
                    if rate < MIN_RATE {
                        return Err(words.wrong(&format!("'bandwidth' is {MIN_RATE} or more")));
                    }
                    config.bandwidth = Some(rate);
                }
                "unlimited" => config.bandwidth = None,
                "besteffort" => config.classes = CakeClasses::BestEffort,
                "diffserv3" => config.classes = CakeClasses::Diffserv3,
                "diffserv4" => config.classes = CakeClasses::Diffserv4,
                "rtt" => config.rtt = words.time(key)?,
                "overhead" => {
                    config.overhead = words.value(key)?;
                    if !(MIN_OVERHEAD..=MAX_OVERHEAD).contains(&config.overhead) {
                        return Err(words.wrong("'overhead' is -64 to 256 bytes"));
                    }
                }
                "mpu" => {
                    config.mpu = words.value(key)?;
                    if config.mpu > MAX_OVERHEAD.unsigned_abs() {
                        return Err(words.wrong("'mpu' is 0 to 256 bytes"));
                    }
                }
                "raw" => (config.overhead, config.framing) = (0, CakeFraming::NoAtm),
                "noatm" => config.framing = CakeFraming::NoAtm,
                "atm" => config.framing = CakeFraming::Atm,
                "ptm" => config.framing = CakeFraming::Ptm,
                "wash" => config.wash = true,
                "nowash" => config.wash = false,
                "memlimit" => config.memlimit = Some(words.bytes(key)?),
                // Without effect: there is no address translation, and packets are not aggregated.
                "nat" | "nonat" | "split-gso" | "no-split-gso" | "no-ack-filter" | "egress" => {}
                "precedence"
                | "diffserv8"
                | "ack-filter"
                | "ack-filter-aggressive"
                | "autorate-ingress"
                | "ingress" => {
                    return Err(words.wrong(&format!("'{key}' is not modelled; leave it out")));
                }
                _ => {
                    let rtt = RTTS.iter().find(|(name, _)| *name == key);
                    if let Some(isolation) = CakeIsolation::named(key) {
                        config.isolation = isolation;
                    } else if let Some(&(_, rtt)) = rtt {
                        config.rtt = rtt;
                    } else {
                        return Err(words.unknown(key));
                    }
                }
            }
        }
        Ok(config)
    }

    /// The size of a packet on the link (Linux `cake_calc_overhead`).
    pub(super) fn on_the_wire(&self, size: Bytes) -> Bytes {
        let framed = size.get().saturating_add_signed(self.overhead).max(self.mpu);
        Bytes::new(match self.framing {
            CakeFraming::NoAtm => framed,
            CakeFraming::Atm => framed.div_ceil(48).saturating_mul(53),
            CakeFraming::Ptm => framed.saturating_add(framed.div_ceil(64)),
        })
    }

    /// The most bytes in all queues.
    pub(super) fn memory(&self) -> Bytes {
        let fits =
            self.bandwidth.map_or(MAX_MEMORY, |rate| rate.bytes_in(self.rtt * 4).max(MIN_MEMORY));
        self.memlimit.unwrap_or(fits.min(MAX_MEMORY))
    }
}

impl fmt::Display for CakeConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { bandwidth, classes, isolation, rtt, overhead, mpu, framing, wash, memlimit } =
            self;
        match bandwidth {
            Some(rate) => write!(f, "cake bandwidth {}", Printed(*rate))?,
            None => f.write_str("cake unlimited")?,
        }
        let wash = if *wash { "wash" } else { "nowash" };
        write!(
            f,
            " {classes} {isolation} {wash} rtt {} {framing} overhead {overhead} mpu {mpu}",
            Printed(*rtt)
        )?;
        memlimit.map_or(Ok(()), |limit| write!(f, " memlimit {}", limit.get()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::QueueConfig;

    #[test]
    fn parameters_are_parsed_and_printed() {
        for (text, whole) in [
            (
                "cake",
                "cake unlimited diffserv3 triple-isolate nowash rtt 100ms noatm overhead 0 mpu 0",
            ),
            (
                "cake atm overhead 40 memlimit 32MB wash besteffort dual-dsthost lan mpu 64 bandwidth 20Mbit nat no-split-gso",
                "cake bandwidth 20Mbit besteffort dual-dsthost wash rtt 1ms atm overhead 40 mpu 64 memlimit 32000000",
            ),
            (
                "cake diffserv4 flows rtt 50ms overhead -8",
                "cake unlimited diffserv4 flows nowash rtt 50ms noatm overhead -8 mpu 0",
            ),
        ] {
            let config = text.parse::<QueueConfig>().unwrap();
            assert_eq!(config.to_string(), whole);
            assert_eq!(whole.parse(), Ok(config));
        }
        for (word, isolation) in [
            "flowblind",
            "srchost",
            "dsthost",
            "hosts",
            "flows",
            "dual-srchost",
            "dual-dsthost",
            "triple-isolate",
        ]
        .map(|word| (word, CakeIsolation::named(word).unwrap()))
        {
            assert_eq!(isolation.to_string(), word);
        }
    }

    #[test]
    fn errors_name_the_word_and_suggest_a_fix() {
        let error = |text: &str| text.parse::<QueueConfig>().unwrap_err().to_string();
        for word in ["precedence", "diffserv8", "ack-filter", "autorate-ingress", "ingress"] {
            let start =
                format!("cake: '{word}' is not modelled; leave it out; write 'cake bandwidth RATE");
            assert!(error(&format!("cake bandwidth 1Mbit {word}")).starts_with(&start));
        }
        assert!(
            error("cake bandwidth 500bit").starts_with("cake: 'bandwidth' is 512bit/s or more")
        );
        assert!(error("cake overhead 300").starts_with("cake: 'overhead' is -64 to 256 bytes"));
        assert!(error("cake mpu 300").starts_with("cake: 'mpu' is 0 to 256 bytes"));
        assert!(error("cake limit 300").starts_with("cake: no parameter 'limit'"));
    }

    #[test]
    fn the_wire_adds_overhead_and_frames() {
        let wire = |text: &str, size| match format!("cake {text}").parse() {
            Ok(QueueConfig::Cake(config)) => config.on_the_wire(Bytes::new(size)).get(),
            other => panic!("{other:?}"),
        };
        assert_eq!(wire("", 1_500), 1_500);
        assert_eq!(wire("overhead 38 mpu 84", 40), 84);
        assert_eq!(wire("overhead 38 mpu 84", 1_500), 1_538);
        assert_eq!(wire("overhead 40 atm", 1_500), 33 * 53);
        assert_eq!(wire("overhead 30 ptm", 1_490), 1_520 + 24);
        assert_eq!(wire("overhead 30 ptm raw", 1_490), 1_490);
        assert_eq!(wire("overhead -64", 20), 0);
    }

    #[test]
    fn code_points_have_the_tins_of_linux() {
        let tins = |classes: CakeClasses, tin| -> Vec<u8> {
            (0..64).filter(|&dscp| classes.tin(Dscp(dscp)) == tin).collect()
        };
        assert_eq!(tins(CakeClasses::Diffserv3, 1), [1, 8]);
        assert_eq!(tins(CakeClasses::Diffserv3, 2), [4, 44, 46, 48, 56]);
        assert_eq!(tins(CakeClasses::Diffserv4, 1), [1, 8]);
        assert_eq!(
            tins(CakeClasses::Diffserv4, 2),
            [4, 16, 18, 20, 22, 24, 26, 28, 30, 34, 36, 38]
        );
        assert_eq!(tins(CakeClasses::Diffserv4, 3), [32, 40, 44, 46, 48, 56]);
        assert_eq!(tins(CakeClasses::BestEffort, 0).len(), 64);
    }
}
