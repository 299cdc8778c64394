use super::connect::{Connection, connect};
use super::output::{SenderSample, UploadEvent, UploadLine, Value};
use super::socket::{now, plain, wait};
use super::{BrokenUpload, CHUNK, Dscp, PATIENCE, TcpSource, TransferError, UploadError};
use rustix::event::PollFlags;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use units::Duration;

/// The options of an upload client.
#[derive(Clone, Debug)]
pub struct Client {
    /// The server's address or name.
    pub server: String,
    /// The server's port.
    pub port: u16,
    /// The name of the congestion control in Linux; `None`: the host's default.
    pub congestion_control: Option<String>,
    /// The DSCP of its packets.
    pub dscp: Dscp,
    /// What it sends.
    pub source: TcpSource,
    /// The longest duration, from the call of [`upload`]; `None`: no limit.
    pub duration: Option<Duration>,
    /// The time between samples, above zero.
    pub interval: Duration,
}

/// How an upload ended without an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The server has confirmed every byte.
    Completed,
    /// It was stopped, or its duration was over.
    CutOff,
}

/// The result of an upload.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// How it ended.
    pub ending: Ending,
    /// From the connection attempt to the confirmation or the cut.
    pub time: Duration,
    /// The last sample of the connection; `None` if there was no connection.
    pub last_sample: Option<SenderSample>,
}

/// The longest answer of a server, bytes.
const MAX_ANSWER: usize = 256;

/// Runs an upload. `output` is called when it is connected, with samples, and at the end. An error
/// of `output` ends the upload, and so does `stop`.
///
/// # Errors
/// When there is no connection, the connection breaks, or the server refuses the upload.
pub fn upload(
    client: &Client,
    stop: &AtomicBool,
    output: &mut dyn FnMut(&UploadLine) -> io::Result<()>,
) -> Result<Outcome, UploadError> {
    let called = now();
    let deadline =
        client.duration.map_or(u64::MAX, |duration| called.saturating_add(duration.as_nanos()));
    let Some(connection) = connect(client, deadline, stop)? else {
        output(&end(client, now(), None)).map_err(UploadError::Output)?;
        let time = Duration::from_nanos(now().saturating_sub(called));
        return Ok(Outcome { ending: Ending::CutOff, time, last_sample: None });
    };
    let Connection { stream, begun } = connection;
    let mut active = ActiveUpload {
        client,
        stream,
        begun,
        deadline,
        written: 0,
        closed: false,
        answer: Vec::new(),
    };
    active.run(stop, output)
}

/// The last line of an incomplete upload.
fn end(client: &Client, at: u64, last_sample: Option<&SenderSample>) -> UploadLine {
    let finite = matches!(client.source, TcpSource::Finite(_));
    let acknowledged = last_sample.map_or(0, |sample| sample.bytes_acknowledged);
    let event = if finite { "incomplete" } else { "ended" };
    UploadLine::Event(UploadEvent::new(at, event, Some(Value::Count(acknowledged))))
}

struct ActiveUpload<'a> {
    client: &'a Client,
    stream: TcpStream,
    begun: u64,
    deadline: u64,
    written: u64,
    /// Whether the end of the stream was sent.
    closed: bool,
    /// What the server has answered so far.
    answer: Vec<u8>,
}

