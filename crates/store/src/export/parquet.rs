//! The long table as Apache Parquet, compressed with Zstandard, which pandas, Polars, R, DuckDB and
//! Spark read.
//!
//! The key-value metadata of the file are `weir.experiment`, `weir.seed`, `weir.mode`,
//! `weir.version` (each value once, separated by commas) and `weir.file` (the text of the
//! experiment file, if all runs share it).

use super::file::ExportError;
use super::frame::{Frame, FrameColumn};
use super::table::{Row, parameter, parameters, rows};
use super::wide::{MetricRow, MetricTable};
use crate::{RunMeta, StoredRun};
use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical, ZstdLevel};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{Type, TypePtr};
use sim::Recording;
use std::collections::BTreeMap;
use std::io::Write;
use std::sync::Arc;
use units::Duration;

/// The largest number of rows of a row group, so that a writer or a reader needs a few tens of
/// megabytes. A row group contains one run only.
const GROUP_ROWS: usize = 1 << 18;

/// Writes one run as Parquet.
///
/// # Errors
/// If `writer` fails.
pub fn write_parquet<W: Write + Send>(
    run: &StoredRun,
    recording: &Recording,
    writer: W,
) -> Result<(), ExportError> {
    let mut table = ParquetTable::new(writer, parameters([&run.meta]))?;
    table.add(run, recording)?;
    table.finish().map(drop)
}

