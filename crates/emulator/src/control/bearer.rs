//! The description of a dedicated bearer in a request.

use net::{BearerConfig, Field, Filter, HostId, Match, RlcMode};
use std::fmt;
use std::net::SocketAddrV4;
use std::str::FromStr;
use units::{Bitrate, ParseError};

/// IANA's number of UDP.
const UDP: u32 = 17;

/// Why the description of a bearer cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BearerRequestError {
    /// A word has no known key.
    #[error("'{0}' does not describe a bearer; write qci=N, gbr=RATE, rlc=am|um or filter=FILTER")]
    Unknown(String),
    /// The QCI is not a number.
    #[error("'{0}' is not a QCI; write 1 to 9")]
    Qci(String),
    /// The RLC mode is unknown.
    #[error("'{0}' is not an RLC mode; write am or um")]
    Rlc(String),
    /// The guaranteed bit rate cannot be read.
    #[error(transparent)]
    Gbr(#[from] ParseError),
    /// A filter cannot be read.
    #[error("'{0}' is not a filter; write udp/SOURCE:PORT/DESTINATION:PORT with IPv4 addresses")]
    Filter(String),
    /// A filter does not concern the host of the bearer.
    #[error("the filter '{0}' selects no packet of the host; one of its addresses must be {1}")]
    Foreign(FlowFilter, std::net::Ipv4Addr),
    /// There is no filter.
    #[error("the bearer has no filter; add filter=udp/SOURCE:PORT/DESTINATION:PORT")]
    NoFilter,
    /// The number of a bearer cannot be read.
    #[error("'{0}' is not the number of a bearer; write the number that its establishment gave")]
    Number(String),
}

/// The UDP packets from one address and port to another: a packet filter of a traffic flow template
/// (24.008 § 10.5.6.12). Written as `udp/10.0.0.6:30000/10.0.0.1:5000`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowFilter {
    /// The source.
    pub from: SocketAddrV4,
    /// The destination.
    pub to: SocketAddrV4,
}

impl fmt::Display for FlowFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "udp/{}/{}", self.from, self.to)
    }
}

impl FromStr for FlowFilter {
    type Err = BearerRequestError;

    fn from_str(text: &str) -> Result<Self, BearerRequestError> {
        let wrong = || BearerRequestError::Filter(text.to_owned());
        let ends = text.strip_prefix("udp/").and_then(|ends| ends.split_once('/'));
        let (from, to) = ends.ok_or_else(wrong)?;
        let address = |text: &str| text.parse().map_err(|_| wrong());
        Ok(Self { from: address(from)?, to: address(to)? })
    }
}

impl FlowFilter {
    fn filter(self) -> Filter {
        let exact = |field, value, mask| Match { field, value, mask };
        let matches = vec![
            exact(Field::Protocol, UDP, 0xff),
            exact(Field::Src, self.from.ip().to_bits(), u32::MAX),
            exact(Field::Dst, self.to.ip().to_bits(), u32::MAX),
            exact(Field::SrcPort, self.from.port().into(), 0xffff),
            exact(Field::DstPort, self.to.port().into(), 0xffff),
        ];
        // The numbers order classes of a queue, which a bearer is not.
        Filter { prio: 1, ipv6: Some(false), matches, class: 0 }
    }
}

/// Reads the words that describe a bearer of this host.
pub(super) fn parse(host: HostId, words: &[&str]) -> Result<BearerConfig, BearerRequestError> {
    let mut bearer = BearerConfig::default();
    let own = host.address();
    for word in words {
        match word.split_once('=') {
            Some(("qci", number)) => {
                let wrong = |_| BearerRequestError::Qci(number.to_owned());
                bearer.qci = number.parse().map_err(wrong)?;
            }
            Some(("gbr", rate)) => bearer.gbr = Some(rate.parse::<Bitrate>()?),
            Some(("rlc", "am")) => bearer.rlc = RlcMode::Acknowledged,
            Some(("rlc", "um")) => bearer.rlc = RlcMode::Unacknowledged,
            Some(("rlc", mode)) => return Err(BearerRequestError::Rlc(mode.to_owned())),
            Some(("filter", text)) => {
                let filter: FlowFilter = text.parse()?;
                if *filter.from.ip() != own && *filter.to.ip() != own {
                    return Err(BearerRequestError::Foreign(filter, own));
                }
                bearer.filters.push(filter.filter());
            }
            _ => return Err(BearerRequestError::Unknown((*word).to_owned())),
        }
    }
    if bearer.filters.is_empty() {
        return Err(BearerRequestError::NoFilter);
    }
    Ok(bearer)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALICE: HostId = HostId(0);

    fn read(text: &str) -> Result<BearerConfig, BearerRequestError> {
        parse(ALICE, &text.split_whitespace().collect::<Vec<_>>())
    }

    #[test]
    fn a_bearer_has_a_class_a_rate_and_filters() {
        let text = "qci=2 gbr=2500kbit/s rlc=um filter=udp/10.0.0.6:30000/10.0.0.1:5000 \
                    filter=udp/10.0.0.1:5000/10.0.0.6:30000";
        let bearer = read(text).unwrap();
        assert_eq!((bearer.qci, bearer.rlc), (2, RlcMode::Unacknowledged));
        assert_eq!(bearer.gbr, Some(Bitrate::from_kbps(2_500)));
        let [down, up] = &bearer.filters[..] else { panic!("{bearer:?}") };
        let values =
            |filter: &Filter| -> Vec<u32> { filter.matches.iter().map(|one| one.value).collect() };
        assert_eq!(values(down), [17, 0x0a00_0006, 0x0a00_0001, 30_000, 5_000]);
        assert_eq!(values(up), [17, 0x0a00_0001, 0x0a00_0006, 5_000, 30_000]);
    }

    #[test]
    fn an_invalid_description_is_refused_with_a_fix() {
        for (text, expected) in [
            ("qci=video", "'video' is not a QCI; write 1 to 9"),
            ("gbr=fast", "'fast' is not a rate"),
            ("rlc=tm", "write am or um"),
            ("filter=tcp/10.0.0.6:1/10.0.0.1:2", "is not a filter"),
            ("filter=udp/10.0.0.6/10.0.0.1:2", "is not a filter"),
            ("filter=udp/10.0.0.6:1/10.0.0.7:2", "must be 10.0.0.1"),
            ("qci=2 colour=red", "'colour=red' does not describe a bearer"),
            ("qci=2", "has no filter"),
        ] {
            let error = read(text).unwrap_err().to_string();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }
}
