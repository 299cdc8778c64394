//! The data that the application has written.

use super::config::{TcpApplication, TcpSource};
use super::pages::Pages;
use super::segment::MAX_SEGMENT;
use units::{Bytes, Duration, Stream, Time};

/// The application at the sending end.
#[derive(Clone, Debug)]
pub(super) enum Application {
    Stream { source: TcpSource, start: Time },
    Pages(Box<Pages>),
}

impl Application {
    /// `random` draws the reading times of pages.
    pub(super) fn new(config: TcpApplication, start: Time, random: Stream) -> Self {
        match config {
            TcpApplication::Stream(source) => Self::Stream { source, start },
            TcpApplication::Pages(pages) => Self::Pages(Box::new(Pages::new(pages, start, random))),
        }
    }

    /// The payload of the next segment, which starts at `offset`; `None` if the application has
    /// written nothing more.
    pub(super) fn next(&self, offset: u64, now: Time) -> Option<Bytes> {
        let up_to = |end: u64| {
            let left = end.saturating_sub(offset);
            (left > 0).then(|| Bytes::new(left).min(MAX_SEGMENT))
        };
        match self {
            Self::Stream { source: TcpSource::Endless, .. } => Some(MAX_SEGMENT),
            Self::Stream { source: TcpSource::Finite(size), .. } => up_to(size.get()),
            Self::Stream { source: TcpSource::OnOff { on, off }, start } => {
                (time_in_period(now, *start, *on + *off) < *on).then_some(MAX_SEGMENT)
            }
            Self::Pages(pages) => up_to(pages.written(now)),
        }
    }

    /// Whether the stream ends at `offset`.
    pub(super) fn ends_at(&self, offset: u64) -> bool {
        match self {
            Self::Stream { source, .. } => *source == TcpSource::Finite(Bytes::new(offset)),
            Self::Pages(pages) => pages.end() == Some(offset),
        }
    }

    /// When the application next starts to write; `None` if no such time is known.
    pub(super) fn next_change(&self, now: Time) -> Option<Time> {
        match self {
            Self::Stream { source: TcpSource::OnOff { on, off }, start } => {
                Some(now + (*on + *off).saturating_sub(time_in_period(now, *start, *on + *off)))
            }
            Self::Stream { .. } => None,
            Self::Pages(pages) => pages.next_change(now),
        }
    }

    /// Everything up to `offset` is acknowledged.
    pub(super) fn on_acknowledged(&mut self, now: Time, offset: u64) {
        if let Self::Pages(pages) = self {
            pages.on_acknowledged(now, offset);
        }
    }

    /// (when the page was loaded, load time in seconds) of each page; `None` for an application
    /// without pages.
    pub(super) fn loaded(&self) -> Option<&[(Time, f64)]> {
        match self {
            Self::Stream { .. } => None,
            Self::Pages(pages) => Some(pages.loaded()),
        }
    }
}

/// The time since the current on/off period began.
fn time_in_period(now: Time, start: Time, period: Duration) -> Duration {
    Duration::from_nanos(now.saturating_since(start).as_nanos() % period.as_nanos().max(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Seed;

    fn application(source: TcpSource, start: Time) -> Application {
        Application::new(source.into(), start, Seed(1).stream("unused"))
    }

    #[test]
    fn sources_write_what_their_configuration_says() {
        let start = Time::from_secs(10);
        let finite = application(TcpSource::Finite(Bytes::new(2_000)), start);
        let sizes: Vec<_> = [0, 1_448, 2_000].map(|offset| finite.next(offset, start)).to_vec();
        assert_eq!(sizes, [Some(Bytes::new(1_448)), Some(Bytes::new(552)), None]);
        assert!(finite.ends_at(2_000) && !finite.ends_at(1_448));
        let source = TcpSource::OnOff { on: Duration::from_secs(2), off: Duration::from_secs(3) };
        let on_off = application(source, start);
        let at = |ms: u64| on_off.next(0, Time::from_millis(ms)).is_some();
        assert_eq!(
            [10_000, 11_999, 12_000, 14_999, 15_000].map(at),
            [true, true, false, false, true]
        );
        assert_eq!(on_off.next_change(Time::from_secs(13)), Some(Time::from_secs(15)));
    }
}
