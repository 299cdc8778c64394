//! A table of columns in memory, which is written as one Parquet file with one row group.

/// Columns of equal length, with their names.
#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    /// The columns.
    pub columns: Vec<(String, FrameColumn)>,
}

/// The values of a column.
#[derive(Clone, Debug, PartialEq)]
pub enum FrameColumn {
    /// Whole numbers.
    Integer(Vec<i64>),
    /// Whole numbers from 0.
    Unsigned(Vec<u64>),
    /// Real numbers; not-a-number stands for null.
    Real(Vec<f64>),
    /// Texts; `None` stands for null.
    Text(Vec<Option<String>>),
}

impl FrameColumn {
    /// The number of values.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Integer(values) => values.len(),
            Self::Unsigned(values) => values.len(),
            Self::Real(values) => values.len(),
            Self::Text(values) => values.len(),
        }
    }

    /// Whether there are no values.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[cfg(not(feature = "parquet"))]
impl Frame {
    /// This build cannot write Parquet.
    ///
    /// # Errors
    /// Always.
    pub fn write_parquet<W: std::io::Write>(&self, _: W) -> Result<(), super::file::ExportError> {
        let reason = "this build cannot write Parquet; use 'make build'";
        Err(std::io::Error::other(reason).into())
    }
}
