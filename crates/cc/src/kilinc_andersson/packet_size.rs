//! s, the mean packet size over one second (§ 3.3A).

use units::{Bytes, Duration, Time};

const WINDOW: Duration = Duration::from_secs(1);

/// The mean over the last whole second. Before the end of the first second, the mean over all
/// packets so far.
#[derive(Default)]
pub(crate) struct PacketSize {
    since: Option<Time>,
    bytes: Bytes,
    packets: u64,
    mean: Option<Bytes>,
}

impl PacketSize {
    pub(crate) fn on_packet(&mut self, now: Time, size: Bytes) {
        if now.saturating_since(*self.since.get_or_insert(now)) >= WINDOW {
            self.mean = self.current();
            (self.since, self.bytes, self.packets) = (Some(now), Bytes::ZERO, 0);
        }
        self.bytes += size;
        self.packets += 1;
    }

    fn current(&self) -> Option<Bytes> {
        self.bytes.get().checked_div(self.packets).map(Bytes::new)
    }

    /// The mean; `None` before the first packet.
    pub(crate) fn mean(&self) -> Option<Bytes> {
        self.mean.or_else(|| self.current())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_is_over_the_last_whole_second() {
        let mut size = PacketSize::default();
        assert_eq!(size.mean(), None);
        for k in 0..20 {
            size.on_packet(Time::from_millis(100 * k), Bytes::new(if k < 10 { 1000 } else { 500 }));
        }
        assert_eq!(size.mean(), Some(Bytes::new(1000)));
        size.on_packet(Time::from_millis(2000), Bytes::new(100));
        assert_eq!(size.mean(), Some(Bytes::new(500)));
    }
}
