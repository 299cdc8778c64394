//! Recordings of calls that other programs made, as runs: the kind of a file is recognised by its
//! content, and the recordings of both endpoints of a call are joined.
//!
//! ```text
//!                 ┌▶ event_log ──┐
//! file ─▶ open ───┼▶ capture ────┴▶ packets (clock: offset and drift) ─┐
//!                 ├▶ internals ──┐                                     ├▶ Imported ─▶ store, explain
//!                 └▶ rtcstats ───┴▶ stats of both endpoints ───────────┘
//! ```

mod packets;
#[cfg(test)]
mod tests;

pub use crate::clock::Clock;

use crate::capture::{self, Capture, CaptureError};
use crate::event_log::{self, EventLog, EventLogError};
use crate::measure::internals::{self, Dump, DumpError, Imported, rtcstats};
use flate2::read::GzDecoder;
use std::fmt;
use std::io::{self, Read};

/// The first bytes of a gzip file (RFC 1952 § 2.3.1).
const GZIP: [u8; 2] = [0x1f, 0x8b];
/// Bytes that tell the kind of a file.
const HEAD: u64 = 64;

/// The kind of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An RtcEventLog of libwebrtc.
    EventLog,
    /// pcap or pcapng.
    Capture,
    /// A dump of chrome://webrtc-internals.
    Internals,
    /// A dump of rtcstats.
    Rtcstats,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::EventLog => "RtcEventLog",
            Self::Capture => "packet capture",
            Self::Internals => "chrome://webrtc-internals",
            Self::Rtcstats => "rtcstats",
        })
    }
}

/// The content of a file.
#[derive(Debug)]
enum Content {
    Log(Box<EventLog>),
    Capture(Capture),
    Dump(Dump),
}

/// A file that was read.
#[derive(Debug)]
pub struct Opened {
    /// Its kind.
    pub kind: Kind,
    content: Content,
}

/// Why a file cannot be imported.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ImportError {
    /// The file cannot be read.
    #[error("cannot read it: {0}; check the name")]
    Read(#[from] io::Error),
    /// The kind of the file is not known.
    #[error(
        "byte 0: not a recording of a call; use an RtcEventLog, a dump of \
         chrome://webrtc-internals, a dump of rtcstats, pcap or pcapng, compressed with gzip or not"
    )]
    Unknown,
    /// An event log.
    #[error(transparent)]
    EventLog(#[from] EventLogError),
    /// A capture.
    #[error(transparent)]
    Capture(#[from] CaptureError),
    /// A dump of statistics.
    #[error(transparent)]
    Dump(#[from] DumpError),
    /// The recording has no RTP packets.
    #[error("it has no RTP packets; record the endpoint while it is in the call")]
    NoPackets,
    /// The recording lasts too long.
    #[error("its times lie more than a day apart; cut it into parts")]
    Times,
    /// Two recordings are not of one call.
    #[error("the two files are not of one call: no packet of one is in the other")]
    NotOneCall,
    /// Recordings that cannot be joined.
    #[error(
        "a {0} and a {1} cannot be joined; give two files with packets (RtcEventLog, capture) or \
         two with statistics (webrtc-internals, rtcstats), one of each endpoint"
    )]
    Kinds(Kind, Kind),
    /// Too many files.
    #[error("{0} files; give one file, or one of each endpoint of the call")]
    Files(usize),
}

/// Opens a file of any kind, compressed with gzip or not. What was readable of a damaged file is
/// returned; [`Opened::damage`] says where the damage is.
///
/// # Errors
/// If the kind is unknown, or nothing is readable.
pub fn open(mut bytes: impl Read) -> Result<Opened, ImportError> {
    let mut head = Vec::new();
    bytes.by_ref().take(HEAD).read_to_end(&mut head)?;
    if head.starts_with(&GZIP) {
        let mut unpacked = GzDecoder::new(io::Cursor::new(head).chain(bytes));
        let mut head = Vec::new();
        unpacked.by_ref().take(HEAD).read_to_end(&mut head)?;
        return plain(&head.clone(), io::Cursor::new(head).chain(unpacked));
    }
    plain(&head.clone(), io::Cursor::new(head).chain(bytes))
}

fn plain(head: &[u8], bytes: impl Read) -> Result<Opened, ImportError> {
    let kind = kind(head).ok_or(ImportError::Unknown)?;
    let content = match kind {
        Kind::EventLog => Content::Log(Box::new(event_log::read(bytes)?)),
        Kind::Capture => Content::Capture(capture::read(bytes)?),
        Kind::Internals => Content::Dump(internals::read(bytes)?),
        Kind::Rtcstats => Content::Dump(rtcstats::read(bytes)?),
    };
    Ok(Opened { kind, content })
}

/// The kind of a file that begins with these bytes.
fn kind(head: &[u8]) -> Option<Kind> {
    /// Magic numbers of pcap (microseconds and nanoseconds, both orders of bytes) and pcapng.
    const CAPTURES: [[u8; 4]; 5] = [
        [0xA1, 0xB2, 0xC3, 0xD4],
        [0xD4, 0xC3, 0xB2, 0xA1],
        [0xA1, 0xB2, 0x3C, 0x4D],
        [0x4D, 0x3C, 0xB2, 0xA1],
        [0x0A, 0x0D, 0x0D, 0x0A],
    ];
    let text = head.trim_ascii_start();
    match head {
        _ if CAPTURES.iter().any(|magic| head.starts_with(magic)) => Some(Kind::Capture),
        _ if head.starts_with(rtcstats::HEADER) || text.starts_with(b"[") => Some(Kind::Rtcstats),
        _ if text.starts_with(b"{") => Some(Kind::Internals),
        // Field 1, or field 16: the legacy form and the form with columns.
        [0x0A, ..] | [0x82, 0x01, ..] => Some(Kind::EventLog),
        _ => None,
    }
}

