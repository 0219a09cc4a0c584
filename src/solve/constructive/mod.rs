//! The constructive solver: any board, any goal, thousands of boards per second, not optimal.
//!
//! Invariant: the cells outside the current region hold the same tiles as the goal and are never touched again; the
//! region is a rectangle that contains the goal's blank cell.
//!
//! A region larger than 4x4 loses one outer line at a time (a row or a column, whichever keeps it closest to a square):
//! the line's tiles are carried home one by one from both ends, the last two together with a table. The rest, at most
//! 4x4, loses further lines with tables and is finished optimally. Source of the division into ever smaller boards: S.
//! Muralidharan, The fifteen puzzle: a new approach, Mathematics Magazine 90 (2017).

pub(crate) mod carry;
pub(crate) mod tables;

use std::sync::OnceLock;

use crate::{
    perm::lehmer,
    puzzle::{Board, Coordinates, Direction, Moves, PuzzleError, Size},
    solve::constructive::{
        carry::Peel,
        tables::{Field, GRID, Placement, Region, RegionView, TileDistances, steps},
    },
};

/// The maximum side length of a region that the tables finish.
const BLOCK: usize = 4;

/// A constructive solver for one goal. Threads can share it.
///
/// ```
/// use tilewave::puzzle::{Board, Goal, Size};
/// use tilewave::solve::Constructive;
///
/// let goal = Goal::Last.board(Size::new(3, 3)?)?;
/// let board = Board::parse("8 6 7/2 5 4/3 0 1", None)?;
/// let moves = Constructive::new(goal.clone()).solve(&board)?;
/// assert_eq!(moves.apply(&board)?, goal);
/// assert_eq!(moves.len(), 31); // boards of up to nine cells are solved optimally
/// # Ok::<(), tilewave::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Constructive {
    goal: Board,
    /// Goal cell of each tile and of the blank.
    home: Vec<u16>,
}

impl Constructive {
    /// Returns the solver for a goal. Cost: linear in the number of cells; tables are built when they are first needed,
    /// once per process (at most 2.2 MB and about 50 ms).
    pub fn new(goal: Board) -> Constructive {
        let mut home = vec![0; goal.tiles().len()];
        for (cell, &tile) in goal.tiles().iter().enumerate() {
            home[usize::from(tile)] = cell as u16;
        }
        Constructive { goal, home }
    }

    /// Returns the goal.
    pub fn goal(&self) -> &Board {
        &self.goal
    }

    /// Returns moves that bring the board to the goal: as few as possible for up to nine cells, about 1.16 times as
    /// many on 4x4, about 2 N^1.5 on square boards with N cells (2000 on 10x10, 17,400 on 20x20). Cost: about 10 to 20
    /// ns per move; up to 0.5 ms on boards of at most 4x4, where more is tried.
    ///
    /// # Errors
    /// [`PuzzleError::WrongShape`] if the board and the goal have different sizes, [`PuzzleError::Unsolvable`] if the
    /// board cannot reach the goal.
    pub fn solve(&self, board: &Board) -> Result<Moves, PuzzleError> {
        let size = self.goal.size();
        if board.size() != size {
            return Err(PuzzleError::shape(board.size(), size));
        }
        let mut field = Field::new(size, &self.home, board);
        if !field.is_solvable() {
            // The frame takes quadratic time, but it produces the error message.
            Coordinates::new(self.goal.clone()).encode_solvable(board)?;
        }
        let mut region = Region::whole(size);
        while region.rows > BLOCK || region.cols > BLOCK {
            let view = field.cheapest_line(&region);
            Peel::new(&mut field, &view).place();
            region = region.without_first_line(&view);
        }
        finish(&mut field, &region);
        Ok(Moves(field.moves))
    }
}

// Finishing a block of at most 4x4 cells: lines with tables, at most nine cells optimally.
//
// Invariant: `trail` is the path from the block's first arrangement to the one being examined.

/// How much effort is spent on lines: the number of ways of placing a line that are followed up, and by how many moves
/// they may exceed the minimum.
struct Effort {
    ways: usize,
    detour: usize,
}

/// For boards that are no larger than a block. On Korf's first fifty instances, the mean ratio to the optimum is 1.16;
/// it is 1.23 with one way and no detour (10 µs instead of 300 µs per board), and 1.10 with 1000 ways and a detour of 2
/// (10 ms).
const THOROUGH: Effort = Effort { ways: 64, detour: 1 };

/// For the last block of larger boards, where a few moves do not matter.
const QUICK: Effort = Effort { ways: 1, detour: 0 };

