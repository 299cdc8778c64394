use super::*;
use socket2::{Domain, Socket, Type};
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use units::Bytes;

fn client(port: u16, source: TcpSource) -> Client {
    Client {
        server: "127.0.0.1".into(),
        port,
        congestion_control: None,
        dscp: Dscp::EF,
        source,
        duration: Some(Duration::from_secs(20)),
        interval: Duration::from_millis(10),
    }
}

fn event(line: &UploadLine) -> Option<&UploadEvent> {
    match line {
        UploadLine::Event(event) => Some(event),
        _ => None,
    }
}

/// The result of `work` beside a server, and the server's output.
fn beside_a_server<T>(work: impl FnOnce(u16) -> T) -> (T, Vec<UploadLine>) {
    beside_a_server_with(Limits::default(), work)
}

fn beside_a_server_with<T>(limits: Limits, work: impl FnOnce(u16) -> T) -> (T, Vec<UploadLine>) {
    let (stop, lines) = (AtomicBool::new(false), Mutex::new(Vec::new()));
    let listen = "127.0.0.1:0".parse().unwrap();
    let server = Server { listen, interval: Duration::from_millis(10), limits };
    let tell = |line: &UploadLine| {
        lines.lock().unwrap().push(line.clone());
        Ok(())
    };
    let port = || loop {
        let lines = lines.lock().unwrap();
        if let Some(listening) = lines.first().and_then(event) {
            let address: SocketAddr = listening.address.as_deref().unwrap().parse().unwrap();
            break address.port();
        }
        drop(lines);
        std::thread::sleep(std::time::Duration::from_millis(1));
    };
    let result = std::thread::scope(|scope| {
        let thread = scope.spawn(|| serve(&server, &stop, &tell));
        // Also if an assertion of the work fails: the scope waits for the server.
        let stops = Stops(&stop);
        let result = work(port());
        drop(stops);
        thread.join().unwrap().unwrap();
        result
    });
    (result, lines.into_inner().unwrap())
}

/// Stops the server when dropped.
struct Stops<'a>(&'a AtomicBool);

impl Drop for Stops<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn run(client: &Client) -> (Result<Outcome, UploadError>, Vec<UploadLine>) {
    let mut lines = Vec::new();
    let result = upload(client, &AtomicBool::new(false), &mut |line| {
        lines.push(line.clone());
        Ok(())
    });
    (result, lines)
}

#[test]
fn a_finite_upload_is_complete_when_the_server_has_all_bytes() {
    let source = TcpSource::Finite(Bytes::new(3_000_000));
    let ((result, lines), served) = beside_a_server(|port| run(&client(port, source)));
    let outcome = result.unwrap();
    let newest = outcome.last_sample.unwrap();
    assert_eq!((outcome.ending, newest.bytes_acknowledged), (Ending::Completed, 3_000_000));
    assert!(newest.bytes_sent >= 3_000_000 && newest.packets_sent > 10, "{newest:?}");
    let (first, last) = (event(&lines[0]).unwrap(), event(lines.last().unwrap()).unwrap());
    assert_eq!((first.event, last.event), ("connected", "completed"));
    let done = served.iter().filter_map(event).find(|event| event.event == "completed").unwrap();
    assert_eq!((&done.peer, done.value), (&first.address, Some(Value::Count(3_000_000))));
}

#[test]
fn an_endless_upload_is_cut_off_at_its_duration() {
    for source in [
        TcpSource::Endless,
        TcpSource::OnOff { on: Duration::from_millis(20), off: Duration::from_millis(30) },
    ] {
        let duration = Some(Duration::from_millis(200));
        let ((result, lines), served) =
            beside_a_server(|port| run(&Client { duration, ..client(port, source) }));
        let outcome = result.unwrap();
        assert_eq!(outcome.ending, Ending::CutOff);
        assert!(
            outcome.time < Duration::from_secs(5) && outcome.last_sample.unwrap().bytes_sent > 0
        );
        assert_eq!(event(lines.last().unwrap()).unwrap().event, "ended");
        assert!(served.iter().filter_map(event).any(|event| event.event == "incomplete"));
    }
}

