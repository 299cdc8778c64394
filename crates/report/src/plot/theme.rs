//! Colours as CSS classes. The plotting library knows colours only. The page needs classes, so that
//! its style sheet decides on light, dark and print. Each [`Ink`] has its own colour, which is
//! replaced by its class after drawing.

use super::marks::MarkKind;
use plotters::style::{Color, RGBColor, ShapeStyle};

/// Units of the drawing per CSS pixel. The library's coordinates are integers; a quarter of a pixel
/// is fine enough.
pub(crate) const SCALE: u32 = 4;

/// What a series stands for, which decides its colour. Colours: Okabe and Ito, *Color Universal
/// Design* (2008).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The n-th thing measured. There are six colours; the seventh series has the first again.
    Series(usize),
    /// What the measurements are compared with, such as the capacity or a threshold: grey, dashed.
    Reference,
}

impl Default for Role {
    fn default() -> Self {
        Self::Series(0)
    }
}

/// The colours that a plot is drawn with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ink {
    /// One of the [`SERIES`] colours.
    Series(usize),
    /// Dashed: capacity, threshold.
    Reference,
    /// Dashed differently: what the paper reports.
    Published,
    /// Axis lines.
    Axis,
    /// Grid lines.
    Grid,
    /// Text.
    Text,
    /// The background of the page.
    Paper,
}

/// Okabe and Ito, *Color Universal Design* (2008): blue, orange, bluish green, reddish purple, sky
/// blue, black. Vermilion is reserved for published values; yellow is too light for a line on
/// white. Black differs by one from the black of the text, so that it has its own class.
const SERIES: [RGBColor; 6] = [
    RGBColor(0x00, 0x72, 0xB2),
    RGBColor(0xE6, 0x9F, 0x00),
    RGBColor(0x00, 0x9E, 0x73),
    RGBColor(0xCC, 0x79, 0xA7),
    RGBColor(0x56, 0xB4, 0xE9),
    RGBColor(0x00, 0x00, 0x01),
];

/// Every ink and the suffix of its classes.
const INKS: [(Ink, &str); 12] = [
    (Ink::Series(0), "0"),
    (Ink::Series(1), "1"),
    (Ink::Series(2), "2"),
    (Ink::Series(3), "3"),
    (Ink::Series(4), "4"),
    (Ink::Series(5), "5"),
    (Ink::Reference, "r"),
    (Ink::Published, "p"),
    (Ink::Axis, "a"),
    (Ink::Grid, "g"),
    (Ink::Text, "t"),
    (Ink::Paper, "b"),
];

impl Ink {
    pub(crate) fn of(role: Role) -> Self {
        match role {
            Role::Series(n) => Self::Series(n % SERIES.len()),
            Role::Reference => Self::Reference,
        }
    }

    pub(crate) fn of_mark(kind: MarkKind) -> Self {
        match kind {
            MarkKind::Published => Self::Published,
            MarkKind::Reference => Self::Reference,
        }
    }

    pub(crate) fn color(self) -> RGBColor {
        match self {
            Self::Series(n) => SERIES[n % SERIES.len()],
            Self::Reference => RGBColor(0x66, 0x66, 0x66),
            Self::Published => RGBColor(0xD5, 0x5E, 0x00),
            Self::Axis => RGBColor(0x88, 0x88, 0x88),
            Self::Grid => RGBColor(0xE0, 0xE0, 0xE0),
            Self::Text => RGBColor(0x00, 0x00, 0x00),
            Self::Paper => RGBColor(0xFF, 0xFF, 0xFF),
        }
    }

    /// A line of this width, in quarters of a pixel.
    pub(crate) fn line(self, width: u32) -> ShapeStyle {
        self.color().stroke_width(width)
    }
}

/// The content of the `svg` element, with classes instead of colours and without attributes that
/// the style sheet sets.
pub(crate) fn with_classes(svg: &str) -> String {
    let start = svg.find('>').map_or(0, |at| at + 1);
    let end = svg.rfind("</svg>").unwrap_or(svg.len());
    let mut body = svg.get(start..end).unwrap_or_default().trim().to_owned();
    // The library escapes quotes in text, so these matches can only be attributes.
    for (ink, suffix) in INKS {
        let RGBColor(r, g, b) = ink.color();
        for (attribute, class) in [("stroke", "s"), ("fill", "f")] {
            let hex = format!("{attribute}=\"#{r:02X}{g:02X}{b:02X}\"");
            body = body.replace(&hex, &format!("class=\"{class}{suffix}\""));
        }
    }
    for superfluous in [" opacity=\"1\"", " font-family=\"sans-serif\"", " stroke=\"none\""] {
        body = body.replace(superfluous, "");
    }
    body.replace(" \"/>", "\"/>")
}
