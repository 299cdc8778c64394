//! A call in real time over loopback, driven by tokio.

use crate::support::{LOCALHOST, stack, video};
use peer::RTCPeerConnectionState::Connected;
use peer::{Peer, PeerConfig, Signal, run};
use std::net::SocketAddr;
use std::time::{Duration, Instant};
use tokio::net::UdpSocket;
use tokio::sync::mpsc;
use units::{Bitrate, Seed};

#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "a test in real time")]
async fn a_call_over_loopback() {
    let now = Instant::now();
    let end = now + Duration::from_secs(4);
    let sockets = [socket().await, socket().await];
    let [mut sender, mut receiver] =
        [Some(video()), None].map(|video| (video, &sockets)).map(|(video, sockets)| {
            let socket = &sockets[usize::from(video.is_none())];
            let address = socket.local_addr().unwrap();
            let config = PeerConfig {
                address,
                stack: stack("fixed:500kbit/s", Bitrate::from_mbps(3)),
                video,
                audio: None,
                seed: Seed(1),
            };
            Peer::new(config, now).unwrap()
        });
    let (to_receiver, mut for_receiver) = mpsc::channel::<Signal>(8);
    let (to_sender, mut for_sender) = mpsc::channel::<Signal>(8);
    to_receiver.send(sender.offer(now).unwrap()).await.unwrap();
    let (a, b) = tokio::join!(
        run(&mut sender, &sockets[0], &mut for_sender, &to_receiver, end),
        run(&mut receiver, &sockets[1], &mut for_receiver, &to_sender, end),
    );
    a.unwrap();
    b.unwrap();
    assert!(sender.state() == Connected && receiver.state() == Connected);
    let stats = receiver.stats(end, 0.0).unwrap();
    let inbound = stats.values().find(|object| object["type"] == "inbound-rtp").unwrap();
    assert!(inbound["bytesReceived"].as_u64().unwrap() > 60_000, "{inbound}");
}

async fn socket() -> UdpSocket {
    UdpSocket::bind(SocketAddr::from((LOCALHOST, 0))).await.unwrap()
}