impl MetricTable<'_> {
    /// Writes the table as Parquet. The key-value metadata of the file have the unit of each metric
    /// (`weir.unit.rtt_p95`).
    ///
    /// # Errors
    /// If `writer` fails.
    pub fn write_parquet<W: Write + Send>(&self, writer: W) -> Result<(), ExportError> {
        let used = self.used();
        let schema = Arc::new(self.schema(&used)?);
        let mut writer = SerializedFileWriter::new(writer, schema, Arc::new(properties()))?;
        for rows in self.rows.chunks(GROUP_ROWS) {
            let mut columns = Columns { group: writer.next_row_group()?, rows: rows.len() };
            self.add(&mut columns, rows, &used)?;
            columns.group.close()?;
        }
        for metric in used {
            let (name, unit) = &self.metrics[metric];
            let unit = KeyValue::new(format!("weir.unit.{name}"), unit.clone());
            writer.append_key_value_metadata(unit);
        }
        writer.close()?;
        Ok(())
    }

    fn schema(&self, used: &[usize]) -> Result<Type, ParquetError> {
        let needed = Repetition::REQUIRED;
        let mut all = facts(&self.keys)?;
        all.push(text("stream", needed)?);
        all.push(text("kind", needed)?);
        for metric in used {
            let (name, _) = &self.metrics[*metric];
            all.push(column(name, Physical::DOUBLE, None, Repetition::OPTIONAL)?);
        }
        Type::group_type_builder("weir").with_fields(all).build()
    }

    fn add<W: Write + Send>(
        &self,
        columns: &mut Columns<'_, W>,
        rows: &[MetricRow<'_>],
        used: &[usize],
    ) -> Result<(), ParquetError> {
        let of = |value: &dyn Fn(&MetricRow<'_>) -> i64| rows.iter().map(value).collect::<Vec<_>>();
        let words = |word: &dyn Fn(&MetricRow<'_>) -> String| {
            rows.iter().map(|row| ByteArray::from(word(row).as_str())).collect::<Vec<_>>()
        };
        columns.column::<Int64Type>(&of(&|row| row.run.id), None)?;
        columns.column::<ByteArrayType>(&words(&|row| row.run.meta.experiment.clone()), None)?;
        columns.column::<ByteArrayType>(&words(&|row| row.run.meta.mode.to_string()), None)?;
        let limited = rows.iter().map(|row| row.run.meta.cpu_limited().is_some());
        columns.column::<BoolType>(&limited.collect::<Vec<_>>(), None)?;
        for key in &self.keys {
            let own: Vec<_> = rows.iter().map(|row| parameter(&row.run.meta, key)).collect();
            let values: Vec<_> = own.iter().flatten().map(|text| ByteArray::from(*text)).collect();
            let levels: Vec<i16> = own.iter().map(|own| i16::from(own.is_some())).collect();
            columns.column::<ByteArrayType>(&values, Some(&levels))?;
        }
        columns.column::<Int64Type>(&of(&|row| row.run.meta.seed.0.cast_signed()), None)?;
        columns.column::<ByteArrayType>(&words(&|row| row.stream.clone()), None)?;
        columns.column::<ByteArrayType>(&words(&|row| row.kind.to_owned()), None)?;
        for metric in used {
            columns.reals(&rows.iter().map(|row| row.values[*metric]).collect::<Vec<_>>())?;
        }
        Ok(())
    }
}

impl Frame {
    /// Writes the table as Parquet, with one row group.
    ///
    /// # Errors
    /// If `writer` fails.
    pub fn write_parquet<W: Write + Send>(&self, writer: W) -> Result<(), ExportError> {
        let (needed, optional) = (Repetition::REQUIRED, Repetition::OPTIONAL);
        let types = self.columns.iter().map(|(name, values)| match values {
            FrameColumn::Integer(_) => column(name, Physical::INT64, None, needed),
            FrameColumn::Unsigned(_) => unsigned(name),
            FrameColumn::Real(_) => column(name, Physical::DOUBLE, None, optional),
            FrameColumn::Text(_) => text(name, optional),
        });
        let types = types.collect::<Result<Vec<_>, _>>()?;
        let schema = Arc::new(Type::group_type_builder("weir").with_fields(types).build()?);
        let mut writer = SerializedFileWriter::new(writer, schema, Arc::new(properties()))?;
        let rows = self.columns.first().map_or(0, |(_, values)| values.len());
        {
            let mut columns = Columns { group: writer.next_row_group()?, rows };
            for (_, values) in &self.columns {
                columns.values(values)?;
            }
            columns.group.close()?;
        }
        writer.close()?;
        Ok(())
    }
}

fn properties() -> WriterProperties {
    WriterProperties::builder()
        .set_created_by(format!("weir {}", env!("CARGO_PKG_VERSION")))
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .build()
}

/// Writes the long table of one or several runs.
pub struct ParquetTable<W: Write + Send> {
    writer: SerializedFileWriter<W>,
    keys: Vec<String>,
    interval: Option<Duration>,
    metadata: BTreeMap<&'static str, Vec<String>>,
}

impl<W: Write + Send> ParquetTable<W> {
    /// Begins a table with a column for each grid parameter of `keys`, see [`parameters`].
    ///
    /// # Errors
    /// If `writer` fails.
    pub fn new(writer: W, keys: Vec<String>) -> Result<Self, ExportError> {
        let schema = Arc::new(schema(&keys)?);
        let writer = SerializedFileWriter::new(writer, schema, Arc::new(properties()))?;
        Ok(Self { writer, keys, interval: None, metadata: BTreeMap::new() })
    }

    /// From now on only the last value of each quantity in each interval, and all events.
    #[must_use]
    pub fn every(self, interval: Option<Duration>) -> Self {
        Self { interval, ..self }
    }

    /// Adds the rows of a run.
    ///
    /// # Errors
    /// If the writer fails.
    pub fn add(&mut self, run: &StoredRun, recording: &Recording) -> Result<(), ExportError> {
        self.note(&run.meta);
        let mut rows = rows(recording, self.interval);
        loop {
            let group: Vec<Row<'_>> = rows.by_ref().take(GROUP_ROWS).collect();
            if group.is_empty() {
                return Ok(());
            }
            let mut columns = Columns { group: self.writer.next_row_group()?, rows: group.len() };
            columns.add(run, &self.keys, &group)?;
            columns.group.close()?;
        }
    }

    /// Collects the metadata of a run.
    fn note(&mut self, meta: &RunMeta) {
        let facts = [
            ("weir.experiment", meta.experiment.clone()),
            ("weir.seed", meta.seed.to_string()),
            ("weir.mode", meta.mode.to_string()),
            ("weir.version", meta.version.clone()),
            ("weir.file", meta.file.to_string()),
        ];
        for (key, value) in facts {
            let values = self.metadata.entry(key).or_default();
            if !values.contains(&value) {
                values.push(value);
            }
        }
    }

    /// Ends the table and returns the writer.
    ///
    /// # Errors
    /// If the writer fails.
    pub fn finish(mut self) -> Result<W, ExportError> {
        for (key, values) in &self.metadata {
            if *key != "weir.file" || values.len() == 1 {
                self.writer
                    .append_key_value_metadata(KeyValue::new((*key).to_owned(), values.join(",")));
            }
        }
        Ok(self.writer.into_inner()?)
    }
}

/// The schema of the table.
fn schema(keys: &[String]) -> Result<Type, ParquetError> {
    let needed = Repetition::REQUIRED;
    let mut all = facts(keys)?;
    all.push(text("stream", needed)?);
    all.push(text("record", needed)?);
    all.push(column("time_s", Physical::DOUBLE, None, needed)?);
    all.push(text("name", needed)?);
    all.push(column("value", Physical::DOUBLE, None, needed)?);
    Type::group_type_builder("weir").with_fields(all).build()
}

/// The columns that say which run a row belongs to.
fn facts(keys: &[String]) -> Result<Vec<TypePtr>, ParquetError> {
    let needed = Repetition::REQUIRED;
    let mut all = vec![
        column("run", Physical::INT64, None, needed)?,
        text("experiment", needed)?,
        text("mode", needed)?,
        column("cpu_limited", Physical::BOOLEAN, None, needed)?,
    ];
    for key in keys {
        all.push(text(&format!("cell.{key}"), Repetition::OPTIONAL)?);
    }
    all.push(unsigned("seed")?);
    Ok(all)
}

fn column(
    name: &str,
    physical: Physical,
    logical: Option<LogicalType>,
    repetition: Repetition,
) -> Result<TypePtr, ParquetError> {
    let column = Type::primitive_type_builder(name, physical).with_logical_type(logical);
    Ok(Arc::new(column.with_repetition(repetition).build()?))
}

fn unsigned(name: &str) -> Result<TypePtr, ParquetError> {
    let logical = Some(LogicalType::integer(64, false));
    column(name, Physical::INT64, logical, Repetition::REQUIRED)
}

fn text(name: &str, repetition: Repetition) -> Result<TypePtr, ParquetError> {
    column(name, Physical::BYTE_ARRAY, Some(LogicalType::String), repetition)
}

/// Writes a row group, column by column in the order of the schema.
struct Columns<'a, W: Write> {
    group: SerializedRowGroupWriter<'a, W>,
    rows: usize,
}

