//! The command line of Weir. It is thin: the work is done by the other crates.

#![deny(clippy::print_stdout, clippy::print_stderr)]
#![cfg_attr(
    not(feature = "testbed"),
    expect(dead_code, reason = "shared with the commands that run in real time")
)]

mod cli;
mod commands;
mod failure;
mod output;
mod progress;
mod rows;

use clap::Parser;
use cli::{Cli, Command};
use failure::Failure;
use signal_hook::consts::SIGXFSZ;
use std::backtrace::Backtrace;
use std::process::ExitCode;
use std::sync::Arc;

fn main() -> ExitCode {
    report_panics();
    fail_at_file_size_limit();
    lab::external::run_libraries_here();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return failure::usage(&error),
    };
    let result = match cli.command {
        Command::List(args) => commands::list::run(&args),
        Command::Run(args) => commands::run::run(&args),
        Command::Verify(args) => commands::verify::run(&args),
        Command::Advise(args) => commands::advise::run(&args),
        Command::Judge(args) => commands::judge::run(&args),
        Command::Equal(args) => commands::equal::run(&args),
        Command::LibraryHost(args) => commands::judge::host(&args),
        Command::Report(args) => commands::report::run(&args),
        Command::Sweep(args) => commands::sweep::run(&args),
        Command::SweepTask(args) => commands::sweep::task(&args),
        Command::Optimise(args) => commands::sweep::optimise(&args),
        Command::Compare(args) => commands::compare::run(&args),
        Command::Export(args) => commands::export::run(&args),
        Command::Import(args) => commands::import::run(&args),
        Command::Explain(args) => commands::explain::run(&args),
        Command::Emulate(args) => commands::emulate::run(&args),
        Command::Measure(args) => commands::measure::run(&args),
        Command::Replay(args) => commands::replay::run(&args),
        Command::Control(args) => commands::control::run(&args),
        Command::Tc(args) => commands::tc::run(&args),
        Command::Upload(args) => commands::upload::run(&args),
        Command::Serve(args) => commands::serve::run(&args),
        Command::Doctor(args) => commands::doctor::run(&args),
        Command::Fit(args) => commands::fit::run(&args),
        Command::Completions(args) => commands::completions::run(&args),
        Command::Man(args) => commands::man::run(&args),
        Command::Schema(args) => commands::schema::run(&args),
    };
    result.unwrap_or_else(Failure::report)
}

/// Makes writing fail if a file has reached the limit of its size (`ulimit -f`), so that the
/// command reports an error. Without a handler, SIGXFSZ ends the program without a message. It is
/// not ignored, because programs that Weir starts would inherit that. Rust ignores SIGPIPE itself.
fn fail_at_file_size_limit() {
    // The flag is not read. Without the handler, the program works below the limit.
    let _ = signal_hook::flag::register(SIGXFSZ, Arc::default());
}

/// Reports panics, whose messages may quote text from outside. The runner itself reports a run that
/// panics, together with its seed.
fn report_panics() {
    std::panic::set_hook(Box::new(|info| {
        if std::thread::current().name() != Some(lab::runner::THREAD_NAME) {
            output::panicked(info, &Backtrace::capture());
        }
    }));
}
