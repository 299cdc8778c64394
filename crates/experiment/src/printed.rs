//! What the paper prints, where it differs from what was run.
//!
//! An experiment describes a study as it was run: the code of the browser that the study measured.
//! The section `[as_printed]`, and the same key in a point of an axis, set the values of the study
//! as printed: the equations of the paper.

use super::{Experiment, ExperimentError, grid};
use document::{Fault, KeyPath, Node, Reader, Table, Value};

/// The section, and the key of a point.
pub(super) const KEY: &str = "as_printed";

/// The paths and values under [`KEY`] in `table`; `None` if it has no such key.
///
/// # Errors
/// If a path is wrong or may not be varied.
pub(super) fn read(
    table: &mut Reader<'_>,
    path: &str,
) -> Result<Option<Vec<(KeyPath, Node)>>, Fault> {
    if table.node(KEY).is_none() {
        return Ok(None);
    }
    let entries = table.entries(KEY)?.into_iter().map(|(key, value)| {
        let path = KeyPath::parse(key)
            .map_err(|error| Fault::of(value.location, format!("{path}{KEY}"), error.into()))?;
        grid::check_path(&path, value.location)?;
        Ok((path, value.clone()))
    });
    entries.collect::<Result<_, Fault>>().map(Some)
}

impl Experiment {
    /// The experiment as the paper prints it; `None` if the file has no `[as_printed]`, and the
    /// study ran what it printed.
    ///
    /// # Errors
    /// If the values as printed make no experiment.
    pub fn as_printed(&self) -> Option<Result<Self, ExperimentError>> {
        self.document.get(KEY)?;
        let printed = || {
            let mut document = self.document.clone();
            let node = Node {
                value: Value::Table(document.clone()),
                location: document::Location::Line(1),
            };
            let values = read(&mut Reader::new(&node, "")?, "")?.unwrap_or_default();
            document.retain(|key| key != KEY);
            for (path, value) in &values {
                document.set(path, value)?;
            }
            points_as_printed(&mut document);
            let text = document::write(&document);
            Self::build(document, &text, &self.path, &self.name, self.files.clone())
        };
        Some(printed().map_err(|fault| fault.in_file(&self.path)))
    }
}

/// Replaces the `set` of every point that has values as printed.
fn points_as_printed(document: &mut Table) {
    document.edit_items("axis", |axis| {
        axis.edit_items("points", |point| {
            if let Some(printed) = point.get(KEY).cloned() {
                point.retain(|key| key != KEY);
                point.insert("set", printed);
            }
        });
    });
}
