#[cfg(not(all(feature = "server", feature = "testbed")))]
mod absent;
mod advise;
mod compare;
mod device;
mod explain;
mod figures;
mod judge;
#[cfg(feature = "testbed")]
mod real_time;
#[cfg(feature = "server")]
mod serve;
mod sweep;
#[cfg(feature = "testbed")]
mod upload;

#[cfg(not(all(feature = "server", feature = "testbed")))]
pub(crate) use absent::Absent;
#[cfg(not(feature = "server"))]
pub(crate) use absent::Absent as Serve;
#[cfg(not(feature = "testbed"))]
pub(crate) use absent::{
    Absent as Emulate, Absent as Fit, Absent as Import, Absent as Measure, Absent as Replay,
    Absent as Upload,
};
pub(crate) use advise::{Advise, Goal};
use clap::{Args, Parser, Subcommand, ValueEnum};
pub(crate) use compare::Compare;
pub(crate) use device::Device;
use document::FileError;
use experiment::Experiment;
pub(crate) use explain::Explain;
pub(crate) use figures::Format;
pub(crate) use judge::{Equal, Judge, LibraryHost};
#[cfg(feature = "testbed")]
pub(crate) use real_time::{Emulate, Fit, Import, Measure, RealTimeArgs, Replay};
#[cfg(feature = "server")]
pub(crate) use serve::Serve;
use std::num::NonZeroUsize;
use std::path::PathBuf;
pub(crate) use sweep::{On, Optimise, Sweep, SweepTask, Sweeping};
#[cfg(feature = "testbed")]
pub(crate) use upload::{Upload, UploadClient, UploadServer, UploadSide};

/// A laboratory for real-time congestion control: experiments on modelled networks, and the
/// published claims that they test.
#[derive(Debug, Parser)]
#[command(name = "weir", version = env!("WEIR_VERSION"), arg_required_else_help = true, after_help = EXAMPLES)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXAMPLES: &str = "\
Examples:
  weir list                                  the experiments and the claims that each tests
  weir run carlucci-2017/fig11 --runs 1      simulate one
  weir run my-experiment.toml --json         simulate a file of your own
  weir verify carlucci-2017                  verify the claims of a paper
  weir advise situations/adsl-upload         which queue, class or controller helps a call, and what it costs others
  weir verify --json > before.json           save the results, change a controller, and then:
  weir verify --baseline before.json         say what got worse (exit code 1)";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// List the experiments and the claims that each tests
    List(List),
    /// Simulate an experiment
    Run(Run),
    /// Verify published claims
    Verify(Verify),
    /// Rank remedies for a call by its gain and by the cost for other traffic
    Advise(Advise),
    /// Judge a controller: better, worse or the same as another one
    Judge(Judge),
    /// Feed two controllers the same feedback and find the first divergence
    Equal(Equal),
    /// Load a controller that is a shared library, and answer messages for it
    #[command(hide = true)]
    LibraryHost(LibraryHost),
    /// Simulate experiments and draw their figures into one HTML file
    Report(Report),
    /// Run a sweep: an objective over a space of parameters
    Sweep(Sweep),
    /// Run part of a sweep, as a task on a cluster
    #[command(hide = true)]
    SweepTask(SweepTask),
    /// Search the best point of a sweep
    Optimise(Optimise),
    /// Compare stored runs of browsers with the simulator
    Compare(Compare),
    /// Write stored runs as CSV or Parquet, or as a dump of webrtc-internals
    Export(Export),
    /// Store a recording of a call as a run: event log, statistics dump or packet capture
    Import(Import),
    /// Say what limited a recorded call, and when
    Explain(Explain),
    /// Run an experiment's network in real time between real programs
    Emulate(Emulate),
    /// Measure real browsers that call each other across an experiment's network
    Measure(Measure),
    /// Replay the feedback of a recorded call through a controller
    Replay(Replay),
    /// Change the network of a running emulation
    Control(Control),
    /// Print the queues of an experiment as tc commands for a real gateway
    Tc(Tc),
    /// Upload over a real TCP connection, or receive uploads
    Upload(Upload),
    /// Serve the dashboard: runs, claims, advice, and a call between two browsers
    Serve(Serve),
    /// List what this machine can do, what is missing and how to get it
    Doctor(Doctor),
    /// Fit the video model's parameters from real encodes
    Fit(Fit),
    /// Print a script that completes commands and options in a shell
    Completions(Completions),
    /// Write a manual page for each command
    Man(Man),
    /// Print the JSON schema of experiment or sweep files, or of what a command prints with --json
    Schema(Schema),
}

#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  weir schema > weir.schema.json      for an editor: 'Even Better TOML', taplo\n  weir schema run                     one line of 'weir run --json', with units"
)]
pub(crate) struct Schema {
    /// Experiment files, or the lines of a command
    #[arg(value_enum, default_value_t = SchemaOf::Experiment)]
    pub(crate) of: SchemaOf,
}

