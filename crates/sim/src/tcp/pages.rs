//! A web session: pages that are requested one after the other over one connection.

use super::config::{Reading, TcpPages};
use units::{Bytes, Duration, Stream, Time};

/// The state of the web session.
#[derive(Clone, Debug)]
pub(super) struct Pages {
    config: TcpPages,
    random: Stream,
    /// The number of pages that are loaded completely.
    loaded_count: u32,
    /// The offset at which the last of them ends.
    loaded_end: u64,
    /// The size of the next page.
    size: u64,
    /// When the next page is requested, which is when the application writes it.
    requested: Time,
    /// (when the page was loaded, load time in seconds) of each page.
    loaded: Vec<(Time, f64)>,
}

impl Pages {
    /// The first page is requested at `start`, before the connection is open, or after a reading
    /// time.
    pub(super) fn new(config: TcpPages, start: Time, random: Stream) -> Self {
        let loaded = Vec::new();
        let mut pages = Self {
            config,
            random,
            loaded_count: 0,
            loaded_end: 0,
            size: 0,
            requested: start,
            loaded,
        };
        if config.reads_first {
            pages.requested = start + pages.reading_time();
        }
        pages.size = pages.page_size();
        pages
    }

    /// The offset up to which the application has written.
    pub(super) fn written(&self, now: Time) -> u64 {
        let next = if self.requested <= now && !self.is_over() { self.size } else { 0 };
        self.loaded_end + next
    }

    /// The offset at which the stream ends; `None` before the last page is next.
    pub(super) fn end(&self) -> Option<u64> {
        let next = if self.is_over() { 0 } else { self.size };
        (self.loaded_count + 1 >= self.config.count).then_some(self.loaded_end + next)
    }

    fn is_over(&self) -> bool {
        self.loaded_count == self.config.count
    }

    /// When the next page is requested, if that is in the future.
    pub(super) fn next_change(&self, now: Time) -> Option<Time> {
        (self.requested > now && !self.is_over()).then_some(self.requested)
    }

    /// Everything up to `offset` is acknowledged.
    pub(super) fn on_acknowledged(&mut self, now: Time, offset: u64) {
        if self.is_over() || self.requested > now || offset < self.written(now) {
            return;
        }
        (self.loaded_count, self.loaded_end) = (self.loaded_count + 1, self.loaded_end + self.size);
        self.loaded.push((now, now.saturating_since(self.requested).as_secs_f64()));
        // At least 1 ns later; otherwise the page would count as one that was requested before.
        self.requested = now + self.reading_time().max(Duration::from_nanos(1));
        self.size = self.page_size();
    }

    fn reading_time(&mut self) -> Duration {
        match self.config.reading {
            Reading::Uniform(least, most) => {
                let extra = most.saturating_sub(least).as_secs_f64() * self.random.uniform();
                least + Duration::from_secs_f64(extra)
            }
            Reading::Exponential(mean) => {
                Duration::from_secs_f64(mean.as_secs_f64() * self.random.exponential())
            }
        }
    }

    fn page_size(&mut self) -> u64 {
        let (least, most): (Bytes, Bytes) = self.config.size;
        match most.saturating_sub(least).get() {
            0 => least.get(),
            extra => least.get() + self.random.below(extra.saturating_add(1)),
        }
    }

    /// (When the page was loaded, load time from its request in seconds) of each page.
    pub(super) fn loaded(&self) -> &[(Time, f64)] {
        &self.loaded
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::{Bytes, Seed};

    #[test]
    fn the_next_page_is_requested_when_the_last_was_read() {
        let reading = (Duration::from_secs(2), Duration::from_secs(20));
        let size = (Bytes::new(100_000), Bytes::new(100_000));
        let reading = Reading::Uniform(reading.0, reading.1);
        let config = TcpPages { count: 2, size, reading, reads_first: false };
        let start = Time::from_secs(5);
        let mut pages = Pages::new(config, start, Seed(1).stream("web.reading"));
        assert_eq!((pages.written(start), pages.end()), (100_000, None));
        pages.on_acknowledged(Time::from_secs(6), 99_999);
        assert_eq!(pages.next_change(Time::from_secs(6)), None);
        let there = Time::from_secs(7);
        pages.on_acknowledged(there, 100_000);
        assert_eq!(pages.written(there), 100_000);
        let next = pages.next_change(there).unwrap();
        assert!((Time::from_secs(9)..Time::from_secs(27)).contains(&next), "{next}");
        assert_eq!((pages.written(next), pages.next_change(next)), (200_000, None));
        assert_eq!(pages.end(), Some(200_000));
        pages.on_acknowledged(next + Duration::from_secs(3), 200_000);
        assert_eq!(pages.next_change(next + Duration::from_secs(3)), None);
        let times: Vec<f64> = pages.loaded().iter().map(|(_, time)| *time).collect();
        assert_eq!(times, [2.0, 3.0]);
    }
    /// RFC 8868 § 5.1: 30 to 50 kB, evenly distributed; idle times are exponential with a mean of
    /// 10 s.
    #[test]
    fn sizes_and_idle_times_are_those_of_short_flows() {
        let mean = Duration::from_secs(10);
        let size = (Bytes::new(30_000), Bytes::new(50_000));
        let reading = Reading::Exponential(mean);
        let config = TcpPages { count: 2_000, size, reading, reads_first: true };
        let mut pages = Pages::new(config, Time::ZERO, Seed(1).stream("short.reading"));
        let (mut now, mut idle, mut sizes) = (Time::ZERO, Vec::new(), Vec::new());
        while let Some(next) = pages.next_change(now) {
            idle.push(next.saturating_since(now).as_secs_f64());
            now = next;
            sizes.push(pages.written(now) - sizes.iter().sum::<u64>());
            pages.on_acknowledged(now, pages.written(now));
        }
        assert_eq!((idle.len(), pages.end()), (2_000, Some(sizes.iter().sum())));
        assert!(sizes.iter().all(|size| (30_000..=50_000).contains(size)));
        let mean_size = sizes.iter().sum::<u64>() as f64 / 2_000.0;
        assert!((mean_size / 40_000.0 - 1.0).abs() < 0.02, "{mean_size}");
        let mean_idle = idle.iter().sum::<f64>() / 2_000.0;
        assert!((mean_idle - 10.0).abs() < 0.7, "{mean_idle}");
    }
}
