//! The VP8 payload descriptor (RFC 7741 § 4.2). The reader of `rtc` refuses packets of less than
//! four bytes, which the last packet of a frame may have.

use bytes::BytesMut;

/// The payload descriptor of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Descriptor {
    /// Whether a frame begins with this packet: the packet starts partition 0.
    pub(crate) begins: bool,
    /// The picture identifier, of 7 or 15 bits.
    pub(crate) picture: Option<u16>,
    /// The size of the descriptor, bytes.
    pub(crate) size: usize,
}

impl Descriptor {
    /// Reads the descriptor; `None` if it is incomplete or if no data follow it.
    pub(crate) fn read(payload: &[u8]) -> Option<Self> {
        let first = *payload.first()?;
        let mut descriptor = Self { begins: first & 0x17 == 0x10, picture: None, size: 1 };
        if first & 0x80 != 0 {
            let fields = *payload.get(1)?;
            descriptor.size = 2;
            if fields & 0x80 != 0 {
                let high = *payload.get(2)?;
                let low = *payload.get(3)?;
                let is_long = high & 0x80 != 0;
                let long = u16::from_be_bytes([high & 0x7f, low]);
                descriptor.picture = Some(if is_long { long } else { high.into() });
                descriptor.size += 1 + usize::from(is_long);
            }
            // TL0PICIDX, and one byte with TID, Y and KEYIDX.
            descriptor.size += usize::from(fields & 0x40 != 0) + usize::from(fields & 0x30 != 0);
        }
        (descriptor.size < payload.len()).then_some(descriptor)
    }

    /// The descriptor of a packet that continues the partition of `payload`: without the S bit.
    pub(crate) fn continued(self, payload: &[u8]) -> BytesMut {
        let mut descriptor = BytesMut::from(&payload[..self.size]);
        descriptor[0] &= !0x10;
        descriptor
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_read_as_in_rfc_7741() {
        let read = |bytes: &[u8]| {
            Descriptor::read(bytes).map(|read| (read.begins, read.picture, read.size))
        };
        assert_eq!(read(&[0x10, 7]), Some((true, None, 1)));
        assert_eq!(read(&[0, 7]), Some((false, None, 1)));
        assert_eq!(read(&[0x11, 7]), Some((false, None, 1)), "another partition");
        assert_eq!(read(&[0x90, 0x80, 0x11, 7]), Some((true, Some(17), 3)));
        assert_eq!(read(&[0x90, 0x80, 0x91, 0x22, 7]), Some((true, Some(0x1122), 4)));
        assert_eq!(read(&[0x90, 0xe0, 0x91, 0x22, 1, 2, 7]), Some((true, Some(0x1122), 6)));
        for short in [&[][..], &[0x10], &[0x90], &[0x90, 0x80, 0x91, 0x22]] {
            assert_eq!(read(short), None, "{short:?}");
        }
        assert_eq!(
            Descriptor::read(&[0x90, 0x80, 0x11, 7]).unwrap().continued(&[0x90, 0x80, 0x11])[..],
            [0x80, 0x80, 0x11]
        );
    }
}
