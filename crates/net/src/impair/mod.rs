//! Impairments of a line: random loss and jitter. One file per effect.

mod bernoulli;
mod gilbert_elliott;
mod jitter;
mod loss;

pub use jitter::JitterConfig;
pub use loss::LossConfig;
pub(crate) use {jitter::Jitter, loss::Loss};
