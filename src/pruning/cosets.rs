//! Coset tables: bounds for all states of a puzzle whose pieces partly look alike, in two bits each.
//!
//! States that differ only in what a colouring does not show are one **coset**. The number of a coset has two halves: that
//! of some sets of pieces, up to the symmetries of the colouring, says the **row**; that of the other sets, seen through
//! the symmetry that leads there, the entry in the row. A **view** looks a state up through a symmetry of the puzzle that
//! the colouring does not have.
//!
//! An entry is 0 up to the **base** depth, 1 and 2 for the next two depths, and 3 beyond. A line of 64 bytes has 254
//! entries, after four bits for their minimum, which bounds the entries that are 0.
//!
//! ```text
//!          4 bits    254 * 2 bits
//! line    | least | e0 | e1 | e2 | ... | e253 |    row: lines of all values of the other sets
//! ```
//!
//! A table is filled in its own memory: while it is, 0 stands for earlier levels, 1 for the last one, 2 for the next one,
//! 3 for what is not reached; after a level all entries are written anew. The level after the base and one more need
//! not be left, so that filling ends there.
//!
//! Source: S. Tronto, nissy (H48), 2023, for bases and minima of lines; T. Rokicki, nxopt, 2016, for cosets.
//!
//! Invariant: an entry never says more than the minimum number of moves from any state of its coset to a coset of the
//! solved state.

#![allow(unsafe_code)]

use std::{
    fs::File,
    io::Read,
    path::Path,
    sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed},
    time::Instant,
};

use serde::{Deserialize, Serialize};

use crate::{
    Error,
    hint::{BUILD_SET, MEMORY},
    kernel::{
        Kernel, dispatch,
        isa::Isa,
        points::{self, ColourRank, ColourView, PointMap},
        prefetch,
    },
    progress::{LevelDone, Meter, NoProgress, Phase, Progress, go_on},
    pruning::{
        colouring::{Colouring, LINE, MAX_VIEWS, MOST_LEADS, MOST_RESTS},
        points::{PointPuzzle, registers},
    },
    puzzle::Puzzle,
    resources::Resources,
    store::{self, Container, Fields, Image, SectionLayout, TableFile, TableKind, shared_words},
    system::{FileKind, SystemError},
    table::TableError,
    threads::{each_number, each_part},
    units::bytes,
};

// The numbers of cosets.

/// What looking up a state through a symmetry of the puzzle takes.
pub(crate) struct PointView<const R: usize> {
    /// The moves that, made before the others, leave the coset as it is, a bit each.
    pub stay: u64,
    first: ColourView<R>,
    /// The rest, for each symmetry of the colouring after this one.
    rest: Vec<ColourView<R>>,
}

/// How cosets are numbered.
pub(crate) struct CosetNumbers<const R: usize> {
    pub puzzle: PointPuzzle<R>,
    colour: PointMap<R>,
    first: ColourRank,
    rest: ColourRank,
    /// For each value of the first sets, its row and the symmetry that leads there.
    row_of: Vec<u32>,
    rows: usize,
    /// Number of lines in a row.
    lines: usize,
    /// The symmetries of the colouring.
    group: Vec<PointMap<R>>,
    pub views: Vec<PointView<R>>,
}

/// Bits of a number of a symmetry in [`CosetNumbers::row_of`].
const SYMMETRY: u32 = 8;
/// Marks a value that no state has.
const NONE: u32 = u32::MAX;
const NOWHERE: u8 = u8::MAX;
/// Number of words of a line, and of bits before its first entry.
const LINE_WORDS: usize = 8;
const LEAST_BITS: u64 = 4;
/// The lowest bits of the entries of a word.
const ENTRIES: u64 = 0x5555_5555_5555_5555;
/// The bits of a line's minimum, in its first word.
const LEAST: u64 = (1 << LEAST_BITS) - 1;

/// The position in a row, in bits, of the entry with a number.
#[inline(always)]
fn bit_of(rest: u32) -> u32 {
    let (line, entry) = (rest / LINE as u32, rest % LINE as u32);
    line * 512 + LEAST_BITS as u32 + entry * 2
}

/// Ranks of some of several states, seen through a view.
#[inline(always)]
unsafe fn ranks_through<I: Isa, const R: usize>(
    states: &[PointMap<R>],
    numbers: &[u32],
    (view, rank): (&ColourView<R>, &ColourRank),
    to: &mut [u32],
) {
    for (to, &number) in to.iter_mut().zip(numbers) {
        // SAFETY: the caller's promise that the processor has the instructions.
        unsafe {
            let state = states[number as usize].load::<I>();
            *to = rank.rank::<I, R>(&view.colours::<I>(&state));
        }
    }
}

