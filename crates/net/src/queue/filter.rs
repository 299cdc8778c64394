//! Filters: they select the class of a packet by address, port, protocol and DSCP (tc-u32,
//! tc-flower, tc-matchall).

use super::error::QueueConfigError;
use super::tc_units::UnitSystem;
use super::words::Words;
use crate::packet::{Ecn, Packet, Protocol};
use std::fmt;
use std::net::Ipv4Addr;

/// A field of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum Field {
    /// The byte of DSCP and ECN (RFC 2474, RFC 3168).
    Tos,
    /// The IANA protocol number.
    Protocol,
    /// The source address.
    Src,
    /// The destination address.
    Dst,
    /// The source port.
    SrcPort,
    /// The destination port.
    DstPort,
}

/// A condition: a field has a value under a mask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Match {
    /// The field.
    pub field: Field,
    /// The value.
    pub value: u32,
    /// The bits that are compared.
    pub mask: u32,
}

/// Assigns packets that meet all conditions to a class. The first matching filter decides.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Filter {
    /// The priority: filters with lower numbers are consulted first.
    pub prio: u16,
    /// `true`: IPv6 only; `false`: IPv4 only; `None`: both.
    pub ipv6: Option<bool>,
    /// The conditions; an empty list matches every packet.
    pub matches: Vec<Match>,
    /// The minor number of the class; 0: the packet bypasses the classes.
    pub class: u16,
}

impl Match {
    fn fits(&self, packet: &Packet) -> bool {
        (self.field.of(packet) ^ self.value) & self.mask == 0
    }

    /// The field's keyword in u32, and the field's largest value.
    const fn words(self) -> (&'static str, u32) {
        match self.field {
            Field::Tos => ("dsfield", 0xff),
            Field::Protocol => ("protocol", 0xff),
            Field::Src => ("src", u32::MAX),
            Field::Dst => ("dst", u32::MAX),
            Field::SrcPort => ("sport", 0xffff),
            Field::DstPort => ("dport", 0xffff),
        }
    }
}

impl Field {
    fn of(self, packet: &Packet) -> u32 {
        let flow = &packet.flow;
        match self {
            Self::Tos => {
                let ecn = match packet.ecn {
                    Ecn::NotEct => 0,
                    Ecn::Ect1 => 1,
                    Ecn::Ect0 => 2,
                    Ecn::Ce => 3,
                };
                u32::from(packet.dscp.0) << 2 | ecn
            }
            Self::Protocol => match flow.protocol {
                Protocol::Tcp => 6,
                Protocol::Udp => 17,
                Protocol::Other(number) => number.into(),
            },
            Self::Src => flow.src.address().to_bits(),
            Self::Dst => flow.dst.address().to_bits(),
            Self::SrcPort => flow.src_port.into(),
            Self::DstPort => flow.dst_port.into(),
        }
    }
}

impl Filter {
    /// Whether the packet meets all conditions.
    pub(crate) fn fits(&self, packet: &Packet) -> bool {
        self.ipv6.is_none_or(|ipv6| ipv6 == packet.ipv6)
            && self.matches.iter().all(|one| one.fits(packet))
    }
}

/// The class of a packet; `None` if no filter matches.
pub(super) fn classify(filters: &[Filter], packet: &Packet) -> Option<u16> {
    filters.iter().find(|filter| filter.fits(packet)).map(|filter| filter.class)
}

/// Prints the syntax of tc-u32, which can express every filter.
impl fmt::Display for Filter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.matches.is_empty() {
            return f.write_str("matchall");
        }
        let ipv6 = self.ipv6 == Some(true);
        let ip = if ipv6 { "ip6" } else { "ip" };
        f.write_str("u32")?;
        for one in &self.matches {
            let Match { field, value, mask } = *one;
            let word = match one.words().0 {
                "dsfield" if ipv6 => "priority",
                word => word,
            };
            match field {
                Field::Src | Field::Dst => {
                    write!(
                        f,
                        " match {ip} {word} {}/{}",
                        Ipv4Addr::from_bits(value),
                        mask.leading_ones()
                    )?;
                }
                Field::Tos => write!(f, " match {ip} {word} {value:#04x} {mask:#04x}")?,
                _ => write!(f, " match {ip} {word} {value} {mask:#x}")?,
            }
        }
        Ok(())
    }
}

