//! The frames of a capture in the order of the file, one at a time.
//!
//! Sources: draft-ietf-opsawg-pcap-05 (pcap), draft-ietf-opsawg-pcapng-03 (pcapng).

use super::CaptureError;
use std::io::{self, Read};

/// The longest frame, bytes (libpcap `pcap-int.h`, MAXIMUM_SNAPLEN).
const MAX_FRAME: u32 = 262_144;
/// The longest description of an interface or section that is read; a longer one is refused. Our
/// choice: the descriptions that tools write have less than 1 kB.
const MAX_DESCRIPTION: u32 = 1 << 16;
/// The most interfaces of a section. Our choice.
const MAX_INTERFACES: usize = 4_096;

/// Types of blocks (draft-ietf-opsawg-pcapng-03 § 4).
const SECTION_HEADER: u32 = 0x0A0D_0D0A;
const INTERFACE: u32 = 1;
const OBSOLETE_PACKET: u32 = 2;
const ENHANCED_PACKET: u32 = 6;
/// The magic number of a section (§ 4.1).
const BYTE_ORDER: u32 = 0x1A2B_3C4D;
/// Options of an interface (§ 4.2): the unit of time stamps, and the offset to add, in seconds.
const OPTION_RESOLUTION: u16 = 9;
const OPTION_OFFSET: u16 = 14;

/// A captured frame.
#[derive(Debug)]
pub(super) struct Frame<'a> {
    /// Nanoseconds since 1970.
    pub(super) at: u64,
    /// The interface, counted over all sections.
    pub(super) interface: usize,
    /// The type of the link (the registry of draft-ietf-opsawg-pcaplinktype).
    pub(super) link: u32,
    /// The bytes that were kept.
    pub(super) data: &'a [u8],
}

/// The order of the bytes of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    Big,
    Little,
}

impl Order {
    fn u16(self, bytes: &[u8], at: usize) -> u16 {
        let bytes = [bytes[at], bytes[at + 1]];
        if self == Self::Big { u16::from_be_bytes(bytes) } else { u16::from_le_bytes(bytes) }
    }

    fn u32(self, bytes: &[u8], at: usize) -> u32 {
        let bytes = [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]];
        if self == Self::Big { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) }
    }
}

#[derive(Clone, Copy, Debug)]
struct Interface {
    link: u32,
    /// Units of time stamps per second; 0 if the unit is too short for the time since 1970.
    per_second: u64,
    /// Seconds.
    offset: i64,
}

impl Interface {
    /// Nanoseconds since 1970; times that do not fit are at the nearest end of the range.
    fn time(&self, stamp: u64) -> u64 {
        let per_second = u128::from(self.per_second.max(1));
        let nanos = u128::from(stamp) * 1_000_000_000 / per_second;
        let nanos = i128::try_from(nanos).unwrap_or(i128::MAX);
        let nanos = nanos.saturating_add(i128::from(self.offset) * 1_000_000_000);
        u64::try_from(nanos.max(0)).unwrap_or(u64::MAX)
    }
}

#[derive(Debug)]
enum Form {
    Pcap(Interface),
    /// The interfaces of the section, and the number of those of the sections before.
    Pcapng(Vec<Interface>, usize),
}

/// Reads a capture.
#[derive(Debug)]
pub(super) struct Frames<R> {
    bytes: R,
    /// The position in the file.
    pub(super) offset: u64,
    order: Order,
    form: Form,
    buffer: Vec<u8>,
}

/// What follows in the file.
enum Next {
    End,
    Skipped,
    Frame { at: u64, interface: usize, link: u32, data: std::ops::Range<usize> },
}

impl<R: Read> Frames<R> {
    /// Reads the header of the file.
    pub(super) fn new(bytes: R) -> Result<Self, CaptureError> {
        let (form, order) = (Form::Pcapng(Vec::new(), 0), Order::Little);
        let mut frames = Self { bytes, offset: 0, order, form, buffer: Vec::new() };
        if frames.read(4)? < 4 {
            return Err(CaptureError::NotACapture);
        }
        let magic = Order::Little.u32(&frames.buffer, 0);
        let (order, per_second) = match magic {
            SECTION_HEADER => {
                frames.section(0)?;
                return Ok(frames);
            }
            0xA1B2_C3D4 => (Order::Little, 1_000_000),
            0xD4C3_B2A1 => (Order::Big, 1_000_000),
            0xA1B2_3C4D => (Order::Little, 1_000_000_000),
            0x4D3C_B2A1 => (Order::Big, 1_000_000_000),
            _ => return Err(CaptureError::NotACapture),
        };
        frames.whole(0, 20)?;
        // The upper bits of the link type are other fields.
        let link = order.u32(&frames.buffer, 16) & 0xFFFF;
        frames.order = order;
        frames.form = Form::Pcap(Interface { link, per_second, offset: 0 });
        Ok(frames)
    }

