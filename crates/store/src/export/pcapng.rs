//! Packet captures for Wireshark (pcapng): every packet at the interfaces of both hosts, with IP,
//! UDP, RTP, RTCP and TCP headers.
//!
//! Host n, from 0, has the address 10.0.0.(n+1). The payload is zeros, because simulated frames
//! have a size but no content.

use super::tcp;
use super::wire::{encode_rtcp, encode_rtp};
use super::{ExportError, PacketError};
use etherparse::{IpDscp, IpEcn, PacketBuilder};
use net::{Ecn, HostId, Packet};
use pcap_file::DataLink;
use pcap_file::pcapng::PcapNgWriter;
use pcap_file::pcapng::blocks::enhanced_packet::EnhancedPacketBlock;
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption,
};
use sim::tcp::Segment;
use sim::{Content, Tap};
use std::borrow::Cow;
use std::io::Write;
use units::Time;

/// Time stamps in units of 10^-9 s (pcapng, option if_tsresol).
const NANOSECONDS: u8 = 9;
/// The TTL of every packet. The simulated network does not decrement it.
const TIME_TO_LIVE: u8 = 64;

/// The lowest channel number that a client may bind (RFC 8656 § 12).
const FIRST_CHANNEL: u16 = 0x4000;

/// Writes a capture during a run.
pub struct Capture<W: Write> {
    writer: PcapNgWriter<W>,
    /// The first error. After it no packet is written.
    error: Option<ExportError>,
}

impl<W: Write> Capture<W> {
    /// Begins a capture with one interface per host.
    ///
    /// # Errors
    /// If the header cannot be written.
    pub fn new(output: W, hosts: &[String]) -> Result<Self, ExportError> {
        let mut writer = PcapNgWriter::new(output)?;
        for host in hosts {
            let options = vec![
                InterfaceDescriptionOption::IfName(Cow::Owned(host.clone())),
                InterfaceDescriptionOption::IfTsResol(NANOSECONDS),
            ];
            let interface =
                InterfaceDescriptionBlock { linktype: DataLink::RAW, snaplen: 0, options };
            writer.write_pcapng_block(interface)?;
        }
        Ok(Self { writer, error: None })
    }

    /// Ends the capture and returns the output.
    ///
    /// # Errors
    /// The first error of writing.
    pub fn finish(self) -> Result<W, ExportError> {
        match self.error {
            Some(error) => Err(error),
            None => Ok(self.writer.into_inner()),
        }
    }

    fn write(
        &mut self,
        at: Time,
        host: HostId,
        packet: &Packet,
        content: Content<'_>,
    ) -> Result<(), ExportError> {
        let bytes = match content {
            Content::Rtp(rtp) => encode_rtp(rtp).and_then(|bytes| media(packet, &bytes)),
            Content::Rtcp(rtcp) => encode_rtcp(rtcp).and_then(|bytes| media(packet, &bytes)),
            Content::Tcp(tcp) => segment(packet, tcp),
        }?;
        self.ip(at, u32::from(host.0), bytes)
    }

    /// Writes an IP packet. `at` is the time since 1970.
    ///
    /// # Errors
    /// If the packet cannot be written.
    pub fn ip(&mut self, at: Time, interface: u32, bytes: Vec<u8>) -> Result<(), ExportError> {
        let block = EnhancedPacketBlock {
            interface_id: interface,
            timestamp: std::time::Duration::from_nanos(at.as_nanos()),
            original_len: u32::try_from(bytes.len()).map_err(PacketError::from)?,
            data: Cow::Owned(bytes),
            options: Vec::new(),
        };
        Ok(self.writer.write_pcapng_block(block).map(drop)?)
    }
}

impl<W: Write + Send> Tap for Capture<W> {
    fn packet(&mut self, at: Time, host: HostId, packet: &Packet, content: Content<'_>) {
        if self.error.is_none() {
            self.error = self.write(at, host, packet, content).err();
        }
    }
}

/// A packet of a call. Between a relay and its client, the payload is in a ChannelData message
/// (RFC 8656 § 12.4).
fn media(packet: &Packet, payload: &[u8]) -> Result<Vec<u8>, PacketError> {
    if sim::relay::framing(packet.flow) == units::Bytes::ZERO {
        return datagram(packet, payload);
    }
    let length = u16::try_from(payload.len())?;
    datagram(packet, &[&FIRST_CHANNEL.to_be_bytes(), &length.to_be_bytes(), payload].concat())
}

fn datagram(packet: &Packet, payload: &[u8]) -> Result<Vec<u8>, PacketError> {
    let builder = PacketBuilder::ip(ip_header(packet, etherparse::IpNumber::UDP)?)
        .udp(packet.flow.src_port, packet.flow.dst_port);
    let mut bytes = Vec::with_capacity(builder.size(payload.len()));
    builder.write(&mut bytes, payload)?;
    Ok(bytes)
}

fn segment(packet: &Packet, segment: &Segment) -> Result<Vec<u8>, PacketError> {
    let builder = PacketBuilder::ip(ip_header(packet, etherparse::IpNumber::TCP)?)
        .tcp_header(tcp::header(packet.flow, segment)?);
    let payload = vec![0; usize::try_from(segment.payload.get())?];
    let mut bytes = Vec::with_capacity(builder.size(payload.len()));
    builder.write(&mut bytes, &payload)?;
    Ok(bytes)
}

fn ip_header(
    packet: &Packet,
    protocol: etherparse::IpNumber,
) -> Result<etherparse::IpHeaders, PacketError> {
    let [src, dst] = [packet.flow.src, packet.flow.dst].map(|host| host.address().octets());
    let mut header = etherparse::Ipv4Header::new(0, TIME_TO_LIVE, protocol, src, dst)?;
    header.dscp = IpDscp::try_new(packet.dscp.0)?;
    header.ecn = match packet.ecn {
        Ecn::NotEct => IpEcn::ZERO,
        Ecn::Ect1 => IpEcn::ONE,
        Ecn::Ect0 => IpEcn::TWO,
        Ecn::Ce => IpEcn::THREE,
    };
    Ok(etherparse::IpHeaders::Ipv4(header, Default::default()))
}
