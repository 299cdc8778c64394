use super::*;
use experiment::Upload;
use net::{Dscp, HostId};
use units::Bytes;

const GRID: SampleGrid = SampleGrid {
    start: 1_000_000_000,
    interval: Duration::from_secs(1),
    duration: Duration::from_secs(5),
};

fn program(source: TcpSource) -> Program {
    let upload =
        Upload { to: HostId(1), port: 5601, source, congestion_control: None, dscp: Dscp::DEFAULT };
    Program {
        name: "up".into(),
        host: HostId(0),
        start: Time::ZERO,
        stop: Time::from_secs(5),
        kind: ProgramKind::Upload(upload),
    }
}

fn made(source: TcpSource, client: &str, server: &str) -> Transcript {
    read(&program(source), client.as_bytes(), server.as_bytes(), &GRID).unwrap()
}

fn finite(client: &str, server: &str) -> Transcript {
    made(TcpSource::Finite(Bytes::new(900)), client, server)
}

fn column(transcript: &Transcript, name: &str) -> String {
    format!("{:?}", transcript.record.column(name).unwrap())
}

const CLIENT: &str = r#"{"at":1200000000,"event":"connected","address":"10.0.0.1:4000","peer":"10.0.0.2:5601"}
{"at":1300000000,"bytesSent":0,"bytesAcknowledged":0,"roundTripTime":0.02}
{"at":3000000000,"bytesSent":500,"bytesAcknowledged":400,"roundTripTime":0.03,"slowStartThreshold":14480}
{"at":3000000001,"bytesSent":501,"bytesAcknowledged":400}
{"at":4500000000,"bytesSent":950,"bytesAcknowledged":900}
{"at":4500000000,"event":"completed","value":3.25}
"#;
const SERVER: &str = r#"{"at":900000000,"event":"listening","address":"[::]:5601"}
{"at":1500000000,"peer":"10.0.0.3:4000","bytesReceived":77,"packetsReceived":1}
{"at":2500000000,"peer":"10.0.0.1:4000","bytesReceived":300,"packetsReceived":1}
{"at":4400000000,"peer":"10.0.0.1:4000","bytesReceived":900,"packetsReceived":2}
{"at":4400000001,"event":"completed","peer":"10.0.0.1:4000","value":900}
"#;

#[test]
fn a_sample_has_the_newest_values_at_or_before_it() {
    let transcript = finite(CLIENT, SERVER);
    assert_eq!(column(&transcript, "bytesSent"), "[0.0, 500.0, 501.0, 950.0, NaN]");
    assert_eq!(column(&transcript, "bytesReceived"), "[NaN, 300.0, 300.0, 900.0, NaN]");
    assert_eq!(column(&transcript, "slowStartThreshold"), "[NaN, 14480.0, NaN, NaN, NaN]");
    assert_eq!(transcript.skipped, 0);
    let event = Event {
        at: Time::from_millis(3_500),
        stream: "up.tcp".into(),
        what: "completed",
        value: 3.25,
    };
    assert_eq!(transcript.events, [event]);
    assert_eq!(transcript.record.active, (Time::ZERO, Time::from_secs(4)));
    assert_eq!(transcript.record.points("roundTripTime").unwrap().len(), 2);
    assert!(transcript.record.column("timeouts").is_none());
}

#[test]
fn unknown_lines_are_skipped_and_counted() {
    let garbage = "Connecting…\n\n{\"at\":-1}\n{}\n[1]\n{\"at\":1400000000,\"event\":\"exploded\",\"value\":1}\n\
            {\"at\":1400000000,\"bytesSent\":\"many\"}\n{\"at\":1100000000,\"bytesSent\":3}\n{\"at\":1400000000,\"event\":\"completed\",\"value\":-1}\n\
            {\"at\":18446744073709551615,\"bytesSent\":-1e300}\n";
    let mut client = CLIENT.lines().map(|line| format!("{line}\n")).collect::<Vec<_>>();
    client.insert(2, garbage.to_owned());
    let transcript = finite(&client.concat(), &format!("{SERVER}\u{0}\n{{\"peer\":3}}\nbye"));
    let clean = finite(CLIENT, SERVER);
    assert_eq!(format!("{:?}", transcript.record), format!("{:?}", clean.record));
    assert_eq!((transcript.events, transcript.skipped), (clean.events, 13));
    let long = "x".repeat(100_000);
    assert_eq!(finite(&long, "").skipped, 7);
    let bytes: Vec<u8> = (0..=255).cycle().take(10_000).collect();
    let read = read(&program(TcpSource::Endless), &bytes[..], &bytes[..], &GRID).unwrap();
    assert!(read.record.columns.is_empty() && read.events.is_empty() && read.skipped > 0);
}

#[test]
fn a_finite_upload_without_an_end_is_incomplete() {
    let cut: String = CLIENT.lines().take(3).map(|line| format!("{line}\n")).collect();
    let transcript = finite(&cut, "");
    let event =
        Event { at: Time::from_secs(5), stream: "up.tcp".into(), what: "incomplete", value: 400.0 };
    assert_eq!(transcript.events, [event]);
    assert_eq!(column(&transcript, "bytesSent"), "[0.0, 500.0, 500.0, 500.0, 500.0]");
    assert!(made(TcpSource::Endless, &cut, "").events.is_empty());
    let late = CLIENT.replace("\"at\":4500000000", "\"at\":6500000000");
    let transcript = finite(&late, "");
    assert_eq!((transcript.events[0].what, transcript.events[0].value), ("incomplete", 400.0));
    assert_eq!(column(&transcript, "bytesSent"), "[0.0, 500.0, 501.0, 501.0, 501.0]");
    let ended = format!(
        "{cut}{{\"at\":3500000000,\"event\":\"ended\",\"value\":400}}\n{{\"at\":3600000000}}\n"
    );
    let transcript = made(TcpSource::Endless, &ended, "");
    assert_eq!((transcript.events.len(), transcript.record.active.1), (0, Time::from_secs(3)));
}
