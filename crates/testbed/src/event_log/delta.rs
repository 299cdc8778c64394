//! Columns of a batch: the value of each further event as the difference from the event before, all
//! differences with the same number of bits (libwebrtc
//! `logging/rtc_event_log/encoder/delta_encoding.cc`); and byte strings one after the other
//! (`blob_encoding.cc`).

/// Why a column cannot be decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DeltaError {
    /// The header names an encoding that does not exist.
    #[error("encoding {0} does not exist; there are 0 and 1")]
    Encoding(u64),
    /// A difference has more bits than a value.
    #[error("differences of {delta} bits are wider than values of {value} bits")]
    Widths {
        /// Bits per difference.
        delta: u32,
        /// Bits per value.
        value: u32,
    },
    /// The column ends too early.
    #[error("the column ends after {bits} bits, before its last value")]
    Cut {
        /// Its length.
        bits: usize,
    },
    /// A batch has more events than libwebrtc keeps.
    #[error("{count} events in one batch; at most {allowed} are allowed")]
    TooMany {
        /// The number of further events.
        count: u32,
        /// The greatest number.
        allowed: u32,
    },
    /// A value does not fit its field.
    #[error("{0} is out of range")]
    Range(u64),
    /// A value that every event must have is missing.
    #[error("a value is missing")]
    Missing,
}

/// Bits of the header fields: encoding, and each width minus one.
const ENCODING_BITS: u32 = 2;
const WIDTH_BITS: u32 = 6;
/// The most bytes of a variable-length integer of 64 bits (Protocol Buffers encoding: 7 bits per
/// byte).
const MAX_VARINT_BYTES: u32 = 10;

/// Bits of a byte string, the most significant bit of each byte first.
struct Bits<'a> {
    bytes: &'a [u8],
    position: usize,
}

impl Bits<'_> {
    fn read(&mut self, count: u32) -> Result<u64, DeltaError> {
        let mut value = 0u64;
        let mut left = count;
        while left > 0 {
            let byte = self.bytes.get(self.position / 8);
            let byte = *byte.ok_or(DeltaError::Cut { bits: 8 * self.bytes.len() })?;
            let offset = (self.position % 8) as u32;
            let taken = left.min(8 - offset);
            let part = (byte << offset) >> (8 - taken);
            value = value << (taken % 64) | u64::from(part);
            self.position += taken as usize;
            left -= taken;
        }
        Ok(value)
    }

    fn read_bool(&mut self) -> Result<bool, DeltaError> {
        Ok(self.read(1)? == 1)
    }

    /// A variable-length integer as in Protocol Buffers, not aligned to bytes.
    fn read_varint(&mut self) -> Result<u64, DeltaError> {
        let mut value = 0u64;
        for index in 0..MAX_VARINT_BYTES {
            let byte = self.read(8)?;
            value |= (byte & 0x7f).checked_shl(7 * index).unwrap_or(0);
            if byte < 0x80 {
                break;
            }
        }
        Ok(value)
    }
}

fn mask(width: u32) -> u64 {
    u64::MAX >> (64 - width)
}

/// The values of `count` further events after one with the value `base`. An empty column means that
/// all have that value.
pub(super) fn decode_deltas(
    column: &[u8],
    base: Option<u64>,
    count: usize,
) -> Result<Vec<Option<u64>>, DeltaError> {
    if column.is_empty() {
        return Ok(vec![base; count]);
    }
    let mut bits = Bits { bytes: column, position: 0 };
    let encoding = bits.read(ENCODING_BITS)?;
    let mut width = || Ok(bits.read(WIDTH_BITS)? as u32 + 1);
    let delta_width = width()?;
    let (signed, optional, value_width) = match encoding {
        0 => (false, false, 64),
        1 => (bits.read_bool()?, bits.read_bool()?, bits.read(WIDTH_BITS)? as u32 + 1),
        other => return Err(DeltaError::Encoding(other)),
    };
    if delta_width > value_width {
        return Err(DeltaError::Widths { delta: delta_width, value: value_width });
    }
    let exists = if optional {
        (0..count).map(|_| bits.read_bool()).collect::<Result<Vec<_>, _>>()?
    } else {
        vec![true; count]
    };
    let mut previous = base;
    let values = exists.into_iter().map(|exists| {
        if !exists {
            return Ok(None);
        }
        let value = match previous {
            // Without a base, the first value is written in full.
            None => bits.read_varint()?,
            Some(previous) => {
                let delta = bits.read(delta_width)?;
                let is_negative = signed && delta >> (delta_width - 1) == 1;
                // Two's complement of `delta_width` bits.
                let delta = if is_negative { delta | !mask(delta_width) } else { delta };
                previous.wrapping_add(delta) & mask(value_width)
            }
        };
        previous = Some(value);
        Ok(previous)
    });
    values.collect()
}