impl<W: Write + Send> Columns<'_, W> {
    fn add(
        &mut self,
        run: &StoredRun,
        keys: &[String],
        rows: &[Row<'_>],
    ) -> Result<(), ParquetError> {
        self.integer(run.id)?;
        self.constant(&run.meta.experiment)?;
        self.constant(run.meta.mode.as_str())?;
        self.column::<BoolType>(&vec![run.meta.cpu_limited().is_some(); self.rows], None)?;
        for key in keys {
            self.optional(parameter(&run.meta, key))?;
        }
        self.integer(run.meta.seed.0.cast_signed())?;
        self.text(rows, |row| row.stream)?;
        self.text(rows, |row| row.record)?;
        self.real(rows, |row| row.time.as_secs_f64())?;
        self.text(rows, |row| row.name)?;
        self.real(rows, |row| row.value)
    }

    fn column<T: parquet::data_type::DataType>(
        &mut self,
        values: &[T::T],
        levels: Option<&[i16]>,
    ) -> Result<(), ParquetError> {
        let missing = || ParquetError::General("fewer columns than the schema has".into());
        let mut column = self.group.next_column()?.ok_or_else(missing)?;
        column.typed::<T>().write_batch(values, levels, None)?;
        column.close()
    }

    /// The values of a column; not-a-number and `None` are null (definition level 0).
    fn values(&mut self, values: &FrameColumn) -> Result<(), ParquetError> {
        match values {
            FrameColumn::Integer(values) => self.column::<Int64Type>(values, None),
            FrameColumn::Unsigned(values) => {
                let values: Vec<i64> = values.iter().map(|value| value.cast_signed()).collect();
                self.column::<Int64Type>(&values, None)
            }
            FrameColumn::Real(values) => self.reals(values),
            FrameColumn::Text(values) => {
                let levels: Vec<i16> =
                    values.iter().map(|value| i16::from(value.is_some())).collect();
                let present = values.iter().flatten();
                let values: Vec<_> = present.map(|value| ByteArray::from(value.as_str())).collect();
                self.column::<ByteArrayType>(&values, Some(&levels))
            }
        }
    }

    /// Real numbers; not-a-number is null.
    fn reals(&mut self, values: &[f64]) -> Result<(), ParquetError> {
        let levels: Vec<i16> = values.iter().map(|value| i16::from(!value.is_nan())).collect();
        let values: Vec<f64> = values.iter().copied().filter(|value| !value.is_nan()).collect();
        self.column::<DoubleType>(&values, Some(&levels))
    }

    fn integer(&mut self, value: i64) -> Result<(), ParquetError> {
        self.column::<Int64Type>(&vec![value; self.rows], None)
    }

    fn real(
        &mut self,
        rows: &[Row<'_>],
        value: impl Fn(&Row<'_>) -> f64,
    ) -> Result<(), ParquetError> {
        self.column::<DoubleType>(&rows.iter().map(value).collect::<Vec<_>>(), None)
    }

    fn constant(&mut self, text: &str) -> Result<(), ParquetError> {
        self.column::<ByteArrayType>(&vec![ByteArray::from(text); self.rows], None)
    }

    /// The same text in each row, or null in each row (definition level 1 or 0).
    fn optional(&mut self, text: Option<&str>) -> Result<(), ParquetError> {
        let values = text.map_or_else(Vec::new, |text| vec![ByteArray::from(text); self.rows]);
        self.column::<ByteArrayType>(&values, Some(&vec![i16::from(text.is_some()); self.rows]))
    }

    fn text<'r>(
        &mut self,
        rows: &'r [Row<'r>],
        text: impl Fn(&Row<'r>) -> &'r str,
    ) -> Result<(), ParquetError> {
        // Consecutive rows with equal text share one allocation.
        let mut values: Vec<ByteArray> = Vec::with_capacity(rows.len());
        let mut last = None;
        for row in rows.iter().map(text) {
            let value = match values.last() {
                Some(value) if last == Some(row) => value.clone(),
                _ => ByteArray::from(row),
            };
            values.push(value);
            last = Some(row);
        }
        self.column::<ByteArrayType>(&values, None)
    }
}