/// Brings home the block, which is all that remains.
pub(crate) fn finish(field: &mut Field, region: &Region) {
    let size = field.size;
    let code = |cell: usize| {
        let (row, col) = (cell / size.cols() - region.top, cell % size.cols() - region.left);
        row * GRID as usize + col
    };
    let mut block = LastBlock::default();
    for row in region.top..region.top + region.rows {
        for col in region.left..region.left + region.cols {
            let home = row * size.cols() + col;
            block.place[code(home)] = code(field.place(home)) as u8;
        }
    }
    let whole = Region { top: 0, left: 0, ..*region };
    let effort = if *region == Region::whole(size) { THOROUGH } else { QUICK };
    let mut search = BlockSearch {
        effort,
        size: Size::new(GRID as usize, GRID as usize).expect("4x4 is a board"),
        blank_home: code(field.blank_home),
        trail: Vec::with_capacity(128),
        best: None,
    };
    search.divide(block, whole);
    for direction in search.best.unwrap_or_default() {
        if let Some(cell) = direction.tile_cell(size, field.blank) {
            field.step(cell, direction);
        }
    }
}

/// An arrangement of the block: the grid cell of the element that belongs on each goal cell.
#[derive(Clone, Copy, Default)]
struct LastBlock {
    place: [u8; 16],
}

struct BlockSearch {
    effort: Effort,
    size: Size,
    blank_home: usize,
    trail: Vec<Direction>,
    best: Option<Vec<Direction>>,
}

impl BlockSearch {
    /// Solves the region in all possible ways of removing lines from it.
    fn divide(&mut self, block: LastBlock, region: Region) {
        if let Some(rest) = of(&region, self.size, self.blank_home) {
            return self.complete(&block, &rest);
        }
        for view in RegionView::all(&region, self.size) {
            let Some(table) = tables::line(view.depth as usize, view.width as usize) else {
                continue;
            };
            if view.spot(self.blank_home).i == 0 {
                continue;
            }
            let code = |home: usize| {
                let spot = view.spot(usize::from(block.place[home]));
                (spot.i * GRID + spot.j) as usize
            };
            let mut tiles = [0; 4];
            for (j, tile) in tiles.iter_mut().enumerate().take(view.width as usize) {
                *tile = code(view.cell(0, j as i32));
            }
            let start = Placement::new(code(self.blank_home), &tiles[..view.width as usize]);
            let line = OpenLine {
                table,
                view: &view,
                rest: region.without_first_line(&view),
                longest: self.trail.len() + usize::from(table.distance(start)) + self.effort.detour,
            };
            let mut ways = self.effort.ways;
            self.place(block, start, &line, &mut ways);
        }
    }

    /// Places a line in up to `ways` short ways, and solves the rest after each of them.
    fn place(&mut self, block: LastBlock, placement: Placement, line: &OpenLine, ways: &mut usize) {
        let left = usize::from(line.table.distance(placement));
        let len = self.trail.len() + left;
        let hopeless = self.best.as_ref().is_some_and(|best| len >= best.len());
        if *ways == 0 || len > line.longest || hopeless {
            return;
        }
        if left == 0 {
            *ways -= 1;
            return self.divide(block, line.rest);
        }
        for (next, (di, dj)) in line.table.neighbours(placement) {
            let direction = line.view.direction((di, dj));
            if self.trail.last() == Some(&direction.opposite()) {
                continue;
            }
            let spot = line.view.spot(usize::from(block.place[self.blank_home]));
            let to = line.view.cell(spot.i + di, spot.j + dj);
            self.trail.push(direction);
            self.place(block.step(self.blank_home, to), next, line, ways);
            self.trail.pop();
        }
    }

    /// Finishes at most nine cells, if that gives the shortest solution so far.
    fn complete(&mut self, block: &LastBlock, rest: &Rest) {
        let state = rest.state(&block.place, self.blank_home);
        let len = self.trail.len() + usize::from(rest.distance(&state));
        if self.best.as_ref().is_none_or(|best| len < best.len()) {
            let mut best = self.trail.clone();
            rest.walk(state, &mut best);
            self.best = Some(best);
        }
    }
}

/// A line that is being placed, and what remains afterwards.
struct OpenLine<'a> {
    table: &'static TileDistances,
    view: &'a RegionView,
    rest: Region,
    /// The maximum length of the trail at which the line's placement is still considered.
    longest: usize,
}

