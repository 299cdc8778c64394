//! RTprop: the least round trip of the last ten seconds, and the probe for it when it is older
//! (draft § 4.1.2, § 4.3.5).

use units::{Duration, Time};

/// RTpropFilterLen (draft § 4.1.2.3).
const LENGTH: Duration = Duration::from_secs(10);
/// ProbeRTTDuration (draft § 4.3.5).
const PROBE: Duration = Duration::from_millis(200);

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MinRtt {
    least: Option<(Duration, Time)>,
    /// While it probes and little is in flight: until when, and whether a round has passed.
    wait: Option<(Time, bool)>,
}

impl MinRtt {
    pub(super) fn value(&self) -> Option<Duration> {
        self.least.map(|(rtt, _)| rtt)
    }

    /// Takes in a round trip; returns whether the least one has become too old.
    pub(super) fn update(&mut self, now: Time, rtt: Option<Duration>) -> bool {
        let expired = self.least.is_some_and(|(_, at)| now.saturating_since(at) > LENGTH);
        if let Some(rtt) = rtt
            && self.least.is_none_or(|(least, _)| rtt <= least || expired)
        {
            self.least = Some((rtt, now));
        }
        expired
    }

    pub(super) fn begin_probe(&mut self) {
        self.wait = None;
    }

    /// Little is in flight for the first time: the probe's time begins.
    pub(super) fn starts_wait(&mut self, now: Time, few_in_flight: bool) -> bool {
        let starts = self.wait.is_none() && few_in_flight;
        if starts {
            self.wait = Some((now + PROBE, false));
        }
        starts
    }

    /// Whether the probe is over: its time, and a round, have passed.
    pub(super) fn probe_is_over(&mut self, now: Time, round_starts: bool) -> bool {
        let Some((until, passed)) = &mut self.wait else { return false };
        *passed |= round_starts;
        let over = *passed && now > *until;
        if over {
            self.wait = None;
            if let Some((_, at)) = &mut self.least {
                *at = now;
            }
        }
        over
    }
}
