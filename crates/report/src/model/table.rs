use super::Scale;
use metrics::{Better, Estimate, Unit};

/// A table of values: what each row is, and how it stands against another row.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// Heading of the rows' names; may be empty.
    pub label: String,
    /// What stands in a row, from left to right.
    pub columns: Vec<Column>,
    /// From top to bottom.
    pub rows: Vec<Row>,
    /// What the rows are compared with, as the reader knows it: `droptail`. Empty if no row has a
    /// [`Row::reference`].
    pub reference: String,
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Its heading, without the unit.
    pub name: String,
    /// The unit of its values.
    pub unit: Unit,
    /// The unit in which they are shown; one that fits them all if `None`.
    pub scale: Option<Scale>,
    /// Which way they improve.
    pub better: Better,
}

impl Column {
    /// A column of texts: names, ranks.
    #[must_use]
    pub fn text(name: &str) -> Self {
        Self { name: name.to_owned(), unit: Unit::Count, scale: None, better: Better::Neither }
    }
}

/// A row of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Its name.
    pub label: String,
    /// What it says.
    pub cells: Cells,
    /// The index of the row that its values are compared with; itself or `None` for no comparison.
    pub reference: Option<usize>,
}

/// What a row says.
#[derive(Clone, Debug, PartialEq)]
pub enum Cells {
    /// A cell a column; those that are missing are empty.
    Each(Vec<Cell>),
    /// The row is struck out: why it does not apply.
    Inapplicable(String),
}

/// One cell of a table.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// As it stands; it is not compared.
    Text(String),
    /// A mean over runs, in the unit of the column.
    Value(Estimate),
}

impl Table {
    /// The value in a cell, if there is one.
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
    #[must_use]
    pub fn unit(&self, column: usize) -> Scale {
        self.scale(column, &self.columns[column])
    }

    /// What stands in a cell, in the unit of its column and without an interval: `never in 2 of 5
    /// runs` as well, if that is so.
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
    pub(crate) fn values(&self, column: usize) -> impl Iterator<Item = &Estimate> {
        (0..self.rows.len()).filter_map(move |row| self.value(row, column))
    }

    /// The unit in which a column is shown.
    pub(crate) fn scale(&self, index: usize, column: &Column) -> Scale {
        column.scale.unwrap_or_else(|| {
            Scale::of(column.unit, self.values(index).map(|estimate| estimate.mean))
        })
    }
}