const U32: &str = "u32 match ip dsfield 0xb8 0xfc match ip protocol 17 0xff match ip sport|dport PORT 0xffff match ip src|dst ADDRESS/LENGTH flowid CLASS";
const FLOWER: &str = "flower ip_tos 0xb8/0xfc ip_proto udp src_ip|dst_ip ADDRESS/LENGTH src_port|dst_port PORT classid CLASS";
const MATCHALL: &str = "matchall classid CLASS";

/// Parses the words of a classifier: returns the conditions, and the class as it is written.
pub(super) fn read<'a>(
    words: &'a [&'a str],
    ipv6: bool,
) -> Result<(Vec<Match>, &'a str), QueueConfigError> {
    let [kind, ..] = words else {
        return Err(QueueConfigError::new(format!("a filter needs a classifier; write '{U32}'")));
    };
    let (usage, next): (_, Reading) = match *kind {
        "u32" => (U32, u32_match),
        "flower" => (FLOWER, flower_match),
        "matchall" => (MATCHALL, |words, key, _| Err(words.unknown(key))),
        other => {
            let reason = format!(
                "no classifier '{other}'; write it as '{U32}', as 'flower …' or as 'matchall': firewall marks, cgroups and BPF programs are not modelled"
            );
            return Err(QueueConfigError::new(reason));
        }
    };
    let mut words = Words::new(words, UnitSystem::Tc, usage);
    let (mut matches, mut class) = (Vec::new(), None);
    while let Some(key) = words.key() {
        match key {
            "flowid" | "classid" => class = Some(words.word(key)?),
            _ => matches.extend(next(&mut words, key, ipv6)?),
        }
    }
    let class = class.ok_or_else(|| words.wrong("'flowid' is missing"))?;
    if *kind == "u32" && matches.is_empty() {
        return Err(words.wrong("'match' is missing"));
    }
    Ok((matches, class))
}

type Reading = for<'a> fn(&mut Words<'a>, &'a str, bool) -> Result<Option<Match>, QueueConfigError>;

fn u32_match<'a>(
    words: &mut Words<'a>,
    key: &'a str,
    ipv6: bool,
) -> Result<Option<Match>, QueueConfigError> {
    if key != "match" {
        return Err(words.unknown(key));
    }
    let ip = words.word("match")?;
    if ip != if ipv6 { "ip6" } else { "ip" } {
        let reason = match ip {
            "u8" | "u16" | "u32" => {
                "a match at an offset is not supported; leave this filter out, or name the field"
            }
            _ if ipv6 => "a filter for 'protocol ipv6' needs 'match ip6'",
            _ => "only 'match ip' is supported",
        };
        return Err(words.wrong(&format!("'match {ip}': {reason}")));
    }
    let name = words.word(ip)?;
    let field = match name {
        "dsfield" | "tos" | "priority" => Field::Tos,
        "protocol" => Field::Protocol,
        "src" => return address(words, name, Field::Src, ipv6).map(Some),
        "dst" => return address(words, name, Field::Dst, ipv6).map(Some),
        "sport" => Field::SrcPort,
        "dport" => Field::DstPort,
        other => return Err(words.wrong(&format!("'match {ip} {other}' is not supported"))),
    };
    let value = number(words, name, integer)?;
    let mask = number(words, name, hexadecimal)?;
    checked(words, name, Match { field, value, mask }).map(Some)
}

