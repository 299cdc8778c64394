//! Messages (RFC 6733 § 3).

use super::{Application, Avp, Command, DecodeError, code, result};

/// The header (RFC 6733 § 3).
const HEADER: usize = 20;
const VERSION: u8 = 1;
const FLAG_REQUEST: u8 = 0x80;
const FLAG_PROXIABLE: u8 = 0x40;
const FLAG_ERROR: u8 = 0x20;
const FLAG_RETRANSMITTED: u8 = 0x10;
/// The longest message that is accepted, bytes. A message of these interfaces has at most a few
/// thousand: an AAR with eight media components about 2 kB.
pub const MAX_MESSAGE: u32 = 65_536;

/// A message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Whether it is a request (flag R).
    pub request: bool,
    /// Whether agents may forward it (flag P).
    pub proxiable: bool,
    /// Whether it is an answer that reports a protocol error (flag E).
    pub error: bool,
    /// Whether it may be a retransmission (flag T).
    pub retransmitted: bool,
    /// The command code, 24 bits.
    pub command: u32,
    /// The application.
    pub application: u32,
    /// Matches an answer with its request on a connection.
    pub hop_by_hop: u32,
    /// Identifies a request end to end.
    pub end_to_end: u32,
    /// The AVPs, in their order.
    pub avps: Vec<Avp>,
}

/// The length of the message that begins with these bytes, from its version and length.
///
/// # Errors
/// If a message cannot begin with them.
pub fn frame_length(start: [u8; 4]) -> Result<usize, DecodeError> {
    let [version, high, middle, low] = start;
    if version != VERSION {
        return Err(DecodeError::Version(version));
    }
    let length = u32::from_be_bytes([0, high, middle, low]);
    if length < HEADER as u32 || length > MAX_MESSAGE || !length.is_multiple_of(4) {
        return Err(DecodeError::MessageLength(length));
    }
    Ok(length as usize)
}

impl Message {
    /// A request without AVPs.
    #[must_use]
    pub fn request(command: Command, application: Application, number: u32) -> Self {
        Self {
            request: true,
            proxiable: application != Application::Base,
            error: false,
            retransmitted: false,
            command: command.code(),
            application: application.id(),
            hop_by_hop: number,
            end_to_end: number,
            avps: Vec::new(),
        }
    }

    /// The answer to this request: with the same command, application, numbers and session, and
    /// with these AVPs (RFC 6733 § 6.2).
    #[must_use]
    pub fn answer(&self, avps: Vec<Avp>) -> Self {
        let session = self.find(code::SESSION_ID, None).cloned();
        Self {
            request: false,
            error: false,
            retransmitted: false,
            avps: session.into_iter().chain(avps).collect(),
            ..self.clone()
        }
    }

    /// The answer that reports a protocol error or a failure by its result code (RFC 6733 § 7.1).
    #[must_use]
    pub fn failure(&self, host: &str, realm: &str, result_code: u32, failed: Option<Avp>) -> Self {
        let mut avps = vec![
            Avp::number(code::RESULT_CODE, result_code),
            Avp::text(code::ORIGIN_HOST, host),
            Avp::text(code::ORIGIN_REALM, realm),
        ];
        avps.extend(failed.map(|avp| Avp::group(code::FAILED_AVP, None, &[avp])));
        let error = result::is_protocol_error(result_code);
        Self { error, ..self.answer(avps) }
    }

    /// The first AVP with this code and vendor.
    #[must_use]
    pub fn find(&self, code: u32, vendor: Option<u32>) -> Option<&Avp> {
        self.avps.iter().find(|avp| avp.is(code, vendor))
    }

    /// The first AVP with this code and vendor.
    ///
    /// # Errors
    /// If there is none.
    pub fn required(&self, code: u32, vendor: Option<u32>) -> Result<&Avp, DecodeError> {
        self.find(code, vendor).ok_or(DecodeError::Missing(code))
    }

