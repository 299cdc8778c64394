//! A plot as a PNG file.

use super::font::{Font, Letter, LetterShape};
use super::{PaperError, has_rim, millimetres_per_unit};
use crate::plot::Ink;
use crate::plot::picture::{Form, Picture, Shape};
use png::{BitDepth, ColorType, Encoder, PixelDimensions, Unit};
use tiny_skia::{
    Color, FillRule, LineJoin, Paint, Path, PathBuilder, Pixmap, Rect, Stroke, StrokeDash,
    Transform,
};
use ttf_parser::OutlineBuilder;

/// Pixels per inch: what journals ask for.
const PER_INCH: f64 = 300.0;
/// Millimetres per inch.
const INCH: f64 = 25.4;
/// Width of the rim around a text, in units of the drawing, as in `plot.css`.
const RIM: f32 = 14.0;

/// The plot in this width, in millimetres.
pub(super) fn png(picture: &Picture, width: f64, has_rims: bool) -> Result<Vec<u8>, PaperError> {
    let fonts = Font::both()?;
    let scale = millimetres_per_unit(picture, width) * PER_INCH / INCH;
    let size =
        [picture.width, picture.height].map(|units| (f64::from(units) * scale).round() as u32);
    let mut pixels = Pixmap::new(size[0], size[1]).ok_or(PaperError::Size)?;
    pixels.fill(Color::WHITE);
    let mut page = Page { pixels, scale: Transform::from_scale(scale as f32, scale as f32), fonts };
    for shape in &picture.shapes {
        page.draw(shape, has_rims);
    }
    let mut file = Vec::new();
    let mut encoder = Encoder::new(&mut file, size[0], size[1]);
    encoder.set_color(ColorType::Rgba);
    encoder.set_depth(BitDepth::Eight);
    let per_metre = (PER_INCH / INCH * 1e3).round() as u32;
    encoder.set_pixel_dims(Some(PixelDimensions {
        xppu: per_metre,
        yppu: per_metre,
        unit: Unit::Meter,
    }));
    let mut writer = encoder.write_header()?;
    writer.write_image_data(&page.pixels.take_demultiplied())?;
    writer.finish()?;
    Ok(file)
}

struct Page {
    pixels: Pixmap,
    scale: Transform,
    fonts: [Font; 2],
}

impl Page {
    fn draw(&mut self, shape: &Shape, has_rims: bool) {
        let paint = paint(shape.pen.ink, shape.opacity);
        match &shape.form {
            Form::Line { points, width } => {
                let dashes = super::dashes(shape.pen);
                let lengths = dashes.iter().map(|length| f32::from(*length)).collect();
                let stroke = Stroke {
                    width: *width as f32,
                    line_join: LineJoin::Round,
                    dash: StrokeDash::new(lengths, 0.0),
                    ..Stroke::default()
                };
                self.stroke(path(points, false), &paint, &stroke);
            }
            Form::Area(points) => self.fill(path(points, true), &paint),
            Form::Rect((left, top), (right, bottom)) => {
                let [left, top, right, bottom] = [left, top, right, bottom].map(|at| *at as f32);
                let rect = Rect::from_ltrb(left, top, right, bottom);
                self.fill(rect.map(PathBuilder::from_rect), &paint);
            }
            Form::Disc { centre: (x, y), radius } => {
                self.fill(PathBuilder::from_circle(*x as f32, *y as f32, *radius as f32), &paint);
            }
            Form::Text { words, at, anchor, size, bold } => {
                let font = &self.fonts[usize::from(*bold)];
                let letters = font.letters(words, *anchor);
                let outline = outline(font, &letters, *at, *size as f32);
                if has_rim(shape.pen.ink, has_rims) {
                    let stroke =
                        Stroke { width: RIM, line_join: LineJoin::Round, ..Stroke::default() };
                    self.stroke(outline.clone(), &self::paint(Ink::Paper, 1.0), &stroke);
                }
                self.fill(outline, &paint);
            }
        }
    }

    /// Fills a path; an empty one is not drawn.
    fn fill(&mut self, path: Option<Path>, paint: &Paint<'_>) {
        if let Some(path) = path {
            self.pixels.fill_path(&path, paint, FillRule::Winding, self.scale, None);
        }
    }

    fn stroke(&mut self, path: Option<Path>, paint: &Paint<'_>, stroke: &Stroke) {
        if let Some(path) = path {
            self.pixels.stroke_path(&path, paint, stroke, self.scale, None);
        }
    }
}

fn paint(ink: Ink, opacity: f64) -> Paint<'static> {
    let mut paint = Paint { anti_alias: true, ..Paint::default() };
    let [red, green, blue] = ink.on_paper();
    paint.set_color_rgba8(red, green, blue, (opacity * 255.0).round() as u8);
    paint
}

fn path(points: &[(i32, i32)], closed: bool) -> Option<Path> {
    let mut builder = PathBuilder::new();
    for (index, (x, y)) in points.iter().enumerate() {
        let (x, y) = (*x as f32, *y as f32);
        if index == 0 { builder.move_to(x, y) } else { builder.line_to(x, y) }
    }
    if closed {
        builder.close();
    }
    builder.finish()
}

/// The outlines of all letters of a text.
fn outline(font: &Font, letters: &[Letter], (x, y): (i32, i32), size: f32) -> Option<Path> {
    let mut builder = PathBuilder::new();
    for Letter { left, shape, .. } in letters {
        let (x, y) = (x as f32 + left * size, y as f32);
        match shape {
            LetterShape::Glyph(glyph) => {
                let scale = size / f32::from(font.face.units_per_em());
                // A space has no outline.
                let _ = font
                    .face
                    .outline_glyph(*glyph, &mut Outline { builder: &mut builder, x, y, scale });
            }
            LetterShape::Polygon(corners) => {
                for (index, (right, up)) in corners.iter().enumerate() {
                    let (x, y) = (x + right * size, y - up * size);
                    if index == 0 { builder.move_to(x, y) } else { builder.line_to(x, y) }
                }
                builder.close();
            }
        }
    }
    builder.finish()
}

/// Puts the outline of a glyph at its place.
struct Outline<'b> {
    builder: &'b mut PathBuilder,
    x: f32,
    y: f32,
    scale: f32,
}

impl Outline<'_> {
    fn at(&self, x: f32, y: f32) -> (f32, f32) {
        (self.x + x * self.scale, self.y - y * self.scale)
    }
}

impl OutlineBuilder for Outline<'_> {
    fn move_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.at(x, y);
        self.builder.move_to(x, y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.at(x, y);
        self.builder.line_to(x, y);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let ((x1, y1), (x, y)) = (self.at(x1, y1), self.at(x, y));
        self.builder.quad_to(x1, y1, x, y);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let ((x1, y1), (x2, y2), (x, y)) = (self.at(x1, y1), self.at(x2, y2), self.at(x, y));
        self.builder.cubic_to(x1, y1, x2, y2, x, y);
    }

    fn close(&mut self) {
        self.builder.close();
    }
}
