//! The state of a TCP connection in the kernel: the socket option TCP_INFO.

use std::io;
use std::os::fd::{AsFd, AsRawFd};

/// The part of `struct tcp_info` (`linux/tcp.h`) that Weir uses. Counters start when the connection
/// is made. A field that the kernel is too old to know is zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpInfo {
    /// `tcpi_rto`: the retransmission timeout, in µs.
    pub retransmission_timeout_us: u32,
    /// `tcpi_snd_mss`: the payload of a full segment, in bytes.
    pub segment_bytes: u32,
    /// `tcpi_unacked`: segments that were sent and are not acknowledged cumulatively.
    pub unacked: u32,
    /// `tcpi_sacked`: unacknowledged segments that are selectively acknowledged.
    pub sacked: u32,
    /// `tcpi_lost`: unacknowledged segments that are considered lost.
    pub lost: u32,
    /// `tcpi_retrans`: retransmitted segments that are not acknowledged.
    pub retransmitted: u32,
    /// `tcpi_rtt`: the smoothed round-trip time, in µs. The kernel does not report the newest
    /// sample.
    pub smoothed_rtt_us: u32,
    /// `tcpi_snd_ssthresh`: in segments; `0x7fff_ffff` means that it is not set yet.
    pub slow_start_threshold: u32,
    /// `tcpi_snd_cwnd`: in segments.
    pub congestion_window: u32,
    /// `tcpi_total_retrans`: segments that were retransmitted.
    pub total_retransmitted: u32,
    /// `tcpi_pacing_rate`: in B/s; all ones means no pacing.
    pub pacing_rate: u64,
    /// `tcpi_bytes_acked`: bytes acknowledged cumulatively; SYN and FIN count as one each.
    pub bytes_acked: u64,
    /// `tcpi_bytes_received`: bytes received in order.
    pub bytes_received: u64,
    /// `tcpi_notsent_bytes`: bytes that the program wrote and that are not sent yet.
    pub unsent_bytes: u32,
    /// `tcpi_data_segs_in`: segments with data that arrived.
    pub data_segments_in: u32,
    /// `tcpi_data_segs_out`: segments with data that were sent, including retransmissions.
    pub data_segments_out: u32,
    /// `tcpi_bytes_sent`: bytes of data that were sent, including retransmissions.
    pub bytes_sent: u64,
    /// `tcpi_bytes_retrans`: bytes of data that were retransmitted.
    pub bytes_retransmitted: u64,
    /// `tcpi_snd_wnd`: the window that the remote endpoint advertises, in bytes.
    pub receiver_window: u32,
    /// `tcpi_total_rto`: retransmission timeouts that expired (Linux 6.7).
    pub timeouts: Option<u16>,
}

/// The bytes of the structure that this module reads; later kernels have more.
const LENGTH: usize = 256;
/// The offset of the end of `tcpi_total_rto`.
const WITH_TIMEOUTS: usize = 242;

/// Asks the kernel about a TCP socket.
///
/// # Errors
/// If the socket is not a TCP socket.
pub fn tcp_info(socket: &impl AsFd) -> io::Result<TcpInfo> {
    let mut bytes = [0u8; LENGTH];
    let mut length = LENGTH as libc::socklen_t;
    #[expect(unsafe_code, reason = "no safe binding of TCP_INFO gives the whole structure")]
    // SAFETY: the kernel writes at most `length` bytes, which is the size of `bytes`, and the new
    // length into `length`; both outlive the call, and the descriptor is borrowed for it.
    let result = unsafe {
        libc::getsockopt(
            socket.as_fd().as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            bytes.as_mut_ptr().cast(),
            &raw mut length,
        )
    };
    if result != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(read(&bytes, usize::try_from(length).unwrap_or(0)))
}

/// Reads the fields at their offsets in `linux/tcp.h`. The offsets never change: new fields are
/// only added at the end.
fn read(bytes: &[u8; LENGTH], length: usize) -> TcpInfo {
    let word = |offset: usize| {
        let mut word = [0; 4];
        word.copy_from_slice(&bytes[offset..offset + 4]);
        u32::from_ne_bytes(word)
    };
    let long = |offset: usize| {
        let mut long = [0; 8];
        long.copy_from_slice(&bytes[offset..offset + 8]);
        u64::from_ne_bytes(long)
    };
    TcpInfo {
        retransmission_timeout_us: word(8),
        segment_bytes: word(16),
        unacked: word(24),
        sacked: word(28),
        lost: word(32),
        retransmitted: word(36),
        smoothed_rtt_us: word(68),
        slow_start_threshold: word(76),
        congestion_window: word(80),
        total_retransmitted: word(100),
        pacing_rate: long(104),
        bytes_acked: long(120),
        bytes_received: long(128),
        unsent_bytes: word(144),
        data_segments_in: word(152),
        data_segments_out: word(156),
        bytes_sent: long(200),
        bytes_retransmitted: long(208),
        receiver_window: word(228),
        timeouts: (length >= WITH_TIMEOUTS)
            .then(|| u16::from_ne_bytes([bytes[WITH_TIMEOUTS - 2], bytes[WITH_TIMEOUTS - 1]])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn a_connection_over_loopback_is_reported() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut server, _) = listener.accept().unwrap();
        client.write_all(&[7; 10_000]).unwrap();
        server.read_exact(&mut [0; 10_000]).unwrap();
        server.write_all(b"!").unwrap();
        client.read_exact(&mut [0]).unwrap();
        let (sent, received) = (tcp_info(&client).unwrap(), tcp_info(&server).unwrap());
        assert_eq!((sent.bytes_sent, sent.bytes_acked, sent.unsent_bytes), (10_000, 10_001, 0));
        assert_eq!(
            (received.bytes_received, sent.bytes_retransmitted, sent.unacked),
            (10_000, 0, 0)
        );
        assert!(sent.data_segments_out >= 1 && sent.data_segments_out == received.data_segments_in);
        assert!(sent.smoothed_rtt_us > 0 && sent.congestion_window >= 10, "{sent:?}");
        assert!(
            sent.retransmission_timeout_us >= 200_000 && sent.receiver_window >= 10_000,
            "{sent:?}"
        );
        assert!(sent.segment_bytes > 500 && sent.pacing_rate > 0, "{sent:?}");
        assert_eq!(sent.timeouts.unwrap_or(0), 0);
    }

    #[test]
    fn a_udp_socket_is_refused() {
        assert!(tcp_info(&std::net::UdpSocket::bind("127.0.0.1:0").unwrap()).is_err());
    }

    #[test]
    fn an_old_kernel_reports_no_timeouts() {
        assert_eq!(read(&[1; LENGTH], 232).timeouts, None);
        assert_eq!(read(&[1; LENGTH], 248).timeouts, Some(257));
    }
}