#[test]
fn an_on_off_source_pauses() {
    let source = TcpSource::OnOff { on: Duration::from_millis(50), off: Duration::from_secs(100) };
    let duration = Some(Duration::from_millis(400));
    let ((_, lines), _) = beside_a_server(|port| run(&Client { duration, ..client(port, source) }));
    let sent: Vec<u64> = lines
        .iter()
        .filter_map(|line| {
            if let UploadLine::Sender(sample) = line { Some(sample.bytes_sent) } else { None }
        })
        .collect();
    assert!(
        sent[sent.len() - 1] > 0 && sent[sent.len() - 1] == sent[sent.len() * 3 / 4],
        "{sent:?}"
    );
}

#[test]
fn a_missing_server_is_an_error_after_two_seconds() {
    // Bound, so that no other process gets the port, but not listening.
    let silent = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
    silent.bind(&SocketAddr::from(([127, 0, 0, 1], 0)).into()).unwrap();
    let port = silent.local_addr().unwrap().as_socket().unwrap().port();
    let error = run(&client(port, TcpSource::Endless)).0.unwrap_err();
    assert!(matches!(error, UploadError::Broken(_)), "{error}");
    assert!(error.to_string().contains(&format!("cannot connect to 127.0.0.1:{port}")), "{error}");
}

/// A connection to the server from this address of the loopback.
fn connect_from(address: &str, port: u16) -> TcpStream {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
    let at = |text: &str, port| SocketAddr::new(text.parse().unwrap(), port).into();
    socket.bind(&at(address, 0)).unwrap();
    socket.connect(&at("127.0.0.1", port)).unwrap();
    socket.into()
}

