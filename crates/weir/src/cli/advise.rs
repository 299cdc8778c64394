use super::{Chosen, Device, key_value};
use clap::Args;
use std::num::NonZeroUsize;
use std::path::PathBuf;

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  weir advise situations/adsl-upload
  weir advise my-home.toml --remedy queue --remedy class --dev ppp0
  weir advise my-home.toml --set advise.dscp=false --set 'advise.lines=[]'
  weir advise janczukowicz-2017/adsl-ct --cell 'config=Droptail 125kB' --json
  weir advise C V J Z --remedy controller --runs 1 -o improvements.html

A remedy is judged by the quality of the call (rate, frame delay, freezes) and by the cost for other traffic.
The score is the geometric mean of both: doubling the quality of the call is worth as much as halving the speed of the others.
A rank with '=' does not differ significantly from the first. [advise] in the file names the call and what may be changed.
Exit code: 0; 1 if a run failed, or --check disagrees; 2 for bad input; 130 after Ctrl-C.")]
pub(crate) struct Advise {
    /// An experiment by name (see 'weir list') or file; or a paper or claims (C, V-11), whose
    /// experiments are judged together
    #[arg(value_name = "NAME|FILE|PAPER|ID", required = true)]
    pub(crate) situations: Vec<String>,
    /// Only remedies of this name (see 'weir list --remedies') or kind (queue, class, wifi, lte,
    /// controller); repeatable
    #[arg(long, value_name = "NAME|KIND")]
    pub(crate) remedy: Vec<String>,
    /// Only the cells of the grid with this value; repeatable
    #[arg(long, value_name = "AXIS=VALUE", value_parser = key_value)]
    pub(crate) cell: Vec<(String, String)>,
    /// The weight of the call in the score, 0 to 1; other traffic has the rest
    #[arg(long, value_name = "SHARE", default_value_t = 0.5, value_parser = share)]
    pub(crate) weight: f64,
    /// Also run ten times as many seeds, and check that the ranking agrees
    #[arg(long)]
    pub(crate) check: bool,
    /// The device of the gateway in the printed tc commands
    #[arg(long, value_name = "NAME", default_value = "eth0")]
    pub(crate) dev: Device,
    /// Write the table and the plot as one HTML file
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) chosen: Chosen,
    /// Threads [default: all cores]
    #[arg(long, value_name = "N")]
    pub(crate) jobs: Option<NonZeroUsize>,
    /// Keep every run in this store, a SQLite file, and reuse the runs that it contains
    #[arg(long, value_name = "FILE")]
    pub(crate) store: Option<PathBuf>,
    /// One JSON object per remedy, best first
    #[arg(long)]
    pub(crate) json: bool,
    /// Show no progress
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

fn share(text: &str) -> Result<f64, String> {
    let share: f64 = text.parse().map_err(|_| "write a number from 0 to 1".to_owned())?;
    if (0.0..=1.0).contains(&share) {
        Ok(share)
    } else {
        Err("write a number from 0 to 1".to_owned())
    }
}
