/// Frame sizes from a file, relative to their mean.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct FrameSizes {
    frames: Vec<SizedFrame>,
}

/// One frame of the file.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub(super) struct SizedFrame {
    /// The size divided by the mean size.
    pub(super) share: f64,
    pub(super) key: bool,
}

/// An error in a file of frame sizes. Lines count from 1.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SizesError {
    /// A size is not a whole number of bytes above zero.
    #[error("line {line}: {size:?} is not a frame size: write whole bytes above zero")]
    Size {
        /// The line of the size.
        line: usize,
        /// The text in its place.
        size: String,
    },
    /// The second column is neither 1 nor 0.
    #[error("line {line}: {flag:?} does not say whether it is a key frame: write 1 or 0")]
    KeyFlag {
        /// The line of the flag.
        line: usize,
        /// The text in its place.
        flag: String,
    },
    /// The file has no frame.
    #[error("line {line}: there is no frame: write size_bytes[,key], one frame per line")]
    NoFrame {
        /// The last line of the file.
        line: usize,
    },
}

impl FrameSizes {
    /// Parses one `size_bytes[,key]` per line: a whole number of bytes above zero, and 1 (or `key`)
    /// or 0 for key frames. A first line with column names, empty lines and text from `#` on are
    /// skipped.
    ///
    /// # Errors
    /// Fails on the first line that has another form, or if there is no frame.
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
                sizes.push(parse_line(index + 1, line)?);
            }
        }
        if sizes.is_empty() {
            return Err(SizesError::NoFrame { line: lines.max(1) });
        }
        let mean = sizes.iter().map(|&(size, _)| size as f64).sum::<f64>() / sizes.len() as f64;
        let frames = sizes
            .iter()
            .map(|&(size, key)| SizedFrame { share: size as f64 / mean, key })
            .collect();
        Ok(Self { frames })
    }

    /// The number of frames, at least one. The encoder repeats the file.
    #[expect(clippy::len_without_is_empty, reason = "never empty: `parse` refuses that")]
    pub fn len(&self) -> usize {
        self.frames.len()
    }

    pub(super) fn frame(&self, position: usize) -> SizedFrame {
        self.frames[position % self.frames.len()]
    }
}

fn parse_line(line: usize, text: &str) -> Result<(u64, bool), SizesError> {
    let (size, key) = text.split_once(',').unwrap_or((text, "0"));
    let bytes = match size.trim().parse::<u64>() {
        Ok(bytes) if bytes > 0 => bytes,
        _ => return Err(SizesError::Size { line, size: size.trim().to_owned() }),
    };
    match key.trim() {
        "0" | "" => Ok((bytes, false)),
        "1" | "key" => Ok((bytes, true)),
        other => Err(SizesError::KeyFlag { line, flag: other.to_owned() }),
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
    fn errors_name_the_line_and_suggest_a_fix() {
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
