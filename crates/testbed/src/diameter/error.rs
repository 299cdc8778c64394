/// Why bytes are not a Diameter message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// The version is not 1 (RFC 6733 § 3).
    #[error("version {0}; RFC 6733 has version 1")]
    Version(u8),
    /// The message length is impossible: it is below the header's, above the limit, or not a
    /// multiple of four.
    #[error("a message length of {0} bytes; it must be a multiple of 4 from 20 to {max}", max = super::MAX_MESSAGE)]
    MessageLength(u32),
    /// There are fewer or more bytes than the message length says.
    #[error("{found} bytes instead of the message length of {length}")]
    Truncated {
        /// The length in the header.
        length: u32,
        /// The bytes.
        found: usize,
    },
    /// A reserved bit of the command flags or of AVP flags is set.
    #[error("the reserved flags {0:#04x} are set")]
    Flags(u8),
    /// A flag that the message's other flags exclude is set: an answer that may be retransmitted,
    /// or a request that reports an error.
    #[error("the command flags {0:#04x} contradict each other")]
    Contradiction(u8),
    /// An AVP is shorter than its header or longer than what contains it.
    #[error("AVP {code}: a length of {length} bytes, with {room} bytes left")]
    AvpLength {
        /// The AVP's code.
        code: u32,
        /// The length in its header.
        length: u32,
        /// The bytes from its start to the end of what contains it.
        room: usize,
    },
    /// The padding of an AVP is not zero (RFC 6733 § 4).
    #[error("AVP {0}: its padding is not zero")]
    Padding(u32),
    /// The value of an AVP does not have the length or the form of its type.
    #[error("AVP {code}: {length} bytes are not {expected}")]
    Value {
        /// The AVP's code.
        code: u32,
        /// The length of the value.
        length: usize,
        /// What it should be.
        expected: &'static str,
    },
    /// A mandatory AVP is missing.
    #[error("AVP {0} is missing")]
    Missing(u32),
}
