//! One direction between a station and the access point: its rate control, and its counts for
//! records.

use super::phy::Mcs;
use super::rate_control::RateController;
use super::window::Psdu;
use crate::access::passage::Passage;
use units::{Bitrate, Dbm, Duration, Stream};

/// One direction between a station and the access point.
pub(super) struct Path {
    pub(super) rate: RateController,
    /// Draws which frames are lost.
    pub(super) errors: Stream,
    pub(super) passage: Passage,
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
            passage: Passage::default(),
            bitrate: Bitrate::ZERO,
            mcs: 0,
            signal,
            airtime: Duration::ZERO,
            retransmissions: 0,
            collisions: 0,
        }
    }

    /// Notes the start of a transmission.
    pub(super) fn began(&mut self, mcs: Mcs, bitrate: Bitrate, psdu: Psdu, signal: Dbm) {
        (self.mcs, self.bitrate, self.signal) = (mcs.index(), bitrate, signal);
        self.retransmissions += u64::from(psdu.retransmissions);
    }

    /// Notes the end of a transmission: how long it occupied the channel, and whether it collided.
    pub(super) fn ended(&mut self, airtime: Duration, collided: bool) {
        self.airtime += airtime;
        self.collisions += u64::from(collided);
    }

    /// Passes the state to `sink`, by name: rates in bit/s, times in seconds, sizes in bytes,
    /// signals in dBm.
    pub(super) fn show(&self, sink: &mut dyn FnMut(&'static str, f64)) {
        self.passage.show(self.bitrate, sink);
        sink("signalStrength", self.signal.as_f64());
        sink("mcsIndex", self.mcs as f64);
        sink("airtime", self.airtime.as_secs_f64());
        sink("retransmissions", self.retransmissions as f64);
        sink("collisions", self.collisions as f64);
    }
}
