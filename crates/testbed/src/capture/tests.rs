use super::*;
use crate::event_log::StreamKind;
use units::Duration;

/// 40 packets of video in each direction with a lost one, three binding requests that take 40 ms,
/// and receiver reports; frames of Ethernet with VLAN tags, times in microseconds.
const VLAN: &[u8] = include_bytes!("../../../../fuzz/seeds/capture/vlan.pcap");
/// The same as Linux cooked frames (version 2), big-endian, times in nanoseconds.
const COOKED: &[u8] = include_bytes!("../../../../fuzz/seeds/capture/cooked.pcapng");

fn one(bytes: &[u8]) -> (EventLog, Counts) {
    let mut capture = read(bytes).unwrap();
    assert!(capture.error.is_none() && capture.sides.len() == 1, "{:?}", capture.error);
    (capture.sides.remove(0), capture.counts)
}

#[test]
fn both_forms_and_links_give_the_same_call() {
    for bytes in [VLAN, COOKED] {
        let (log, counts) = one(bytes);
        assert_eq!((counts.rtp, counts.rtcp, counts.stun, counts.other), (80, 3, 6, 0));
        assert_eq!((log.sent.len(), log.received.len()), (40, 40));
        // The private address is near; the transport-wide numbers are in extension 3.
        assert_eq!((log.sent[7].ssrc, log.sent[7].transport_sequence), (1, Some(7)));
        assert_eq!(log.sent[7].size.get(), 12 + 8 + 100);
        assert_eq!(log.sent[1].at.as_nanos(), 33_000_000);
        assert_eq!(log.begin_unix_millis, Some(1_790_000_000_000));
        assert!(log.streams.iter().all(|stream| stream.kind == StreamKind::Video));
        let times: Vec<Duration> = log.round_trips.iter().map(|(_, took)| *took).collect();
        assert_eq!(times, [Duration::from_millis(40); 3]);
        assert_eq!(log.rtcp_received.len(), 3);
    }
}

#[test]
fn a_cut_or_damaged_capture_gives_what_is_before_and_the_byte() {
    for bytes in [VLAN, COOKED] {
        let cut = read(&bytes[..bytes.len() - 5]).unwrap();
        assert!(matches!(cut.error, Some(CaptureError::Cut { .. })), "{:?}", cut.error);
        assert!(cut.counts.rtp >= 79);
    }
    let mut damaged = VLAN.to_vec();
    // The length of the second record: 24 bytes of header, and 16 and the frame of the first.
    let second = 24 + 16 + 18 + 28 + 120;
    damaged[second + 8..second + 12].copy_from_slice(&1_000_000_000u32.to_le_bytes());
    let error = read(&damaged[..]).unwrap().error.unwrap().to_string();
    assert!(error.starts_with(&format!("byte {second}: ")), "{error}");
    assert!(error.contains("1000000000 bytes; at most 262144"), "{error}");
}

#[test]
fn other_files_are_refused() {
    assert!(matches!(read(&b"GIF89a"[..]), Err(CaptureError::NotACapture)));
    assert!(matches!(read(&VLAN[..24]), Err(CaptureError::NoRtp { frames: 0 })));
}
