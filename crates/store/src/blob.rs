//! Series as blobs: 8-byte little-endian words, compressed as one Zstandard frame (RFC 8878) with a
//! checksum.
//!
//! Zstandard is the fastest of the common compressors at this ratio, can be read by Python, R,
//! DuckDB and on the command line, has checksums, and is needed for the Parquet export too.

use std::io::Read;
use zstd::bulk::Compressor;
use zstd::zstd_safe::CParameter;

/// Zstandard's fastest regular level. On recorded columns, higher levels take several times longer
/// and save a few per cent.
const LEVEL: i32 = 1;

/// Compresses series one after the other, with one Zstandard context.
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

/// Why a stored series cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SeriesError {
    /// The blob does not decompress to this number of values.
    #[error("a series does not hold its {0} values")]
    Values(usize),
    /// Zstandard cannot be set up, with this message.
    #[error("{0}")]
    Zstandard(String),
    /// The series has an unknown shape, or lacks the times that its shape needs.
    #[error("the shape \"{0}\"")]
    Shape(String),
}

/// The `count` words of a blob.
///
/// # Errors
/// If the blob is not a Zstandard frame of exactly `count` words.
pub(super) fn unpack(blob: &[u8], count: usize) -> Result<Vec<[u8; 8]>, SeriesError> {
    let wrong = || SeriesError::Values(count);
    let size = count.checked_mul(8).ok_or_else(wrong)? as u64;
    let decoder = zstd::stream::read::Decoder::with_buffer(blob)
        .map_err(|error| SeriesError::Zstandard(error.to_string()))?;
    let mut bytes = Vec::new();
    // Reading one byte more than promised detects an excess. The limit holds for any frame, so that
    // a forged one cannot fill the memory.
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
        fn packed_values_are_unpacked_bit_identical(bits: Vec<u64>) {
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
    fn a_flipped_bit_a_short_blob_and_a_wrong_count_are_detected() {
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
