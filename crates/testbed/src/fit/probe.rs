//! Parsers for the output of ffmpeg and ffprobe.

use super::estimate::EncodedFrame;

/// A row that `ffprobe` should not have printed.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {number}: {row:?}")]
pub(super) struct RowError {
    /// Its number, from 1.
    number: usize,
    row: String,
}

/// Parses the rows of `ffprobe -show_entries packet=size,flags -of csv=p=0`: a size and flags, with
/// `K` first for a key frame.
///
/// # Errors
/// The first row of another form.
pub(super) fn packets(text: &str) -> Result<Vec<EncodedFrame>, RowError> {
    let rows = text.lines().enumerate().filter(|(_, row)| !row.trim().is_empty());
    let broken = |index: usize, row: &str| RowError { number: index + 1, row: row.to_owned() };
    rows.map(|(index, row)| packet(row).ok_or_else(|| broken(index, row))).collect()
}

fn packet(row: &str) -> Option<EncodedFrame> {
    let (size, flags) = row.trim().split_once(',')?;
    Some(EncodedFrame { size: size.parse().ok()?, key: flags.starts_with('K') })
}

/// The version in the first line of `ffmpeg -version`.
pub(super) fn version(text: &str) -> Option<String> {
    text.lines()
        .next()?
        .strip_prefix("ffmpeg version ")?
        .split_whitespace()
        .next()
        .map(str::to_owned)
}

/// The frame rate in the first line of a YUV4MPEG2 file (`F30:1`), in frames/s, rounded to a whole
/// number, at least 1.
pub(super) fn y4m_frame_rate(header: &str) -> Option<u32> {
    let rate =
        header.strip_prefix("YUV4MPEG2 ")?.split(' ').find_map(|word| word.strip_prefix('F'))?;
    let (frames, seconds) = rate.trim().split_once(':')?;
    let (frames, seconds): (u32, u32) = (frames.parse().ok()?, seconds.parse().ok()?);
    frames.checked_add(seconds / 2)?.checked_div(seconds).map(|rate| rate.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_key_frames_are_read() {
        let frames = packets("27031,K_\n1402,__\n\n1388,__,\n").unwrap();
        let expected = [(27_031, true), (1_402, false), (1_388, false)];
        assert_eq!(frames, expected.map(|(size, key)| EncodedFrame { size, key }));
    }

    #[test]
    fn an_invalid_row_is_named() {
        assert_eq!(packets("27031,K_\nN/A,__\n").unwrap_err().to_string(), "line 2: \"N/A,__\"");
        assert_eq!(packets("27031\n").unwrap_err().to_string(), "line 1: \"27031\"");
    }

    #[test]
    fn version_and_frame_rate_are_found() {
        let text = "ffmpeg version 5.1.9-0+deb12u1 Copyright (c) 2000-2024 the FFmpeg developers\nbuilt with gcc";
        assert_eq!(version(text).as_deref(), Some("5.1.9-0+deb12u1"));
        assert_eq!(version("avconv version 12"), None);
        assert_eq!(y4m_frame_rate("YUV4MPEG2 W640 H360 F30:1 Ip A1:1 C420jpeg"), Some(30));
        assert_eq!(y4m_frame_rate("YUV4MPEG2 W640 H360 F30000:1001 Ip\n"), Some(30));
        assert_eq!(y4m_frame_rate("YUV4MPEG2 W640 H360 F30:0 Ip"), None);
        assert_eq!(y4m_frame_rate("RIFF"), None);
    }
}
