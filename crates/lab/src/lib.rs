//! The laboratory: experiment files, the runner, metrics, claims, figures, the store, exports, reports, and the
//! fit of the codec model.

mod document;
pub mod experiment;
pub mod figures;
pub mod fit;
