//! A plot as a PDF page with vector graphics and text in an embedded font.

use super::font::{Font, LetterShape};
use super::{PaperError, has_rim, millimetres_per_unit};
use crate::plot::Ink;
use crate::plot::picture::{Form, Picture, Shape};
use miniz_oxide::deflate::compress_to_vec_zlib;
use pdf_writer::types::{CidFontType, FontFlags, LineJoinStyle, SystemInfo, TextRenderingMode};
use pdf_writer::writers::Resources;
use pdf_writer::{Content, Filter, Finish, Name, Pdf, Rect, Ref, Str, TextStr};
use std::collections::BTreeMap;
use subsetter::{GlyphRemapper, subset};
use ttf_parser::GlyphId;

/// Points per millimetre.
const POINTS: f64 = 72.0 / 25.4;
/// The compression level of streams, 0 to 10.
const LEVEL: u8 = 8;
/// Width of the rim around a text, in units of the drawing, as in `plot.css`.
const RIM: f32 = 14.0;

/// The names of the fonts in the page.
const FONT_NAMES: [&[u8]; 2] = [b"F0", b"F1"];
/// Character codes of a font are its glyphs, in order of their first use.
const IDENTITY: SystemInfo<'_> =
    SystemInfo { registry: Str(b"Adobe"), ordering: Str(b"Identity"), supplement: 0 };

/// The plot in this width, in millimetres.
pub(super) fn pdf(
    picture: &Picture,
    width: f64,
    has_rims: bool,
    title: &str,
) -> Result<Vec<u8>, PaperError> {
    let fonts = Font::both()?;
    let mut page = Page {
        content: Content::new(),
        fonts: &fonts,
        used: [UsedGlyphs::default(), UsedGlyphs::default()],
        opacities: BTreeMap::new(),
        has_rims,
    };
    let scale = (millimetres_per_unit(picture, width) * POINTS) as f32;
    let (wide, high) = (picture.width as f32 * scale, picture.height as f32 * scale);
    // From here on, coordinates are those of the drawing, with y downwards.
    page.content.transform([scale, 0.0, 0.0, -scale, 0.0, high]);
    page.content.set_line_join(LineJoinStyle::RoundJoin);
    for shape in &picture.shapes {
        page.draw(shape);
    }
    page.write([wide, high], title)
}

struct Page<'f> {
    content: Content,
    fonts: &'f [Font; 2],
    used: [UsedGlyphs; 2],
    /// The opacities that are used, in per cent, each with the number of its graphics state.
    opacities: BTreeMap<u8, i32>,
    has_rims: bool,
}

/// The glyphs of a font that the page shows.
#[derive(Default)]
struct UsedGlyphs {
    remapper: GlyphRemapper,
    /// By the number in the subset: the letter, and the width in thousandths of the font size.
    letters: BTreeMap<u16, (char, f32)>,
}

