//! Somebody reads pages that come over one connection.

use super::config::TcpPages;
use units::{Duration, Stream, Time};

/// How far the reader has come.
#[derive(Clone, Debug)]
pub(super) struct Pages {
    config: TcpPages,
    random: Stream,
    /// How many pages have come wholly.
    read: u32,
    /// When the next page is asked for, which is what the application writes then.
    asked: Time,
    /// When each page was there, and how long it took, in seconds.
    loaded: Vec<(Time, f64)>,
}

impl Pages {
    /// The first page is asked for at `start`, before the connection is open.
    pub(super) fn new(config: TcpPages, start: Time, random: Stream) -> Self {
        Self { config, random, read: 0, asked: start, loaded: Vec::new() }
    }

    /// The offset up to which something is written.
    pub(super) fn written(&self, now: Time) -> u64 {
        let begun = self.read + u32::from(self.asked <= now);
        u64::from(begun.min(self.config.count)) * self.config.size.get()
    }

    /// Where the stream ends.
    pub(super) fn end(&self) -> u64 {
        u64::from(self.config.count) * self.config.size.get()
    }

    /// When the next page is asked for, if it is still being waited for.
    pub(super) fn next_change(&self, now: Time) -> Option<Time> {
        (self.asked > now && self.read < self.config.count).then_some(self.asked)
    }

    /// Everything up to the offset is acknowledged.
    pub(super) fn on_acknowledged(&mut self, now: Time, offset: u64) {
        if self.read == self.config.count || self.asked > now || offset < self.written(now) {
            return;
        }
        self.read += 1;
        self.loaded.push((now, now.saturating_since(self.asked).as_secs_f64()));
        let (least, most) = self.config.reading;
        let more = most.saturating_sub(least).as_secs_f64() * self.random.uniform();
        // Not at once, or the page would be taken for one that had been asked for before.
        self.asked = now + (least + Duration::from_secs_f64(more)).max(Duration::from_nanos(1));
    }

    /// When each page was there, and how long that took from when it was asked for, in seconds.
    pub(super) fn take_loaded(&mut self) -> Vec<(Time, f64)> {
        std::mem::take(&mut self.loaded)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::{Bytes, Seed};

    #[test]
    fn the_next_page_is_asked_for_when_the_last_was_read() {
        let reading = (Duration::from_secs(2), Duration::from_secs(20));
        let config = TcpPages { count: 2, size: Bytes::new(100_000), reading };
        let start = Time::from_secs(5);
        let mut pages = Pages::new(config, start, Seed(1).stream("web.reading"));
        assert_eq!((pages.written(start), pages.end()), (100_000, 200_000));
        pages.on_acknowledged(Time::from_secs(6), 99_999);
        assert_eq!(pages.next_change(Time::from_secs(6)), None);
        let there = Time::from_secs(7);
        pages.on_acknowledged(there, 100_000);
        assert_eq!(pages.written(there), 100_000);
        let next = pages.next_change(there).unwrap();
        assert!((Time::from_secs(9)..Time::from_secs(27)).contains(&next), "{next}");
        assert_eq!((pages.written(next), pages.next_change(next)), (200_000, None));
        pages.on_acknowledged(next + Duration::from_secs(3), 200_000);
        assert_eq!(pages.next_change(next + Duration::from_secs(3)), None);
        let times: Vec<f64> = pages.take_loaded().into_iter().map(|(_, time)| time).collect();
        assert_eq!(times, [2.0, 3.0]);
    }
}
