use super::real_time::{self, Kind};
use crate::cli::Measure;
use crate::failure::Failure;
use lab::emulate::simulate;
use lab::store::Mode;
use std::process::ExitCode;

pub(crate) fn run(args: &Measure) -> Result<ExitCode, Failure> {
    lab::emulate::become_root().map_err(Failure::new)?;
    let experiment = real_time::open(&args.experiment, &args.real_time.chosen)?;
    let kind = Kind {
        mode: Mode::Measured,
        word: "measured",
        foreground: None,
        background: &[],
        make: &|emulation, cell, seed| emulation.run(cell, seed),
        simulate: &simulate,
        goes_on: true,
    };
    real_time::run(&experiment, &args.real_time, &kind)
}