/// `count` byte strings: the length of each, then the bytes of each.
pub(super) fn decode_blobs(column: &[u8], count: usize) -> Result<Vec<&[u8]>, DeltaError> {
    let mut bits = Bits { bytes: column, position: 0 };
    let lengths = (0..count).map(|_| bits.read_varint()).collect::<Result<Vec<_>, _>>()?;
    let mut rest = &column[bits.position / 8..];
    let blobs = lengths.into_iter().map(|length| {
        let cut = DeltaError::Cut { bits: 8 * column.len() };
        let length = usize::try_from(length).map_err(|_| cut)?;
        let (blob, after) = rest.split_at_checked(length).ok_or(cut)?;
        rest = after;
        Ok(blob)
    });
    blobs.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Writes bits, the most significant first.
    #[derive(Default)]
    struct Writer {
        bits: Vec<bool>,
    }

    impl Writer {
        fn write(mut self, value: u64, count: u32) -> Self {
            self.bits.extend((0..count).rev().map(|bit| value >> bit & 1 == 1));
            self
        }

        fn bytes(&self) -> Vec<u8> {
            let byte = |bits: &[bool]| {
                let bit = |(place, bit): (usize, &bool)| u8::from(*bit) << (7 - place);
                bits.iter().enumerate().map(bit).sum()
            };
            self.bits.chunks(8).map(byte).collect()
        }
    }

    fn header(signed: bool, optional: bool, delta: u32, value: u32) -> Writer {
        Writer::default()
            .write(1, 2)
            .write(u64::from(delta - 1), 6)
            .write(u64::from(signed), 1)
            .write(u64::from(optional), 1)
            .write(u64::from(value - 1), 6)
    }

    fn some(values: &[u64]) -> Vec<Option<u64>> {
        values.iter().copied().map(Some).collect()
    }

    #[test]
    fn an_empty_column_repeats_the_base() {
        assert_eq!(decode_deltas(&[], Some(7), 3), Ok(some(&[7, 7, 7])));
        assert_eq!(decode_deltas(&[], None, 2), Ok(vec![None, None]));
    }

    #[test]
    fn the_short_header_has_unsigned_differences() {
        // Encoding 0, 3 bits per difference: 1, 0, 7.
        let column = Writer::default().write(0, 2).write(2, 6).write(1, 3).write(0, 3).write(7, 3);
        assert_eq!(decode_deltas(&column.bytes(), Some(100), 3), Ok(some(&[101, 101, 108])));
    }

    #[test]
    fn values_wrap_at_their_width() {
        // 16-bit sequence numbers: 65,534 + 1 + 1 + 2.
        let column = header(false, false, 2, 16).write(1, 2).write(1, 2).write(2, 2);
        assert_eq!(decode_deltas(&column.bytes(), Some(65_534), 3), Ok(some(&[65_535, 0, 2])));
    }

    #[test]
    fn signed_differences_are_in_twos_complement() {
        // −4, +3, −1 in 3 bits.
        let column = header(true, false, 3, 16).write(4, 3).write(3, 3).write(7, 3);
        assert_eq!(decode_deltas(&column.bytes(), Some(10), 3), Ok(some(&[6, 9, 8])));
        // Below zero the value wraps.
        let column = header(true, false, 3, 16).write(4, 3);
        assert_eq!(decode_deltas(&column.bytes(), Some(1), 1), Ok(some(&[65_533])));
        // The widest difference.
        let column = header(true, false, 64, 64).write(u64::MAX, 64);
        assert_eq!(decode_deltas(&column.bytes(), Some(1), 1), Ok(some(&[0])));
    }

    #[test]
    fn missing_values_are_in_a_bitmap_and_the_first_without_a_base_is_in_full() {
        let column = header(false, true, 2, 16).write(0b101, 3).write(1, 2).write(3, 2);
        let expected = Ok(vec![Some(6), None, Some(9)]);
        assert_eq!(decode_deltas(&column.bytes(), Some(5), 3), expected);
        // 300 as a variable-length integer: 0xac 0x02.
        let column = header(false, true, 2, 16).write(0b011, 3).write(0xac02, 16).write(3, 2);
        let expected = Ok(vec![None, Some(300), Some(303)]);
        assert_eq!(decode_deltas(&column.bytes(), None, 3), expected);
    }

    #[test]
    fn damaged_columns_are_refused() {
        let cut = header(false, false, 8, 16).write(1, 8).bytes();
        assert_eq!(decode_deltas(&cut, Some(0), 2), Err(DeltaError::Cut { bits: 24 }));
        assert_eq!(decode_deltas(&[0x80], Some(0), 1), Err(DeltaError::Encoding(2)));
        let wide = header(false, false, 9, 8).write(0, 64).bytes();
        let expected = Err(DeltaError::Widths { delta: 9, value: 8 });
        assert_eq!(decode_deltas(&wide, Some(0), 1), expected);
    }

    #[test]
    fn blobs_are_their_lengths_and_then_their_bytes() {
        let blobs = decode_blobs(b"\x02\x00\x03abcde", 3);
        assert_eq!(blobs, Ok(vec![&b"ab"[..], b"", b"cde"]));
        assert_eq!(decode_blobs(b"\x02\x04abcde", 2), Err(DeltaError::Cut { bits: 56 }));
        assert_eq!(decode_blobs(b"\xff", 1), Err(DeltaError::Cut { bits: 8 }));
        let huge = [[0xff; 9].as_slice(), &[0x01]].concat();
        assert_eq!(decode_blobs(&huge, 1), Err(DeltaError::Cut { bits: 80 }));
    }

    /// Encodes as libwebrtc does, with a given width.
    fn encode(base: Option<u64>, values: &[Option<u64>], signed: bool, width: u32) -> Vec<u8> {
        let value_width = 32;
        let mut writer = header(signed, true, width, value_width);
        for value in values {
            writer = writer.write(u64::from(value.is_some()), 1);
        }
        let mut previous = base;
        for value in values.iter().flatten() {
            writer = match previous {
                Some(previous) => writer.write(value.wrapping_sub(previous) & mask(width), width),
                None => {
                    let mut rest = *value;
                    while rest >= 0x80 {
                        writer = writer.write(rest & 0x7f | 0x80, 8);
                        rest >>= 7;
                    }
                    writer.write(rest, 8)
                }
            };
            previous = Some(*value);
        }
        writer.bytes()
    }

    proptest! {
        #[test]
        fn what_is_encoded_is_decoded(
            base in prop::option::of(0u64..=u64::from(u32::MAX)),
            values in prop::collection::vec(prop::option::of(0u64..=u64::from(u32::MAX)), 0..40),
            signed: bool,
        ) {
            let column = encode(base, &values, signed, 32);
            prop_assert_eq!(decode_deltas(&column, base, values.len()), Ok(values));
        }

        #[test]
        fn no_bytes_panic(
            column in prop::collection::vec(any::<u8>(), 0..64),
            base: Option<u64>,
            count in 0usize..300,
        ) {
            if let Ok(values) = decode_deltas(&column, base, count) {
                prop_assert_eq!(values.len(), count);
            }
            if let Ok(blobs) = decode_blobs(&column, count) {
                prop_assert_eq!(blobs.len(), count);
            }
        }
    }
}