    /// Its bytes.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut out = vec![VERSION, 0, 0, 0];
        let flag = |set, flag| if set { flag } else { 0 };
        let flags = flag(self.request, FLAG_REQUEST)
            | flag(self.proxiable, FLAG_PROXIABLE)
            | flag(self.error, FLAG_ERROR)
            | flag(self.retransmitted, FLAG_RETRANSMITTED);
        out.push(flags);
        out.extend(&self.command.to_be_bytes()[1..]);
        for number in [self.application, self.hop_by_hop, self.end_to_end] {
            out.extend(number.to_be_bytes());
        }
        self.avps.iter().for_each(|avp| avp.encode(&mut out));
        let length = u32::try_from(out.len()).unwrap_or(u32::MAX).to_be_bytes();
        out[1..4].copy_from_slice(&length[1..]);
        out
    }

    /// Reads a whole message.
    ///
    /// # Errors
    /// If the bytes are not exactly one message.
    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let truncated = |length| DecodeError::Truncated { length, found: bytes.len() };
        let start = bytes.first_chunk().ok_or(truncated(HEADER as u32))?;
        let length = frame_length(*start)?;
        let (header, body) = bytes.split_first_chunk().ok_or(truncated(length as u32))?;
        if bytes.len() != length {
            return Err(truncated(length as u32));
        }
        let header: &[u8; HEADER] = header;
        let number =
            |at: usize| header[at..].first_chunk().map_or(0, |bytes| u32::from_be_bytes(*bytes));
        let flags = header[4];
        if flags & !(FLAG_REQUEST | FLAG_PROXIABLE | FLAG_ERROR | FLAG_RETRANSMITTED) != 0 {
            return Err(DecodeError::Flags(flags));
        }
        let request = flags & FLAG_REQUEST != 0;
        let (error, retransmitted) = (flags & FLAG_ERROR != 0, flags & FLAG_RETRANSMITTED != 0);
        // RFC 6733 § 3: E must not be set in requests, nor T in answers.
        if request && error || !request && retransmitted {
            return Err(DecodeError::Contradiction(flags));
        }
        Ok(Self {
            request,
            proxiable: flags & FLAG_PROXIABLE != 0,
            error,
            retransmitted,
            command: number(4) & 0xff_ffff,
            application: number(8),
            hop_by_hop: number(12),
            end_to_end: number(16),
            avps: Avp::decode_all(body)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dwr() -> Message {
        let mut message = Message::request(Command::DeviceWatchdog, Application::Base, 0x0102_0304);
        message.avps.push(Avp::text(code::ORIGIN_HOST, "icscf"));
        message
    }

    #[test]
    fn a_message_has_a_header_of_twenty_bytes() {
        let bytes = dwr().encode();
        assert_eq!(bytes[..20], [1, 0, 0, 36, 0x80, 0, 1, 24, 0, 0, 0, 0, 1, 2, 3, 4, 1, 2, 3, 4]);
        assert_eq!(Message::decode(&bytes), Ok(dwr()));
        assert_eq!(frame_length([1, 0, 0, 36]), Ok(36));
    }

    #[test]
    fn an_answer_keeps_the_numbers_and_the_session() {
        let mut request = Message::request(Command::UserAuthorization, Application::Cx, 7);
        request.avps.push(Avp::text(code::SESSION_ID, "icscf;1;2"));
        let answer = request.answer(vec![Avp::number(code::RESULT_CODE, result::SUCCESS)]);
        assert!(!answer.request && answer.proxiable);
        assert_eq!((answer.hop_by_hop, answer.application), (7, 16_777_216));
        assert_eq!(answer.avps[0].as_text(), Ok("icscf;1;2"));
        let failure = request.failure("hss", "ims.test", result::COMMAND_UNSUPPORTED, None);
        assert!(failure.error);
        assert!(!request.failure("hss", "ims.test", result::MISSING_AVP, None).error);
    }

    #[test]
    fn malformed_messages_are_refused() {
        let good = dwr().encode();
        let changed = |at: usize, value: u8| {
            let mut bytes = good.clone();
            bytes[at] = value;
            Message::decode(&bytes).unwrap_err()
        };
        assert_eq!(changed(0, 2), DecodeError::Version(2));
        assert_eq!(changed(3, 37), DecodeError::MessageLength(37));
        assert_eq!(changed(3, 16), DecodeError::MessageLength(16));
        assert_eq!(changed(1, 2), DecodeError::MessageLength(131_108));
        assert_eq!(changed(3, 40), DecodeError::Truncated { length: 40, found: 36 });
        assert_eq!(changed(4, 0x81), DecodeError::Flags(0x81));
        assert_eq!(changed(4, 0xa0), DecodeError::Contradiction(0xa0));
        assert_eq!(changed(4, 0x10), DecodeError::Contradiction(0x10));
        assert!(Message::decode(&good[..19]).is_err() && Message::decode(&[]).is_err());
    }
}
