//! A web session: pages that are requested one after the other over one connection.

use super::config::TcpPages;
use units::{Duration, Stream, Time};

/// The state of the web session.
#[derive(Clone, Debug)]
pub(super) struct Pages {
    config: TcpPages,
    random: Stream,
    /// The number of pages that are loaded completely.
    loaded_count: u32,
    /// When the next page is requested, which is when the application writes it.
    requested: Time,
    /// (when the page was loaded, load time in seconds) of each page.
    loaded: Vec<(Time, f64)>,
}

impl Pages {
    /// The first page is requested at `start`, before the connection is open.
    pub(super) fn new(config: TcpPages, start: Time, random: Stream) -> Self {
        Self { config, random, loaded_count: 0, requested: start, loaded: Vec::new() }
    }

    /// The offset up to which the application has written.
    pub(super) fn written(&self, now: Time) -> u64 {
        let written_count = self.loaded_count + u32::from(self.requested <= now);
        u64::from(written_count.min(self.config.count)) * self.config.size.get()
    }

    /// The offset at which the stream ends.
    pub(super) fn end(&self) -> u64 {
        u64::from(self.config.count) * self.config.size.get()
    }

    /// When the next page is requested, if that is in the future.
    pub(super) fn next_change(&self, now: Time) -> Option<Time> {
        (self.requested > now && self.loaded_count < self.config.count).then_some(self.requested)
    }

    /// Everything up to `offset` is acknowledged.
    pub(super) fn on_acknowledged(&mut self, now: Time, offset: u64) {
        if self.loaded_count == self.config.count
            || self.requested > now
            || offset < self.written(now)
        {
            return;
        }
        self.loaded_count += 1;
        self.loaded.push((now, now.saturating_since(self.requested).as_secs_f64()));
        let (min, max) = self.config.reading;
        let extra = max.saturating_sub(min).as_secs_f64() * self.random.uniform();
        // At least 1 ns later; otherwise the page would count as one that was requested before.
        self.requested = now + (min + Duration::from_secs_f64(extra)).max(Duration::from_nanos(1));
    }

    /// Takes (when the page was loaded, load time from its request in seconds) of each page.
    pub(super) fn take_loaded(&mut self) -> Vec<(Time, f64)> {
        std::mem::take(&mut self.loaded)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::{Bytes, Seed};

    #[test]
    fn the_next_page_is_requested_when_the_last_was_read() {
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
