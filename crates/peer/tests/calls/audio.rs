//! Calls with audio, in virtual time.

use crate::support::Call;
use peer::RTCPeerConnectionState::Connected;
use serde_json::Value;
use units::{Bitrate, Time};

const MEGABIT: Bitrate = Bitrate::from_mbps(1);

fn of(object: &Value, name: &str) -> f64 {
    object[name].as_f64().unwrap_or_else(|| panic!("{name} in {object:#}"))
}

/// Sends 69 kbit/s of audio in packets of 20 ms, as the model does, and video, over a line of 1
/// Mbit/s.
#[test]
fn any_two_stacks_carry_audio_and_video() {
    for names in [
        ["gcc:libwebrtc"; 2],
        ["gcc:carlucci-2017"; 2],
        ["gcc:libwebrtc", "str0m"],
        ["str0m", "gcc:libwebrtc"],
        ["str0m"; 2],
    ] {
        let mut call = Call::with_audio(names, [true, false], [true; 2], MEGABIT);
        call.run_until(Time::from_secs(30));
        for end in 0..2 {
            let outbound = call.audio(end, "outbound-rtp").unwrap();
            let inbound = call.audio(1 - end, "inbound-rtp").unwrap();
            let remote = call.audio(end, "remote-inbound-rtp").unwrap();
            let [sent, received] = [of(&outbound, "packetsSent"), of(&inbound, "packetsReceived")];
            assert!((1_450.0..=1_501.0).contains(&sent), "{names:?}: {outbound:#}");
            let lost = of(&inbound, "packetsLost");
            assert!(
                sent - received - lost < 20.0 && lost < 75.0,
                "{names:?}: {outbound:#} {inbound:#}"
            );
            let rate = of(&outbound, "bytesSent") * 8.0 / (sent * 0.02);
            assert!((rate / 69e3 - 1.0).abs() < 0.1, "{rate} bit/s: {names:?}");
            assert!(of(&outbound, "headerBytesSent") >= 12.0 * sent, "{outbound:#}");
            if names[end] != "str0m" {
                let headers = of(&inbound, "headerBytesReceived") / received;
                assert!(
                    headers == 12.0,
                    "no transport-wide sequence number: {names:?} {inbound:#}"
                );
            }
            assert!(of(&inbound, "jitter") < 0.1, "{names:?}: {inbound:#}");
            assert!((0.05..0.5).contains(&of(&remote, "roundTripTime")), "{names:?}: {remote:#}");
            assert!(of(&remote, "fractionLost") < 0.5, "{names:?}: {remote:#}");
        }
        let rates = call.seconds(10);
        let video = rates.iter().map(|rate| rate.0).sum::<f64>() / 10.0;
        println!("{names:?}: {:.0} kbit/s of video beside audio", video / 1e3);
        assert!((450e3..920e3).contains(&video), "{video} bit/s of video: {names:?} {rates:?}");
    }
}

/// An endpoint that does not send audio accepts an offer of audio and receives it. An endpoint that
/// only receives video can send audio.
#[test]
fn audio_of_only_one_endpoint_is_received() {
    for names in [["gcc:libwebrtc"; 2], ["gcc:libwebrtc", "str0m"], ["str0m", "gcc:libwebrtc"]] {
        let mut call = Call::with_audio(names, [true, false], [true, false], MEGABIT);
        call.run_until(Time::from_secs(5));
        assert!(call.peers.iter().all(|peer| peer.state() == Connected), "{names:?}");
        let inbound = call.audio(1, "inbound-rtp").unwrap();
        assert!(of(&inbound, "packetsReceived") > 200.0, "{names:?}: {inbound:#}");
        assert!(call.audio(1, "outbound-rtp").is_none() && call.audio(0, "inbound-rtp").is_none());
        assert!(of(&call.stats(1, "inbound-rtp"), "framesDecoded") > 100.0, "{names:?}");
    }
}

/// One endpoint would send audio, but the other has not offered it.
#[test]
fn audio_that_was_not_negotiated_is_not_sent() {
    for names in [["gcc:libwebrtc"; 2], ["gcc:libwebrtc", "str0m"], ["str0m", "gcc:libwebrtc"]] {
        let mut call = Call::with_audio(names, [true, false], [false, true], MEGABIT);
        call.run_until(Time::from_secs(5));
        assert!((0..2).all(|end| call.audio(end, "outbound-rtp").is_none()), "{names:?}");
        assert!(of(&call.stats(1, "inbound-rtp"), "framesDecoded") > 100.0, "{names:?}");
    }
}
