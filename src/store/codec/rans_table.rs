//! The probabilities of bytes: a table of intervals in 256 slots.
//!
//! Invariant: the shares of a table's symbols sum to 256, and each is from 1 to 255. The first symbol is the escape; it
//! stands for all bytes that do not have a share of their own.

#![allow(unsafe_code)]

use bitvec::{order::Lsb0, view::BitView};

use crate::{
    kernel::{Scalar, isa::Isa},
    perm::{LANES, Register},
};

const SLOTS: u32 = 256;

/// Maximum number of symbols of a table, including the escape: the number that one register of indices can distinguish.
const SYMBOLS: usize = 64;

/// The symbols in increasing order after the escape, and the tables in which a row of lanes is looked up.
#[repr(C, align(64))]
#[derive(Clone)]
pub(crate) struct SymbolTable {
    /// For encoding, the index of each symbol; for decoding, the index of each slot.
    pub index: [u8; 256],
    pub symbol: [u8; SYMBOLS],
    pub share: [u8; SYMBOLS],
    pub start: [u8; SYMBOLS],
    /// 65536 divided by the share, rounded down, at most 65535: low and high byte.
    pub inverse: [[u8; SYMBOLS]; 2],
    symbols: usize,
}

impl Default for SymbolTable {
    fn default() -> SymbolTable {
        SymbolTable {
            index: [0; 256],
            symbol: [0; SYMBOLS],
            share: [0; SYMBOLS],
            start: [0; SYMBOLS],
            inverse: [[0; SYMBOLS]; 2],
            symbols: 1,
        }
    }
}

impl SymbolTable {
    /// Turns this into the table for the counted bytes, and writes it.
    pub fn encode(&mut self, counts: &[u32; 256], out: &mut Vec<u8>) {
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
    }

    pub fn decode(&mut self, bytes: &mut &[u8]) -> Option<()> {
        self.read(bytes)?;
        for i in 0..self.symbols {
            let start = usize::from(self.start[i]);
            self.index[start..start + usize::from(self.share[i])].fill(i as u8);
        }
        Some(())
    }

    /// The symbol with the largest share, or 0.
    pub fn likeliest(&self) -> u8 {
        let shares = 1..self.symbols;
        let likeliest = shares.max_by_key(|&i| self.share[i]);
        likeliest.map_or(0, |i| self.symbol[i])
    }

    /// Chooses symbols and shares: symbols that occur more often than half a slot represents, at most 63.
    fn choose(&mut self, counts: &[u32; 256]) {
        let total: u64 = counts.iter().map(|&count| u64::from(count)).sum();
        let worth = |count: u32| count > 0 && u64::from(count) * u64::from(SLOTS) * 5 >= total * 3;
        let (mut all_kept, mut count) = ([0u8; 256], 0);
        for symbol in 0..=255 {
            all_kept[count] = symbol;
            count += usize::from(worth(counts[usize::from(symbol)]));
        }
        if count == 0 {
            // Two symbols, so that no share is the whole interval.
            (all_kept[0], count) = (0, 1);
        }
        let mut kept = &mut all_kept[..count];
        let rarest_last = |&symbol: &u8| (u32::MAX - counts[usize::from(symbol)], symbol);
        if kept.len() >= SYMBOLS {
            kept.sort_unstable_by_key(rarest_last);
            kept = &mut kept[..SYMBOLS - 1];
            kept.sort_unstable();
        }
        let all: u64 = kept.iter().map(|&s| u64::from(counts[usize::from(s)])).sum();
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
        // Rounding errors are assigned to the largest shares, which are least affected.
        let mut rest = SLOTS as i32 - shares.iter().sum::<i32>();
        while rest != 0 {
            let largest = |&i: &usize| (shares[i], usize::MAX - i);
            let candidates = (0..shares.len()).filter(|&i| rest < 0 || shares[i] < 255);
            let at = candidates.max_by_key(largest).expect("a share below the sum");
            let by = rest.clamp(-(shares[at] / 8).max(1), 255 - shares[at]);
            shares[at] += by;
            rest -= by;
        }
        for (to, share) in self.share.iter_mut().zip(shares) {
            *to = *share as u8;
        }
        self.place();
    }

    /// Places the intervals one after another.
    fn place(&mut self) {
        let mut next = 0u8;
        for (start, share) in self.start.iter_mut().zip(self.share).take(self.symbols) {
            *start = next;
            next = next.wrapping_add(share);
        }
    }

    // Elsewhere a set has at most 64 elements and is a word, or a kernel computes it; this one has 256.
    /// The existing symbols: first which groups of eight occur, then a bit for each symbol of these groups. Then each
    /// share less 1 as a half-byte, or 15 and two half-bytes.
    fn write(&self, out: &mut Vec<u8>) {
        let (mut groups, mut bits) = (0u32, [0u8; 32]);
        for &symbol in &self.symbol[1..self.symbols] {
            groups.view_bits_mut::<Lsb0>().set(usize::from(symbol / 8), true);
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
            let bits = *bytes.split_off_first()?;
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
            let byte = bytes.split_off_first()?;
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

/// The positions of the set bits.
fn ones(mut bits: u32) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let one = (bits != 0).then(|| bits.trailing_zeros());
        bits &= bits.wrapping_sub(1);
        one
    })
}

