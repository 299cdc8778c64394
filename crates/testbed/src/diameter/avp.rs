//! Attribute-value pairs (RFC 6733 § 4).

use super::DecodeError;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The header without and with a vendor (RFC 6733 § 4.1).
const HEADER: usize = 8;
const VENDOR_HEADER: usize = 12;
const FLAG_VENDOR: u8 = 0x80;
const FLAG_MANDATORY: u8 = 0x40;
/// P, which RFC 6733 § 4.1 reserves for end-to-end security: it has no meaning, and must be 0 when
/// sent. 3GPP TS 29.229 § 6.3 allows it.
const FLAG_PROTECTED: u8 = 0x20;

/// An attribute-value pair.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Avp {
    /// The code.
    pub code: u32,
    /// The vendor whose codes these are; `None` for IETF's.
    pub vendor: Option<u32>,
    /// Whether a receiver that does not know the AVP must refuse the message (flag M).
    pub mandatory: bool,
    /// The value.
    pub data: Vec<u8>,
}

impl Avp {
    /// A mandatory AVP with these bytes.
    #[must_use]
    pub fn new(code: u32, vendor: Option<u32>, data: impl Into<Vec<u8>>) -> Self {
        Self { code, vendor, mandatory: true, data: data.into() }
    }

    /// An AVP of IETF with a text (UTF8String, DiameterIdentity).
    #[must_use]
    pub fn text(code: u32, text: &str) -> Self {
        Self::new(code, None, text)
    }

    /// An AVP of IETF with a number (Unsigned32, Enumerated).
    #[must_use]
    pub fn number(code: u32, value: u32) -> Self {
        Self::new(code, None, value.to_be_bytes())
    }

    /// An AVP with an address (Address: the address family, then the address).
    #[must_use]
    pub fn address(code: u32, address: Ipv4Addr) -> Self {
        let mut data = vec![0, 1];
        data.extend(address.octets());
        Self::new(code, None, data)
    }

    /// An AVP that contains others.
    #[must_use]
    pub fn group(code: u32, vendor: Option<u32>, avps: &[Self]) -> Self {
        let mut data = Vec::new();
        avps.iter().for_each(|avp| avp.encode(&mut data));
        Self::new(code, vendor, data)
    }

    /// Whether it has this code and vendor.
    #[must_use]
    pub fn is(&self, code: u32, vendor: Option<u32>) -> bool {
        self.code == code && self.vendor == vendor
    }

    /// Its number.
    ///
    /// # Errors
    /// If it does not have four bytes.
    pub fn as_number(&self) -> Result<u32, DecodeError> {
        let bytes = self.data.as_slice().try_into();
        bytes.map(u32::from_be_bytes).map_err(|_| self.wrong("a number of 4 bytes"))
    }

    /// Its text.
    ///
    /// # Errors
    /// If it is not UTF-8.
    pub fn as_text(&self) -> Result<&str, DecodeError> {
        std::str::from_utf8(&self.data).map_err(|_| self.wrong("UTF-8"))
    }

    /// Its address: an Address with its family, or the bytes of an IPv4 address alone
    /// (Framed-IP-Address, RFC 2865 § 5.8).
    ///
    /// # Errors
    /// If it is none of these.
    pub fn as_address(&self) -> Result<IpAddr, DecodeError> {
        match *self.data.as_slice() {
            [a, b, c, d] | [0, 1, a, b, c, d] => Ok(Ipv4Addr::new(a, b, c, d).into()),
            [0, 2, ref rest @ ..] => {
                let octets: Result<[u8; 16], _> = rest.try_into();
                let octets = octets.map_err(|_| self.wrong("an address"))?;
                Ok(Ipv6Addr::from(octets).into())
            }
            _ => Err(self.wrong("an address")),
        }
    }

    /// The AVPs that it contains.
    ///
    /// # Errors
    /// If its value is not a sequence of AVPs.
    pub fn avps(&self) -> Result<Vec<Self>, DecodeError> {
        Self::decode_all(&self.data)
    }

    fn wrong(&self, expected: &'static str) -> DecodeError {
        DecodeError::Value { code: self.code, length: self.data.len(), expected }
    }

