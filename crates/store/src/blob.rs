//! Series as blobs: 8-byte little-endian words, compressed as one Zstandard frame (RFC 8878) with
//! its checksum.
//!
//! Zstandard, because it is the fastest of the common compressors at this ratio, reads everywhere
//! (Python, R, DuckDB, the command line), checks its own content, and the Parquet export needs it
//! anyway.

use std::io::Read;
use zstd::bulk::Compressor;
use zstd::zstd_safe::CParameter;

/// Zstandard's fastest regular level; on recorded columns higher ones cost several times more for
/// some per cent.
const LEVEL: i32 = 1;

/// Compresses series, one after the other.
pub(super) struct Packer(Compressor<'static>);

impl Packer {
    pub(super) fn new() -> std::io::Result<Self> {
        let mut compressor = Compressor::new(LEVEL)?;
        compressor.set_parameter(CParameter::ChecksumFlag(true))?;
        Ok(Self(compressor))
    }

    pub(super) fn pack(
        &mut self,
        words: impl Iterator<Item = [u8; 8]>,
    ) -> std::io::Result<Vec<u8>> {
        self.0.compress(&words.flatten().collect::<Vec<u8>>())
    }
}

/// The `count` words of a blob; what is wrong with it otherwise.
pub(super) fn unpack(blob: &[u8], count: usize) -> Result<Vec<[u8; 8]>, String> {
    let wrong = || format!("a series does not hold its {count} values");
    let size = count.checked_mul(8).ok_or_else(wrong)? as u64;
    let decoder =
        zstd::stream::read::Decoder::with_buffer(blob).map_err(|error| error.to_string())?;
    let mut bytes = Vec::new();
    // One byte more than is promised, to see an excess; never more, whatever the frame expands to.
    decoder.take(size.saturating_add(1)).read_to_end(&mut bytes).map_err(|_| wrong())?;
    let (words, rest) = bytes.as_chunks::<8>();
    if words.len() == count && rest.is_empty() { Ok(words.to_vec()) } else { Err(wrong()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_packed_comes_out_to_the_bit(bits: Vec<u64>) {
            let blob = Packer::new().unwrap().pack(bits.iter().map(|word| word.to_le_bytes())).unwrap();
            let back: Vec<u64> = unpack(&blob, bits.len()).unwrap().into_iter().map(u64::from_le_bytes).collect();
            prop_assert_eq!(back, bits);
        }

        #[test]
        fn any_bytes_are_refused_without_a_panic(blob: Vec<u8>, count in any::<usize>()) {
            let _ = unpack(&blob, count);
        }
    }

    #[test]
    fn a_flipped_bit_a_short_blob_and_a_wrong_count_are_seen() {
        let values = (0..600u64).map(|index| (index * index).to_le_bytes());
        let blob = Packer::new().unwrap().pack(values).unwrap();
        assert!(unpack(&blob, 600).is_ok());
        assert!(unpack(&blob, 599).is_err());
        assert!(unpack(&blob, 601).is_err());
        assert!(unpack(&blob[..blob.len() - 1], 600).is_err());
        let mut flipped = blob.clone();
        flipped[blob.len() / 2] ^= 4;
        assert!(unpack(&flipped, 600).is_err());
    }
}
