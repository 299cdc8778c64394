//! The times at which packets were on the wire, in place of those at which they were logged.
//!
//! libwebrtc logs a packet before it passes it to the socket (`modules/rtp_rtcp/source/
//! rtp_sender_egress.cc`, SendPacket), while its controller uses the time that the socket tells
//! (`call/rtp_transport_controller_send.cc`, OnSentPacket). In a browser another process owns the
//! socket, so that the two differ by milliseconds when the machine is busy.

use crate::clock::least_line;
use crate::event_log::{EventLog, RtpPacket};
use std::collections::{HashMap, VecDeque};
use units::{Duration, Time};

/// What a capture told about the times of a log.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SendTimes {
    /// Packets of the log that the capture has, and whose times are now those of the capture.
    pub found: usize,
    /// Sent packets of the log.
    pub packets: usize,
    /// The median time between the log of a packet and the wire.
    pub median_delay: Duration,
    /// The 95th percentile of these times.
    pub p95_delay: Duration,
}

/// Why a capture tells nothing about a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the capture has none of the packets that the log says were sent; give a capture of the same \
     call, at the endpoint of the log"
)]
pub struct NotOfThisLog;

/// Gives the sent packets of a log the times at which a capture at the same endpoint saw them. The
/// clocks of both are made equal so that no packet was on the wire before it was logged; a packet
/// that the capture does not have is moved by the median of the others.
///
/// # Errors
/// If no packet of the log is in the capture.
pub fn take_send_times(log: &mut EventLog, capture: &EventLog) -> Result<SendTimes, NotOfThisLog> {
    let mut seen: HashMap<(u32, u16, u32), VecDeque<Time>> = HashMap::new();
    for packet in &capture.sent {
        seen.entry(key(packet)).or_default().push_back(packet.at);
    }
    let wire: Vec<Option<Time>> = log
        .sent
        .iter()
        .map(|packet| seen.get_mut(&key(packet)).and_then(VecDeque::pop_front))
        .collect();
    let pairs = log.sent.iter().zip(&wire);
    let differences: Vec<(f64, f64)> = pairs
        .filter_map(|(packet, wire)| {
            let logged = packet.at.as_secs_f64();
            Some((logged, (*wire)?.as_secs_f64() - logged))
        })
        .collect();
    let (offset, drift) = least_line(&differences).ok_or(NotOfThisLog)?;
    let delay = |&(logged, difference): &(f64, f64)| difference - offset - drift * logged;
    let mut delays: Vec<f64> = differences.iter().map(delay).collect();
    delays.sort_by(f64::total_cmp);
    let quantile = |share: usize| {
        let index = (delays.len() - 1) * share / 100;
        Duration::from_secs_f64(delays[index].max(0.0))
    };
    let (median_delay, p95_delay) = (quantile(50), quantile(95));
    for (packet, wire) in log.sent.iter_mut().zip(wire) {
        packet.at = match wire {
            Some(wire) => {
                let logged = packet.at.as_secs_f64();
                let on_log = wire.as_secs_f64() - offset - drift * logged;
                Time::ZERO + Duration::from_secs_f64(on_log.max(0.0))
            }
            None => packet.at + median_delay,
        };
    }
    log.sent.sort_by_key(|packet| packet.at);
    Ok(SendTimes { found: differences.len(), packets: log.sent.len(), median_delay, p95_delay })
}

/// What identifies a packet in both. A packet that was sent again unchanged is there twice.
fn key(packet: &RtpPacket) -> (u32, u16, u32) {
    (packet.ssrc, packet.sequence, packet.rtp_timestamp)
}
