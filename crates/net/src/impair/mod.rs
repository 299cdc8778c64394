//! Impairments: what a link does to packets besides delaying them. One file, one effect.

mod bernoulli;
mod gilbert_elliott;
mod jitter;
mod loss;

pub use jitter::JitterConfig;
pub use loss::LossConfig;
pub(crate) use {jitter::Jitter, loss::Loss};
