//! How probable each byte is: a table of intervals of 256 slots.
//!
//! Invariant: the shares of a table's symbols sum to 256, each is 1 to 255. The first symbol is the escape; it
//! stands for all bytes that are not worth a share of their own.

use bitvec::order::Lsb0;
use bitvec::view::BitView;

use super::bytes::{take, take_u32};
use crate::perm::kernel::Kernel;

/// Number of slots.
const SLOTS: u32 = 256;
/// Most symbols of a table, the escape among them: as many as one register of indices tells apart.
const SYMBOLS: usize = 64;

/// Symbols in increasing order behind the escape, and what a row of lanes looks up.
#[repr(C, align(64))]
#[derive(Clone)]
pub(super) struct Table {
    /// For encoding the index of each symbol, for decoding that of each slot.
    pub index: [u8; 256],
    pub symbol: [u8; SYMBOLS],
    pub share: [u8; SYMBOLS],
    /// First slot.
    pub start: [u8; SYMBOLS],
    /// 65536 over the share, rounded down, at most 65535: low and high byte.
    pub inverse: [[u8; SYMBOLS]; 2],
    symbols: usize,
    /// What eight lanes look up at once, for kernels that do: for encoding of each symbol its share, start and inverse (8, 8
    /// and 16 bits), for decoding of each slot symbol, share, place within the share, and whether it is the escape's (8, 8, 8,
    /// the highest bit).
    pub wide: [u32; 256],
}

impl Default for Table {
    fn default() -> Table {
        Table {
            index: [0; 256],
            symbol: [0; SYMBOLS],
            share: [0; SYMBOLS],
            start: [0; SYMBOLS],
            inverse: [[0; SYMBOLS]; 2],
            symbols: 1,
            wide: [0; 256],
        }
    }
}

impl Table {
    /// Makes it the table of bytes that were counted, and writes it.
    pub fn encode(&mut self, kernel: Kernel, counts: &[u32; 256], out: &mut Vec<u8>) {
        self.choose(counts);
        self.write(out);
        self.index = [0; 256];
        for i in 0..self.symbols {
            if i > 0 {
                self.index[usize::from(self.symbol[i])] = i as u8;
            }
            let inverse = (65536 / u32::from(self.share[i])).min(65535);
            [self.inverse[0][i], self.inverse[1][i]] = (inverse as u16).to_le_bytes();
        }
        if kernel == Kernel::Avx2 {
            let entry = |i: u8| {
                let i = usize::from(i);
                let [low, high] = self.inverse.map(|half| half[i]);
                u32::from_le_bytes([self.share[i], self.start[i], low, high])
            };
            self.wide = self.index.map(entry);
        }
    }

    /// Reads a table.
    pub fn decode(&mut self, kernel: Kernel, bytes: &mut &[u8]) -> Option<()> {
        self.read(bytes)?;
        for i in 0..self.symbols {
            let start = usize::from(self.start[i]);
            self.index[start..start + usize::from(self.share[i])].fill(i as u8);
            if kernel == Kernel::Avx2 {
                let (symbol, share) = (self.symbol[i], self.share[i]);
                let flag = u8::from(i == 0) << 7;
                for within in 0..share {
                    let entry = u32::from_le_bytes([symbol, share, within, flag]);
                    self.wide[start + usize::from(within)] = entry;
                }
            }
        }
        Some(())
    }

    /// The symbol with the greatest share, or 0.
    pub fn likeliest(&self) -> u8 {
        let shares = 1..self.symbols;
        let likeliest = shares.max_by_key(|&i| self.share[i]);
        likeliest.map_or(0, |i| self.symbol[i])
    }

