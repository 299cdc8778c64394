//! The errors of reading a log.

use super::DeltaError;

/// Why a log could not be read, or not completely. Offsets are bytes from the begin of the file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EventLogError {
    /// The file could not be read.
    #[error("byte {offset}: {error}")]
    Read {
        /// The position.
        offset: u64,
        /// The reason.
        #[source]
        error: std::io::Error,
    },
    /// The file does not begin as a log.
    #[error(
        "byte 0: this is not an RtcEventLog, which begins with an event of the legacy form (field \
         1) or with the begin of the log (field 16); record one with 'weir measure --event-log DIR'"
    )]
    NotALog,
    /// A message has no valid beginning.
    #[error(
        "byte {offset}: no field begins here; a message begins with the number of its field and \
         its length"
    )]
    NoField {
        /// The position.
        offset: u64,
    },
    /// The file ends within a message.
    #[error(
        "byte {offset}: the file ends within a message of field {field}: {got} of {length} bytes"
    )]
    Cut {
        /// The beginning of the message.
        offset: u64,
        /// The field.
        field: u32,
        /// Its length.
        length: u64,
        /// Bytes that are there.
        got: u64,
    },
    /// The length of a message is too large.
    #[error("byte {offset}: field {field} has {length} bytes; at most {allowed} are allowed")]
    TooLong {
        /// The beginning of the message.
        offset: u64,
        /// The field.
        field: u32,
        /// Its length.
        length: u64,
        /// The greatest length.
        allowed: u64,
    },
    /// A message is not in the form of its field.
    #[error("byte {offset}: field {field}: {error}")]
    Message {
        /// The beginning of the message.
        offset: u64,
        /// The field.
        field: u32,
        /// The reason.
        #[source]
        error: prost::DecodeError,
    },
    /// A column of a message is damaged.
    #[error("byte {offset}: field {field}: {column}: {error}")]
    Column {
        /// The beginning of the message.
        offset: u64,
        /// The field.
        field: u32,
        /// The column.
        column: &'static str,
        /// The reason.
        #[source]
        error: DeltaError,
    },
    /// The log has more events than are kept.
    #[error("byte {offset}: more than {allowed} events; cut the log into parts")]
    TooManyEvents {
        /// The beginning of the message that has too many.
        offset: u64,
        /// The greatest number.
        allowed: usize,
    },
}
