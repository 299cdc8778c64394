//! VP8 frames (RFC 6386) of any size and resolution that every decoder accepts: a grey key frame,
//! and interframes that copy it.
//!
//! All macroblocks of a key frame use intra prediction (DC_PRED) without residue; all macroblocks
//! of an interframe copy the last frame. To reach the requested size, bytes are appended to the
//! partition of the residues, of which the decoder reads nothing.

use bytes::{BufMut, Bytes, BytesMut};

/// The width and height of a macroblock in pixels (RFC 6386 § 2).
const MACROBLOCK: u32 = 16;

/// The largest width or height of a key frame: 14 bits (RFC 6386 § 9.1).
const MAX_SIDE: u32 = (1 << 14) - 1;

/// The start code of a key frame, which follows the frame tag (RFC 6386 § 9.1).
const START_CODE: [u8; 3] = [0x9d, 0x01, 0x2a];

/// The probabilities that the probabilities of motion vectors are updated (RFC 6386 § 17.2,
/// `mv_update_probs`): 19 per axis.
const MV_UPDATE: [u8; 38] = [
    237, 246, 253, 253, 254, 254, 254, 254, 254, 254, 254, 254, 254, 254, 250, 250, 252, 254, 254,
    231, 243, 245, 253, 254, 254, 254, 254, 254, 254, 254, 254, 254, 254, 251, 251, 254, 254, 254,
];

/// Makes frames of one resolution.
#[derive(Clone, Debug)]
pub struct Vp8Frames {
    resolution: (u32, u32),
    key: Bytes,
    inter: Bytes,
}

impl Vp8Frames {
    /// Frames of `width` × `height` pixels, each at most 16,383.
    #[must_use]
    pub fn new(width: u32, height: u32) -> Self {
        let (width, height) = (width.clamp(1, MAX_SIDE), height.clamp(1, MAX_SIDE));
        Self {
            resolution: (width, height),
            key: key_frame(width, height),
            inter: interframe(width, height),
        }
    }

    /// The width and the height in pixels.
    #[must_use]
    pub const fn resolution(&self) -> (u32, u32) {
        self.resolution
    }

    /// A frame of `size` bytes, or the smallest possible frame if that is larger (at 640 × 360: 413
    /// bytes for a key frame, 41 for an interframe).
    #[must_use]
    pub fn frame(&self, key: bool, size: usize) -> Bytes {
        let start = if key { &self.key } else { &self.inter };
        let size = size.max(start.len() + 1);
        let mut frame = BytesMut::with_capacity(size);
        frame.put_slice(start);
        frame.resize(size, 0);
        frame.freeze()
    }
}

fn key_frame(width: u32, height: u32) -> Bytes {
    let mut coder = BoolCoder::default();
    // The frame header (RFC 6386 § 19.2), all zero: colour space, clamping, segments, filter (type,
    // 6 bits of level, 3 of sharpness, deltas), 2 bits of partitions, 7 bits of quantiser and 5 of
    // its deltas, and refresh of entropy.
    coder.zeros(29);
    coder.coefficients();
    for _ in 0..macroblocks(width) * macroblocks(height) {
        coder.put(1, true);
        // DC_PRED for luma (§ 11.2, `kf_ymode_tree`) and for chroma.
        coder.put(145, true);
        coder.put(156, false);
        coder.put(163, false);
        coder.put(142, false);
    }
    let partition = coder.finish();
    let mut frame = tag(true, partition.len());
    frame.extend(START_CODE);
    for side in [width, height] {
        frame.extend(&side.to_le_bytes()[..2]);
    }
    frame.extend(partition);
    frame.into()
}

fn interframe(width: u32, height: u32) -> Bytes {
    let mut coder = BoolCoder::default();
    // The frame header as above, without colour space and clamping. Then the frames to refresh
    // (golden, alternate, 2 bits each of copies, 2 signs, entropy): only the last.
    coder.zeros(35);
    coder.literal(1, 1);
    coder.coefficients();
    coder.literal(1, 8); // The probability of intra-coded macroblocks is small.
    coder.literal(255, 8); // Macroblocks nearly always refer to the last frame.
    coder.literal(128, 8);
    coder.literal(0, 2); // The probabilities of intra modes are not updated.
    for probability in MV_UPDATE {
        coder.put(probability, false);
    }
    for row in 0..macroblocks(height) {
        for column in 0..macroblocks(width) {
            coder.put(1, true);
            coder.put(1, true);
            coder.put(255, false);
            coder.put(zero_motion(row, column), false);
        }
    }
    let partition = coder.finish();
    let mut frame = tag(false, partition.len());
    frame.extend(partition);
    frame.into()
}

