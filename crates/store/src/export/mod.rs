//! Runs in the formats of other tools: CSV and Parquet tables, and captures for Wireshark.
//!
//! The **long table** has one row a value, and the same columns in both formats:
//!
//! | column | |
//! |---|---|
//! | `run` | the run's number in the store, 0 if it is not in one |
//! | `experiment` | its experiment |
//! | `mode` | how it was made: `simulated`, `emulated`, `measured` |
//! | `cpu_limited` | whether the machine, not the network, limited it |
//! | `cell.KEY` | a column for each parameter of the grid; empty (null) where a run has no such parameter |
//! | `seed` | its seed |
//! | `stream` | the stream's name |
//! | `record` | `sample` (taken at the sampling interval), `point` (at its own time) or `event` |
//! | `time_s` | seconds since the start of the run |
//! | `name` | the quantity or event, see `docs/COLUMNS.md` |
//! | `value` | the value; a sample or point that has none (not-a-number) has no row |
//!
//! Numbers are exact: read back they are the same doubles. The same runs give the same bytes.

mod csv;
mod file;
#[cfg(feature = "parquet")]
mod parquet;
pub mod pcapng;
mod table;
pub mod tcp;
pub mod wire;

pub use self::csv::{CsvTable, Layout, write_csv};
#[cfg(feature = "parquet")]
pub use self::parquet::{ParquetTable, write_parquet};
pub use file::{ExportError, to_file, writable};
pub use table::parameters;
