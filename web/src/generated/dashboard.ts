// Generated from crates/dashboard/src/messages.rs. To regenerate:
// WEIR_RENEW=1 cargo test -p weir-dashboard --lib generated

export type Ask = {
/**
 * The name of an experiment; else `line` counts.
 */
name: string | null,
/**
 * `5Mbit/1Mbit`.
 */
line: string | null,
/**
 * Whether a modem behind the router has the line.
 */
modem: boolean, upload: boolean, download: boolean,
/**
 * The weight of the call against other traffic, 0 to 1.
 */
weight: number,
/**
 * The number of seeds.
 */
runs: number,
/**
 * The device in the printed commands.
 */
device: string, };

export type Band = { run: number, stream: string, from: number, to: number,
/**
 * −1, 0 or 1.
 */
state: number,
/**
 * The controller's word for the state.
 */
word: string, };

export type ChartHead = {
/**
 * The names of the runs, in the order of [`SeriesHead::run`].
 */
runs: Array<string>,
/**
 * Seconds.
 */
duration: number, panels: Array<PanelHead>, bands: Array<Band>, events: Array<Mark>,
/**
 * The series that can be added.
 */
columns: Array<ColumnName>,
/**
 * The lengths of the columns, in the order in which they follow.
 */
lengths: Array<number>,
/**
 * What the values are, where they are not the recorded ones.
 */
notes: Array<string>, };

export type ClaimRow = { id: string, paper: string,
/**
 * The place in the paper.
 */
place: string, setting: string, published: string, check: string, experiment: string,
/**
 * Whether a sweep tests it, which runs on the command line.
 */
is_sweep: boolean,
/**
 * The known reason for a difference.
 */
note: string, verdict: VerdictRow | null, };

export type ColumnName = { stream: string, name: string,
/**
 * Whether it is a signal of the controller.
 */
is_signal: boolean, };

export type ComparedClaim = { id: string, paper: string, place: string, published: string, experiment: string, findings: Array<VerdictRow>, };

export type Comparisons = { claims: Array<ComparedClaim>, differences: Array<DifferenceRow>,
/**
 * Runs that were left out, with the reason.
 */
notes: Array<string>, };

export type DifferenceRow = { experiment: string, cell: string, who: string, stream: string, metric: string, measured: string, simulated: string, difference: string, };

export type Edit = { name: string, text: string,
/**
 * Keys with their new values.
 */
set: Array<[string, string]>, };

export type ExperimentPage = { name: string, title: string, text: string,
/**
 * The settings of the text that are single values.
 */
form: Array<Field>,
/**
 * The number of runs: cells times seeds.
 */
total: number,
/**
 * Seconds per run, at most.
 */
duration: number, };

export type ExperimentRow = { name: string, title: string, source: string, cells: number, runs: number,
/**
 * Whether the file is in the user's folder.
 */
is_own: boolean,
/**
 * The claims that it tests.
 */
claims: Array<string>, };

export type Facts = {
/**
 * The version of Weir.
 */
version: string,
/**
 * A word that no other start of the server has.
 */
instance: string,
/**
 * The path of the store.
 */
store: string,
/**
 * Whether the store is removed when the server ends.
 */
is_temporary: boolean,
/**
 * The folder of the user's experiments.
 */
folder: string | null,
/**
 * Whether runs in real time may be started.
 */
allows_real_time: boolean,
/**
 * How many runs are simulated at a time.
 */
jobs: number, };

export type Field = {
/**
 * The path of the key: `host.alice.up.rate`.
 */
key: string,
/**
 * The value as `--set` takes it.
 */
value: string,
/**
 * What the schema says about the key.
 */
doc: string, kind: FieldKind,
/**
 * The words that are suggested, or the only ones that are allowed if the kind is `choice`.
 */
words: Array<string>, };

export type FieldKind = "text" | "number" | "flag" | "choice";

export type JobKind = "run" | "verify" | "advise" | "compare";

export type JobStatus = "waiting" | "running" | "done" | "failed" | "cancelled";

export type JobView = { id: number, kind: JobKind, title: string,
/**
 * The experiment of a run; else empty.
 */
experiment: string, mode: Mode, status: JobStatus,
/**
 * Finished and failed runs, and all runs.
 */
done: number, failed: number, total: number,
/**
 * The share of the work that is done, 0 to 1.
 */
share: number,
/**
 * The virtual time of the run that the page shows, and its end, in seconds.
 */
at: number, end: number,
/**
 * What went wrong.
 */
messages: Array<string>,
/**
 * The numbers of the finished runs in the store.
 */
runs: number[], };

