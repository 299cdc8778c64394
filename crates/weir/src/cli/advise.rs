use super::{Chosen, Device, key_value};
use clap::{Args, ValueEnum};
use experiment::{Bottleneck, Home, HomeLine, Use};
use std::num::NonZeroUsize;
use std::path::PathBuf;

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  weir advise --line 5Mbit/1Mbit --modem --uses 'call, upload'
  weir advise situations/adsl-upload
  weir advise my-home.toml --remedy queue --remedy class --dev ppp0
  weir advise my-home.toml --set advise.dscp=false --set 'advise.lines=[]'
  weir advise janczukowicz-2017/adsl-ct --cell 'config=Droptail 125kB' --json
  weir advise C V J Z --remedy controller --runs 1 -o improvements.html

A remedy is judged by the quality of the call (rate, frame delay, freezes) and by the cost for other traffic.
The score is their weighted geometric mean. With --goal balance, doubling the quality of the call is worth as much as halving the speed of the others.
A rank with '=' does not differ significantly from the first. [advise] in the file names the call and what may be changed.
Exit code: 0; 1 if a run failed, or --check disagrees; 2 for bad input; 130 after Ctrl-C.")]
pub(crate) struct Advise {
    /// An experiment by name (see 'weir list') or file; or a paper or claims (C, V-11), whose
    /// experiments are judged together
    #[arg(value_name = "NAME|FILE|PAPER|ID", required_unless_present = "line")]
    pub(crate) situations: Vec<String>,
    /// The rates of the line at home, in place of a file, such as 5Mbit/1Mbit
    #[arg(long, value_name = "DOWN/UP", conflicts_with = "situations")]
    pub(crate) line: Option<HomeLine>,
    /// With --line: a modem behind the router has the line, so the router must shape
    #[arg(long, requires = "line")]
    pub(crate) modem: bool,
    /// With --line: what the line is used for at the same time: call, upload, download
    #[arg(long, value_name = "LIST", value_parser = uses, default_value = "call, upload, download",
        requires = "line")]
    pub(crate) uses: Uses,
    /// With --line: also write the experiment to this file, for changes
    #[arg(long, value_name = "FILE", requires = "line")]
    pub(crate) save: Option<PathBuf>,
    /// Only remedies of this name (see 'weir list --remedies') or kind (queue, class, wifi, lte,
    /// controller); repeatable
    #[arg(long, value_name = "NAME|KIND")]
    pub(crate) remedy: Vec<String>,
    /// Only the cells of the grid with this value; repeatable
    #[arg(long, value_name = "AXIS=VALUE", value_parser = key_value)]
    pub(crate) cell: Vec<(String, String)>,
    /// What counts most
    #[arg(long, value_enum, default_value_t = Goal::Balance)]
    pub(crate) goal: Goal,
    /// The weight of the call in the score, 0 to 1, in place of --goal; other traffic has the rest
    #[arg(long, value_name = "SHARE", value_parser = share, conflicts_with = "goal")]
    pub(crate) weight: Option<f64>,
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

/// What the best remedy is best for.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Goal {
    /// The call: its weight is 0.8
    Call,
    /// Both alike: a weight of 0.5
    Balance,
    /// Other traffic: the call's weight is 0.2
    Others,
}

impl Goal {
    /// The weight of the call in the score. Our choice: four to one, or one to one.
    pub(crate) const fn weight(self) -> f64 {
        match self {
            Self::Call => 0.8,
            Self::Balance => 0.5,
            Self::Others => 0.2,
        }
    }
}

impl Advise {
    /// The weight of the call in the score.
    pub(crate) fn weight(&self) -> f64 {
        self.weight.unwrap_or_else(|| self.goal.weight())
    }

    /// The line at home, if there is one instead of a file.
    pub(crate) fn home(&self) -> Option<Home> {
        let bottleneck = if self.modem { Bottleneck::Modem } else { Bottleneck::Interface };
        self.line.map(|line| Home { line, bottleneck, beside: self.uses.0.clone() })
    }
}

/// The traffic beside a call.
#[derive(Clone, Debug)]
pub(crate) struct Uses(Vec<Use>);

/// Reads `call, upload`.
fn uses(text: &str) -> Result<Uses, String> {
    let known = "write call, and upload or download or both, with commas";
    let (mut beside, mut call) = (Vec::new(), false);
    for word in text.split(',').map(str::trim) {
        match Use::ALL.into_iter().find(|one| one.as_str() == word) {
            Some(one) if beside.contains(&one) => {
                return Err(format!("'{word}' is there twice; {known}"));
            }
            Some(one) => beside.push(one),
            None if word == "call" && !call => call = true,
            None => {
                return Err(format!(
                    "there is no use '{}'; {known}",
                    document::shown::escaped(word)
                ));
            }
        }
    }
    if call { Ok(Uses(beside)) } else { Err(format!("advice is for a call; {known}")) }
}

fn share(text: &str) -> Result<f64, String> {
    let share: f64 = text.parse().map_err(|_| "write a number from 0 to 1".to_owned())?;
    if (0.0..=1.0).contains(&share) {
        Ok(share)
    } else {
        Err("write a number from 0 to 1".to_owned())
    }
}
