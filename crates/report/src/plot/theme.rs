//! Colours and dashes as CSS classes. The page needs classes, so that its style sheet decides on
//! light, dark and print. The plotting library knows colours only, so each [`Pen`] is drawn with a
//! colour that encodes it, and the [`Recorder`](super::picture::Recorder) decodes it.

use super::marks::MarkKind;
use plotters::style::{Color, RGBAColor, RGBColor, ShapeStyle};

/// Units of the drawing per CSS pixel. The library's coordinates are integers; a quarter of a pixel
/// is fine enough.
pub(crate) const SCALE: u32 = 4;

/// What a series stands for, which decides its colour. Colours: Okabe and Ito, *Color Universal
/// Design* (2008).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The n-th thing measured. There are six colours; the seventh series has the first again, with
    /// another dash.
    Series(usize),
    /// What the measurements are compared with, such as the capacity or a threshold: grey, dashed.
    Reference,
}

impl Default for Role {
    fn default() -> Self {
        Self::Series(0)
    }
}

/// How a line is broken, which tells the lines of one colour apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dash {
    /// Not broken.
    #[default]
    Solid,
    /// Long dashes.
    Dashed,
    /// Dots.
    Dotted,
    /// Dashes and dots.
    DashDotted,
}

impl Dash {
    /// All, in the order in which the lines of one colour get them.
    pub(crate) const ALL: [Self; 4] = [Self::Solid, Self::Dashed, Self::Dotted, Self::DashDotted];

    /// The n-th dash; the fifth is the first again.
    #[must_use]
    pub const fn nth(n: usize) -> Self {
        Self::ALL[n % Self::ALL.len()]
    }

    /// Lengths of dashes and gaps in units of the drawing, as in `plot.css`.
    #[cfg(feature = "paper")]
    pub(crate) const fn lengths(self) -> &'static [u8] {
        match self {
            Self::Solid => &[],
            Self::Dashed => &[28, 14],
            Self::Dotted => &[6, 9],
            Self::DashDotted => &[28, 9, 6, 9],
        }
    }

    /// The class in the style sheet; empty for none.
    pub(crate) const fn class(self) -> &'static str {
        match self {
            Self::Solid => "",
            Self::Dashed => " d1",
            Self::Dotted => " d2",
            Self::DashDotted => " d3",
        }
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
    /// Text that explains: notes.
    Soft,
    /// The background of the page.
    Paper,
}

/// The number of colours of series: Okabe and Ito's blue, orange, bluish green, reddish purple, sky
/// blue, black. Vermilion is reserved for published values; yellow is too light for a line on
/// white.
const SERIES: usize = 6;

/// Every ink that is not a series, and the suffix of its classes.
const INKS: [(Ink, &str); 7] = [
    (Ink::Reference, "r"),
    (Ink::Published, "p"),
    (Ink::Axis, "a"),
    (Ink::Grid, "g"),
    (Ink::Text, "t"),
    (Ink::Soft, "n"),
    (Ink::Paper, "b"),
];
/// The suffixes of the classes of series.
const SERIES_SUFFIXES: [&str; SERIES] = ["0", "1", "2", "3", "4", "5"];

impl Ink {
    pub(crate) fn of(role: Role) -> Self {
        match role {
            Role::Series(n) => Self::Series(n % SERIES),
            Role::Reference => Self::Reference,
        }
    }

    pub(crate) fn of_mark(kind: MarkKind) -> Self {
        match kind {
            MarkKind::Published => Self::Published,
            MarkKind::Reference => Self::Reference,
        }
    }

    /// The colour that encodes this ink in a drawing, for fills and text.
    pub(crate) fn color(self) -> RGBColor {
        Pen::solid(self).color()
    }

    /// A solid line of this width, in quarters of a pixel.
    pub(crate) fn line(self, width: u32) -> ShapeStyle {
        self.color().stroke_width(width)
    }

