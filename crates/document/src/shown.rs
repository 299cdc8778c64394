//! Text from outside as it may be shown to people.
//!
//! Titles, labels, names of files, records of other programs and whole files come from other people.
//! A control character in such a text moves the cursor, recolours or retitles a terminal, or forges
//! a line (CWE-150); a bidirectional control shows a line in another order than it has ("Trojan
//! Source", CVE-2021-42574). Both are shown as escapes.

use std::borrow::Cow;
use units::Bytes;

/// The longest message that is shown whole, in characters. The longest message of the program's own
/// lists all claims and has fewer.
const MAX_MESSAGE: usize = 1_500;
/// How many characters of a longer message are shown before and after the cut.
const KEPT: usize = 500;

/// Whether a character changes how other text is shown: a control character (C0 and C1 of ECMA-48,
/// DEL), a character with the Unicode property `Bidi_Control` (UAX #9), or a line or paragraph
/// separator.
fn is_control(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{61c}' | '\u{200e}' | '\u{200f}')
        || matches!(letter, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn replaced(
    text: &str,
    is_escaped: impl Fn(char) -> bool,
    escape: impl Fn(char, &mut String),
) -> Cow<'_, str> {
    if !text.contains(&is_escaped) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for letter in text.chars() {
        if is_escaped(letter) { escape(letter, &mut shown) } else { shown.push(letter) }
    }
    Cow::Owned(shown)
}

/// The text on one line, with control characters as in Rust: `\n`, `\u{1b}`, `\u{202e}`.
#[must_use]
pub fn escaped(text: &str) -> Cow<'_, str> {
    replaced(text, is_control, |letter, shown| shown.extend(letter.escape_default()))
}

/// As [`escaped`], but line breaks and tabs remain: for a page of several lines.
#[must_use]
pub fn escaped_page(text: &str) -> Cow<'_, str> {
    let is_escaped = |letter| is_control(letter) && letter != '\n' && letter != '\t';
    replaced(text, is_escaped, |letter, shown| shown.extend(letter.escape_default()))
}

/// A JSON text with control characters as `\u009b`. JSON itself requires this only below U+0020
/// (RFC 8259 § 7). Line breaks between the values remain.
#[must_use]
pub fn escaped_json(json: &str) -> Cow<'_, str> {
    let is_escaped = |letter| is_control(letter) && letter != '\n';
    replaced(json, is_escaped, |letter, shown| {
        // All of them have four digits.
        *shown += &format!("\\u{:04x}", u32::from(letter));
    })
}

/// A message on one line. Of a very long message, the middle is left out.
#[must_use]
pub fn message(text: &str) -> Cow<'_, str> {
    let text = escaped(text);
    let cut = |kept: usize| text.char_indices().nth(kept).map(|(at, _)| at);
    let (Some(_), Some(head)) = (cut(MAX_MESSAGE), cut(KEPT)) else { return text };
    let tail = text.char_indices().nth_back(KEPT - 1).map_or(head, |(at, _)| at);
    let left_out = Bytes::new((tail - head) as u64);
    Cow::Owned(format!("{}… ({left_out} left out) …{}", &text[..head], &text[tail..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cursor, title, C1, bidirectional controls and line breaks, each followed by a letter.
    const HOSTILE: &str = "a\u{1b}[2Jb\u{1b}]0;c\u{7}\u{7f}d\u{9b}31me\r\nf\tg\u{61c}\u{200f}\u{202e}h\u{2066}\u{2029}i";

    #[test]
    fn control_characters_are_shown_as_escapes_on_one_line() {
        assert_eq!(
            escaped(HOSTILE),
            "a\\u{1b}[2Jb\\u{1b}]0;c\\u{7}\\u{7f}d\\u{9b}31me\\r\\nf\\tg\\u{61c}\\u{200f}\\u{202e}h\\u{2066}\\u{2029}i"
        );
        let plain = "Café, Δ 25 ms → \u{1f600} \u{200d} naïve";
        assert!(matches!(escaped(plain), Cow::Borrowed(text) if text == plain));
    }

    #[test]
    fn a_page_keeps_its_lines_and_tabs() {
        assert_eq!(escaped_page("a\n\tb\r\u{1b}"), "a\n\tb\\r\\u{1b}");
    }

    #[test]
    fn a_long_message_keeps_its_begin_and_its_end() {
        let long = format!("x.toml:4: '{}' is not a rate", "ä".repeat(250_000));
        let shown = message(&long);
        assert!(shown.starts_with("x.toml:4: 'ää") && shown.ends_with("ä' is not a rate"));
        assert!(shown.contains("… (498.052kB left out) …"), "{shown}");
        assert!(shown.chars().count() < 1_100);
        let whole = "b".repeat(MAX_MESSAGE);
        assert_eq!(message(&whole), whole);
    }
}
