//! The laboratory: experiment files, the runner, metrics, claims, figures, the store, exports, reports, and the
//! fit of the codec model.

pub mod claims;
mod document;
pub mod experiment;
pub mod export;
pub mod figures;
pub mod fit;
pub mod metrics;
pub mod report;
pub mod runner;
pub mod store;

pub use document::FileError;

/// The controllers that an experiment may name.
pub mod controllers {
    pub use cc::{Profile, Setting, profiles};
}
pub use sim::Recording;
pub use units::Seed;
