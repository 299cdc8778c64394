//! Runs in real time, of emulations and measurements: one after another, printed, compared with the
//! simulator, and stored.

use super::lines::{CellLine, LinesLine, StreamsLine};
use super::run::{lines_table, streams_table};
use super::{cancel_on_signal, close, eprint, write_file};
use crate::cli::{Chosen, RealTimeArgs};
use crate::failure::Failure;
use crate::output::{Output, Rows};
use crate::progress::Progress;
use experiment::{Cell, Experiment, ProgramKind};
use lab::runner::{Job, RunCache};
use metrics::{Unit, lines, summary};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};
use sim::{Recording, RunError};
use std::collections::BTreeMap;
use std::error::Error;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use store::Mode;
use testbed::emulate::{
    Emulated, Emulation, ExitReason, HostCommand, OutputLine, ProgramExit, RealTime, Report,
};
use units::Seed;

/// The links whose rates the progress shows at most: they share one line.
const MAX_LINKS: usize = 3;

/// Makes one run of a cell in real time.
type MakeRun<'a> = &'a dyn Fn(&Emulation<'_>, &Cell, Seed) -> Result<Emulated, Box<dyn Error>>;

/// What differs between the commands that run in real time.
pub(crate) struct RunMode<'a> {
    /// The mode of the runs in a store.
    pub(crate) mode: Mode,
    /// The word for a run: `emulated`, `measured`.
    pub(crate) word: &'static str,
    /// A command in this terminal; the run ends with it.
    pub(crate) foreground: Option<(Option<&'a str>, &'a [OsString])>,
    /// Command lines for `sh -c` on hosts.
    pub(crate) background: &'a [(String, String)],
    /// Makes a run.
    pub(crate) make: MakeRun<'a>,
    /// Simulates the same cell.
    pub(crate) simulate: &'a dyn Fn(&Cell, Seed, &AtomicBool) -> Result<Recording, RunError>,
    /// Whether a failed run does not end the command.
    pub(crate) goes_on: bool,
}

/// Runs all cells and seeds of a command; prints, compares and stores each run.
pub(crate) fn run(
    experiment: &Experiment,
    args: &RealTimeArgs,
    kind: &RunMode<'_>,
) -> Result<ExitCode, Failure> {
    if let Some(folder) = &args.logs {
        std::fs::create_dir_all(folder)
            .map_err(|error| Failure::new(format!("{}: {error}", folder.display())))?;
    }
    let mut cells = chosen(experiment, &args.cell)?;
    if kind.foreground.is_some() && cells.len() > 1 {
        if !args.quiet {
            eprint(&format!(
                "the command runs in the first of {} cells, {}; --cell AXIS=VALUE chooses another",
                cells.len(),
                cells[0].label()
            ));
        }
        cells.truncate(1);
    }
    let cache = RunCache::open(args.store.as_deref())?;
    // A second Ctrl-C is ignored, because it would leave the hosts behind.
    let cancel = cancel_on_signal(|| ())?;
    let weir = std::env::current_exe().map_err(Failure::new)?;
    let seeds: Vec<_> = (0..).zip(experiment.seeds()).collect();
    let single = cells.len() * seeds.len() == 1;
    let mut session = Session {
        args,
        kind,
        experiment,
        cancel: &cancel,
        weir: &weir,
        cache,
        code: 0,
        not_removed: false,
        single,
    };
    let mut out = Output::new();
    if !single && !args.quiet && kind.foreground.is_none() {
        let seconds: f64 =
            cells.iter().map(|cell| cell.scenario(experiment.seed).duration.as_secs_f64()).sum();
        let minutes = seconds * seeds.len() as f64 / 60.0;
        eprint(&format!(
            "{} runs, {minutes:.1} minutes; --cell AXIS=VALUE selects some",
            cells.len() * seeds.len()
        ));
    }
    for cell in cells {
        for &(run, seed) in &seeds {
            let done = session.one(&mut out, Job { experiment: 0, cell: cell.index, run, seed });
            if cancel.load(Ordering::Relaxed) {
                close(session.cache, args.quiet)?;
                eprint(if session.not_removed {
                    "stopped; not every host could be removed"
                } else {
                    "stopped; the hosts and their programs are removed"
                });
                return Err(Failure::Interrupted);
            }
            match done {
                Err(failure) if kind.goes_on && !single => {
                    let cell =
                        if cell.params.is_empty() { &experiment.name } else { &cell.label() };
                    eprint(&format!("{cell}:"));
                    failure.report();
                    session.code = 1;
                }
                done => done?,
            }
        }
    }
    out.finish()?;
    close(session.cache, args.quiet)?;
    Ok(ExitCode::from(session.code))
}

