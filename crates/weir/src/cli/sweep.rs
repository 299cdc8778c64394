use clap::Args;
use std::num::NonZeroUsize;
use std::path::PathBuf;

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  weir sweep carlucci-2017/fig5 --dry-run
  weir sweep carlucci-2017/fig5 --points 40 --store fig5.sqlite -o fig5.html
  weir sweep my-sweep.toml --store runs.sqlite --parquet points.parquet

Exit code: 0; 1 if a run failed or a point has no objective; 2 for bad input; 130 after Ctrl-C.
With --store, the same command continues where it was stopped or killed.")]
pub(crate) struct Sweep {
    /// A sweep's name or file
    #[arg(value_name = "NAME|FILE")]
    pub(crate) sweep: String,
    #[command(flatten)]
    pub(crate) running: Sweeping,
    /// Keep the metrics of every run in this store, a SQLite file, and reuse those that it contains
    #[arg(long, value_name = "FILE")]
    pub(crate) store: Option<PathBuf>,
    /// Write one row per point and scenario as CSV
    #[arg(long, value_name = "FILE")]
    pub(crate) csv: Option<PathBuf>,
    /// Write the same as Parquet
    #[arg(long, value_name = "FILE")]
    pub(crate) parquet: Option<PathBuf>,
    /// Write figures and the best points as one HTML file
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Run nothing; print the number of runs and about how long they take
    #[arg(long, conflicts_with_all = ["store", "csv", "parquet", "output", "json"])]
    pub(crate) dry_run: bool,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  weir optimise carlucci-2017/fig5 --runs 1200
  weir optimise my-sweep.toml --runs 300 --json

Searches the point with the greatest objective of a sweep with a tree-structured Parzen estimator.")]
pub(crate) struct Optimise {
    /// A sweep's name or file
    #[arg(value_name = "NAME|FILE")]
    pub(crate) sweep: String,
    /// The number of runs
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) runs: u32,
    #[command(flatten)]
    pub(crate) running: Sweeping,
}

/// The arguments of both commands.
#[derive(Args, Clone, Debug)]
pub(crate) struct Sweeping {
    /// The number of values on each axis instead of those in the file
    #[arg(long, value_name = "N")]
    pub(crate) points: Option<usize>,
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
