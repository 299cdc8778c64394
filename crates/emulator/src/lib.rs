//! The network of `net` in real time, between network namespaces.
