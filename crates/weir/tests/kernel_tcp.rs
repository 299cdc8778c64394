//! The simulator's TCP against the kernel's: Linux's reno, cubic and bbr over the emulated link,
//! ours over the same link simulated. The whole table is in docs/guides/tcp.md; this is its quick
//! form.
//!
//! Needs root and /dev/net/tun; without them it is skipped, and says so.
#![expect(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

mod common;

use common::{Bench, lacking, note, run_of};
use serde_json::Value;
use std::process::Stdio;

/// Congestion control, rate and queue.
const CELLS: [[&str; 3]; 3] = [
    ["reno", "1Mbit/s", "droptail limit 150ms"],
    ["cubic", "1Mbit/s", "fq_codel"],
    ["bbr", "10Mbit/s", "droptail limit 1000ms"],
];
/// Losses are few in so short a run, and a machine that stands still changes what TCP does; a
/// difference of the rules is there every time.
const ATTEMPTS: usize = 5;
const ROUND_TRIP: f64 = 0.05;

/// What is compared.
#[derive(Debug)]
struct Figures {
    goodput: f64,
    rtt: f64,
    loss: f64,
}

fn figures(run: &Value) -> Figures {
    let line = &run["lines"]["alice.up"];
    let of = |value: &Value| value.as_f64().unwrap();
    Figures {
        goodput: of(&run["streams"]["flow.tcp"]["received_rate"]),
        rtt: ROUND_TRIP + of(&line["queue_delay_mean"]),
        loss: of(&line["dropped"]),
    }
}

/// What is not as it should be: goodput within 5 %, mean RTT within 15 %, loss within a factor of
/// 1.5.
fn differences(kernel: &Figures, ours: &Figures) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut check = |what: &str, kernel: f64, ours: f64, factor: f64| {
        if ours > kernel * factor || kernel > ours * factor {
            wrong.push(format!("{what}: the kernel's {kernel}, ours {ours}"));
        }
    };
    check("goodput", kernel.goodput, ours.goodput, 1.05);
    check("RTT", kernel.rtt, ours.rtt, 1.15);
    check("loss", kernel.loss, ours.loss, 1.5);
    wrong
}

/// One run of each cell, all at once.
fn runs(bench: &Bench) -> Vec<Value> {
    let start = |cell: &[&str; 3]| {
        let axes = ["tcp.flow.congestion_control", "host.alice.up.rate", "host.alice.up.queue"];
        let set = ["--set", "duration=25s"];
        let mut command = bench.weir(
            &[&["emulate", "emulation/kernel-tcp", "--compare", "--json", "--quiet"], &set[..]]
                .concat(),
        );
        // More jitter than the machine itself has: BBR keeps the highest rate that acknowledgements
        // ever show, and so a longer queue where they come less evenly (docs/guides/tcp.md).
        for host in ["alice", "bob"] {
            command.arg("--set").arg(format!(
                "host.{host}.down.jitter={{ model = \"exponential\", mean = \"1ms\" }}"
            ));
        }
        for (axis, value) in axes.iter().zip(cell) {
            command.arg("--cell").arg(format!("{axis}={value}"));
        }
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let children: Vec<_> = CELLS.iter().map(start).collect();
    let outputs = children.into_iter().map(|child| child.wait_with_output().unwrap());
    outputs.map(|output| run_of(&output).unwrap_or_else(|said| panic!("{said}"))).collect()
}

#[test]
fn ours_does_as_the_kernel_s() {
    let Some(bench) = Bench::new("", &lacking()) else { return };
    let mut open: Vec<usize> = (0..CELLS.len()).collect();
    // How often a machine that kept up emulated each cell, and it differed.
    let mut fair = [0; CELLS.len()];
    for attempt in 1..=ATTEMPTS {
        let runs = runs(&bench);
        let mut wrong = Vec::new();
        open.retain(|&cell| {
            let (kernel, ours) = (figures(&runs[cell]), figures(&runs[cell]["simulated"]));
            let differs = differences(&kernel, &ours);
            eprintln!("attempt {attempt}, {:?}: {kernel:?}, {ours:?}", CELLS[cell]);
            wrong.extend(
                differs.iter().map(|difference| format!("{:?}: {difference}", CELLS[cell])),
            );
            fair[cell] += usize::from(!differs.is_empty() && runs[cell]["keptUp"] == true);
            !differs.is_empty()
        });
        if open.is_empty() {
            return;
        }
        if attempt == ATTEMPTS && open.iter().all(|&cell| fair[cell] < 2) {
            note(&format!("not judged, this machine cannot keep up: {}", wrong.join("; ")));
            return;
        }
        assert!(attempt < ATTEMPTS, "TCP differs from the kernel's:\n{}", wrong.join("\n"));
    }
}
