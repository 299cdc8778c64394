//! What bars and boxes in groups share.

use super::words::number;
use super::{Drawing, Layout};
use crate::csv;
use crate::plot::{
    Axis, AxisOptions, Below, Chart, DrawResult, Entry, Frame, Ink, LEFT, LINE_HEIGHT, Legend,
    Mark, Note, PUBLISHED, Pen, Picture, Role, SCALE, Swatch, broken, canvas, margin_right,
    shorten, text_width, write,
};
use crate::text_table::TextTable;
use maud::html;
use plotters::element::PathElement;
use plotters::style::text_anchor::HPos;

/// Height of the data, in CSS pixels.
const HEIGHT: u32 = 215;
/// Share of a group's width that its items fill.
const FILL: f64 = 0.8;
/// Share of its slot that an item fills.
const BAR: f64 = 0.84;
/// Space between two names, in CSS pixels.
const GAP: u32 = 6;
/// The greatest number of groups whose names are all written, per 480 CSS pixels of width.
const MAX_NAMES: usize = 8;
/// The greatest number of groups that are drawn: each is then 4 CSS pixels wide. Our choice.
const MAX_GROUPS: usize = 100;
/// The greatest number of items of a group that are drawn: four per colour. Our choice.
const MAX_SERIES: usize = 24;

/// Items in groups: for example one group per queue length, with one item per capacity.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Grouped<T> {
    /// Names of the items of a group, in order, for the legend.
    pub series: Vec<(String, Role)>,
    /// What the names of the items are values of, such as `rate of alice.up`; may be empty.
    pub legend: String,
    /// The groups, from left to right.
    pub groups: Vec<Group<T>>,
    /// Label below the groups, with its unit: `T_q (ms)`.
    pub x_label: String,
    /// Label of the axis of values, with its unit.
    pub y_label: String,
    /// Values that hold for all groups, as [`MarkAt::Y`](crate::MarkAt::Y); other marks are left
    /// out.
    pub marks: Vec<Mark>,
    /// Fixed range of the axis of values; `None` fits the values.
    pub y_range: Option<(f64, f64)>,
    /// Logarithmic axis of values; its floor is as in [`Panel::log_y`](crate::Panel::log_y).
    pub log_y: bool,
    /// What an item and its whiskers are, written below the plot; may be empty.
    pub note: String,
}

/// One group.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Group<T> {
    /// Label of the group.
    pub label: String,
    /// One item per entry of [`Grouped::series`]; `None` leaves a gap.
    pub items: Vec<Option<T>>,
}

/// What is drawn in a slot of a group.
pub(super) trait Item: Clone {
    /// Headings of [`Self::numbers`].
    const COLUMNS: &'static [&'static str];

    /// The numbers for the table below the figure.
    fn numbers(&self) -> Vec<Option<f64>>;

    /// The value that decides whether there is anything to show.
    fn value(&self) -> f64;

    /// The values that the axis must show, without the published one.
    fn axis_values(&self) -> Vec<f64>;

    /// What the paper reports.
    fn published(&self) -> Option<f64>;

    /// Draws the item in its slot.
    fn draw(&self, chart: &mut Chart<'_>, slot: Slot, y: &Axis, ink: Ink) -> DrawResult;
}

/// Left end, middle and right end of an item.
#[derive(Clone, Copy)]
pub(super) struct Slot {
    pub(super) left: f64,
    pub(super) middle: f64,
    pub(super) right: f64,
}

impl<T> Grouped<T> {
    fn items(&self) -> impl Iterator<Item = &T> {
        self.groups.iter().flat_map(|group| group.items.iter().flatten())
    }

    /// The marks that hold for all groups.
    pub(super) fn horizontal_marks(&self) -> Vec<Mark> {
        self.marks.iter().filter(|mark| mark.is_horizontal()).cloned().collect()
    }

    /// Fixes the range of a linear axis.
    pub(super) fn set_axis_range(&mut self, range: (f64, f64)) {
        self.y_range = (!self.log_y).then_some(range);
    }
}

/// The values that the axis must show.
pub(super) fn axis_values<T: Item>(grouped: &Grouped<T>) -> impl Iterator<Item = f64> {
    let items =
        grouped.items().flat_map(|item| item.axis_values().into_iter().chain(item.published()));
    let marks = grouped.marks.iter().filter(|mark| mark.is_horizontal());
    items.chain(marks.map(Mark::value))
}

/// The legend.
pub(super) fn legend<T: Item>(grouped: &Grouped<T>) -> Legend {
    let series = grouped.series.iter().filter(|(name, _)| !name.is_empty());
    let entry = |name: &str, swatch, pen| Entry { name: name.to_owned(), swatch, pen };
    let mut entries: Vec<Entry> =
        series.map(|(name, role)| entry(name, Swatch::Fill, Pen::solid(Ink::of(*role)))).collect();
    if grouped.items().any(|item| item.published().is_some()) {
        entries.push(entry(PUBLISHED, Swatch::Line, Pen::solid(Ink::Published)));
    }
    Legend { title: grouped.legend.clone(), entries }
}