/// What a JSON schema describes.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum SchemaOf {
    /// Experiment files
    Experiment,
    /// Sweep files
    Sweep,
    /// weir run --json
    Run,
    /// weir emulate --json
    #[cfg(feature = "testbed")]
    Emulate,
    /// weir measure --json
    #[cfg(feature = "testbed")]
    Measure,
    /// weir upload --json
    #[cfg(feature = "testbed")]
    Upload,
    /// weir verify --json, weir compare --claims --json
    Verify,
    /// weir advise --json
    Advise,
    /// weir judge --json
    Judge,
    /// weir equal --json
    Equal,
    /// A message to a controller 'external:COMMAND'
    ExternalMessage,
    /// An answer of a controller 'external:COMMAND'
    ExternalAnswer,
    /// weir compare --json
    Compare,
    /// weir list --json
    List,
    /// weir list --controllers --json
    ListControllers,
    /// weir list --metrics --json
    ListMetrics,
    /// weir list --remedies --json
    ListRemedies,
    /// weir list --store --json
    ListStore,
    /// weir doctor --json
    Doctor,
}

#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  weir list\n  weir list carlucci-2017\n  weir list --controllers\n  weir list --store runs.sqlite\n  weir list --json | head -1"
)]
pub(crate) struct List {
    /// Only these: experiments (carlucci-2017/fig11), their folders or papers (carlucci-2017),
    /// claims (C-5, C), or controllers (gcc) [default: all]
    #[arg(value_name = "NAME", conflicts_with_all = ["metrics", "remedies", "store"])]
    pub(crate) names: Vec<String>,
    /// List the controllers with their settings and improvements
    #[arg(long, conflicts_with_all = ["metrics", "remedies"])]
    pub(crate) controllers: bool,
    /// List the metrics that a claim may name
    #[arg(long)]
    pub(crate) metrics: bool,
    /// List the remedies that 'weir advise' tries, with their sources
    #[arg(long, conflicts_with = "metrics")]
    pub(crate) remedies: bool,
    /// List the runs in this store
    #[arg(long, value_name = "FILE", conflicts_with_all = ["controllers", "metrics", "remedies"])]
    pub(crate) store: Option<PathBuf>,
    /// One JSON object per line
    #[arg(long)]
    pub(crate) json: bool,
}

/// Which parts of an experiment are run.
#[derive(Args, Clone, Debug)]
pub(crate) struct Chosen {
    /// The first seed; further runs use the next seeds
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(..=i64::MAX as u64))]
    pub(crate) seed: Option<u64>,
    /// The number of seeds per cell [default: as in the experiment; 1 in real time]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) runs: Option<u32>,
    /// Change a value of the experiment; VALUE is TOML or plain text; repeatable
    #[arg(long, value_name = "KEY=VALUE", value_parser = key_value)]
    pub(crate) set: Vec<(String, String)>,
    /// The short form: the schedule in 60 s, or as the section 'quick' of the file says
    #[arg(long)]
    pub(crate) quick: bool,
    /// The equations that the paper prints, where the study ran other code
    #[arg(long)]
    pub(crate) as_printed: bool,
}

/// The arguments of every command that simulates.
#[derive(Args, Clone, Debug)]
pub(crate) struct Running {
    #[command(flatten)]
    pub(crate) chosen: Chosen,
    /// Threads [default: all cores]
    #[arg(long, value_name = "N")]
    pub(crate) jobs: Option<NonZeroUsize>,
    /// Keep every run in this store, a SQLite file, and reuse the runs that it contains
    #[arg(long, value_name = "FILE")]
    pub(crate) store: Option<PathBuf>,
    /// One JSON object per line
    #[arg(long)]
    pub(crate) json: bool,
    /// Show no progress
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

fn key_value(text: &str) -> Result<(String, String), String> {
    let (key, value) =
        text.split_once('=').ok_or("write KEY=VALUE, for example host.alice.up.rate=1Mbit/s")?;
    Ok((key.trim().to_owned(), value.trim().to_owned()))
}

impl Chosen {
    /// The experiment with the overrides of the command line.
    pub(crate) fn of(&self, experiment: Experiment) -> Result<Experiment, FileError> {
        let experiment = match experiment.as_printed().filter(|_| self.as_printed) {
            Some(printed) => printed?,
            None => experiment,
        };
        let experiment = if self.quick { experiment.quick()? } else { experiment };
        experiment.with_overrides(&self.overrides())
    }

