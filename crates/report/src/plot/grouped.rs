//! Bars and boxes in groups.

use super::axis::{Axis, Shape};
use super::frame::{Below, Chart, Frame, LINE, right_of, wash};
use super::legend::{self, Entry, Swatch, text_width};
use super::theme::{Ink, SCALE};
use super::{Drawing, Drawn, canvas, text};
use crate::model::{At, Bar, BoxStats, Grouped, Mark, PUBLISHED};
use plotters::element::{PathElement, Rectangle};
use plotters::style::Color;
use plotters::style::text_anchor::HPos;

/// Width of the figure and height of the data, in CSS pixels.
const SIZE: (u32, u32) = (480, 205);
/// The width of a group that its items fill.
const FILL: f64 = 0.8;
/// The width of an item's slot that it fills.
const BAR: f64 = 0.84;

/// Space between two names, in CSS pixels.
const GAP: u32 = 6;
/// Most groups that all keep their names.
const WORDS: usize = 8;

/// What is drawn in a slot of a group.
pub(super) trait Item {
    /// The values that the axis must show.
    fn values(&self) -> Vec<f64>;
    /// What the paper reports.
    fn published(&self) -> Option<f64>;
    /// Draws it in its slot.
    fn draw(&self, chart: &mut Chart<'_>, slot: Slot, y: &Axis, ink: Ink) -> Drawn;
}

/// Left end, middle and right end of an item.
#[derive(Clone, Copy)]
pub(super) struct Slot {
    left: f64,
    middle: f64,
    right: f64,
}

pub(super) fn bars(bars: &Grouped<Bar>) -> Drawn<Drawing> {
    draw(bars, true)
}

pub(super) fn boxes(boxes: &Grouped<BoxStats>) -> Drawn<Drawing> {
    draw(boxes, false)
}

impl Item for Bar {
    fn values(&self) -> Vec<f64> {
        let (low, high) = self.spread.unwrap_or((self.value, self.value));
        vec![self.value, low, high]
    }

    fn published(&self) -> Option<f64> {
        self.published
    }

    fn draw(&self, chart: &mut Chart<'_>, slot: Slot, y: &Axis, ink: Ink) -> Drawn {
        let Some(top) = y.place(self.value) else { return Ok(()) };
        let foot = y.place(0.0).unwrap_or(y.low);
        let bar = Rectangle::new([(slot.left, top), (slot.right, foot)], ink.color().filled());
        chart.draw_series([bar]).map_err(text)?;
        if let Some((low, high)) = self.spread.and_then(|(a, b)| Some((y.place(a)?, y.place(b)?))) {
            stroke(chart, &[(slot.middle, low), (slot.middle, high)], Ink::Text)?;
        }
        Ok(())
    }
}

impl Item for BoxStats {
    fn values(&self) -> Vec<f64> {
        vec![self.p5, self.p25, self.p50, self.p75, self.p95]
    }

    fn published(&self) -> Option<f64> {
        self.published
    }

