use crate::Problem;
use std::fmt;

/// The path of a value in a document, such as `host.alice.up.rate`. Parts that contain dots are
/// quoted. The part `*` stands for every existing key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyPath(Vec<String>);

impl KeyPath {
    /// Reads a path in the notation of TOML's dotted keys.
    ///
    /// # Errors
    /// If a part is empty or a quote is not closed.
    pub fn parse(text: &str) -> Result<Self, KeyPathError> {
        let mut parts = Vec::new();
        let mut rest = text.trim();
        loop {
            let (part, after) =
                split_first(rest).ok_or_else(|| KeyPathError { text: text.to_owned() })?;
            parts.push(part.to_owned());
            match after {
                None => return Ok(Self(parts)),
                Some(after) => rest = after,
            }
        }
    }

    /// The path with these parts.
    pub fn of(parts: &[String]) -> Self {
        Self(parts.to_vec())
    }

    /// Whether both paths name the same value, or one names a value inside the other's.
    pub fn overlaps(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).all(|(one, other)| one == other || one == "*" || other == "*")
    }

    /// The parts, in order.
    pub fn parts(&self) -> &[String] {
        &self.0
    }
}

/// Why a text is not a path.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{text}' is not the path of a value")]
pub struct KeyPathError {
    text: String,
}

impl From<KeyPathError> for Problem {
    fn from(error: KeyPathError) -> Self {
        Self::new(error.to_string(), "write for example host.alice.up.rate")
    }
}

/// The first part of a path, and the text after its dot.
fn split_first(text: &str) -> Option<(&str, Option<&str>)> {
    let quote = text.chars().next().filter(|c| *c == '\'' || *c == '"');
    let (part, after) = match quote {
        Some(quote) => text[1..].split_once(quote)?,
        None => text.split_at(text.find('.').unwrap_or(text.len())),
    };
    if part.is_empty() {
        return None;
    }
    match after {
        "" => Some((part, None)),
        after => after.strip_prefix('.').map(|after| (part, Some(after))),
    }
}

impl fmt::Display for KeyPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, part) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str(".")?;
            }
            let bare = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-' || c == '*';
            if part.chars().all(bare) {
                f.write_str(part)?;
            } else {
                write!(f, "'{part}'")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_parts_keep_their_dots() {
        let path = KeyPath::parse("call.main.settings.'threshold.initial'").unwrap();
        assert_eq!(path.parts(), ["call", "main", "settings", "threshold.initial"]);
        assert_eq!(path.to_string(), "call.main.settings.'threshold.initial'");
        assert_eq!(KeyPath::parse("a.\"b c\"").unwrap().parts(), ["a", "b c"]);
        for wrong in ["", ".", "a..b", "a.", "'a", "'a'b", "''.b"] {
            let error = format!("'{wrong}' is not the path of a value");
            assert_eq!(KeyPath::parse(wrong).unwrap_err().to_string(), error);
        }
    }
}