/// Ranks of a state after each of several moves.
#[inline(always)]
unsafe fn ranks_after<I: Isa, const R: usize>(
    (state, moves): (&PointMap<R>, &[PointMap<R>]),
    (colour, rank): (&PointMap<R>, &ColourRank),
    to: &mut [u32],
) {
    for (to, one) in to.iter_mut().zip(moves) {
        // SAFETY: the caller's promise that the processor has the instructions.
        unsafe {
            let after = points::after::<I, R>(&state.load::<I>(), &one.load::<I>());
            *to = rank.rank::<I, R>(&points::after::<I, R>(&colour.load::<I>(), &after));
        }
    }
}

/// The same for each number of registers: what the kernels are compiled for.
pub(crate) trait PointKernels<const R: usize> {
    fn ranks_through(
        kernel: Kernel,
        states: &[PointMap<R>],
        numbers: &[u32],
        through: (&ColourView<R>, &ColourRank),
        to: &mut [u32],
    );
    fn ranks_after(
        kernel: Kernel,
        of: (&PointMap<R>, &[PointMap<R>]),
        by: (&PointMap<R>, &ColourRank),
        to: &mut [u32],
    );
}

/// Puzzles of one and of two registers.
pub(crate) struct Registers;

macro_rules! kernels {
    ($($R:literal)*) => {$(
        impl PointKernels<$R> for Registers {
            fn ranks_through(
                kernel: Kernel,
                states: &[PointMap<$R>],
                numbers: &[u32],
                through: (&ColourView<$R>, &ColourRank),
                to: &mut [u32],
            ) {
                dispatch!(kernel, ranks_through<I, $R>(
                    states: &[PointMap<$R>],
                    numbers: &[u32],
                    through: (&ColourView<$R>, &ColourRank),
                    to: &mut [u32]
                ))
            }

            fn ranks_after(
                kernel: Kernel,
                of: (&PointMap<$R>, &[PointMap<$R>]),
                by: (&PointMap<$R>, &ColourRank),
                to: &mut [u32],
            ) {
                dispatch!(kernel, ranks_after<I, $R>(
                    of: (&PointMap<$R>, &[PointMap<$R>]),
                    by: (&PointMap<$R>, &ColourRank),
                    to: &mut [u32]
                ))
            }
        }
    )*};
}

kernels!(1 2);

/// One state for each value of a rank that some state has.
struct Values<const R: usize> {
    states: Vec<PointMap<R>>,
    /// The values that states have.
    numbers: Vec<u32>,
}

impl<const R: usize> Values<R>
where
    Registers: PointKernels<R>,
{
    fn new(
        kernel: Kernel,
        moves: &[PointMap<R>],
        (colour, rank): (&PointMap<R>, &ColourRank),
    ) -> Self {
        let nowhere = PointMap([[NOWHERE; 64]; R]);
        let mut states = vec![nowhere; rank.size as usize];
        let solved = PointMap::identity();
        let mut numbers = vec![0u32];
        let all = (&solved, &[PointMap::identity()][..]);
        Registers::ranks_after(kernel, all, (colour, rank), &mut numbers);
        states[numbers[0] as usize] = solved;
        let (mut at, mut after) = (0, vec![0u32; moves.len()]);
        while at < numbers.len() {
            let state = states[numbers[at] as usize];
            at += 1;
            Registers::ranks_after(kernel, (&state, moves), (colour, rank), &mut after);
            for (one, &number) in moves.iter().zip(&after) {
                if states[number as usize] == nowhere {
                    states[number as usize] = state.after(one);
                    numbers.push(number);
                }
            }
        }
        numbers.sort_unstable();
        Values { states, numbers }
    }
}

/// A row while a table is filled: a state of its class, and the symmetries that keep the value of the first sets.
struct Row<const R: usize> {
    state: PointMap<R>,
    keeping: Vec<usize>,
}

