use std::fmt;

/// A path into a document, such as `host.alice.up.rate`. Parts that contain dots are quoted. A part
/// `*` stands for every existing key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyPath(Vec<String>);

impl KeyPath {
    /// Reads a path in the notation of TOML's dotted keys.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut parts = Vec::new();
        let mut rest = text.trim();
        loop {
            let (part, after) = split_first(rest).ok_or_else(|| {
                format!("'{text}' is not a path to a value: write one such as host.alice.up.rate")
            })?;
            parts.push(part.to_owned());
            match after {
                None => return Ok(Self(parts)),
                Some(after) => rest = after,
            }
        }
    }

    /// A path of these parts.
    pub fn of(parts: &[String]) -> Self {
        Self(parts.to_vec())
    }

    /// Whether both paths lead to the same value, or one leads into the other.
    pub fn meets(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).all(|(one, other)| one == other || one == "*" || other == "*")
    }

    /// The parts, in order.
    pub fn parts(&self) -> &[String] {
        &self.0
    }
}

/// The first part of a path, and what follows its dot.
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
            assert!(KeyPath::parse(wrong).unwrap_err().contains("host.alice.up.rate"), "{wrong}");
        }
    }
}
