//! The bytes of packets that are under way: the model knows a packet by its handle, the bytes wait
//! here.

/// Bytes before each packet, for the header that a device wants.
pub(crate) const HEADROOM: usize = 10;

/// A packet's bytes, after the headroom.
#[derive(Debug)]
struct Buffer {
    bytes: Box<[u8]>,
    length: usize,
}

/// A slab of buffers, reused newest first, so that few of them are in the cache's way.
#[derive(Debug)]
pub(crate) struct Buffers {
    capacity: usize,
    buffers: Vec<Buffer>,
    free: Vec<usize>,
}

impl Buffers {
    /// Of buffers for packets of this many bytes.
    pub(crate) fn new(capacity: usize) -> Self {
        Self { capacity: HEADROOM + capacity, buffers: Vec::new(), free: Vec::new() }
    }

    /// A buffer to be filled: its handle, and all of its bytes with the headroom.
    pub(crate) fn take(&mut self) -> (u64, &mut [u8]) {
        let place = self.free.pop().unwrap_or_else(|| {
            let bytes = vec![0; self.capacity].into_boxed_slice();
            self.buffers.push(Buffer { bytes, length: 0 });
            self.buffers.len() - 1
        });
        (place as u64, &mut self.buffers[place].bytes)
    }

    /// It was filled with a packet of this length.
    pub(crate) fn fill(&mut self, handle: u64, length: usize) -> &mut [u8] {
        self.buffers[handle as usize].length = length;
        self.get(handle)
    }

    /// The packet that it holds.
    pub(crate) fn get(&mut self, handle: u64) -> &mut [u8] {
        &mut self.raw(handle)[HEADROOM..]
    }

    /// The packet with its headroom.
    pub(crate) fn raw(&mut self, handle: u64) -> &mut [u8] {
        let buffer = &mut self.buffers[handle as usize];
        &mut buffer.bytes[..HEADROOM + buffer.length]
    }

    /// The same from a byte on.
    pub(crate) fn part(&self, handle: u64, from: usize) -> &[u8] {
        let buffer = &self.buffers[handle as usize];
        &buffer.bytes[from..HEADROOM + buffer.length]
    }

    /// It is free again.
    pub(crate) fn give_back(&mut self, handle: u64) {
        self.free.push(handle as usize);
    }

    /// How many are in use.
    #[cfg(test)]
    fn in_use(&self) -> usize {
        self.buffers.len() - self.free.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handles_are_reused_and_keep_their_bytes() {
        let mut buffers = Buffers::new(4);
        let (one, bytes) = buffers.take();
        bytes[HEADROOM..HEADROOM + 2].copy_from_slice(b"ab");
        assert_eq!(buffers.fill(one, 2), b"ab");
        let (two, bytes) = buffers.take();
        bytes[HEADROOM..].copy_from_slice(b"cdef");
        buffers.fill(two, 4);
        assert_eq!((buffers.get(one).to_vec(), buffers.in_use()), (b"ab".to_vec(), 2));
        assert_eq!(
            (buffers.raw(two).len(), buffers.part(two, HEADROOM + 1)),
            (HEADROOM + 4, &b"def"[..])
        );
        buffers.give_back(one);
        assert_eq!((buffers.take().0, buffers.get(two).to_vec()), (one, b"cdef".to_vec()));
    }
}