impl<const R: usize> CosetNumbers<R>
where
    Registers: PointKernels<R>,
{
    /// Returns how the cosets of a colouring are numbered, and its rows. `None` if they cannot be.
    fn new(puzzle: PointPuzzle<R>, json: &CosetJson) -> Option<(CosetNumbers<R>, Vec<Row<R>>)> {
        let CosetJson { colouring, first: first_sets, symmetries } = json;
        if !colouring.is_valid(&puzzle) {
            return None;
        }
        let kernel = Kernel::best();
        let group = colouring.symmetries(&puzzle);
        if group.len() != *symmetries {
            return None;
        }
        let coloured = colouring.coloured(&puzzle);
        let half = |first: bool| {
            let own = (0..).zip(&coloured).filter(|(set, _)| first_sets.contains(set) == first);
            ColourRank::new(&own.map(|(_, set)| set.clone()).collect::<Vec<_>>())
        };
        let (first, rest) = (half(true)?, half(false)?);
        if first.size > MOST_LEADS || rest.size > MOST_RESTS {
            return None;
        }
        let colour = colouring.colours(&puzzle);
        let (mut views, mut covered) = (Vec::new(), vec![false; puzzle.symmetries.len()]);
        for g in 0..covered.len() {
            if covered[g] {
                continue;
            }
            group.iter().for_each(|&q| covered[puzzle.product(g, q)] = true);
            let symmetry = puzzle.symmetries[g];
            let back = symmetry.inverse();
            let stays =
                |one: &PointMap<R>| colour.after(&symmetry.after(one).after(&back)) == colour;
            let moves = puzzle.moves.iter().enumerate().filter(|(_, one)| stays(one));
            let stay = moves.map(|(one, _)| 1 << one).sum();
            let through =
                |&q: &usize| ColourView::new(&puzzle.symmetries[q].after(&symmetry), &colour);
            let rest = group.iter().map(through).collect();
            views.push(PointView { stay, first: ColourView::new(&symmetry, &colour), rest });
        }
        // A view that keeps more moves serves better.
        views.sort_by_key(|view: &PointView<R>| std::cmp::Reverse(view.stay.count_ones()));
        let back = |&a: &usize| group.iter().position(|&b| puzzle.product(a, b) == 0).unwrap_or(0);
        let inverse: Vec<usize> = group.iter().map(back).collect();
        let seen: Vec<ColourView<R>> =
            group.iter().map(|&q| ColourView::new(&puzzle.symmetries[q], &colour)).collect();
        let values = Values::new(kernel, &puzzle.moves, (&colour, &first));
        let mut row_of = vec![NONE; first.size as usize];
        let mut rows: Vec<Row<R>> = Vec::new();
        let mut image = [0];
        for &value in &values.numbers {
            if row_of[value as usize] != NONE {
                continue;
            }
            let mut keeping = Vec::new();
            for (q, view) in seen.iter().enumerate() {
                let through = (view, &first);
                Registers::ranks_through(kernel, &values.states, &[value], through, &mut image);
                if image[0] == value && q != 0 {
                    keeping.push(q);
                }
                let row = &mut row_of[image[0] as usize];
                if *row == NONE {
                    *row = (rows.len() << SYMMETRY | inverse[q]) as u32;
                }
            }
            rows.push(Row { state: values.states[value as usize], keeping });
        }
        views.truncate(MAX_VIEWS);
        let group = group.iter().map(|&q| puzzle.symmetries[q]).collect();
        let lines = rest.size.div_ceil(LINE) as usize;
        let count = rows.len();
        let of =
            CosetNumbers { puzzle, colour, first, rest, row_of, rows: count, lines, group, views };
        Some((of, rows))
    }

    fn bytes(&self) -> u64 {
        (self.rows * self.lines * LINE_WORDS * 8) as u64
    }

    /// Fills a table, all of whose bits are set. Returns the base and the number of entries at each depth.
    fn fill(
        &self,
        rows: &[Row<R>],
        table: &[AtomicU64],
        (kernel, progress): (Kernel, &dyn Progress),
    ) -> Result<(u8, Vec<u64>), SystemError> {
        let moves = &self.puzzle.moves;
        let rests = Values::new(kernel, moves, (&self.colour, &self.rest));
        let (symmetries, row_words) = (self.group.len(), self.lines * LINE_WORDS);
        let row_at = |row: usize| &table[row * row_words..][..row_words];
        let mut number = [0];
        // For each move, and for none, and for each symmetry: the rows to which it takes rows.
        let mut steps: Vec<Vec<(u32, u32)>> = vec![Vec::new(); (moves.len() + 1) * symmetries];
        for (own, row) in rows.iter().enumerate() {
            let mut after = vec![0; moves.len()];
            let by = (&self.colour, &self.first);
            Registers::ranks_after(kernel, (&row.state, moves), by, &mut after);
            for (one, &value) in after.iter().enumerate() {
                let to = self.row_of[value as usize];
                let symmetry = (to & ((1 << SYMMETRY) - 1)) as usize;
                steps[one * symmetries + symmetry].push((own as u32, to >> SYMMETRY));
            }
            for q in &row.keeping {
                steps[moves.len() * symmetries + q].push((own as u32, own as u32));
            }
        }
        let views: Vec<ColourView<R>> =
            self.group.iter().map(|g| ColourView::new(g, &self.colour)).collect();
        // Without branches, which nobody could predict: 3 becomes 2, everything else remains. Returns 1 for what was 3.
        let set = |row: &[AtomicU64], bit: u32| -> u64 {
            let (word, shift) = (&row[(bit / 64) as usize], bit % 64);
            let value = word.load(Relaxed);
            let is_new = value >> shift & value >> (shift + 1) & 1;
            word.store(value ^ is_new << shift, Relaxed);
            is_new
        };
        // For each row, the number of entries of the last level, and whether it has any of the next one.
        let last: Vec<AtomicU32> = (0..rows.len()).map(|_| AtomicU32::new(0)).collect();
        let next: Vec<AtomicU32> = (0..rows.len()).map(|_| AtomicU32::new(0)).collect();
        let solved = [PointMap::identity()];
        Registers::ranks_through(kernel, &solved, &[0], (&views[0], &self.first), &mut number);
        let solved_row = (self.row_of[number[0] as usize] >> SYMMETRY) as usize;
        Registers::ranks_through(kernel, &solved, &[0], (&views[0], &self.rest), &mut number);
        let bit = bit_of(number[0]);
        let line = &row_at(solved_row)[(bit / 512) as usize * LINE_WORDS..];
        line[(bit % 512 / 64) as usize].fetch_and(!(2 << (bit % 64)), Relaxed);
        line[0].fetch_and(!LEAST, Relaxed);
        last[solved_row].store(1, Relaxed);
        let (mut histogram, mut total) = (vec![1u64], 1u64);
        let full = rests.numbers.len() as u64 * rows.len() as u64;
        progress.started(u64::MAX);
        progress.level(&LevelDone { depth: 0, states: 1, seconds: 0.0 });
        let mut map = vec![0u32; rests.numbers.len()];
        let mut bit_map = vec![NONE; self.rest.size as usize];
        for depth in 1.. {
            let begun = Instant::now();
            let meter = Meter::new(progress, Phase::Search(depth), 0, steps.len() as u64);
            // Where few entries are left, each looks for a neighbour in the last level.
            let before = histogram[depth - 1] as f64;
            let tries = (full as f64 / before).min(moves.len() as f64);
            let back = before * moves.len() as f64 > (full - total) as f64 * tries;
            let codes = if back { [3, 3] } else { [1, 2] };
            for (step, pairs) in steps.iter().enumerate() {
                meter.add(1)?;
                let (one, symmetry) = (step / symmetries, step % symmetries);
                let closes = one == moves.len();
                if closes && back {
                    continue;
                }
                let entries = |&(from, _): &(u32, u32)| -> u64 {
                    let of = if closes { &next } else { &last };
                    of[from as usize].load(Relaxed).into()
                };
                let pairs: Vec<(u32, u32)> =
                    pairs.iter().filter(|pair| back || entries(pair) > 0).copied().collect();
                if pairs.is_empty() {
                    continue;
                }
                let view = match closes {
                    true => views[symmetry],
                    false => views[symmetry].before(&moves[one]),
                };
                let through = (&view, &self.rest);
                // A few entries are followed one by one, many by a map of all values.
                let few = !back && pairs.iter().map(entries).sum::<u64>() < map.len() as u64 / 2;
                if !few {
                    let part = (map.len() / 64).max(1 << 10);
                    each_part(&mut map, part, &|i, to| {
                        let numbers = &rests.numbers[i * part..][..to.len()];
                        Registers::ranks_through(kernel, &rests.states, numbers, through, to);
                    });
                    for (&from, &to) in rests.numbers.iter().zip(&map) {
                        bit_map[from as usize] = bit_of(to);
                    }
                }
                let bit_map = &bit_map;
                each_number(pairs.len(), &|pair| {
                    let (from, to) = pairs[pair];
                    let (row, target) = (row_at(from as usize), row_at(to as usize));
                    let code = codes[usize::from(closes)];
                    let mut found = 0;
                    if back {
                        found = each_entry(row, code, |rest| match bit_map.get(rest as usize) {
                            Some(&bit) if bit != NONE => {
                                let word = target[(bit / 64) as usize].load(Relaxed);
                                u64::from(word >> (bit % 64) & 3 == 1)
                            }
                            _ => 0,
                        });
                    } else if few {
                        let mut numbers = Vec::new();
                        each_entry(row, code, |rest| {
                            numbers.push(rest);
                            0
                        });
                        let mut to = vec![0; numbers.len()];
                        Registers::ranks_through(kernel, &rests.states, &numbers, through, &mut to);
                        to.iter().for_each(|&rank| found += set(target, bit_of(rank)));
                    } else {
                        each_entry(row, code, |rest| {
                            found += set(target, bit_map[rest as usize]);
                            0
                        });
                    }
                    next[if back { from } else { to } as usize].fetch_add(found as u32, Relaxed);
                });
            }
            let count: u64 = next.iter().map(|count| u64::from(count.load(Relaxed))).sum();
            if count == 0 && depth > 1 {
                // 1 stands for the last level, 0 for those before.
                return Ok(((depth - 2) as u8, histogram));
            }
            total += count;
            if count > 0 {
                histogram.push(count);
                let seconds = begun.elapsed().as_secs_f64();
                progress.level(&LevelDone { depth, states: count, seconds });
            }
            let ends = depth > 1 && total as f64 > full as f64 * COVERED || depth >= MOST_DEPTH;
            each_number(rows.len(), &|row| {
                if last[row].load(Relaxed) == 0 && next[row].load(Relaxed) == 0 {
                    return;
                }
                row_at(row).chunks_exact(LINE_WORDS).for_each(|line| recode(line, depth, ends));
                last[row].store(next[row].swap(0, Relaxed), Relaxed);
            });
            if ends || count == 0 {
                // Where no move is seen, there is one coset: 0.
                return Ok((depth.saturating_sub(2) as u8, histogram));
            }
            go_on(progress)?;
        }
        unreachable!("levels end")
    }
}

