use super::{Chosen, key_value};
use clap::Args;
use std::ffi::OsString;
use std::path::PathBuf;

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  weir emulate my-experiment.toml                          its programs and TCP flows, for real
  weir emulate my-experiment.toml --host alice -- ping bob
  weir emulate my-experiment.toml -- bash                  a shell on the first host
  weir emulate janczukowicz-2017/adsl-ct --cell 'config=FQ Codel' --compare
  weir emulate my-experiment.toml --control s & weir control s set alice.up rate 500kbit/s

Exit code: that of COMMAND; 0; 1 if a program failed or the machine could not keep up; 2 for bad input; 130 after Ctrl-C.")]
pub(crate) struct Emulate {
    /// An experiment's name (see 'weir list') or file
    #[arg(value_name = "NAME|FILE")]
    pub(crate) experiment: String,
    /// Run this command on a host in this terminal; the emulation ends with it
    #[arg(value_name = "COMMAND", last = true, conflicts_with = "compare")]
    pub(crate) command: Vec<OsString>,
    /// The host of COMMAND [default: the first]
    #[arg(long, value_name = "NAME", requires = "command")]
    pub(crate) host: Option<String>,
    /// Run a command line with 'sh -c' on a host during the run; repeatable
    #[arg(long, value_name = "HOST=LINE", value_parser = key_value)]
    pub(crate) run: Vec<(String, String)>,
    #[command(flatten)]
    pub(crate) real_time: RealTimeArgs,
}

/// The arguments of every command that runs in real time.
#[derive(Args, Clone, Debug)]
pub(crate) struct RealTimeArgs {
    /// Only the cells of the grid with this value; repeatable
    #[arg(long, value_name = "AXIS=VALUE", value_parser = key_value)]
    pub(crate) cell: Vec<(String, String)>,
    #[command(flatten)]
    pub(crate) chosen: Chosen,
    /// Accept changes on this Unix socket during the run (see 'weir control')
    #[arg(long, value_name = "SOCKET")]
    pub(crate) control: Option<PathBuf>,
    /// Capture the packets of each host's interface into DIR/HOST.pcapng; with several runs, into
    /// one folder per run
    #[arg(long, value_name = "DIR")]
    pub(crate) pcap: Option<PathBuf>,
    /// Write the output of each program into DIR/NAME.log; with several runs, into one folder per
    /// run
    #[arg(long, value_name = "DIR")]
    pub(crate) logs: Option<PathBuf>,
    /// Also simulate the calls and flows that ran, and show the differences
    #[arg(long)]
    pub(crate) compare: bool,
    /// Keep every run in this store, a SQLite file; it is created if necessary
    #[arg(long, value_name = "FILE")]
    pub(crate) store: Option<PathBuf>,
    /// One JSON object per line
    #[arg(long)]
    pub(crate) json: bool,
    /// Show neither progress nor the output of programs
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  weir measure jansen-2016/limited-bandwidth --quick             one minute per cell, with Chromium
  weir measure jansen-2016/limited-bandwidth --endpoint client2=firefox
  weir measure janczukowicz-2017/adsl-ct --cell 'config=FQ Codel' --quick --compare
  weir measure my-experiment.toml --event-log logs && weir replay logs/alice.rtclog
  weir measure my-experiment.toml --store runs.sqlite && weir report --from runs.sqlite -o report.html

Needs root, Chromium with its driver, or Firefox with geckodriver, and ffmpeg: 'weir doctor' looks for them.
Exit code: 0; 1 if a run or a program failed or the machine could not keep up; 2 for bad input; 130 after Ctrl-C.")]
pub(crate) struct Measure {
    /// An experiment's name (see 'weir list') or file
    #[arg(value_name = "NAME|FILE")]
    pub(crate) experiment: String,
    /// The endpoint of every host, or of one: chromium, chromium+scream (with the field trials of
    /// SCReAM v2), firefox, peer (native, with the call's controller), rtc or str0m (with their
    /// own); repeatable
    #[arg(long, alias = "browser", value_name = "[HOST=]ENDPOINT")]
    pub(crate) endpoint: Vec<String>,
    /// Keep the event log that each Chromium writes of its calls, as DIR/HOST.rtclog for 'weir
    /// replay'; with several runs, in one folder per run
    #[arg(long, value_name = "DIR")]
    pub(crate) event_log: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) real_time: RealTimeArgs,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  weir import webrtc_internals_dump.gz --store runs.sqlite
  weir import dump.json --store runs.sqlite --name office/monday
  weir import alice.pcapng bob.pcapng --store runs.sqlite       both endpoints of one call

Files: RtcEventLog, dumps of chrome://webrtc-internals and of rtcstats, pcap, pcapng; compressed with
gzip or not. The kind is recognised by the content. What is readable of a damaged file is imported.
Exit code: 0; 2 for bad input.")]
pub(crate) struct Import {
    /// A recording of a call, or two: one of each endpoint of the same call
    #[arg(value_name = "FILE", required = true, num_args = 1..=2)]
    pub(crate) files: Vec<PathBuf>,
    /// The store, a SQLite file; it is created if necessary
    #[arg(long, value_name = "FILE")]
    pub(crate) store: PathBuf,
    /// The name of the experiment in the store [default: the first file's name]
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  weir replay alice.rtclog                                  is the recorded estimate that of today's libwebrtc?
  weir replay alice.rtclog --controller gcc:libwebrtc --set 'trend.window=40' -o replay.html
  weir replay alice.rtclog --json | tail -1                 the summary

The packets stay those of the recording: a replayed controller cannot change what happens to them.
Exit code: 0; 2 for bad input. What is readable of a damaged log is replayed.")]
pub(crate) struct Replay {
    /// An RtcEventLog of the endpoint that sends ('weir measure --event-log', chrome://webrtc-internals)
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// A capture of the same call at the same endpoint: its times of sent packets replace those of
    /// the log, which are earlier
    #[arg(long, value_name = "FILE")]
    pub(crate) capture: Option<PathBuf>,
    /// The controller, which decides at the sender (see 'weir list --controllers')
    #[arg(long, value_name = "NAME", default_value = "gcc:libwebrtc")]
    pub(crate) controller: String,
    /// Change a setting of the controller, or start_rate, min_rate or max_rate; repeatable
    #[arg(long, value_name = "KEY=VALUE", value_parser = key_value)]
    pub(crate) set: Vec<(String, String)>,
    /// Write the recorded and the replayed values as one HTML file
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// One JSON object per feedback message, then one with the summary
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
#[command(after_help = "Example:\n  weir fit --source holiday.mp4 --rates 500,1500")]
pub(crate) struct Fit {
    /// Encode this video (any format of ffmpeg) instead of the generated scenes
    #[arg(long, value_name = "FILE")]
    pub(crate) source: Option<PathBuf>,
    /// Seconds of each scene
    #[arg(long, value_name = "N")]
    pub(crate) seconds: Option<u32>,
    /// Rates in kbit/s
    #[arg(long, value_name = "N,…", value_delimiter = ',')]
    pub(crate) rates: Vec<u32>,
    /// Print the constants as Rust code
    #[arg(long)]
    pub(crate) rust: bool,
}
