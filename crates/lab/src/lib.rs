//! placeholder

pub mod fit;