/// What the server answers before it closes the connection.
fn answer(mut stream: TcpStream) -> String {
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn the_number_of_clients_is_limited_in_total_and_per_address() {
    let limits = Limits { clients: 3, clients_per_address: 2, ..Limits::default() };
    let source = TcpSource::Finite(Bytes::new(1_000));
    let (outcome, _) = beside_a_server_with(limits, |port| {
        let _first = connect_from("127.0.0.1", port);
        let second = connect_from("127.0.0.1", port);
        let third = answer(connect_from("127.0.0.1", port));
        assert!(third.starts_with("refused: 2 places are taken from this address"), "{third}");
        let _other = connect_from("127.0.0.2", port);
        let refused = answer(connect_from("127.0.0.3", port));
        assert_eq!(refused, "refused: all 3 places are taken\n");
        let error = run(&client(port, source)).0.unwrap_err().to_string();
        assert!(error.contains("the server refused: all 3 places are taken"), "{error}");
        drop(second);
        // The place is free as soon as the server has read the end of the stream.
        (0..1_000).find_map(|_| {
            std::thread::sleep(std::time::Duration::from_millis(5));
            run(&client(port, source)).0.ok()
        })
    });
    assert_eq!(outcome.unwrap().ending, Ending::Completed);
}

#[test]
fn an_upload_without_data_is_ended() {
    let limits = Limits { idle: Duration::from_millis(100), ..Limits::default() };
    let (answer, served) = beside_a_server_with(limits, |port| {
        let mut stream = connect_from("127.0.0.1", port);
        stream.write_all(b"12345").unwrap();
        answer(stream)
    });
    assert_eq!(answer, "refused: no data for 100ms\n");
    let ended = served.iter().filter_map(event).find(|event| event.event == "timedOut").unwrap();
    assert_eq!(ended.value, Some(Value::Count(5)));
}

/// The error and output of a client whose server runs `serve`.
fn against(serve: impl FnOnce(TcpStream) + Send) -> (String, Vec<UploadLine>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::scope(|scope| {
        scope.spawn(|| serve(listener.accept().unwrap().0));
        let (result, lines) = run(&client(port, TcpSource::Finite(Bytes::new(300_000))));
        (result.unwrap_err().to_string(), lines)
    })
}

#[test]
fn a_broken_connection_is_reported_with_its_reason() {
    // The client may disconnect first.
    let read_all = |stream: &mut TcpStream| drop(stream.read_to_end(&mut Vec::new()));
    let (error, lines) = against(drop);
    assert!(error.contains("broke after"), "{error}");
    assert_eq!(event(lines.last().unwrap()).unwrap().event, "incomplete");
    let (error, _) = against(|mut stream| {
        stream.write_all(b"refused: 1000 clients are connected already\n").unwrap();
    });
    assert!(error.contains("the server refused: 1000 clients"), "{error}");
    let (error, _) = against(|mut stream| {
        read_all(&mut stream);
        stream.write_all(b"received 5\n").unwrap();
    });
    assert!(error.contains("received 5 of 300000 bytes"), "{error}");
    let (error, _) = against(|mut stream| {
        stream.write_all(&[b'x'; 4_000]).unwrap();
        read_all(&mut stream);
    });
    assert!(error.contains("is not 'weir upload server'"), "{error}");
    let (error, _) = against(|mut stream| {
        read_all(&mut stream);
        stream.shutdown(Shutdown::Both).unwrap();
    });
    assert!(error.contains("the server ended the connection"), "{error}");
}

#[test]
fn unknown_congestion_controls_hosts_and_dscps_are_refused() {
    let base = client(9, TcpSource::Endless);
    let unknown = Client { congestion_control: Some("cubik".into()), ..base.clone() };
    let error = run(&unknown).0.unwrap_err();
    assert!(matches!(error, UploadError::Input(_)), "{error}");
    assert!(
        error.to_string().contains("/proc/sys/net/ipv4/tcp_available_congestion_control says: "),
        "{error}"
    );
    let nowhere = Client { server: "no such host".into(), ..base };
    assert!(matches!(run(&nowhere).0, Err(UploadError::Input(_))));
    assert!(
        dscp("64").is_err() && dscp("ef").unwrap() == Dscp::EF && dscp("8").unwrap() == Dscp(8)
    );
}

#[test]
fn a_failing_output_ends_client_and_server() {
    let gone = |_: &UploadLine| Err(io::Error::from(io::ErrorKind::BrokenPipe));
    let server = Server {
        listen: "127.0.0.1:0".parse().unwrap(),
        interval: Duration::from_secs(1),
        limits: Limits::default(),
    };
    let never = AtomicBool::new(false);
    assert!(matches!(serve(&server, &never, &gone), Err(UploadError::Output(_))));
    let (result, _) = beside_a_server(|port| {
        upload(&client(port, TcpSource::Endless), &AtomicBool::new(false), &mut |line| gone(line))
    });
    assert!(matches!(result, Err(UploadError::Output(_))));
}

#[test]
fn output_becomes_the_columns_of_a_simulated_flow() {
    let source = TcpSource::Finite(Bytes::new(2_000_000));
    let start = socket::now();
    let ((result, lines), served) = beside_a_server(|port| run(&client(port, source)));
    let json = |lines: &[UploadLine]| -> String {
        lines.iter().map(|line| serde_json::to_string(line).unwrap() + "\n").collect()
    };
    let upload = experiment::Upload {
        to: net::HostId(1),
        port: PORT,
        source,
        congestion_control: None,
        dscp: Dscp::EF,
    };
    let program = experiment::Program {
        name: "up".into(),
        host: net::HostId(0),
        start: units::Time::ZERO,
        stop: units::Time::from_secs(30),
        kind: experiment::ProgramKind::Upload(upload),
    };
    let grid = transcript::SampleGrid {
        start,
        interval: Duration::from_secs(10),
        duration: Duration::from_secs(30),
    };
    let (lines, served) = (json(&lines), json(&served));
    let made = transcript::read(&program, lines.as_bytes(), served.as_bytes(), &grid).unwrap();
    let first = |name: &str| made.record.column(name).unwrap()[0];
    assert_eq!((first("bytesAcknowledged"), first("bytesReceived")), (2e6, 2e6));
    assert!(
        first("bytesSent") >= 2e6
            && first("packetsReceived") > 0.0
            && first("congestionWindow") > 0.0
    );
    assert_eq!((made.skipped, made.events.len(), made.events[0].what), (0, 1, "completed"));
    assert!((made.events[0].value - result.unwrap().time.as_secs_f64()).abs() < 1e-6);
}
