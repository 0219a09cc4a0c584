//! Numbers of keys: a perfect hash of the keys that are possible in a bucket, so that a set of them is a row of bits.
//!
//! A number has a digit for each piece: which of the positions left by the preceding pieces is its own, and its
//! orientation. Digits that follow from the others are omitted: the last orientation if all orientations have a
//! constant sum, and the last choice between two positions if the parity of a permutation is known. If pieces look
//! alike, an automaton reads the pieces at the positions, several positions at a time; its states represent the
//! remaining pieces, and the tables contain the number of preceding keys.
//!
//! Invariant: the possible keys of a bucket have distinct numbers below [`KeyRanks::count`], from which they can be
//! restored.

use std::collections::HashMap;

use crate::kernel::{
    Kernel, dispatch,
    keys::{KeyField, KeyLayout, KeyWords, WORDS, key_by_key, word_by_word},
    words::nth,
};

/// Maximum number of runs.
pub(crate) const RUNS: usize = 16;
/// Maximum number of keys: a number is stored in one word together with a state of an automaton.
const MOST: u64 = 1 << 40;
/// Maximum number of entries in the tables of an automaton.
const ENTRIES: usize = 1 << 20;
/// Number of bits of an automaton's state.
const STATE: u32 = 24;

/// The data of a bucket, other than the key, on which numbers depend: for each run, the free positions, and the sum of
/// the orientations of its keys plus 128 times their modulus; and, bit by bit, whether the places of its keys have the
/// opposite parity from the solved state.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RankContext {
    pub free: [u64; RUNS],
    pub sum: [u64; RUNS],
    pub odd: u16,
}

/// A piece whose field is a location, or only its orientation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PieceRule {
    pub part: usize,
    pub modulus: usize,
    pub turn: bool,
}

/// Fields that are numbered together.
#[derive(Clone, Debug)]
pub(crate) enum RunRule {
    /// Pieces on this many free positions; whether their orientations have a constant sum; and, bit by bit, the runs,
    /// including this one, whose parities together are even.
    Pieces { pieces: Vec<PieceRule>, free: usize, sum: bool, parity: Option<u16> },
    /// The pieces at positions: the fields; for each kind, its first value, its number of orientations and its number
    /// of pieces; and the sum of all orientations if it is constant.
    Contents { parts: Vec<usize>, kinds: Vec<(usize, u8, u8)>, sum: Option<u8> },
}

#[derive(Clone, Debug)]
struct PieceDigit {
    key: KeyField,
    modulus: u64,
    /// 2^16 / modulus, rounded up.
    inverse: u64,
    /// Whether the key contains its place; and the radix of the place, 1 if the place follows from the others.
    placed: bool,
    places: Radix,
    /// The radix of its orientation; 1 if it follows from the others, or if there is only one.
    turns: Radix,
}

/// A radix, and 2^64 divided by it, rounded up.
#[derive(Clone, Copy, Debug)]
struct Radix(u64, u64);

impl Radix {
    fn new(radix: u64) -> Radix {
        Radix(radix, if radix > 1 { u64::MAX / radix + 1 } else { 0 })
    }

    /// Removes the last digit from a number below 2^40, for a radix from 2 to 255.
    #[inline(always)]
    fn take(self, number: &mut u64) -> u8 {
        let quotient = ((u128::from(*number) * u128::from(self.1)) >> 64) as u64;
        let digit = *number - quotient * self.0;
        *number = quotient;
        digit as u8
    }
}

#[derive(Clone, Debug)]
enum RankRun {
    Pieces { digits: Vec<PieceDigit>, parity: Option<u16> },
    Contents(Automaton),
}

/// The numbering of keys.
#[derive(Clone, Debug)]
pub(crate) struct KeyRanks {
    runs: Vec<RankRun>,
    words: usize,
    kernel: Kernel,
    /// The number of keys.
    pub count: u64,
}

