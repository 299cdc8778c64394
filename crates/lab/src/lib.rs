//! The laboratory: experiment files, the runner, metrics, claims, figures, the store, exports,
//! reports, and the fit of the codec model.

pub mod broker;
pub mod claims;
pub mod comparison;
pub mod controllers;
mod document;
pub mod emulate;
pub mod experiment;
pub mod export;
pub mod figures;
pub mod fit;
pub mod measure;
pub mod metrics;
pub mod remedies;
pub mod report;
pub mod runner;
mod secret;
pub mod signalling;
pub mod store;
pub mod upload;

pub use document::{FileError, nearest};
pub use secret::Secret;

pub use sim::Recording;
pub use units::{Bytes, Duration, Seed};
