//! Reads a log, one top-level message at a time.

use super::EventLogError;
use super::columns::{self, MessageError};
use super::legacy::{self, Legacy};
use super::log::{EventLog, Format};
use std::io::{BufRead, BufReader, Read};

/// The longest message. A batch has at most 10,000 events; an RTCP packet has at most 1,500 bytes.
const MAX_MESSAGE: u64 = 16 << 20;
/// The most events that are kept: ten hours of 230 packets per second. They take about 500 MB.
const MAX_EVENTS: usize = 1 << 23;
/// Types of fields (Protocol Buffers encoding, "Message structure").
const VARINT: u64 = 0;
const FIXED64: u64 = 1;
const LENGTH: u64 = 2;
const FIXED32: u64 = 5;
/// The most bytes of a variable-length integer.
const MAX_VARINT_BYTES: u32 = 10;

/// Reads a log. What was readable is returned together with the first error, if there is one:
/// a damaged message is skipped, and a place at which no message begins ends the reading.
///
/// # Errors
/// If the first message is not one with which a log begins, or the first byte cannot be read.
pub fn read(bytes: impl Read) -> Result<EventLog, EventLogError> {
    let mut source = Source { bytes: BufReader::new(bytes), offset: 0 };
    let mut log = EventLog::default();
    let mut legacy = Legacy::default();
    let mut message = Vec::new();
    let mut is_first = true;
    loop {
        let offset = source.offset;
        let field = match source.field() {
            Ok(None) => break,
            Ok(Some((field, kind))) => {
                if is_first && !([legacy::FIELD, columns::BEGIN].contains(&field) && kind == LENGTH)
                {
                    return Err(EventLogError::NotALog);
                }
                source.message(offset, field, kind, &mut message).map(|()| field)
            }
            Err(error @ EventLogError::Read { .. }) if is_first => return Err(error),
            Err(EventLogError::NoField { .. }) if is_first => return Err(EventLogError::NotALog),
            Err(error) => Err(error),
        };
        is_first = false;
        let field = match field {
            Ok(field) => field,
            Err(error) => {
                log.error.get_or_insert(error);
                break;
            }
        };
        let taken = if field == legacy::FIELD {
            log.format = Format::Legacy;
            legacy.take(&mut log, &message)
        } else {
            columns::take(&mut log, field, &message)
        };
        match taken {
            Ok(true) => {}
            Ok(false) => *log.skipped.entry(field).or_default() += 1,
            Err(error) => {
                log.damaged += 1;
                log.error.get_or_insert(match error {
                    MessageError::Message(error) => EventLogError::Message { offset, field, error },
                    MessageError::Column(column, error) => {
                        EventLogError::Column { offset, field, column, error }
                    }
                });
            }
        }
        if log.events() > MAX_EVENTS {
            let allowed = MAX_EVENTS;
            log.error.get_or_insert(EventLogError::TooManyEvents { offset, allowed });
            break;
        }
    }
    log.bytes = source.offset;
    log.finish();
    Ok(log)
}

/// The bytes of a file, and the position in it.
struct Source<R> {
    bytes: R,
    offset: u64,
}

impl<R: BufRead> Source<R> {
    fn byte(&mut self) -> Result<Option<u8>, EventLogError> {
        let mut byte = [0];
        let offset = self.offset;
        loop {
            return match self.bytes.read(&mut byte) {
                Ok(0) => Ok(None),
                Ok(_) => {
                    self.offset += 1;
                    Ok(Some(byte[0]))
                }
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(error) => Err(EventLogError::Read { offset, error }),
            };
        }
    }

    /// A variable-length integer; `None` at the end of the file.
    fn varint(&mut self) -> Result<Option<u64>, EventLogError> {
        let offset = self.offset;
        let mut value = 0u64;
        for index in 0..MAX_VARINT_BYTES {
            let Some(byte) = self.byte()? else {
                return if index == 0 { Ok(None) } else { Err(EventLogError::NoField { offset }) };
            };
            value |= u64::from(byte & 0x7f).checked_shl(7 * index).unwrap_or(0);
            if byte < 0x80 {
                return Ok(Some(value));
            }
        }
        Err(EventLogError::NoField { offset })
    }

    /// The number and the type of the next field; `None` at the end of the file.
    fn field(&mut self) -> Result<Option<(u32, u64)>, EventLogError> {
        let offset = self.offset;
        let Some(tag) = self.varint()? else { return Ok(None) };
        match (u32::try_from(tag >> 3), tag & 7) {
            (Ok(field @ 1..), kind @ (VARINT | FIXED64 | LENGTH | FIXED32)) => {
                Ok(Some((field, kind)))
            }
            _ => Err(EventLogError::NoField { offset }),
        }
    }

    /// Reads the content of a field that began at `offset`.
    fn message(
        &mut self,
        offset: u64,
        field: u32,
        kind: u64,
        message: &mut Vec<u8>,
    ) -> Result<(), EventLogError> {
        let length = match kind {
            FIXED64 => 8,
            FIXED32 => 4,
            _ => self.varint()?.ok_or(EventLogError::NoField { offset })?,
        };
        message.clear();
        if kind == VARINT {
            return Ok(());
        }
        if length > MAX_MESSAGE {
            let allowed = MAX_MESSAGE;
            return Err(EventLogError::TooLong { offset, field, length, allowed });
        }
        // Reads as much as there is, so that a length alone takes no memory.
        let begin = self.offset;
        let got = self.bytes.by_ref().take(length).read_to_end(message);
        self.offset = begin + message.len() as u64;
        got.map_err(|error| EventLogError::Read { offset: self.offset, error })?;
        match message.len() as u64 {
            got if got < length => Err(EventLogError::Cut { offset, field, length, got }),
            _ => Ok(()),
        }
    }
}
