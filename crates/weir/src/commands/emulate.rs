use super::real_time::{self, RunMode};
use crate::cli::Emulate;
use crate::failure::Failure;
use std::process::ExitCode;
use store::Mode;
use testbed::emulate::simulate;

pub(crate) fn run(args: &Emulate) -> Result<ExitCode, Failure> {
    // The kernel requires that the process still has a single thread.
    testbed::emulate::become_root().map_err(Failure::new)?;
    let experiment = real_time::open(&args.experiment, &args.real_time.chosen)?;
    let experiment = if args.real_time.compare { experiment.simulated()? } else { experiment };
    let foreground =
        (!args.command.is_empty()).then_some((args.host.as_deref(), args.command.as_slice()));
    let kind = RunMode {
        mode: Mode::Emulated,
        word: "emulated",
        foreground,
        background: &args.run,
        make: &|emulation, cell, seed, _| Ok(emulation.run(cell, seed)?),
        simulate: &|cell, seed, cancel| {
            // The emulation omits them too.
            let mut scenario = cell.scenario(seed);
            scenario.calls.clear();
            simulate(&scenario, cancel)
        },
        goes_on: false,
    };
    real_time::run(&experiment, &args.real_time, &kind)
}