export type Mark = { run: number, at: number, stream: string, what: string, value: number, };

export type MetricRow = { stream: string, name: string,
/**
 * The value with its unit.
 */
value: string, };

export type Mode = "simulated" | "emulated" | "measured";

export type PacketHead = { stream: string,
/**
 * The streams that can be chosen.
 */
streams: Array<string>, lost: number, lengths: Array<number>,
/**
 * What is left out, if anything.
 */
note: string, };

export type PanelHead = { label: string,
/**
 * `bit/s`, `s`, `1` for a share, `B`, `1/s`, or empty.
 */
unit: string, series: Array<SeriesHead>, };

export type Problem = {
/**
 * One sentence with a suggestion.
 */
message: string,
/**
 * The line of the experiment, from 1.
 */
line: number | null,
/**
 * The key of the experiment.
 */
key: string, };

export type Progress = {
/**
 * [`Facts::instance`].
 */
instance: string, jobs: Array<JobView>, };

export type RankRow = { name: string, about: string, source: string,
/**
 * Whether it may be as good as the first by chance.
 */
is_as_good: boolean, cells: Array<string>,
/**
 * The commands for a gateway.
 */
tc: string,
/**
 * Changes of the experiment file.
 */
set: Array<[string, string]>, };

export type Ranking = { heading: string, columns: Array<string>, rows: Array<RankRow>,
/**
 * One sentence about the best remedy; empty while runs are missing.
 */
verdict: string,
/**
 * The remedies that cannot be applied, with the reason.
 */
unfit: Array<string>,
/**
 * Runs per remedy that are in the ranking, and all.
 */
seeds: number, all_seeds: number, };

export type RunPage = { run: RunRow,
/**
 * The title of the experiment; empty if its text cannot be read.
 */
title: string,
/**
 * The text of the experiment file.
 */
text: string,
/**
 * The command that repeats the run, which needs the text as the file `file` unless that is
 * empty.
 */
command: string, file: string,
/**
 * Facts about the run, as (name, value).
 */
notes: Array<[string, string]>, metrics: Array<MetricRow>,
/**
 * Other runs of the same experiment and cell.
 */
siblings: Array<RunRow>, };

export type RunRow = { id: number, experiment: string,
/**
 * `host.alice.up.rate=1Mbit/s, flows=2`; empty without a grid.
 */
cell: string,
/**
 * As text, because it has 64 bits.
 */
seed: string, mode: Mode,
/**
 * The version of Weir that made it.
 */
version: string,
/**
 * Seconds.
 */
duration: number,
/**
 * The browsers and native peers of a measured run.
 */
endpoints: Array<string>,
/**
 * Whether the machine, not the network, limited the run.
 */
is_cpu_limited: boolean, tags: Array<string>, };

export type SeriesHead = { name: string,
/**
 * The index of the run.
 */
run: number,
/**
 * The index of the stream's colour.
 */
colour: number,
/**
 * 0 for a solid line, 1 dashed, 2 dotted, 3 both.
 */
dash: number,
/**
 * Whether the values hold until the next.
 */
is_step: boolean,
/**
 * Whether it is what the others are compared with.
 */
is_reference: boolean,
/**
 * The columns with its times and values.
 */
x: number, y: number,
/**
 * The columns with the ends of an interval.
 */
band: [number, number] | null, };

export type Start = { name: string, text: string, mode: Mode, tags: Array<string>, };

export type ValueRow = { cell: string, name: string, value: string, };

export type VerdictRow = { id: string,
/**
 * `reproduced`, `not reproduced` or `not run`.
 */
status: string, measured: string, note: string, runs: number,
/**
 * Who was measured; empty for the simulator.
 */
who: string,
/**
 * The values by cell.
 */
values: Array<ValueRow>,
/**
 * The job whose figures show the verdict.
 */
job: number,
/**
 * The numbers of its figures.
 */
figures: Array<number>, };

export type Verify = {
/**
 * Ids of claims.
 */
claims: Array<string>,
/**
 * The number of seeds per cell; that of the experiment if it is not given.
 */
runs: number | null, };
