//! YUV4MPEG2 files (yuv4mpeg(5)): a line of parameters, then frames of one size.

use super::MediaError;
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::Path;

/// Before each frame; parameters of its own ffmpeg does not write.
const FRAME: &str = "FRAME\n";
/// Longer lines of parameters are none, bytes.
const LONGEST_HEADER: u64 = 1024;

/// Where the frames of a file are.
struct Layout {
    /// Bytes before the first.
    header: u64,
    /// Bytes of each, its own line included.
    frame: u64,
    count: u64,
}

/// Sees whether a user's file is one.
pub(super) fn check(path: &Path) -> Result<(), MediaError> {
    let header =
        File::open(path).and_then(|file| header(&file)).map_err(|error| MediaError::file(path, error))?;
    if header.starts_with("YUV4MPEG2 ") {
        Ok(())
    } else {
        Err(MediaError::file(path, "is not a YUV4MPEG2 file"))
    }
}

/// Whether a file that ffmpeg wrote holds whole frames only.
pub(super) fn is_whole(path: &Path) -> bool {
    File::open(path).and_then(|file| layout(&file)).is_ok()
}

/// Appends the frames between the last and the first, backwards.
pub(super) fn and_back(path: &Path) -> Result<(), MediaError> {
    let append = || -> io::Result<()> {
        let mut from = File::open(path)?;
        let layout = layout(&from)?;
        let mut to = OpenOptions::new().append(true).open(path)?;
        let mut frame = vec![0; usize::try_from(layout.frame).map_err(io::Error::other)?];
        for index in (1..layout.count.saturating_sub(1)).rev() {
            from.seek(SeekFrom::Start(layout.header + index * layout.frame))?;
            from.read_exact(&mut frame)?;
            to.write_all(&frame)?;
        }
        Ok(())
    };
    append().map_err(|error| MediaError::file(path, error))
}

fn header(file: &File) -> io::Result<String> {
    let mut header = String::new();
    BufReader::new(file.take(LONGEST_HEADER)).read_line(&mut header)?;
    Ok(header)
}

/// The layout of a file of 4:2:0 with 8 bits.
fn layout(file: &File) -> io::Result<Layout> {
    let broken = || io::Error::new(io::ErrorKind::InvalidData, "is not a whole YUV4MPEG2 file");
    let header = header(file)?;
    let words = header.strip_prefix("YUV4MPEG2 ").ok_or_else(broken)?;
    let number = |letter: char| {
        words
            .split_whitespace()
            .find_map(|word| word.strip_prefix(letter)?.parse::<u64>().ok())
            .ok_or_else(broken)
    };
    let (width, height, length) = (number('W')?, number('H')?, file.metadata()?.len());
    let (header, frame) = (header.len() as u64, width * height * 3 / 2 + FRAME.len() as u64);
    let frames = length.checked_sub(header).ok_or_else(broken)?;
    if frames == 0 || frames % frame != 0 {
        return Err(broken());
    }
    Ok(Layout { header, frame, count: frames / frame })
}
