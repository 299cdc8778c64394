//! The laboratory: experiment files, the runner, metrics, claims, figures, the store, exports, reports, and the
//! fit of the codec model.

pub mod claims;
mod document;
pub mod experiment;
pub mod figures;
pub mod fit;
pub mod metrics;
pub mod runner;

pub use document::FileError;