/// The items as a table, without columns that are empty, for people.
pub(super) fn numbers<T: Item>(grouped: &Grouped<T>) -> TextTable {
    table(grouped, number)
}

/// As [`numbers`], with all digits.
pub(super) fn data<T: Item>(grouped: &Grouped<T>) -> TextTable {
    table(grouped, csv::value)
}

fn table<T: Item>(grouped: &Grouped<T>, number: impl Fn(f64) -> String) -> TextTable {
    let mut rows: Vec<([&String; 2], Vec<Option<f64>>)> = Vec::new();
    for group in &grouped.groups {
        for (item, (name, _)) in group.items.iter().zip(&grouped.series) {
            let Some(item) = item else { continue };
            rows.push(([&group.label, name], item.numbers()));
        }
    }
    let is_used = |index: &usize| {
        rows.iter().any(|(_, numbers)| numbers.get(*index).is_some_and(Option::is_some))
    };
    let used: Vec<usize> = (0..T::COLUMNS.len()).filter(is_used).collect();
    let headings = used.iter().map(|index| T::COLUMNS[*index].to_owned());
    let or = |text: &str, otherwise: &str| {
        if text.is_empty() { otherwise.to_owned() } else { text.to_owned() }
    };
    let columns = [or(&grouped.x_label, "group"), or(&grouped.legend, "series")]
        .into_iter()
        .chain(headings)
        .collect();
    let row = |(names, numbers): &([&String; 2], Vec<Option<f64>>)| {
        let cell = |index: &usize| {
            numbers.get(*index).copied().flatten().map_or_else(String::new, &number)
        };
        names.iter().map(|name| (*name).clone()).chain(used.iter().map(cell)).collect()
    };
    TextTable { caption: grouped.y_label.clone(), columns, rows: rows.iter().map(row).collect() }
}

/// One item per source in each group, if each source has one series. A value that is not finite is
/// a gap.
pub(super) fn merged<'a, T: Item + 'a>(
    sources: impl Iterator<Item = (&'a str, &'a Grouped<T>)>,
) -> Option<Grouped<T>> {
    let sources: Vec<_> = sources.collect();
    let (_, first) = sources.first()?;
    if sources.iter().any(|(_, grouped)| grouped.series.len() != 1) {
        return None;
    }
    let mut labels: Vec<&str> = Vec::new();
    for group in sources.iter().flat_map(|(_, grouped)| &grouped.groups) {
        if !labels.contains(&group.label.as_str()) {
            labels.push(&group.label);
        }
    }
    let item = |label: &str, grouped: &Grouped<T>| {
        let group = grouped.groups.iter().find(|group| group.label == label)?;
        group.items.first()?.clone().filter(|item| item.value().is_finite())
    };
    let group = |label: &str| Group {
        label: label.to_owned(),
        items: sources.iter().map(|(_, grouped)| item(label, grouped)).collect(),
    };
    let series = sources
        .iter()
        .enumerate()
        .map(|(index, (who, _))| ((*who).to_owned(), Role::Series(index)));
    Some(Grouped {
        series: series.collect(),
        legend: String::new(),
        groups: labels.into_iter().map(group).collect(),
        ..(*first).clone()
    })
}

/// The drawing of the groups, by `draw`. If there are too many, the first ones are drawn, and a
/// note says so.
pub(super) fn drawing<T: Item>(
    grouped: &Grouped<T>,
    draw: impl Fn(&Grouped<T>) -> DrawResult<Picture>,
) -> DrawResult<Drawing> {
    let (groups, series) = (grouped.groups.len(), grouped.series.len());
    if groups <= MAX_GROUPS && series <= MAX_SERIES {
        return draw(grouped).map(Drawing::plot);
    }
    let first = |group: &Group<T>| Group {
        label: group.label.clone(),
        items: group.items.iter().take(MAX_SERIES).cloned().collect(),
    };
    let shown = Grouped {
        series: grouped.series.iter().take(MAX_SERIES).cloned().collect(),
        groups: grouped.groups.iter().take(MAX_GROUPS).map(first).collect(),
        ..grouped.clone()
    };
    let counts = [(shown.groups.len(), groups, "groups"), (shown.series.len(), series, "series")];
    let fewer = counts.into_iter().filter(|(shown, all, _)| shown < all);
    let fewer: Vec<String> =
        fewer.map(|(shown, all, what)| format!("the first {shown} of {all} {what}")).collect();
    let html = html! { p.note { "Drawn: " (fewer.join(" and ")) ". All values are in the numbers below." } };
    Ok(Drawing { html, ..Drawing::plot(draw(&shown)?) })
}