    fn draw(&self, chart: &mut Chart<'_>, slot: Slot, y: &Axis, ink: Ink) -> Drawn {
        let places: Option<Vec<f64>> = self.values().into_iter().map(|v| y.place(v)).collect();
        let Some(&[p5, p25, p50, p75, p95]) = places.as_deref() else { return Ok(()) };
        let Slot { left, middle, right } = slot;
        chart
            .draw_series([Rectangle::new([(left, p75), (right, p25)], wash(ink))])
            .map_err(text)?;
        stroke(chart, &[(left, p25), (right, p25), (right, p75), (left, p75), (left, p25)], ink)?;
        for (from, to) in [(p5, p25), (p75, p95)] {
            stroke(chart, &[(middle, from), (middle, to)], ink)?;
        }
        let (a, b) = (middle - (right - left) / 4.0, middle + (right - left) / 4.0);
        for end in [p5, p95] {
            stroke(chart, &[(a, end), (b, end)], ink)?;
        }
        let style = ink.line(SCALE * 5 / 2);
        chart
            .draw_series([PathElement::new(vec![(left, p50), (right, p50)], style)])
            .map(drop)
            .map_err(text)
    }
}

fn stroke(chart: &mut Chart<'_>, path: &[(f64, f64)], ink: Ink) -> Drawn {
    let path = PathElement::new(path.to_vec(), ink.line(SCALE * 5 / 4));
    chart.draw_series([path]).map(drop).map_err(text)
}

fn draw<T: Item>(grouped: &Grouped<T>, from_zero: bool) -> Drawn<Drawing> {
    let count = grouped.groups.len().max(1);
    let mut x =
        Axis::new([].into_iter(), Shape { fixed: Some((0.0, count as f64)), ..Shape::LINEAR });
    x.ticks.clear();
    let marks: Vec<Mark> =
        grouped.marks.iter().filter(|m| matches!(m.at, At::Y(_))).cloned().collect();
    let shape = Shape { log: grouped.log_y, fixed: grouped.y_range, from_zero, ..Shape::LINEAR };
    let labels: Vec<&str> = grouped.groups.iter().map(|group| group.label.as_str()).collect();
    let names = Names::lay_out(&labels);
    let frame = Frame {
        heading: grouped.y_label.clone(),
        entries: entries(grouped),
        y: Axis::new(values(grouped, &marks), shape),
        x: &x,
        below: Below::Groups(&grouped.x_label, names.lines()),
        size: SIZE,
        right: right_of(&marks),
        marks: &marks,
    };
    canvas(SIZE.0, frame.height(), |root| {
        let mut spots = Vec::new();
        frame.draw(root, 0, |chart| {
            items(chart, grouped, &frame.y)?;
            let spot = |i: usize| {
                let (px, py) = chart.backend_coord(&(i as f64 + 0.5, frame.y.low));
                (px / SCALE as i32, py / SCALE as i32 + 11)
            };
            spots = (0..grouped.groups.len()).map(spot).collect();
            Ok(())
        })?;
        for ((x, y), lines) in spots.into_iter().zip(&names.0) {
            for (row, line) in (0..).zip(lines) {
                legend::write(root, line, (x, y + row * LINE as i32), HPos::Center, Ink::Text)?;
            }
        }
        Ok(())
    })
}

/// The names below the groups, each in one or more lines.
struct Names(Vec<Vec<String>>);

impl Names {
    /// Many groups are steps of a quantity: a name here and there tells them; few are words, broken
    /// into lines, and cut to fit.
    fn lay_out(names: &[&str]) -> Self {
        let room = (SIZE.0 - 76) / names.len().max(1) as u32;
        let widest = names.iter().map(|name| text_width(name) + GAP).max().unwrap_or(0);
        if names.len() > WORDS {
            let every = widest.div_ceil(room.max(1)).max(1);
            let shown = |i: usize| (i as u32).is_multiple_of(every);
            let lines = |(i, name): (usize, &&str)| {
                if shown(i) { vec![shorten(name, room * every)] } else { Vec::new() }
            };
            return Self(names.iter().enumerate().map(lines).collect());
        }
        let shared = if widest > room { shared_words(names.iter().copied()) } else { 0 };
        Self(names.iter().map(|name| broken(&name[shared..], room)).collect())
    }