impl KeyRanks {
    /// Returns the numbering of keys with a rule for each run; `None` if there are too many keys or runs.
    pub fn new(layout: &KeyLayout, rules: &[RunRule]) -> Option<KeyRanks> {
        let mut count = 1u64;
        let mut grow = |radix: u64| {
            count = count.checked_mul(radix).filter(|&count| count <= MOST)?;
            Some(Radix::new(radix))
        };
        let mut runs = Vec::new();
        for rule in rules {
            runs.push(match rule {
                RunRule::Pieces { pieces, free, sum, parity } => {
                    let last = pieces.iter().rposition(|piece| piece.modulus > 1);
                    let mut left = *free as u64;
                    let mut digits = Vec::new();
                    for (i, &PieceRule { part, modulus, turn }) in pieces.iter().enumerate() {
                        let follows = parity.is_some() && left == 2 || turn;
                        let places = grow(if follows { 1 } else { left })?;
                        left -= u64::from(!turn);
                        let modulus = modulus as u64;
                        let turns = grow(if *sum && last == Some(i) { 1 } else { modulus })?;
                        let inverse = (1u64 << 16).div_ceil(modulus);
                        let (key, placed) = (layout.fields[part], !turn);
                        digits.push(PieceDigit { key, modulus, inverse, placed, places, turns });
                    }
                    RankRun::Pieces { digits, parity: *parity }
                }
                RunRule::Contents { parts, kinds, sum } => {
                    let most = [8, 4, 1];
                    let made = |&most| Automaton::new(layout, parts, (kinds, *sum), most);
                    let automaton = most.iter().find_map(made)?;
                    grow(automaton.count)?;
                    RankRun::Contents(automaton)
                }
            });
        }
        let few = runs.len() <= RUNS && layout.words <= WORDS;
        few.then_some(KeyRanks { runs, words: layout.words, kernel: layout.kernel, count })
    }

    /// Appends the numbers of keys, in their order. Cost: about 8 instructions per piece per key, fewer with AVX-512.
    pub fn rank(&self, keys: &[u64], of: &RankContext, out: &mut Vec<u64>) {
        let ranks = self;
        dispatch!(
            ranks.kernel,
            (ranks: &KeyRanks, keys: &[u64], of: &RankContext, out: &mut Vec<u64>),
            [rank_all], [rank_all], [rank_all], [rank_all]
        )
    }

    /// Appends the keys with numbers, which should preferably be in order. Cost: about 20 instructions per piece per
    /// key.
    pub fn unrank(&self, numbers: &[u64], of: &RankContext, out: &mut Vec<u64>) {
        let ranks = self;
        dispatch!(
            ranks.kernel,
            (ranks: &KeyRanks, numbers: &[u64], of: &RankContext, out: &mut Vec<u64>),
            [unrank_all::<true>], [unrank_all::<true>], [unrank_all::<false>], [unrank_all::<false>]
        )
    }

    #[inline(always)]
    fn rank_some<const N: usize>(&self, keys: &KeyWords<N>, of: &RankContext) -> [u64; N] {
        let mut number = [0u64; N];
        for (run, &free) in self.runs.iter().zip(&of.free) {
            match run {
                RankRun::Pieces { digits, .. } => {
                    let mut left = [free; N];
                    for digit in digits {
                        let value = keys[digit.key.word].map(|word| digit.key.of_word(word));
                        let place = value.map(|value| (value * digit.inverse) >> 16);
                        if digit.placed {
                            let radix = digit.places.0;
                            for i in 0..N {
                                let bit = 1u64 << (place[i] & 63);
                                let below = u64::from((left[i] & (bit - 1)).count_ones());
                                left[i] &= !bit;
                                number[i] = number[i] * radix + if radix > 1 { below } else { 0 };
                            }
                        }
                        if digit.turns.0 > 1 {
                            for i in 0..N {
                                let turn = value[i] - place[i] * digit.modulus;
                                number[i] = number[i] * digit.turns.0 + turn;
                            }
                        }
                    }
                }
                RankRun::Contents(automaton) => {
                    let own = automaton.rank(keys);
                    for i in 0..N {
                        number[i] = number[i] * automaton.count + own[i];
                    }
                }
            }
        }
        number
    }

