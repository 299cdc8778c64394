//! Names of namespaces in /run/netns that Weir shares with other programs. Each part runs in a
//! mount namespace of its own with an empty /run, so that the machine's own names are not touched.

use crate::exclusive;
use emulator::{Testbed, sweep};
use std::fs;
use std::process::Command;

const ROLE: &str = "WEIR_EMULATOR_NETNS_ROLE";
/// The name of a host of a run whose process identifier is above the kernel's largest, 2^22.
const DEAD: &str = "weir-4194305-1-carol";

/// Runs a part with an empty /run.
fn in_own_mounts(role: &str) {
    let Some(_lock) = exclusive() else { return };
    let script = "mount -t tmpfs weir /run && exec \"$0\" netns::role --exact --nocapture";
    let mut command = Command::new("unshare");
    command.args(["--mount", "--propagation", "private", "sh", "-c", script]);
    let output = command.arg(std::env::current_exe().unwrap()).env(ROLE, role).output().unwrap();
    let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert!(output.status.success(), "{text}");
}

#[test]
fn a_namespace_that_another_program_adds_during_a_run_keeps_none_of_the_run() {
    in_own_mounts("beside");
}

#[test]
fn a_name_below_a_later_mount_is_removed_by_the_next_run() {
    in_own_mounts("covered");
}

#[test]
fn a_name_that_cannot_be_removed_is_reported() {
    in_own_mounts("refused");
}

/// Not a test: the parts.
#[test]
fn role() {
    match std::env::var(ROLE).as_deref() {
        Ok("beside") => beside(),
        Ok("covered") => covered(),
        Ok("refused") => refused(),
        _ => {}
    }
}

fn run(command: &str) {
    assert!(Command::new("sh").args(["-c", command]).status().unwrap().success(), "{command}");
}

fn names() -> Vec<String> {
    let entries = fs::read_dir("/run/netns").unwrap().flatten();
    let mut names: Vec<_> =
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// The mounts at or below /run/netns, also those that the empty /run hides.
fn mounts() -> usize {
    let mounts = fs::read_to_string("/proc/thread-self/mountinfo").unwrap();
    mounts.lines().filter(|line| line.split(' ').nth(4).unwrap().starts_with("/run/netns")).count()
}

fn beside() {
    let hidden = mounts();
    let bed = Testbed::new(&["carol".into()]).unwrap();
    run("ip netns add other");
    assert_eq!(names().len(), 2);
    let failed = bed.remove();
    assert!(failed.is_empty(), "{failed:?}");
    assert_eq!(names(), ["other"]);
    // A second run finds the directory as `ip` has left it.
    drop(Testbed::new(&["carol".into()]).unwrap());
    assert_eq!((names(), mounts() - hidden), (vec!["other".to_owned()], 2));
    run("ip netns del other");
    assert_eq!((names().len(), mounts() - hidden), (0, 1));
}

fn covered() {
    let hidden = mounts();
    run(&format!(
        "mkdir /run/netns && touch /run/netns/{DEAD} && unshare --net=/run/netns/{DEAD} true"
    ));
    run("ip netns add other");
    assert!(names().len() == 2 && mounts() - hidden > 3, "the name is mounted twice");
    let swept = sweep();
    assert!(swept.removed == [DEAD] && swept.failed.is_empty(), "{swept:?}");
    assert_eq!((names(), mounts() - hidden), (vec!["other".to_owned()], 2));
    run("ip netns exec other true && ip netns del other");
}

fn refused() {
    let bed = Testbed::new(&["carol".into()]).unwrap();
    run("mount -o remount,ro /run");
    let failed = bed.remove();
    let [error] = &failed[..] else { panic!("{failed:?}") };
    let error = error.to_string();
    assert!(
        error.starts_with("cannot remove the network namespace weir-") && error.contains("-carol"),
        "{error}"
    );
    assert_eq!(names().len(), 1);
}