    /// The next frame; `None` at the end of the file.
    pub(super) fn next(&mut self) -> Result<Option<Frame<'_>>, CaptureError> {
        loop {
            let next = match self.form {
                Form::Pcap(interface) => self.record(interface)?,
                Form::Pcapng(..) => self.block()?,
            };
            match next {
                Next::End => return Ok(None),
                Next::Skipped => {}
                Next::Frame { at, interface, link, data } => {
                    let data = &self.buffer[data];
                    return Ok(Some(Frame { at, interface, link, data }));
                }
            }
        }
    }

    /// A record of a pcap file: seconds, fraction, kept bytes, original bytes.
    fn record(&mut self, interface: Interface) -> Result<Next, CaptureError> {
        const HEADER: usize = 16;
        let offset = self.offset;
        match self.read(HEADER)? {
            0 => return Ok(Next::End),
            HEADER => {}
            _ => return Err(CaptureError::Cut { offset }),
        }
        let seconds = u64::from(self.order.u32(&self.buffer, 0));
        let fraction = u64::from(self.order.u32(&self.buffer, 4));
        let length = self.order.u32(&self.buffer, 8);
        if length > MAX_FRAME {
            return Err(CaptureError::TooLong { offset, length, allowed: MAX_FRAME });
        }
        let at = interface.time(seconds * interface.per_second + fraction);
        self.whole(offset, length as usize)?;
        Ok(Next::Frame { at, interface: 0, link: interface.link, data: 0..length as usize })
    }

    /// A block of a pcapng file.
    fn block(&mut self) -> Result<Next, CaptureError> {
        const HEADER: usize = 8;
        let offset = self.offset;
        match self.read(4)? {
            0 => return Ok(Next::End),
            4 => {}
            _ => return Err(CaptureError::Cut { offset }),
        }
        let kind = self.order.u32(&self.buffer, 0);
        if kind == SECTION_HEADER {
            self.section(offset)?;
            return Ok(Next::Skipped);
        }
        self.whole(offset, 4)?;
        let length = self.order.u32(&self.buffer, 0);
        let is_kept = [INTERFACE, OBSOLETE_PACKET, ENHANCED_PACKET].contains(&kind);
        let allowed = match kind {
            INTERFACE => MAX_DESCRIPTION,
            _ if is_kept => MAX_FRAME + MAX_DESCRIPTION,
            _ => u32::MAX,
        };
        if length < 12 || !length.is_multiple_of(4) {
            return Err(CaptureError::BadLength { offset, length });
        }
        if length > allowed {
            return Err(CaptureError::TooLong { offset, length, allowed });
        }
        let body = length as usize - HEADER;
        if !is_kept {
            self.skip(offset, body as u64)?;
            return Ok(Next::Skipped);
        }
        self.whole(offset, body)?;
        if self.order.u32(&self.buffer, body - 4) != length {
            return Err(CaptureError::BadLength { offset, length });
        }
        if kind == INTERFACE { self.interface(offset, body - 4) } else { self.packet(offset, kind) }
    }

    /// Reads the rest of the header of a section, whose type has been read.
    fn section(&mut self, offset: u64) -> Result<(), CaptureError> {
        self.whole(offset, 8)?;
        self.order = match Order::Big.u32(&self.buffer, 4) {
            BYTE_ORDER => Order::Big,
            magic if magic.swap_bytes() == BYTE_ORDER => Order::Little,
            _ => return Err(CaptureError::NoBlock { offset }),
        };
        let length = self.order.u32(&self.buffer, 0);
        if !(28..=MAX_DESCRIPTION).contains(&length) || !length.is_multiple_of(4) {
            return Err(CaptureError::BadLength { offset, length });
        }
        self.whole(offset, length as usize - 12)?;
        if let Form::Pcapng(interfaces, before) = &mut self.form {
            *before += interfaces.len();
            interfaces.clear();
        }
        Ok(())
    }

    /// The description of an interface: link type, 2 reserved bytes, snap length, options.
    fn interface(&mut self, offset: u64, end: usize) -> Result<Next, CaptureError> {
        let order = self.order;
        let body = &self.buffer[..end];
        if body.len() < 8 {
            return Err(CaptureError::NoBlock { offset });
        }
        let link = u32::from(order.u16(body, 0));
        // Microseconds, unless an option says otherwise (§ 4.2).
        let mut interface = Interface { link, per_second: 1_000_000, offset: 0 };
        let mut rest = &body[8..];
        while rest.len() >= 4 {
            let (code, length) = (order.u16(rest, 0), usize::from(order.u16(rest, 2)));
            let Some(value) = rest.get(4..4 + length).filter(|_| code != 0) else { break };
            match (code, value) {
                (OPTION_RESOLUTION, [resolution]) => {
                    let exponent = u32::from(resolution & 0x7f);
                    let base = if resolution & 0x80 == 0 { 10u64 } else { 2 };
                    interface.per_second = base.checked_pow(exponent).unwrap_or(0);
                }
                (OPTION_OFFSET, &[a, b, c, d, e, f, g, h]) => {
                    let bytes = [a, b, c, d, e, f, g, h];
                    interface.offset = match order {
                        Order::Big => i64::from_be_bytes(bytes),
                        Order::Little => i64::from_le_bytes(bytes),
                    };
                }
                _ => {}
            }
            rest = rest.get(4 + length.next_multiple_of(4)..).unwrap_or_default();
        }
        if interface.per_second == 0 {
            return Err(CaptureError::NoBlock { offset });
        }
        if let Form::Pcapng(interfaces, _) = &mut self.form {
            if interfaces.len() == MAX_INTERFACES {
                return Err(CaptureError::TooManyInterfaces { offset, allowed: MAX_INTERFACES });
            }
            interfaces.push(interface);
        }
        Ok(Next::Skipped)
    }

    /// A packet: interface, time, kept bytes, original bytes, data, options.
    fn packet(&mut self, offset: u64, kind: u32) -> Result<Next, CaptureError> {
        const HEADER: usize = 20;
        let body = &self.buffer;
        if body.len() < HEADER + 4 {
            return Err(CaptureError::NoBlock { offset });
        }
        let index = match kind {
            OBSOLETE_PACKET => u32::from(self.order.u16(body, 0)),
            _ => self.order.u32(body, 0),
        };
        let (high, low) = (self.order.u32(body, 4), self.order.u32(body, 8));
        let length = self.order.u32(body, 12) as usize;
        let Form::Pcapng(interfaces, before) = &self.form else { return Ok(Next::Skipped) };
        let Some(interface) = interfaces.get(index as usize) else {
            return Err(CaptureError::NoInterface { offset, interface: index });
        };
        if length > body.len() - HEADER - 4 {
            return Err(CaptureError::NoBlock { offset });
        }
        let at = interface.time(u64::from(high) << 32 | u64::from(low));
        let number = before + index as usize;
        let data = HEADER..HEADER + length;
        Ok(Next::Frame { at, interface: number, link: interface.link, data })
    }

    /// Reads up to `count` bytes into the buffer and returns how many there are.
    fn read(&mut self, count: usize) -> Result<usize, CaptureError> {
        self.buffer.clear();
        let offset = self.offset;
        let got = self.bytes.by_ref().take(count as u64).read_to_end(&mut self.buffer);
        self.offset += self.buffer.len() as u64;
        got.map_err(|error| CaptureError::Read { offset, error })
    }

    /// Reads `count` bytes of what began at `offset`.
    fn whole(&mut self, offset: u64, count: usize) -> Result<(), CaptureError> {
        if self.read(count)? == count { Ok(()) } else { Err(CaptureError::Cut { offset }) }
    }

    fn skip(&mut self, offset: u64, count: u64) -> Result<(), CaptureError> {
        let skipped = io::copy(&mut self.bytes.by_ref().take(count), &mut io::sink());
        let skipped = skipped.map_err(|error| CaptureError::Read { offset, error })?;
        self.offset += skipped;
        if skipped == count { Ok(()) } else { Err(CaptureError::Cut { offset }) }
    }
}
