//! The REMB messages of a forwarding unit to a publisher: they announce the room's bitrate,
//! independent of the network. Modelled after the videoroom of Janus in July 2016,
//! `plugins/janus_videoroom.c`, `janus_videoroom_incoming_rtp`.

use cc::{ArrivedPacket, Receiver, ReceiverFeedback, SignalSink};
use units::{Bitrate, Duration, Time};

/// The first messages announce a fourth, a third and a half of the bitrate, then all of it, one
/// message per packet (`remb_startup`).
const STARTUP_MESSAGES: u64 = 4;
/// After that, the whole bitrate is announced again by the first packet that arrives this long
/// after the last message (`remb_latest`).
const INTERVAL: Duration = Duration::from_secs(5);

/// The REMB source for one publisher.
pub(crate) struct Room {
    bitrate: Bitrate,
    startup_left: u64,
    last_remb: Option<Time>,
    due: Option<Bitrate>,
}

impl Room {
    pub(crate) fn new(bitrate: Bitrate) -> Self {
        Self { bitrate, startup_left: STARTUP_MESSAGES, last_remb: None, due: None }
    }
}

impl Receiver for Room {
    fn on_packet(&mut self, packet: &ArrivedPacket, _rtt: Option<Duration>) {
        let (now, bitrate) = (packet.arrival, self.bitrate.as_bps());
        if let Some(share) = bitrate.checked_div(self.startup_left) {
            self.due = Some(Bitrate::from_bps(share));
            self.startup_left -= 1;
            self.last_remb = (self.startup_left == 0).then_some(now);
        } else if self.last_remb.is_some_and(|last| now.saturating_since(last) >= INTERVAL) {
            self.due = Some(self.bitrate);
            self.last_remb = Some(now);
        }
    }

    fn on_timeout(&mut self, _now: Time) {}

    fn next_timeout(&self) -> Option<Time> {
        None
    }

    fn poll(&mut self, _now: Time) -> Option<ReceiverFeedback> {
        self.due.take().map(ReceiverFeedback::Remb)
    }

    fn speaks_remb(&self) -> bool {
        true
    }

    fn signals(&self, sink: &mut SignalSink<'_>) {
        sink("roomBitrate", self.bitrate.as_bps_f64());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Bytes;

    #[test]
    fn announces_a_fourth_a_third_a_half_and_then_the_whole_bitrate() {
        let mut room = Room::new(Bitrate::from_kbps(1200));
        let mut announced = Vec::new();
        for sequence in 0..400 {
            let at = Time::from_millis(33 * sequence);
            let packet = ArrivedPacket {
                sequence,
                sent: at,
                arrival: at,
                size: Bytes::new(1000),
                rtp_timestamp: 0,
                probe: None,
                ecn: cc::Ecn::NotEct,
            };
            room.on_packet(&packet, None);
            if let Some(ReceiverFeedback::Remb(rate)) = room.poll(at) {
                announced.push((sequence, rate.as_bps() / 1000));
            }
        }
        assert_eq!(announced, [(0, 300), (1, 400), (2, 600), (3, 1200), (155, 1200), (307, 1200)]);
    }
}
