//! The set of the keys of one bucket, small enough for the caches.
//!
//! Invariant: a key that was put in is in the set until it is cleared; the order of keys does not matter.

/// A set of keys of `W` words: a hash table with open addresses that is cleared in constant time.
#[derive(Debug)]
pub(crate) struct KeySet<const W: usize> {
    slots: Vec<[u64; W]>,
    /// The round in which each slot was written last.
    written: Vec<u32>,
    round: u32,
    shift: u32,
    len: usize,
}

impl<const W: usize> KeySet<W> {
    /// Returns an empty set.
    pub fn new() -> KeySet<W> {
        KeySet { slots: Vec::new(), written: Vec::new(), round: 0, shift: 0, len: 0 }
    }

    /// Empties the set and makes room for as many keys.
    pub fn clear(&mut self, keys: usize) {
        let slots = (2 * keys).next_power_of_two().max(64);
        if self.slots.len() < slots {
            self.slots.resize(slots, [0; W]);
            self.written.resize(slots, 0);
        }
        // A small table stays in the nearest cache, however large it was before.
        self.shift = 64 - slots.trailing_zeros();
        self.len = 0;
        self.round = self.round.wrapping_add(1);
        if self.round == 0 {
            self.written.fill(0);
            self.round = 1;
        }
    }

    /// Adds a key; returns whether it is new.
    #[inline]
    pub fn insert(&mut self, key: &[u64; W]) -> bool {
        let mask = (1usize << (64 - self.shift)) - 1;
        let mut at = (hash(key) >> self.shift) as usize;
        loop {
            if self.written[at] != self.round {
                self.written[at] = self.round;
                self.slots[at] = *key;
                self.len += 1;
                return true;
            }
            if self.slots[at] == *key {
                return false;
            }
            at = (at + 1) & mask;
        }
    }
}

/// Spreads the bits of a key.
#[inline]
fn hash<const W: usize>(key: &[u64; W]) -> u64 {
    const ODD: u64 = 0x9E37_79B9_7F4A_7C15;
    let mut hash = 0u64;
    for &word in key {
        hash = (hash.rotate_left(29) ^ word).wrapping_mul(ODD);
    }
    hash
}
