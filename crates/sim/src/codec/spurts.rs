//! Talk-spurts and pauses of speech, each exponentially distributed.

use units::{Bytes, Duration, Stream, Time};

/// The lengths of talk-spurts and pauses, and what is sent in pauses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Spurts {
    /// The mean length of a talk-spurt.
    pub spurt: Duration,
    /// The mean length of a pause.
    pub pause: Duration,
    /// The payload of a packet in a pause, the silence descriptor.
    pub silence: Bytes,
    /// A silence descriptor is sent at the start of a pause and then once per this interval.
    pub silence_interval: Duration,
}

impl Spurts {
    /// The talk-spurts of one party of a conversation (ITU-T P.59 (03/93), Table 1: talk-spurts of
    /// 1.004 s and pauses of 1.587 s on average), with these silence descriptors.
    #[must_use]
    pub const fn of_speech(silence: Bytes, silence_interval: Duration) -> Self {
        let (spurt, pause) = (Duration::from_millis(1_004), Duration::from_millis(1_587));
        Self { spurt, pause, silence, silence_interval }
    }
}

/// The current state of a voice.
#[derive(Clone, Debug)]
pub(super) struct Voice {
    spurts: Spurts,
    /// Whether the voice speaks, and until when; `None` before the first query.
    current: Option<(bool, Time)>,
}

impl Voice {
    pub(super) fn new(spurts: Spurts) -> Self {
        Self { spurts, current: None }
    }

    /// Returns whether the voice speaks at `now`, and until when. `now` must not decrease.
    pub(super) fn advance(&mut self, now: Time, random: &mut Stream) -> (bool, Time) {
        let (mut is_speaking, mut until) = self.current.unwrap_or_else(|| {
            // The stationary distribution: exponential lengths have no memory.
            let (spurt, pause) = (self.spurts.spurt.as_secs_f64(), self.spurts.pause.as_secs_f64());
            let is_speaking = random.chance(spurt / (spurt + pause));
            (is_speaking, now + self.length(is_speaking, random))
        });
        while until <= now {
            is_speaking = !is_speaking;
            until += self.length(is_speaking, random);
        }
        self.current = Some((is_speaking, until));
        (is_speaking, until)
    }

    fn length(&self, is_speaking: bool, random: &mut Stream) -> Duration {
        let mean = if is_speaking { self.spurts.spurt } else { self.spurts.pause };
        // At least 1 ns, so that time advances.
        Duration::from_secs_f64(mean.as_secs_f64() * random.exponential())
            .max(Duration::from_nanos(1))
    }
}
