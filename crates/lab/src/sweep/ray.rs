//! Sweeps on a Ray cluster. A Python program (`bindings/ray/weir_ray.py`), which this process
//! starts, passes tasks to the cluster; each runs this program on a worker.

use super::Sweep;
use super::execute::Remote;
use super::run::{Outcome, SweepError};
use super::task::{Elsewhere, Identity, TaskLine};
use crate::runner::Runner;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};
use std::io::{BufRead, BufReader, Read, Write};
use std::ops::Range;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::Ordering;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

/// The Python program that talks to the cluster.
const DRIVER: &str = include_str!("../../../../bindings/ray/weir_ray.py");
/// The time after which cancellation is noticed.
const GLANCE: Duration = Duration::from_millis(200);
/// The lines of the Python program that an error shows.
const LAST_LINES: usize = 3;

/// A Ray cluster that executes runs.
pub struct Ray<'a> {
    /// Its address, as `ray.init` takes it; `None` for `RAY_ADDRESS`, or the cluster of this
    /// machine.
    pub address: Option<String>,
    /// The Python interpreter that has the package `ray`.
    pub python: String,
    /// This program, which is sent to the workers.
    pub program: PathBuf,
    /// The arguments with which the program opens the sweep, in addition to its name.
    pub arguments: Vec<String>,
    /// How long to wait until the cluster answers.
    pub patience: Duration,
    /// The number of runs of a task.
    pub runs_per_task: usize,
    /// Called with what the user should know about the cluster.
    pub notice: &'a dyn Fn(&str),
}

/// Why runs cannot be executed on a Ray cluster.
#[derive(Debug, thiserror::Error)]
pub enum RayError {
    /// The interpreter cannot be started, with the message of the system.
    #[error("{0} cannot be started ({1}); install Python 3, or name another with WEIR_PYTHON")]
    NoPython(String, std::io::Error),
    /// The cluster did not answer.
    #[error(
        "the Ray cluster {address} did not answer within {seconds} s; start one with 'ray start \
         --head', allow more time with --ray-timeout, or run on this machine without --on{last}"
    )]
    NoAnswer {
        /// The address.
        address: String,
        /// The patience.
        seconds: u64,
        /// The last lines of the Python program.
        last: String,
    },
    /// The cluster or a task failed, with the reason.
    #[error(
        "the Ray cluster {address} failed: {reason}; finished runs are kept with --store or \
         --dataset, and the same command without --on continues on this machine"
    )]
    Failed {
        /// The address.
        address: String,
        /// The reason.
        reason: String,
    },
    /// A file of the sweep cannot be sent.
    #[error(transparent)]
    Elsewhere(#[from] Elsewhere),
}

/// What the Python program is told first.
#[derive(Serialize)]
struct Job<'a> {
    address: &'a str,
    program: &'a str,
    files: BTreeMap<String, String>,
    arguments: Vec<String>,
    expected: Identity,
}

/// A task: the numbers of its runs.
#[derive(Serialize)]
struct Task {
    first: usize,
    count: usize,
}

/// A line of the Python program.
#[derive(Deserialize)]
#[serde(untagged)]
enum Answer {
    Run(TaskLine),
    Ready {
        ready: Cluster,
    },
    Finished {
        #[serde(rename = "finished")]
        _finished: bool,
    },
    Failed {
        failed: String,
    },
}

/// The cluster that answered.
#[derive(Deserialize)]
struct Cluster {
    ray: String,
    cpus: u64,
    authentication: String,
}

/// The Python program; it ends with this value.
struct Driver(Child);

impl Drop for Driver {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Remote for Ray<'_> {
    fn execute(
        &mut self,
        sweep: &Sweep,
        runner: Runner<'_>,
        missing: &[Range<usize>],
        each: &mut dyn FnMut(usize, Outcome) -> bool,
    ) -> Result<(), SweepError> {
        let (name, files) = sweep.files().map_err(RayError::from)?;
        let mut arguments = vec!["sweep-task".to_owned(), name];
        arguments.extend(self.arguments.iter().cloned());
        let program = self.program.display().to_string();
        let expected = sweep.task_identity();
        let job = Job { address: self.address(), program: &program, files, arguments, expected };
        let job = serde_json::to_string(&job).map_err(|error| self.failed(error.to_string()))?;
        let mut driver = self.start()?;
        let (input, output, errors) =
            (driver.0.stdin.take(), driver.0.stdout.take(), driver.0.stderr.take());
        let (send, receive) = mpsc::channel();
        std::thread::scope(|scope| {
            scope.spawn(|| write_tasks(input, &job, missing, self.runs_per_task));
            scope.spawn(move || {
                let lines = output.into_iter().flat_map(|output| BufReader::new(output).lines());
                for line in lines.map_while(Result::ok) {
                    if send.send(line).is_err() {
                        return;
                    }
                }
            });
            let last = scope.spawn(|| last_lines(errors));
            let result = self.listen(runner, &receive, each);
            // Ends the three threads too.
            drop(driver);
            drop(receive);
            let last = last.join().unwrap_or_default();
            result.map_err(|error| error.with_last(&last).into())
        })
    }
}

