//! One direction between a station and the access point: its rate, what got through, and what it shows.

use super::phy::Mcs;
use super::rate_control::RateController;
use super::window::Psdu;
use crate::accounting::{Accounting, Count, DropCounts};
use crate::packet::{DropReason, Packet};
use units::{Bitrate, Dbm, Duration, Stream};

/// One direction between a station and the access point.
pub(super) struct Path {
    pub(super) rate: RateController,
    /// Which frames fail.
    pub(super) errors: Stream,
    pub(super) entered: Count,
    pub(super) left: Count,
    pub(super) dropped: DropCounts,
    /// How long the newest packet that left had been at the device.
    sojourn: Duration,
    bitrate: Bitrate,
    mcs: usize,
    signal: Dbm,
    airtime: Duration,
    retransmissions: u64,
    collisions: u64,
}

impl Path {
    pub(super) fn new(rate: RateController, errors: Stream, signal: Dbm) -> Self {
        Self {
            rate,
            errors,
            entered: Count::default(),
            left: Count::default(),
            dropped: DropCounts::default(),
            sojourn: Duration::ZERO,
            bitrate: Bitrate::ZERO,
            mcs: 0,
            signal,
            airtime: Duration::ZERO,
            retransmissions: 0,
            collisions: 0,
        }
    }

    /// A transmission begins.
    pub(super) fn began(&mut self, mcs: Mcs, bitrate: Bitrate, psdu: Psdu, signal: Dbm) {
        (self.mcs, self.bitrate, self.signal) = (mcs.index(), bitrate, signal);
        self.retransmissions += u64::from(psdu.retransmissions);
    }

    /// A transmission held the channel for so long; it may have met another.
    pub(super) fn ended(&mut self, airtime: Duration, collided: bool) {
        self.airtime += airtime;
        self.collisions += u64::from(collided);
    }

    /// A packet arrived.
    pub(super) fn arrived(&mut self, packet: &Packet, sojourn: Duration) {
        self.left.count(packet);
        self.sojourn = sojourn;
    }

    pub(super) fn dropped(&mut self, packet: &Packet, reason: DropReason) {
        self.dropped.add(packet, reason);
    }

    pub(super) fn accounting(&self) -> Accounting {
        let dropped = self.dropped.total();
        let gone = self.left + dropped;
        let held = Count {
            packets: self.entered.packets - gone.packets,
            bytes: self.entered.bytes.saturating_sub(gone.bytes),
        };
        Accounting { entered: self.entered, left: self.left, dropped, held }
    }

    /// Shows the truth, by name: rates in bit/s, times in seconds, sizes in bytes, signals in dBm.
    pub(super) fn show(&self, sink: &mut dyn FnMut(&'static str, f64)) {
        let Accounting { entered, left, dropped, held } = self.accounting();
        sink("rate", self.bitrate.as_bps_f64());
        sink("queuedBytes", held.bytes.get() as f64);
        sink("queuedPackets", held.packets as f64);
        sink("queueDelay", if held.packets > 0 { self.sojourn.as_secs_f64() } else { 0.0 });
        sink("bytesIn", entered.bytes.get() as f64);
        sink("bytesOut", left.bytes.get() as f64);
        sink("packetsIn", entered.packets as f64);
        sink("packetsOut", left.packets as f64);
        sink("packetsDropped", dropped.packets as f64);
        sink("bytesDropped", dropped.bytes.get() as f64);
        sink("signalStrength", self.signal.as_f64());
        sink("mcsIndex", self.mcs as f64);
        sink("airtime", self.airtime.as_secs_f64());
        sink("retransmissions", self.retransmissions as f64);
        sink("collisions", self.collisions as f64);
    }
}