impl Opened {
    /// Where the file is damaged, in one sentence; the rest was read.
    #[must_use]
    pub fn damage(&self) -> Option<String> {
        match &self.content {
            Content::Log(log) => log.error.as_ref().map(ToString::to_string),
            Content::Capture(capture) => capture.error.as_ref().map(ToString::to_string),
            Content::Dump(dump) => dump.cut.as_ref().map(ToString::to_string),
        }
    }

    /// What was skipped, in one sentence.
    #[must_use]
    pub fn skipped(&self) -> Option<String> {
        let Content::Capture(Capture { counts, .. }) = &self.content else { return None };
        let parts = [
            (counts.closed_rtcp, "encrypted RTCP"),
            (counts.stun, "STUN"),
            (counts.dtls, "DTLS"),
            (counts.other_calls, "RTP of other addresses"),
            (counts.other, "other"),
        ];
        let parts: Vec<String> = parts
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, name)| format!("{count} {name}"))
            .collect();
        (!parts.is_empty()).then(|| format!("frames without readable media: {}", parts.join(", ")))
    }

    /// The packets of the endpoint that the recording is of; `None` if it has none.
    #[must_use]
    pub fn log(&self) -> Option<&EventLog> {
        match &self.content {
            Content::Log(log) => Some(log),
            Content::Capture(capture) => capture.sides.first(),
            Content::Dump(_) => None,
        }
    }

    /// The same, to be changed.
    #[must_use]
    pub fn log_mut(&mut self) -> Option<&mut EventLog> {
        match &mut self.content {
            Content::Log(log) => Some(log),
            Content::Capture(capture) => capture.sides.first_mut(),
            Content::Dump(_) => None,
        }
    }

    /// The logs of a recording with packets, by endpoint.
    fn logs(&self) -> Vec<&EventLog> {
        match &self.content {
            Content::Log(log) => vec![log],
            Content::Capture(capture) => capture.sides.iter().take(2).collect(),
            Content::Dump(_) => Vec::new(),
        }
    }
}

/// A recording as a run, and the clocks if it was joined.
#[derive(Debug)]
pub struct Joined {
    /// The run.
    pub imported: Imported,
    /// The kind of the first file.
    pub kind: Kind,
    /// The clock of the second endpoint against the first.
    pub clock: Option<Clock>,
    /// Whether there are two endpoints.
    pub is_joined: bool,
}

/// Makes a run of one recording, or of those of both endpoints of a call, with this title.
///
/// # Errors
/// If the recordings cannot be used, or not together.
pub fn join(files: &[Opened], title: &str) -> Result<Joined, ImportError> {
    let of_packets = |logs: &[&EventLog], kind: Kind| match logs {
        [one] => of_one(one, kind, title),
        [one, other, ..] => of_two(one, other, kind, title),
        [] => Err(ImportError::NoPackets),
    };
    match files {
        [one] => match &one.content {
            Content::Dump(dump) => {
                let mut imported = internals::import(dump, title)?;
                note_kind(&mut imported, one.kind);
                Ok(Joined { imported, kind: one.kind, clock: None, is_joined: false })
            }
            _ => of_packets(&one.logs(), one.kind),
        },
        [one, other] => match (&one.content, &other.content) {
            (Content::Dump(first), Content::Dump(second)) => {
                let (imported, clock) = internals::join(first, second, title)?;
                Ok(Joined { imported, kind: one.kind, clock, is_joined: true })
            }
            (Content::Dump(_), _) | (_, Content::Dump(_)) => {
                Err(ImportError::Kinds(one.kind, other.kind))
            }
            _ => {
                let logs: Vec<&EventLog> =
                    [one, other].into_iter().filter_map(Opened::log).collect();
                of_packets(&logs, one.kind)
            }
        },
        files => Err(ImportError::Files(files.len())),
    }
}

fn note_kind(imported: &mut Imported, kind: Kind) {
    imported.notes.retain(|(name, _)| name != "imported");
    imported.notes.push(("imported".to_owned(), kind.to_string()));
}

fn of_one(log: &EventLog, kind: Kind, title: &str) -> Result<Joined, ImportError> {
    let recording = packets::recording(log, None)?;
    let hosts = ["local", "remote"];
    let imported = run(recording, hosts, kind, title);
    Ok(Joined { imported, kind, clock: None, is_joined: false })
}

fn of_two(
    first: &EventLog,
    second: &EventLog,
    kind: Kind,
    title: &str,
) -> Result<Joined, ImportError> {
    let clock = packets::clock(first, second).ok_or(ImportError::NotOneCall)?;
    let recording = packets::recording(first, Some((second, clock)))?;
    let imported = run(recording, ["first", "second"], kind, title);
    Ok(Joined { imported, kind, clock: Some(clock), is_joined: true })
}

fn run(recording: sim::Recording, hosts: [&str; 2], kind: Kind, title: &str) -> Imported {
    let (interval, duration) = (recording.interval, recording.duration);
    let names = ["main".to_owned()];
    let experiment = internals::experiment_between(hosts, title, &names, interval, duration);
    let mut imported = Imported { recording, experiment, notes: Vec::new() };
    note_kind(&mut imported, kind);
    imported
}
