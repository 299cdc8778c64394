//! A drawn plot as a list of shapes, from which SVG, PDF and pixels are made.

use super::theme::{Pen, SCALE};
use plotters::style::text_anchor::{HPos, VPos};
use plotters_backend::{
    BackendColor, BackendCoord, BackendStyle, BackendTextStyle, DrawingBackend, DrawingErrorKind,
    FontStyle,
};
use std::convert::Infallible;
use std::fmt::Write as _;

/// Distance from the middle of a line of text to its baseline, as a share of the font size: half
/// the height of a digit in common sans-serif fonts (0.72 of the size).
const MIDDLE: f64 = 0.36;
/// Distance from the top of a line of text to its baseline, as a share of the font size.
const TOP: f64 = 0.76;

/// Fonts of the text in an SVG file, in order of preference. The widths of the first are those with
/// which PDF files are set.
const FAMILIES: &str = "Roboto, Arial, Helvetica, Liberation Sans, DejaVu Sans, sans-serif";

/// A finished plot. Coordinates are in units of the drawing, [`SCALE`] per CSS pixel.
#[derive(Clone, Debug)]
pub(crate) struct Picture {
    pub(crate) width: u32,
    pub(crate) height: u32,
    pub(crate) shapes: Vec<Shape>,
}

/// A shape. `opacity` is from 0 to 1.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Shape {
    pub(crate) form: Form,
    pub(crate) pen: Pen,
    pub(crate) opacity: f64,
}

/// The form of a shape.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Form {
    /// A line through these points.
    Line { points: Vec<BackendCoord>, width: u32 },
    /// A filled area with these corners.
    Area(Vec<BackendCoord>),
    /// A filled rectangle: its upper left and its lower right corner.
    Rect(BackendCoord, BackendCoord),
    /// A filled circle.
    Disc { centre: BackendCoord, radius: u32 },
    /// One line of text. `at` is on the baseline.
    Text { words: String, at: BackendCoord, anchor: Anchor, size: u32, bold: bool },
}

/// Which end of a text is at its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

impl Picture {
    /// The content of an `svg` element in a page, with the classes of the page's style sheet.
    pub(crate) fn svg_body(&self) -> String {
        let mut svg = String::new();
        for shape in &self.shapes {
            shape.write_svg(&mut svg);
        }
        svg
    }

    /// A whole SVG file of this width in millimetres; in CSS pixels if `None`.
    pub(crate) fn svg_file(&self, width: Option<f64>, has_rims: bool) -> String {
        let (wide, high) = (f64::from(self.width), f64::from(self.height));
        let size = match width {
            Some(mm) => format!("width=\"{mm}mm\" height=\"{:.3}mm\"", mm * high / wide),
            None => {
                let scale = f64::from(SCALE);
                format!("width=\"{}\" height=\"{}\"", wide / scale, high / scale)
            }
        };
        let class = if has_rims { "plot points" } else { "plot" };
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"{class}\" {size} viewBox=\"0 0 {wide} {high}\">\
             <style>{}.plot text{{font-family:{FAMILIES}}}</style>\
             <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>{}</svg>\n",
            resolved(PLOT_STYLE),
            self.svg_body()
        )
    }
}

/// The rules for what is in a plot. Colours are `var(--NAME, COLOUR)`: the page may change them.
pub(crate) const PLOT_STYLE: &str = include_str!("../plot.css");

/// A style sheet with the default values of its variables instead of the variables, which programs
/// that draw SVG files do not know.
fn resolved(style: &str) -> String {
    let mut out = String::with_capacity(style.len());
    let mut rest = style;
    while let Some((before, after)) = rest.split_once("var(--") {
        out.push_str(before);
        let (inner, next) = after.split_once(')').unwrap_or((after, ""));
        out.push_str(inner.split_once(',').map_or("", |(_, value)| value.trim()));
        rest = next;
    }
    out + rest
}

