//! Speech that comes and goes: spurts and pauses, each exponentially distributed.

use units::{Bytes, Duration, Stream, Time};

/// How a voice comes and goes, and what is sent while it is silent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spurts {
    /// The mean length of a spurt.
    pub spurt: Duration,
    /// The mean length of a pause.
    pub pause: Duration,
    /// The payload of a packet in a pause: a silence descriptor.
    pub silence: Bytes,
    /// One such packet goes at the beginning of a pause, and one each such time in it.
    pub silence_interval: Duration,
}

impl Spurts {
    /// Of one party of a conversation (ITU-T P.59 (03/93), Table 1: talk-spurts of 1.004 s and
    /// pauses of 1.587 s in the mean), with such silence descriptors.
    #[must_use]
    pub const fn of_speech(silence: Bytes, silence_interval: Duration) -> Self {
        let (spurt, pause) = (Duration::from_millis(1_004), Duration::from_millis(1_587));
        Self { spurt, pause, silence, silence_interval }
    }
}

/// The voice as time goes by.
#[derive(Clone, Debug)]
pub(super) struct Voice {
    spurts: Spurts,
    /// Whether it speaks, and until when; nothing is known before it is first listened to.
    now: Option<(bool, Time)>,
}

impl Voice {
    pub(super) fn new(spurts: Spurts) -> Self {
        Self { spurts, now: None }
    }

    /// Whether it speaks, and until when. `now` must not be before an earlier one.
    pub(super) fn listen(&mut self, now: Time, random: &mut Stream) -> (bool, Time) {
        let (mut speaks, mut until) = self.now.unwrap_or_else(|| {
            // As if it had spoken for ever: exponential lengths have no memory.
            let (spurt, pause) = (self.spurts.spurt.as_secs_f64(), self.spurts.pause.as_secs_f64());
            let speaks = random.chance(spurt / (spurt + pause));
            (speaks, now + self.length(speaks, random))
        });
        while until <= now {
            speaks = !speaks;
            until += self.length(speaks, random);
        }
        self.now = Some((speaks, until));
        (speaks, until)
    }

    fn length(&self, speaks: bool, random: &mut Stream) -> Duration {
        let mean = if speaks { self.spurts.spurt } else { self.spurts.pause };
        // Not nothing, or time would stand still.
        Duration::from_secs_f64(mean.as_secs_f64() * random.exponential())
            .max(Duration::from_nanos(1))
    }
}
