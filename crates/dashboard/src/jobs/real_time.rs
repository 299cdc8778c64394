//! A job that runs an experiment in real time. A program does that, `weir emulate` or
//! `weir measure`, because it needs root and may be killed alone.

use super::{Board, Job};
use crate::messages::Mode;
use experiment::Experiment;
use lab::runner::Summary;
use std::io::{self, Read, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::Ordering;
use std::time::Duration;

/// The time between two checks whether the job was cancelled or the program has ended.
const PAUSE: Duration = Duration::from_millis(50);
/// The most of what the program says that is shown, bytes.
const MAX_SAID: u64 = 4 << 10;

/// The program for runs in real time, and the store that it writes to.
pub(crate) struct RealTime {
    pub(crate) program: PathBuf,
    pub(crate) store: PathBuf,
}

/// An experiment to run in real time.
pub(crate) struct RealTimeTask {
    pub(crate) name: String,
    pub(crate) text: String,
    pub(crate) mode: Mode,
    pub(crate) total: usize,
}

pub(super) fn work(board: &Board, job: &Job, task: &RealTimeTask) -> Result<Summary, String> {
    let Some(real_time) = &board.real_time else {
        return Err("runs in real time need 'weir serve --allow-real'".to_owned());
    };
    let before = newest(board)?;
    run(real_time, job, task).map_err(|error| format!("cannot start the run: {error}"))??;
    let after = board.runs.list().map_err(|error| error.to_string())?;
    let new: Vec<i64> = after.iter().map(|run| run.id).filter(|id| *id > before).collect();
    new.iter().for_each(|id| job.stored(*id));
    let cancelled = job.cancelled().load(Ordering::Relaxed) && new.len() < task.total;
    Ok(Summary { total: task.total, done: new.len(), failed: 0, cancelled })
}

/// The greatest number of a run.
fn newest(board: &Board) -> Result<i64, String> {
    let runs = board.runs.list().map_err(|error| error.to_string())?;
    Ok(runs.first().map_or(0, |run| run.id))
}

/// Runs the program; what it said if it failed.
fn run(real_time: &RealTime, job: &Job, task: &RealTimeTask) -> io::Result<Result<(), String>> {
    let mut file =
        tempfile::Builder::new().prefix("weir-experiment-").suffix(".toml").tempfile()?;
    file.write_all(task.text.as_bytes())?;
    let word = if task.mode == Mode::Measured { "measure" } else { "emulate" };
    let mut command = Command::new(&real_time.program);
    let is_built_in = Experiment::text_of(&task.name) == Some(task.text.as_str());
    let path = if is_built_in { Path::new(&task.name) } else { file.path() };
    command.arg(word).arg(path).arg("--store").arg(&real_time.store).arg("--quiet");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn()?;
    let stderr = child.stderr.take();
    let reader = std::thread::spawn(move || {
        let mut said = Vec::new();
        let Some(mut pipe) = stderr else { return said };
        // The rest is read too, so that the program does not wait for a reader.
        let _ = pipe.by_ref().take(MAX_SAID).read_to_end(&mut said);
        let _ = io::copy(&mut pipe, &mut io::sink());
        said
    });
    let mut is_told = false;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if job.cancelled().load(Ordering::Relaxed) && !is_told {
            interrupt(&child);
            is_told = true;
        }
        std::thread::sleep(PAUSE);
    };
    let said = reader.join().unwrap_or_default();
    let said = String::from_utf8_lossy(&said);
    Ok(if status.success() || is_told { Ok(()) } else { Err(said.trim().to_owned()) })
}

/// Asks the program to remove its network and end.
fn interrupt(child: &Child) {
    let pid = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw);
    // The program may have ended already.
    let _ = pid.map(|pid| rustix::process::kill_process(pid, rustix::process::Signal::INT));
}
