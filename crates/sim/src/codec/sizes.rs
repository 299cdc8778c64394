use std::fmt;

/// Frame sizes from a file, as shares of their mean.
#[derive(Clone, Debug, PartialEq)]
pub struct FrameSizes {
    frames: Vec<SizedFrame>,
}

/// One frame of the file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct SizedFrame {
    /// Its size over the mean size.
    pub(super) share: f64,
    pub(super) key: bool,
}

/// Why a file of frame sizes is refused: where, and what to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SizesError {
    /// The line, from 1.
    pub line: usize,
    message: String,
}

impl fmt::Display for SizesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl std::error::Error for SizesError {}

impl FrameSizes {
    /// Reads `size_bytes[,key]` a line: a whole number of bytes above zero, and 1 or 0 (or `key`)
    /// for key frames. A first line that names the columns, empty lines and lines from `#` on are
    /// skipped.
    ///
    /// # Errors
    /// The line that is none of this, or that there is no frame at all.
    pub fn parse(text: &str) -> Result<Self, SizesError> {
        let mut sizes = Vec::new();
        let mut lines = 0;
        let mut header = false;
        for (index, line) in text.lines().enumerate() {
            lines = index + 1;
            let line = line.split('#').next().unwrap_or_default().trim();
            if sizes.is_empty() && !header && line.starts_with(char::is_alphabetic) {
                header = true;
            } else if !line.is_empty() {
                sizes.push(
                    parse_line(line).map_err(|message| SizesError { line: index + 1, message })?,
                );
            }
        }
        if sizes.is_empty() {
            let message = "there is no frame: write size_bytes[,key], one frame a line".to_owned();
            return Err(SizesError { line: lines.max(1), message });
        }
        let mean = sizes.iter().map(|&(size, _)| size as f64).sum::<f64>() / sizes.len() as f64;
        let frames = sizes
            .iter()
            .map(|&(size, key)| SizedFrame { share: size as f64 / mean, key })
            .collect();
        Ok(Self { frames })
    }

    /// The number of frames, at least one; the file repeats.
    #[expect(clippy::len_without_is_empty, reason = "never empty: `parse` refuses that")]
    pub fn len(&self) -> usize {
        self.frames.len()
    }

    pub(super) fn frame(&self, position: usize) -> SizedFrame {
        self.frames[position % self.frames.len()]
    }
}

fn parse_line(line: &str) -> Result<(u64, bool), String> {
    let (size, key) = line.split_once(',').unwrap_or((line, "0"));
    let bytes = match size.trim().parse::<u64>() {
        Ok(bytes) if bytes > 0 => bytes,
        _ => {
            return Err(format!(
                "{:?} is not a frame size: write whole bytes above zero",
                size.trim()
            ));
        }
    };
    match key.trim() {
        "0" | "" => Ok((bytes, false)),
        "1" | "key" => Ok((bytes, true)),
        other => Err(format!("{other:?} does not say whether it is a key frame: write 1 or 0")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_keys_headers_and_comments_are_read() {
        let sizes =
            FrameSizes::parse("size_bytes,key\n3000,1\n\n500 # small\n1000,0\n1500,key\n").unwrap();
        let frames: Vec<_> =
            (0..sizes.len()).map(|i| sizes.frame(i)).map(|f| (f.share, f.key)).collect();
        assert_eq!(frames, [(2.0, true), (1.0 / 3.0, false), (2.0 / 3.0, false), (1.0, true)]);
        assert_eq!(sizes.frame(4), sizes.frame(0), "the file repeats");
        assert_eq!(FrameSizes::parse("size\n3000\n").unwrap().len(), 1);
    }

    #[test]
    fn errors_name_the_line_and_the_mend() {
        let error = |text: &str| FrameSizes::parse(text).unwrap_err().to_string();
        assert_eq!(
            error("100\n-5\n"),
            "line 2: \"-5\" is not a frame size: write whole bytes above zero"
        );
        assert_eq!(
            error("100\n\n0\n"),
            "line 3: \"0\" is not a frame size: write whole bytes above zero"
        );
        assert_eq!(
            error("7,yes"),
            "line 1: \"yes\" does not say whether it is a key frame: write 1 or 0"
        );
        assert_eq!(error("99999999999999999999999").split(':').next(), Some("line 1"));
        assert!(error("size\nbytes\n7").starts_with("line 2: \"bytes\" is not a frame size"));
        assert!(error("").starts_with("line 1: there is no frame"));
        assert!(error("# a\n# b\n").starts_with("line 2: there is no frame"));
    }
}
