use clap::Args;
use std::num::NonZeroUsize;
use std::path::PathBuf;

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  weir compare runs.sqlite
  weir compare runs.sqlite jansen-2016 -o today.html
  weir compare runs.sqlite --claims
  weir compare runs.sqlite --json

What was measured is set against a simulation of the same with the calls of today's Chromium. It and one with the file's own controllers
are made where the store has not the same already. Emulated runs have 'weir emulate --compare'; of imported ones no network is known.")]
pub(crate) struct Compare {
    /// The store with the runs
    #[arg(value_name = "STORE")]
    pub(crate) store: PathBuf,
    /// Experiments by name, or papers [default: all]
    #[arg(value_name = "NAME|PAPER")]
    pub(crate) experiments: Vec<String>,
    /// Write claims and figures side by side as one HTML file
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Show the verdicts on the papers' claims per source instead of the differences
    #[arg(long)]
    pub(crate) claims: bool,
    /// Threads [default: all cores]
    #[arg(long, value_name = "N")]
    pub(crate) jobs: Option<NonZeroUsize>,
    /// One JSON object per line
    #[arg(long)]
    pub(crate) json: bool,
    /// Show no progress
    #[arg(long, short)]
    pub(crate) quiet: bool,
}
