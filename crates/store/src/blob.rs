//! Series as blobs: 8-byte little-endian words, compressed as one Zstandard frame (RFC 8878) with a
//! checksum.
//!
//! Zstandard is the fastest of the common compressors at this ratio, can be read by Python, R,
//! DuckDB and on the command line, has checksums, and is needed for the Parquet export too.

use std::io::{BufReader, Read};
use zstd::bulk::Compressor;
use zstd::stream::read::Decoder;
use zstd::zstd_safe::{CParameter, DCtx, ResetDirective};

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

/// Decompresses series one after the other, with one Zstandard context: creating one takes longer
/// than decompressing a short series.
pub(super) struct Unpacker(DCtx<'static>);

impl Unpacker {
    pub(super) fn new() -> Result<Self, SeriesError> {
        let context = DCtx::try_create();
        context.map(Self).ok_or_else(|| SeriesError::Zstandard("no memory".to_owned()))
    }

    /// The `count` words of a blob. Memory grows with the words that the blob really has.
    ///
    /// # Errors
    /// If the blob is not a Zstandard frame of exactly `count` words.
    pub(super) fn unpack(&mut self, blob: &[u8], count: usize) -> Result<Vec<u64>, SeriesError> {
        let wrong = |_| SeriesError::Values(count);
        // The series before may have ended in an error.
        let reset = self.0.reset(ResetDirective::SessionOnly);
        reset.map_err(|_| SeriesError::Zstandard("the context cannot be reset".to_owned()))?;
        let mut decoder = BufReader::new(Decoder::with_context(blob, &mut self.0));
        let mut words = Vec::new();
        let mut word = [0; 8];
        for _ in 0..count {
            decoder.read_exact(&mut word).map_err(wrong)?;
            words.push(u64::from_le_bytes(word));
        }
        // The end of the frame has its checksum.
        match decoder.read(&mut word).map_err(wrong)? {
            0 => Ok(words),
            _ => Err(SeriesError::Values(count)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn unpack(blob: &[u8], count: usize) -> Result<Vec<u64>, SeriesError> {
        Unpacker::new()?.unpack(blob, count)
    }

    proptest! {
        #[test]
        fn packed_values_are_unpacked_bit_identical(bits: Vec<u64>) {
            let blob = Packer::new().unwrap().pack(bits.iter().map(|word| word.to_le_bytes())).unwrap();
            prop_assert_eq!(unpack(&blob, bits.len()).unwrap(), bits);
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
        let mut unpacker = Unpacker::new().unwrap();
        assert!(unpacker.unpack(&flipped, 600).is_err());
        assert!(unpacker.unpack(&blob, 600).is_ok(), "the context is reset");
    }
}
