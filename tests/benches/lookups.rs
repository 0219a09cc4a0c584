//! What other look-ups would save: nodes and time of a plain IDA* over the 7-8 databases on Korf's
//! instances, with the reflection and, on top of it, region-aware values or dual look-ups.
//!
//! The dual of a board is its inverse: cell and tile change places. It is solved by the same moves in
//! reverse order, but its blank ends where the board's blank is: so there is a database set for each of
//! the three kinds of cells, corner, edge and centre, of which the others are mirror images.
//!
//! Nothing is updated move by move here: every look-up ranks all tiles. `docs/notebook/solver.md` has the
//! results.

use std::time::Instant;

use tilewave::pdb::{Build, Kind, Pattern, Pdb, partition};
use tilewave::puzzle::{Board, Size};
use tilewave::solve::MovePruner;

/// The cell of each tile (tile t is at home on cell t, the blank is 0), or its dual.
type Cells = [u8; 16];

struct Sets {
    size: Size,
    pruner: MovePruner,
    minimum: Vec<Pdb>,
    regions: Vec<Pdb>,
    /// For goals with the blank in a corner, on an edge, in the centre.
    dual: Vec<(usize, Vec<Pdb>)>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Mode {
    regions: bool,
    dual: bool,
}

fn databases(patterns: Vec<Pattern>, kind: Kind) -> Vec<Pdb> {
    let one = |pattern| {
        let this = Build::new(pattern).kind(kind);
        this.run().expect("there is memory for it")
    };
    patterns.into_iter().map(one).collect()
}

impl Sets {
    fn new() -> Sets {
        let size = Size::new(4, 4).expect("a size");
        let goal = |blank| Board::ordered(size, blank).expect("a goal");
        let set = |kind| databases(partition("7-8", &goal(0)).expect("a partition"), kind);
        let rows = |blank| {
            let pattern = |tiles: &[u16]| Pattern::new(goal(blank), tiles).expect("a pattern");
            let tiles: Vec<u16> = (1..16).collect();
            let patterns = vec![pattern(&tiles[..7]), pattern(&tiles[7..])];
            (blank, databases(patterns, Kind::Minimum))
        };
        Sets {
            size,
            pruner: MovePruner::new(size, 12),
            minimum: set(Kind::Minimum),
            regions: set(Kind::Regions),
            dual: vec![(0, set(Kind::Minimum)), rows(1), rows(5)],
        }
    }

    /// The lower bound of a board; with dual look-ups only as far as the others do not exclude it.
    fn bound(&self, at: &Cells, mode: Mode, room: i32) -> i32 {
        let set = if mode.regions { &self.regions } else { &self.minimum };
        let mut bound = sum(set, at).max(sum(set, &turned(at, 1)));
        if mode.dual && bound < room {
            let mut dual = [0; 16];
            for (tile, &cell) in at.iter().enumerate() {
                dual[usize::from(cell)] = tile as u8;
            }
            for symmetry in 0..8 {
                let blank = image(symmetry, usize::from(at[0]));
                for (_, set) in self.dual.iter().filter(|(cell, _)| *cell == blank) {
                    bound = bound.max(sum(set, &turned(&dual, symmetry)));
                }
            }
        }
        bound
    }
}

/// The sum of a set's values.
fn sum(set: &[Pdb], at: &Cells) -> i32 {
    let value = |pdb: &Pdb| {
        let cells: Vec<u8> = pdb.pattern().home().iter().map(|&h| at[usize::from(h)]).collect();
        let blank = at[pdb.pattern().goal().blank()];
        i32::from(pdb.lookup(&cells, blank).expect("a value"))
    };
    set.iter().map(value).sum()
}

/// Where a symmetry takes a cell.
fn image(symmetry: usize, cell: usize) -> usize {
    let (mut row, mut col) = (cell / 4, cell % 4);
    if symmetry & 1 != 0 {
        (row, col) = (col, row);
    }
    row = if symmetry & 2 != 0 { 3 - row } else { row };
    col = if symmetry & 4 != 0 { 3 - col } else { col };
    row * 4 + col
}

fn turned(at: &Cells, symmetry: usize) -> Cells {
    let mut turned = [0; 16];
    for (tile, &cell) in at.iter().enumerate() {
        turned[image(symmetry, tile)] = image(symmetry, usize::from(cell)) as u8;
    }
    turned
}

struct Walk<'a> {
    sets: &'a Sets,
    mode: Mode,
    board: Cells,
    at: Cells,
    nodes: u64,
    excess: i32,
}

impl Walk<'_> {
    /// Exchanges the blank with the tile on a cell.
    fn step(&mut self, cell: usize) {
        let blank = usize::from(self.at[0]);
        let tile = self.board[cell];
        self.board.swap(blank, cell);
        self.at[usize::from(tile)] = blank as u8;
        self.at[0] = cell as u8;
    }

    fn descend(&mut self, state: u32, room: i32) -> bool {
        let blank = usize::from(self.at[0]);
        for (direction, next) in self.sets.pruner.moves(state) {
            let cell = direction.tile_cell(self.sets.size, blank).expect("a neighbour");
            self.nodes += 1;
            self.step(cell);
            let bound = self.sets.bound(&self.at, self.mode, room);
            if bound >= room {
                self.excess = self.excess.min(bound + 1 - room);
            } else if (0..16).all(|i| usize::from(self.at[i]) == i)
                || room > 1 && self.descend(next, room - 1)
            {
                return true;
            }
            self.step(blank);
        }
        false
    }
}

/// Returns length and nodes of a shortest solution.
fn solve(sets: &Sets, mode: Mode, board: Cells) -> (i32, u64) {
    let mut at = [0; 16];
    for (cell, &tile) in board.iter().enumerate() {
        at[usize::from(tile)] = cell as u8;
    }
    let mut limit = sets.bound(&at, mode, i32::MAX);
    let mut walk = Walk { sets, mode, board, at, nodes: 0, excess: 0 };
    let start = sets.pruner.start(usize::from(at[0]));
    loop {
        walk.excess = i32::MAX;
        if walk.descend(start, limit) {
            return (limit, walk.nodes);
        }
        limit += walk.excess;
    }
}

#[allow(clippy::print_stdout)]
fn main() {
    let sets = Sets::new();
    let lines = include_str!("../data/korf50.txt").lines();
    let lines: Vec<&str> = lines.filter(|line| !line.starts_with('#')).collect();
    for (regions, dual) in [(false, false), (true, false), (false, true), (true, true)] {
        let mode = Mode { regions, dual };
        let begun = Instant::now();
        let mut nodes = 0;
        for line in &lines {
            let mut words = line.split_whitespace().skip(1);
            let board =
                std::array::from_fn(|_| words.next().and_then(|w| w.parse().ok()).unwrap_or(0));
            let (length, found) = solve(&sets, mode, board);
            assert_eq!(words.next().and_then(|w| w.parse().ok()), Some(length), "{line}");
            nodes += found;
        }
        let (mean, seconds) = (nodes / lines.len() as u64, begun.elapsed().as_secs_f64());
        println!("{mode:?}: {mean} nodes on average, {seconds:.2} s");
    }
}