impl<const R: usize> CosetNumbers<R> {
    /// The value of the first sets of a state, whose row is prefetched.
    ///
    /// # Safety
    /// The processor has the instructions.
    #[inline(always)]
    pub unsafe fn first_of<I: Isa>(&self, state: &[I::Reg; R], view: usize) -> u32 {
        // SAFETY: the caller's promise.
        unsafe {
            let first = self.first.rank::<I, R>(&self.views[view].first.colours::<I>(state));
            prefetch::<1, _>(self.row_of.as_ptr().wrapping_add(first as usize));
            first
        }
    }

    /// Where the entry of a state with a value of its first sets is: its line, and the bit within the line.
    ///
    /// # Safety
    /// The processor has the instructions.
    #[inline(always)]
    pub unsafe fn place<I: Isa>(&self, state: &[I::Reg; R], view: usize, first: u32) -> (u32, u32) {
        // SAFETY: the caller's promise.
        unsafe {
            let of = self.row_of[first as usize];
            let rest = &self.views[view].rest[(of & ((1 << SYMMETRY) - 1)) as usize];
            let rest = self.rest.rank::<I, R>(&rest.colours::<I>(state));
            let line = (of >> SYMMETRY) * self.lines as u32 + rest / LINE as u32;
            (line, LEAST_BITS as u32 + rest % LINE as u32 * 2)
        }
    }
}

