//! The bytes of packets in the network: the model knows a packet by its handle, the bytes are
//! stored here.

/// Bytes before each packet: the `virtio_net_hdr` that a TUN device expects.
pub(crate) const HEADROOM: usize = 10;

/// The headroom and the bytes of a packet.
#[derive(Debug)]
struct Buffer {
    bytes: Box<[u8]>,
    length: usize,
}

/// A slab of buffers. The buffer that was freed last is used first, because it is likely to be in
/// the cache.
#[derive(Debug)]
pub(crate) struct Buffers {
    capacity: usize,
    buffers: Vec<Buffer>,
    free: Vec<usize>,
}

impl Buffers {
    /// Buffers that hold packets of up to `capacity` bytes.
    pub(crate) fn new(capacity: usize) -> Self {
        Self { capacity: HEADROOM + capacity, buffers: Vec::new(), free: Vec::new() }
    }

    /// Takes a free buffer. Returns its handle and all of its bytes, headroom included.
    pub(crate) fn take(&mut self) -> (u64, &mut [u8]) {
        let index = self.free.pop().unwrap_or_else(|| {
            let bytes = vec![0; self.capacity].into_boxed_slice();
            self.buffers.push(Buffer { bytes, length: 0 });
            self.buffers.len() - 1
        });
        (index as u64, &mut self.buffers[index].bytes)
    }

    /// Sets the length of the packet that was written into the buffer, and returns the packet.
    pub(crate) fn fill(&mut self, handle: u64, length: usize) -> &mut [u8] {
        self.buffers[handle as usize].length = length;
        self.get(handle)
    }

    /// The packet in this buffer.
    pub(crate) fn get(&mut self, handle: u64) -> &mut [u8] {
        &mut self.raw(handle)[HEADROOM..]
    }

    /// The headroom and the packet in this buffer.
    pub(crate) fn raw(&mut self, handle: u64) -> &mut [u8] {
        let buffer = &mut self.buffers[handle as usize];
        &mut buffer.bytes[..HEADROOM + buffer.length]
    }

    /// The headroom and the packet in this buffer, from byte `from` on.
    pub(crate) fn part(&self, handle: u64, from: usize) -> &[u8] {
        let buffer = &self.buffers[handle as usize];
        &buffer.bytes[from..HEADROOM + buffer.length]
    }

    /// Frees a buffer.
    pub(crate) fn give_back(&mut self, handle: u64) {
        self.free.push(handle as usize);
    }

    /// How many buffers are in use.
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