    /// # Safety
    /// `FAST` needs BMI2.
    #[inline(always)]
    unsafe fn unrank_some<const N: usize, const FAST: bool>(
        &self,
        mut number: [u64; N],
        of: &RankContext,
        walks: &mut [Vec<WalkStep>],
    ) -> KeyWords<N> {
        // The last digit counts in ones.
        let (mut places, mut turns) = ([[0u8; N]; 128], [[0u8; N]; 128]);
        let mut own = [[0u64; N]; RUNS];
        let mut at = 128;
        for (run, own) in self.runs.iter().zip(&mut own).rev() {
            match run {
                RankRun::Pieces { digits, .. } => {
                    for piece in digits.iter().rev() {
                        at -= 1;
                        if piece.turns.0 > 1 {
                            turns[at] = std::array::from_fn(|i| piece.turns.take(&mut number[i]));
                        }
                        if piece.places.0 > 1 {
                            places[at] = std::array::from_fn(|i| piece.places.take(&mut number[i]));
                        }
                    }
                }
                RankRun::Contents(automaton) if self.runs.len() > 1 => {
                    for (number, own) in number.iter_mut().zip(own) {
                        (*own, *number) = (*number % automaton.count, *number / automaton.count);
                    }
                }
                RankRun::Contents(_) => *own = number,
            }
        }
        let mut keys = [[0u64; N]; WORDS];
        let mut odd = [of.odd; N];
        for (index, run) in self.runs.iter().enumerate() {
            match run {
                RankRun::Pieces { digits, parity } => {
                    let mut left = [of.free[index]; N];
                    let mut sum = [of.sum[index]; N];
                    for piece in digits {
                        let (mut place, mut value) = (places[at], turns[at].map(u64::from));
                        at += 1;
                        if piece.modulus > 1 {
                            for i in 0..N {
                                if piece.turns.0 == 1 {
                                    value[i] = sum[i] % piece.modulus;
                                }
                                sum[i] = sum[i].wrapping_sub(value[i]);
                            }
                        }
                        if piece.placed {
                            if let Some(mask) = parity {
                                for i in 0..N {
                                    let last = left[i] & left[i].wrapping_sub(1) == 0;
                                    if piece.places.0 == 1 && !last {
                                        place[i] = ((odd[i] & mask).count_ones() % 2) as u8;
                                    }
                                }
                            }
                            for i in 0..N {
                                odd[i] ^= u16::from(place[i] & 1) << index;
                                // SAFETY: the caller's promise.
                                let bit = unsafe { nth::<FAST>(left[i], place[i].into()) };
                                left[i] ^= bit;
                                value[i] += u64::from(bit.trailing_zeros()) * piece.modulus;
                            }
                        }
                        for i in 0..N {
                            keys[piece.key.word][i] |= value[i] << piece.key.shift;
                        }
                    }
                }
                RankRun::Contents(automaton) => {
                    for (i, &number) in own[index].iter().enumerate() {
                        for (part, step) in automaton.unrank(number, &mut walks[index]) {
                            keys[part.word][i] |= u64::from(step.value) << part.shift;
                        }
                    }
                }
            }
        }
        keys
    }
}

/// # Safety
/// There are no conditions; the function has the form that is dispatched.
#[inline(always)]
unsafe fn rank_all(ranks: &KeyRanks, keys: &[u64], of: &RankContext, out: &mut Vec<u64>) {
    let many = keys.chunks_exact(8 * ranks.words);
    let few = many.remainder().chunks_exact(ranks.words);
    out.reserve(keys.len() / ranks.words);
    let mut words = [[0; 8]; WORDS];
    for keys in many {
        word_by_word(keys, &mut words[..ranks.words]);
        out.extend(ranks.rank_some(&words, of));
    }
    let mut words = [[0]; WORDS];
    for key in few {
        word_by_word(key, &mut words[..ranks.words]);
        out.extend(ranks.rank_some(&words, of));
    }
}

/// # Safety
/// `FAST` needs BMI2.
#[inline(always)]
unsafe fn unrank_all<const FAST: bool>(
    ranks: &KeyRanks,
    numbers: &[u64],
    of: &RankContext,
    out: &mut Vec<u64>,
) {
    let mut walks = vec![Vec::new(); ranks.runs.len()];
    let (many, few) = numbers.as_chunks::<4>();
    let start = out.len();
    out.resize(start + numbers.len() * ranks.words, 0);
    let (to, rest) = out[start..].split_at_mut(4 * many.len() * ranks.words);
    for (numbers, to) in many.iter().zip(to.chunks_exact_mut(4 * ranks.words)) {
        // SAFETY: the caller's promise.
        let keys = unsafe { ranks.unrank_some::<4, FAST>(*numbers, of, &mut walks) };
        key_by_key(&keys[..ranks.words], to);
    }
    for (&number, to) in few.iter().zip(rest.chunks_exact_mut(ranks.words)) {
        // SAFETY: the caller's promise.
        let keys = unsafe { ranks.unrank_some::<1, FAST>([number], of, &mut walks) };
        key_by_key(&keys[..ranks.words], to);
    }
}

/// Reads the pieces at positions, several fields at a time.
#[derive(Clone, Debug)]
struct Automaton {
    parts: Vec<ContentPart>,
    count: u64,
}

/// Some adjacent fields of a key.
#[derive(Clone, Debug, Default)]
struct ContentPart {
    word: usize,
    shift: u32,
    bits: u32,
    /// For each state and value of the fields, the number of keys before those with this value, above the state that
    /// follows.
    table: Vec<u64>,
    /// For each state, its possible values in order: the number of keys before them, the next state, and the value.
    ways: Vec<Vec<(u64, u32, u32)>>,
}

