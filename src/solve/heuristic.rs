//! Additive pattern databases as a heuristic: which entry a board looks up, kept up to date move by
//! move.
//!
//! Invariant: a view's index of a pattern is the lexicographic rank of the cells that the pattern's
//! tiles stand on, seen through the view's symmetry. Let digit i be the cell of tile i minus the number of
//! earlier tiles on smaller cells; the rank is their mixed-radix number. A tile that goes from cell a to
//! b changes its own digit by b - a, less one for every earlier tile in between, and the digit of every later
//! tile in between by one. So an index is updated by one addition per cell between a and b: none for
//! neighbours in a row, at most a row's length for neighbours in a column.

use crate::puzzle::tiles::{Board, Direction, Size};

/// Most cells of a board that has databases.
pub(super) const MAX_CELLS: usize = 36;

/// One pattern of a database set: a byte per placement of its tiles, in lexicographic order.
#[derive(Clone, Copy)]
pub struct Lookup<'a> {
    /// The goal cells of the pattern's tiles, in the order in which the rank reads them.
    pub cells: &'a [u8],
    /// The fewest moves of these tiles for every placement.
    pub values: &'a [u8],
}

/// A set of disjoint patterns for a goal with the blank at a given row-major cell.
pub struct PatternSet<'a> {
    /// Size of the board.
    pub size: Size,
    /// The blank's cell in the goal.
    pub blank: usize,
    /// The patterns, disjoint.
    pub patterns: Vec<Lookup<'a>>,
}

/// What a symmetry makes of the moves and of the pattern set.
pub(super) struct View {
    /// Pattern of each tile (tiles are named by their goal cell).
    pub pattern: [u8; MAX_CELLS],
    /// Index change per cell that a tile moves forward.
    stride: [i32; MAX_CELLS],
    /// Index change when a tile moves forward over another one.
    over: Vec<[i32; MAX_CELLS]>,
    /// For each blank cell and direction how the tile moves.
    steps: Vec<[Step; 4]>,
    /// Where the symmetry takes each cell.
    image: Vec<u8>,
}

/// A tile's move as a view sees it.
#[derive(Clone, Copy, Default)]
struct Step {
    /// Cells forward, negative for backward.
    distance: i8,
    /// The cells in between (as the board numbers them), in front of `count`.
    between: [u8; 6],
    count: u8,
}

/// A pattern that no tile belongs to.
pub(super) const NO_PATTERN: u8 = u8::MAX;

impl View {
    /// How much the index of the tile's pattern changes when the tile moves into the blank.
    #[inline(always)]
    pub fn change(&self, board: &[u8; MAX_CELLS], blank: usize, d: Direction, tile: u8) -> i32 {
        let step = &self.steps[blank][d as usize];
        let tile = usize::from(tile);
        let distance = i32::from(step.distance);
        let mut change = distance.abs() * self.stride[tile];
        let over = &self.over[tile];
        for &cell in &step.between[..usize::from(step.count)] {
            change += over[usize::from(board[usize::from(cell)])];
        }
        if distance < 0 { -change } else { change }
    }

    /// The index of a pattern on a board, from scratch.
    pub fn index(&self, set: &PatternSet<'_>, pattern: usize, board: &[u8]) -> u32 {
        let cells = set.size.cells();
        let place = |goal: u8| {
            let tile = self.image.iter().position(|&image| image == goal);
            let at = board
                .iter()
                .position(|&t| Some(usize::from(t)) == tile)
                .unwrap_or(0);
            self.image[at]
        };
        let placement: Vec<u8> = set.patterns[pattern]
            .cells
            .iter()
            .map(|&g| place(g))
            .collect();
        crate::perm::placement::rank(cells, &placement) as u32
    }
}

/// Returns the views of a goal: one for every symmetry of the board that takes the goal's blank to the
/// blank of the set. None when the set cannot be used.
pub(super) fn views(goal: &Board, set: &PatternSet<'_>) -> Vec<View> {
    symmetries(goal, set)
        .into_iter()
        .map(|image| view(goal.size(), set, image))
        .collect()
}

/// Returns the rotations and reflections that take the goal's blank to the blank of the set.
pub(super) fn symmetries(goal: &Board, set: &PatternSet<'_>) -> Vec<Vec<u8>> {
    let mut images = images(goal.size(), set.size);
    images.retain(|image| usize::from(image[goal.blank()]) == set.blank);
    images
}

/// The ways to lay a board on one of the same or the transposed size: for each cell where it comes to
/// lie.
fn images(from: Size, to: Size) -> Vec<Vec<u8>> {
    let mut images: Vec<Vec<u8>> = Vec::new();
    for transpose in [false, true] {
        for flip_rows in [false, true] {
            for flip_cols in [false, true] {
                let (rows, cols) = (from.rows(), from.cols());
                let turned = if transpose {
                    (cols, rows)
                } else {
                    (rows, cols)
                };
                if turned != (to.rows(), to.cols()) {
                    continue;
                }
                let image = (0..from.cells()).map(|cell| {
                    let (mut r, mut c) = (cell / cols, cell % cols);
                    if transpose {
                        (r, c) = (c, r);
                    }
                    let r = if flip_rows { to.rows() - 1 - r } else { r };
                    let c = if flip_cols { to.cols() - 1 - c } else { c };
                    (r * to.cols() + c) as u8
                });
                images.push(image.collect());
            }
        }
    }
    images
}

fn view(size: Size, set: &PatternSet<'_>, image: Vec<u8>) -> View {
    let cells = size.cells();
    let mut view = View {
        pattern: [NO_PATTERN; MAX_CELLS],
        stride: [0; MAX_CELLS],
        over: vec![[0; MAX_CELLS]; cells],
        steps: vec![[Step::default(); 4]; cells],
        image,
    };
    // Tiles are named by their goal cell on the board; `order` is a tile's place in its pattern.
    let mut order = [0; MAX_CELLS];
    for tile in 0..cells {
        for (p, pattern) in set.patterns.iter().enumerate() {
            if let Some(i) = pattern
                .cells
                .iter()
                .position(|&goal| goal == view.image[tile])
            {
                view.pattern[tile] = p as u8;
                order[tile] = i;
                let radices = (i + 1..pattern.cells.len()).map(|j| (cells - j) as i32);
                view.stride[tile] = radices.product();
            }
        }
    }
    for tile in (0..cells).filter(|&t| view.pattern[t] != NO_PATTERN) {
        for other in (0..cells).filter(|&o| view.pattern[o] == view.pattern[tile]) {
            view.over[tile][other] = match order[other].cmp(&order[tile]) {
                std::cmp::Ordering::Less => -view.stride[tile],
                std::cmp::Ordering::Equal => 0,
                std::cmp::Ordering::Greater => view.stride[other],
            };
        }
    }
    for blank in 0..cells {
        for direction in Direction::ALL {
            let Some(cell) = direction.tile_cell(size, blank) else {
                continue;
            };
            let (from, to) = (view.image[cell], view.image[blank]);
            let step = &mut view.steps[blank][direction as usize];
            step.distance = to as i8 - from as i8;
            for between in 0..cells {
                if (from.min(to) + 1..from.max(to)).contains(&view.image[between]) {
                    step.between[usize::from(step.count)] = between as u8;
                    step.count += 1;
                }
            }
        }
    }
    view
}