    /// The overrides of the command line: (key, value).
    pub(crate) fn overrides(&self) -> Vec<(String, String)> {
        let number =
            |key: &str, value: Option<u64>| value.map(|value| (key.to_owned(), value.to_string()));
        let seed_and_runs =
            number("seed", self.seed).into_iter().chain(number("runs", self.runs.map(u64::from)));
        self.set.iter().cloned().chain(seed_and_runs).collect()
    }
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  weir run carlucci-2017/fig6
  weir run carlucci-2017/fig13 --runs 3 --set 'call.*.controller=gcc:libwebrtc'
  weir run path/to/experiment.toml --seed 7 --runs 1 --json")]
pub(crate) struct Run {
    /// An experiment's name (see 'weir list') or file
    #[arg(value_name = "NAME|FILE")]
    pub(crate) experiment: String,
    #[command(flatten)]
    pub(crate) running: Running,
    /// Capture the packets of the first run for Wireshark
    #[arg(long, value_name = "FILE")]
    pub(crate) pcap: Option<PathBuf>,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  weir verify
  weir verify C-5 C-6 V-2
  weir verify C V-7 J-12
  weir verify jansen-2016 --json
  weir verify --baseline before.json
  weir verify carlucci-2017 --with gcc:libwebrtc
  weir verify Z --with +short-hold --with +hold-increase
  weir verify jansen-2016 --from measured.sqlite

Exit code: 0; 1 if a claim or a metric got worse than in the baseline, or a run failed; 2 for bad input; 130 after Ctrl-C.")]
pub(crate) struct Verify {
    /// Papers (carlucci-2017), claims (C-5) or letters of claims (C) [default: all]
    #[arg(value_name = "PAPER|ID")]
    pub(crate) claims: Vec<String>,
    #[command(flatten)]
    pub(crate) running: Running,
    /// Verify with the runs of this store, separately for each browser, emulator and simulator
    #[arg(long, value_name = "FILE", conflicts_with_all = ["seed", "runs", "jobs", "set", "quick", "store", "with", "baseline", "report", "save_baseline", "markdown"])]
    pub(crate) from: Option<PathBuf>,
    /// Also verify under this controller, under 'all' controllers, with an improvement
    /// (+short-hold), with each of the 'improvements', or, where a claim does not hold, with one of
    /// the 'factors' changed after the other; repeatable
    #[arg(long, value_name = "CONTROLLER|+IMPROVEMENT")]
    pub(crate) with: Vec<String>,
    /// Compare with an earlier output of 'verify --json'
    #[arg(long, value_name = "FILE")]
    pub(crate) baseline: Option<PathBuf>,
    /// Write the claims and figures as one HTML file
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,
    /// Save the results as a baseline
    #[arg(long, value_name = "FILE")]
    pub(crate) save_baseline: Option<PathBuf>,
    /// Write the results as a Markdown page, with tables of the controllers and improvements that
    /// --with names
    #[arg(long, value_name = "FILE")]
    pub(crate) markdown: Option<PathBuf>,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  weir report carlucci-2017/fig6 carlucci-2017/fig11 -o carlucci.html
  weir report my-experiment.toml --runs 1 -o mine.html
  weir report --from runs.sqlite 1 2 3 -o stored.html
  weir report my-experiment.toml --figures paper --format pdf,csv --width 85mm
  weir report rmcat --markdown rmcat.md    the tables of all experiments of a folder")]
pub(crate) struct Report {
    /// Experiments by name (see 'weir list'), folder or file; with --from, numbers of runs
    /// [default: all]
    #[arg(value_name = "NAME|FILE|RUN", required_unless_present = "from")]
    pub(crate) experiments: Vec<String>,
    /// Show runs of this store instead of simulating
    #[arg(long, value_name = "FILE", conflicts_with_all = ["seed", "runs", "jobs", "set", "quick", "store"])]
    pub(crate) from: Option<PathBuf>,
    /// Where to write the page
    #[arg(long, short, value_name = "FILE", required_unless_present_any = ["figures", "markdown"])]
    pub(crate) output: Option<PathBuf>,
    /// Write the tables as a Markdown page. If FILE has the line '<!-- weir report: tables -->',
    /// what is above that line is kept
    #[arg(long, value_name = "FILE")]
    pub(crate) markdown: Option<PathBuf>,
    /// Write each figure as a file into this folder, which is made if it does not exist
    #[arg(long, value_name = "DIR")]
    pub(crate) figures: Option<PathBuf>,
    /// With --figures: svg, pdf (fonts embedded), png (300 dpi) or csv (the values); several with
    /// commas. Tables are always csv
    #[arg(
        long,
        value_name = "FORMAT",
        value_delimiter = ',',
        default_value = "svg",
        requires = "figures"
    )]
    pub(crate) format: Vec<Format>,
    /// With --figures: their width, 65mm to 1189mm [default: 85mm, figures over the whole page
    /// 180mm]
    #[arg(long, value_name = "WIDTH", requires = "figures", value_parser = figures::width)]
    pub(crate) width: Option<f64>,
    #[command(flatten)]
    pub(crate) running: Running,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  weir run carlucci-2017/fig6 --store runs.sqlite
  weir export --from runs.sqlite --metrics --parquet metrics.parquet
  weir export --from runs.sqlite --parquet runs.parquet --every 1s
  weir export --from runs.sqlite 1 --csv video.csv --stream main.video
  weir export --from runs.sqlite 1 --webrtc-internals dump.json")]
#[command(group = clap::ArgGroup::new("format").required(true))]
pub(crate) struct Export {
    /// Numbers of runs [default: all]
    #[arg(value_name = "RUN")]
    pub(crate) ids: Vec<i64>,
    /// The store
    #[arg(long, value_name = "FILE")]
    pub(crate) from: PathBuf,
    /// Write a CSV table with one row per value
    #[arg(long, value_name = "FILE", group = "format")]
    pub(crate) csv: Option<PathBuf>,
    /// Write the same as Parquet
    #[arg(long, value_name = "FILE", group = "format")]
    pub(crate) parquet: Option<PathBuf>,
    /// Write a measured run as a dump of chrome://webrtc-internals
    #[arg(long, value_name = "FILE", group = "format")]
    pub(crate) webrtc_internals: Option<PathBuf>,
    /// With --csv: the samples of one stream of one run, one column per quantity
    #[arg(long, value_name = "NAME", conflicts_with_all = ["parquet", "webrtc_internals"])]
    pub(crate) stream: Option<String>,
    /// With --csv or --parquet: one row per run and stream, with every metric as a column
    #[arg(long, conflicts_with_all = ["stream", "webrtc_internals", "every"])]
    pub(crate) metrics: bool,
    /// With --csv or --parquet: only the last value in each interval, such as 5s
    #[arg(long, value_name = "TIME", conflicts_with_all = ["stream", "webrtc_internals"])]
    pub(crate) every: Option<units::Duration>,
    /// Show no progress
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  weir control s set alice.up rate 500kbit/s     also delay 25ms, loss 1%; rate unlimited
  weir control s show
  weir control s stop")]
pub(crate) struct Control {
    /// The socket of 'weir emulate --control'
    #[arg(value_name = "SOCKET")]
    pub(crate) socket: PathBuf,
    /// The request
    #[arg(value_name = "REQUEST", required = true)]
    pub(crate) request: Vec<String>,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  weir tc janczukowicz-2017/adsl-com --set 'host.alice.up.queue=fq_codel target 5ms'
  weir tc my-experiment.toml --line alice.up --dev ppp0 | sudo sh
  weir tc my-experiment.toml --line alice.up --dev ppp0 --batch | sudo tc -batch -
  weir tc my-experiment.toml --undo --dev ppp0 | sudo sh        the way back
  weir tc my-experiment.toml --openwrt --dev pppoe-wan          as settings of sqm-scripts")]
pub(crate) struct Tc {
    /// An experiment's name (see 'weir list') or file
    #[arg(value_name = "NAME|FILE")]
    pub(crate) experiment: String,
    /// Only this line
    #[arg(long, value_name = "HOST.up|down")]
    pub(crate) line: Option<String>,
    /// The device of the gateway in the printed tc commands
    #[arg(long, value_name = "NAME", default_value = "eth0")]
    pub(crate) dev: Device,
    /// Print the commands without 'tc', for 'tc -batch -'
    #[arg(long, conflicts_with_all = ["openwrt", "undo"])]
    pub(crate) batch: bool,
    /// Print settings of sqm-scripts for OpenWrt; only for fq_codel and cake
    #[arg(long)]
    pub(crate) openwrt: bool,
    /// Per cent of the line's rate at which sqm-scripts shape
    #[arg(long, value_name = "PERCENT", default_value_t = 95, requires = "openwrt", value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(crate) share: u32,
    /// Print the command that restores the device's own queue
    #[arg(long)]
    pub(crate) undo: bool,
    /// Change a value of the experiment; VALUE is TOML or plain text; repeatable
    #[arg(long, value_name = "KEY=VALUE", value_parser = key_value)]
    pub(crate) set: Vec<(String, String)>,
}

#[derive(Args, Debug)]
pub(crate) struct Doctor {
    /// One JSON object per line
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  weir completions bash > ~/.local/share/bash-completion/completions/weir
  weir completions zsh > ~/.zfunc/_weir")]
pub(crate) struct Completions {
    /// The shell
    #[arg(value_name = "SHELL")]
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Args, Debug)]
#[command(after_help = "Example:\n  weir man -o ~/.local/share/man/man1 && man weir-run")]
pub(crate) struct Man {
    /// The folder for the pages, which is made if it does not exist
    #[arg(long, short, value_name = "DIR")]
    pub(crate) output: PathBuf,
}
