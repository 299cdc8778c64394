use crate::failure::Failure;
use comfy_table::{Attribute, Cell, ContentArrangement, Table, presets};
use serde::Serialize;
use std::io::{BufWriter, Write};

/// Standard output, with colours on a terminal. A closed pipe is an error.
pub(crate) struct Output(BufWriter<anstream::AutoStream<std::io::Stdout>>);

impl Output {
    pub(crate) fn new() -> Self {
        Self(BufWriter::new(anstream::stdout()))
    }

    pub(crate) fn line(&mut self, text: impl std::fmt::Display) -> Result<(), Failure> {
        Ok(writeln!(self.0, "{text}")?)
    }

    /// As [`line`](Self::line), and flushes.
    pub(crate) fn line_at_once(&mut self, text: impl std::fmt::Display) -> Result<(), Failure> {
        self.line(text)?;
        Ok(self.0.flush()?)
    }

    /// One JSON object per line, written at once so that a reader sees it.
    pub(crate) fn json(&mut self, value: &impl Serialize) -> Result<(), Failure> {
        self.line_at_once(serde_json::to_string(value)?)
    }

    /// Flushes the output.
    pub(crate) fn flush(&mut self) -> Result<(), Failure> {
        Ok(self.0.flush()?)
    }

    pub(crate) fn finish(mut self) -> Result<(), Failure> {
        Ok(self.0.flush()?)
    }
}

/// A table without rules, with a bold heading, as wide as the terminal.
pub(crate) fn table<'a>(head: impl IntoIterator<Item = &'a str>) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Dynamic);
    table.set_header(head.into_iter().map(|name| Cell::new(name).add_attribute(Attribute::Bold)));
    table
}
