//! What the server and the pages tell each other. `ts-rs` makes the types of the pages from these.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// How a run is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// In virtual time.
    Simulated,
    /// In real time between real programs.
    Emulated,
    /// In real time with real browsers.
    Measured,
}

/// What the server is and may do.
#[derive(Clone, Debug, Serialize, TS)]
pub(crate) struct Facts {
    /// The version of Weir.
    pub(crate) version: String,
    /// A word that no other start of the server has.
    pub(crate) instance: String,
    /// The path of the store.
    pub(crate) store: String,
    /// Whether the store is removed when the server ends.
    pub(crate) is_temporary: bool,
    /// The folder of the user's experiments.
    pub(crate) folder: Option<String>,
    /// Whether runs in real time may be started.
    pub(crate) allows_real_time: bool,
    /// How many runs are simulated at a time.
    pub(crate) jobs: usize,
}

/// A run in the list of runs.
#[derive(Clone, Debug, Serialize, TS)]
pub(crate) struct RunRow {
    #[ts(type = "number")]
    pub(crate) id: i64,
    pub(crate) experiment: String,
    /// `host.alice.up.rate=1Mbit/s, flows=2`; empty without a grid.
    pub(crate) cell: String,
    /// As text, because it has 64 bits.
    pub(crate) seed: String,
    pub(crate) mode: Mode,
    /// The version of Weir that made it.
    pub(crate) version: String,
    /// Seconds.
    pub(crate) duration: f64,
    /// The browsers and native peers of a measured run.
    pub(crate) endpoints: Vec<String>,
    /// Whether the machine, not the network, limited the run.
    pub(crate) is_cpu_limited: bool,
    pub(crate) tags: Vec<String>,
}

/// One run.
#[derive(Clone, Debug, Serialize, TS)]
pub(crate) struct RunPage {
    pub(crate) run: RunRow,
    /// The title of the experiment; empty if its text cannot be read.
    pub(crate) title: String,
    /// The text of the experiment file.
    pub(crate) text: String,
    /// The command that repeats the run, which needs the text as the file `file` unless that is
    /// empty.
    pub(crate) command: String,
    pub(crate) file: String,
    /// Facts about the run, as (name, value).
    pub(crate) notes: Vec<(String, String)>,
    pub(crate) metrics: Vec<MetricRow>,
    /// Other runs of the same experiment and cell.
    pub(crate) siblings: Vec<RunRow>,
}

/// A metric of a run.
#[derive(Clone, Debug, Serialize, TS)]
pub(crate) struct MetricRow {
    pub(crate) stream: String,
    pub(crate) name: String,
    /// The value with its unit.
    pub(crate) value: String,
}

/// An experiment in the list of experiments.
#[derive(Clone, Debug, Serialize, TS)]
pub(crate) struct ExperimentRow {
    pub(crate) name: String,
    pub(crate) title: String,
    pub(crate) source: String,
    pub(crate) cells: usize,
    pub(crate) runs: u32,
    /// Whether the file is in the user's folder.
    pub(crate) is_own: bool,
    /// The claims that it tests.
    pub(crate) claims: Vec<String>,
}

/// An experiment to be started.
#[derive(Clone, Debug, Serialize, TS)]
pub(crate) struct ExperimentPage {
    pub(crate) name: String,
    pub(crate) title: String,
    pub(crate) text: String,
    /// The settings of the text that are single values.
    pub(crate) form: Vec<Field>,
    /// The number of runs: cells times seeds.
    pub(crate) total: usize,
    /// Seconds per run, at most.
    pub(crate) duration: f64,
}

/// A setting of an experiment.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
pub(crate) struct Field {
    /// The path of the key: `host.alice.up.rate`.
    pub(crate) key: String,
    /// The value as `--set` takes it.
    pub(crate) value: String,
    /// What the schema says about the key.
    pub(crate) doc: String,
    pub(crate) kind: FieldKind,
    /// The words that are suggested, or the only ones that are allowed if the kind is `choice`.
    pub(crate) words: Vec<String>,
}

/// How a setting is edited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "lowercase")]
pub(crate) enum FieldKind {
    Text,
    Number,
    Flag,
    Choice,
}

/// Changes of an experiment's text by its settings.
#[derive(Clone, Debug, Deserialize, TS)]
pub(crate) struct Edit {
    pub(crate) name: String,
    pub(crate) text: String,
    /// Keys with their new values.
    pub(crate) set: Vec<(String, String)>,
}

/// A request to run an experiment.
#[derive(Clone, Debug, Deserialize, TS)]
pub(crate) struct Start {
    pub(crate) name: String,
    pub(crate) text: String,
    pub(crate) mode: Mode,
    pub(crate) tags: Vec<String>,
}

/// A request to verify claims.
#[derive(Clone, Debug, Deserialize, TS)]
pub(crate) struct Verify {
    /// Ids of claims.
    pub(crate) claims: Vec<String>,
    /// The number of seeds per cell; that of the experiment if it is not given.
    pub(crate) runs: Option<u32>,
}

