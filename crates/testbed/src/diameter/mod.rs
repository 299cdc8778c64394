//! Diameter (RFC 6733): the messages of the base protocol and of the interfaces Cx (3GPP TS 29.228,
//! 29.229) and Rx (29.214) that an IMS with one P-, I- and S-CSCF sends.
//!
//! A codec of our own, because it is small (a header of 20 bytes, AVPs padded to four), and because
//! the doubles that use it must be strict. The alternatives that were tried or read: the Python
//! package `python-diameter` 0.9.0 needs five workarounds for these nine commands and a second
//! process and language; the crate `diameter` reads AVPs by a dictionary that lacks those of Cx and
//! Rx, and discards what the dictionary does not know instead of refusing it.

mod avp;
mod dictionary;
mod error;
mod message;

pub use avp::Avp;
pub use dictionary::{Application, Command, avp as code, result};
pub use error::DecodeError;
pub use message::{MAX_MESSAGE, Message, frame_length};

/// The vendor number of 3GPP (IANA, private enterprise numbers).
pub const VENDOR_3GPP: u32 = 10_415;
/// The vendor number of ETSI (IANA, private enterprise numbers).
pub const VENDOR_ETSI: u32 = 13_019;
