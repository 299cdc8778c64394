//! NADA and SCReAM against recordings of their authors' code: every row of input is replayed, and
//! the outputs after each feedback message are compared. `tests/data/rmcat/README.md` describes the
//! recordings.
//!
//! `cargo test -p weir-cc --test originals -- --nocapture` prints the deviations of each recording.
//! The variable `WEIR_RECORDINGS` names a folder with more recordings of the same form.

#![expect(clippy::unwrap_used, reason = "a recording that cannot be read fails the test")]

#[path = "originals/nada.rs"]
mod nada;
#[path = "originals/recording.rs"]
mod recording;
#[path = "originals/scream_v1.rs"]
mod scream_v1;
#[path = "originals/scream_v2.rs"]
mod scream_v2;