/// The probability of a motion vector other than zero if the vectors of all neighbours are zero
/// (RFC 6386 § 18.3, `vp8_mode_contexts`).
const fn zero_motion(row: u32, column: u32) -> u8 {
    match (row, column) {
        (0, 0) => 7,
        (0, _) | (_, 0) => 135,
        _ => 234,
    }
}

const fn macroblocks(side: u32) -> u32 {
    side.div_ceil(MACROBLOCK)
}

/// The frame tag (RFC 6386 § 9.1): the bit for interframes, version 0, the bit for shown frames,
/// and 19 bits with the size of the first partition.
fn tag(key: bool, partition: usize) -> Vec<u8> {
    let tag = (partition as u64) << 5 | 1 << 4 | u64::from(!key);
    tag.to_le_bytes()[..3].to_vec()
}

/// The boolean entropy encoder of RFC 6386 § 7.3.
struct BoolCoder {
    bytes: Vec<u8>,
    range: u32,
    bottom: u32,
    /// The number of bits until the next byte is complete.
    bits: u32,
}

impl Default for BoolCoder {
    fn default() -> Self {
        Self { bytes: Vec::new(), range: 255, bottom: 0, bits: 24 }
    }
}

impl BoolCoder {
    fn put(&mut self, probability: u8, value: bool) {
        let split = 1 + (((self.range - 1) * u32::from(probability)) >> 8);
        if value {
            self.bottom += split;
            self.range -= split;
        } else {
            self.range = split;
        }
        while self.range < 128 {
            self.range <<= 1;
            self.shift();
        }
    }

    fn shift(&mut self) {
        if self.bottom & (1 << 31) != 0 {
            self.carry();
        }
        self.bottom <<= 1;
        self.bits -= 1;
        if self.bits == 0 {
            self.bytes.push(self.bottom.to_be_bytes()[0]);
            self.bottom &= (1 << 24) - 1;
            self.bits = 8;
        }
    }

    fn carry(&mut self) {
        for byte in self.bytes.iter_mut().rev() {
            *byte = byte.wrapping_add(1);
            if *byte != 0 {
                return;
            }
        }
    }

    fn literal(&mut self, value: u32, bits: u32) {
        for bit in (0..bits).rev() {
            self.put(128, value >> bit & 1 != 0);
        }
    }

    fn zeros(&mut self, bits: u32) {
        for _ in 0..bits {
            self.put(128, false);
        }
    }

    /// Writes 1056 flags that no probability of a coefficient is updated (§ 13.4), and that
    /// macroblocks signal whether they have no residue (§ 9.11), with a high probability of none.
    /// The table of the probabilities of the flags is not needed, because zeros only change the
    /// range: from 128, which every bit of probability 1/2 leaves, to 193 in 14 bits.
    fn coefficients(&mut self) {
        debug_assert_eq!(self.range, 128, "the previous bit had probability 1/2");
        self.range = 193;
        for _ in 0..14 {
            self.shift();
        }
        self.literal(1, 1);
        self.literal(1, 8);
    }

    /// Flushes, as libvpx `vp8_stop_encode` does.
    fn finish(mut self) -> Vec<u8> {
        self.literal(0, 32);
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_have_the_requested_size() {
        let frames = Vp8Frames::new(640, 360);
        assert_eq!(frames.frame(true, 3_000).len(), 3_000);
        assert_eq!(frames.frame(false, 100).len(), 100);
        assert_eq!(
            (frames.frame(true, 0).len(), frames.frame(false, 0).len()),
            (413, 41),
            "the smallest frames"
        );
    }

    #[test]
    fn a_key_frame_contains_its_resolution() {
        let frame = Vp8Frames::new(480, 270).frame(true, 0);
        assert_eq!(frame[0] & 1, 0, "key frame");
        assert_eq!(frame[3..10], [0x9d, 0x01, 0x2a, 0xe0, 0x01, 0x0e, 0x01]);
        assert_eq!(Vp8Frames::new(480, 270).frame(false, 0)[0] & 1, 1, "interframe");
    }

    /// The expected bytes are from an encoder with the whole table of § 13.4. Not every decoder
    /// reports a frame that is too short.
    #[test]
    fn two_macroblocks_are_coded_as_expected() {
        let frames = Vp8Frames::new(32, 16);
        let key = [0x30, 1, 0, 0x9d, 1, 0x2a, 32, 0, 16, 0, 0, 0, 0, 0, 0, 0x18, 0x66, 0xe4, 0];
        let inter = [0xb1, 1, 0, 0, 0, 0, 0, 0x10, 0, 0x30, 0xb0, 0x5f, 0xe8, 0, 0x10, 0x80];
        assert_eq!((&frames.key[..], &frames.inter[..]), (&key[..], &inter[..]));
    }
}