    /// Chooses symbols and shares: those that occur for more than half of what a slot stands for, at most 63.
    fn choose(&mut self, counts: &[u32; 256]) {
        let total: u64 = counts.iter().map(|&count| u64::from(count)).sum();
        let worth = |count: u32| count > 0 && u64::from(count) * u64::from(SLOTS) * 5 >= total * 3;
        let (mut all_kept, mut count) = ([0u8; 256], 0);
        for symbol in 0..=255 {
            all_kept[count] = symbol;
            count += usize::from(worth(counts[usize::from(symbol)]));
        }
        if count == 0 {
            // Two symbols, so that no share is the whole.
            (all_kept[0], count) = (0, 1);
        }
        let mut kept = &mut all_kept[..count];
        let rarest_last = |&symbol: &u8| (u32::MAX - counts[usize::from(symbol)], symbol);
        if kept.len() >= SYMBOLS {
            kept.sort_unstable_by_key(rarest_last);
            kept = &mut kept[..SYMBOLS - 1];
            kept.sort_unstable();
        }
        let all: u64 = kept
            .iter()
            .map(|&s| u64::from(counts[usize::from(s)]))
            .sum();
        let share = |count: u64| {
            let rounded = (count * 2 * u64::from(SLOTS) + total) / (2 * total.max(1));
            rounded.clamp(1, 255) as i32
        };
        self.symbols = kept.len() + 1;
        let mut all_shares = [0; SYMBOLS];
        let shares = &mut all_shares[..self.symbols];
        shares[0] = share(total - all);
        for (i, &symbol) in kept.iter().enumerate() {
            self.symbol[i + 1] = symbol;
            shares[i + 1] = share(u64::from(counts[usize::from(symbol)]));
        }
        // What rounding has added or taken away goes to the largest, which notice least.
        let mut rest = SLOTS as i32 - shares.iter().sum::<i32>();
        while rest != 0 {
            let largest = |&i: &usize| (shares[i], usize::MAX - i);
            let candidates = (0..shares.len()).filter(|&i| rest < 0 || shares[i] < 255);
            let at = candidates
                .max_by_key(largest)
                .expect("a share below the sum");
            let by = rest.clamp(-(shares[at] / 8).max(1), 255 - shares[at]);
            shares[at] += by;
            rest -= by;
        }
        for (to, share) in self.share.iter_mut().zip(shares) {
            *to = *share as u8;
        }
        self.place();
    }

    /// Lays the intervals one after the other.
    fn place(&mut self) {
        let mut next = 0u8;
        for (start, share) in self.start.iter_mut().zip(self.share).take(self.symbols) {
            *start = next;
            next = next.wrapping_add(share);
        }
    }

    /// Which symbols there are: which groups of eight, and for those that are there a bit for each. Then each share
    /// less 1 in half a byte, or 15 and two half bytes.
    fn write(&self, out: &mut Vec<u8>) {
        let (mut groups, mut bits) = (0u32, [0u8; 32]);
        for &symbol in &self.symbol[1..self.symbols] {
            groups
                .view_bits_mut::<Lsb0>()
                .set(usize::from(symbol / 8), true);
            bits.view_bits_mut::<Lsb0>().set(usize::from(symbol), true);
        }
        out.extend(groups.to_le_bytes());
        out.extend(bits.iter().filter(|bits| **bits != 0));
        let mut waiting = None;
        let mut half = |half: u8| match waiting.take() {
            Some(first) => out.push(first | half << 4),
            None => waiting = Some(half),
        };
        for share in self.share[..self.symbols].iter().map(|share| share - 1) {
            half(share.min(15));
            if share >= 15 {
                half(share & 15);
                half(share >> 4);
            }
        }
        out.extend(waiting);
    }

    fn read(&mut self, bytes: &mut &[u8]) -> Option<()> {
        let groups = take_u32(bytes)?;
        self.symbols = 1;
        for group in ones(groups) {
            let bits = take(bytes, 1)?[0];
            for bit in ones(bits.into()) {
                *self.symbol.get_mut(self.symbols)? = (group * 8 + bit) as u8;
                self.symbols += 1;
            }
        }
        let mut waiting = None;
        let mut half = || {
            if let Some(half) = waiting.take() {
                return Some(half);
            }
            let byte = take(bytes, 1)?[0];
            waiting = Some(byte >> 4);
            Some(byte & 15)
        };
        let mut sum = 0;
        for share in &mut self.share[..self.symbols] {
            let less = match half()? {
                15 => half()? | half()? << 4,
                less => less,
            };
            *share = less.checked_add(1)?;
            sum += u32::from(*share);
        }
        self.place();
        (sum == SLOTS).then_some(())
    }
}

/// The places of the bits that are set.
fn ones(mut bits: u32) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let one = (bits != 0).then(|| bits.trailing_zeros());
        bits &= bits.wrapping_sub(1);
        one
    })
}
