//! A run leaves nothing behind. What a killed run leaves is removed by the next run.

use crate::exclusive;
use emulator::{Host, Testbed, sweep};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

const NAMES: &str = "/run/netns";

/// The names in /run/netns with this prefix.
fn names(prefix: &str) -> Vec<String> {
    let entries = fs::read_dir(NAMES).unwrap().flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.filter(|name| name.starts_with(prefix)).collect()
}

/// Whether a process runs. A zombie does not.
fn runs(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with(['Z', 'X']))
}

/// Whether a process ends within 2 s.
fn ends(pid: u32) -> bool {
    (0..100).any(|_| {
        let runs = runs(pid);
        if runs {
            sleep(Duration::from_millis(20));
        }
        !runs
    })
}

/// Starts a program that prints the number of a process that it has started, which can outlive it.
fn sleeper(host: &Host, script: &str) -> (Child, u32) {
    let mut command = Command::new("sh");
    command.args(["-c", script]).stdout(Stdio::piped());
    let mut child = host.spawn(command).unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    (child, line.trim().parse().unwrap())
}

const SLEEPER: &str = "sleep 1000 & echo $!; wait";
const STUBBORN: &str = "trap '' TERM; sleep 1000 & echo $!; wait";

#[test]
fn a_testbed_leaves_no_name_and_no_process() {
    let Some(_lock) = exclusive() else { return };
    let own = format!("weir-{}-", std::process::id());
    let bed = Testbed::new(&["alice".into(), "bob".into()]).unwrap();
    let mut named = names(&own);
    named.sort();
    let hosts: Vec<_> = named.iter().map(|name| name.rsplit('-').next().unwrap()).collect();
    assert_eq!(hosts, ["alice", "bob"]);
    let hosts = bed.hosts();
    assert_eq!(hosts[0].netns(), Some(named[0].clone()));
    let mut started = [sleeper(&hosts[0], SLEEPER), sleeper(&hosts[1], STUBBORN)];
    assert!(started.iter().all(|(child, sleeper)| runs(child.id()) && runs(*sleeper)));
    drop(bed);
    assert_eq!(names(&own), [""; 0]);
    for (child, sleeper) in &mut started {
        assert!(!runs(*sleeper), "{sleeper} still sleeps");
        assert!(!child.wait().unwrap().success(), "it was killed");
    }
}

/// A run in a separate process, which can be killed.
struct Killable {
    child: Child,
    sleeper: u32,
}

impl Killable {
    fn start() -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["cleanup::role", "--exact", "--nocapture"]).env(ROLE, "1");
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let sleeper =
            lines.map_while(Result::ok).find_map(|line| line.strip_prefix("sleeps ")?.parse().ok());
        Self { child, sleeper: sleeper.unwrap() }
    }

    fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Killable {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        sweep();
        // If the sweep fails, the process must not keep the output of the test open.
        if runs(self.sleeper) {
            let _ = Command::new("kill").args(["-KILL", &self.sleeper.to_string()]).status();
        }
    }
}

const ROLE: &str = "WEIR_EMULATOR_ROLE";

/// Not a test: this is the run that is killed.
#[test]
#[expect(clippy::disallowed_methods, reason = "the other process reads it")]
fn role() {
    if std::env::var(ROLE).is_err() {
        return;
    }
    let bed = Testbed::new(&["carol".into()]).unwrap();
    let (_child, sleeper) = sleeper(&bed.hosts()[0], SLEEPER);
    writeln!(std::io::stdout(), "\nsleeps {sleeper}").unwrap();
    let _ = std::io::stdin().read_to_end(&mut Vec::new());
}

/// A namespace that Weir has not made.
struct Foreign(String);

impl Foreign {
    fn new(name: String) -> Self {
        assert!(Command::new("ip").args(["netns", "add", &name]).status().unwrap().success());
        Self(name)
    }

    fn path(&self) -> PathBuf {
        Path::new(NAMES).join(&self.0)
    }
}

impl Drop for Foreign {
    fn drop(&mut self) {
        let _ = Command::new("ip").args(["netns", "del", &self.0]).status();
    }
}

/// How often the sweep is repeated. A run of another clone of the repository may remove what the
/// killed run has left before this test looks at it.
const ATTEMPTS: usize = 5;

#[test]
fn a_sweep_removes_what_a_killed_run_leaves_and_nothing_else() {
    let Some(_lock) = exclusive() else { return };
    let alive = Killable::start();
    assert!((0..ATTEMPTS).any(|_| is_swept_here()), "another run removed it in every attempt");
    assert!(runs(alive.child.id()) && runs(alive.sleeper));
    assert_eq!(ours(&alive).len(), 1, "a running run is not touched");
}

/// The names of the namespaces of a run.
fn ours(run: &Killable) -> Vec<String> {
    names(&format!("weir-{}-", run.child.id()))
}

/// Kills a run, and sweeps; `false` if another run has swept first.
fn is_swept_here() -> bool {
    let mut killed = Killable::start();
    // The name contains the same process number, but not the prefix of Weir.
    let foreign = Foreign::new(format!("weirdo-{}-x", killed.child.id()));
    killed.kill();
    let left = ours(&killed);
    let remained = runs(killed.sleeper);

    let swept = sweep();
    assert_eq!(ours(&killed), [""; 0]);
    assert!(ends(killed.sleeper), "its processes end");
    assert!(foreign.path().exists());
    // What other killed runs have left is swept too, and is not judged here.
    let [name] = &left[..] else { return false };
    assert!(name.ends_with("-carol"), "the name remains: {left:?}");
    assert!(!sweep().removed.contains(name), "nothing remains");
    remained && swept.removed.contains(name)
}