/// A table ends two levels after its base, when this share of the entries are reached.
const COVERED: f64 = 0.9;
/// Depths are less than this.
const MOST_DEPTH: usize = 250;

/// Calls a function with the number of each entry of a row that has a code. Where it returns 1, the entry's lowest bit is
/// changed: returns how many these were.
#[inline(always)]
fn each_entry(row: &[AtomicU64], code: u64, mut call: impl FnMut(u32) -> u64) -> u64 {
    let (same, mut all) = (ENTRIES * code, 0);
    for (line, words) in row.chunks_exact(LINE_WORDS).enumerate() {
        for (i, word) in words.iter().enumerate() {
            let value = word.load(Relaxed);
            let (other, mut changed) = (value ^ same, 0u64);
            let own = if i == 0 { !LEAST } else { u64::MAX };
            let mut found = !(other | other >> 1) & ENTRIES & own;
            while found != 0 {
                let shift = found.trailing_zeros();
                let bit = u64::from(shift) + 64 * i as u64;
                found &= found - 1;
                changed |= call((line as u64 * LINE + (bit - LEAST_BITS) / 2) as u32) << shift;
            }
            if changed != 0 {
                word.fetch_xor(changed, Relaxed);
                all += u64::from(changed.count_ones());
            }
        }
    }
    all
}

/// Writes the codes of a line anew after a level, unless it is the last, and its minimum.
fn recode(line: &[AtomicU64], depth: usize, ends: bool) {
    let mut reached = false;
    for (i, cell) in line.iter().enumerate() {
        let word = cell.load(Relaxed);
        let own = if i == 0 { LEAST } else { 0 };
        let (high, low) = (word >> 1 & ENTRIES, word & ENTRIES);
        reached |= (high & low | own) & ENTRIES != ENTRIES;
        if !ends {
            // 3 remains, 2 becomes 1, and 1 becomes 0.
            let (high, low) = (high & !own, low & !own);
            cell.store((high & low) << 1 | high | word & own, Relaxed);
        }
    }
    let word = line[0].load(Relaxed);
    if reached && word & LEAST == LEAST {
        let depth = (depth as u64).min(LEAST - 1);
        line[0].store(word & !LEAST | depth, Relaxed);
    }
}

// The tables.

