//! YUV4MPEG2 files (yuv4mpeg(5)): one line of parameters, then frames of equal size.

use super::MediaError;
use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::Path;

/// The line before each frame; ffmpeg writes no parameters in it.
const FRAME: &str = "FRAME\n";
/// The longest line of parameters, bytes.
const MAX_HEADER: u64 = 1024;

/// The positions of the frames in a file.
struct Layout {
    /// Bytes before the first frame.
    header: u64,
    /// Bytes of each frame, with its line.
    frame: u64,
    count: u64,
}

/// The parameters in the first line of a file.
pub(super) struct Parameters {
    width: u64,
    height: u64,
    /// Frames per second; `None` if the line has no valid rate.
    rate: Option<f64>,
}

impl Parameters {
    /// The parameters of a user's file.
    pub(super) fn of(path: &Path) -> Result<Self, MediaError> {
        let header = File::open(path).and_then(|file| header(&file));
        let header = header.map_err(|error| MediaError::file(path, error))?;
        Self::parse(&header).ok_or_else(|| MediaError::NotY4m(path.to_owned()))
    }

    fn parse(header: &str) -> Option<Self> {
        let words = header.strip_prefix("YUV4MPEG2 ")?;
        let word =
            |letter: char| words.split_whitespace().find_map(|word| word.strip_prefix(letter));
        let rate = word('F').and_then(|ratio| {
            let (frames, seconds) = ratio.split_once(':')?;
            let rate = frames.parse::<f64>().ok()? / seconds.parse::<f64>().ok()?;
            (rate.is_finite() && rate > 0.0).then_some(rate)
        });
        Some(Self { width: word('W')?.parse().ok()?, height: word('H')?.parse().ok()?, rate })
    }
}

impl fmt::Display for Parameters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { width, height, rate } = self;
        match rate {
            Some(rate) => {
                write!(f, "{width}×{height} at {} frames/s", (rate * 100.0).round() / 100.0)
            }
            None => write!(f, "{width}×{height}"),
        }
    }
}

/// Whether a file holds only complete frames.
pub(super) fn is_whole(path: &Path) -> bool {
    File::open(path).and_then(|file| layout(&file)).is_ok()
}

/// Appends the frames between the last and the first, in reverse order.
pub(super) fn append_reversed(path: &Path) -> Result<(), MediaError> {
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
    BufReader::new(file.take(MAX_HEADER)).read_line(&mut header)?;
    Ok(header)
}

/// The layout of a file with 8-bit 4:2:0 frames.
fn layout(file: &File) -> io::Result<Layout> {
    let broken = || io::Error::new(io::ErrorKind::InvalidData, "is not a complete YUV4MPEG2 file");
    let header = header(file)?;
    let Parameters { width, height, .. } = Parameters::parse(&header).ok_or_else(broken)?;
    let (header, length) = (header.len() as u64, file.metadata()?.len());
    let frame =
        width.checked_mul(height).and_then(|pixels| pixels.checked_mul(3)).ok_or_else(broken)? / 2;
    let frame = frame + FRAME.len() as u64;
    let frames = length.checked_sub(header).ok_or_else(broken)?;
    if frames == 0 || frames % frame != 0 {
        return Err(broken());
    }
    Ok(Layout { header, frame, count: frames / frame })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_has_size_and_rate() {
        let words = |line: &str| Parameters::parse(line).map(|parameters| parameters.to_string());
        for (line, wanted) in [
            ("YUV4MPEG2 W64 H36 F25:1 Ip A1:1 C420jpeg\n", Some("64×36 at 25 frames/s")),
            ("YUV4MPEG2 H36 W64 F30000:1001\n", Some("64×36 at 29.97 frames/s")),
            ("YUV4MPEG2 W64 H36 F0:0\n", Some("64×36")),
            ("YUV4MPEG2 W64\n", None),
            ("RIFF", None),
        ] {
            assert_eq!(words(line).as_deref(), wanted, "{line}");
        }
    }
}
