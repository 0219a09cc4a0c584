//! The rules of a pattern, and the plain builder, which searches breadth first, one state at a time. It works for any
//! pattern, is slow, and is the oracle of the tests.
//!
//! Invariant: the value of a state is the length of its shortest path to the goal, where only moves that count have
//! length. The builder shares nothing with the fast one.

use std::time::Instant;

use crate::{
    bits::{bits, set_of},
    pdb::{EntryOrder, Grid, Kind, Pattern, PdbError},
    progress::{LevelDone, Phase, Progress},
};

/// The value of an entry that no board reaches.
pub(crate) const UNREACHED: u8 = u8::MAX;

/// A state: the tiles' cells, and the lowest cell of the blank's region, or, if every move counts, the blank's own
/// cell.
pub(crate) type PatternState = ([u8; Pattern::MAX_TILES], u8);

/// The rules for what counts as a move.
pub(crate) struct PatternMoves<'a> {
    pub pattern: &'a Pattern,
    pub kind: Kind,
    pub grid: Grid,
}

impl<'a> PatternMoves<'a> {
    pub fn new(pattern: &'a Pattern, kind: Kind) -> PatternMoves<'a> {
        PatternMoves { pattern, kind, grid: Grid::new(pattern.size()) }
    }

    /// The tiles' cells of a state.
    pub fn cells<'b>(&self, state: &'b PatternState) -> &'b [u8] {
        &state.0[..self.pattern.tiles().len()]
    }

    /// The state with a placement and the blank's cell.
    pub fn state(&self, cells: &[u8], blank: u8) -> PatternState {
        let mut padded = [0; Pattern::MAX_TILES];
        padded[..cells.len()].copy_from_slice(cells);
        if self.kind == Kind::AllMoves {
            return (padded, blank);
        }
        let region = self.grid.region(self.grid.free(set_of(cells)), usize::from(blank));
        (padded, region.trailing_zeros() as u8)
    }

    pub fn goal(&self) -> PatternState {
        self.state(self.pattern.home(), self.pattern.goal().blank() as u8)
    }

    /// Calls `visit` for each state that is one move away.
    pub fn each(&self, state: &PatternState, mut visit: impl FnMut(PatternState)) {
        let (mut cells, blank) = (state.0, state.1);
        let cells = &mut cells[..self.pattern.tiles().len()];
        if self.kind == Kind::AllMoves {
            // The blank changes places with an adjacent tile; it is itself the first of the cells.
            for near in bits(self.grid.around(1 << blank)) {
                let near = near as u8;
                let moved: Vec<u8> = cells
                    .iter()
                    .map(|&cell| match cell {
                        cell if cell == blank => near,
                        cell if cell == near => blank,
                        cell => cell,
                    })
                    .collect();
                visit(self.state(&moved, near));
            }
            return;
        }
        let region = self.grid.region(self.grid.free(set_of(cells)), usize::from(blank));
        for x in 0..cells.len() {
            let from = cells[x];
            for to in bits(self.grid.around(1 << from) & region) {
                cells[x] = to as u8;
                visit(self.state(cells, from));
            }
            cells[x] = from;
        }
    }
}

/// Fills `values` (one byte per entry, in entry order) and returns the histogram.
///
/// Cost: about 200 ns of one core per entry per tile; 9 bytes of memory per entry per region.
pub(crate) fn build(
    pattern: &Pattern,
    kind: Kind,
    values: &mut [u8],
    observer: &dyn Progress,
) -> Result<Vec<u64>, PdbError> {
    let moves = PatternMoves::new(pattern, kind);
    let entries = EntryOrder::new(pattern, kind);
    // States are numbered like the entries of a region-aware table, even if they share entries.
    let states = match kind {
        Kind::AllMoves => entries.clone(),
        Kind::Minimum | Kind::Regions => EntryOrder::new(pattern, Kind::Regions),
    };
    let (starts, count) = match kind {
        Kind::AllMoves => (Vec::new(), values.len()),
        Kind::Minimum | Kind::Regions => {
            let starts = states.region_starts();
            let slots = *starts.last().unwrap_or(&0) as usize;
            (starts, slots * crate::perm::lehmer::count(pattern.tiles().len()) as usize)
        }
    };
    let number = |order: &EntryOrder, state: &PatternState| {
        order.entry(moves.cells(state), state.1, |set| starts[set]) as usize
    };
    values.fill(UNREACHED);
    let mut seen = vec![false; count];
    let mut level = vec![moves.goal()];
    seen[number(&states, &level[0])] = true;
    let mut histogram = Vec::new();
    while !level.is_empty() {
        let (begun, depth) = (Instant::now(), histogram.len());
        if depth >= usize::from(UNREACHED) {
            return Err(PdbError::value(usize::from(UNREACHED) - 1));
        }
        let (mut next, mut found) = (Vec::new(), 0);
        for (i, state) in level.iter().enumerate() {
            if i.is_multiple_of(1 << 16) {
                let done = histogram.iter().sum::<u64>() + found;
                observer.progress(Phase::Search(depth), done, values.len() as u64);
                if observer.interrupted() {
                    return Err(PdbError::Interrupted(None));
                }
            }
            let entry = number(&entries, state);
            if values[entry] == UNREACHED {
                values[entry] = depth as u8;
                found += 1;
            }
            moves.each(state, |state| {
                if !std::mem::replace(&mut seen[number(&states, &state)], true) {
                    next.push(state);
                }
            });
        }
        if found > 0 {
            let seconds = begun.elapsed().as_secs_f64();
            observer.level(&LevelDone { depth, states: found, seconds });
        }
        histogram.push(found);
        level = next;
    }
    while histogram.last() == Some(&0) {
        histogram.pop();
    }
    Ok(histogram)
}