/// Bounds for all states of a puzzle, in two bits for each coset of a subgroup: what the two-sided solver looks up.
///
/// ```
/// use tilewave::Resources;
/// use tilewave::puzzle::{Turns, named};
/// use tilewave::pruning::CosetTable;
/// use tilewave::solve::PuzzleSolver;
/// let cube = named::parse("3x3x3").unwrap().counting(Turns::Powers)?;
/// let table = CosetTable::build(&cube, 1 << 20, Resources::new())?;
/// assert!(table.file_bytes() <= (1 << 20) + (1 << 16));
/// let solver = PuzzleSolver::two_sided(table)?;
/// let (state, _) = solver.puzzle().read("R U R' F2 L D' B")?;
/// assert_eq!(solver.solve(&state)?.moves.unwrap().len(), 7);
/// # Ok::<(), tilewave::Error>(())
/// ```
pub type CosetTable = TableFile<CosetDepths>;

/// What the look-ups of a coset table need.
pub struct CosetDepths {
    puzzle: Puzzle,
    json: CosetJson,
    pub(crate) numbers: AnyNumbers,
}

/// Numbers of cosets of puzzles with up to 64 points, or up to 128.
pub(crate) enum AnyNumbers {
    One(CosetNumbers<1>),
    Two(CosetNumbers<2>),
}

/// The same expression for either number of registers.
macro_rules! by_registers {
    ($any:expr, $numbers:ident => $call:expr) => {
        match $any {
            AnyNumbers::One($numbers) => $call,
            AnyNumbers::Two($numbers) => $call,
        }
    };
}

/// How cosets are numbered, in a file.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CosetJson {
    colouring: Colouring,
    /// The sets that come first in a number.
    first: Vec<usize>,
    /// The number of symmetries of the colouring, among which are all that the puzzle has.
    symmetries: usize,
}

impl TableKind for CosetDepths {
    type Header = CosetHeader;

    fn of(file: &Container<CosetHeader>) -> Result<CosetDepths, SystemError> {
        let read = || {
            let text = str::from_utf8(file.index()).ok()?;
            let (name, parts) = text.split_at_checked(file.header.name as usize)?;
            let end = parts.len().checked_sub(file.header.colouring as usize)?;
            let (parts, colouring) = parts.split_at_checked(end)?;
            let puzzle = Puzzle::of_json(name, parts)?;
            let json: CosetJson = serde_json::from_str(colouring).ok()?;
            let numbers = match registers(&puzzle)? {
                1 => AnyNumbers::One(CosetNumbers::new(PointPuzzle::new(&puzzle)?, &json)?.0),
                _ => AnyNumbers::Two(CosetNumbers::new(PointPuzzle::new(&puzzle)?, &json)?.0),
            };
            let lines = by_registers!(&numbers, of => of.rows * of.lines) as u64;
            (lines == file.header.lines).then_some(CosetDepths { puzzle, json, numbers })
        };
        read().ok_or_else(|| file.contradictory())
    }

    fn bits(_: &CosetHeader) -> u32 {
        2
    }
}

/// The contents of a header.
#[derive(Clone, Debug)]
pub struct CosetHeader {
    base: u8,
    lines: u64,
    /// The number of entries at each depth, up to two levels after the base.
    histogram: Vec<u64>,
    /// Size in bytes of the index: name, puzzle and colouring.
    index: u64,
    name: u64,
    colouring: u64,
    index_sum: u64,
    checksum: u64,
}

/// Offsets of the fields that differ between files.
const SUM: usize = 96;
const NAME: usize = 104;
/// Maximum size of the index in bytes.
const MAX_INDEX: u64 = 16 << 20;

impl store::FileHeader for CosetHeader {
    const MAGIC: [u8; 8] = store::container::COSETS.0;
    const VERSION: u32 = 1;
    const KIND: FileKind = FileKind { noun: "coset table", build: Some(BUILD_SET) };

    fn layout(&self) -> SectionLayout {
        SectionLayout::new(self.index, self.lines * 64, None)
    }

    fn contents(&self) -> (&[u64], u64) {
        (&self.histogram, self.checksum)
    }

    fn sums(&mut self) -> (Option<&mut u64>, &mut u64) {
        (Some(&mut self.index_sum), &mut self.checksum)
    }

    fn encode(&self, fields: &mut Fields) {
        fields.put(16, &[self.base]);
        let entries = fields.put_histogram(17, &self.histogram);
        fields.put_words(24, &[self.lines, entries]);
        fields.put_table(self.layout(), self.checksum);
        fields.put_words(SUM, &[self.index_sum]);
        fields.put_words(NAME, &[self.name, self.index, self.colouring]);
    }

