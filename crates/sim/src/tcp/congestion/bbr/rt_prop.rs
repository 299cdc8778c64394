//! RTprop: the minimum round-trip time of the last ten seconds. When it is older, ProbeRTT measures
//! it again (draft § 4.1.2, § 4.3.5).

use units::{Duration, Time};

/// RTpropFilterLen (draft § 4.1.2.3).
const FILTER_LENGTH: Duration = Duration::from_secs(10);
/// ProbeRTTDuration (draft § 4.3.5).
const PROBE_RTT_DURATION: Duration = Duration::from_millis(200);

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RtProp {
    rt_prop: Option<(Duration, Time)>,
    /// In ProbeRTT, once few packets are in flight: probe_rtt_done_stamp and probe_rtt_round_done.
    done: Option<(Time, bool)>,
}

impl RtProp {
    pub(super) fn value(&self) -> Option<Duration> {
        self.rt_prop.map(|(rtt, _)| rtt)
    }

    /// Takes a round-trip time into account. Returns whether the minimum had expired
    /// (rtprop_expired). A round-trip time equal to the minimum does not renew it (Linux
    /// `bbr_update_min_rtt` since 5.10; draft § 4.1.2.3 would).
    pub(super) fn update(&mut self, now: Time, rtt: Option<Duration>) -> bool {
        let expired = self.rt_prop.is_some_and(|(_, at)| now.saturating_since(at) > FILTER_LENGTH);
        if let Some(rtt) = rtt
            && self.rt_prop.is_none_or(|(rt_prop, _)| rtt < rt_prop || expired)
        {
            self.rt_prop = Some((rtt, now));
        }
        expired
    }

    pub(super) fn begin_probe(&mut self) {
        self.done = None;
    }

    /// Starts the time of the probe as soon as few packets are in flight. Returns whether it
    /// started now.
    pub(super) fn starts_timer(&mut self, now: Time, few_in_flight: bool) -> bool {
        let starts = self.done.is_none() && few_in_flight;
        if starts {
            self.done = Some((now + PROBE_RTT_DURATION, false));
        }
        starts
    }

    /// Whether the probe is over: both its time and one round have passed.
    pub(super) fn probe_is_over(&mut self, now: Time, round_start: bool) -> bool {
        let Some((until, passed)) = &mut self.done else { return false };
        *passed |= round_start;
        let over = *passed && now > *until;
        if over {
            self.done = None;
            if let Some((_, at)) = &mut self.rt_prop {
                *at = now;
            }
        }
        over
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A round-trip time equal to the minimum does not postpone ProbeRTT.
    #[test]
    fn the_minimum_expires_unless_it_falls() {
        let (rtt, mut rt_prop) = (Duration::from_millis(100), RtProp::default());
        for second in 0..=10 {
            assert!(!rt_prop.update(Time::from_secs(second), Some(rtt)), "at {second} s");
        }
        assert!(rt_prop.update(Time::from_secs(11), Some(rtt)));
        assert!(!rt_prop.update(Time::from_secs(12), Some(rtt)), "the probe has renewed it");
    }
}
