//! Whether the machine had enough processor for what it was to do. Browsers that starve do not say
//! so (`qualityLimitationReason` stays `none` or `bandwidth`), and what they then send due_count as if
//! the network were bad.

mod mark;
mod sampler;
mod verdict;

pub(super) use mark::mark;
pub use sampler::{MachineSampler, STREAM};
pub use verdict::verdict;
