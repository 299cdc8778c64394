//! HTB's parameters in the syntax of tc.

use super::super::FULL_PACKET;
use super::super::QueueConfig;
use super::super::error::QueueConfigError;
use super::super::filter::Filter;
use super::super::tc_units::Printed;
use super::super::words::Words;
use std::fmt;
use units::{Bitrate, Bytes};

/// The most levels of a tree (Linux: TC_HTB_MAXDEPTH).
pub(crate) const MAX_DEPTH: usize = 8;
/// The number of priorities (Linux: TC_HTB_NUMPRIO).
pub(super) const PRIORITIES: usize = 8;
const LAST_PRIORITY: u8 = 7;
/// The default burst of tc: its `mtu` (tc-htb: 1600 bytes).
const BURST: Bytes = Bytes::new(1_600);
/// The range of a computed quantum, in bytes (Linux `htb_change_class`).
const QUANTUM: [u64; 2] = [1_000, 200_000];

/// HTB: its classes and filters.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct HtbConfig {
    /// The minor number of the class of packets that no filter matches; 0: they bypass the classes.
    pub default: u16,
    /// Divisor that gives a class's quantum from its rate in bytes per second (Linux: 10).
    pub r2q: u32,
    /// The most packets that wait outside the classes, and in a leaf without a queue (Linux: the
    /// device's txqueuelen, 1000).
    pub direct_qlen: u64,
    /// The classes, parents before their children.
    pub classes: Vec<HtbClass>,
    /// The filters at the root, in ascending order of `prio`.
    pub filters: Vec<Filter>,
}

/// A class of HTB.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct HtbClass {
    /// Its minor number.
    pub minor: u16,
    /// The minor number of its parent; `None` at the root.
    pub parent: Option<u16>,
    /// The guaranteed rate.
    pub rate: Bitrate,
    /// The highest rate, with what is borrowed.
    pub ceil: Bitrate,
    /// The bytes that may leave at the ceil without pause.
    pub burst: Bytes,
    /// The bytes that may leave at the speed of the device.
    pub cburst: Bytes,
    /// The priority for spare bandwidth, 0 to 7: the lowest is served first.
    pub prio: u8,
    /// The bytes that it may send per round; `None`: computed from its rate and `r2q`.
    pub quantum: Option<Bytes>,
    /// Bytes added to each packet's size.
    pub overhead: Bytes,
    /// The smallest size that a packet is counted with.
    pub mpu: Bytes,
    /// The queue of a leaf; `None`: a pfifo.
    pub leaf: Option<QueueConfig>,
    /// The filters of an inner class, consulted when a filter above selects it.
    pub filters: Vec<Filter>,
}

pub(crate) const USAGE: &str = "htb default CLASS r2q NUMBER direct_qlen PACKETS";
pub(crate) const CLASS_USAGE: &str = "htb rate RATE ceil RATE prio 0…7 burst BYTES cburst BYTES quantum BYTES overhead BYTES mpu BYTES";

impl HtbConfig {
    /// The most bytes that can wait in the smallest queue of a leaf; `None` if no leaf has a limit.
    pub(in super::super) fn buffer(&self) -> Option<Bytes> {
        let inner = |minor| self.classes.iter().any(|class| class.parent == Some(minor));
        let leaves = self.classes.iter().filter(|class| !inner(class.minor));
        let limits = leaves.map(|leaf| match &leaf.leaf {
            Some(queue) => queue.buffer(Some(leaf.ceil)),
            None => Some(FULL_PACKET * self.direct_qlen),
        });
        limits.flatten().min()
    }

    pub(in super::super) fn read(mut words: Words<'_>) -> Result<Self, QueueConfigError> {
        let mut config = Self {
            default: 0,
            r2q: 10,
            direct_qlen: 1_000,
            classes: Vec::new(),
            filters: Vec::new(),
        };
        while let Some(key) = words.key() {
            match key {
                "default" => {
                    let word = words.word(key)?;
                    // Class numbers are hexadecimal, as in tc.
                    let digits = word.strip_prefix("0x").unwrap_or(word);
                    config.default = u16::from_str_radix(digits, 16)
                        .map_err(|_| words.no_value(word, "default"))?;
                }
                "r2q" => config.r2q = words.positive(key)?,
                "direct_qlen" => config.direct_qlen = words.positive(key)?,
                _ => return Err(words.unknown(key)),
            }
        }
        Ok(config)
    }
}

impl HtbClass {
    pub(in super::super) fn read(
        minor: u16,
        parent: Option<u16>,
        mut words: Words<'_>,
    ) -> Result<Self, QueueConfigError> {
        let (mut rate, mut ceil, mut burst, mut cburst, mut mtu) = (None, None, None, None, BURST);
        let (mut prio, mut quantum, mut overhead, mut mpu) = (0u8, None, Bytes::ZERO, Bytes::ZERO);
        while let Some(key) = words.key() {
            match key {
                "rate" => rate = Some(words.rate(key)?),
                "ceil" => ceil = Some(words.rate(key)?),
                "burst" | "buffer" | "maxburst" => burst = Some(words.bytes(key)?),
                "cburst" | "cbuffer" | "cmaxburst" => cburst = Some(words.bytes(key)?),
                "prio" => prio = words.value(key)?,
                "quantum" => quantum = Some(words.bytes(key)?),
                "overhead" => overhead = words.bytes(key)?,
                "mpu" => mpu = words.bytes(key)?,
                "mtu" => mtu = words.bytes(key)?,
                _ => return Err(words.unknown(key)),
            }
        }
        let Some(rate) = rate else { return Err(words.wrong("'rate' is missing")) };
        let ceil = ceil.unwrap_or(rate);
        if ceil < rate {
            let (rate, ceil) = (Printed(rate), Printed(ceil));
            return Err(words.wrong(&format!("a ceil of {ceil} is below the rate of {rate}")));
        }
        // Linux clamps a higher number to the last priority.
        let prio = prio.min(LAST_PRIORITY);
        let (burst, cburst) = (burst.unwrap_or(mtu), cburst.unwrap_or(mtu));
        let (leaf, filters) = (None, Vec::new());
        Ok(Self {
            minor,
            parent,
            rate,
            ceil,
            burst,
            cburst,
            prio,
            quantum,
            overhead,
            mpu,
            leaf,
            filters,
        })
    }

    /// The bytes that it may send per round.
    pub(in crate::queue) fn quantum(&self, r2q: u32) -> Bytes {
        let [least, most] = QUANTUM;
        let computed = self.rate.as_bps() / 8 / u64::from(r2q.max(1));
        self.quantum.unwrap_or(Bytes::new(computed.clamp(least, most)))
    }
}

impl fmt::Display for HtbConfig {
    /// Prints the discipline without its classes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { default, r2q, direct_qlen, .. } = self;
        write!(f, "htb default {default:x} r2q {r2q} direct_qlen {direct_qlen}")
    }
}

impl fmt::Display for HtbClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rate, ceil, prio, burst, cburst, quantum, overhead, mpu, .. } = self;
        write!(f, "htb rate {} ceil {} prio {prio}", Printed(*rate), Printed(*ceil))?;
        write!(f, " burst {} cburst {}", Printed(*burst), Printed(*cburst))?;
        let options =
            [("quantum", quantum.unwrap_or_default()), ("overhead", *overhead), ("mpu", *mpu)];
        let given = options.into_iter().filter(|&(_, bytes)| bytes > Bytes::ZERO);
        given.into_iter().try_for_each(|(word, bytes)| write!(f, " {word} {}", Printed(bytes)))
    }
}
