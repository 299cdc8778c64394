//! The sender's queue of media, as the controller sees it: frames come and packets leave.

use std::collections::VecDeque;

/// Most frames that are told apart; newer ones count as part of the last.
const MAX_FRAMES: usize = 256;

#[derive(Default)]
pub(crate) struct MediaQueue {
    /// When a frame came, and its bytes that wait.
    frames: VecDeque<(u64, u64)>,
    bytes: u64,
    newest: u64,
}

impl MediaQueue {
    /// A frame came; `queued` is the queue with it, which corrects what is known of the queue.
    pub(crate) fn on_frame(&mut self, now: u64, size: u64, queued: u64) {
        let before = queued.saturating_sub(size);
        while self.bytes > before {
            self.take(self.bytes - before);
        }
        if self.bytes < before {
            match self.frames.front_mut() {
                Some(oldest) => oldest.1 += before - self.bytes,
                None => self.frames.push_back((self.newest, before - self.bytes)),
            }
            self.bytes = before;
        }
        let is_full = self.frames.len() >= MAX_FRAMES;
        match self.frames.back_mut().filter(|_| is_full) {
            Some(last) => last.1 += size,
            None => self.frames.push_back((now, size)),
        }
        self.bytes += size;
        self.newest = now;
    }

    /// A packet left. Returns when its frame came, and whether it was the last of the frame.
    pub(crate) fn on_sent(&mut self, size: u64) -> (u64, bool) {
        let Some(&(frame, left)) = self.frames.front() else { return (self.newest, true) };
        self.take(size);
        (frame, left <= size)
    }

    /// The endpoint discards the queue.
    pub(crate) fn clear(&mut self) {
        self.frames.clear();
        self.bytes = 0;
    }

    fn take(&mut self, mut size: u64) {
        self.bytes = self.bytes.saturating_sub(size);
        while let Some(oldest) = self.frames.front_mut() {
            if oldest.1 > size {
                oldest.1 -= size;
                return;
            }
            size -= oldest.1;
            self.frames.pop_front();
        }
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// How long the oldest frame waits, in ticks.
    pub(crate) fn age(&self, now: u64) -> u64 {
        self.frames.front().map_or(0, |&(since, _)| now.saturating_sub(since))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_frame_ages_until_its_last_byte_leaves() {
        let mut queue = MediaQueue::default();
        queue.on_frame(100, 1500, 1500);
        queue.on_frame(200, 1000, 2500);
        assert_eq!(queue.on_sent(1200), (100, false));
        assert_eq!((queue.age(250), queue.bytes()), (150, 1300));
        assert_eq!((queue.on_sent(300), queue.age(250)), ((100, true), 50));
        queue.on_frame(300, 1000, 1000);
        assert_eq!((queue.age(300), queue.bytes()), (0, 1000), "the endpoint knows better");
        queue.on_sent(5000);
        assert!(queue.is_empty() && queue.age(400) == 0);
    }
}
