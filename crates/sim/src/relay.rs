//! A media relay on a call's path (TURN, RFC 8656). The caller's packets go to the relay over a
//! channel, and from its relayed transport address to the callee; the callee's packets take the
//! same path back. The relay preserves DSCP and ECN (RFC 8656 § 14).

use net::{Flow, HostId};
use units::Bytes;

/// The UDP port on which a relay serves clients (RFC 8656 § 5).
pub const TURN_PORT: u16 = 3478;
/// The header of a ChannelData message (RFC 8656 § 12.4); it is not padded over UDP (§ 12.5).
pub const CHANNEL_DATA_HEADER: Bytes = Bytes::new(4);
/// The first port of relayed transport addresses: the dynamic range (RFC 8656 § 7.2, RFC 6335 § 6).
const FIRST_RELAYED_PORT: u16 = 0xc000;

/// The relay of a call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Relay {
    /// The host of the relay.
    pub(crate) host: HostId,
    /// The host that owns the allocation: the caller.
    pub(crate) client: HostId,
}

impl Relay {
    /// The two parts of the path of packets that would have the 5-tuple `direct` without a relay:
    /// to the relay, and from it.
    pub(crate) fn path(self, direct: Flow) -> [Flow; 2] {
        let relayed = FIRST_RELAYED_PORT | direct.src_port;
        let (near, far) =
            if direct.src == self.client { (TURN_PORT, relayed) } else { (relayed, TURN_PORT) };
        let to_relay = Flow { dst: self.host, dst_port: near, ..direct };
        [to_relay, Flow { src: self.host, src_port: far, ..direct }]
    }
}

/// The overhead of a call's packets with this 5-tuple in addition to UDP and RTP: the channel
/// header between client and relay.
#[must_use]
pub fn framing(flow: Flow) -> Bytes {
    if flow.src_port == TURN_PORT || flow.dst_port == TURN_PORT {
        CHANNEL_DATA_HEADER
    } else {
        Bytes::ZERO
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use net::Protocol;

    #[test]
    fn channel_data_is_used_between_client_and_relay_only() {
        let (caller, callee, host) = (HostId(0), HostId(1), HostId(2));
        let relay = Relay { host, client: caller };
        let flow =
            |src, dst| Flow { src, dst, src_port: 5004, dst_port: 5004, protocol: Protocol::Udp };
        for (src, dst, framed) in [(caller, callee, [4, 0]), (callee, caller, [0, 4])] {
            let path = relay.path(flow(src, dst));
            assert_eq!(
                (path[0].src, path[0].dst, path[1].src, path[1].dst),
                (src, host, host, dst)
            );
            assert_eq!(path.map(|flow| framing(flow).get()), framed);
            assert_eq!((path[0].src_port, path[1].dst_port), (5004, 5004));
        }
        // Both directions use the same relayed transport address.
        let [there, back] =
            [flow(caller, callee), flow(callee, caller)].map(|flow| relay.path(flow));
        assert_eq!(there[1].src_port, back[0].dst_port);
        assert!(there[1].src_port >= FIRST_RELAYED_PORT);
    }
}
