//! The rows above a panel: the heading, and the names of the series with their symbols. The legend
//! never covers data, and no text covers another one.

use super::letters::{FONT, bold_width, broken, shorten, text_width};
use super::theme::{Ink, Pen, SCALE};
use super::{Canvas, DrawResult};
use plotters::element::{Circle, PathElement, Rectangle, Text};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, FontStyle, IntoFont, TextStyle};

/// Height of a row of text, in CSS pixels.
pub(crate) const ROW: u32 = 18;
/// Width of a symbol with the gap before its name, in CSS pixels.
const SWATCH: u32 = 30;
/// Width of a symbol, in CSS pixels.
const SYMBOL: i32 = 24;
/// Gap between two entries, in CSS pixels.
const GAP: u32 = 14;
/// Height of a line of a note, in CSS pixels.
const NOTE: u32 = 15;

/// A point on the canvas (x, y), in CSS pixels.
pub(crate) type Pixel = (i32, i32);

/// The symbol of a series in the legend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Swatch {
    Line,
    Dot,
    Fill,
}

/// A legend entry: the name and the symbol of a series.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Entry {
    pub(crate) name: String,
    pub(crate) swatch: Swatch,
    pub(crate) pen: Pen,
}

/// The names of the series of a panel.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Legend {
    /// What the names are values of, such as `queue of alice.up`; may be empty.
    pub(crate) title: String,
    pub(crate) entries: Vec<Entry>,
}

/// The rows above a panel, laid out.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Head {
    left: u32,
    heading: Vec<String>,
    /// The title of the legend, its row and its x.
    title: Option<(String, u32, u32)>,
    /// The entries, with their rows and x.
    entries: Vec<(Entry, u32, u32)>,
}

impl Head {
    /// Lays out the heading and the legend between `left` and `right`, in CSS pixels. Both are in
    /// one row if there is room, the legend at the right; else the legend is below the heading.
    pub(crate) fn lay_out(heading: &str, legend: &Legend, left: u32, right: u32) -> Self {
        let room = right.saturating_sub(left).max(1);
        let heading =
            if heading.is_empty() { Vec::new() } else { broken(heading, room, bold_width) };
        let title = if legend.title.is_empty() || legend.entries.is_empty() {
            None
        } else {
            Some(shorten(&format!("{}:", legend.title), room))
        };
        let shown = |entry: &Entry| Entry {
            name: shorten(&entry.name, room.saturating_sub(SWATCH).max(1)),
            ..entry.clone()
        };
        let entries: Vec<Entry> = legend.entries.iter().map(shown).collect();
        let title_width = title.as_deref().map_or(0, |title| text_width(title) + GAP);
        let widths = entries.iter().map(|entry| SWATCH + text_width(&entry.name) + GAP);
        let total: u32 = title_width + widths.sum::<u32>();
        let beside = match heading.as_slice() {
            [] => total <= room + GAP,
            [only] => bold_width(only) + 2 * GAP + total <= room + GAP,
            _ => false,
        };
        let (mut row, mut x) = if beside {
            (0, (right + GAP).saturating_sub(total))
        } else {
            (heading.len() as u32, left)
        };
        let title = title.map(|title| {
            let placed = (title, row, x);
            x += title_width;
            placed
        });
        let place = |entry: Entry| {
            let need = SWATCH + text_width(&entry.name);
            if x + need > right && x > left {
                (row, x) = (row + 1, left);
            }
            let placed = (entry, row, x);
            x += need + GAP;
            placed
        };
        let entries = entries.into_iter().map(place).collect();
        Self { left, heading, title, entries }
    }

    /// The number of rows.
    pub(crate) fn rows(&self) -> u32 {
        let legend = self.entries.iter().map(|(_, row, _)| row + 1).max().unwrap_or(0);
        legend.max(self.heading.len() as u32)
    }

    /// Draws the heading and the legend from `top` downwards.
    pub(crate) fn draw(&self, root: &Canvas<'_>, top: u32) -> DrawResult {
        let middle = |row: u32| (top + row * ROW + ROW / 2) as i32;
        for (row, line) in (0..).zip(&self.heading) {
            write_bold(root, line, (self.left as i32, middle(row)))?;
        }
        if let Some((title, row, x)) = &self.title {
            write(root, title, (*x as i32, middle(*row)), HPos::Left, Ink::Soft)?;
        }
        for (Entry { name, swatch, pen }, row, x) in &self.entries {
            let (x, y) = (*x as i32, middle(*row));
            symbol(root, *swatch, *pen, (x, y))?;
            write(root, name, (x + SWATCH as i32, y), HPos::Left, Ink::Text)?;
        }
        Ok(())
    }
}