impl Ray<'_> {
    fn address(&self) -> &str {
        self.address.as_deref().unwrap_or("auto")
    }

    fn failed(&self, reason: String) -> RayError {
        RayError::Failed { address: self.address().to_owned(), reason }
    }

    fn start(&self) -> Result<Driver, RayError> {
        let mut command = Command::new(&self.python);
        command.args(["-c", DRIVER]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // Ctrl-C is for this process, which then ends the other.
        command.process_group(0);
        let started = command.spawn();
        started.map(Driver).map_err(|error| RayError::NoPython(self.python.clone(), error))
    }

    /// Passes on the answers until the last one.
    fn listen(
        &self,
        runner: Runner<'_>,
        receive: &mpsc::Receiver<String>,
        each: &mut dyn FnMut(usize, Outcome) -> bool,
    ) -> Result<(), RayError> {
        let mut deadline = Some(now() + self.patience);
        loop {
            if runner.cancel.load(Ordering::Relaxed) {
                return Ok(());
            }
            let line = match receive.recv_timeout(GLANCE) {
                Ok(line) => line,
                Err(RecvTimeoutError::Timeout) if deadline.is_some_and(|at| at <= now()) => {
                    return Err(RayError::NoAnswer {
                        address: self.address().to_owned(),
                        seconds: self.patience.as_secs(),
                        last: String::new(),
                    });
                }
                Err(RecvTimeoutError::Timeout) => continue,
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(self.failed("its Python program ended".to_owned()));
                }
            };
            match serde_json::from_str(&line) {
                Ok(Answer::Run(run)) => {
                    if !each(run.run, run.outcome()) {
                        return Ok(());
                    }
                }
                Ok(Answer::Ready { ready }) => {
                    deadline = None;
                    self.tell(&ready);
                }
                Ok(Answer::Finished { .. }) => return Ok(()),
                Ok(Answer::Failed { failed }) => return Err(self.failed(failed)),
                Err(error) => return Err(self.failed(format!("it answered '{line}' ({error})"))),
            }
        }
    }

    fn tell(&self, cluster: &Cluster) {
        let Cluster { ray, cpus, authentication } = cluster;
        (self.notice)(&format!(
            "Ray {ray} with {cpus} processors, authentication {authentication}"
        ));
        if authentication != "token" {
            (self.notice)(
                "without a token everyone who reaches the cluster's ports can run programs on it; \
                 set RAY_AUTH_MODE=token",
            );
        }
    }
}

impl RayError {
    /// The error with the last lines of the Python program.
    fn with_last(self, lines: &str) -> Self {
        if lines.is_empty() {
            return self;
        }
        match self {
            Self::NoAnswer { address, seconds, .. } => {
                Self::NoAnswer { address, seconds, last: format!(" (its last lines: {lines})") }
            }
            Self::Failed { address, reason } => {
                Self::Failed { address, reason: format!("{reason} (its last lines: {lines})") }
            }
            other => other,
        }
    }
}

/// Tells the Python program the job and the tasks. It reads them as it needs them.
fn write_tasks(
    input: Option<impl Write>,
    job: &str,
    missing: &[Range<usize>],
    runs_per_task: usize,
) {
    let Some(mut input) = input else { return };
    let mut write = || -> std::io::Result<()> {
        writeln!(input, "{job}")?;
        for runs in missing {
            for first in runs.clone().step_by(runs_per_task) {
                let count = runs_per_task.min(runs.end - first);
                serde_json::to_writer(&mut input, &Task { first, count })?;
                writeln!(input)?;
            }
        }
        input.flush()
    };
    // The program has ended, which its reader notices.
    let _ = write();
}

/// The last lines of an output, in one line.
fn last_lines(output: Option<impl Read>) -> String {
    let mut last = VecDeque::new();
    let lines = output.into_iter().flat_map(|output| BufReader::new(output).lines());
    for line in lines.map_while(Result::ok).filter(|line| !line.trim().is_empty()) {
        last.push_back(line);
        if last.len() > LAST_LINES {
            last.pop_front();
        }
    }
    last.make_contiguous().join("; ")
}

#[expect(clippy::disallowed_methods, reason = "waits for a cluster, not within a run")]
fn now() -> Instant {
    Instant::now()
}
