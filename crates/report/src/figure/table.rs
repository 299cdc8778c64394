//! Tables of values: means over the runs, each compared with the same value of another row.

mod difference;
mod html;

use super::words::count;
use super::{Drawable, Drawing, Layout, Width};
use crate::csv;
use crate::plot::DrawError;
use crate::scale::Scale;
use crate::text_table::TextTable;
use metrics::{Better, Estimate, Unit};

/// A table of values, in which rows can be compared with another row.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// Heading of the names of the rows; may be empty.
    pub label: String,
    /// The columns, from left to right.
    pub columns: Vec<Column>,
    /// The rows, from top to bottom.
    pub rows: Vec<Row>,
    /// Name of what the rows are compared with, for the note below the table: `droptail`. Empty if
    /// no row has a [`Row::reference`].
    pub reference: String,
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Heading, without the unit.
    pub name: String,
    /// Unit of the values.
    pub unit: Unit,
    /// Unit in which the values are shown; `None` chooses one that fits them.
    pub scale: Option<Scale>,
    /// Which direction is better.
    pub better: Better,
}

impl Column {
    /// A column of texts, such as names or ranks.
    #[must_use]
    pub fn text(name: &str) -> Self {
        Self { name: name.to_owned(), unit: Unit::Count, scale: None, better: Better::Neither }
    }
}

/// A row of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Name of the row.
    pub label: String,
    /// Content of the row.
    pub cells: Cells,
    /// Index of the row with which the values are compared; `None` or the row's own index for no
    /// comparison.
    pub reference: Option<usize>,
}

/// The content of a row.
#[derive(Clone, Debug, PartialEq)]
pub enum Cells {
    /// One cell per column; missing cells are empty.
    Each(Vec<Cell>),
    /// The row is struck out; the text says why it does not apply.
    Inapplicable(String),
}

/// One cell of a table.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// A text, which is not compared.
    Text(String),
    /// A mean over runs, in the unit of the column.
    Value(Estimate),
}

impl Drawable for Table {
    fn draw(&self, _: &Layout) -> Result<Drawing, DrawError> {
        Ok(Drawing::table(html::table(self)))
    }

    fn describe(&self) -> String {
        format!("{} of {}.", count(self.columns.len(), "value"), count(self.rows.len(), "row"))
    }

    /// A column with half the width of the confidence interval follows each column that has any.
    fn data(&self) -> TextTable {
        let has_interval =
            |column: usize| self.values(column).any(|value| value.half_width.is_some());
        let shown: Vec<(usize, Scale, bool)> = (0..self.columns.len())
            .map(|column| (column, self.unit(column), has_interval(column)))
            .collect();
        let headings = shown.iter().flat_map(|(column, scale, has_interval)| {
            let heading = scale.label(&self.columns[*column].name);
            let half = has_interval.then(|| format!("{heading} ci95 half width"));
            std::iter::once(heading).chain(half)
        });
        let cells = |row: usize| {
            let shown = shown.iter();
            shown.flat_map(move |(column, scale, has_interval)| {
                let value = self.value(row, *column);
                let text = value.map_or_else(
                    || self.text(row, *column),
                    |value| csv::value(value.mean * scale.factor),
                );
                let half = value.and_then(|value| value.half_width).map(|half| half * scale.factor);
                std::iter::once(text).chain(has_interval.then(|| csv::optional(half)))
            })
        };
        let label = if self.label.is_empty() { "row".to_owned() } else { self.label.clone() };
        let row = |(index, row): (usize, &Row)| {
            std::iter::once(row.label.clone()).chain(cells(index)).collect()
        };
        TextTable {
            caption: String::new(),
            columns: std::iter::once(label).chain(headings).collect(),
            rows: self.rows.iter().enumerate().map(row).collect(),
        }
    }

    fn width(&self) -> Width {
        Width::Full
    }

    fn boxed_clone(&self) -> Box<dyn Drawable> {
        Box::new(self.clone())
    }
}

impl Table {
    /// The value of a cell; `None` if there is none.
    #[must_use]
    pub fn value(&self, row: usize, column: usize) -> Option<&Estimate> {
        match &self.rows.get(row)?.cells {
            Cells::Each(cells) => match cells.get(column)? {
                Cell::Value(estimate) => Some(estimate),
                Cell::Text(_) => None,
            },
            Cells::Inapplicable(_) => None,
        }
    }

    /// The unit in which a column is shown.
    ///
    /// # Panics
    /// If there is no such column.
    #[must_use]
    pub fn unit(&self, column: usize) -> Scale {
        self.scale(column, &self.columns[column])
    }

    /// The text of a cell, in the unit of its column and without an interval. Includes `never in 2
    /// of 5 runs` if the value is incomplete.
    #[must_use]
    pub fn text(&self, row: usize, column: usize) -> String {
        match self.rows.get(row).map(|row| &row.cells) {
            Some(Cells::Each(cells)) => match cells.get(column) {
                Some(Cell::Text(text)) => text.clone(),
                Some(Cell::Value(estimate)) => {
                    let number = self.unit(column).number(estimate.mean);
                    match estimate.incomplete() {
                        Some(words) => format!("{number} ({words})"),
                        None => number,
                    }
                }
                None => String::new(),
            },
            Some(Cells::Inapplicable(reason)) if column == 0 => reason.clone(),
            _ => String::new(),
        }
    }

    /// The values of a column.
    fn values(&self, column: usize) -> impl Iterator<Item = &Estimate> {
        (0..self.rows.len()).filter_map(move |row| self.value(row, column))
    }

    /// The unit in which a column is shown.
    fn scale(&self, index: usize, column: &Column) -> Scale {
        column.scale.unwrap_or_else(|| {
            Scale::of(column.unit, self.values(index).map(|estimate| estimate.mean))
        })
    }
}
