//! The arithmetic of rates, times and bits, in 10⁻⁹ bit so that nothing is rounded.

use units::{Bitrate, Duration};

/// The bits that `rate` sends in `span`, in 10⁻⁹ bit.
pub(crate) fn product(rate: Bitrate, span: Duration) -> u128 {
    u128::from(rate.as_bps()) * u128::from(span.as_nanos())
}

/// The time to send `left` (in 10⁻⁹ bit), rounded up to the next nanosecond; `None` at a rate of
/// zero.
pub(crate) fn time_for(left: u128, rate: Bitrate) -> Option<Duration> {
    // Packets below 2 GB fit into 64 bits, where division is several times faster.
    let nanos = match u64::try_from(left) {
        Ok(left) if rate > Bitrate::ZERO => left.div_ceil(rate.as_bps()),
        _ => {
            let nanos = left
                .checked_add(u128::from(rate.as_bps()))?
                .checked_sub(1)?
                .checked_div(u128::from(rate.as_bps()))?;
            u64::try_from(nanos).unwrap_or(u64::MAX)
        }
    };
    Some(Duration::from_nanos(nanos))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_rounded_up_and_a_rate_of_zero_never_ends() {
        let rate = Bitrate::from_bps(3);
        assert_eq!(time_for(10, rate), Some(Duration::from_nanos(4)));
        assert_eq!(time_for(9, rate), Some(Duration::from_nanos(3)));
        assert_eq!(time_for(3u128 << 64, rate), Some(Duration::MAX));
        assert_eq!(
            time_for(1u128 << 65, Bitrate::from_bps(4)),
            Some(Duration::from_nanos(1 << 63))
        );
        assert_eq!(time_for(9, Bitrate::ZERO), None);
        assert_eq!(time_for(1u128 << 65, Bitrate::ZERO), None);
    }
}
