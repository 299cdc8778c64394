use clap::Args;
use std::path::PathBuf;

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  weir explain alice.rtclog
  weir explain alice.pcapng bob.pcapng -o why.html             both endpoints of one call
  weir explain --from runs.sqlite 7 --json
  weir explain alice.rtclog --network fitted.toml && weir advise fitted.toml
  weir explain --judge 240 --seed 2                            how often the rules are right

Files are those of 'weir import'. What cannot be told from a recording is said to be unknown.
Exit code: 0; 2 for bad input.")]
pub(crate) struct Explain {
    /// A recording of a call, or two: one of each endpoint; with --from, the number of a run
    #[arg(value_name = "FILE|RUN", num_args = 1..=2, required_unless_present = "judge")]
    pub(crate) recordings: Vec<String>,
    /// Explain a run of this store
    #[arg(long, value_name = "STORE")]
    pub(crate) from: Option<PathBuf>,
    /// One JSON object per stream
    #[arg(long)]
    pub(crate) json: bool,
    /// Write a page with the series
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Write an experiment with a network fitted to the first video
    #[arg(long, value_name = "FILE")]
    pub(crate) network: Option<PathBuf>,
    /// The controller of the call in that experiment
    #[arg(long, value_name = "PROFILE", default_value = "gcc:libwebrtc", requires = "network")]
    pub(crate) controller: String,
    /// Simulate this number of calls whose truth is known, and print how often each cause is found
    #[arg(long, value_name = "CALLS", conflicts_with_all = ["recordings", "from", "output", "network"])]
    pub(crate) judge: Option<usize>,
    /// The seed of these calls
    #[arg(long, value_name = "SEED", default_value_t = 2, requires = "judge")]
    pub(crate) seed: u64,
}
