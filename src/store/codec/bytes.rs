//! Bytes that one side writes from the end to the front, so that the other reads them from front to end.

/// Bytes written from the end of a buffer to its front.
#[derive(Default)]
pub(super) struct Backward {
    bytes: Vec<u8>,
    at: usize,
}

impl Backward {
    /// Forgets what was written, and makes room for `room` bytes.
    pub fn clear(&mut self, room: usize) {
        if self.bytes.len() < room {
            self.bytes.resize(room, 0);
        }
        self.at = self.bytes.len();
    }

    pub fn push(&mut self, byte: u8) {
        self.at -= 1;
        self.bytes[self.at] = byte;
    }

    /// Makes room for `count` bytes in front of those written, and returns it.
    pub fn front(&mut self, count: usize) -> &mut [u8] {
        let end = self.at;
        self.at -= count;
        &mut self.bytes[self.at..end]
    }

    /// Writes the last `count` of eight bytes in front of those written, and anything in front of them.
    pub fn push_last(&mut self, bytes: u64, count: usize) {
        if let Some(first) = self.at.checked_sub(8) {
            self.bytes[first..self.at].copy_from_slice(&bytes.to_le_bytes());
            self.at -= count;
        } else {
            let last = &bytes.to_le_bytes()[8 - count..];
            self.front(count).copy_from_slice(last);
        }
    }

    pub fn written(&self) -> &[u8] {
        &self.bytes[self.at..]
    }
}

/// Bytes being read; beyond their end are zeros.
#[derive(Clone, Copy)]
pub(super) struct Forward<'a> {
    bytes: &'a [u8],
    /// How many have been read, those beyond the end too.
    pub at: usize,
}

impl<'a> Forward<'a> {
    pub fn new(bytes: &'a [u8]) -> Forward<'a> {
        Forward { bytes, at: 0 }
    }

    /// The byte that comes next, which is not taken yet.
    pub fn peek(&self) -> u8 {
        self.bytes.get(self.at).copied().unwrap_or(0)
    }

    /// What has not been read.
    pub fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    /// The eight bytes that come next.
    #[inline]
    pub fn next_8(&self) -> u64 {
        match self.rest().first_chunk() {
            Some(eight) => u64::from_le_bytes(*eight),
            None => last_8(self.rest()),
        }
    }

    /// Whether exactly all bytes have been read.
    pub fn is_done(&self) -> bool {
        self.at == self.bytes.len()
    }
}

/// Fewer than eight bytes, and zeros.
#[cold]
#[inline(never)]
fn last_8(bytes: &[u8]) -> u64 {
    let mut last = [0; 8];
    last[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(last)
}

/// Takes the first bytes of a slice off it.
pub(super) fn take<'a>(bytes: &mut &'a [u8], count: usize) -> Option<&'a [u8]> {
    let (taken, rest) = bytes.split_at_checked(count)?;
    *bytes = rest;
    Some(taken)
}

/// Takes a little-endian number off the front of a slice.
pub(super) fn take_u32(bytes: &mut &[u8]) -> Option<u32> {
    let (number, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(u32::from_le_bytes(*number))
}
