//! Fills a table by blocks, each of which contains all orientations of pieces in the same places.
//!
//! The search runs over places; the possible orientations of the pieces there are a **block** of bits, one for each
//! combination of orientations. A move takes a block to a block and turns each piece in it by the same amount, whatever
//! its orientation was: it shifts the block's digits, 64 bits at a time. So a state costs one bit, and no state needs a
//! number of its own before it is written.
//!
//! When a level has few states, each is expanded forward; when it has many, each block collects the states from its
//! predecessors.
//!
//! Invariant: levels are those of the list search.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::{
    kernel::prefetch,
    progress::{Meter, Phase, Progress},
    pruning::{Entries, each_level},
    puzzle::{
        Arrangement, Puzzle,
        ranking::{RankGroup, Ranking},
    },
    store::Words,
    table::TableError,
    threads::{each_number, map_numbers},
};

/// Minimum number of bits for which a block is worthwhile, and maximum number of words.
const FEWEST_BITS: u64 = 16;
const MOST_WORDS: usize = 512;
/// Maximum number of pieces with places of their own, and of positions that one may have.
const MOST_PIECES: usize = 24;
const MOST_POSITIONS: usize = 64;
/// Once one block in this many has states of a level, all blocks collect.
const FEW: usize = 24;
/// Number of blocks in a task.
const PART: usize = 1 << 12;

/// A piece with a place of its own.
struct BlockPiece {
    group: usize,
    /// Weight of its place in the numbers of blocks, 0 if the place follows from the others; and weight in the table.
    weight: u64,
    entry: u64,
}

/// The effect of a move: for each piece and its position afterwards, the position before, and the shift of the block.
type BlockMove = Vec<[(u8, u32); MOST_POSITIONS]>;

/// A shift of digits within a word: bits that stay within the range of their digit move up, the others wrap around.
#[derive(Clone, Copy, Default)]
struct DigitShift {
    up: u64,
    by: u32,
    down: u64,
    back: u32,
}

/// The blocks of a puzzle.
pub(crate) struct Blocks {
    pieces: Vec<BlockPiece>,
    /// The number of pieces in each group, and the number of its positions.
    groups: Vec<(usize, usize)>,
    ranking: Ranking,
    moves: Vec<BlockMove>,
    /// The same in the forward direction, for levels with few states.
    forward: Vec<BlockMove>,
    blocks: usize,
    /// Words per block, and bits per word.
    words: usize,
    bits: u32,
    /// For each bit number, the shifts of digits within a word by this amount.
    shifts: Vec<Vec<DigitShift>>,
    /// For each shift of words, where each word goes.
    targets: Vec<u16>,
    /// For each bit of a block, its contribution to the number of an entry.
    offsets: Vec<u64>,
    /// The block and bit of each solved state.
    goals: Vec<(usize, usize)>,
    /// Whether a block's entries are contiguous.
    adjacent: bool,
}

