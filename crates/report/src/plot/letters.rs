//! The widths of texts. The page is shown in a font that is not known here, so widths are those of a
//! wide one: no text is wider than its place.

/// Size of the letters, in CSS pixels.
pub(crate) const FONT: u32 = 12;
/// How much wider bold letters are.
const BOLD: f64 = 1.12;

/// The greatest width of a letter in common sans-serif fonts as a share of the font size: that of
/// DejaVu Sans, the widest of them, rounded up.
fn letter(letter: char) -> f64 {
    match letter {
        'i' | 'j' | 'l' | '\'' => 0.28,
        ' ' | '.' | ',' | ':' | ';' | '|' | 'I' | '·' | '/' | '\\' => 0.34,
        'f' | 't' | 'r' | '(' | ')' | '[' | ']' | '-' | '!' => 0.42,
        'c' | 'k' | 's' | 'v' | 'x' | 'y' | 'z' | 'J' => 0.60,
        'm' | 'w' | 'M' | 'W' | '%' | '@' | '…' | '—' => 1.00,
        'a'..='z' | '0'..='9' | '_' | '?' | '"' | '–' => 0.64,
        'A'..='Z' | '+' | '=' | '<' | '>' | '~' | '#' | '≤' | '≥' | '−' | '×' | '±' => 0.84,
        // East Asian letters are as wide as the font is high.
        '\u{2e80}'.. => 1.05,
        _ => 0.84,
    }
}

/// The greatest width of a text, in CSS pixels.
pub(crate) fn text_width(text: &str) -> u32 {
    (text.chars().map(letter).sum::<f64>() * f64::from(FONT)).ceil() as u32
}

/// The greatest width of a bold text, in CSS pixels.
pub(crate) fn bold_width(text: &str) -> u32 {
    (f64::from(text_width(text)) * BOLD).ceil() as u32
}

/// The text in lines of at most `room` CSS pixels, broken between words; a word that is wider is
/// shortened.
pub(crate) fn broken(text: &str, room: u32, width: impl Fn(&str) -> u32) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if width(&format!("{line} {word}")) <= room => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines.iter().map(|line| shortened(line, room, &width)).collect()
}

/// A text, shortened to `room` CSS pixels.
pub(crate) fn shorten(text: &str, room: u32) -> String {
    shortened(text, room, text_width)
}

fn shortened(text: &str, room: u32, width: impl Fn(&str) -> u32) -> String {
    if width(text) <= room {
        return text.to_owned();
    }
    let letters: Vec<char> = text.chars().collect();
    let fits = |count: usize| {
        let short: String = letters[..count].iter().chain(&['…']).collect();
        (width(&short) <= room).then_some(short)
    };
    (1..letters.len()).rev().find_map(fits).unwrap_or_else(|| "…".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_broken_between_words_and_shortened_to_their_room() {
        let at = |text: &str, room| broken(text, room, text_width);
        assert_eq!(at("HTB204 fifo 125kB", 1_000), ["HTB204 fifo 125kB"]);
        assert_eq!(at("Droptail 16kB", 62), ["Droptail", "16kB"]);
        assert_eq!(at("PIE", 60), ["PIE"]);
        let long = at("Donaudampfschiff", 60);
        assert!(long[0].ends_with('…') && text_width(&long[0]) <= 60, "{long:?}");
        assert_eq!(shorten("abc", 1), "…");
    }

    #[cfg(feature = "paper")]
    #[test]
    fn no_letter_of_the_font_of_papers_is_wider() {
        let fonts = crate::paper::Font::both().unwrap();
        for letter in (' '..='~').chain("äöüéß…·–≤≥−×±µσγ".chars()) {
            let widths = [
                f64::from(text_width(&letter.to_string())),
                f64::from(bold_width(&letter.to_string())),
            ];
            for (font, width) in fonts.iter().zip(widths) {
                let glyph = font.face.glyph_index(letter).unwrap();
                let real = f64::from(font.advance(glyph)) * f64::from(FONT);
                assert!(real <= width, "{letter:?}: {real} {width}");
            }
        }
    }
}
