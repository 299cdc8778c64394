use super::key_value;
use clap::Args;
use std::num::NonZeroUsize;
use std::path::PathBuf;

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  weir judge 'external:python3 controller.py'
  weir judge gcc:libwebrtc --set aimd.decrease=0.95 --suite quick
  weir judge 'external:./new' --against 'external:./old' --junit judge.xml --markdown judge.md
  weir judge --mutants

Exit code: 0; 1 if something got worse or a run failed; 2 for bad input; 130 after Ctrl-C.")]
pub(crate) struct Judge {
    /// A controller (see 'weir list --controllers'), 'external:COMMAND' or 'library:PATH.so'
    #[arg(value_name = "CONTROLLER", required_unless_present = "mutants")]
    pub(crate) controller: Option<String>,
    /// The controller to compare with
    #[arg(long, value_name = "CONTROLLER", default_value = lab::judge::ORIGINAL)]
    pub(crate) against: String,
    /// standard (30 cells), quick (13 cells), or an experiment by name or file
    #[arg(long, value_name = "SUITE|FILE", default_value = "standard")]
    pub(crate) suite: String,
    /// Set a constant of the judged controller; repeatable
    #[arg(long, value_name = "KEY=VALUE", value_parser = key_value)]
    pub(crate) set: Vec<(String, String)>,
    /// Set a constant of the controller to compare with; repeatable
    #[arg(long, value_name = "KEY=VALUE", value_parser = key_value)]
    pub(crate) against_set: Vec<(String, String)>,
    /// The number of seeds per cell [default: as in the suite, 10; for mutants 20]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(3..))]
    pub(crate) runs: Option<u32>,
    /// Count only differences of this many times the usual least ones
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0)]
    pub(crate) size: f64,
    /// Judge with seeds that begin this many seeds later than those of the baseline
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seeds_later: u64,
    /// Judge ten one-constant mutants of gcc:libwebrtc, which a good suite recognises
    #[arg(long, conflicts_with_all = ["controller", "against", "set", "against_set", "repeat"])]
    pub(crate) mutants: bool,
    /// Compare the controller to compare with N times with itself, each time with other seeds, and
    /// count the alarms
    #[arg(long, value_name = "N", conflicts_with_all = ["seeds_later", "set"])]
    pub(crate) repeat: Option<u64>,
    /// Write the findings as JUnit XML
    #[arg(long, value_name = "FILE", conflicts_with_all = ["mutants", "repeat"])]
    pub(crate) junit: Option<PathBuf>,
    /// Write a summary as Markdown, for a pull request
    #[arg(long, value_name = "FILE", conflicts_with_all = ["mutants", "repeat"])]
    pub(crate) markdown: Option<PathBuf>,
    /// Write the findings as one HTML file
    #[arg(long, short, value_name = "FILE", conflicts_with_all = ["mutants", "repeat"])]
    pub(crate) output: Option<PathBuf>,
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

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  weir equal gcc:libwebrtc 'external:./my-goog-cc'
  weir equal gcc:libwebrtc 'external:./my-goog-cc' --experiment wifi/download --tolerance 0.01
  weir equal gcc:libwebrtc 'external:./my-goog-cc' --log alice.rtclog

The first controller decides; the second gets the same packets and feedback.
Exit code: 0; 1 if they diverge or a run failed; 2 for bad input.")]
pub(crate) struct Equal {
    /// The controller that decides
    #[arg(value_name = "CONTROLLER")]
    pub(crate) first: String,
    /// The controller that is compared
    #[arg(value_name = "CONTROLLER")]
    pub(crate) second: String,
    /// Set a constant of the second controller; repeatable
    #[arg(long, value_name = "KEY=VALUE", value_parser = key_value)]
    pub(crate) set: Vec<(String, String)>,
    /// The calls, by the name or file of an experiment; every cell is run once
    #[arg(long, value_name = "NAME|FILE", default_value = "judge/capacity")]
    pub(crate) experiment: String,
    /// A recorded call in place of an experiment: an event log of libwebrtc or a packet capture
    #[cfg(feature = "testbed")]
    #[arg(long, value_name = "FILE", conflicts_with = "experiment")]
    pub(crate) log: Option<PathBuf>,
    /// The greatest difference that is not a divergence, as a share of the greater value
    #[arg(long, value_name = "SHARE", default_value_t = 0.0)]
    pub(crate) tolerance: f64,
    /// One JSON object per line
    #[arg(long)]
    pub(crate) json: bool,
}

/// The host of a controller that is a shared library.
#[derive(Args, Debug)]
pub(crate) struct LibraryHost {
    /// The path of the library
    #[arg(value_name = "PATH")]
    pub(crate) library: PathBuf,
}