impl Blocks {
    /// `None` if moves depend on where a piece is, if pieces that look alike can turn, or if blocks would be too small.
    pub fn new(puzzle: &Puzzle, ranking: &Ranking) -> Option<Blocks> {
        let alone = ranking.groups.iter().all(|group| {
            let rest = group.several.iter().all(|kind| kind.modulus == 1);
            rest && group.several.len() < 2 && group.positions.len() <= MOST_POSITIONS
        });
        let count: usize = ranking.groups.iter().map(|group| group.single.len()).sum();
        if !puzzle.allows_all_moves() || !alone || count > MOST_PIECES {
            return None;
        }
        // Digits of orientations, from the last one; digits of blocks, from the last one.
        let (mut digits, mut bits) = (Vec::new(), 1u64);
        let (mut pieces, mut blocks) = (Vec::new(), 1u64);
        for (g, group) in ranking.groups.iter().enumerate().rev() {
            let least = group.several.iter().map(|kind| kind.count as u64).sum::<u64>() + 1;
            for (free, piece) in (least..).zip(group.single.iter().rev()) {
                let (own, more) = if piece.place == 0 { (0, 1) } else { (blocks, free) };
                blocks *= more;
                pieces.push(BlockPiece { group: g, weight: own, entry: piece.place });
                let turns = if piece.turn == 0 { 1 } else { u64::from(piece.modulus) };
                digits.push((bits, turns, piece.turn));
                bits = bits.checked_mul(turns)?;
            }
        }
        pieces.reverse();
        digits.reverse();
        // As many of the last digits as fit in a word.
        let inner = digits.iter().rev().map(|&(weight, turns, _)| weight * turns);
        let word = inner.take_while(|&all| all <= 64).last().unwrap_or(1);
        let words = (bits / word) as usize;
        if bits < FEWEST_BITS || words > MOST_WORDS || u32::try_from(blocks).is_err() {
            return None;
        }
        let digit = |number: u64, &(weight, turns, _): &(u64, u64, u64)| number / weight % turns;
        let shift_of = |by: u64| {
            let inside = digits.iter().filter(|&&(weight, turns, _)| weight < word && turns > 1);
            let moved = inside.filter(|at| digit(by, at) > 0);
            let shift = moved.map(|at| {
                let (weight, turns, by) = (at.0, at.1, digit(by, at));
                let goes_up = |bit: &u64| digit(*bit, at) + by < turns;
                let up = (0..word).filter(goes_up).fold(0, |mask, bit| mask | 1 << bit);
                let down = !up & u64::MAX >> (64 - word);
                let (by, back) = ((by * weight) as u32, ((turns - by) * weight) as u32);
                DigitShift { up, by, down, back }
            });
            shift.collect()
        };
        let sum = |a: u64, b: u64| -> u64 {
            let added = |at| (digit(a, at) + digit(b, at)) % at.1 * at.0;
            digits.iter().map(added).sum()
        };
        let all = (0..words as u64).flat_map(|by| (0..words as u64).map(move |at| (by, at)));
        let targets = all.map(|(by, at)| (sum(by * word, at * word) / word) as u16).collect();
        let offsets: Vec<u64> =
            (0..bits).map(|bit| digits.iter().map(|at| digit(bit, at) * at.2).sum()).collect();
        let sizes = |group: &RankGroup| (group.single.len(), group.positions.len());
        let groups: Vec<(usize, usize)> = ranking.groups.iter().map(sizes).collect();
        let turned = |undone: bool| {
            let moves = puzzle.moves().iter().map(|one| {
                let made = match undone {
                    true => one.transformation.inverse(puzzle.sets()),
                    false => one.transformation.clone(),
                };
                let mut rows = Vec::new();
                let singles = ranking
                    .groups
                    .iter()
                    .flat_map(|group| group.single.iter().map(move |piece| (group, piece.modulus)));
                for ((group, modulus), &(weight, turns, _)) in singles.zip(&digits) {
                    let mut row = [(0, 0); MOST_POSITIONS];
                    let turn = &made.0[group.set];
                    for (to, at) in row.iter_mut().zip(&group.positions) {
                        let from = turn.source[usize::from(*at)];
                        let index = group.positions.iter().position(|&p| p == from);
                        // When the move is undone, the piece is turned back, so the move's own turn is added.
                        let twist = turn.twist[usize::from(*at)] % modulus;
                        let twist = if undone { (modulus - twist) % modulus } else { twist };
                        let by = if turns > 1 { u64::from(twist) * weight } else { 0 };
                        *to = (index.unwrap_or_default() as u8, by as u32);
                    }
                    rows.push(row);
                }
                rows
            });
            moves.collect::<Vec<BlockMove>>()
        };
        let (moves, forward) = (turned(false), turned(true));
        let shifts = (0..word).map(shift_of).collect();
        let adjacent = offsets.iter().zip(0..).all(|(&offset, bit)| offset == bit);
        let at = |goal: &Arrangement| {
            let entry = ranking.rank(goal);
            let turn = |&(weight, turns, entries): &(u64, u64, u64)| match entries {
                0 => 0,
                entries => entry / entries % turns * weight,
            };
            let (mut block, mut pieces) = (0, pieces.iter());
            for &(count, positions) in &groups {
                for (i, piece) in pieces.by_ref().take(count).enumerate() {
                    let digit = entry.checked_div(piece.entry).unwrap_or_default();
                    block += digit % (positions - i) as u64 * piece.weight;
                }
            }
            (block as usize, digits.iter().map(turn).sum::<u64>() as usize)
        };
        Some(Blocks {
            goals: puzzle.goals().iter().map(at).collect(),
            pieces,
            groups,
            ranking: ranking.clone(),
            moves,
            forward,
            blocks: blocks as usize,
            words,
            bits: word as u32,
            shifts,
            targets,
            offsets,
            adjacent,
        })
    }

    /// The memory, in bytes, that a search takes in addition to the table.
    pub fn bytes(&self) -> u64 {
        (self.blocks * self.words * 8 * 3) as u64
    }

