//! The rows above a panel: its heading and what its lines and colours are. Nothing of it lies on
//! the data.

use super::theme::{Ink, SCALE};
use super::{Area, Drawn, text};
use plotters::element::{Circle, PathElement, Rectangle, Text};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, FontStyle, IntoFont, TextStyle};

/// Height of a row of text and size of the letters, in CSS pixels.
pub(super) const ROW: u32 = 18;
const FONT: u32 = 12;
/// Mean width of a letter over the size of the font: system fonts have about 0.5; the rest is room.
const LETTER: f64 = 0.6;
const SWATCH: u32 = 18;
const GAP: u32 = 14;

/// A pixel on the canvas, in CSS pixels.
pub(super) type Spot = (i32, i32);

/// The sign of a series in the legend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Swatch {
    Line,
    Dot,
    Fill,
}

/// An entry: its name, its sign and its colour.
pub(super) type Entry = (String, Swatch, Ink);

/// How wide a text will be, about, in CSS pixels.
pub(super) fn text_width(text: &str) -> u32 {
    (text.chars().count() as f64 * f64::from(FONT) * LETTER) as u32
}

/// Where each entry goes, as (row, x); the heading has the beginning of row 0.
pub(super) fn lay_out(heading: &str, entries: &[Entry], left: u32, width: u32) -> Vec<(u32, u32)> {
    let total: u32 = entries.iter().map(|(name, ..)| SWATCH + text_width(name) + GAP).sum();
    let after = if heading.is_empty() { left } else { left + text_width(heading) + 2 * GAP };
    let (mut row, mut x) =
        if after + total <= width { (0, width.saturating_sub(total)) } else { (1, left) };
    if heading.is_empty() && row == 1 {
        row = 0;
    }
    let mut spots = Vec::with_capacity(entries.len());
    for (name, ..) in entries {
        let need = SWATCH + text_width(name);
        if x + need > width && x > left {
            (row, x) = (row + 1, left);
        }
        spots.push((row, x));
        x += need + GAP;
    }
    spots
}

/// Draws the heading and the entries from `top` on.
pub(super) fn draw(
    root: &Area<'_>,
    top: u32,
    left: u32,
    heading: &str,
    items: &[(Entry, (u32, u32))],
) -> Drawn {
    let middle = |row: u32| (top + row * ROW + ROW / 2) as i32;
    if !heading.is_empty() {
        write_bold(root, heading, (left as i32, middle(0)))?;
    }
    for ((name, swatch, ink), (row, x)) in items {
        let (x, y) = (*x as i32, middle(*row));
        sign(root, *swatch, *ink, (x, y))?;
        write(root, name, (x + SWATCH as i32, y), HPos::Left, Ink::Text)?;
    }
    Ok(())
}

fn sign(root: &Area<'_>, swatch: Swatch, ink: Ink, (x, y): Spot) -> Drawn {
    let s = SCALE as i32;
    let done = match swatch {
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
    };
    done.map_err(text)
}

/// Writes a text, vertically centred at a spot.
pub(super) fn write(root: &Area<'_>, words: &str, spot: Spot, align: HPos, ink: Ink) -> Drawn {
    put(root, words, spot, style(ink).pos(Pos::new(align, VPos::Center)))
}

fn write_bold(root: &Area<'_>, words: &str, spot: Spot) -> Drawn {
    let font = ("sans-serif", font_size()).into_font().style(FontStyle::Bold);
    let bold = TextStyle { font, ..style(Ink::Text) };
    put(root, words, spot, bold.pos(Pos::new(HPos::Left, VPos::Center)))
}

fn put(root: &Area<'_>, words: &str, (x, y): Spot, style: TextStyle<'_>) -> Drawn {
    let at = (x * SCALE as i32, y * SCALE as i32);
    root.draw(&Text::new(words.to_owned(), at, style)).map_err(text)
}

/// The style of all text.
pub(super) fn style<'a>(ink: Ink) -> TextStyle<'a> {
    let base = TextStyle::from(("sans-serif", font_size()).into_font());
    TextStyle { color: ink.color().to_backend_color(), ..base }
}

/// The library writes a font's size divided by 1.24 (plotters-svg 0.3, `draw_text`).
fn font_size() -> f64 {
    f64::from(FONT * SCALE) * 1.24
}