/// A step of a walk through an automaton: the numbers that it leads to, the next state, and the value.
#[derive(Clone, Copy, Debug)]
struct WalkStep {
    first: u64,
    end: u64,
    state: u32,
    value: u32,
}

impl Automaton {
    fn new(
        layout: &KeyLayout,
        fields: &[usize],
        (kinds, sum): (&[(usize, u8, u8)], Option<u8>),
        most: u32,
    ) -> Option<Automaton> {
        let values = kinds.iter().map(|&(first, modulus, _)| first + usize::from(modulus)).max()?;
        let width = usize::BITS - (values.max(2) - 1).leading_zeros();
        let mut parts: Vec<ContentPart> = Vec::new();
        for &field in fields {
            let KeyField { word, shift, .. } = layout.fields[field];
            match parts.last_mut() {
                Some(part)
                    if part.word == word
                        && part.shift + part.bits == shift
                        && part.bits + width <= most =>
                {
                    part.bits += width;
                }
                _ => parts.push(ContentPart { word, shift, bits: width, ..ContentPart::default() }),
            }
        }
        let counts = kinds.iter().map(|&(.., count)| count).collect();
        // If the sum is not constant, it is not used.
        let modulus = sum.map(|_| kinds[0].1);
        let known = HashMap::new();
        let mut building = AutomatonBuilder { kinds, modulus, width, parts, known };
        let (_, count) = building.state(0, counts, sum.unwrap_or(0))?;
        Some(Automaton { parts: building.parts, count })
    }

    #[inline(always)]
    fn rank<const N: usize>(&self, keys: &KeyWords<N>) -> [u64; N] {
        let mut number = [0u64; N];
        let mut state = [0usize; N];
        for part in &self.parts {
            for i in 0..N {
                let value = keys[part.word][i] >> part.shift & ((1 << part.bits) - 1);
                let entry = part.table[(state[i] << part.bits) + value as usize];
                number[i] += entry >> STATE;
                state[i] = (entry & ((1 << STATE) - 1)) as usize;
            }
        }
        number
    }

    /// Returns the parts of the key with a number and their values, using the walk to the previous number.
    #[inline(always)]
    fn unrank<'a>(
        &'a self,
        number: u64,
        walk: &'a mut Vec<WalkStep>,
    ) -> impl Iterator<Item = (&'a ContentPart, &'a WalkStep)> {
        while walk.last().is_some_and(|step| number < step.first || number >= step.end) {
            walk.pop();
        }
        let (mut state, mut first, mut end) = match walk.last() {
            Some(step) => (step.state, step.first, step.end),
            None => (0, 0, self.count),
        };
        for part in &self.parts[walk.len()..] {
            let ways = &part.ways[state as usize];
            let way = ways.partition_point(|way| way.0 <= number - first) - 1;
            let (before, next, value) = ways[way];
            if let Some(after) = ways.get(way + 1) {
                end = first + after.0;
            }
            (first, state) = (first + before, next);
            walk.push(WalkStep { first, end, state, value });
        }
        self.parts.iter().zip(&*walk)
    }
}

struct AutomatonBuilder<'a> {
    kinds: &'a [(usize, u8, u8)],
    /// The modulus of the sum of all orientations, if it is constant.
    modulus: Option<u8>,
    width: u32,
    parts: Vec<ContentPart>,
    known: HashMap<(usize, Vec<u8>, u8), (u32, u64)>,
}

