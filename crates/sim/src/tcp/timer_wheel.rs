//! The timers of a Linux host: time counts in jiffies, and a timer expires at the first tick of its
//! bucket in the timer wheel that is not too early (Linux `kernel/time/timer.c`).

use super::config::TimerFrequency;
use units::{Duration, Time};

/// The last delay of a level, in ticks of that level (`LVL_START`: `LVL_SIZE` − 1).
const LEVEL_END: u64 = 63;
/// Each level ticks an eighth as often as the one below it (`LVL_CLK_SHIFT`).
const LEVEL_SHIFT: u32 = 3;
/// The number of levels (`LVL_DEPTH`).
const LEVELS: u32 = 9;

/// The timer wheel of a host. All hosts tick at the same instants, from the start of the run.
#[derive(Clone, Copy, Debug)]
pub(super) struct TimerWheel {
    jiffy: Duration,
}

impl TimerWheel {
    pub(super) fn new(frequency: TimerFrequency) -> Self {
        Self { jiffy: frequency.period() }
    }

    /// When a timer expires that is set at `now` to expire after `delay`. The delay is rounded up
    /// to jiffies (`usecs_to_jiffies`). The timer expires at the next tick of its level after that
    /// (`calc_wheel_index`), because the current jiffy has already begun: up to 62 jiffies at most
    /// one jiffy later, then up to 503 jiffies at most eight, and so on.
    pub(super) fn expiry(self, now: Time, delay: Duration) -> Time {
        let jiffy = self.jiffy.as_nanos();
        let delta = delay.as_nanos().div_ceil(jiffy);
        let expires = now.as_nanos() / jiffy + delta;
        let within = |level: &u32| delta < LEVEL_END << (LEVEL_SHIFT * level);
        let shift = LEVEL_SHIFT * (0..LEVELS).find(within).unwrap_or(LEVELS - 1);
        let bucket = ((expires >> shift) + 1) << shift;
        Time::from_nanos(bucket.saturating_mul(jiffy))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expiry_ms(frequency: TimerFrequency, now_us: u64, delay_us: u64) -> u64 {
        let (now, delay) = (Time::ZERO + Duration::from_micros(now_us), delay_us);
        TimerWheel::new(frequency).expiry(now, Duration::from_micros(delay)).as_millis()
    }

    #[test]
    fn a_timer_expires_at_the_tick_after_its_delay() {
        let at_250 = |now_us, delay_us| expiry_ms(TimerFrequency::Hz250, now_us, delay_us);
        // 2 ms are one jiffy of 4 ms; jiffy 25 has begun, so tick 26 would be too early.
        assert_eq!(at_250(100_000, 2_000), 108);
        assert_eq!(at_250(103_999, 2_000), 108);
        assert_eq!(at_250(104_000, 4_001), 116);
        // TCP_DELACK_MIN, HZ / 25.
        assert_eq!(at_250(101_000, 40_000), 144);
        let at_1000 = |now_us, delay_us| expiry_ms(TimerFrequency::Hz1000, now_us, delay_us);
        assert_eq!(at_1000(100_000, 2_000), 103);
        assert_eq!(at_1000(100_999, 2_000), 103);
        assert_eq!(at_1000(100_500, 2_001), 104);
    }

    /// Delays of 63 jiffies and more are in coarser levels: buckets of 8, then 64 jiffies.
    #[test]
    fn long_delays_are_rounded_to_their_level() {
        let at_250 = |now_us, delay_us| expiry_ms(TimerFrequency::Hz250, now_us, delay_us);
        assert_eq!(at_250(100_000, 248_000), 352, "62 jiffies: level 0");
        assert_eq!(at_250(100_000, 252_000), 384, "25 + 63 jiffies: the next multiple of 8 is 96");
        assert_eq!(at_250(0, 1_000_000), 1_024, "250 jiffies: the next multiple of 8 is 256");
        assert_eq!(at_250(0, 2_016_000), 2_048, "504 jiffies: the next multiple of 64 is 512");
    }
}
