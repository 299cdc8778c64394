//! The rows above a panel: the heading, and the names of the series with their colours. The legend
//! never covers data.

use super::theme::{Ink, SCALE};
use super::{Canvas, DrawResult};
use plotters::element::{Circle, PathElement, Rectangle, Text};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, FontStyle, IntoFont, TextStyle};

/// Height of a row of text and size of the letters, in CSS pixels.
pub(crate) const ROW: u32 = 18;
const FONT: u32 = 12;
/// Mean width of a letter divided by the font size. System fonts have about 0.5; the rest is a
/// reserve.
const LETTER: f64 = 0.6;
const SWATCH: u32 = 18;
const GAP: u32 = 14;

/// A point on the canvas (x, y), in CSS pixels.
pub(crate) type Pixel = (i32, i32);

/// The symbol of a series in the legend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Swatch {
    Line,
    Dot,
    Fill,
}

/// A legend entry: the name, symbol and colour of a series.
pub(crate) type Entry = (String, Swatch, Ink);

/// The approximate width of a text, in CSS pixels.
pub(crate) fn text_width(text: &str) -> u32 {
    (text.chars().count() as f64 * f64::from(FONT) * LETTER) as u32
}

/// The (row, x) of each entry. The heading is at the left of row 0.
pub(crate) fn lay_out(heading: &str, entries: &[Entry], left: u32, width: u32) -> Vec<(u32, u32)> {
    let total: u32 = entries.iter().map(|(name, ..)| SWATCH + text_width(name) + GAP).sum();
    let after = if heading.is_empty() { left } else { left + text_width(heading) + 2 * GAP };
    let (mut row, mut x) =
        if after + total <= width { (0, width.saturating_sub(total)) } else { (1, left) };
    if heading.is_empty() && row == 1 {
        row = 0;
    }
    let mut cells = Vec::with_capacity(entries.len());
    for (name, ..) in entries {
        let need = SWATCH + text_width(name);
        if x + need > width && x > left {
            (row, x) = (row + 1, left);
        }
        cells.push((row, x));
        x += need + GAP;
    }
    cells
}

/// Draws the heading and the entries from `top` downwards.
pub(crate) fn draw(
    root: &Canvas<'_>,
    top: u32,
    left: u32,
    heading: &str,
    items: &[(Entry, (u32, u32))],
) -> DrawResult {
    let middle = |row: u32| (top + row * ROW + ROW / 2) as i32;
    if !heading.is_empty() {
        write_bold(root, heading, (left as i32, middle(0)))?;
    }
    for ((name, swatch, ink), (row, x)) in items {
        let (x, y) = (*x as i32, middle(*row));
        symbol(root, *swatch, *ink, (x, y))?;
        write(root, name, (x + SWATCH as i32, y), HPos::Left, Ink::Text)?;
    }
    Ok(())
}

fn symbol(root: &Canvas<'_>, swatch: Swatch, ink: Ink, (x, y): Pixel) -> DrawResult {
    let s = SCALE as i32;
    match swatch {
        Swatch::Line => root.draw(&PathElement::new(
            vec![(x * s, y * s), ((x + 14) * s, y * s)],
            ink.line(2 * SCALE),
        )),
        Swatch::Dot => {
            root.draw(&Circle::new(((x + 7) * s, y * s), 3 * SCALE, ink.color().filled()))
        }
        Swatch::Fill => {
            let corners = [(x * s, (y - 5) * s), ((x + 12) * s, (y + 5) * s)];
            root.draw(&Rectangle::new(corners, ink.color().filled()))
        }
    }
}

/// Writes a text, vertically centred at a pixel.
pub(crate) fn write(
    root: &Canvas<'_>,
    words: &str,
    pixel: Pixel,
    align: HPos,
    ink: Ink,
) -> DrawResult {
    put(root, words, pixel, style(ink).pos(Pos::new(align, VPos::Center)))
}

fn write_bold(root: &Canvas<'_>, words: &str, pixel: Pixel) -> DrawResult {
    let font = ("sans-serif", font_size()).into_font().style(FontStyle::Bold);
    let bold = TextStyle { font, ..style(Ink::Text) };
    put(root, words, pixel, bold.pos(Pos::new(HPos::Left, VPos::Center)))
}

fn put(root: &Canvas<'_>, words: &str, (x, y): Pixel, style: TextStyle<'_>) -> DrawResult {
    let at = (x * SCALE as i32, y * SCALE as i32);
    root.draw(&Text::new(words.to_owned(), at, style))
}

/// The style of all text.
pub(crate) fn style<'a>(ink: Ink) -> TextStyle<'a> {
    let base = TextStyle::from(("sans-serif", font_size()).into_font());
    TextStyle { color: ink.color().to_backend_color(), ..base }
}

/// The library divides a font's size by 1.24 when it writes it (plotters-svg 0.3, `draw_text`).
fn font_size() -> f64 {
    f64::from(FONT * SCALE) * 1.24
}
