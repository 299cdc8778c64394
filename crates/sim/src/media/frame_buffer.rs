//! Assembly of packets into frames, decoding order, and playout.

use super::Show;
use crate::payload::FramePart;
use units::{Bytes, Duration, Time};

/// The number of incomplete frames kept: over 15 s at 60 fps.
const FRAMES: u64 = 1024;
/// The number of packets remembered, so that duplicates are not counted.
const PACKETS: u64 = 8192;

#[derive(Clone, Copy, Default)]
struct Slot {
    part: FramePart,
    got: u16,
    first: Time,
    payload: Bytes,
}

/// Assembles frames and releases them in order. A frame can be decoded when it is complete, and it
/// is a key frame or follows a decoded frame.
pub(crate) struct FrameBuffer {
    slots: Vec<Slot>,
    seen: Vec<u64>,
    /// The next frame to decode.
    next: u64,
    awaiting_key: bool,
    /// The newest complete key frame.
    newest_key: Option<u64>,
    /// The newest frame of which a packet arrived.
    newest: u64,
    pub(crate) playout: Playout,
    pub(crate) frames_received: u64,
}

impl FrameBuffer {
    pub(crate) fn new() -> Self {
        let none =
            Slot { part: FramePart { frame: u64::MAX, ..FramePart::default() }, ..Slot::default() };
        Self {
            slots: vec![none; FRAMES as usize],
            seen: vec![u64::MAX; PACKETS as usize],
            next: 0,
            awaiting_key: true,
            newest_key: None,
            newest: 0,
            playout: Playout::default(),
            frames_received: 0,
        }
    }

    /// Processes a packet by its (original) sequence number. Calls `decoded` for every frame that
    /// can now be decoded, with the delay since its capture and its payload.
    pub(crate) fn on_part(
        &mut self,
        now: Time,
        sequence: u64,
        (part, payload): (&FramePart, Bytes),
        mut decoded: impl FnMut(Duration, Bytes),
    ) {
        let seen = &mut self.seen[(sequence % PACKETS) as usize];
        if *seen == sequence || part.frame < self.next {
            return;
        }
        *seen = sequence;
        self.newest = self.newest.max(part.frame);
        let slot = &mut self.slots[(part.frame % FRAMES) as usize];
        if slot.part.frame != part.frame {
            *slot = Slot { part: *part, got: 0, first: now, payload: Bytes::ZERO };
        }
        slot.got += 1;
        slot.payload += payload;
        if slot.got < part.count {
            return;
        }
        self.frames_received += 1;
        if part.key {
            self.newest_key = self.newest_key.max(Some(part.frame));
        }
        while let Some(slot) = self.take_decodable() {
            self.playout.show(now, &slot.part, slot.first);
            decoded(now.saturating_since(slot.part.captured), slot.payload);
        }
    }

    fn complete(&self, frame: u64) -> Option<Slot> {
        let slot = self.slots[(frame % FRAMES) as usize];
        (slot.part.frame == frame && slot.got == slot.part.count).then_some(slot)
    }

    fn take_decodable(&mut self) -> Option<Slot> {
        let in_order = self.complete(self.next).filter(|slot| slot.part.key || !self.awaiting_key);
        let key =
            || self.newest_key.filter(|&key| key >= self.next).and_then(|key| self.complete(key));
        let slot = in_order.or_else(key)?;
        self.next = slot.part.frame + 1;
        self.awaiting_key = false;
        Some(slot)
    }

    /// The next frame to decode.
    pub(crate) fn next_frame(&self) -> u64 {
        self.next
    }

    /// Whether nothing can be decoded before the next key frame.
    pub(crate) fn awaiting_key(&self) -> bool {
        self.awaiting_key
    }

    /// Whether a frame is overdue: a packet of the next frame to decode, or of a newer one, has
    /// arrived.
    pub(crate) fn stalled(&self) -> bool {
        self.newest >= self.next
    }
}

/// Plays out decoded frames after a delay that covers their jitter, and counts freezes.
///
/// A frame is shown at its capture time plus the mean delay plus 2.33 standard deviations (the 99th
/// percentile of a normal distribution, as in libwebrtc
/// `modules/video_coding/timing/jitter_estimator.cc`), or at once if that is past.
#[derive(Default)]
pub(crate) struct Playout {
    mean: f64,
    variance: f64,
    last: Option<Time>,
    /// The mean interval between shown frames, in seconds.
    interval: f64,
    pub(crate) decoded: u64,
    pub(crate) keys: u64,
    pub(crate) size: (u16, u16),
    /// (end, length) of each freeze.
    pub(crate) freezes: Vec<(Time, Duration)>,
    pub(crate) frozen: Duration,
    pub(crate) buffered: Duration,
}