/// The experiment as it runs in real time.
pub(crate) fn open(name: &str, chosen: &Chosen) -> Result<Experiment, Failure> {
    // One run is the default, because real time is slow and runs differ even with the same seed.
    let once = Chosen { runs: chosen.runs.or(Some(1)), ..chosen.clone() };
    Ok(once.of(lab::open(name)?)?)
}

/// The cells with these values.
fn chosen<'a>(
    experiment: &'a Experiment,
    wanted: &[(String, String)],
) -> Result<Vec<&'a Cell>, Failure> {
    let cells: Vec<&Cell> = experiment.cells().iter().filter(|cell| cell.has(wanted)).collect();
    if cells.is_empty() {
        let labels: Vec<String> = experiment.cells().iter().map(Cell::label).collect();
        return Err(Failure::new(format!(
            "--cell: no cell has these values; there are {}",
            labels.join(" | ")
        )));
    }
    Ok(cells)
}

/// The runs of one command.
struct Session<'a> {
    args: &'a RealTimeArgs,
    kind: &'a RunMode<'a>,
    experiment: &'a Experiment,
    cancel: &'a AtomicBool,
    weir: &'a Path,
    cache: RunCache,
    code: u8,
    /// Whether a host could not be removed.
    not_removed: bool,
    /// Whether it is one run only.
    single: bool,
}

impl Session<'_> {
    fn one(&mut self, out: &mut Output, job: Job) -> Result<(), Failure> {
        let args = self.args;
        let cell = &self.experiment.cells()[job.cell];
        let emulated = self.make(cell, job)?;
        for error in &emulated.not_removed {
            self.not_removed = true;
            eprint(&format!("error: {error}"));
        }
        if self.kind.mode == Mode::Measured && self.cancel.load(Ordering::Relaxed) {
            // An incomplete call is not stored, because it could be taken for a complete one.
            return Ok(());
        }
        self.cache.insert(
            self.experiment,
            job,
            &emulated.recording,
            self.kind.mode,
            &emulated.notes,
            self.cancel,
        );
        if let Some(folder) = &args.logs {
            write_logs(&self.folder(folder, job), &emulated.programs)?;
        }
        let simulated =
            args.compare.then(|| (self.kind.simulate)(cell, job.seed, self.cancel)).transpose();
        let simulated = simulated.map_err(Failure::new)?;
        if args.json {
            out.json(&line(self.experiment, job, self.kind, &emulated, simulated.as_ref()))?;
        } else {
            print(out, self.experiment, job, self.kind, &emulated)?;
            if let Some(simulated) = &simulated {
                compare(out, simulated, &emulated.recording)?;
            }
        }
        emulated.warnings.iter().for_each(|warning| eprint(&format!("warning: {warning}")));
        let code = match emulated.exit.map(|status| status.code()) {
            Some(code) => code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1),
            None => u8::from(emulated.failed() || !emulated.kept_up),
        };
        let code = if code == 0 { u8::from(!emulated.not_removed.is_empty()) } else { code };
        // The first exit code that is not zero, so that one failed run is not missed.
        self.code = if self.code == 0 { code } else { self.code };
        out.flush()
    }

    /// The folder for a run's files; with several runs, one folder per run.
    fn folder(&self, top: &Path, job: Job) -> PathBuf {
        if self.single {
            top.to_owned()
        } else {
            top.join(format!("cell{}-run{}", job.cell, job.run))
        }
    }

    fn make(&self, cell: &Cell, job: Job) -> Result<Emulated, Failure> {
        let args = self.args;
        let first = || cell.scenario(job.seed).network.hosts[0].name.clone();
        let foreground = self.kind.foreground.map(|(host, command)| HostCommand {
            host: host.map_or_else(first, str::to_owned),
            command: command.to_owned(),
        });
        let shell = |(host, line): &(String, String)| HostCommand {
            host: host.clone(),
            command: ["sh", "-c", line].map(OsString::from).to_vec(),
        };
        let background: Vec<HostCommand> = self.kind.background.iter().map(shell).collect();
        let progress = Progress::new(args.quiet || foreground.is_some(), "s");
        let whole = |span: units::Duration| span.as_secs_f64() as usize;
        let length = whole(cell.scenario(job.seed).duration);
        let captures = args.pcap.as_deref().map(|folder| self.folder(folder, job));
        let emulation = Emulation {
            captures: captures.as_deref(),
            control: args.control.as_deref(),
            foreground: foreground.as_ref(),
            background: &background,
            weir: self.weir,
            cancel: self.cancel,
            output: &|line| {
                if !args.quiet && line.is_for_people() {
                    progress.line(&output_line(line));
                }
            },
            progress: &|since, links| {
                let shown: Vec<String> =
                    links.iter().take(MAX_LINKS).map(ToString::to_string).collect();
                progress.show_with(whole(since), length, &shown.join("; "));
            },
        };
        let made = (self.kind.make)(&emulation, cell, job.seed);
        progress.finish();
        made.map_err(|error| {
            if self.kind.goes_on { Failure::Broken(error.to_string()) } else { Failure::new(error) }
        })
    }
}

