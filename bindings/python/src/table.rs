//! Tables in Arrow's memory format.

use crate::errors;
use arrow_array::builder::StringDictionaryBuilder;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, Float64Array, RecordBatch, RecordBatchIterator, RecordBatchReader};
use arrow_schema::{Field, Schema};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use std::collections::HashMap;
use std::sync::Arc;

/// A table in Arrow's memory format. Every library that knows Arrow's PyCapsule interface takes it
/// without a copy: `pandas.DataFrame.from_arrow(table)`, `polars.DataFrame(table)`,
/// `pyarrow.table(table)`.
#[pyclass(frozen, module = "weir")]
pub(crate) struct Table(RecordBatch);

#[pymethods]
impl Table {
    /// The table as an Arrow stream (Arrow PyCapsule interface). The requested schema is ignored,
    /// as the interface allows.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        drop(requested_schema);
        let batches = RecordBatchIterator::new([Ok(self.0.clone())], self.0.schema());
        let reader: Box<dyn RecordBatchReader + Send> = Box::new(batches);
        PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(reader), c"arrow_array_stream")
    }

    /// The names of the columns.
    #[getter]
    fn column_names(&self) -> Vec<String> {
        self.0.schema().fields().iter().map(|field| field.name().clone()).collect()
    }

    /// The units of the columns that have one: `s`, `bit/s`, …
    #[getter]
    fn units(&self) -> HashMap<String, String> {
        let schema = self.0.schema();
        let of =
            |field: &Arc<Field>| Some((field.name().clone(), field.metadata().get(UNIT)?.clone()));
        schema.fields().iter().filter_map(of).collect()
    }

    fn __len__(&self) -> usize {
        self.0.num_rows()
    }

    fn __repr__(&self) -> String {
        format!("<weir.Table: {} rows, {} columns>", self.0.num_rows(), self.0.num_columns())
    }
}

/// The key of a column's unit in its metadata.
const UNIT: &str = "weir.unit";

/// Collects the columns of a table.
#[derive(Default)]
pub(crate) struct Columns {
    fields: Vec<Field>,
    arrays: Vec<ArrayRef>,
}

impl Columns {
    /// Adds a column of any kind.
    pub(crate) fn add(&mut self, name: impl Into<String>, array: ArrayRef) {
        self.fields.push(Field::new(name, array.data_type().clone(), true));
        self.arrays.push(array);
    }

    /// Adds a column of numbers; not-a-number becomes null.
    pub(crate) fn numbers(&mut self, name: &str, unit: &str, values: Vec<f64>) {
        let array: Float64Array = if values.iter().any(|value| value.is_nan()) {
            values.into_iter().map(|value| (!value.is_nan()).then_some(value)).collect()
        } else {
            values.into()
        };
        self.add(name, Arc::new(array));
        if let Some(field) = self.fields.last_mut() {
            field.set_metadata(HashMap::from([(UNIT.to_owned(), unit.to_owned())]));
        }
    }

    /// Adds a column of texts, encoded by a dictionary.
    pub(crate) fn texts(&mut self, name: impl Into<String>, mut texts: Texts) {
        self.add(name, Arc::new(texts.finish()));
    }

    pub(crate) fn finish(self) -> PyResult<Table> {
        let schema = Arc::new(Schema::new(self.fields));
        RecordBatch::try_new(schema, self.arrays).map(Table).map_err(errors::other)
    }
}

/// Builds a column of texts.
pub(crate) type Texts = StringDictionaryBuilder<Int32Type>;
