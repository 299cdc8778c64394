use clap::Args;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::str::FromStr;

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  weir sweep carlucci-2017/fig5 --dry-run
  weir sweep carlucci-2017/fig5 --points 40 --store fig5.sqlite -o fig5.html
  weir sweep my-sweep.toml --store runs.sqlite --parquet points.parquet
  weir sweep my-sweep.toml --dataset runs/ --on ray
  weir sweep my-sweep.toml --dataset s3://bucket/runs

Exit code: 0; 1 if a run failed or a point has no objective; 2 for bad input; 130 after Ctrl-C.
With --store or --dataset, the same command continues where it was stopped or killed.")]
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
    #[arg(long, short, value_name = "FILE", visible_alias = "report")]
    pub(crate) output: Option<PathBuf>,
    /// Write one row per run into Parquet files in this folder, or below s3://BUCKET/PATH. Without
    /// --store no table is computed, and the memory does not depend on the number of runs
    #[arg(long, value_name = "FOLDER|ADDRESS")]
    pub(crate) dataset: Option<PathBuf>,
    /// Where to run: 'local', or 'ray' for the Ray cluster of this machine or of RAY_ADDRESS, or
    /// 'ray:ADDRESS' (10.0.0.1:6379, or ray://10.0.0.1:10001 for a Ray client)
    #[arg(long, value_name = "WHERE", default_value = "local")]
    pub(crate) on: On,
    /// How long to wait until the Ray cluster answers, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 180)]
    pub(crate) ray_timeout: u64,
    /// The number of runs of a task on Ray
    #[arg(long, value_name = "N", default_value = "1000")]
    pub(crate) runs_per_task: NonZeroUsize,
    /// Run nothing; print the number of runs and about how long they take
    #[arg(long, conflicts_with_all = ["store", "dataset", "csv", "parquet", "output", "json"])]
    pub(crate) dry_run: bool,
}

/// Where the runs of a sweep are executed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum On {
    /// In threads of this process.
    Local,
    /// On a Ray cluster with this address; `None` for that of `RAY_ADDRESS` or of this machine.
    Ray(Option<String>),
}

impl FromStr for On {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once(':') {
            _ if text == "local" => Ok(Self::Local),
            _ if text == "ray" => Ok(Self::Ray(None)),
            Some(("ray", rest)) if rest.starts_with("//") => Ok(Self::Ray(Some(text.to_owned()))),
            Some(("ray", address)) if !address.is_empty() => {
                Ok(Self::Ray(Some(address.to_owned())))
            }
            _ => Err("write local, ray, ray:HOST:PORT or ray://HOST:PORT".to_owned()),
        }
    }
}

/// Part of a sweep, as a task on a cluster: one line of JSON about the program, and one per run.
#[derive(Args, Debug)]
pub(crate) struct SweepTask {
    /// A sweep's name or file
    #[arg(value_name = "NAME|FILE")]
    pub(crate) sweep: String,
    /// The number of the first run
    #[arg(long, value_name = "N")]
    pub(crate) first: usize,
    /// The number of runs
    #[arg(long, value_name = "N")]
    pub(crate) count: usize,
    /// The number of values on each axis instead of those in the file
    #[arg(long, value_name = "N")]
    pub(crate) points: Option<usize>,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  weir optimise carlucci-2017/fig5 --runs 1200
  weir optimise my-sweep.toml --runs 300 --store runs.sqlite

Searches the point with the greatest objective of a sweep with a tree-structured Parzen estimator.
With --store, the same command continues where it was stopped or killed.")]
pub(crate) struct Optimise {
    /// A sweep's name or file
    #[arg(value_name = "NAME|FILE")]
    pub(crate) sweep: String,
    /// The number of runs
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) runs: u32,
    #[command(flatten)]
    pub(crate) running: Sweeping,
    /// Keep the metrics of every run in this store, a SQLite file, and reuse those that it contains
    #[arg(long, value_name = "FILE")]
    pub(crate) store: Option<PathBuf>,
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