// Bytes that one side writes from end to beginning, so that the other side reads them from beginning to end.

/// Bytes that are written from the end of a buffer towards its beginning.
#[derive(Default)]
pub(crate) struct Backward {
    bytes: Vec<u8>,
    at: usize,
}

impl Backward {
    /// Clears what was written, and makes room for `room` bytes.
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

    /// Makes room for `count` bytes before those written, and returns it.
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
    pub fn front(&mut self, count: usize) -> &mut [u8] {
        let end = self.at;
        self.at -= count;
        &mut self.bytes[self.at..end]
    }

    pub fn written(&self) -> &[u8] {
        &self.bytes[self.at..]
    }
}

/// Bytes being read; after their end there are zeros.
#[derive(Clone, Copy)]
pub(crate) struct Forward<'a> {
    bytes: &'a [u8],
    /// The number of bytes that have been read, including those after the end.
    pub at: usize,
}

impl<'a> Forward<'a> {
    pub fn new(bytes: &'a [u8]) -> Forward<'a> {
        Forward { bytes, at: 0 }
    }

    /// The next byte, without reading past it.
    pub fn peek(&self) -> u8 {
        self.bytes.get(self.at).copied().unwrap_or(0)
    }

    /// The bytes that have not been read.
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
    pub fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    /// Whether exactly all bytes have been read.
    pub fn is_done(&self) -> bool {
        self.at == self.bytes.len()
    }
}

/// Removes a little-endian number from the beginning of a slice and returns it.
pub(crate) fn take_u32(bytes: &mut &[u8]) -> Option<u32> {
    let (number, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(u32::from_le_bytes(*number))
}

// Rows of 60 lanes: one symbol for each of 60 coders of asymmetric numeral systems.
//
// Invariant: a lane's state is 256 to 65535, with low and high byte stored separately. Decoding a symbol removes the
// slot, which is the low byte; a state that falls below 256 takes a byte from the stream, lanes in order. Encoding does
// the same in reverse: rows, lanes and bytes from the last to the first. All kernels are equal bit for bit.

/// The lanes that contain lines.
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
pub(crate) const HELD: u64 = (1 << LANES) - 1;

/// The states of 60 lanes.
#[derive(Clone, Copy)]
pub(crate) struct RansStates {
    pub low: Register,
    pub high: Register,
}

impl RansStates {
    /// The state in which encoding begins and decoding ends.
    pub const FIRST: RansStates = RansStates { low: [0; 64], high: [1; 64] };

    /// Whether decoding has arrived at the state in which encoding began.
    pub fn are_first(&self) -> bool {
        self.low[..LANES] == RansStates::FIRST.low[..LANES]
            && self.high[..LANES] == RansStates::FIRST.high[..LANES]
    }
}

/// The data to be encoded: rows, each with its table. Even and odd rows have separate states, so that the processor can
/// work on two at a time.
pub(crate) trait RowSource {
    fn rows(&self) -> usize;
    fn row(&self, i: usize) -> (&Register, &SymbolTable);
}

/// The destination of decoded data.
pub(crate) trait RowTarget {
    fn rows(&self) -> usize;
    fn row(&mut self, i: usize) -> (&mut Register, &SymbolTable);
}

/// The streams to which rows are encoded, or from which they are decoded: bytes of states, and symbols that have no
/// share of their own.
pub(crate) struct Streams<'a, S> {
    pub states: &'a mut [RansStates; 2],
    pub stream: &'a mut S,
    pub escaped: &'a mut S,
}

/// The operations that the codec needs from an instruction set. The defaults are plain Rust.
///
/// All functions are unsafe because they may only run on a processor that has the instructions.
pub(crate) trait RansIsa: Isa {
    /// Encodes all rows, from the last to the first.
    unsafe fn encode(source: &impl RowSource, to: &mut Streams<Backward>) {
        for i in (0..source.rows()).rev() {
            let (row, table) = source.row(i);
            encode_row(row, table, i % 2, to);
        }
    }

    unsafe fn decode(target: &mut impl RowTarget, from: &mut Streams<Forward>) {
        for i in 0..target.rows() {
            let (row, table) = target.row(i);
            decode_row(row, table, i % 2, from);
        }
    }

    /// Writes the number of nonzero bytes of each register.
    unsafe fn count_held(registers: &[Register], held: &mut [u8]) {
        for (register, held) in registers.iter().zip(held) {
            *held = register.iter().map(|&byte| u8::from(byte != 0)).sum();
        }
    }

