export type Mode = "simulated" | "emulated" | "measured";

export type Facts = { version: string, instance: string, store: string, is_temporary: boolean, folder: string | null, allows_real_time: boolean, jobs: number, };

export type RunRow = { id: number, experiment: string, cell: string, seed: string, mode: Mode, version: string, duration: number, endpoints: Array<string>, is_cpu_limited: boolean, tags: Array<string>, };

export type RunPage = { run: RunRow, title: string, text: string, command: string, file: string, notes: Array<[string, string]>, metrics: Array<MetricRow>, siblings: Array<RunRow>, };

export type MetricRow = { stream: string, name: string, value: string, };

export type ExperimentRow = { name: string, title: string, source: string, cells: number, runs: number, is_own: boolean, claims: Array<string>, };

export type ExperimentPage = { name: string, title: string, text: string, form: Array<Field>, total: number, duration: number, };

export type Field = { key: string, value: string, doc: string, kind: FieldKind, words: Array<string>, };

export type FieldKind = "text" | "number" | "flag" | "choice";

export type Edit = { name: string, text: string, set: Array<[string, string]>, };

export type Start = { name: string, text: string, mode: Mode, tags: Array<string>, };

export type Verify = { claims: Array<string>, runs: number | null, };

export type Ask = { name: string | null, line: string | null, modem: boolean, upload: boolean, download: boolean, weight: number, runs: number, device: string, };

export type Problem = { message: string, line: number | null, key: string, };

export type JobKind = "run" | "verify" | "advise" | "compare";

export type JobStatus = "waiting" | "running" | "done" | "failed" | "cancelled";

export type JobView = { id: number, kind: JobKind, title: string, experiment: string, mode: Mode, status: JobStatus, done: number, failed: number, total: number, share: number, at: number, end: number, messages: Array<string>, runs: Array<number>, };

export type Progress = { instance: string, jobs: Array<JobView>, };

export type ClaimRow = { id: string, paper: string, place: string, setting: string, published: string, check: string, experiment: string, is_sweep: boolean, note: string, verdict: VerdictRow | null, };

export type VerdictRow = { id: string, status: string, measured: string, note: string, runs: number, who: string, values: Array<ValueRow>, job: number, figures: Array<number>, };

export type ValueRow = { cell: string, name: string, value: string, };

export type Ranking = { heading: string, columns: Array<string>, rows: Array<RankRow>, verdict: string, unfit: Array<string>, seeds: number, all_seeds: number, };

export type RankRow = { name: string, about: string, source: string, is_as_good: boolean, cells: Array<string>, tc: string, set: Array<[string, string]>, };

export type Comparisons = { claims: Array<ComparedClaim>, differences: Array<DifferenceRow>, notes: Array<string>, };

export type ComparedClaim = { id: string, paper: string, place: string, published: string, experiment: string, findings: Array<VerdictRow>, };

export type DifferenceRow = { experiment: string, cell: string, who: string, stream: string, metric: string, measured: string, simulated: string, difference: string, };

export type ChartHead = { runs: Array<string>, duration: number, panels: Array<PanelHead>, bands: Array<Band>, events: Array<Mark>, columns: Array<ColumnName>, lengths: Array<number>, notes: Array<string>, };

export type PanelHead = { label: string, unit: string, series: Array<SeriesHead>, };

export type SeriesHead = { name: string, run: number, colour: number, dash: number, is_step: boolean, is_reference: boolean, x: number, y: number, band: [number, number] | null, };

export type Band = { run: number, stream: string, from: number, to: number, state: number, word: string, };

export type Mark = { run: number, at: number, stream: string, what: string, value: number, };

export type ColumnName = { stream: string, name: string, is_signal: boolean, };

export type PacketHead = { stream: string, streams: Array<string>, lost: number, lengths: Array<number>, note: string, };