    /// The number of the block with pieces at given positions.
    #[inline(always)]
    fn number(&self, at: &[u8]) -> usize {
        let (mut number, mut taken, mut group) = (0, 0u64, 0);
        for (piece, &place) in self.pieces.iter().zip(at) {
            if piece.group != group {
                (group, taken) = (piece.group, 0);
            }
            let free = u64::from(place) - u64::from((taken & ((1 << place) - 1)).count_ones());
            number += free * piece.weight;
            taken |= 1 << place;
        }
        number as usize
    }

    /// Determines the positions of the pieces of a block; returns its contribution to the numbers of its entries.
    fn places(&self, block: usize, at: &mut [u8; MOST_PIECES]) -> u64 {
        let (mut left, mut entry, mut p) = (block as u64, 0, 0);
        let mut odd = 0u64;
        for (g, &(count, positions)) in self.groups.iter().enumerate() {
            let mut free = u64::MAX >> (64 - positions as u32);
            let mut inversions = 0;
            for i in 0..count {
                let piece = &self.pieces[p];
                let nth = match (piece.weight, &self.ranking.groups[g].parity) {
                    (0, Some((others, flip))) if i + 2 == count => {
                        let odd = others.iter().fold(*flip, |all, &g| all ^ (odd >> g & 1 == 1));
                        u64::from(odd != (inversions % 2 == 1))
                    }
                    (0, _) => 0,
                    (weight, _) => {
                        let nth = left / weight;
                        left %= weight;
                        nth
                    }
                };
                inversions += nth;
                entry += nth * piece.entry;
                let mut rest = free;
                for _ in 0..nth {
                    rest &= rest - 1;
                }
                at[p] = rest.trailing_zeros() as u8;
                free &= !(1 << at[p]);
                p += 1;
            }
            odd |= (inversions & 1) << g;
        }
        entry
    }

    /// The block that a move comes from, or goes to, and the shift between the two.
    #[inline(always)]
    fn other(&self, one: &[[(u8, u32); MOST_POSITIONS]], at: &[u8]) -> (usize, usize) {
        let (mut from, mut by) = ([0u8; MOST_PIECES], 0);
        for ((from, row), &place) in from.iter_mut().zip(one).zip(at) {
            let (other, shift) = row[usize::from(place) % MOST_POSITIONS];
            *from = other;
            by += shift;
        }
        (self.number(&from[..at.len()]), by as usize)
    }

    /// Calls `to` for each word of a shifted block that contains a state, with the position where it goes.
    #[inline(always)]
    fn shifted(&self, from: &[AtomicU64], by: usize, mut to: impl FnMut(usize, u64)) {
        let (words, bits) = (self.words, self.bits as usize);
        let shifts = &self.shifts[by % bits];
        let targets = &self.targets[by / bits * words..][..words];
        for (word, &target) in from.iter().zip(targets) {
            let mut word = word.load(Ordering::Relaxed);
            for shift in shifts {
                word = (word & shift.up) << shift.by | (word & shift.down) >> shift.back;
            }
            if word != 0 {
                to(target.into(), word);
            }
        }
    }

    /// Writes the depth of every state to the empty entries; returns the number of states at each depth.
    pub fn fill(&self, entries: Entries, progress: &dyn Progress) -> Result<Vec<u64>, TableError> {
        let words = self.words;
        let array = || Words::zeroed(self.blocks * words);
        let (seen, mut now, mut next) = (array()?, array()?, array()?);
        for &(block, bit) in &self.goals {
            let (word, bit) = (block * words + bit / self.bits as usize, bit % self.bits as usize);
            next.get()[word].fetch_or(1 << bit, Ordering::Relaxed);
        }
        let mut few = 1;
        each_level(entries.encoding, progress, |depth, entry| {
            let collects = depth > 0 && few * FEW >= self.blocks;
            if depth > 0 && !collects {
                let parts: Vec<_> = next.get().chunks(PART).collect();
                each_number(parts.len(), &|part| {
                    parts[part].iter().for_each(|word| word.store(0, Ordering::Relaxed));
                });
                self.push(now.get(), next.get());
            }
            let (seen, now_words, next_words) = (seen.get(), now.get(), next.get());
            let meter = Meter::new(progress, Phase::Search(depth), 0, self.blocks as u64);
            let part = |part: usize| {
                let (mut states, mut blocks) = (0, 0);
                let mut others = vec![(0, 0); self.moves.len()];
                let mut words_there = vec![0; words];
                let all = part * PART..((part + 1) * PART).min(self.blocks);
                let count = all.len() as u64;
                for block in all.filter(|_| !progress.interrupted()) {
                    let own = block * words..(block + 1) * words;
                    let (seen, next) = (&seen[own.clone()], &next_words[own]);
                    if collects {
                        self.collect(block, now_words, seen, &mut others, &mut words_there);
                        for (next, word) in next.iter().zip(&words_there) {
                            next.store(*word, Ordering::Relaxed);
                        }
                    }
                    let found = self.settle(seen, next);
                    if found > 0 {
                        (states, blocks) = (states + found, blocks + 1);
                        entry.inspect(|&entry| self.write(block, next, entry, entries));
                    }
                }
                // Whether to go on is asked before each block.
                meter.count(count);
                (states, blocks)
            };
            let parts = map_numbers(self.blocks.div_ceil(PART), &part).into_iter();
            let (states, blocks) = parts.fold((0, 0), |a, b| (a.0 + b.0, a.1 + b.1));
            few = blocks;
            std::mem::swap(&mut now, &mut next);
            states
        })
    }

