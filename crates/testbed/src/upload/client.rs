use super::connect::{Connection, connect};
use super::line::{EventLine, Line, SenderSample, Value};
use super::socket::{now, plain, wait};
use super::{BrokenUpload, CHUNK, Dscp, PATIENCE, TcpSource, TransferError, UploadError};
use rustix::event::PollFlags;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use units::Duration;

/// What a client is to do.
#[derive(Clone, Debug)]
pub struct Client {
    /// The server's address or name.
    pub server: String,
    /// Its port.
    pub port: u16,
    /// By Linux's name; `None`: the host's own.
    pub congestion_control: Option<String>,
    /// The mark on its packets.
    pub dscp: Dscp,
    /// What it sends.
    pub source: TcpSource,
    /// After how long it is cut off at the latest, counted from the call; `None`: never.
    pub duration: Option<Duration>,
    /// Time between samples, above zero.
    pub interval: Duration,
}

/// How an upload ended in good order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The server has confirmed every byte.
    Completed,
    /// It was told to stop, or its time was over.
    CutOff,
}

/// What became of an upload.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// How it ended.
    pub ending: Ending,
    /// From the beginning of the connection to the confirmation, or to the cut.
    pub time: Duration,
    /// The connection at its end; `None` if there never was one.
    pub newest: Option<SenderSample>,
}

/// The longest answer of a server.
const MAX_ANSWER: usize = 256;

/// Uploads. `tell` is told when it is connected, how it comes along, and how it ended; an error of
/// it ends the upload, as does `stop`.
///
/// # Errors
/// When there is no connection, it breaks, or the server refuses it.
pub fn upload(
    client: &Client,
    stop: &AtomicBool,
    tell: &mut dyn FnMut(&Line) -> io::Result<()>,
) -> Result<Outcome, UploadError> {
    let called = now();
    let deadline =
        client.duration.map_or(u64::MAX, |duration| called.saturating_add(duration.as_nanos()));
    let Some(connection) = connect(client, deadline, stop)? else {
        tell(&end(client, now(), None)).map_err(UploadError::Output)?;
        let time = Duration::from_nanos(now().saturating_sub(called));
        return Ok(Outcome { ending: Ending::CutOff, time, newest: None });
    };
    let Connection { stream, begun } = connection;
    let mut under_way =
        UnderWay { client, stream, begun, deadline, written: 0, closed: false, answer: Vec::new() };
    under_way.run(stop, tell)
}

/// The last line of an upload that is not complete.
fn end(client: &Client, at: u64, newest: Option<&SenderSample>) -> Line {
    let finite = matches!(client.source, TcpSource::Finite(_));
    let acknowledged = newest.map_or(0, |sample| sample.bytes_acknowledged);
    let event = if finite { "incomplete" } else { "ended" };
    Line::Event(EventLine::new(at, event, Some(Value::Count(acknowledged))))
}

struct UnderWay<'a> {
    client: &'a Client,
    stream: TcpStream,
    begun: u64,
    deadline: u64,
    written: u64,
    /// Whether the end of the stream was sent.
    closed: bool,
    /// What the server has said so far.
    answer: Vec<u8>,
}

