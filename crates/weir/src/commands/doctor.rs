#[cfg(feature = "testbed")]
mod testbed;

use crate::cli::Doctor;
use crate::failure::Failure;
use crate::output::{Cell, Output, Rows};
use comfy_table::Color;
use schemars::JsonSchema;
use serde::Serialize;
use std::io::{self, Read};
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::thread::sleep;
use std::time::Duration;

/// A program or ability that the machine has or lacks.
#[derive(Serialize, JsonSchema)]
pub(super) struct Finding {
    /// The program or ability.
    what: &'static str,
    status: Health,
    /// The version, or what is wrong.
    found: String,
    /// What it is for.
    needed_for: &'static str,
    /// How to get it; empty if the machine has it.
    suggestion: &'static str,
}

#[derive(Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Health {
    Good,
    Missing,
    /// It is installed and cannot run.
    Broken,
}

/// A program that some commands call.
struct Tool {
    names: &'static [&'static str],
    version: &'static str,
    needed_for: &'static str,
    suggestion: &'static str,
}

#[rustfmt::skip]
const TOOLS: [Tool; 6] = [
    Tool { names: &["ffmpeg"], version: "-version", needed_for: "weir fit, weir measure",
        suggestion: "install ffmpeg with libvpx and libx264 (Debian: apt-get install ffmpeg)" },
    Tool { names: &["ffprobe"], version: "-version", needed_for: "weir fit",
        suggestion: "comes with ffmpeg" },
    Tool { names: &["tshark"], version: "--version", needed_for: "reading captures; tests of captures",
        suggestion: "install Wireshark's command line (Debian: apt-get install tshark)" },
    Tool { names: &["ip"], version: "-Version", needed_for: "weir emulate, weir measure",
        suggestion: "install iproute2 (Debian: apt-get install iproute2)" },
    Tool { names: &["iperf3"], version: "--version", needed_for: "programs 'iperf3' of weir emulate",
        suggestion: "install iperf3 (Debian: apt-get install iperf3)" },
    Tool { names: &["ping"], version: "-V", needed_for: "programs 'ping' of weir emulate",
        suggestion: "install ping (Debian: apt-get install iputils-ping)" },
];

/// The time limit for a program to print its version.
const PATIENCE: Duration = Duration::from_secs(10);
/// The interval between checks whether it has.
const TICK: Duration = Duration::from_millis(5);

pub(crate) fn run(args: &Doctor) -> Result<ExitCode, Failure> {
    let mut out = Output::new();
    let findings = findings();
    let mut rows = Rows::new(["what", "status", "found", "for", "how to get it"]);
    for finding in &findings {
        if args.json {
            out.json(finding)?;
            continue;
        }
        let (word, colour) = match finding.status {
            Health::Good => ("good", Color::Green),
            Health::Missing => ("missing", Color::Yellow),
            Health::Broken => ("broken", Color::Yellow),
        };
        rows.add([
            Cell::from(finding.what),
            Cell::from(word).coloured(colour),
            Cell::from(&finding.found),
            Cell::from(finding.needed_for),
            Cell::from(finding.suggestion),
        ]);
    }
    if !args.json {
        out.table(&rows)?;
        if findings.iter().any(|finding| finding.status != Health::Good) {
            out.line("On Debian, scripts/deps of Weir's sources installs the programs.")?;
        }
        out.line("list, run and verify need none of these programs.")?;
    }
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}

fn findings() -> Vec<Finding> {
    // First, because without root this check needs a process with a single thread.
    #[cfg(feature = "testbed")]
    let real = testbed::findings();
    #[cfg(not(feature = "testbed"))]
    let real = [Finding {
        what: "testbed",
        status: Health::Missing,
        found: "not in this build".to_owned(),
        needed_for: "weir emulate, weir measure, weir upload, weir import, weir fit, weir serve",
        suggestion: "make build",
    }];
    let good = |what, found, needed_for| Finding {
        what,
        status: Health::Good,
        found,
        needed_for,
        suggestion: "",
    };
    let cores = format!("{} cores", lab::runner::all_cores());
    let mut findings = vec![good("processor", cores, "runs, one per core")];
    findings.extend(real);
    findings.extend(TOOLS.iter().map(tool));
    findings
}

fn tool(tool: &Tool) -> Finding {
    let path = tool.names.iter().find_map(|name| which::which(name).ok());
    program(path.as_deref(), tool)
}

fn program(path: Option<&Path>, tool: &Tool) -> Finding {
    let (status, found) = match path.map(|path| (path, version(path, tool.version))) {
        None => (Health::Missing, String::new()),
        Some((_, Ok(version))) => (Health::Good, version),
        Some((path, Err(reason))) => (Health::Broken, format!("{}: {reason}", path.display())),
    };
    let suggestion = if status == Health::Good { "" } else { tool.suggestion };
    Finding { what: tool.names[0], status, found, needed_for: tool.needed_for, suggestion }
}

/// The first line of a program's version, or why there is none.
fn version(path: &Path, argument: &str) -> io::Result<String> {
    let mut command = Command::new(path);
    command.arg(argument).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn()?;
    let mut waited = Duration::ZERO;
    // The output fits into the pipe, so it can be read after the end.
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if waited > PATIENCE {
            child.kill()?;
            child.wait()?;
            return Err(io::Error::other(format!("no answer within {} s", PATIENCE.as_secs())));
        }
        sleep(TICK);
        waited += TICK;
    };
    if !status.success() {
        return Err(io::Error::other(format!("cannot run: {status}")));
    }
    let mut said = Vec::new();
    child.stdout.take().map(|mut pipe| pipe.read_to_end(&mut said)).transpose()?;
    Ok(String::from_utf8_lossy(&said).lines().next().unwrap_or_default().to_owned())
}