/// A request for advice: a network of the list, or a line at home.
#[derive(Clone, Debug, Deserialize, TS)]
pub(crate) struct Ask {
    /// The name of an experiment; else `line` counts.
    pub(crate) name: Option<String>,
    /// `5Mbit/1Mbit`.
    pub(crate) line: Option<String>,
    /// Whether a modem behind the router has the line.
    pub(crate) modem: bool,
    pub(crate) upload: bool,
    pub(crate) download: bool,
    /// The weight of the call against other traffic, 0 to 1.
    pub(crate) weight: f64,
    /// The number of seeds.
    pub(crate) runs: u32,
    /// The device in the printed commands.
    pub(crate) device: String,
}

/// What is wrong with a request.
#[derive(Clone, Debug, Serialize, TS)]
pub(crate) struct Problem {
    /// One sentence with a suggestion.
    pub(crate) message: String,
    /// The line of the experiment, from 1.
    pub(crate) line: Option<usize>,
    /// The key of the experiment.
    pub(crate) key: String,
}

/// The kind of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "lowercase")]
pub(crate) enum JobKind {
    Run,
    Verify,
    Advise,
    Compare,
}

/// The state of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "lowercase")]
pub(crate) enum JobStatus {
    Waiting,
    Running,
    Done,
    Failed,
    Cancelled,
}

/// A job, as the pages show it.
#[derive(Clone, Debug, Serialize, TS)]
pub(crate) struct JobView {
    #[ts(type = "number")]
    pub(crate) id: u64,
    pub(crate) kind: JobKind,
    pub(crate) title: String,
    /// The experiment of a run; else empty.
    pub(crate) experiment: String,
    pub(crate) mode: Mode,
    pub(crate) status: JobStatus,
    /// Finished and failed runs, and all runs.
    pub(crate) done: usize,
    pub(crate) failed: usize,
    pub(crate) total: usize,
    /// The share of the work that is done, 0 to 1.
    pub(crate) share: f64,
    /// The virtual time of the run that the page shows, and its end, in seconds.
    pub(crate) at: f64,
    pub(crate) end: f64,
    /// What went wrong.
    pub(crate) messages: Vec<String>,
    /// The numbers of the finished runs in the store.
    #[ts(type = "number[]")]
    pub(crate) runs: Vec<i64>,
}

/// A server-sent event: the jobs that have changed.
#[derive(Clone, Debug, Serialize, TS)]
pub(crate) struct Progress {
    /// [`Facts::instance`].
    pub(crate) instance: String,
    pub(crate) jobs: Vec<JobView>,
}

/// A claim, and what the newest verification since the start of the server found.
#[derive(Clone, Debug, Serialize, TS)]
pub(crate) struct ClaimRow {
    pub(crate) id: String,
    pub(crate) paper: String,
    /// The place in the paper.
    pub(crate) place: String,
    pub(crate) setting: String,
    pub(crate) published: String,
    pub(crate) check: String,
    pub(crate) experiment: String,
    /// Whether a sweep tests it, which runs on the command line.
    pub(crate) is_sweep: bool,
    /// The known reason for a difference.
    pub(crate) note: String,
    pub(crate) verdict: Option<VerdictRow>,
}

/// The verdict on a claim.
#[derive(Clone, Debug, Serialize, TS)]
pub(crate) struct VerdictRow {
    pub(crate) id: String,
    /// `reproduced`, `not reproduced` or `not run`.
    pub(crate) status: String,
    pub(crate) measured: String,
    pub(crate) note: String,
    pub(crate) runs: u32,
    /// Who was measured; empty for the simulator.
    pub(crate) who: String,
    /// The values by cell.
    pub(crate) values: Vec<ValueRow>,
    /// The job whose figures show the verdict.
    #[ts(type = "number")]
    pub(crate) job: u64,
    /// The numbers of its figures.
    pub(crate) figures: Vec<usize>,
}

/// A measured value of a claim.
#[derive(Clone, Debug, Serialize, TS)]
pub(crate) struct ValueRow {
    pub(crate) cell: String,
    pub(crate) name: String,
    pub(crate) value: String,
}

/// A ranking of remedies.
#[derive(Clone, Debug, Default, Serialize, TS)]
pub(crate) struct Ranking {
    pub(crate) heading: String,
    pub(crate) columns: Vec<String>,
    pub(crate) rows: Vec<RankRow>,
    /// One sentence about the best remedy; empty while runs are missing.
    pub(crate) verdict: String,
    /// The remedies that cannot be applied, with the reason.
    pub(crate) unfit: Vec<String>,
    /// Runs per remedy that are in the ranking, and all.
    pub(crate) seeds: usize,
    pub(crate) all_seeds: usize,
}