/// Text below a plot that says how to read it.
pub(crate) struct Note(Vec<String>);

impl Note {
    /// Breaks the text into lines of this width, in CSS pixels.
    pub(crate) fn lay_out(text: &str, width: u32) -> Self {
        let text = text.trim();
        Self(if text.is_empty() { Vec::new() } else { broken(text, width, text_width) })
    }

    /// Height in CSS pixels; zero without a text.
    pub(crate) fn height(&self) -> u32 {
        if self.0.is_empty() { 0 } else { NOTE * self.0.len() as u32 + 4 }
    }

    /// Draws the lines from `top` downwards.
    pub(crate) fn draw(&self, root: &Canvas<'_>, top: u32) -> DrawResult {
        for (row, line) in (0..).zip(&self.0) {
            write(root, line, (0, (top + row * NOTE + NOTE / 2) as i32), HPos::Left, Ink::Soft)?;
        }
        Ok(())
    }
}

fn symbol(root: &Canvas<'_>, swatch: Swatch, pen: Pen, (x, y): Pixel) -> DrawResult {
    let s = SCALE as i32;
    match swatch {
        Swatch::Line => root.draw(&PathElement::new(
            vec![(x * s, y * s), ((x + SYMBOL) * s, y * s)],
            pen.line(2 * SCALE),
        )),
        Swatch::Dot => {
            root.draw(&Circle::new(((x + 16) * s, y * s), 3 * SCALE, pen.ink.color().filled()))
        }
        Swatch::Fill => {
            let corners = [((x + 10) * s, (y - 5) * s), ((x + SYMBOL) * s, (y + 5) * s)];
            root.draw(&Rectangle::new(corners, pen.ink.color().filled()))
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

fn font_size() -> f64 {
    f64::from(FONT * SCALE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::Dash;
    use proptest::prelude::*;

    fn entry(name: &str) -> Entry {
        Entry {
            name: name.to_owned(),
            swatch: Swatch::Line,
            pen: Pen { ink: Ink::Text, dash: Dash::Solid },
        }
    }

    /// (row, left, right) of every text with its symbol.
    fn boxes(head: &Head) -> Vec<(u32, u32, u32)> {
        let heading = (0..)
            .zip(&head.heading)
            .map(|(row, line)| (row, head.left, head.left + bold_width(line)));
        let title = head.title.iter().map(|(title, row, x)| (*row, *x, x + text_width(title)));
        let entries = head
            .entries
            .iter()
            .map(|(entry, row, x)| (*row, *x, x + SWATCH + text_width(&entry.name)));
        heading.chain(title).chain(entries).collect()
    }

    proptest! {
        #[test]
        fn no_text_of_a_legend_covers_another_or_leaves_the_plot(
            heading in "[A-Za-z0-9 ()/%]{0,60}",
            title in "[a-z. ]{0,30}",
            names in prop::collection::vec("[A-Za-z0-9 ./:@+-]{1,50}", 0..14),
            right in 200u32..1100,
        ) {
            let entries = names.iter().map(|name| entry(name)).collect();
            let head = Head::lay_out(&heading, &Legend { title, entries }, 56, right);
            let all = boxes(&head);
            for (i, (row, left, end)) in all.iter().enumerate() {
                prop_assert!(*left >= 56 && *end <= right.max(left + SWATCH), "{:?}", all);
                prop_assert!(*row < head.rows());
                for (other, from, to) in &all[..i] {
                    prop_assert!(row != other || to <= left || end <= from, "{:?}", all);
                }
            }
        }
    }

    #[test]
    fn a_short_legend_is_at_the_right_of_the_heading() {
        let legend =
            Legend { title: String::new(), entries: vec![entry("sent"), entry("received")] };
        let wide = Head::lay_out("rate (kbit/s)", &legend, 56, 480);
        assert_eq!(wide.rows(), 1);
        assert_eq!(Head::lay_out("rate (kbit/s)", &legend, 56, 200).rows(), 3);
    }
}