/// Weight of a new frame in the delay estimate (1/128: a memory of about 4 s at 30 fps).
const MEMORY: f64 = 1.0 / 128.0;
/// Weight of a new interval in the mean: the last 30 frames (W3C webrtc-stats, `freezeCount`).
const INTERVAL_MEMORY: f64 = 1.0 / 30.0;

impl Playout {
    fn show(&mut self, now: Time, part: &FramePart, first_packet: Time) {
        let delay = now.saturating_since(part.captured).as_secs_f64();
        if self.decoded == 0 {
            self.mean = delay;
        }
        let innovation = delay - self.mean;
        self.mean += MEMORY * innovation;
        self.variance += MEMORY * (innovation * innovation - self.variance);
        let hold = Duration::from_secs_f64(self.mean + 2.33 * self.variance.sqrt());
        let at = now.max(part.captured + hold).max(self.last.unwrap_or(Time::ZERO));
        self.buffered += at.saturating_since(first_packet);
        self.decoded += 1;
        self.keys += u64::from(part.key);
        self.size = (part.width, part.height);
        if let Some(last) = self.last.replace(at) {
            self.count_freeze(at, at.saturating_since(last));
        }
    }

    /// Counts a freeze: an interval longer than both three times the mean and the mean plus 150 ms
    /// (W3C webrtc-stats § inbound-rtp, `freezeCount`).
    fn count_freeze(&mut self, at: Time, interval: Duration) {
        let seconds = interval.as_secs_f64();
        if self.interval > 0.0 && seconds > (3.0 * self.interval).max(self.interval + 0.150) {
            self.freezes.push((at, interval));
            self.frozen += interval;
        }
        let weight = if self.interval == 0.0 { 1.0 } else { INTERVAL_MEMORY };
        self.interval += weight * (seconds - self.interval);
    }
}

/// Counters of packets, payload and header bytes.
#[derive(Clone, Copy, Default)]
pub(crate) struct Counted {
    pub(crate) packets: u64,
    pub(crate) payload: Bytes,
    pub(crate) headers: Bytes,
}

impl Counted {
    pub(crate) fn add(&mut self, payload: Bytes, headers: Bytes) {
        self.packets += 1;
        self.payload += payload;
        self.headers += headers;
    }

    /// Shows the outbound-rtp members.
    pub(crate) fn show_sent(&self, show: &mut Show<'_>) {
        show("bytesSent", self.payload.get() as f64);
        show("headerBytesSent", self.headers.get() as f64);
        show("packetsSent", self.packets as f64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(frame: u64, index: u16, key: bool) -> FramePart {
        FramePart {
            frame,
            index,
            count: 2,
            key,
            width: 1280,
            height: 720,
            captured: Time::from_millis(33 * frame),
        }
    }

    fn feed(packets: &[(u64, u64, u16, bool)]) -> (FrameBuffer, usize) {
        let (mut buffer, mut decoded) = (FrameBuffer::new(), 0);
        for &(sequence, frame, index, key) in packets {
            let now = Time::from_millis(33 * frame + 20);
            let part = (&part(frame, index, key), Bytes::new(100));
            buffer.on_part(now, sequence, part, |_, payload| {
                assert_eq!(payload, Bytes::new(200));
                decoded += 1;
            });
        }
        (buffer, decoded)
    }

    #[test]
    fn a_lost_packet_stops_decoding_until_it_is_recovered() {
        let (buffer, decoded) = feed(&[
            (0, 0, 0, true),
            (1, 0, 1, true),
            (2, 1, 0, false),
            (4, 2, 0, false),
            (5, 2, 1, false),
        ]);
        assert_eq!(decoded, 1);
        assert!(buffer.stalled());
        let (buffer, decoded) = feed(&[
            (0, 0, 0, true),
            (1, 0, 1, true),
            (2, 1, 0, false),
            (4, 2, 0, false),
            (5, 2, 1, false),
            (3, 1, 1, false),
        ]);
        assert_eq!(decoded, 3);
        assert!(!buffer.stalled());
    }

    #[test]
    fn a_later_key_frame_resumes_decoding_after_a_loss() {
        let (_, decoded) = feed(&[
            (0, 0, 0, true),
            (1, 0, 1, true),
            (2, 1, 0, false),
            (4, 2, 0, true),
            (5, 2, 1, true),
        ]);
        assert_eq!(decoded, 2);
    }

    #[test]
    fn duplicates_complete_nothing() {
        let (_, decoded) = feed(&[(0, 0, 0, true), (0, 0, 0, true)]);
        assert_eq!(decoded, 0);
    }

    #[test]
    fn a_long_gap_is_a_freeze() {
        let mut playout = Playout::default();
        for frame in 0..60u64 {
            let late = if frame == 40 { 500 } else { 0 };
            let now = Time::from_millis(33 * frame + 20 + late);
            playout.show(now, &part(frame, 0, false), now);
        }
        assert_eq!(playout.freezes.len(), 1);
        assert!(playout.frozen >= Duration::from_millis(450), "{}", playout.frozen);
    }
}