impl Shape {
    fn write_svg(&self, svg: &mut String) {
        let suffix = self.pen.ink.suffix();
        let dash = self.pen.dash.class();
        let opacity = if self.opacity < 1.0 {
            format!(" opacity=\"{}\"", (self.opacity * 100.0).round() / 100.0)
        } else {
            String::new()
        };
        // Writing to a String cannot fail.
        let _ = match &self.form {
            Form::Line { points, width } if points.len() > LONG => write!(
                svg,
                "<path class=\"s{suffix}{dash}\"{opacity} stroke-width=\"{width}\" d=\"{}\"/>",
                relative(points)
            ),
            Form::Line { points, width } => write!(
                svg,
                "<polyline class=\"s{suffix}{dash}\"{opacity} stroke-width=\"{width}\" points=\"{}\"/>",
                listed(points)
            ),
            Form::Area(points) => {
                write!(svg, "<polygon class=\"f{suffix}\"{opacity} points=\"{}\"/>", listed(points))
            }
            Form::Rect((left, top), (right, bottom)) => write!(
                svg,
                "<rect class=\"f{suffix}\"{opacity} x=\"{left}\" y=\"{top}\" width=\"{}\" height=\"{}\"/>",
                right - left,
                bottom - top
            ),
            Form::Disc { centre: (x, y), radius } => {
                write!(
                    svg,
                    "<circle class=\"f{suffix}\"{opacity} cx=\"{x}\" cy=\"{y}\" r=\"{radius}\"/>"
                )
            }
            Form::Text { words, at: (x, y), anchor, size, bold } => {
                let anchor = match anchor {
                    Anchor::Start => "",
                    Anchor::Middle => " text-anchor=\"middle\"",
                    Anchor::End => " text-anchor=\"end\"",
                };
                let bold = if *bold { " font-weight=\"bold\"" } else { "" };
                write!(
                    svg,
                    "<text class=\"f{suffix}\"{opacity} x=\"{x}\" y=\"{y}\"{anchor} font-size=\"{size}\"{bold}>{}</text>",
                    escaped(words)
                )
            }
        };
    }
}

fn listed(points: &[BackendCoord]) -> String {
    let texts: Vec<String> = points.iter().map(|(x, y)| format!("{x},{y}")).collect();
    texts.join(" ")
}

/// More points than this are written as steps from one to the next, which takes half the bytes.
const LONG: usize = 10;

/// The points as the data of an SVG path.
fn relative(points: &[BackendCoord]) -> String {
    let mut data = String::new();
    let mut before: Option<BackendCoord> = None;
    for &(x, y) in points {
        let step = before.map_or((x, y), |(from_x, from_y)| (x - from_x, y - from_y));
        data.push_str(match before {
            None => "M",
            // After the first `l`, a sign separates as well as a space.
            Some(_) if data.contains('l') => {
                if step.0 < 0 {
                    ""
                } else {
                    " "
                }
            }
            Some(_) => "l",
        });
        let separator = if step.1 < 0 { "" } else { "," };
        let _ = write!(data, "{}{separator}{}", step.0, step.1);
        before = Some((x, y));
    }
    data
}

/// A text without the characters that XML reads as its own.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// The backend of the plotting library that keeps what is drawn.
pub(crate) struct Recorder<'a> {
    size: (u32, u32),
    shapes: &'a mut Vec<Shape>,
}

impl<'a> Recorder<'a> {
    pub(super) fn new(size: (u32, u32), shapes: &'a mut Vec<Shape>) -> Self {
        Self { size, shapes }
    }

    fn add(&mut self, form: Form, color: BackendColor) -> Recorded {
        // What is transparent is not drawn: the light grid lines of the library.
        if color.alpha > 0.0 {
            self.shapes.push(Shape { form, pen: Pen::decode(color.rgb), opacity: color.alpha });
        }
        Ok(())
    }
}

type Recorded = Result<(), DrawingErrorKind<Infallible>>;