    /// The suffix of the classes in the style sheet.
    pub(crate) fn suffix(self) -> &'static str {
        match self {
            Self::Series(n) => SERIES_SUFFIXES[n % SERIES],
            other => INKS.iter().find(|(ink, _)| *ink == other).map_or("t", |(_, suffix)| suffix),
        }
    }

    /// The colour on white paper, as in `plot.css`.
    #[cfg(feature = "paper")]
    pub(crate) const fn on_paper(self) -> [u8; 3] {
        match self {
            Self::Series(n) => match n % SERIES {
                0 => [0x00, 0x72, 0xb2],
                1 => [0xe6, 0x9f, 0x00],
                2 => [0x00, 0x9e, 0x73],
                3 => [0xcc, 0x79, 0xa7],
                4 => [0x56, 0xb4, 0xe9],
                _ => [0x11, 0x11, 0x11],
            },
            Self::Reference => [0x6b, 0x6b, 0x6b],
            Self::Published => [0xc2, 0x4e, 0x00],
            Self::Axis => [0x8a, 0x90, 0x99],
            Self::Grid => [0xe4, 0xe7, 0xeb],
            Self::Text => [0x1b, 0x1f, 0x24],
            Self::Soft => [0x57, 0x60, 0x6a],
            Self::Paper => [0xff, 0xff, 0xff],
        }
    }
}

/// What a shape is drawn with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pen {
    pub(crate) ink: Ink,
    pub(crate) dash: Dash,
}

impl Pen {
    /// The pen of a series: its role, and its place among the series with the same colour.
    pub(crate) fn of(role: Role, dash: Dash) -> Self {
        let ink = Ink::of(role);
        let round = match role {
            Role::Series(n) => n / SERIES,
            Role::Reference => 0,
        };
        let place = Dash::ALL.iter().position(|other| *other == dash).unwrap_or(0);
        Self { ink, dash: Dash::nth(place + round) }
    }

    /// A pen for lines that are not broken.
    pub(crate) const fn solid(ink: Ink) -> Self {
        Self { ink, dash: Dash::Solid }
    }

    fn color(self) -> RGBColor {
        let ink = match self.ink {
            Ink::Series(n) => n % SERIES,
            other => SERIES + INKS.iter().position(|(ink, _)| *ink == other).unwrap_or(0),
        };
        let dash = Dash::ALL.iter().position(|dash| *dash == self.dash).unwrap_or(0);
        RGBColor(ink as u8, dash as u8, 0)
    }

    /// A line of this width, in quarters of a pixel.
    pub(crate) fn line(self, width: u32) -> ShapeStyle {
        self.color().stroke_width(width)
    }

    /// The colour with this opacity.
    pub(crate) fn mix(self, opacity: f64) -> RGBAColor {
        self.color().mix(opacity)
    }

    /// The pen that a colour encodes.
    pub(crate) fn decode((ink, dash, _): (u8, u8, u8)) -> Self {
        let ink = usize::from(ink);
        let ink = match ink.checked_sub(SERIES) {
            None => Ink::Series(ink),
            Some(other) => INKS.get(other).map_or(Ink::Text, |(ink, _)| *ink),
        };
        Self { ink, dash: Dash::nth(usize::from(dash)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pen_is_decoded_from_its_colour() {
        let inks = (0..SERIES).map(Ink::Series).chain(INKS.iter().map(|(ink, _)| *ink));
        for ink in inks {
            for dash in Dash::ALL {
                let pen = Pen { ink, dash };
                assert_eq!(Pen::decode(pen.color().rgb()), pen);
            }
        }
    }

    #[test]
    fn the_seventh_series_has_the_first_colour_and_another_dash() {
        let (first, seventh) =
            (Pen::of(Role::Series(0), Dash::Solid), Pen::of(Role::Series(6), Dash::Solid));
        assert_eq!(first.ink, seventh.ink);
        assert_ne!(first.dash, seventh.dash);
    }
}
