//! What a forwarding unit tells a publisher of its rate: the room's bitrate, by REMB, whatever the
//! network does. The videoroom of Janus in July 2016, `plugins/janus_videoroom.c`,
//! `janus_videoroom_incoming_rtp`.

use cc::{ArrivedPacket, Receiver, ReceiverFeedback, SignalSink};
use units::{Bitrate, Duration, Time};

/// The first messages say a fourth, a third and half of it, one a packet (`remb_startup`).
const STEPS: u64 = 4;
/// Then it says the whole again after every packet that comes this long after the last
/// (`remb_latest`).
const INTERVAL: Duration = Duration::from_secs(5);

/// The room's answer to one publisher.
pub(crate) struct Room {
    bitrate: Bitrate,
    steps: u64,
    told: Option<Time>,
    due: Option<Bitrate>,
}

impl Room {
    pub(crate) fn new(bitrate: Bitrate) -> Self {
        Self { bitrate, steps: STEPS, told: None, due: None }
    }
}

impl Receiver for Room {
    fn on_packet(&mut self, packet: &ArrivedPacket, _rtt: Option<Duration>) {
        let (now, bitrate) = (packet.arrival, self.bitrate.as_bps());
        if let Some(share) = bitrate.checked_div(self.steps) {
            self.due = Some(Bitrate::from_bps(share));
            self.steps -= 1;
            self.told = (self.steps == 0).then_some(now);
        } else if self.told.is_some_and(|told| now.saturating_since(told) >= INTERVAL) {
            self.due = Some(self.bitrate);
            self.told = Some(now);
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
    fn tells_a_fourth_a_third_half_and_the_whole_and_then_the_whole_every_five_seconds() {
        let mut room = Room::new(Bitrate::from_kbps(1200));
        let mut told = Vec::new();
        for sequence in 0..400 {
            let at = Time::from_millis(33 * sequence);
            let packet = ArrivedPacket {
                sequence,
                sent: at,
                arrival: at,
                size: Bytes::new(1000),
                rtp_timestamp: 0,
                probe: None,
            };
            room.on_packet(&packet, None);
            if let Some(ReceiverFeedback::Remb(rate)) = room.poll(at) {
                told.push((sequence, rate.as_bps() / 1000));
            }
        }
        assert_eq!(told, [(0, 300), (1, 400), (2, 600), (3, 1200), (155, 1200), (307, 1200)]);
    }
}