impl DrawingBackend for Recorder<'_> {
    type ErrorType = Infallible;

    fn get_size(&self) -> (u32, u32) {
        self.size
    }

    fn ensure_prepared(&mut self) -> Recorded {
        Ok(())
    }

    fn present(&mut self) -> Recorded {
        Ok(())
    }

    fn draw_pixel(&mut self, (x, y): BackendCoord, color: BackendColor) -> Recorded {
        self.add(Form::Rect((x, y), (x + 1, y + 1)), color)
    }

    fn draw_line<S: BackendStyle>(
        &mut self,
        from: BackendCoord,
        to: BackendCoord,
        style: &S,
    ) -> Recorded {
        self.draw_path([from, to], style)
    }

    fn draw_rect<S: BackendStyle>(
        &mut self,
        upper_left: BackendCoord,
        bottom_right: BackendCoord,
        style: &S,
        fill: bool,
    ) -> Recorded {
        let ((left, top), (right, bottom)) = (upper_left, bottom_right);
        if fill {
            let corners = ((left.min(right), top.min(bottom)), (left.max(right), top.max(bottom)));
            return self.add(Form::Rect(corners.0, corners.1), style.color());
        }
        let around = [(left, top), (right, top), (right, bottom), (left, bottom), (left, top)];
        self.draw_path(around, style)
    }

    fn draw_path<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        path: I,
        style: &S,
    ) -> Recorded {
        let points = path.into_iter().collect();
        self.add(Form::Line { points, width: style.stroke_width() }, style.color())
    }

    fn draw_circle<S: BackendStyle>(
        &mut self,
        centre: BackendCoord,
        radius: u32,
        style: &S,
        _: bool,
    ) -> Recorded {
        self.add(Form::Disc { centre, radius }, style.color())
    }

    fn fill_polygon<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        corners: I,
        style: &S,
    ) -> Recorded {
        self.add(Form::Area(corners.into_iter().collect()), style.color())
    }

    fn draw_text<S: BackendTextStyle>(
        &mut self,
        text: &str,
        style: &S,
        (x, y): BackendCoord,
    ) -> Recorded {
        if text.is_empty() {
            return Ok(());
        }
        let size = style.size();
        let down = match style.anchor().v_pos {
            VPos::Top => TOP,
            VPos::Center => MIDDLE,
            VPos::Bottom => 0.0,
        };
        let anchor = match style.anchor().h_pos {
            HPos::Left => Anchor::Start,
            HPos::Center => Anchor::Middle,
            HPos::Right => Anchor::End,
        };
        let bold = matches!(style.style(), FontStyle::Bold);
        let at = (x, y + (size * down).round() as i32);
        let form =
            Form::Text { words: text.to_owned(), at, anchor, size: size.round() as u32, bold };
        self.add(form, style.color())
    }
}

#[cfg(test)]
mod tests {
    use super::super::theme::{Dash, Ink};
    use super::*;

    #[test]
    fn a_path_goes_through_the_same_points() {
        assert_eq!(relative(&[(10, 20), (13, 16), (20, 16), (15, 30)]), "M10,20l3-4 7,0-5,14");
        assert_eq!(relative(&[]), "");
    }

    #[test]
    fn a_file_has_colours_instead_of_variables_and_a_size_in_millimetres() {
        let line = Shape {
            form: Form::Line { points: vec![(0, 0), (4, 4)], width: 5 },
            pen: Pen { ink: Ink::Series(1), dash: Dash::Dotted },
            opacity: 0.25,
        };
        let picture = Picture { width: 340, height: 170, shapes: vec![line] };
        let file = picture.svg_file(Some(85.0), false);
        assert!(
            file.contains("width=\"85mm\" height=\"42.500mm\" viewBox=\"0 0 340 170\""),
            "{file}"
        );
        assert!(!file.contains("var(") && file.contains(".s1{stroke:#e69f00}"), "{file}");
        assert!(
            file.contains(
                r#"<polyline class="s1 d2" opacity="0.25" stroke-width="5" points="0,0 4,4"/>"#
            ),
            "{file}"
        );
    }
}
