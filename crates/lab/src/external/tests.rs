use super::*;
use experiment::Experiment;
use std::process::Command;
use units::{Bitrate, Seed};

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

#[test]
fn both_forms_carry_the_same_messages() {
    let packet = Packet { sequence: 70_000, sent: 0.25, size: 1120, probe: Some(3) };
    let arrived = messages::Arrival {
        sequence: 70_000,
        sent: 0.25,
        size: 1120,
        probe: None,
        arrival: Some(0.3),
        ecn: messages::Ecn::Ect1,
    };
    let lost = messages::Arrival { arrival: None, ..arrived };
    let packets = Told::Packets { results: vec![arrived, lost], rtt: None };
    let feedback = |feedback| Message::Feedback { now: 0.35, sent: vec![packet].into(), feedback };
    for message in [
        feedback(packets),
        feedback(Told::Report { fraction_lost: 0.5, expected: 10, rtt: Some(0.1) }),
        feedback(Told::Remb { rate: 1e6 }),
        Message::Timeout { now: 1.0, sent: Vec::new().into() },
    ] {
        let line = Form::Json.write(&message).unwrap();
        let binary = Form::MessagePack.write(&message).unwrap();
        let read: [Message<'_>; 2] =
            [Form::Json.read(&line).unwrap(), Form::MessagePack.read(&binary).unwrap()];
        for again in read {
            assert_eq!(Form::Json.write(&again).unwrap(), line);
        }
        let both = [binary, vec![0xc0]].concat();
        let error = Form::MessagePack.read::<Message<'_>>(&both).unwrap_err();
        assert_eq!(error, "1 B follow the object");
    }
}

#[test]
fn an_answer_in_the_binary_form_may_have_whole_numbers() {
    let answer = serde_json::json!({"target_rate": 400_000, "signals": {"a": 1, "b": null}});
    let read: Answer = Form::MessagePack.read(&Form::MessagePack.write(&answer).unwrap()).unwrap();
    let signals = [("a".to_owned(), Some(1.0)), ("b".to_owned(), None)].into();
    assert_eq!(read, Answer { target_rate: 4e5, signals, ..Answer::default() });
}

#[test]
fn the_end_of_a_stream_is_no_answer_and_long_answers_are_refused() {
    let read = |form, bytes: &[u8]| program::read(&mut { bytes }, form);
    for form in [Form::Json, Form::MessagePack] {
        let mut stream = Vec::new();
        program::write(&mut stream, form, b"{}").unwrap();
        let whole = read(form, &stream).unwrap().unwrap();
        assert_eq!(whole.trim_ascii_end(), b"{}");
        for cut in 0..stream.len() {
            assert_eq!(read(form, &stream[..cut]), Ok(None), "{form:?}, {cut} B");
        }
    }
    let error = read(Form::MessagePack, &[0x7f, 0, 0, 0]).unwrap_err();
    assert!(error.contains("2130706432 B"), "{error}");
    let error = read(Form::Json, &vec![b' '; 2 << 20]).unwrap_err();
    assert!(error.contains("longer than"), "{error}");
}

#[test]
fn a_time_out_may_be_later_by_less_than_a_nanosecond() {
    let limits = (Bitrate::from_kbps(30), Bitrate::from_mbps(1));
    let mut decider = Decider::new(Bitrate::from_kbps(300), limits);
    let now = Time::from_millis(425);
    // 0.4 + 0.025 in double precision.
    decider.take(now, br#"{"target_rate":4e5,"next_timeout":0.42500000000000004}"#).unwrap();
    assert_eq!(decider.next_timeout, Some(now + units::Duration::from_nanos(1)));
    let error = decider.take(now, br#"{"target_rate":4e5,"next_timeout":0.425}"#).unwrap_err();
    assert!(error.contains("not after the time of the message, 0.425 s"), "{error}");
}
