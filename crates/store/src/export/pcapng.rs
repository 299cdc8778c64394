//! Captures that Wireshark opens: every packet at both hosts' interfaces, with real IP, UDP, RTP,
//! RTCP and TCP.
//!
//! Host number n has the address 10.0.0.(n+1). Payload is zeros: frames have sizes, not pictures.

use super::ExportError;
use super::tcp;
use super::wire::{encode_rtcp, encode_rtp};
use etherparse::{IpDscp, IpEcn, PacketBuilder};
use net::{Ecn, HostId, Packet};
use pcap_file::pcapng::PcapNgWriter;
use pcap_file::pcapng::blocks::enhanced_packet::EnhancedPacketBlock;
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption,
};
use pcap_file::{DataLink, PcapError};
use sim::tcp::Segment;
use sim::{Content, Tap};
use std::borrow::Cow;
use std::io::Write;
use units::Time;

/// Time stamps in nanoseconds (pcapng, option if_tsresol: 10^-9).
const NANOSECONDS: u8 = 9;
/// Hops left; nothing here routes.
const TIME_TO_LIVE: u8 = 64;

/// The first channel that a client may bind (RFC 8656 § 12).
const FIRST_CHANNEL: u16 = 0x4000;

/// Writes a capture as the run goes on.
pub struct Capture<W: Write> {
    writer: PcapNgWriter<W>,
    error: Option<ExportError>,
}

impl<W: Write> Capture<W> {
    /// Begins a capture with an interface for each host.
    ///
    /// # Errors
    /// When the beginning cannot be written.
    pub fn new(output: W, hosts: &[String]) -> Result<Self, ExportError> {
        let mut writer = PcapNgWriter::new(output).map_err(failed)?;
        for host in hosts {
            let options = vec![
                InterfaceDescriptionOption::IfName(Cow::Owned(host.clone())),
                InterfaceDescriptionOption::IfTsResol(NANOSECONDS),
            ];
            let interface =
                InterfaceDescriptionBlock { linktype: DataLink::RAW, snaplen: 0, options };
            writer.write_pcapng_block(interface).map_err(failed)?;
        }
        Ok(Self { writer, error: None })
    }

    /// Ends the capture and gives the output back.
    ///
    /// # Errors
    /// The first error that writing met.
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
            Content::Rtp(rtp) => {
                media(packet, &encode_rtp(rtp).map_err(|error| error.to_string())?)
            }
            Content::Rtcp(rtcp) => {
                media(packet, &encode_rtcp(rtcp).map_err(|error| error.to_string())?)
            }
            Content::Tcp(tcp) => segment(packet, tcp),
        }?;
        self.ip(at, u32::from(host.0), bytes)
    }

    /// Writes an IP packet, at a time since 1970.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn ip(&mut self, at: Time, interface: u32, bytes: Vec<u8>) -> Result<(), ExportError> {
        let block = EnhancedPacketBlock {
            interface_id: interface,
            timestamp: std::time::Duration::from_nanos(at.as_nanos()),
            original_len: u32::try_from(bytes.len()).map_err(|error| error.to_string())?,
            data: Cow::Owned(bytes),
            options: Vec::new(),
        };
        self.writer.write_pcapng_block(block).map(drop).map_err(failed)
    }
}

impl<W: Write> Tap for Capture<W> {
    fn packet(&mut self, at: Time, host: HostId, packet: &Packet, content: Content<'_>) {
        if self.error.is_none() {
            self.error = self.write(at, host, packet, content).err();
        }
    }
}

/// What the writer met.
fn failed(error: PcapError) -> ExportError {
    match error {
        PcapError::IoError(error) => error.into(),
        other => other.to_string().into(),
    }
}

/// Media of a call, between a relay and its client in a ChannelData message (RFC 8656 § 12.4).
fn media(packet: &Packet, payload: &[u8]) -> Result<Vec<u8>, String> {
    if sim::relay::framing(packet.flow) == units::Bytes::ZERO {
        return datagram(packet, payload);
    }
    let length = u16::try_from(payload.len()).map_err(|error| error.to_string())?;
    datagram(packet, &[&FIRST_CHANNEL.to_be_bytes(), &length.to_be_bytes(), payload].concat())
}

fn datagram(packet: &Packet, payload: &[u8]) -> Result<Vec<u8>, String> {
    let builder = PacketBuilder::ip(ip_header(packet, etherparse::IpNumber::UDP)?)
        .udp(packet.flow.src_port, packet.flow.dst_port);
    let mut bytes = Vec::with_capacity(builder.size(payload.len()));
    builder.write(&mut bytes, payload).map_err(|error| error.to_string())?;
    Ok(bytes)
}

fn segment(packet: &Packet, segment: &Segment) -> Result<Vec<u8>, String> {
    let builder = PacketBuilder::ip(ip_header(packet, etherparse::IpNumber::TCP)?)
        .tcp_header(tcp::header(packet.flow, segment)?);
    let payload =
        vec![0; usize::try_from(segment.payload.get()).map_err(|error| error.to_string())?];
    let mut bytes = Vec::with_capacity(builder.size(payload.len()));
    builder.write(&mut bytes, &payload).map_err(|error| error.to_string())?;
    Ok(bytes)
}

fn ip_header(
    packet: &Packet,
    protocol: etherparse::IpNumber,
) -> Result<etherparse::IpHeaders, String> {
    let [src, dst] = [packet.flow.src, packet.flow.dst].map(|host| host.address().octets());
    let mut header = etherparse::Ipv4Header::new(0, TIME_TO_LIVE, protocol, src, dst)
        .map_err(|error| error.to_string())?;
    header.dscp = IpDscp::try_new(packet.dscp.0).map_err(|error| error.to_string())?;
    header.ecn = match packet.ecn {
        Ecn::NotEct => IpEcn::ZERO,
        Ecn::Ect1 => IpEcn::ONE,
        Ecn::Ect0 => IpEcn::TWO,
        Ecn::Ce => IpEcn::THREE,
    };
    Ok(etherparse::IpHeaders::Ipv4(header, Default::default()))
}