impl AutomatonBuilder<'_> {
    /// The state in which these numbers of pieces are left at a part and their orientations must have a given sum, and
    /// the number of keys from there on.
    fn state(&mut self, part: usize, left: Vec<u8>, sum: u8) -> Option<(u32, u64)> {
        if part == self.parts.len() {
            return Some((0, u64::from(sum == 0)));
        }
        let name = (part, left, sum);
        if let Some(&known) = self.known.get(&name) {
            return Some(known);
        }
        let (_, left, sum) = &name;
        let (bits, width) = (self.parts[part].bits, self.width);
        let mut row = vec![0; 1 << bits];
        let mut ways = Vec::new();
        let mut count = 0u64;
        for value in 0..1u32 << bits {
            let (mut after, mut rest) = (left.clone(), *sum);
            let fields = (0..bits / width).map(|i| value >> (i * width) & ((1 << width) - 1));
            let may_be = fields.into_iter().all(|field| {
                let of = |&(first, turns, _): &(usize, u8, u8)| {
                    (first..first + usize::from(turns)).contains(&(field as usize))
                };
                let Some(kind) = self.kinds.iter().position(of) else { return false };
                if let Some(modulus) = self.modulus {
                    let turn = field as usize - self.kinds[kind].0;
                    rest = (rest + modulus - turn as u8) % modulus;
                }
                after[kind] = after[kind].wrapping_sub(1);
                after[kind] != u8::MAX
            });
            if may_be {
                let (next, more) = self.state(part + 1, after, rest)?;
                if more > 0 {
                    row[value as usize] = count << STATE | u64::from(next);
                    ways.push((count, next, value));
                    count = count.checked_add(more).filter(|&count| count < MOST)?;
                }
            }
        }
        let own = &mut self.parts[part];
        let state = own.ways.len() as u32;
        own.table.extend(row);
        own.ways.push(ways);
        self.known.insert(name, (state, count));
        let entries: usize = self.parts.iter().map(|part| part.table.len()).sum();
        (entries <= ENTRIES).then_some((state, count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    fn pieces(parts: std::ops::Range<usize>, modulus: usize) -> Vec<PieceRule> {
        parts.map(|part| PieceRule { part, modulus, turn: false }).collect()
    }

    /// Every number is that of the key that it produces, with every kernel.
    fn check(values: &[usize], rules: &[RunRule], of: &RankContext, count: u64) {
        let layout = KeyLayout::new(values, Kernel::Scalar);
        let ranks = KeyRanks::new(&layout, rules).unwrap();
        assert_eq!(ranks.count, count);
        let numbers: Vec<u64> = (0..count).collect();
        let mut first = Vec::new();
        for kernel in Kernel::ALL {
            let ranks = KeyRanks { kernel, ..ranks.clone() };
            let (mut keys, mut back, mut some) = (Vec::new(), Vec::new(), Vec::new());
            ranks.unrank(&numbers, of, &mut keys);
            ranks.rank(&keys, of, &mut back);
            assert_eq!(back, numbers, "{kernel:?}");
            // In any order.
            let mixed: Vec<u64> = numbers.iter().map(|n| n * 7919 % count).collect();
            ranks.unrank(&mixed, of, &mut some);
            back.clear();
            ranks.rank(&some, of, &mut back);
            assert_eq!(back, mixed, "{kernel:?}");
            if first.is_empty() {
                first = keys.clone();
            }
            assert_eq!(keys, first, "{kernel:?}");
            let different: HashSet<&[u64]> = keys.chunks(layout.words).collect();
            assert_eq!(different.len() as u64, count);
        }
    }

    #[test]
    fn pieces_are_numbered_without_what_follows() {
        let mut of = RankContext::default();
        (of.free[0], of.free[1], of.sum[0], of.odd) = (0b101_1101, 0b1111, 3 * 128 + 2, 0b10);
        // Five free positions for three pieces with orientations; four for four pieces whose parity follows from the
        // others.
        let some = RunRule::Pieces { pieces: pieces(0..3, 3), free: 5, sum: false, parity: None };
        let all =
            RunRule::Pieces { pieces: pieces(3..7, 1), free: 4, sum: false, parity: Some(0b11) };
        let values = [21, 21, 21, 4, 4, 4, 4];
        check(&values, &[some, all.clone()], &of, 60 * 27 * 12);
        let turns = RunRule::Pieces { pieces: pieces(0..3, 3), free: 5, sum: true, parity: None };
        check(&values, &[turns, all], &of, 60 * 9 * 12);
        let turns = (0..3).map(|part| PieceRule { part, modulus: 3, turn: true }).collect();
        let turns = RunRule::Pieces { pieces: turns, free: 0, sum: true, parity: None };
        check(&[3, 3, 3], &[turns], &of, 9);
    }

    #[test]
    fn pieces_that_look_alike_are_numbered_by_what_stands_where() {
        let of = RankContext::default();
        let contents = |positions, kinds: &[(usize, u8, u8)], sum| RunRule::Contents {
            parts: (0..positions).collect(),
            kinds: kinds.to_vec(),
            sum,
        };
        check(&[2; 20], &[contents(20, &[(0, 1, 10), (1, 1, 10)], None)], &of, 184_756);
        check(&[3; 9], &[contents(9, &[(0, 1, 4), (1, 1, 3), (2, 1, 2)], None)], &of, 1260);
        check(&[6; 5], &[contents(5, &[(0, 3, 3), (3, 3, 2)], None)], &of, 10 * 243);
        check(&[6; 5], &[contents(5, &[(0, 3, 3), (3, 3, 2)], Some(2))], &of, 10 * 81);
        let many = contents(60, &[(0, 1, 30), (1, 1, 30)], None);
        assert!(KeyRanks::new(&KeyLayout::new(&[2; 60], Kernel::Scalar), &[many]).is_none());
    }
}