impl Page<'_> {
    fn draw(&mut self, shape: &Shape) {
        self.content.save_state();
        let percent = (shape.opacity * 100.0).round() as u8;
        if percent < 100 {
            let next = self.opacities.len() as i32;
            let number = *self.opacities.entry(percent).or_insert(next);
            self.content.set_parameters(Name(format!("G{number}").as_bytes()));
        }
        let [red, green, blue] = colour(shape.pen.ink);
        self.content.set_fill_rgb(red, green, blue).set_stroke_rgb(red, green, blue);
        match &shape.form {
            Form::Line { points, width } => {
                self.content.set_line_width(*width as f32);
                let dashes = super::dashes(shape.pen);
                if !dashes.is_empty() {
                    self.content
                        .set_dash_pattern(dashes.iter().map(|length| f32::from(*length)), 0.0);
                }
                self.path(points);
                self.content.stroke();
            }
            Form::Area(points) => {
                self.path(points);
                self.content.close_path().fill_nonzero();
            }
            Form::Rect((left, top), (right, bottom)) => {
                let (x, y) = (*left as f32, *top as f32);
                self.content
                    .rect(x, y, (right - left) as f32, (bottom - top) as f32)
                    .fill_nonzero();
            }
            Form::Disc { centre, radius } => {
                self.disc(*centre, *radius as f32);
                self.content.fill_nonzero();
            }
            Form::Text { words, at, anchor, size, bold } => {
                let font = usize::from(*bold);
                let letters = self.fonts[font].letters(words, *anchor);
                if has_rim(shape.pen.ink, self.has_rims) {
                    let [red, green, blue] = colour(Ink::Paper);
                    self.content.save_state();
                    self.content.set_stroke_rgb(red, green, blue).set_line_width(RIM);
                    self.text(&letters, font, (*at, *size as f32), TextRenderingMode::Stroke);
                    self.content.restore_state();
                }
                self.text(&letters, font, (*at, *size as f32), TextRenderingMode::Fill);
            }
        }
        self.content.restore_state();
    }

    fn path(&mut self, points: &[(i32, i32)]) {
        for (index, (x, y)) in points.iter().enumerate() {
            let (x, y) = (*x as f32, *y as f32);
            if index == 0 {
                self.content.move_to(x, y)
            } else {
                self.content.line_to(x, y)
            };
        }
    }

    /// A circle of four Bézier curves.
    fn disc(&mut self, (x, y): (i32, i32), r: f32) {
        /// The distance of the control points of a quarter of a circle with radius 1.
        const K: f32 = 0.552_284_8;
        let (x, y, k) = (x as f32, y as f32, K * r);
        self.content
            .move_to(x + r, y)
            .cubic_to(x + r, y + k, x + k, y + r, x, y + r)
            .cubic_to(x - k, y + r, x - r, y + k, x - r, y)
            .cubic_to(x - r, y - k, x - k, y - r, x, y - r)
            .cubic_to(x + k, y - r, x + r, y - k, x + r, y);
    }

    fn text(
        &mut self,
        letters: &[super::font::Letter],
        font: usize,
        (at, size): ((i32, i32), f32),
        mode: TextRenderingMode,
    ) {
        let (x, y) = (at.0 as f32, at.1 as f32);
        let is_glyph = |letter: &super::font::Letter| matches!(letter.shape, LetterShape::Glyph(_));
        for part in letters.chunk_by(|one, other| is_glyph(one) && is_glyph(other)) {
            let Some(first) = part.first() else { continue };
            if let LetterShape::Polygon(corners) = &first.shape {
                let corner = |(right, up): &(f32, f32)| {
                    ((x + (first.left + right) * size) as i32, (y - up * size) as i32)
                };
                self.path(&corners.iter().map(corner).collect::<Vec<_>>());
                match mode {
                    TextRenderingMode::Stroke => self.content.close_and_stroke(),
                    _ => self.content.close_path().fill_nonzero(),
                };
                continue;
            }
            let mut codes = Vec::with_capacity(2 * part.len());
            for letter in part {
                if let LetterShape::Glyph(glyph) = letter.shape {
                    codes.extend(self.code(font, glyph, letter.letter).to_be_bytes());
                }
            }
            self.content
                .begin_text()
                .set_text_rendering_mode(mode)
                .set_font(Name(FONT_NAMES[font]), size)
                .set_text_matrix([1.0, 0.0, 0.0, -1.0, x + first.left * size, y])
                .show(Str(&codes))
                .end_text();
        }
    }

    /// The number of a glyph in the subset of the font.
    fn code(&mut self, font: usize, glyph: GlyphId, letter: char) -> u16 {
        let width = self.fonts[font].advance(glyph) * 1000.0;
        let used = &mut self.used[font];
        let code = used.remapper.remap(glyph.0);
        used.letters.entry(code).or_insert((letter, width));
        code
    }

    fn write(self, [wide, high]: [f32; 2], title: &str) -> Result<Vec<u8>, PaperError> {
        let [catalog, pages, page, contents, info] = [1, 2, 3, 4, 5].map(Ref::new);
        // Five objects per font, then one per opacity.
        let font_ref = |font: usize, part: i32| Ref::new(6 + 5 * font as i32 + part);
        let opacity_ref = |number: i32| Ref::new(16 + number);
        let mut pdf = Pdf::new();
        pdf.catalog(catalog).pages(pages);
        pdf.pages(pages).kids([page]).count(1);
        pdf.document_info(info).title(TextStr(title)).creator(TextStr("weir"));
        let is_used = |font: &usize| !self.used[*font].letters.is_empty();
        let fonts: Vec<usize> = (0..2).filter(is_used).collect();
        {
            let mut page = pdf.page(page);
            page.parent(pages).media_box(Rect::new(0.0, 0.0, wide, high)).contents(contents);
            let mut resources: Resources<'_> = page.resources();
            let mut names = resources.fonts();
            for font in &fonts {
                names.pair(Name(FONT_NAMES[*font]), font_ref(*font, 0));
            }
            names.finish();
            let mut states = resources.ext_g_states();
            for number in self.opacities.values() {
                states.pair(Name(format!("G{number}").as_bytes()), opacity_ref(*number));
            }
        }
        for (percent, number) in &self.opacities {
            let share = f32::from(*percent) / 100.0;
            pdf.ext_graphics(opacity_ref(*number)).non_stroking_alpha(share).stroking_alpha(share);
        }
        let content = compress_to_vec_zlib(&self.content.finish(), LEVEL);
        pdf.stream(contents, &content).filter(Filter::FlateDecode);
        for font in fonts {
            let refs = [0, 1, 2, 3, 4].map(|part| font_ref(font, part));
            embed(&mut pdf, &self.fonts[font], &self.used[font], refs)?;
        }
        Ok(pdf.finish())
    }
}