    fn decode(fields: &Fields) -> Result<CosetHeader, &'static str> {
        let (histogram, entries) = fields.histogram(17)?;
        let (base, lines) = (fields.byte(16), fields.u64(24));
        let [name, index, colouring] = [NAME, NAME + 8, NAME + 16].map(|at| fields.u64(at));
        if lines == 0 || lines > 1 << 40 || entries > lines * LINE {
            return Err("wrong histogram");
        }
        if !(1..=3).contains(&(histogram.len() as i64 - i64::from(base))) {
            return Err("the base is not among the depths");
        }
        if index > MAX_INDEX || name > index || colouring > index - name {
            return Err("the puzzle definition is too long");
        }
        let [index_sum, checksum] = [SUM, 88].map(|at| fields.u64(at));
        Ok(CosetHeader { base, lines, histogram, index, name, colouring, index_sum, checksum })
    }
}

/// A table while it is made: what its look-ups need, and its rows.
type Numbered<const R: usize> = (CosetNumbers<R>, Vec<Row<R>>);

impl CosetTable {
    /// Returns whether a puzzle can have such a table: all pieces differ and all orientations are visible, every move is
    /// always allowed and has its inverse, there are one solved state, at most 64 moves and 128 places of stickers, and
    /// several sets of at most 32 pieces, with at most four orientations.
    pub fn suits(puzzle: &Puzzle) -> bool {
        registers(puzzle).is_some() && puzzle.sets().len() > 1
    }

    /// Returns whether a file begins as the files of these tables do.
    pub fn is(path: &Path) -> bool {
        let mut begin = [0; 8];
        let read = File::open(path).and_then(|mut file| file.read_exact(&mut begin));
        read.is_ok() && begin == store::container::COSETS.0
    }

    /// Returns the table of the colouring that promises the best bounds among those whose tables take at most this number
    /// of bytes.
    ///
    /// Cost: some seconds for the choice; then, for the 3x3x3, 0.1 to 0.2 microseconds of one core per entry, and little
    /// memory besides the table.
    ///
    /// # Errors
    /// [`TableError::Unsuitable`] for a puzzle that cannot have one, [`TableError::Memory`] if even a small table does
    /// not fit.
    pub fn build(puzzle: &Puzzle, bytes: u64, resources: Resources) -> Result<CosetTable, Error> {
        CosetTable::build_with(puzzle, bytes, resources, &NoProgress)
    }

    /// Returns the table like [`CosetTable::build`], with an observer that sees the progress and may stop the work
    /// ([`SystemError::Interrupted`]).
    pub fn build_with(
        puzzle: &Puzzle,
        bytes: u64,
        resources: Resources,
        progress: &dyn Progress,
    ) -> Result<CosetTable, Error> {
        match registers(puzzle).filter(|_| CosetTable::suits(puzzle)) {
            Some(1) => {
                let made = |numbers| AnyNumbers::One(numbers);
                CosetTable::chosen::<1>(puzzle, bytes, (resources, progress), made)
            }
            Some(_) => {
                let made = |numbers| AnyNumbers::Two(numbers);
                CosetTable::chosen::<2>(puzzle, bytes, (resources, progress), made)
            }
            None => Err(TableError::Unsuitable(format!(
                "{puzzle} cannot have a coset table: it needs several sets of pieces that all \
                 differ, and moves that can be reversed"
            ))
            .into()),
        }
    }

    fn chosen<const R: usize>(
        puzzle: &Puzzle,
        most: u64,
        (resources, progress): (Resources, &dyn Progress),
        made: impl FnOnce(CosetNumbers<R>) -> AnyNumbers,
    ) -> Result<CosetTable, Error>
    where
        Registers: PointKernels<R>,
    {
        let too_little = || {
            TableError::Memory(format!(
                "no coset table for {puzzle} fits in {}: allow more memory ({MEMORY})",
                bytes(most)
            ))
        };
        let points = PointPuzzle::<R>::new(puzzle).ok_or_else(too_little)?;
        progress.progress(Phase::Setup, 0, 0);
        let colouring = resources.install(|| Colouring::choose(&points, most))?;
        let colouring = colouring.ok_or_else(too_little)?;
        go_on(progress)?;
        let symmetries = colouring.symmetries(&points).len();
        let (first, _) = colouring.halves(&points, symmetries).ok_or_else(too_little)?;
        let json = CosetJson { colouring, first, symmetries };
        let numbered = CosetNumbers::new(points, &json).ok_or_else(too_little)?;
        CosetTable::filled(puzzle, json, numbered, (resources, progress), made)
    }