fn flower_match<'a>(
    words: &mut Words<'a>,
    key: &'a str,
    ipv6: bool,
) -> Result<Option<Match>, QueueConfigError> {
    let field = match key {
        "ip_tos" => Field::Tos,
        "ip_proto" => Field::Protocol,
        "src_ip" => return address(words, key, Field::Src, ipv6).map(Some),
        "dst_ip" => return address(words, key, Field::Dst, ipv6).map(Some),
        "src_port" => Field::SrcPort,
        "dst_port" => Field::DstPort,
        _ => return Err(words.unknown(key)),
    };
    let word = words.word(key)?;
    let named = match (field, word) {
        (Field::Protocol, "tcp") => Some(6),
        (Field::Protocol, "udp") => Some(17),
        (Field::Protocol, "icmp") => Some(1),
        _ => None,
    };
    let whole = Match { field, value: 0, mask: 0 }.words().1;
    // The byte of DSCP and ECN may be hexadecimal without `0x`.
    let number = |word| {
        if field == Field::Tos {
            integer(word).or_else(|| hexadecimal(word))
        } else {
            integer(word)
        }
    };
    let (value, mask) = match (named, word.split_once('/')) {
        (Some(value), _) => (Some(value), Some(whole)),
        (None, Some((value, mask))) => (number(value), hexadecimal(mask)),
        (None, None) => (number(word), Some(whole)),
    };
    let (Some(value), Some(mask)) = (value, mask) else {
        return Err(words.no_value(word, key));
    };
    checked(words, key, Match { field, value, mask }).map(Some)
}

fn checked(words: &Words<'_>, name: &str, one: Match) -> Result<Match, QueueConfigError> {
    let width = one.words().1;
    if one.value > width || one.mask > width {
        return Err(words.wrong(&format!("'{name}' is {width:#x} at most")));
    }
    Ok(Match { value: one.value & one.mask, ..one })
}

/// An address and its prefix length: `10.0.0.1/32`.
fn address(
    words: &mut Words<'_>,
    name: &str,
    field: Field,
    ipv6: bool,
) -> Result<Match, QueueConfigError> {
    let word = words.word(name)?;
    if ipv6 {
        return Err(words.wrong(&format!(
            "'{word}': filters by IPv6 address are not supported; leave this filter out"
        )));
    }
    let (text, length) = match word.split_once('/') {
        Some((text, length)) => (text, length.parse().ok()),
        None => (word, Some(32)),
    };
    let (Ok(address), Some(length @ 0..=32)) = (text.parse::<Ipv4Addr>(), length) else {
        return Err(words.no_value(word, name));
    };
    let mask = u32::MAX.checked_shl(32 - length).unwrap_or(0);
    Ok(Match { field, value: address.to_bits() & mask, mask })
}

fn number(
    words: &mut Words<'_>,
    name: &str,
    read: impl Fn(&str) -> Option<u32>,
) -> Result<u32, QueueConfigError> {
    let word = words.word(name)?;
    read(word).ok_or_else(|| words.no_value(word, name))
}

/// Decimal, or hexadecimal after `0x`.
fn integer(word: &str) -> Option<u32> {
    if word.starts_with("0x") || word.starts_with("0X") {
        hexadecimal(word)
    } else {
        word.parse().ok()
    }
}

/// Hexadecimal with or without `0x`, as tc reads masks.
fn hexadecimal(word: &str) -> Option<u32> {
    let digits = word.strip_prefix("0x").or_else(|| word.strip_prefix("0X")).unwrap_or(word);
    u32::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Dscp;

    #[test]
    fn a_filter_for_one_ip_version_does_not_match_the_other() {
        let tos = Match { field: Field::Tos, value: 0xb8, mask: 0xfc };
        let filter = |ipv6, matches: &[Match], class| Filter {
            prio: 1,
            ipv6,
            matches: matches.to_vec(),
            class,
        };
        let filters =
            [filter(Some(false), &[tos], 4), filter(Some(true), &[tos], 6), filter(None, &[], 1)];
        let class = |ipv6, dscp| classify(&filters, &Packet { ipv6, dscp, ..Packet::default() });
        assert_eq!([class(false, Dscp::EF), class(true, Dscp::EF)], [Some(4), Some(6)]);
        assert_eq!([class(false, Dscp::DEFAULT), class(true, Dscp::DEFAULT)], [Some(1), Some(1)]);
    }
}
