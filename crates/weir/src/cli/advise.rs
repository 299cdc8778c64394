use super::{Chosen, key_value};
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

Remedies are judged by the call (its rate, how late its frames are, whether the picture stands) and by what the traffic beside it pays.
The score is the geometric mean of both: to double the call's quality is worth as much as to halve the speed of the others.
A place with '=' may differ from the first by chance alone. [advise] in the file says which call is judged, and what is one's own to change.
Exit code: 0; 1 if a run broke off, or a --check failed; 2 for bad input; 130 after Ctrl-C.")]
pub(crate) struct Advise {
    /// An experiment's name (see 'weir list') or file; or a paper or claims (C, V-11), whose
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
    /// How much the call counts in the score, the others the rest: 0 to 1
    #[arg(long, value_name = "SHARE", default_value_t = 0.5, value_parser = share)]
    pub(crate) weight: f64,
    /// Run ten times the seeds as well, and say whether the ranking agrees
    #[arg(long)]
    pub(crate) check: bool,
    /// The device of the gateway, in lines of tc
    #[arg(long, value_name = "NAME", default_value = "eth0")]
    pub(crate) dev: String,
    /// Write a page with the table and the picture, that stands alone
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) chosen: Chosen,
    /// Threads [default: all cores]
    #[arg(long, value_name = "N")]
    pub(crate) jobs: Option<NonZeroUsize>,
    /// Keep every run in this store, a SQLite file, and take from it what was run before
    #[arg(long, value_name = "FILE")]
    pub(crate) store: Option<PathBuf>,
    /// One JSON object a remedy, best first
    #[arg(long)]
    pub(crate) json: bool,
    /// No progress
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
