//! The embedded fonts, and where the letters of a text are.

use crate::plot::picture::Anchor;
use ttf_parser::{Face, GlyphId};

/// Roboto 2.137, Apache License 2.0 (`fonts/README.md`).
const REGULAR: &[u8] = include_bytes!("../../fonts/Roboto-Regular.ttf");
const BOLD: &[u8] = include_bytes!("../../fonts/Roboto-Bold.ttf");

/// An embedded font.
pub(crate) struct Font {
    pub(super) name: &'static str,
    pub(super) data: &'static [u8],
    pub(crate) face: Face<'static>,
}

/// A letter of a text, in units of the text's font size, from the start of the text.
pub(super) struct Letter {
    pub(super) letter: char,
    pub(super) left: f32,
    pub(super) shape: LetterShape,
}

/// The shape of a letter.
pub(super) enum LetterShape {
    /// A glyph of the font.
    Glyph(GlyphId),
    /// A polygon, because the font has no such glyph: corners as (right, up) in units of the font
    /// size.
    Polygon(Vec<(f32, f32)>),
}

impl Font {
    /// The regular and the bold font.
    pub(crate) fn both() -> Result<[Self; 2], ttf_parser::FaceParsingError> {
        let font = |name, data| Ok(Self { name, data, face: Face::parse(data, 0)? });
        Ok([font("Roboto-Regular", REGULAR)?, font("Roboto-Bold", BOLD)?])
    }

    /// The width of a glyph as a share of the font size.
    pub(crate) fn advance(&self, glyph: GlyphId) -> f32 {
        let advance = self.face.glyph_hor_advance(glyph).unwrap_or(0);
        f32::from(advance) / f32::from(self.face.units_per_em())
    }

    /// The letters of a text whose `anchor` is at zero. A letter that the font lacks is shown as
    /// the font's sign for it, an empty box.
    pub(super) fn letters(&self, words: &str, anchor: Anchor) -> Vec<Letter> {
        let mut left = 0.0;
        let mut letters = Vec::new();
        for letter in words.chars() {
            let (shape, width) = match (self.face.glyph_index(letter), arrow(letter)) {
                (Some(glyph), _) => (LetterShape::Glyph(glyph), self.advance(glyph)),
                (None, Some(corners)) => (LetterShape::Polygon(corners), 1.0),
                (None, None) => (LetterShape::Glyph(GlyphId(0)), self.advance(GlyphId(0))),
            };
            letters.push(Letter { letter, left, shape });
            left += width;
        }
        let shift = match anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => left / 2.0,
            Anchor::End => left,
        };
        for letter in &mut letters {
            letter.left -= shift;
        }
        letters
    }
}

/// The corners of an arrow to the right, in a square of the font size.
const ARROW: [(f32, f32); 7] = [
    (0.08, 0.33),
    (0.62, 0.33),
    (0.62, 0.20),
    (0.92, 0.36),
    (0.62, 0.52),
    (0.62, 0.39),
    (0.08, 0.39),
];

/// The corners of an arrow, which Roboto lacks; `None` for another letter.
fn arrow(letter: char) -> Option<Vec<(f32, f32)>> {
    // Turned around the middle of a digit.
    let turned = |turn: fn(f32, f32) -> (f32, f32)| {
        let corner = |&(right, up): &(f32, f32)| {
            let (x, y) = turn(right - 0.5, up - 0.36);
            (x + 0.5, y + 0.36)
        };
        Some(ARROW.iter().map(corner).collect())
    };
    match letter {
        '→' => turned(|x, y| (x, y)),
        '←' => turned(|x, y| (-x, y)),
        '↑' => turned(|x, y| (-y, x)),
        '↓' => turned(|x, y| (y, -x)),
        _ => None,
    }
}