    /// Expands a level with few blocks forward to all states that it reaches.
    fn push(&self, now: &[AtomicU64], next: &[AtomicU64]) {
        let words = self.words;
        let each = |(block, bits): (usize, &[AtomicU64])| {
            if bits.iter().all(|word| word.load(Ordering::Relaxed) == 0) {
                return;
            }
            let mut at = [0; MOST_PIECES];
            self.places(block, &mut at);
            for one in &self.forward {
                let (to, by) = self.other(one, &at[..self.pieces.len()]);
                let next = &next[to * words..][..words];
                self.shifted(bits, by, |target, word| {
                    next[target].fetch_or(word, Ordering::Relaxed);
                });
            }
        };
        each_number(self.blocks.div_ceil(PART), &|part| {
            let blocks = part * PART..self.blocks.min((part + 1) * PART);
            blocks.zip(now[part * PART * words..].chunks(words)).for_each(each);
        });
    }

    /// Collects the states that moves bring to a block that is not full; `others` has room for the block from which
    /// each move comes, and the shift.
    fn collect(
        &self,
        block: usize,
        now: &[AtomicU64],
        seen: &[AtomicU64],
        others: &mut [(usize, usize)],
        to: &mut [u64],
    ) {
        let full = u64::MAX >> (64 - self.bits);
        to.fill(0);
        if seen.iter().all(|word| word.load(Ordering::Relaxed) == full) {
            return;
        }
        let mut at = [0; MOST_PIECES];
        self.places(block, &mut at);
        for (other, one) in others.iter_mut().zip(&self.moves) {
            *other = self.other(one, &at[..self.pieces.len()]);
            prefetch::<1, _>(now.as_ptr().wrapping_add(other.0 * self.words));
        }
        for &(from, by) in &*others {
            let from = &now[from * self.words..][..self.words];
            self.shifted(from, by, |target, word| to[target] |= word);
        }
    }

    /// Keeps the new states of a block and marks them as seen; returns their number.
    fn settle(&self, seen: &[AtomicU64], next: &[AtomicU64]) -> u64 {
        let mut states = 0;
        for (seen, next) in seen.iter().zip(next) {
            let before = seen.load(Ordering::Relaxed);
            let new = next.load(Ordering::Relaxed) & !before;
            next.store(new, Ordering::Relaxed);
            seen.store(before | new, Ordering::Relaxed);
            states += u64::from(new.count_ones());
        }
        states
    }

    /// Writes the states of a block.
    fn write(&self, block: usize, bits: &[AtomicU64], entry: u8, entries: Entries) {
        let first = self.places(block, &mut [0; MOST_PIECES]);
        for (w, word) in bits.iter().enumerate() {
            let mut left = word.load(Ordering::Relaxed);
            while left != 0 {
                let bit = w * self.bits as usize + left.trailing_zeros() as usize;
                left &= left - 1;
                let (byte, keep) = entries.unwritten(first + self.offsets[bit], entry);
                if self.adjacent {
                    // No other thread writes to the bytes of these blocks.
                    byte.store(byte.load(Ordering::Relaxed) & keep, Ordering::Relaxed);
                } else {
                    byte.fetch_and(keep, Ordering::Relaxed);
                }
            }
        }
    }
}
