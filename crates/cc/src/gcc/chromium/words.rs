//! The settings of the profiles 'as run' whose value is a word.

use super::super::words::words;
use crate::ArrivedPacket;
use units::{Bytes, Duration};

words! {
    /// The clock of the sending times.
    pub enum Clock {
        /// The abs-send-time header extension: seconds with 18 fractional bits, 24 bits in all.
        AbsSendTime = "abs-send-time",
        /// The RTP timestamp at 90 kHz: all packets of a frame were sent at once.
        RtpTimestamp = "rtp-timestamp",
    }
}

/// Fractional bits of a shifted abs-send-time (libwebrtc
/// `remote_bitrate_estimator_abs_send_time.cc`: 18 + 8).
const FRACTION: u32 = 26;
/// Ticks of an RTP timestamp per millisecond (RFC 3551 § 5: 90 kHz for video).
const RTP_TICKS: u32 = 90;

impl Clock {
    /// Bytes of a packet without the RTP header of 12 bytes (RFC 3550 § 5.1) and the header
    /// extension for abs-send-time, of 8 bytes (RFC 8285 § 4.2).
    pub(super) fn payload(self, size: Bytes) -> u64 {
        let header = match self {
            Self::AbsSendTime => 20,
            Self::RtpTimestamp => 12,
        };
        size.saturating_sub(Bytes::new(header)).get()
    }

    /// The sending time of a packet in ticks. The sender's clock has steps of `step`.
    pub(super) fn timestamp(self, packet: &ArrivedPacket, step: Duration) -> u32 {
        match self {
            Self::AbsSendTime => {
                let nanos = packet.sent.as_nanos();
                let read = u128::from(nanos - nanos % step.as_nanos().max(1));
                (((read << (FRACTION - 8)) / 1_000_000_000) << 8) as u32
            }
            Self::RtpTimestamp => packet.rtp_timestamp as u32,
        }
    }

    /// Ticks per `milliseconds`.
    pub(super) fn ticks(self, milliseconds: u64) -> u32 {
        match self {
            Self::AbsSendTime => ((milliseconds << FRACTION) / 1000) as u32,
            Self::RtpTimestamp => milliseconds as u32 * RTP_TICKS,
        }
    }

    /// Milliseconds per `ticks`.
    pub(super) fn milliseconds(self, ticks: u32) -> f64 {
        match self {
            Self::AbsSendTime => 1000.0 * f64::from(ticks) / f64::from(1u32 << FRACTION),
            Self::RtpTimestamp => f64::from(ticks) / f64::from(RTP_TICKS),
        }
    }
}

words! {
    /// What is forgotten after a silence.
    pub enum Silence {
        /// The groups, at the next timeout (libwebrtc until April 2016, abs-send-time).
        Groups = "groups",
        /// The groups and the filter, at the next packet (libwebrtc `1112b2bc68`, 2016-04-14).
        GroupsAndFilter = "groups-and-filter",
        /// Groups, filter, detector and rate, at the next timeout (libwebrtc, RTP timestamps).
        Everything = "everything",
    }
}

words! {
    /// When the rate is updated.
    pub enum Updates {
        /// By a timer (libwebrtc until April 2016).
        Timer = "timer",
        /// At the first packet after more than the interval (libwebrtc `1112b2bc68`, 2016-04-14).
        Packet = "packet",
    }
}

words! {
    /// The time by which the received bytes are divided.
    pub enum Divisor {
        /// The whole window, even if the first packet is more recent.
        Window = "window",
        /// The time since the first packet in the window (libwebrtc `fb8fc5391e`, 2016-04-22).
        Elapsed = "elapsed",
    }
}

words! {
    /// Which results of probes set the rate.
    pub enum ProbeRule {
        /// Probes are not detected (RTP timestamps cannot show them).
        Ignored = "ignored",
        /// Results above the rate and above the received rate (libwebrtc `11324b9561`, 2015-07-09).
        AboveReceived = "above-received",
        /// Results above the rate (libwebrtc before that, and from `fb8fc5391e`, 2016-04-22).
        Raising = "raising",
    }
}
