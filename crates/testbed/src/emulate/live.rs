//! What the links of a run carry at the moment, for people who watch it.

use net::LinkId;
use std::fmt;
use std::sync::Mutex;
use units::{Bitrate, Bytes, Duration, Time};

/// A link as of the newest sample.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkNow {
    /// The link: `alice.up`.
    pub name: String,
    /// What left it since the sample before.
    pub rate: Bitrate,
    /// The time in its queue of the packet that left last; zero if nothing waits.
    pub queue: Duration,
}

impl fmt::Display for LinkNow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (rate, queue) = (self.rate.as_bps_f64() / 1e3, self.queue.as_millis_f64());
        write!(f, "{} {rate:.0} kbit/s, queue {queue:.0} ms", self.name)
    }
}

/// The newest samples of all links. The real-time loop writes them, the thread of the command reads
/// them.
#[derive(Debug, Default)]
pub(super) struct Live(Mutex<Vec<Watched>>);

#[derive(Debug)]
struct Watched {
    link: LinkId,
    /// Whether the rate of the link is limited.
    limited: bool,
    sampled: Time,
    left: Bytes,
    now: LinkNow,
}

impl Live {
    /// Takes a sample of a link. Leaves it out if the samples are being read: the loop must not
    /// wait.
    pub(super) fn take(&self, name: &str, link: LinkId, at: Time, columns: Columns) {
        let Ok(mut watched) = self.0.try_lock() else { return };
        let index = watched.iter().position(|one| one.link == link).unwrap_or_else(|| {
            let now = LinkNow { name: name.to_owned(), rate: Bitrate::ZERO, queue: Duration::ZERO };
            let (limited, sampled, left) = (false, Time::ZERO, Bytes::ZERO);
            watched.push(Watched { link, limited, sampled, left, now });
            watched.len() - 1
        });
        let one = &mut watched[index];
        let span = at.saturating_since(one.sampled);
        if span > Duration::ZERO {
            let bytes = columns.left.saturating_sub(one.left);
            one.now.rate = Bitrate::from_bps_f64(bytes.get() as f64 * 8.0 / span.as_secs_f64());
        }
        one.now.queue = columns.queue;
        (one.limited, one.sampled, one.left) = (columns.limited, at, columns.left);
    }

    /// The links with a limited rate that carry something, in the order of the file; without one,
    /// all links that carry something.
    pub(super) fn now(&self) -> Vec<LinkNow> {
        let Ok(watched) = self.0.lock() else { return Vec::new() };
        let busy = |one: &&Watched| one.now.rate > Bitrate::ZERO;
        let any = watched.iter().filter(busy).any(|one| one.limited);
        let shown = watched.iter().filter(busy).filter(|one| one.limited || !any);
        shown.map(|one| one.now.clone()).collect()
    }
}

/// The columns of a link that are shown.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Columns {
    limited: bool,
    left: Bytes,
    queue: Duration,
}

impl Columns {
    /// Takes a column if it is one of those.
    pub(super) fn take(&mut self, name: &str, value: f64) {
        match name {
            "rate" => self.limited = value.is_finite(),
            "bytesOut" => self.left = Bytes::new(value as u64),
            "queueDelay" => self.queue = Duration::from_secs_f64(value),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use net::{Direction, HostId};

    #[test]
    fn limited_links_are_shown_with_the_rate_since_the_sample_before() {
        let live = Live::default();
        let sample = |host, seconds, columns: &[(&str, f64)]| {
            let mut taken = Columns::default();
            columns.iter().for_each(|(name, value)| taken.take(name, *value));
            let link = LinkId { host: HostId(host), direction: Direction::Up };
            live.take(["home.up", "net.up"][host as usize], link, Time::from_secs(seconds), taken);
        };
        sample(1, 1, &[("rate", f64::INFINITY), ("bytesOut", 1_000.0), ("queueDelay", 0.0)]);
        assert_eq!(
            live.now().iter().map(ToString::to_string).collect::<Vec<_>>(),
            ["net.up 8 kbit/s, queue 0 ms"]
        );
        sample(0, 1, &[("rate", 1e6), ("bytesOut", 25_000.0), ("queueDelay", 0.0)]);
        sample(0, 2, &[("rate", 1e6), ("bytesOut", 125_000.0), ("queueDelay", 0.12)]);
        assert_eq!(
            live.now().iter().map(ToString::to_string).collect::<Vec<_>>(),
            ["home.up 800 kbit/s, queue 120 ms"]
        );
    }
}
