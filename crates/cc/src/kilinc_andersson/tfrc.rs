//! T_TFRC, the throughput of a TCP flow under the same conditions (eq. 3.26; RFC 5348 § 3.1).

use super::config::Equation;
use units::{Bitrate, Bytes, Duration};

/// t_RTO in round-trip times (RFC 5348 § 3.1).
const RTO: f64 = 4.0;
/// Maximum loss interval of the search, in packets.
const MAX_INTERVAL: f64 = 1e8;
/// Steps of the bisection: the interval is found to less than 0.001 packets.
const HALVINGS: u32 = 40;

/// The rate for packets of size `size` at the loss event rate p, with one packet per
/// acknowledgement (b = 1). `None` if p or the round-trip time is zero: there is no bound.
pub(crate) fn throughput(
    equation: Equation,
    size: Bytes,
    rtt: Duration,
    p: f64,
) -> Option<Bitrate> {
    let r = rtt.as_secs_f64();
    let first = 2.0 * p / 3.0;
    let second = RTO * r * (3.0 * (3.0 * p / 8.0).sqrt()) * p * (1.0 + 32.0 * p * p);
    let seconds = match equation {
        Equation::Rfc5348 => r * first.sqrt() + second,
        Equation::Printed => r * (first + second).sqrt(),
    };
    (seconds > 0.0).then(|| Bitrate::from_bps_f64(size.bits() as f64 / seconds))
}

/// The loss interval, in packets, at which the equation gives `target` (RFC 5348 § 6.3.1).
pub(crate) fn interval_for(equation: Equation, size: Bytes, rtt: Duration, target: Bitrate) -> f64 {
    let (mut short, mut long) = (1.0, MAX_INTERVAL);
    for _ in 0..HALVINGS {
        let middle = 0.5 * (short + long);
        // The rate grows with the interval.
        if throughput(equation, size, rtt, 1.0 / middle).is_some_and(|rate| rate < target) {
            short = middle;
        } else {
            long = middle;
        }
    }
    long
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: Duration = Duration::from_millis(100);
    const SIZE: Bytes = Bytes::new(1000);

    fn kbps(equation: Equation, p: f64) -> f64 {
        throughput(equation, SIZE, RTT, p).unwrap().as_bps_f64() / 1e3
    }

    #[test]
    fn the_equation_by_hand() {
        // p = 0.01: 0.1·√0.0066667 = 0.00816497; 0.4·3·√0.00375·0.01·1.0032 = 0.000737198;
        // 8000/0.00890216.
        assert!(
            (kbps(Equation::Rfc5348, 0.01) - 898.66).abs() < 0.01,
            "{}",
            kbps(Equation::Rfc5348, 0.01)
        );
        // p = 0.1: 0.1·√0.0666667 = 0.0258199; 0.4·3·√0.0375·0.1·1.32 = 0.0306741; 8000/0.0564940.
        assert!(
            (kbps(Equation::Rfc5348, 0.1) - 141.61).abs() < 0.01,
            "{}",
            kbps(Equation::Rfc5348, 0.1)
        );
        assert_eq!(throughput(Equation::Rfc5348, SIZE, RTT, 0.0), None);
        assert_eq!(throughput(Equation::Rfc5348, SIZE, Duration::ZERO, 0.1), None);
    }

    #[test]
    fn as_printed_the_root_covers_both_terms() {
        // p = 0.01: 0.1·√(0.0066667 + 0.000737198) = 0.00860457; 8000/0.00860457.
        assert!(
            (kbps(Equation::Printed, 0.01) - 929.74).abs() < 0.01,
            "{}",
            kbps(Equation::Printed, 0.01)
        );
    }

    #[test]
    fn the_interval_gives_the_target_rate() {
        for kbps in [20, 300, 5_000] {
            let target = Bitrate::from_kbps(kbps);
            let interval = interval_for(Equation::Rfc5348, SIZE, RTT, target);
            let again = throughput(Equation::Rfc5348, SIZE, RTT, 1.0 / interval).unwrap();
            assert!(
                (again.as_bps_f64() / target.as_bps_f64() - 1.0).abs() < 0.001,
                "{target}: {again}"
            );
        }
    }
}