impl LastBlock {
    /// The block after the blank has moved to the grid cell `to`.
    fn step(mut self, blank_home: usize, to: usize) -> LastBlock {
        let from = self.place[blank_home];
        for place in &mut self.place {
            if usize::from(*place) == to {
                *place = from;
            }
        }
        self.place[blank_home] = to as u8;
        self
    }
}

// The last cells, at most nine: complete tables of optimal distances.
//
// Invariant: an entry is the exact distance of an arrangement to the goal, or [`UNSEEN`] for the half that cannot reach
// it.

/// The maximum number of cells of a rest.
const MAX_CELLS: usize = 9;

/// The entry of an arrangement that cannot reach the goal.
const UNSEEN: u8 = u8::MAX;

/// The element on each cell, given by its goal cell, in the reading order of the view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RegionState {
    at: [u8; MAX_CELLS],
    blank: usize,
}

/// A region of at most nine cells and its table.
pub(crate) struct Rest {
    view: RegionView,
    cells: usize,
    distance: &'static [u8],
}

/// Returns the table of a region that contains the blank's goal cell, or `None` if the region is larger. Cost: for each
/// shape and goal cell, at most 9!/2 visits and 9! bytes at the first call.
pub(crate) fn of(region: &Region, size: Size, blank_home: usize) -> Option<Rest> {
    static TABLES: [[OnceLock<Vec<u8>>; MAX_CELLS]; 4] =
        [const { [const { OnceLock::new() }; MAX_CELLS] }; 4];
    let views = RegionView::all(region, size);
    let view = views.into_iter().find(|view| view.depth <= view.width)?;
    let shape = match (view.depth, view.width) {
        (2, 2) => 0,
        (2, 3) => 1,
        (2, 4) => 2,
        (3, 3) => 3,
        _ => return None,
    };
    let home = view.spot(blank_home);
    let blank = (home.i * view.width + home.j) as usize;
    let (depth, width) = (view.depth as usize, view.width as usize);
    let distance = TABLES[shape][blank].get_or_init(|| distances(depth, width, blank));
    Some(Rest { view, cells: depth * width, distance })
}

/// Distances to the identity, indexed by rank.
fn distances(depth: usize, width: usize, blank: usize) -> Vec<u8> {
    let cells = depth * width;
    let mut distance = vec![UNSEEN; lehmer::count(cells) as usize];
    let mut solved = RegionState { at: [0; MAX_CELLS], blank };
    lehmer::unrank(0, &mut solved.at[..cells]);
    distance[0] = 0;
    let mut level = vec![solved];
    for depth_of_level in 1.. {
        let mut next = Vec::new();
        for state in &level {
            for (to, _) in steps(depth, width, state.blank) {
                let after = state.step(to);
                let entry = &mut distance[lehmer::rank(&after.at[..cells]) as usize];
                if *entry == UNSEEN {
                    *entry = depth_of_level;
                    next.push(after);
                }
            }
        }
        if next.is_empty() {
            break;
        }
        level = next;
    }
    distance
}

impl RegionState {
    fn step(mut self, to: usize) -> RegionState {
        self.at.swap(self.blank, to);
        self.blank = to;
        self
    }
}

impl Rest {
    /// Returns the state of the region, given the cell of the element that belongs on each goal cell.
    pub fn state(&self, place: &[u8; 16], blank_home: usize) -> RegionState {
        let width = self.view.width;
        let mut state = RegionState { at: [0; MAX_CELLS], blank: 0 };
        for k in 0..self.cells {
            let home = self.view.cell(k as i32 / width, k as i32 % width);
            let spot = self.view.spot(usize::from(place[home]));
            let cell = (spot.i * width + spot.j) as usize;
            state.at[cell] = k as u8;
            if home == blank_home {
                state.blank = cell;
            }
        }
        state
    }

    /// Returns the minimum number of moves to the goal.
    pub fn distance(&self, state: &RegionState) -> u8 {
        self.distance[lehmer::rank(&state.at[..self.cells]) as usize]
    }

    /// Appends a shortest path to the goal.
    pub fn walk(&self, mut state: RegionState, way: &mut Vec<Direction>) {
        let (depth, width) = (self.view.depth as usize, self.view.width as usize);
        let mut left = self.distance(&state);
        while left > 0 && left != UNSEEN {
            left -= 1;
            let closer = |(to, _): &(usize, _)| self.distance(&state.step(*to)) == left;
            let Some((to, step)) = steps(depth, width, state.blank).find(closer) else {
                return;
            };
            way.push(self.view.direction(step));
            state = state.step(to);
        }
    }
}