/// Writes the used glyphs of a font as five objects.
fn embed(
    pdf: &mut Pdf,
    font: &Font,
    used: &UsedGlyphs,
    [whole, cid, descriptor, file, to_unicode]: [Ref; 5],
) -> Result<(), PaperError> {
    // Six letters tell subsets of one font apart (ISO 32000-1 § 9.6.4).
    let name = format!("WEIRFG+{}", font.name);
    let name = Name(name.as_bytes());
    pdf.type0_font(whole)
        .base_font(name)
        .encoding_predefined(Name(b"Identity-H"))
        .descendant_font(cid)
        .to_unicode(to_unicode);
    let mut cid_font = pdf.cid_font(cid);
    cid_font
        .subtype(CidFontType::Type2)
        .base_font(name)
        .system_info(IDENTITY)
        .font_descriptor(descriptor)
        .default_width(0.0)
        .cid_to_gid_map_predefined(Name(b"Identity"));
    let mut widths = cid_font.widths();
    for (code, (_, width)) in &used.letters {
        widths.consecutive(*code, [*width]);
    }
    widths.finish();
    cid_font.finish();
    let face = &font.face;
    let thousandths = |units: i16| f32::from(units) * 1000.0 / f32::from(face.units_per_em());
    let bounds = face.global_bounding_box();
    let corners = [bounds.x_min, bounds.y_min, bounds.x_max, bounds.y_max].map(thousandths);
    let [left, bottom, right, top] = corners;
    pdf.font_descriptor(descriptor)
        .name(name)
        .flags(FontFlags::NON_SYMBOLIC)
        .bbox(Rect::new(left, bottom, right, top))
        .italic_angle(0.0)
        .ascent(thousandths(face.ascender()))
        .descent(thousandths(face.descender()))
        .cap_height(thousandths(face.capital_height().unwrap_or(face.ascender())))
        // The font does not say how thick its stems are; viewers use this only without the font.
        .stem_v(80.0)
        .font_file2(file);
    let mut cmap = pdf_writer::types::UnicodeCmap::new(Name(b"Custom"), IDENTITY);
    for (code, (letter, _)) in &used.letters {
        cmap.pair(*code, *letter);
    }
    pdf.cmap(to_unicode, &cmap.finish());
    let glyphs = subset(font.data, 0, &used.remapper)?;
    let compressed = compress_to_vec_zlib(&glyphs, LEVEL);
    pdf.stream(file, &compressed)
        .filter(Filter::FlateDecode)
        .pair(Name(b"Length1"), glyphs.len() as i32);
    Ok(())
}

fn colour(ink: Ink) -> [f32; 3] {
    ink.on_paper().map(|part| f32::from(part) / 255.0)
}
