//! Packet counts of one direction of a host in an access that hosts share.

use crate::accounting::{Accounting, Count, DropCounts};
use crate::packet::{DropReason, Packet};
use units::{Bitrate, Duration};

/// Packet counts of one direction of a host.
#[derive(Default)]
pub(crate) struct Passage {
    pub(crate) entered: Count,
    pub(crate) left: Count,
    pub(crate) dropped: DropCounts,
    /// The sojourn time of the packet that left last.
    sojourn: Duration,
}

impl Passage {
    /// Counts a packet that arrived after `sojourn`.
    pub(crate) fn arrived(&mut self, packet: &Packet, sojourn: Duration) {
        self.left.count(packet);
        self.sojourn = sojourn;
    }

    pub(crate) fn dropped(&mut self, packet: &Packet, reason: DropReason) {
        self.dropped.add(packet, reason);
    }

    pub(crate) fn accounting(&self) -> Accounting {
        let dropped = self.dropped.total();
        let gone = self.left + dropped;
        let held = Count {
            packets: self.entered.packets - gone.packets,
            bytes: self.entered.bytes.saturating_sub(gone.bytes),
        };
        Accounting { entered: self.entered, left: self.left, dropped, held }
    }

    /// Passes the counts and the transmission rate to `sink`, by name: rates in bit/s, times in
    /// seconds, sizes in bytes.
    pub(crate) fn show(&self, rate: Bitrate, sink: &mut dyn FnMut(&'static str, f64)) {
        let Accounting { entered, left, dropped, held } = self.accounting();
        sink("rate", rate.as_bps_f64());
        sink("queuedBytes", held.bytes.get() as f64);
        sink("queuedPackets", held.packets as f64);
        sink("queueDelay", if held.packets > 0 { self.sojourn.as_secs_f64() } else { 0.0 });
        sink("bytesIn", entered.bytes.get() as f64);
        sink("bytesOut", left.bytes.get() as f64);
        sink("packetsIn", entered.packets as f64);
        sink("packetsOut", left.packets as f64);
        sink("packetsDropped", dropped.packets as f64);
        sink("bytesDropped", dropped.bytes.get() as f64);
    }
}
