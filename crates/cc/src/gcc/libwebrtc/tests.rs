//! Behaviour over a bottleneck.
