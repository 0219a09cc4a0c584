//! The constructive solver: any board, any goal, thousands of boards per second, not optimal.
//!
//! Invariant: the cells outside the current region hold the same tiles as the goal and are never touched again; the
//! region is a rectangle that contains the goal's blank cell.
//!
//! A region larger than 4x4 loses one outer line at a time (a row or a column, whichever keeps it closest to a square):
//! the line's tiles are carried home one by one from both ends, the last two together with a table. The rest, at most
//! 4x4, loses further lines with tables and is finished optimally. Source of the division into ever smaller boards: S.
//! Muralidharan, The fifteen puzzle: a new approach, Mathematics Magazine 90 (2017).

pub(crate) mod tables;

use std::ops::Range;

use crate::{
    puzzle::{Board, Coordinates, Direction, Moves, PuzzleError},
    solve::{
        cells_of,
        constructive::tables::{
            Field, GRID, Placement, Region, RegionView, Spot, TileDistances, starting,
        },
        explain,
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
    /// The goal cell of the blank, then those of the tiles.
    home: Vec<u16>,
}

impl Constructive {
    /// Returns the solver for a goal. Cost: linear in the number of cells; tables are built when they are first needed,
    /// once per process (at most 2.2 MB and about 50 ms).
    pub fn new(goal: Board) -> Constructive {
        Constructive { home: cells_of(&goal), goal }
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
    /// A [`PuzzleError`] if the board and the goal have different sizes, or if the board cannot reach the goal.
    pub fn solve(&self, board: &Board) -> Result<Moves, PuzzleError> {
        if explain(board, &self.goal)?.is_some() {
            // The frame takes quadratic time, but it produces the error message.
            Coordinates::new(self.goal.clone()).encode_solvable(board)?;
        }
        let size = self.goal.size();
        let mut field = Field::new(size, &self.home, board);
        let mut region = Region::whole(size);
        while region.rows > BLOCK || region.cols > BLOCK {
            let view = field.cheapest_line(&region);
            Carrier::new(&mut field, &view).place_line();
            region = region.without_first_line(&view);
        }
        finish(&mut field, &region);
        Ok(Moves(field.moves))
    }
}

// Finishing a block of at most 4x4 cells: lines with tables, at most nine cells optimally.
//
// Invariant: `trail` is the path from the block's first arrangement to the one being examined.

/// How many ways of placing a line are followed up, and by how many moves they may exceed the minimum.
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
fn finish(field: &mut Field, region: &Region) {
    let size = field.size;
    let code = |cell: usize| {
        let (row, col) = (cell / size.cols() - region.top, cell % size.cols() - region.left);
        row * GRID as usize + col
    };
    let mut block = [0; 16];
    for row in region.top..region.top + region.rows {
        for col in region.left..region.left + region.cols {
            let home = row * size.cols() + col;
            block[code(home)] = code(field.place(home)) as u8;
        }
    }
    let whole = Region { top: 0, left: 0, ..*region };
    let effort = if *region == Region::whole(size) { THOROUGH } else { QUICK };
    let mut search = BlockSearch {
        effort,
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
type LastBlock = [u8; 16];

struct BlockSearch {
    effort: Effort,
    blank_home: usize,
    trail: Vec<Direction>,
    best: Option<Vec<Direction>>,
}

impl BlockSearch {
    /// Solves the region in all possible ways of removing lines from it.
    fn divide(&mut self, block: LastBlock, region: Region) {
        for view in RegionView::all(&region, GRID as usize) {
            let (depth, width, home) = (view.depth, view.width, view.spot(self.blank_home));
            // The cells of the blank and of some tiles, which are given by their goals, in lines of so many cells.
            let cell_in = |columns: i32, home: usize| {
                let spot = view.spot(usize::from(block[home]));
                (spot.i * columns + spot.j) as usize
            };
            let blank = (home.i * width + home.j) as usize;
            if let Some(table) = tables::rest(depth, width, blank) {
                let homes = (0..depth * width).map(|k| view.cell(k / width, k % width));
                let tiles = homes.filter(|&home| home != self.blank_home);
                let blank = cell_in(width, self.blank_home);
                let start = Placement::new(blank, tiles.map(|home| cell_in(width, home)));
                return self.complete(&view, table, start);
            }
            let Some(table) = tables::line(depth, width) else { continue };
            if home.i == 0 {
                continue;
            }
            let tiles = (0..width).map(|j| cell_in(GRID, view.cell(0, j)));
            let start = Placement::new(cell_in(GRID, self.blank_home), tiles);
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
            let from = block[self.blank_home];
            let spot = line.view.spot(usize::from(from));
            let to = line.view.cell(spot.i + di, spot.j + dj) as u8;
            let mut after = block.map(|place| if place == to { from } else { place });
            after[self.blank_home] = to;
            self.trail.push(direction);
            self.place(after, next, line, ways);
            self.trail.pop();
        }
    }

    /// Finishes at most nine cells, if that gives the shortest solution so far.
    fn complete(&mut self, view: &RegionView, table: &TileDistances, mut state: Placement) {
        let len = self.trail.len() + usize::from(table.distance(state));
        if self.best.as_ref().is_none_or(|best| len < best.len()) {
            let mut best = self.trail.clone();
            while let Some(step) = table.next(&mut state) {
                best.push(view.direction(step));
            }
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

// Carries one tile through a region whose first line is partly closed.
//
// Invariant: the blank never enters a closed cell, and the carried tile moves only towards its target.

/// The blank at work in one view of the field.
struct Carrier<'a> {
    field: &'a mut Field,
    view: &'a RegionView,
    blank: Spot,
    /// The open cells of line 0: `open.0 ..= open.1`, none if `open.0 > open.1`.
    open: (i32, i32),
}

impl<'a> Carrier<'a> {
    fn new(field: &'a mut Field, view: &'a RegionView) -> Carrier<'a> {
        Carrier { blank: view.spot(field.blank), field, view, open: (0, view.width - 1) }
    }

    /// The spot of the tile whose goal is (0, j).
    fn tile(&self, j: i32) -> Spot {
        self.view.spot(self.field.place(self.view.cell(0, j)))
    }

    fn is_open(&self, i: i32, j: i32) -> bool {
        let inside = i < self.view.depth && (0..self.view.width).contains(&j);
        inside && (i > 0 || (i == 0 && self.open.0 <= j && j <= self.open.1))
    }

    /// Moves the blank one line, or one cell along its line.
    fn step(&mut self, (di, dj): (i32, i32)) {
        self.blank = Spot { i: self.blank.i + di, j: self.blank.j + dj };
        let cell = self.view.cell(self.blank.i, self.blank.j);
        self.field.step(cell, self.view.direction((di, dj)));
    }

    /// An estimate of the number of moves that carry a tile from one spot to another.
    fn estimate(&self, tile: Spot, target: Spot) -> i32 {
        if tile == target {
            return 0;
        }
        let (along, across) = self.ways(tile, target);
        along.min(across)
    }

    /// The estimates for moving the tile along its line first, and for moving it across lines first.
    fn ways(&self, tile: Spot, target: Spot) -> (i32, i32) {
        let (di, dj) = (target.i - tile.i, target.j - tile.j);
        let way = |front: Spot, a: i32, b: i32| {
            if a == 0 || !self.is_open(front.i, front.j) {
                i32::MAX
            } else {
                self.approach(front, tile) + starting(a, b)
            }
        };
        let beside = Spot { i: tile.i, j: tile.j + dj.signum() };
        let ahead = Spot { i: tile.i + di.signum(), j: tile.j };
        (way(beside, dj.abs(), di.abs()), way(ahead, di.abs(), dj.abs()))
    }

    /// Number of steps of the blank to a spot next to a tile, ignoring closed cells.
    fn approach(&self, to: Spot, tile: Spot) -> i32 {
        let from = self.blank;
        let between = |a: i32, x: i32, b: i32| a.min(b) < x && x < a.max(b);
        let behind = (from.i == to.i && tile.i == to.i && between(from.j, tile.j, to.j))
            || (from.j == to.j && tile.j == to.j && between(from.i, tile.i, to.i));
        from.distance(to) + if behind { 2 } else { 0 }
    }

    /// Carries the tile whose goal is (0, j) towards a target, until it arrives there or at a spot where it may stop.
    fn carry(&mut self, j: i32, target: Spot, stop: impl Fn(Spot) -> bool) {
        let mut tile = self.tile(j);
        while tile != target && !stop(tile) {
            let (along, across) = self.ways(tile, target);
            let (di, dj) = if along <= across {
                (0, (target.j - tile.j).signum())
            } else {
                ((target.i - tile.i).signum(), 0)
            };
            let front = Spot { i: tile.i + di, j: tile.j + dj };
            self.route(front, tile);
            self.step((-di, -dj));
            tile = front;
        }
    }

    /// By how much the blank's steps bring the tiles that they move closer to their goals.
    fn gain(&self, steps: &[(i32, i32)]) -> i32 {
        let mut to = self.blank;
        let mut gain = 0;
        for (di, dj) in steps {
            let from = Spot { i: to.i + di, j: to.j + dj };
            let home = self.field.home(self.view.cell(from.i, from.j));
            let home = self.view.spot(home);
            gain += home.distance(from) - home.distance(to);
            to = from;
        }
        gain
    }

    /// The better side, 1 or -1, for going around the tile ahead.
    fn better_side(&self, aside: (i32, i32), ahead: (i32, i32)) -> i32 {
        let gain = |s: i32| {
            let (out, back) = ((s * aside.0, s * aside.1), (-s * aside.0, -s * aside.1));
            self.gain(&[out, ahead, ahead, back])
        };
        if gain(1) >= gain(-1) { 1 } else { -1 }
    }

    /// Takes the blank to a spot next to a tile; it leaves line 0 immediately and enters it last. Of two equally short
    /// paths it takes the one that brings the tiles on it closer to their goals, which saves one move in 18 on a 10x10
    /// board.
    fn route(&mut self, to: Spot, tile: Spot) {
        while self.blank != to {
            let Spot { i, j } = self.blank;
            let (di, dj) = ((to.i - i).signum(), (to.j - j).signum());
            let free = |i: i32, j: i32| self.is_open(i, j) && tile != Spot { i, j };
            let across = di != 0 && free(i + di, j);
            let along = dj != 0 && free(i, j + dj);
            if across && along && i > 0 {
                let better = self.gain(&[(di, 0)]) > self.gain(&[(0, dj)]);
                self.step(if better { (di, 0) } else { (0, dj) });
            } else if across {
                self.step((di, 0));
            } else if along {
                self.step((0, dj));
            } else if di == 0 || dj == 0 {
                // The tile is straight ahead. The side may be closed further on, in line 0: then the other one is open.
                let aside = |s: i32| (s * dj.abs(), s * di.abs());
                let is_free = |s: i32, steps: i32| {
                    let (i, j) = (i + aside(s).0, j + aside(s).1);
                    (0..=steps).all(|k| free(i + k * di, j + k * dj))
                };
                let s = match (is_free(1, 2), is_free(-1, 2)) {
                    (true, true) => self.better_side(aside(1), (di, dj)),
                    (true, false) => 1,
                    (false, true) => -1,
                    (false, false) if is_free(1, 1) => 1,
                    (false, false) => -1,
                };
                self.step(aside(s));
                self.step((di, dj));
            } else if i == 0 {
                // Closed on this side, with the tile below: leave line 0 on the other side.
                self.step((0, -dj));
                self.step((1, 0));
            } else {
                // Closed above, with the tile on the side: pass below it.
                self.step((1, 0));
                self.step((0, dj));
                self.step((0, dj));
                self.step((-1, 0));
            }
        }
    }
}

// Placing one outer line of a region with more than four lines.
//
// Invariant: the tiles of line 0 outside `open` are home. The last two are placed with a table, in a **window**: the
// first four lines, and at most four columns around their goals.

/// Whether a spot is in the window with these columns.
fn is_within(window: &Range<i32>, spot: Spot) -> bool {
    spot.i < GRID && window.contains(&spot.j)
}

impl Carrier<'_> {
    /// Places all tiles of line 0.
    fn place_line(mut self) {
        loop {
            let (first, last) = self.open;
            let home = |j| self.tile(j) == Spot { i: 0, j };
            if last - first == 1 {
                if !(home(first) && home(last)) {
                    self.place_pair(first);
                }
                return;
            }
            // Tiles that are already home at an end are skipped; otherwise the cheaper end is next.
            if home(first) {
                self.open.0 += 1;
            } else if home(last) {
                self.open.1 -= 1;
            } else {
                let cost = |j| self.estimate(self.tile(j), Spot { i: 0, j });
                let j = if cost(first) <= cost(last) { first } else { last };
                self.carry(j, Spot { i: 0, j }, |_| false);
            }
        }
    }

    /// Places the tiles that belong at (0, j) and (0, j + 1), the only open cells of the line.
    fn place_pair(&mut self, j: i32) {
        let width = self.view.width.min(GRID);
        let left = (j - 1).clamp(0, self.view.width - width);
        let window = left..left + width;
        let both = [j, j + 1].map(|j| is_within(&window, self.tile(j)));
        if !(both == [true, true] && self.enter(&window, j)) {
            self.park(&window, j, both);
        }
        let code = |spot: Spot| (spot.i * GRID + spot.j - left) as usize;
        let tiles = [j, j + 1].map(|j| code(self.tile(j))).into_iter();
        let table = tables::pair(width, j - left);
        let mut state = Placement::new(code(self.blank), tiles);
        while let Some(step) = table.next(&mut state) {
            self.step(step);
        }
    }

    /// Brings one tile to the other's goal, out of the way, then the other one and the blank into the window.
    fn park(&mut self, window: &Range<i32>, j: i32, inside: [bool; 2]) {
        let cost = |tile: i32, other: i32| {
            let (parked, waiting) = (Spot { i: 0, j: other }, Spot { i: 1, j: other });
            self.estimate(self.tile(tile), parked) + self.estimate(self.tile(other), waiting)
        };
        let (tile, other) = match inside {
            [true, false] => (j, j + 1),
            [false, true] => (j + 1, j),
            _ if cost(j, j + 1) <= cost(j + 1, j) => (j, j + 1),
            _ => (j + 1, j),
        };
        self.carry(tile, Spot { i: 0, j: other }, |_| false);
        let open = std::mem::replace(&mut self.open, (1, 0));
        self.carry(other, Spot { i: 1, j: other }, |spot| is_within(window, spot));
        self.enter(window, j);
        self.open = open;
    }

    /// Takes the blank into the window along a path that keeps the pair in it, if there is one, as when only one of the
    /// two tiles is below line 0.
    fn enter(&mut self, window: &Range<i32>, j: i32) -> bool {
        if is_within(window, self.blank) {
            return true;
        }
        let pair = [self.tile(j), self.tile(j + 1)];
        let Spot { i, j } = self.blank;
        // From below: along first, then up. From the side: across first, then in.
        let from_below = i >= GRID;
        let spots: Vec<Spot> = if from_below {
            window.clone().map(|j| Spot { i: GRID - 1, j }).collect()
        } else {
            let edge = j.clamp(window.start, window.end - 1);
            (1..GRID).map(|i| Spot { i, j: edge }).collect()
        };
        let free = spots.into_iter().filter(|spot| !pair.contains(spot));
        let Some(entry) = free.min_by_key(|spot| spot.distance(self.blank)) else {
            return false;
        };
        while self.blank != entry {
            let (di, dj) = (entry.i - self.blank.i, entry.j - self.blank.j);
            let along = di == 0 || (from_below && dj != 0);
            self.step(if along { (0, dj.signum()) } else { (di.signum(), 0) });
        }
        true
    }
}
