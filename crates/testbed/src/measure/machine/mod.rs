//! Whether the machine had enough processor time for a run. Browsers without enough processor time
//! do not report it (`qualityLimitationReason` stays `none` or `bandwidth`), and their packets look
//! as if the network were bad.

mod mark;
mod sampler;
mod verdict;

pub(super) use mark::mark;
pub use sampler::{MachineSampler, STREAM};
pub use verdict::verdict;
