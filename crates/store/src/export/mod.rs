//! Export of runs: CSV and Parquet tables, and packet captures for Wireshark.
//!
//! The **long table** has one row per value, and the same columns in both formats:
//!
//! | column | |
//! |---|---|
//! | `run` | the number of the run in the store; 0 if it is not stored |
//! | `experiment` | the name of the experiment |
//! | `mode` | how the run was made: `simulated`, `emulated`, `measured` |
//! | `cpu_limited` | whether the machine, not the network, limited the run |
//! | `cell.KEY` | one column per parameter of the grid; empty (null) if the run has no such parameter |
//! | `seed` | the seed |
//! | `stream` | the name of the stream |
//! | `record` | `sample` (taken at the sampling interval), `point` (with its own time) or `event` |
//! | `time_s` | seconds since the start of the run |
//! | `name` | the quantity or event, see `docs/COLUMNS.md` |
//! | `value` | the value; a sample or point that is not-a-number has no row |
//!
//! The **wide table** of metrics has one row per run and stream: `run`, `experiment`, `mode`,
//! `cpu_limited`, `cell.KEY`, `seed`, `stream`, `kind`, and a column per metric.
//!
//! Numbers are exact: they read back as the same doubles. The same runs give the same bytes.

mod csv;
mod file;
mod frame;
mod packet;
#[cfg(feature = "parquet")]
mod parquet;
pub mod pcapng;
mod table;
pub mod tcp;
mod wide;
pub mod wire;

pub use self::csv::{CsvTable, Layout, write_csv};
#[cfg(feature = "parquet")]
pub use self::parquet::{ParquetTable, write_parquet};
pub use file::{ExportError, ExportFault, to_file, writable};
pub use frame::{Frame, FrameColumn};
pub use packet::PacketError;
pub use table::{Row, parameters, rows};
pub use wide::{MetricRow, MetricTable};