impl ActiveUpload<'_> {
    fn run(
        &mut self,
        stop: &AtomicBool,
        output: &mut dyn FnMut(&UploadLine) -> io::Result<()>,
    ) -> Result<Outcome, UploadError> {
        output(&self.connected()).map_err(UploadError::Output)?;
        let result = self.transfer(stop, output);
        let at = now();
        let last_sample = self.sample(at);
        if let Some(sample) = &last_sample {
            output(&UploadLine::Sender(sample.clone())).map_err(UploadError::Output)?;
        }
        let time = Duration::from_nanos(at.saturating_sub(self.begun));
        let mut last = end(self.client, at, last_sample.as_ref());
        match (&result, &mut last) {
            (Ok(Ending::Completed), line) => {
                let seconds = Some(Value::Seconds(time.as_secs_f64()));
                *line = UploadLine::Event(UploadEvent::new(at, "completed", seconds));
            }
            (Err(Failure::Broken(reason)), UploadLine::Event(event)) if reason.is_timeout() => {
                event.event = "timedOut";
            }
            _ => {}
        }
        output(&last).map_err(UploadError::Output)?;
        match result {
            Ok(ending) => {
                if ending == Ending::CutOff {
                    // Unsent data is discarded, as when a simulated flow is cut off.
                    let _ = socket2::SockRef::from(&self.stream)
                        .set_linger(Some(std::time::Duration::ZERO));
                }
                Ok(Outcome { ending, time, last_sample })
            }
            Err(Failure::Output(error)) => Err(UploadError::Output(error)),
            Err(Failure::Broken(reason)) => Err(self.broken(reason).into()),
        }
    }

    fn connected(&self) -> UploadLine {
        let text = |address: io::Result<_>| address.ok().map(|address| plain(address).to_string());
        let (address, peer) = (text(self.stream.local_addr()), text(self.stream.peer_addr()));
        UploadLine::Event(UploadEvent {
            address,
            peer,
            ..UploadEvent::new(now(), "connected", None)
        })
    }

    fn broken(&self, reason: TransferError) -> BrokenUpload {
        let Client { server, port, .. } = self.client;
        BrokenUpload::Transfer {
            server: server.clone(),
            port: *port,
            written: self.written,
            reason,
        }
    }

    fn sample(&self, at: u64) -> Option<SenderSample> {
        emulator::tcp_info(&self.stream).ok().map(|info| SenderSample::new(at, &info, self.written))
    }

    fn transfer(
        &mut self,
        stop: &AtomicBool,
        output: &mut dyn FnMut(&UploadLine) -> io::Result<()>,
    ) -> Result<Ending, Failure> {
        let interval = self.client.interval.as_nanos().max(1);
        let mut next_sample = now();
        let chunk = vec![0; CHUNK];
        loop {
            let at = now();
            if at >= next_sample {
                if let Some(sample) = self.sample(at) {
                    output(&UploadLine::Sender(sample)).map_err(Failure::Output)?;
                }
                next_sample = next_sample.saturating_add(interval).max(at);
            }
            if stop.load(Ordering::Relaxed) || at >= self.deadline {
                return Ok(Ending::CutOff);
            }
            let (length, switch) = self.allowance(at);
            let until = next_sample.min(self.deadline).min(switch).min(at + PATIENCE.as_nanos());
            let events = if length > 0 { PollFlags::IN | PollFlags::OUT } else { PollFlags::IN };
            let ready = wait(&self.stream, events, until)?;
            if ready.intersects(PollFlags::IN | PollFlags::HUP | PollFlags::ERR) {
                if let Some(ending) = self.read_answer()? {
                    return Ok(ending);
                }
            } else if ready.contains(PollFlags::OUT) && length > 0 {
                self.write(&chunk[..length])?;
            }
        }
    }

    /// The number of bytes that may be written now, and the time at which that changes.
    fn allowance(&self, at: u64) -> (usize, u64) {
        match self.client.source {
            TcpSource::Endless => (CHUNK, u64::MAX),
            TcpSource::Finite(bytes) => {
                let left = bytes.get().saturating_sub(self.written);
                (usize::try_from(left).unwrap_or(CHUNK).min(CHUNK), u64::MAX)
            }
            TcpSource::OnOff { on, off } => {
                let (on, off) = (on.as_nanos(), off.as_nanos());
                let period = on.saturating_add(off).max(1);
                let offset = at.saturating_sub(self.begun) % period;
                if offset < on { (CHUNK, at + (on - offset)) } else { (0, at + (period - offset)) }
            }
        }
    }

    fn write(&mut self, chunk: &[u8]) -> Result<(), Failure> {
        match self.stream.write(chunk) {
            Ok(count) => self.written += count as u64,
            Err(error) if is_transient(&error) => return Ok(()),
            Err(error) => {
                // The server may have sent a reason.
                return match self.read_answer() {
                    Err(stop) => Err(stop),
                    Ok(_) => Err(error.into()),
                };
            }
        }
        if !self.closed
            && let TcpSource::Finite(bytes) = self.client.source
            && self.written >= bytes.get()
        {
            match self.stream.shutdown(Shutdown::Write) {
                // The server has ended the connection already; its answer is still to be read.
                Err(error) if error.kind() == io::ErrorKind::NotConnected => {}
                done => done?,
            }
            self.closed = true;
        }
        Ok(())
    }

    /// Reads the server's answer: the confirmation, or the reason for a refusal.
    fn read_answer(&mut self) -> Result<Option<Ending>, Failure> {
        let mut buffer = [0; MAX_ANSWER];
        let broken = |reason| Err(Failure::Broken(reason));
        match self.stream.read(&mut buffer) {
            Ok(0) => return broken(TransferError::Closed),
            Ok(count) => self.answer.extend_from_slice(&buffer[..count]),
            Err(error) if is_transient(&error) => return Ok(None),
            Err(error) => return Err(error.into()),
        }
        let Some(end) = self.answer.iter().position(|byte| *byte == b'\n') else {
            if self.answer.len() > MAX_ANSWER {
                return broken(TransferError::NotAServer);
            }
            return Ok(None);
        };
        let answer = String::from_utf8_lossy(&self.answer[..end]).into_owned();
        let confirmed =
            answer.strip_prefix("received ").and_then(|count| count.parse::<u64>().ok());
        match confirmed {
            Some(count) if self.closed && count == self.written => Ok(Some(Ending::Completed)),
            Some(received) => broken(TransferError::Count { received, written: self.written }),
            None if answer.starts_with("refused") => broken(TransferError::Refused(answer)),
            None => broken(TransferError::NotAServer),
        }
    }
}

/// Whether a system call has to be repeated later.
pub(super) fn is_transient(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}

/// Why an upload ends early.
enum Failure {
    Broken(TransferError),
    Output(io::Error),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Broken(error.into())
    }
}
