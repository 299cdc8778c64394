//! The Python package `weir`: experiments, claims and advice; controllers written in Python; calls
//! as environments of Gymnasium.
//!
//! The package calls the same functions of `lab` as the command line. Python code runs only in
//! controllers; everything else runs without the lock of the interpreter.

#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]
#![expect(clippy::needless_pass_by_value, reason = "PyO3 passes arguments by value")]

mod advice;
mod claims;
mod controller;
mod envs;
mod errors;
mod experiment;
mod features;
mod messages;
mod results;
mod running;
mod table;

use pyo3::prelude::*;

/// The part of the package that is written in Rust.
#[pymodule]
mod _weir {
    #[pymodule_export]
    use super::advice::advise;
    #[pymodule_export]
    use super::claims::verify;
    #[pymodule_export]
    use super::envs::Calls;
    #[pymodule_export]
    use super::experiment::{Experiment, controllers, experiments};
    #[pymodule_export]
    use super::messages::{
        Allocation, ArrivedPacket, CustomFeedback, Decision, MediaFrame, PacketFeedback,
        PacketResult, ProbeCluster, Rates, ReceiverReport, Remb, SentPacket,
    };
    #[pymodule_export]
    use super::results::Results;
    #[pymodule_export]
    use super::table::Table;
}
