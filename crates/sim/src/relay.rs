//! A media relay on a call's path (TURN, RFC 8656): the caller's packets go to it over a channel,
//! and from its relayed transport address to the callee; the callee's go the same way back. It
//! keeps DSCP and ECN as they are (RFC 8656 § 14).

use net::{Flow, HostId};
use units::Bytes;

/// Where a relay listens for its clients over UDP (RFC 8656 § 5).
pub const TURN_PORT: u16 = 3478;
/// The header of a ChannelData message (RFC 8656 § 12.4); over UDP it is not padded (§ 12.5).
pub const CHANNEL_DATA_HEADER: Bytes = Bytes::new(4);
/// The first port of relayed transport addresses: the dynamic range (RFC 8656 § 7.2, RFC 6335 § 6).
const FIRST_RELAYED_PORT: u16 = 0xc000;

/// The relay of a call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Relay {
    /// Where it is.
    pub(crate) host: HostId,
    /// Whose allocation it is: the caller.
    pub(crate) client: HostId,
}

impl Relay {
    /// The two parts of the path of packets that would directly have this 5-tuple: to the relay,
    /// and on from it.
    pub(crate) fn path(self, direct: Flow) -> [Flow; 2] {
        let relayed = FIRST_RELAYED_PORT | direct.src_port;
        let (near, far) =
            if direct.src == self.client { (TURN_PORT, relayed) } else { (relayed, TURN_PORT) };
        let to_relay = Flow { dst: self.host, dst_port: near, ..direct };
        [to_relay, Flow { src: self.host, src_port: far, ..direct }]
    }
}

/// What a call's packets of this 5-tuple have beside UDP and RTP: the channel's header between
/// client and relay.
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
    fn a_channel_leads_to_the_client_and_bare_packets_to_its_peer() {
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