    fn filled<const R: usize>(
        puzzle: &Puzzle,
        json: CosetJson,
        (numbers, rows): Numbered<R>,
        (resources, progress): (Resources, &dyn Progress),
        made: impl FnOnce(CosetNumbers<R>) -> AnyNumbers,
    ) -> Result<CosetTable, Error>
    where
        Registers: PointKernels<R>,
    {
        let text = serde_json::to_string(&json).expect("numbers have a JSON form");
        let (name, parts) = (puzzle.name(), puzzle.to_json());
        let mut header = CosetHeader {
            base: 0,
            lines: numbers.bytes() / 64,
            histogram: vec![1],
            index: (name.len() + parts.len() + text.len()) as u64,
            name: name.len() as u64,
            colouring: text.len() as u64,
            index_sum: 0,
            checksum: 0,
        };
        let layout = store::FileHeader::layout(&header);
        let needed = layout.data.end();
        // A table that was chosen for the limit may exceed it by what the file says of the puzzle.
        if let Some(budget) = resources.exceeded_by(numbers.bytes()) {
            return Err(TableError::Memory(format!(
                "a coset table for {puzzle} takes {} of memory, but the limit is {}: allow more \
                 memory ({MEMORY})",
                bytes(needed),
                bytes(budget)
            ))
            .into());
        }
        let mut image = Image::zeroed(needed)?;
        let file = image.bytes_mut();
        layout.index.of_mut(file).copy_from_slice([name, &parts, &text].concat().as_bytes());
        let data = layout.data.of_mut(file);
        let kernel = resources.choose_kernel()?;
        (header.base, header.histogram) = resources.install(|| {
            each_part(data, 1 << 20, &|_, part| part.fill(0xff));
            numbers.fill(&rows, shared_words(data), (kernel, progress))
        })??;
        let of = CosetDepths { puzzle: puzzle.clone(), json, numbers: made(numbers) };
        Ok(TableFile { file: Container::finish(image, header), of })
    }

    /// Returns the puzzle, whose states the table gives bounds for.
    pub fn puzzle(&self) -> &Puzzle {
        &self.of.puzzle
    }

    /// Returns the greatest depth that entries do not tell apart: they tell it and two more.
    pub fn base(&self) -> u8 {
        self.file.header.base
    }

    /// Returns the number of symmetries that entries share, and how many look-ups a state takes, besides that of its
    /// inverse.
    pub fn symmetries(&self) -> (usize, usize) {
        by_registers!(&self.of.numbers, of => (of.group.len(), of.views.len()))
    }

    /// Returns the number of entries: of cosets up to symmetry, or slightly more.
    pub fn entries(&self) -> u64 {
        self.file.header.lines * LINE
    }

    /// Returns what the table tells apart: for each set, the numbers of pieces that look alike, marked with `*` where
    /// their orientations are known.
    pub fn classes(&self) -> String {
        let sets =
            self.of.puzzle.sets().iter().zip(&self.of.json.colouring.sets).map(|(set, own)| {
                let class = |(pieces, kept): (usize, bool)| {
                    format!("{pieces}{}", if kept { "*" } else { "" })
                };
                let classes: Vec<String> = own.counts().into_iter().map(class).collect();
                format!("{} {}", set.name, classes.join("+"))
            });
        sets.collect::<Vec<_>>().join(", ")
    }

    /// Checks every entry: fills another table for the same colouring, and compares. Cost: that of building, and as much
    /// memory again.
    ///
    /// # Errors
    /// [`TableError::Wrong`] if the tables differ; [`SystemError`].
    pub fn verify(&self, resources: Resources, progress: &dyn Progress) -> Result<(), Error> {
        let puzzle = &self.of.puzzle;
        let wrong = || {
            TableError::Wrong(format!(
                "the table for {puzzle} is wrong: a newly built one differs; rebuild it with \
                 {BUILD_SET}"
            ))
        };
        let json = self.of.json.clone();
        let with = (resources, progress);
        let again = match &self.of.numbers {
            AnyNumbers::One(_) => {
                let points = PointPuzzle::<1>::new(puzzle).ok_or_else(wrong)?;
                let numbered = CosetNumbers::new(points, &json).ok_or_else(wrong)?;
                CosetTable::filled(puzzle, json, numbered, with, AnyNumbers::One)?
            }
            AnyNumbers::Two(_) => {
                let points = PointPuzzle::<2>::new(puzzle).ok_or_else(wrong)?;
                let numbered = CosetNumbers::new(points, &json).ok_or_else(wrong)?;
                CosetTable::filled(puzzle, json, numbered, with, AnyNumbers::Two)?
            }
        };
        let same = (again.checksum(), again.base(), again.histogram())
            == (self.checksum(), self.base(), self.histogram());
        if same { Ok(()) } else { Err(wrong().into()) }
    }

    /// The bound of an entry, in the table's lines.
    #[inline(always)]
    pub(crate) fn bound_at(lines: &[u8], base: u8, (line, bit): (u32, u32)) -> u8 {
        let line = &lines[line as usize * 64..][..64];
        match line[(bit / 8) as usize] >> (bit % 8) & 3 {
            0 => line[0] & LEAST as u8,
            code => base + code,
        }
    }

    /// The lines, all of them in memory or mapped.
    pub(crate) fn lines(&self) -> &[u8] {
        self.file.data()
    }
}