    /// Appends its bytes with padding.
    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        let header = if self.vendor.is_some() { VENDOR_HEADER } else { HEADER };
        let flags = if self.vendor.is_some() { FLAG_VENDOR } else { 0 }
            | if self.mandatory { FLAG_MANDATORY } else { 0 };
        let length = u32::try_from(header + self.data.len()).unwrap_or(u32::MAX);
        out.extend(self.code.to_be_bytes());
        out.push(flags);
        out.extend(&length.to_be_bytes()[1..]);
        out.extend(self.vendor.into_iter().flat_map(u32::to_be_bytes));
        out.extend(&self.data);
        out.resize(out.len().next_multiple_of(4), 0);
    }

    /// Reads AVPs up to the end of the bytes.
    pub(super) fn decode_all(mut bytes: &[u8]) -> Result<Vec<Self>, DecodeError> {
        let mut avps = Vec::new();
        while !bytes.is_empty() {
            let (avp, rest) = Self::decode(bytes)?;
            avps.push(avp);
            bytes = rest;
        }
        Ok(avps)
    }

    fn decode(bytes: &[u8]) -> Result<(Self, &[u8]), DecodeError> {
        let room = bytes.len();
        let Some((&[a, b, c, d, flags, l2, l1, l0], body)) = bytes.split_first_chunk::<HEADER>()
        else {
            return Err(DecodeError::AvpLength { code: 0, length: 0, room });
        };
        let (code, length) =
            (u32::from_be_bytes([a, b, c, d]), u32::from_be_bytes([0, l2, l1, l0]));
        let wrong = DecodeError::AvpLength { code, length, room };
        if flags & !(FLAG_VENDOR | FLAG_MANDATORY | FLAG_PROTECTED) != 0 {
            return Err(DecodeError::Flags(flags));
        }
        let (vendor, header, body) = if flags & FLAG_VENDOR == 0 {
            (None, HEADER, body)
        } else {
            let (vendor, body) = body.split_first_chunk().ok_or(wrong)?;
            (Some(u32::from_be_bytes(*vendor)), VENDOR_HEADER, body)
        };
        let size = (length as usize).checked_sub(header).ok_or(wrong)?;
        let (data, rest) = body.split_at_checked(size).ok_or(wrong)?;
        let padding = size.next_multiple_of(4) - size;
        let (padding, rest) = rest.split_at_checked(padding).ok_or(wrong)?;
        if padding.iter().any(|byte| *byte != 0) {
            return Err(DecodeError::Padding(code));
        }
        let mandatory = flags & FLAG_MANDATORY != 0;
        Ok((Self { code, vendor, mandatory, data: data.to_vec() }, rest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diameter::VENDOR_3GPP;

    fn bytes(avp: &Avp) -> Vec<u8> {
        let mut out = Vec::new();
        avp.encode(&mut out);
        out
    }

    #[test]
    fn the_length_excludes_the_padding() {
        let avp = Avp::text(264, "hss.i");
        let expected = [0, 0, 1, 8, 0x40, 0, 0, 13, b'h', b's', b's', b'.', b'i', 0, 0, 0];
        assert_eq!(bytes(&avp), expected);
        assert_eq!(Avp::decode_all(&expected).unwrap(), [avp]);
    }

    #[test]
    fn a_vendor_follows_the_length() {
        let avp = Avp::new(601, Some(VENDOR_3GPP), "sip:a");
        let encoded = bytes(&avp);
        assert_eq!(encoded[..12], [0, 0, 2, 89, 0xc0, 0, 0, 17, 0, 0, 0x28, 0xaf]);
        assert_eq!(Avp::decode_all(&encoded).unwrap(), [avp]);
    }

    #[test]
    fn groups_contain_avps() {
        let inner = [Avp::number(266, VENDOR_3GPP), Avp::number(298, 2_001)];
        let group = Avp::group(297, None, &inner);
        assert_eq!(group.avps().unwrap(), inner);
        assert_eq!(group.avps().unwrap()[1].as_number(), Ok(2_001));
        assert!(Avp::text(1, "alice").avps().is_err());
    }

    #[test]
    fn addresses_have_a_family_unless_they_are_framed() {
        let alice = Ipv4Addr::new(10, 0, 0, 1);
        assert_eq!(Avp::address(257, alice).as_address(), Ok(alice.into()));
        assert_eq!(Avp::new(8, None, alice.octets()).as_address(), Ok(alice.into()));
        assert!(Avp::text(8, "alice").as_address().is_err());
    }

    #[test]
    fn malformed_avps_are_refused() {
        let good = bytes(&Avp::text(1, "alice"));
        let changed = |at: usize, value: u8| {
            let mut bytes = good.clone();
            bytes[at] = value;
            Avp::decode_all(&bytes).unwrap_err()
        };
        assert_eq!(changed(4, 0x41), DecodeError::Flags(0x41));
        let length = |length| DecodeError::AvpLength { code: 1, length, room: 16 };
        assert_eq!(changed(7, 7), length(7));
        assert_eq!(changed(7, 17), length(17));
        assert_eq!(changed(15, 1), DecodeError::Padding(1));
        assert!(Avp::decode_all(&good[..15]).is_err());
    }
}