/// Draws the groups from left to right.
pub(super) fn draw<T: Item>(
    grouped: &Grouped<T>,
    from_zero: bool,
    layout: &Layout,
) -> DrawResult<Picture> {
    let width = layout.width;
    let count = grouped.groups.len().max(1);
    let whole = AxisOptions { fixed: Some((0.0, count as f64)), ..AxisOptions::LINEAR };
    let mut x = Axis::new([].into_iter(), whole);
    x.ticks.clear();
    let marks = grouped.horizontal_marks();
    let options = AxisOptions {
        log: grouped.log_y,
        fixed: grouped.y_range,
        from_zero,
        ..AxisOptions::LINEAR
    };
    let labels: Vec<&str> = grouped.groups.iter().map(|group| group.label.as_str()).collect();
    let right = margin_right(&marks);
    let names = Names::lay_out(&labels, width.saturating_sub(LEFT + right).max(1));
    let frame = Frame {
        heading: grouped.y_label.clone(),
        legend: legend(grouped),
        y: Axis::new(axis_values(grouped), options),
        x: &x,
        below: Below::Groups(&grouped.x_label, names.lines()),
        size: (width, HEIGHT),
        right,
        marks: &marks,
    };
    let note = Note::lay_out(&grouped.note, width);
    canvas(width, frame.height() + note.height(), |root| {
        let mut feet = Vec::new();
        frame.draw(root, 0, |chart| {
            draw_items(chart, grouped, &frame.y)?;
            let foot = |i: usize| {
                let (px, py) = chart.backend_coord(&(i as f64 + 0.5, frame.y.low));
                (px / SCALE as i32, py / SCALE as i32 + 11)
            };
            feet = (0..grouped.groups.len()).map(foot).collect();
            Ok(())
        })?;
        for ((x, y), lines) in feet.into_iter().zip(&names.0) {
            for (row, line) in (0..).zip(lines) {
                let pixel = (x, y + row * LINE_HEIGHT as i32);
                write(root, line, pixel, HPos::Center, Ink::Text)?;
            }
        }
        note.draw(root, frame.height())
    })
}

fn draw_items<T: Item>(chart: &mut Chart<'_>, grouped: &Grouped<T>, y: &Axis) -> DrawResult {
    let slots = grouped.series.len().max(1) as f64;
    for (g, group) in grouped.groups.iter().enumerate() {
        for (s, (item, (_, role))) in group.items.iter().zip(&grouped.series).enumerate() {
            let Some(item) = item else { continue };
            let middle = g as f64 + 0.5 + FILL * ((s as f64 + 0.5) / slots - 0.5);
            let half = (FILL / slots).min(0.3) / 2.0;
            let slot = Slot { left: middle - half * BAR, middle, right: middle + half * BAR };
            item.draw(chart, slot, y, Ink::of(*role))?;
            if let Some(value) = item.published().and_then(|v| y.position(v)) {
                let path = vec![(middle - half, value), (middle + half, value)];
                // A rim in the colour of the page: the line may cross a bar of any colour.
                let rim = PathElement::new(path.clone(), Ink::Paper.line(SCALE * 4));
                let line = PathElement::new(path, Ink::Published.line(SCALE * 2));
                chart.draw_series([rim, line])?;
            }
        }
    }
    Ok(())
}

/// Draws a thin line along `path`.
pub(super) fn line(chart: &mut Chart<'_>, path: &[(f64, f64)], ink: Ink) -> DrawResult {
    let path = PathElement::new(path.to_vec(), ink.line(SCALE * 5 / 4));
    chart.draw_series([path]).map(drop)
}

/// The names below the groups, each with its lines.
struct Names(Vec<Vec<String>>);

impl Names {
    /// Many groups are usually the steps of a quantity: only every n-th name is written. The names
    /// of few groups are all written, in several lines and shortened if necessary.
    fn lay_out(names: &[&str], width: u32) -> Self {
        let room = width / names.len().max(1) as u32;
        let widest = names.iter().map(|name| text_width(name) + GAP).max().unwrap_or(0);
        if names.len() > (MAX_NAMES * width as usize).div_ceil(480) {
            let every = widest.div_ceil(room.max(1)).max(1);
            let shown = |i: usize| (i as u32).is_multiple_of(every);
            let lines = |(i, name): (usize, &&str)| {
                if shown(i) {
                    vec![shorten(name, (room * every).saturating_sub(GAP))]
                } else {
                    Vec::new()
                }
            };
            return Self(names.iter().enumerate().map(lines).collect());
        }
        let shared = if widest > room { shared_words(names.iter().copied()) } else { 0 };
        let line_of = |name: &&str| broken(&name[shared..], room.saturating_sub(GAP), text_width);
        Self(names.iter().map(line_of).collect())
    }

    fn lines(&self) -> u32 {
        self.0.iter().map(Vec::len).max().unwrap_or(1).max(1) as u32
    }
}

/// The length in bytes of the words with which all names begin; these can be left out.
fn shared_words<'a>(mut names: impl Iterator<Item = &'a str>) -> usize {
    let Some(first) = names.next() else { return 0 };
    let alike = |a: &str, b: &str| a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    let shared = names.map(|name| alike(first, name)).min().unwrap_or(0);
    first.as_bytes()[..shared].iter().rposition(|&byte| byte == b' ').map_or(0, |space| space + 1)
}

#[cfg(test)]
mod tests {
    use super::shared_words;

    #[test]
    fn words_with_which_all_names_begin_are_found() {
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