    /// Writes the nonzero bytes of a register to the beginning of `to`, with arbitrary bytes after them.
    unsafe fn gather_held(register: &Register, to: &mut Register) {
        let mut at = 0;
        for &byte in register {
            to[at.min(63)] = byte;
            at += usize::from(byte != 0);
        }
    }

    /// Writes the indices of the zero bytes, or of the nonzero bytes.
    unsafe fn list(bytes: &[u8], zeros: bool, to: &mut Vec<u32>) {
        to.resize(bytes.len() + 1, 0);
        let mut next = 0;
        for (i, &byte) in bytes.iter().enumerate() {
            to[next] = i as u32;
            next += usize::from((byte == 0) == zeros);
        }
        to.truncate(next);
    }
}

impl RansIsa for Scalar {}

/// Rows need lookups in more than 16 bytes, which AVX2 does not have: zstd is the default there.
#[cfg(target_arch = "x86_64")]
impl RansIsa for crate::kernel::Avx2 {}

/// zstd is the default, as with AVX2.
#[cfg(target_arch = "aarch64")]
impl RansIsa for crate::kernel::Neon {}

fn encode_row(row: &Register, table: &SymbolTable, set: usize, to: &mut Streams<Backward>) {
    let states = &mut to.states[set];
    for lane in (0..LANES).rev() {
        let index = usize::from(table.index[usize::from(row[lane])]);
        if index == 0 {
            to.escaped.push(row[lane]);
        }
        let share = u16::from(table.share[index]);
        let mut state = u16::from_le_bytes([states.low[lane], states.high[lane]]);
        if state >> 8 >= share {
            to.stream.push(state as u8);
            state >>= 8;
        }
        states.low[lane] = (state % share) as u8 + table.start[index];
        states.high[lane] = (state / share) as u8;
    }
}

fn decode_row(row: &mut Register, table: &SymbolTable, set: usize, from: &mut Streams<Forward>) {
    let states = &mut from.states[set];
    row[LANES..].fill(0);
    for lane in 0..LANES {
        let slot = states.low[lane];
        let index = usize::from(table.index[usize::from(slot)] % 64);
        row[lane] = table.symbol[index];
        if index == 0 {
            row[lane] = from.escaped.peek();
            from.escaped.at += 1;
        }
        let within = slot.wrapping_sub(table.start[index]);
        let share = u16::from(table.share[index]);
        let state = (share * u16::from(states.high[lane])).wrapping_add(u16::from(within));
        // No branch: whether a byte is taken is unpredictable.
        let less = state < 256;
        let more = state << 8 | u16::from(from.stream.peek());
        let state = if less { more } else { state };
        from.stream.at += usize::from(less);
        [states.low[lane], states.high[lane]] = state.to_le_bytes();
    }
}

// Frames with few states: a list of the nonzero bytes.

/// Appends a number, seven bits at a time, the lowest first, each group with a bit that tells whether more follow.
#[inline]
pub(crate) fn push_number(to: &mut Vec<u8>, mut number: usize) {
    while number >= 128 {
        to.push(number as u8 | 128);
        number /= 128;
    }
    to.push(number as u8);
}

/// Removes such a number from the beginning of a slice; `None` if there is none.
#[inline]
pub(crate) fn take_number(bytes: &mut &[u8]) -> Option<usize> {
    let mut number = 0;
    for shift in (0..usize::BITS).step_by(7) {
        let part = bytes.split_off_first()?;
        number |= usize::from(part % 128) << shift;
        if *part < 128 {
            break;
        }
    }
    Some(number)
}

/// Appends the nonzero bytes of `registers`, which occur in the registers numbered in `live`: their number, then for
/// each the number of lines between it and the previous one, and the byte.
pub(crate) fn encode(registers: &[Register], live: &[u32], count: usize, out: &mut Vec<u8>) {
    out.extend((count as u32).to_le_bytes());
    let mut next = 0;
    for &r in live {
        let register = &registers[r as usize];
        for (lane, &byte) in register[..LANES].iter().enumerate() {
            if byte == 0 {
                continue;
            }
            let line = r as usize * LANES + lane;
            push_number(out, line - next);
            out.push(byte);
            next = line + 1;
        }
    }
}

/// Writes the bytes of such a list to registers that are zero, and the numbers of those that are nonzero afterwards.
pub(crate) fn decode(
    mut bytes: &[u8],
    registers: &mut [Register],
    live: &mut Vec<u32>,
) -> Option<()> {
    live.clear();
    let mut next = 0;
    for _ in 0..take_u32(&mut bytes)? {
        let line = take_number(&mut bytes)?.checked_add(next)?;
        let register = line / LANES;
        registers.get_mut(register)?[line % LANES] = *bytes.split_off_first()?;
        if live.last() != Some(&(register as u32)) {
            live.push(register as u32);
        }
        next = line + 1;
    }
    bytes.is_empty().then_some(())
}
