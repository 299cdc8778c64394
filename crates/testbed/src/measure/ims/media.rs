//! The media of a session, as an AAR describes them (3GPP TS 29.214 § 5.3).

use super::double::{Refusal, VENDOR};
use crate::diameter::{Avp, DecodeError, Message, code};
use emulator::FlowFilter;
use std::net::{Ipv4Addr, SocketAddrV4};
use units::Bitrate;

/// The kind of a medium (29.214 § 5.3.19).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MediaType {
    Audio,
    Video,
}

/// A medium of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct MediaComponent {
    pub(super) kind: MediaType,
    /// The larger of its two directions' requested bandwidths, which include the headers of IP and
    /// UDP (29.214 § 5.3.14).
    pub(super) bandwidth: Bitrate,
    /// The packets of its flows.
    pub(super) filters: Vec<FlowFilter>,
}

/// What a component and its flows may contain.
const KNOWN: [u32; 6] = [
    code::MEDIA_COMPONENT_NUMBER,
    code::FLOW_STATUS,
    code::CODEC_DATA,
    code::FLOW_NUMBER,
    code::FLOW_USAGE,
    code::AF_APPLICATION_IDENTIFIER,
];

impl MediaComponent {
    /// The media of an AAR.
    pub(super) fn all_of(request: &Message) -> Result<Vec<Self>, Refusal> {
        let components =
            request.avps.iter().filter(|avp| avp.is(code::MEDIA_COMPONENT_DESCRIPTION, VENDOR));
        components.map(Self::read).collect()
    }

    fn read(component: &Avp) -> Result<Self, Refusal> {
        let (mut kind, mut bandwidth, mut filters) = (None, 0, Vec::new());
        for avp in component.avps()? {
            match avp.code {
                code::MEDIA_TYPE => {
                    kind = Some(match avp.as_number()? {
                        0 => MediaType::Audio,
                        1 => MediaType::Video,
                        other => return Err(value(&avp, &other)),
                    });
                }
                code::MAX_BANDWIDTH_DL | code::MAX_BANDWIDTH_UL => {
                    bandwidth = bandwidth.max(avp.as_number()?);
                }
                code::MEDIA_SUB_COMPONENT => {
                    for inner in avp.avps()? {
                        if inner.is(code::FLOW_DESCRIPTION, VENDOR) {
                            filters.push(flow(&inner)?);
                        } else if inner.mandatory && !KNOWN.contains(&inner.code) {
                            return Err(Refusal::Unsupported(inner.code));
                        }
                    }
                }
                code if avp.mandatory && !KNOWN.contains(&code) => {
                    return Err(Refusal::Unsupported(code));
                }
                _ => {}
            }
        }
        let kind = kind.ok_or(DecodeError::Missing(code::MEDIA_TYPE))?;
        Ok(Self { kind, bandwidth: Bitrate::from_bps(bandwidth.into()), filters })
    }
}

fn value(avp: &Avp, value: &dyn std::fmt::Display) -> Refusal {
    Refusal::Value { code: avp.code, value: value.to_string() }
}

/// Reads an IPFilterRule (RFC 6733 § 4.3.1) with one address and port at each end, as 29.214 §
/// 5.3.8 restricts it: `permit out 17 from 10.0.0.6 30181 to 10.0.0.1 51023`.
fn flow(avp: &Avp) -> Result<FlowFilter, Refusal> {
    let text = avp.as_text()?;
    let words: Vec<&str> = text.split_whitespace().collect();
    let ["permit", "in" | "out", "17", "from", source, source_port, "to", target, target_port] =
        words[..]
    else {
        return Err(value(avp, &text));
    };
    let end = |address: &str, port: &str| -> Option<SocketAddrV4> {
        Some(SocketAddrV4::new(address.parse::<Ipv4Addr>().ok()?, port.parse().ok()?))
    };
    let ends = end(source, source_port).zip(end(target, target_port));
    let (from, to) = ends.ok_or_else(|| value(avp, &text))?;
    Ok(FlowFilter { from, to })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(text: &str) -> Result<FlowFilter, Refusal> {
        flow(&Avp::new(code::FLOW_DESCRIPTION, VENDOR, text))
    }

    #[test]
    fn a_flow_has_one_address_and_port_at_each_end() {
        let filter = rule("permit out 17 from 10.0.0.6 30181 to 10.0.0.1 51023").unwrap();
        assert_eq!(filter.to_string(), "udp/10.0.0.6:30181/10.0.0.1:51023");
        for wrong in [
            "deny out 17 from 10.0.0.6 30181 to 10.0.0.1 51023",
            "permit out 6 from 10.0.0.6 30181 to 10.0.0.1 51023",
            "permit out 17 from any to 10.0.0.1 51023",
            "permit out 17 from 10.0.0.6 30181 to 10.0.0.1",
            "permit out 17 from 10.0.0.6 99999 to 10.0.0.1 51023",
        ] {
            let refused = rule(wrong).unwrap_err();
            assert!(refused.to_string().contains(wrong), "{refused}");
        }
    }

    #[test]
    fn unknown_media_are_refused() {
        let number = |code, value: u32| Avp::new(code, VENDOR, value.to_be_bytes());
        let component = |avps: &[Avp]| {
            MediaComponent::read(&Avp::group(code::MEDIA_COMPONENT_DESCRIPTION, VENDOR, avps))
        };
        assert_eq!(
            component(&[number(code::MEDIA_TYPE, 4)]).unwrap_err(),
            Refusal::Value { code: code::MEDIA_TYPE, value: "4".to_owned() }
        );
        let missing = component(&[]).unwrap_err();
        assert_eq!(missing, Refusal::Decode(DecodeError::Missing(code::MEDIA_TYPE)));
        let strange = component(&[number(code::MEDIA_TYPE, 1), number(9_999, 0)]).unwrap_err();
        assert_eq!(strange, Refusal::Unsupported(9_999));
    }
}
