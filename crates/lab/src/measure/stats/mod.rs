//! `getStats` reports made into records.