fn output_line(line: &OutputLine<'_>) -> String {
    // A tab cannot move text outside its line.
    format!("{} {} | {}", line.host, line.program.name, line.line.replace('\t', "    "))
}

fn write_logs(folder: &Path, programs: &[ProgramExit]) -> Result<(), Failure> {
    std::fs::create_dir_all(folder)
        .map_err(|error| Failure::new(format!("{}: {error}", folder.display())))?;
    for ended in programs {
        let mut text = ended.lines.join("\n");
        text.push('\n');
        write_file(&folder.join(format!("{}.log", ended.program.name)), &text)?;
    }
    Ok(())
}

/// The exit of a program in one word.
fn word(reason: &ExitReason) -> String {
    match reason {
        ExitReason::NotStarted(error) => format!("not started: {error}"),
        ExitReason::Exited(status) => status.to_string(),
        ExitReason::Stopped => "ended with the run".to_owned(),
    }
}

fn print(
    out: &mut Output,
    experiment: &Experiment,
    job: Job,
    kind: &RunMode<'_>,
    emulated: &Emulated,
) -> Result<(), Failure> {
    let cell = &experiment.cells()[job.cell];
    let mut heading =
        if cell.params.is_empty() { String::new() } else { format!(", {}", cell.label()) };
    if emulated.notes.iter().any(|(name, _)| name == "cpuLimited") {
        heading.push_str(", CPU-limited");
    }
    out.line(format_args!(
        "{}: {} ({} for {:.1} s{heading})",
        experiment.name,
        experiment.title,
        kind.word,
        emulated.recording.duration.as_secs_f64()
    ))?;
    let streams = summary(&emulated.recording);
    if !streams.is_empty() {
        out.table(&streams_table(&[streams]))?;
    }
    out.table(&lines_table(&lines(&emulated.recording)))?;
    for ended in &emulated.programs {
        if let Some(result) = iperf3(&ended.lines) {
            out.line(format_args!("{}: {result}", ended.program.name))?;
        }
    }
    for ended in emulated.programs.iter().filter(|ended| !ended.succeeded()) {
        out.line(format_args!("{} {}: {}", ended.program.name, "failed", word(&ended.reason)))?;
        for line in ended.lines.iter().rev().take(3).rev() {
            out.line(format_args!("  {line}"))?;
        }
    }
    out.line(punctuality(&emulated.report))
}

