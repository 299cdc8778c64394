use super::*;
use experiment::Experiment;
use std::process::Command;
use units::Seed;

/// Answers every line as a function of its number, in Python.
const HARNESS: &str =
    "import sys, json, time\nfor count, line in enumerate(sys.stdin):\n    m = json.loads(line)\n";

fn run(profile: &str, settings: &str) -> Result<Recording, RunFailure> {
    let text = format!(
        r#"
title = "One call"
duration = "4s"
[host.alice]
up = {{ rate = "1Mbit/s", delay = "25ms", queue = "droptail limit 300ms" }}
[host.bob]
up = {{ delay = "25ms" }}
[call.main]
from = "alice"
to = "bob"
controller = {profile:?}
settings = {{ {settings} }}
max_rate = "3Mbit/s"
"#
    );
    let experiment = Experiment::parse(&text, "e.toml").unwrap();
    simulate(&experiment.cells()[0].scenario(Seed(1)), Options::default())
}

/// Runs a program whose loop has this body; `None` without Python, which a line says.
fn python(body: &str, settings: &str) -> Option<Result<Recording, RunFailure>> {
    if Command::new("python3").arg("--version").output().is_err() {
        note("skipped: needs python3");
        return None;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("own.py");
    std::fs::write(&path, format!("{HARNESS}    {body}\n")).unwrap();
    Some(run(&format!("external:python3 '{}'", path.display()), settings))
}

#[expect(clippy::disallowed_methods, reason = "printed past the capture of the test runner")]
fn note(line: &str) {
    use std::io::Write;
    let _ = writeln!(std::io::stderr(), "{line}");
}

fn failure(body: &str, settings: &str) -> Option<String> {
    python(body, settings).map(|result| result.err().unwrap().to_string())
}

#[test]
fn a_program_decides_the_rate_and_its_signals_are_recorded() {
    let body = r#"print(json.dumps({"target_rate": 4e5, "next_timeout": m.get("now", 0) + 0.5, "signals": {"count": count}}), flush=True)"#;
    let Some(recording) = python(body, "") else { return };
    let recording = recording.unwrap();
    let video = recording.streams.iter().find(|stream| stream.name == "main.video").unwrap();
    let count = video.column("count").unwrap().last().copied().unwrap();
    assert!(count > 30.0, "feedback every 100 ms: {count}");
    let sent = video.column("bytesSent").unwrap().last().copied().unwrap();
    assert!((1e5..2.5e5).contains(&sent), "{sent} B in 4 s at 400 kbit/s");
    let again = python(body, "").unwrap().unwrap();
    assert_eq!(format!("{recording:?}"), format!("{again:?}"));
}

#[test]
fn the_adapter_in_python_uses_the_line() {
    let adapter = concat!(env!("CARGO_MANIFEST_DIR"), "/../../adapters/python/controller.py");
    if Command::new("python3").arg("--version").output().is_err() {
        return note("skipped: needs python3");
    }
    let recording = run(&format!("external:python3 '{adapter}'"), "").unwrap();
    let video = recording.streams.iter().find(|stream| stream.name == "main.video").unwrap();
    let rates = video.column("targetBitrate").unwrap();
    assert!(rates.last().unwrap() > &350e3, "{rates:?}");
    assert!(video.column("queued").unwrap().iter().any(|queued| *queued > 0.0));
}

#[test]
fn packets_at_once_are_told_one_by_one() {
    let body = r#"assert m["type"] != "sent" or len(m["sent"]) == 1
    print(json.dumps({"target_rate": 4e5, "sent": "at-once", "signals": {"total": count}}), flush=True)"#;
    let Some(recording) = python(body, "") else { return };
    let recording = recording.unwrap();
    let video = recording.streams.iter().find(|stream| stream.name == "main.video").unwrap();
    let column = |name| video.column(name).unwrap().last().copied().unwrap();
    assert!(column("total") > column("packetsSent"), "messages for packets and for feedback");
}

#[test]
fn probes_are_sent_one_after_the_other() {
    let body = r#"probes = [{"id": 1, "rate": 9e5}, {"id": 2, "rate": 1.8e6}] if count == 0 else []
    seen = globals().setdefault("seen", set()); seen.update(p["probe"] for p in m.get("sent", []) if p["probe"])
    print(json.dumps({"target_rate": 4e5, "probes": probes, "signals": {"clusters": len(seen)}}), flush=True)"#;
    let Some(recording) = python(body, "") else { return };
    let recording = recording.unwrap();
    let video = recording.streams.iter().find(|stream| stream.name == "main.video").unwrap();
    assert_eq!(video.column("clusters").unwrap().last(), Some(&2.0));
}

#[test]
fn a_program_that_fails_says_why_in_its_last_words() {
    let dies = r#"print("out of ideas", file=sys.stderr); sys.exit(3)"#;
    let Some(message) = failure(dies, "") else { return };
    assert!(message.contains("call 'main'") && message.contains("exit status: 3"), "{message}");
    assert!(message.ends_with("last lines of standard error:\nout of ideas"), "{message}");
    let hangs = r#"time.sleep(600)"#;
    let message = failure(hangs, "answer_limit = \"100ms\"").unwrap();
    assert!(message.contains("no answer within 100ms"), "{message}");
}

#[test]
fn wrong_answers_are_refused() {
    for (answer, expected) in [
        (r#""hello""#, "this is not an answer"),
        (r#"json.dumps({"rate": 1})"#, "unknown field `rate`"),
        (r#"json.dumps({"target_rate": -1})"#, "target_rate is -1; write a number from 0"),
        (r#"json.dumps({"target_rate": 4e5, "next_timeout": 0})"#, "not after the time"),
        (
            r#"json.dumps({"target_rate": 4e5, "next_timeout": 1 if count < 2 else 0.01})"#,
            "next_timeout is 0.01 s, which is not after the time of the message",
        ),
        (r#"json.dumps({"target_rate": 4e5, "probes": [{"id": 0, "rate": 1}]})"#, "count up"),
    ] {
        let Some(message) = failure(&format!("print({answer}, flush=True)"), "") else { return };
        assert!(message.contains(expected), "{answer}: {message}");
    }
}

#[test]
fn a_command_that_does_not_exist_fails_the_run() {
    let message = run("external:/no/such/program", "").err().unwrap().to_string();
    assert!(message.contains("cannot start '/no/such/program'"), "{message}");
    let message = run("external:'open", "").err().unwrap().to_string();
    assert!(message.contains("quotation mark"), "{message}");
}