    fn lines(&self) -> u32 {
        self.0.iter().map(Vec::len).max().unwrap_or(1).max(1) as u32
    }
}

/// A name in as many lines as its words need.
fn broken(name: &str, room: u32) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in name.split(' ') {
        match lines.last_mut() {
            Some(line) if text_width(line) + text_width(word) + GAP <= room => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines.iter().map(|line| shorten(line, room)).collect()
}

/// How long the words are with which all names begin: what can be left out of them.
fn shared_words<'a>(mut names: impl Iterator<Item = &'a str>) -> usize {
    let Some(first) = names.next() else { return 0 };
    let alike = |a: &str, b: &str| a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    let shared = names.map(|name| alike(first, name)).min().unwrap_or(0);
    first.as_bytes()[..shared].iter().rposition(|&byte| byte == b' ').map_or(0, |space| space + 1)
}

/// A name that fits into `room` CSS pixels.
pub(super) fn shorten(name: &str, room: u32) -> String {
    if text_width(name) <= room {
        return name.to_owned();
    }
    let letters =
        (name.chars().count() as u32 * room / text_width(name).max(1)).saturating_sub(1).max(1);
    name.chars().take(letters as usize).chain(['…']).collect()
}

fn items<T: Item>(chart: &mut Chart<'_>, grouped: &Grouped<T>, y: &Axis) -> Drawn {
    let slots = grouped.series.len().max(1) as f64;
    for (g, group) in grouped.groups.iter().enumerate() {
        for (s, (item, (_, role))) in group.items.iter().zip(&grouped.series).enumerate() {
            let Some(item) = item else { continue };
            let middle = g as f64 + 0.5 + FILL * ((s as f64 + 0.5) / slots - 0.5);
            let half = (FILL / slots).min(0.3) / 2.0;
            let slot = Slot { left: middle - half * BAR, middle, right: middle + half * BAR };
            item.draw(chart, slot, y, Ink::of(*role))?;
            if let Some(value) = item.published().and_then(|v| y.place(v)) {
                let path = vec![(middle - half, value), (middle + half, value)];
                // A rim in the colour of the paper, as the line may lie on a bar of any colour.
                let rim = PathElement::new(path.clone(), Ink::Paper.line(SCALE * 4));
                let line = PathElement::new(path, Ink::Published.line(SCALE * 2));
                chart.draw_series([rim, line]).map_err(text)?;
            }
        }
    }
    Ok(())
}

pub(super) fn entries<T: Item>(grouped: &Grouped<T>) -> Vec<Entry> {
    let series = grouped.series.iter().filter(|(name, _)| !name.is_empty());
    let mut entries: Vec<Entry> =
        series.map(|(name, role)| (name.clone(), Swatch::Fill, Ink::of(*role))).collect();
    let mut all = grouped.groups.iter().flat_map(|g| g.items.iter().flatten());
    if all.any(|item| item.published().is_some()) {
        entries.push((PUBLISHED.to_owned(), Swatch::Line, Ink::Published));
    }
    entries
}

pub(super) fn values<T: Item>(grouped: &Grouped<T>, marks: &[Mark]) -> impl Iterator<Item = f64> {
    let items = grouped.groups.iter().flat_map(|g| g.items.iter().flatten());
    let shown: Vec<f64> = items.flat_map(|i| i.values().into_iter().chain(i.published())).collect();
    let marked: Vec<f64> =
        marks.iter().filter_map(|m| if let At::Y(y) = m.at { Some(y) } else { None }).collect();
    shown.into_iter().chain(marked)
}

#[cfg(test)]
mod tests {
    use super::{broken, shared_words};

    #[test]
    fn long_names_are_broken_between_words() {
        assert_eq!(broken("HTB204 fifo 125kB", 1_000), ["HTB204 fifo 125kB"]);
        assert_eq!(broken("Droptail 16kB", 60), ["Droptail", "16kB"]);
        assert_eq!(broken("PIE", 60), ["PIE"]);
        assert!(broken("Donaudampfschiff", 60)[0].ends_with('…'));
    }

    #[test]
    fn words_that_all_names_share_are_found() {
        let shared = |names: &[&str]| shared_words(names.iter().copied());
        assert_eq!(
            shared(&["droptail limit 150ms", "droptail limit 1500ms"]),
            "droptail limit ".len()
        );
        assert_eq!(shared(&["150ms", "1500ms"]), 0);
        assert_eq!(shared(&["pfifo limit 1", "codel limit 1"]), 0);
        assert_eq!(shared(&["only one"]), 0);
        assert_eq!(shared(&[]), 0);
    }
}