impl UnderWay<'_> {
    fn run(
        &mut self,
        stop: &AtomicBool,
        tell: &mut dyn FnMut(&Line) -> io::Result<()>,
    ) -> Result<Outcome, UploadError> {
        tell(&self.connected()).map_err(UploadError::Output)?;
        let result = self.go_on(stop, tell);
        let at = now();
        let newest = self.sample(at);
        if let Some(sample) = &newest {
            tell(&Line::Sender(sample.clone())).map_err(UploadError::Output)?;
        }
        let time = Duration::from_nanos(at.saturating_sub(self.begun));
        let mut last = end(self.client, at, newest.as_ref());
        match (&result, &mut last) {
            (Ok(Ending::Completed), line) => {
                let seconds = Some(Value::Seconds(time.as_secs_f64()));
                *line = Line::Event(EventLine::new(at, "completed", seconds));
            }
            (Err(Stop::Broken(reason)), Line::Event(event)) if reason.is_timeout() => {
                event.event = "timedOut";
            }
            _ => {}
        }
        tell(&last).map_err(UploadError::Output)?;
        match result {
            Ok(ending) => {
                if ending == Ending::CutOff {
                    // What is not sent yet is not sent any more, as when a simulated flow is cut
                    // off.
                    let _ = socket2::SockRef::from(&self.stream)
                        .set_linger(Some(std::time::Duration::ZERO));
                }
                Ok(Outcome { ending, time, newest })
            }
            Err(Stop::Output(error)) => Err(UploadError::Output(error)),
            Err(Stop::Broken(reason)) => Err(self.broken(reason).into()),
        }
    }

    fn connected(&self) -> Line {
        let text = |address: io::Result<_>| address.ok().map(|address| plain(address).to_string());
        let (address, peer) = (text(self.stream.local_addr()), text(self.stream.peer_addr()));
        Line::Event(EventLine { address, peer, ..EventLine::new(now(), "connected", None) })
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

    fn go_on(
        &mut self,
        stop: &AtomicBool,
        tell: &mut dyn FnMut(&Line) -> io::Result<()>,
    ) -> Result<Ending, Stop> {
        let interval = self.client.interval.as_nanos().max(1);
        let mut next_sample = now();
        let chunk = vec![0; CHUNK];
        loop {
            let at = now();
            if at >= next_sample {
                if let Some(sample) = self.sample(at) {
                    tell(&Line::Sender(sample)).map_err(Stop::Output)?;
                }
                next_sample = next_sample.saturating_add(interval).max(at);
            }
            if stop.load(Ordering::Relaxed) || at >= self.deadline {
                return Ok(Ending::CutOff);
            }
            let (length, switch) = self.wanted(at);
            let until = next_sample.min(self.deadline).min(switch).min(at + PATIENCE.as_nanos());
            let events = if length > 0 { PollFlags::IN | PollFlags::OUT } else { PollFlags::IN };
            let ready = wait(&self.stream, events, until)?;
            if ready.intersects(PollFlags::IN | PollFlags::HUP | PollFlags::ERR) {
                if let Some(ending) = self.listen()? {
                    return Ok(ending);
                }
            } else if ready.contains(PollFlags::OUT) && length > 0 {
                self.write(&chunk[..length])?;
            }
        }
    }

    /// How much may be written now, and when that changes by itself.
    fn wanted(&self, at: u64) -> (usize, u64) {
        match self.client.source {
            TcpSource::Endless => (CHUNK, u64::MAX),
            TcpSource::Finite(bytes) => {
                let left = bytes.get().saturating_sub(self.written);
                (usize::try_from(left).unwrap_or(CHUNK).min(CHUNK), u64::MAX)
            }
            TcpSource::OnOff { on, off } => {
                let (on, off) = (on.as_nanos(), off.as_nanos());
                let period = on.saturating_add(off).max(1);
                let place = at.saturating_sub(self.begun) % period;
                if place < on { (CHUNK, at + (on - place)) } else { (0, at + (period - place)) }
            }
        }
    }

    fn write(&mut self, chunk: &[u8]) -> Result<(), Stop> {
        match self.stream.write(chunk) {
            Ok(count) => self.written += count as u64,
            Err(error) if again(&error) => return Ok(()),
            Err(error) => {
                // The server may have said why.
                return match self.listen() {
                    Err(stop) => Err(stop),
                    Ok(_) => Err(error.into()),
                };
            }
        }
        if !self.closed
            && let TcpSource::Finite(bytes) = self.client.source
            && self.written >= bytes.get()
        {
            self.stream.shutdown(Shutdown::Write)?;
            self.closed = true;
        }
        Ok(())
    }

    /// Takes up what the server says: the confirmation, or why there will be none.
    fn listen(&mut self) -> Result<Option<Ending>, Stop> {
        let mut buffer = [0; MAX_ANSWER];
        let broken = |reason| Err(Stop::Broken(reason));
        match self.stream.read(&mut buffer) {
            Ok(0) => return broken(TransferError::Closed),
            Ok(count) => self.answer.extend_from_slice(&buffer[..count]),
            Err(error) if again(&error) => return Ok(None),
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

/// Whether a call is to be made again, later.
pub(super) fn again(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}

/// Why an upload does not go on.
enum Stop {
    Broken(TransferError),
    Output(io::Error),
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Self::Broken(error.into())
    }
}
