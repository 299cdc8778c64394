//! The errors of reading a capture.

/// Why a capture could not be read, or not completely. Offsets are bytes from the begin of the
/// file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CaptureError {
    /// The file could not be read.
    #[error("byte {offset}: {error}")]
    Read {
        /// The position.
        offset: u64,
        /// The reason.
        #[source]
        error: std::io::Error,
    },
    /// The file does not begin as a capture.
    #[error("byte 0: this is neither pcap nor pcapng; record one with 'tcpdump -w call.pcap udp'")]
    NotACapture,
    /// The file ends within a record.
    #[error("byte {offset}: the file ends within the record that begins here")]
    Cut {
        /// The beginning of the record.
        offset: u64,
    },
    /// A length is impossible.
    #[error("byte {offset}: no record begins here: a length of {length} bytes is not possible")]
    BadLength {
        /// The beginning of the record.
        offset: u64,
        /// Its length.
        length: u32,
    },
    /// A record is too long.
    #[error("byte {offset}: a record has {length} bytes; at most {allowed} are allowed")]
    TooLong {
        /// The beginning of the record.
        offset: u64,
        /// Its length.
        length: u32,
        /// The greatest length.
        allowed: u32,
    },
    /// A block is not in the form of its type.
    #[error("byte {offset}: the block that begins here is damaged")]
    NoBlock {
        /// The beginning of the block.
        offset: u64,
    },
    /// A packet names an interface that was not described.
    #[error("byte {offset}: a packet of interface {interface}, which the file does not describe")]
    NoInterface {
        /// The beginning of the block.
        offset: u64,
        /// The number of the interface.
        interface: u32,
    },
    /// There are too many interfaces.
    #[error("byte {offset}: more than {allowed} interfaces")]
    TooManyInterfaces {
        /// The beginning of the block.
        offset: u64,
        /// The greatest number.
        allowed: usize,
    },
    /// The capture has more packets of calls than are kept.
    #[error("byte {offset}: more than {allowed} RTP and RTCP packets; cut the capture into parts")]
    TooManyPackets {
        /// The position.
        offset: u64,
        /// The greatest number.
        allowed: usize,
    },
    /// No RTP was found.
    #[error("no RTP packets among {frames} frames; capture the UDP packets of the call")]
    NoRtp {
        /// The frames of the file.
        frames: u64,
    },
}
