//! Whether the machine had enough processor for what it was to do.
