//! Rules that no recording shows: Firefox's clock and silence, and the start of a call. The
//! recordings of `tests/libwebrtc_history.rs` test all else.

use super::config::ChromiumConfig;
use super::groups::{Groups, Stamped};
use super::receiver::ChromiumReceiver;
use super::start_probes::StartProbes;
use super::words::Clock;
use crate::{ArrivedPacket, Receiver, SentPacket};
use units::{Bitrate, Bytes, Time};

fn packet(ms: u64) -> ArrivedPacket {
    ArrivedPacket {
        sequence: ms,
        sent: Time::from_millis(ms),
        arrival: Time::from_millis(ms + 25),
        size: Bytes::new(1012),
        rtp_timestamp: 90 * ms,
        probe: None,
        ecn: crate::Ecn::NotEct,
    }
}

fn signal(receiver: &ChromiumReceiver, wanted: &str) -> f64 {
    let mut found = f64::NAN;
    receiver.signals(&mut |name, value| {
        if name == wanted {
            found = value;
        }
    });
    found
}

/// Feeds a packet every 20 ms, and fires the timer.
fn feed(receiver: &mut ChromiumReceiver, from: u64, to: u64) {
    for ms in (from..to).step_by(20) {
        while let Some(due) = receiver.next_timeout().filter(|due| *due <= packet(ms).arrival) {
            receiver.on_timeout(due);
        }
        receiver.on_packet(&packet(ms), None);
    }
}

#[test]
fn rtp_timestamps_group_the_packets_of_a_frame() {
    let mut groups = Groups::new(&ChromiumConfig::firefox_48().groups());
    let clock = Clock::RtpTimestamp;
    let mut deltas = Vec::new();
    for (frame, arrival) in [(0, 25), (0, 33), (33, 66), (33, 70), (66, 91)] {
        let timestamp = clock.timestamp(&packet(frame), units::Duration::ZERO);
        deltas.extend(groups.on_packet(Stamped { timestamp, arrival, known: arrival, size: 1000 }));
    }
    let [delta] = deltas[..] else { panic!("one completed pair of groups: {deltas:?}") };
    assert_eq!((delta.sent, delta.arrival, delta.size), (33.0, 37, 0));
}

#[test]
fn only_firefox_forgets_the_rate_after_a_silence() {
    let bounds = (Bitrate::from_kbps(30), Bitrate::from_mbps(10));
    for (config, forgets) in
        [(ChromiumConfig::firefox_48(), true), (ChromiumConfig::chromium_2014(), false)]
    {
        let mut receiver = ChromiumReceiver::new(&config, bounds);
        feed(&mut receiver, 0, 4000);
        assert!(signal(&receiver, "A_r") > 300_000.0);
        feed(&mut receiver, 7000, 7020);
        assert_eq!(signal(&receiver, "A_r").is_nan(), forgets);
    }
}

#[test]
fn the_start_is_probed_with_six_packets_and_then_with_five() {
    let mut probes = StartProbes::new(Bitrate::from_kbps(300));
    let mut seen = Vec::new();
    for sequence in 0..12 {
        let cluster = probes.cluster();
        seen.push((cluster.id, cluster.rate.as_bps() / 1000));
        let sent = Time::from_millis(sequence);
        let probe = Some(cluster.id);
        probes.on_sent(&SentPacket { sequence, sent, size: Bytes::new(1000), probe });
    }
    assert_eq!(seen[..6], [(1, 900); 6]);
    assert_eq!(seen[6..], [(2, 1800); 6]);
}