/// A remedy in a ranking.
#[derive(Clone, Debug, Serialize, TS)]
pub(crate) struct RankRow {
    pub(crate) name: String,
    pub(crate) about: String,
    pub(crate) source: String,
    /// Whether it may be as good as the first by chance.
    pub(crate) is_as_good: bool,
    pub(crate) cells: Vec<String>,
    /// The commands for a gateway.
    pub(crate) tc: String,
    /// Changes of the experiment file.
    pub(crate) set: Vec<(String, String)>,
}

/// Stored runs side by side.
#[derive(Clone, Debug, Default, Serialize, TS)]
pub(crate) struct Comparisons {
    pub(crate) claims: Vec<ComparedClaim>,
    pub(crate) differences: Vec<DifferenceRow>,
    /// Runs that were left out, with the reason.
    pub(crate) notes: Vec<String>,
}

/// A claim and what each source found.
#[derive(Clone, Debug, Serialize, TS)]
pub(crate) struct ComparedClaim {
    pub(crate) id: String,
    pub(crate) paper: String,
    pub(crate) place: String,
    pub(crate) published: String,
    pub(crate) experiment: String,
    pub(crate) findings: Vec<VerdictRow>,
}

/// A measured mean beside a simulated one.
#[derive(Clone, Debug, Serialize, TS)]
pub(crate) struct DifferenceRow {
    pub(crate) experiment: String,
    pub(crate) cell: String,
    pub(crate) who: String,
    pub(crate) stream: String,
    pub(crate) metric: String,
    pub(crate) measured: String,
    pub(crate) simulated: String,
    pub(crate) difference: String,
}

/// The head of a chart; the values follow as columns of doubles, see [`crate::chart`].
#[derive(Clone, Debug, Serialize, TS)]
pub(crate) struct ChartHead {
    /// The names of the runs, in the order of [`SeriesHead::run`].
    pub(crate) runs: Vec<String>,
    /// Seconds.
    pub(crate) duration: f64,
    pub(crate) panels: Vec<PanelHead>,
    pub(crate) bands: Vec<Band>,
    pub(crate) events: Vec<Mark>,
    /// The series that can be added.
    pub(crate) columns: Vec<ColumnName>,
    /// The lengths of the columns, in the order in which they follow.
    pub(crate) lengths: Vec<usize>,
    /// What the values are, where they are not the recorded ones.
    pub(crate) notes: Vec<String>,
}

/// A panel of a chart.
#[derive(Clone, Debug, Serialize, TS)]
pub(crate) struct PanelHead {
    pub(crate) label: String,
    /// `bit/s`, `s`, `1` for a share, `B`, `1/s`, or empty.
    pub(crate) unit: String,
    pub(crate) series: Vec<SeriesHead>,
}

/// A series of a panel.
#[derive(Clone, Debug, Serialize, TS)]
pub(crate) struct SeriesHead {
    pub(crate) name: String,
    /// The index of the run.
    pub(crate) run: usize,
    /// The index of the stream's colour.
    pub(crate) colour: usize,
    /// 0 for a solid line, 1 dashed, 2 dotted, 3 both.
    pub(crate) dash: usize,
    /// Whether the values hold until the next.
    pub(crate) is_step: bool,
    /// Whether it is what the others are compared with.
    pub(crate) is_reference: bool,
    /// The columns with its times and values.
    pub(crate) x: usize,
    pub(crate) y: usize,
    /// The columns with the ends of an interval.
    pub(crate) band: Option<(usize, usize)>,
}

/// A time in which a controller was in one state.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
pub(crate) struct Band {
    pub(crate) run: usize,
    pub(crate) stream: String,
    pub(crate) from: f64,
    pub(crate) to: f64,
    /// −1, 0 or 1.
    pub(crate) state: f64,
    /// The controller's word for the state.
    pub(crate) word: String,
}

/// An event.
#[derive(Clone, Debug, Serialize, TS)]
pub(crate) struct Mark {
    pub(crate) run: usize,
    pub(crate) at: f64,
    pub(crate) stream: String,
    pub(crate) what: String,
    pub(crate) value: f64,
}

/// A recorded series.
#[derive(Clone, Debug, Serialize, TS)]
pub(crate) struct ColumnName {
    pub(crate) stream: String,
    pub(crate) name: String,
    /// Whether it is a signal of the controller.
    pub(crate) is_signal: bool,
}

/// The head of a packet view; columns of doubles follow: sent (s), sequence number (unwrapped, of
/// the media source), size (bytes), arrival (s; not-a-number if lost), and whether it is a
/// retransmission.
#[derive(Clone, Debug, Serialize, TS)]
pub(crate) struct PacketHead {
    pub(crate) stream: String,
    /// The streams that can be chosen.
    pub(crate) streams: Vec<String>,
    pub(crate) lost: usize,
    pub(crate) lengths: Vec<usize>,
    /// What is left out, if anything.
    pub(crate) note: String,
}