/// The result of an iperf3 client in one line, from the member `end` of its JSON.
fn iperf3(lines: &[String]) -> Option<String> {
    let json: Value = serde_json::from_str(&lines.join("\n")).ok()?;
    if let Some(error) = json.get("error").and_then(Value::as_str) {
        return Some(error.to_owned());
    }
    let end = json.get("end")?;
    let rate = |of: &str| {
        end.get(of)?.get("bits_per_second")?.as_f64().map(|rate| Unit::BitsPerSecond.show(rate))
    };
    if let Some(lost) = end.get("sum").and_then(|sum| sum.get("lost_percent")?.as_f64()) {
        return Some(format!("{} sent, {lost:.2} % lost", rate("sum")?));
    }
    let retransmits = end.get("sum_sent")?.get("retransmits").and_then(Value::as_u64);
    let retransmits = retransmits.map_or(String::new(), |count| format!(", {count} retransmitted"));
    Some(format!("{} sent, {} received{retransmits}", rate("sum_sent")?, rate("sum_received")?))
}

/// The lateness of the real-time loop.
fn punctuality(report: &Report) -> String {
    let late = |span: units::Duration| match span.as_millis_f64() {
        millis if millis < 1.0 => format!("{:.0} µs", 1e3 * millis),
        millis => format!("{millis:.1} ms"),
    };
    let Report { lateness, real_time, .. } = report;
    let scheduling = match real_time {
        RealTime::Fifo => String::new(),
        RealTime::Ordinary(reason) => format!("; without real-time scheduling ({reason})"),
    };
    format!(
        "{} packets, late by {} (median), {} (p99), {} (max); {} by more than 1 ms{scheduling}",
        lateness.count(),
        late(lateness.quantile(0.5)),
        late(lateness.quantile(0.99)),
        late(lateness.max()),
        lateness.missed()
    )
}

/// A run in real time as one line of JSON.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct RealTimeLine<'a> {
    /// The name of the experiment.
    experiment: &'a str,
    cell: CellLine,
    /// The number of the run within its cell, from 0.
    run: u32,
    /// The seed.
    seed: u64,
    /// `emulated` or `measured`.
    mode: &'static str,
    /// The duration of the run, s.
    duration: f64,
    streams: StreamsLine,
    lines: LinesLine,
    /// Whether the machine kept up: the packets were on time.
    kept_up: bool,
    wakeups: Wakeups,
    packets: PacketCounts,
    /// Whether the loop ran with real-time priority.
    real_time: bool,
    lateness: Lateness,
    /// The programs of the run.
    programs: Vec<ProgramLine>,
    warnings: &'a [String],
    /// Facts about the run, by name.
    #[schemars(with = "BTreeMap<String, String>")]
    notes: Map<String, Value>,
    /// The same cell and seed in the simulator (`--compare`).
    #[serde(skip_serializing_if = "Option::is_none")]
    simulated: Option<SimulatedLine>,
}

/// How late the loop woke up.
#[derive(Serialize, JsonSchema)]
struct Wakeups {
    /// The 99th percentile, s.
    p99: f64,
    /// The number of wake-ups that came too late for their packets.
    missed: u64,
}

/// The packets of a run.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct PacketCounts {
    /// Packets that entered the network.
    entered: u64,
    /// Packets that were delivered.
    delivered: u64,
    /// Packets to no host of the network.
    unroutable: u64,
    /// Packets that the network did not take.
    refused: u64,
    /// Packets of another protocol.
    not_ip: u64,
    /// Packets that the host did not take.
    undeliverable: u64,
    /// Packets that the host's device dropped before they entered.
    lost_before_entry: u64,
}

/// How much later than the model says packets left, s.
#[derive(Serialize, JsonSchema)]
struct Lateness {
    median: f64,
    p99: f64,
    max: f64,
    /// The number of packets whose time was missed.
    missed: u64,
    /// The number of packets.
    packets: u64,
}

