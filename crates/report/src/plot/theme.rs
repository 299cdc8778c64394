//! Colours as classes. The plotting library knows colours only; the page wants classes, so that
//! light, dark and print are a matter of its style sheet. Each ink has one colour of its own and is
//! turned into its class afterwards.

use crate::model::{MarkKind, Role};
use plotters::style::{Color, RGBColor, ShapeStyle};

/// Units of the drawing in a CSS pixel: the library's coordinates are integers, a quarter of a
/// pixel is fine enough.
pub(super) const SCALE: u32 = 4;

/// What is drawn with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ink {
    /// One of the [`SERIES`] colours.
    Series(usize),
    /// Dashed: capacity, threshold.
    Reference,
    /// Dashed otherwise: what the paper reports.
    Published,
    /// Axis lines.
    Axis,
    /// Grid lines.
    Grid,
    /// Text.
    Text,
    /// What the page is printed on.
    Paper,
}

/// Okabe and Ito, *Color Universal Design* (2008): blue, orange, bluish green, reddish purple, sky
/// blue, black. Vermilion is kept for published values; yellow is too light for a line on white.
/// Black is off by one from that of the text, to have a class of its own.
const SERIES: [RGBColor; 6] = [
    RGBColor(0x00, 0x72, 0xB2),
    RGBColor(0xE6, 0x9F, 0x00),
    RGBColor(0x00, 0x9E, 0x73),
    RGBColor(0xCC, 0x79, 0xA7),
    RGBColor(0x56, 0xB4, 0xE9),
    RGBColor(0x00, 0x00, 0x01),
];

/// Every ink with the suffix of its classes.
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
    pub(super) fn of(role: Role) -> Self {
        match role {
            Role::Series(n) => Self::Series(n % SERIES.len()),
            Role::Reference => Self::Reference,
        }
    }

    pub(super) fn of_mark(kind: MarkKind) -> Self {
        match kind {
            MarkKind::Published => Self::Published,
            MarkKind::Reference => Self::Reference,
        }
    }

    pub(super) fn color(self) -> RGBColor {
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
    pub(super) fn line(self, width: u32) -> ShapeStyle {
        self.color().stroke_width(width)
    }
}

/// What stands between `<svg …>` and `</svg>`, with classes for colours and without what the style
/// sheet says anyway.
pub(super) fn with_classes(svg: &str) -> String {
    let start = svg.find('>').map_or(0, |at| at + 1);
    let end = svg.rfind("</svg>").unwrap_or(svg.len());
    let mut body = svg.get(start..end).unwrap_or_default().trim().to_owned();
    // The library escapes quotes in text, so that these can only be attributes.
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
