//! What the application has written.

use super::config::TcpSource;
use super::segment::MAX_SEGMENT;
use units::{Bytes, Duration, Time};

/// The application at the sending end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Application {
    source: TcpSource,
    start: Time,
}

impl Application {
    pub(super) fn new(source: TcpSource, start: Time) -> Self {
        Self { source, start }
    }

    /// The payload of the next segment, which begins at `offset`; none while nothing is written.
    pub(super) fn next(&self, offset: u64, now: Time) -> Option<Bytes> {
        match self.source {
            TcpSource::Endless => Some(MAX_SEGMENT),
            TcpSource::Finite(size) => {
                let left = size.get().saturating_sub(offset);
                (left > 0).then(|| Bytes::new(left).min(MAX_SEGMENT))
            }
            TcpSource::OnOff { on, .. } => (self.phase(now) < on).then_some(MAX_SEGMENT),
        }
    }

    /// Whether the stream ends at `offset`.
    pub(super) fn ends_at(&self, offset: u64) -> bool {
        self.source == TcpSource::Finite(Bytes::new(offset))
    }

    /// When it next begins to write.
    pub(super) fn next_change(&self, now: Time) -> Option<Time> {
        match self.source {
            TcpSource::OnOff { on, off } => Some(now + (on + off).saturating_sub(self.phase(now))),
            _ => None,
        }
    }

    /// How far into the turn of on and off it is.
    fn phase(&self, now: Time) -> Duration {
        match self.source {
            TcpSource::OnOff { on, off } => {
                let turn = (on + off).as_nanos().max(1);
                Duration::from_nanos(now.saturating_since(self.start).as_nanos() % turn)
            }
            _ => Duration::ZERO,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_there_is_to_send() {
        let start = Time::from_secs(10);
        let finite = Application::new(TcpSource::Finite(Bytes::new(2_000)), start);
        let sizes: Vec<_> = [0, 1_448, 2_000].map(|offset| finite.next(offset, start)).to_vec();
        assert_eq!(sizes, [Some(Bytes::new(1_448)), Some(Bytes::new(552)), None]);
        assert!(finite.ends_at(2_000) && !finite.ends_at(1_448));
        let source = TcpSource::OnOff { on: Duration::from_secs(2), off: Duration::from_secs(3) };
        let turns = Application::new(source, start);
        let at = |ms: u64| turns.next(0, Time::from_millis(ms)).is_some();
        assert_eq!([10_000, 11_999, 12_000, 14_999, 15_000].map(at), [true, true, false, false, true]);
        assert_eq!(turns.next_change(Time::from_secs(13)), Some(Time::from_secs(15)));
    }
}