/// A program of a run.
#[derive(Serialize, JsonSchema)]
struct ProgramLine {
    /// Its name in the experiment.
    name: String,
    /// How it ended.
    ended: String,
    succeeded: bool,
    /// What it printed: the JSON of iperf3, or lines; `null` for uploads, whose streams have it.
    output: Value,
}

/// A simulated run beside a real one.
#[derive(Serialize, JsonSchema)]
struct SimulatedLine {
    streams: StreamsLine,
    lines: LinesLine,
}

fn line<'a>(
    experiment: &'a Experiment,
    job: Job,
    kind: &RunMode<'_>,
    emulated: &'a Emulated,
    simulated: Option<&Recording>,
) -> RealTimeLine<'a> {
    let report = &emulated.report;
    let late = |share| report.lateness.quantile(share).as_secs_f64();
    let note = |(name, value): &(String, String)| (name.clone(), Value::from(value.as_str()));
    RealTimeLine {
        experiment: &experiment.name,
        cell: CellLine::new(&experiment.cells()[job.cell].params),
        run: job.run,
        seed: job.seed.0,
        mode: kind.mode.as_str(),
        duration: emulated.recording.duration.as_secs_f64(),
        streams: StreamsLine::new(&summary(&emulated.recording)),
        lines: LinesLine::new(&lines(&emulated.recording)),
        kept_up: emulated.kept_up,
        wakeups: Wakeups {
            p99: report.wakeups.quantile(0.99).as_secs_f64(),
            missed: report.wakeups.missed(),
        },
        packets: PacketCounts {
            entered: report.entered,
            delivered: report.delivered,
            unroutable: report.unroutable,
            refused: report.refused,
            not_ip: report.not_ip,
            undeliverable: report.undeliverable,
            lost_before_entry: report.lost_before_entry.iter().sum(),
        },
        real_time: report.real_time == RealTime::Fifo,
        lateness: Lateness {
            median: late(0.5),
            p99: late(0.99),
            max: report.lateness.max().as_secs_f64(),
            missed: report.lateness.missed(),
            packets: report.lateness.count(),
        },
        programs: emulated.programs.iter().map(program).collect(),
        warnings: &emulated.warnings,
        notes: emulated.notes.iter().map(note).collect(),
        simulated: simulated.map(|simulated| SimulatedLine {
            streams: StreamsLine::new(&summary(simulated)),
            lines: LinesLine::new(&lines(simulated)),
        }),
    }
}

fn program(ended: &ProgramExit) -> ProgramLine {
    let text = ended.lines.join("\n");
    let output = match ended.program.kind {
        // The streams include them.
        ProgramKind::Upload(_) | ProgramKind::UploadServer { .. } if ended.succeeded() => {
            Value::Null
        }
        // iperf3 prints one JSON object.
        _ => serde_json::from_str(&text).unwrap_or_else(|_| Value::from(ended.lines.clone())),
    };
    let name = ended.program.name.clone();
    ProgramLine { name, ended: word(&ended.reason), succeeded: ended.succeeded(), output }
}

/// The simulator beside the real run, one row per metric.
fn compare(out: &mut Output, simulated: &Recording, emulated: &Recording) -> Result<(), Failure> {
    let mut rows = Rows::new(["stream", "metric", "simulated", "real", "difference"]);
    let all = |recording| [summary(recording), lines(recording)].concat();
    let simulated = all(simulated);
    for stream in all(emulated) {
        let Some(twin) = simulated.iter().find(|other| other.stream == stream.stream) else {
            continue;
        };
        for ((name, unit, real), (_, _, virtual_)) in stream.values.iter().zip(&twin.values) {
            if real.is_finite() && virtual_.is_finite() {
                let apart = if *virtual_ == 0.0 {
                    "–".to_owned()
                } else {
                    format!("{:+.1} %", (real / virtual_ - 1.0) * 100.0)
                };
                rows.add([
                    stream.stream.clone(),
                    (*name).to_owned(),
                    unit.show(*virtual_),
                    unit.show(*real),
                    apart,
                ]);
            }
        }
    }
    out.table(&rows)
}
