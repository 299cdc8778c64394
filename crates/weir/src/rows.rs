use comfy_table::{Attribute, Color, ContentArrangement, Table, presets};
use document::shown;
use std::fmt;

/// A table without rules, with a bold heading, as wide as the terminal.
pub(crate) struct Rows(Table);

impl Rows {
    /// An empty table with this heading.
    pub(crate) fn new<'a>(head: impl IntoIterator<Item = &'a str>) -> Self {
        let mut table = Table::new();
        table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Dynamic);
        let head = head.into_iter().map(|name| Cell::from(name).0.add_attribute(Attribute::Bold));
        table.set_header(head);
        Self(table)
    }

    /// Adds a row.
    pub(crate) fn add(&mut self, cells: impl IntoIterator<Item = impl Into<Cell>>) {
        self.0.add_row(cells.into_iter().map(|cell| cell.into().0));
    }
}

impl fmt::Display for Rows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A cell of [`Rows`]. Its text has its control characters as escapes.
pub(crate) struct Cell(comfy_table::Cell);

impl<T: fmt::Display> From<T> for Cell {
    fn from(text: T) -> Self {
        Self(comfy_table::Cell::new(shown::escaped(&text.to_string())))
    }
}

impl Cell {
    /// The cell in this colour.
    pub(crate) fn coloured(self, colour: Color) -> Self {
        Self(self.0.fg(colour))
    }
}
