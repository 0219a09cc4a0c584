//! Exact distances for the blank and some tiles: up to four on a grid of at most 4x4 cells, or all of up to nine cells.
//!
//! Invariant: an entry is the minimum number of moves that place the tiles, wherever the blank ends up, or [`UNSEEN`];
//! the entries of neighbours differ by at most one.

use std::sync::OnceLock;

use crate::{
    perm::lehmer,
    puzzle::{Board, Direction, Size},
};

/// Number of cells in a line of the grid in which lines are placed; some may be closed.
pub(crate) const GRID: i32 = 4;

/// The entry of an arrangement that cannot occur.
const UNSEEN: u8 = u8::MAX;

/// Number of bits of a cell in a code, and maximum number of tiles for which codes are indices.
const BITS: usize = 4;
const MOST_CODED: usize = 4;

/// The cells of the blank and of up to eight tiles: 4 bits each, the blank lowest.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Placement(u64);

impl Placement {
    pub fn new(blank: usize, tiles: impl DoubleEndedIterator<Item = usize>) -> Placement {
        let tiles = tiles.rev().fold(0, |code, cell| code << BITS | cell);
        Placement((tiles << BITS | blank) as u64)
    }

    fn blank(self) -> u64 {
        self.0 & 15
    }

    /// The placement of `count` tiles after the blank has moved to `to`.
    fn step(self, to: u64, count: usize) -> Placement {
        let mut code = (self.0 & !15) | to;
        for k in 1..=count {
            let shift = BITS * k;
            if (self.0 >> shift) & 15 == to {
                code = (code & !(15 << shift)) | (self.blank() << shift);
            }
        }
        Placement(code)
    }
}

/// The distances to one particular placement of `count` tiles.
pub(crate) struct TileDistances {
    count: usize,
    /// The neighbours of each cell, with the step of the blank that leads there.
    steps: Vec<Vec<(u64, (i32, i32))>>,
    distance: Vec<u8>,
}

impl TileDistances {
    /// The table for placing tiles on goals in a rectangle with some open cells (bit i * width + j). Cost: one visit
    /// per placement.
    fn new((depth, width): (i32, i32), open: u16, goals: &[usize]) -> TileDistances {
        let steps = (0..depth * width).map(|cell| {
            let step = |(di, dj): (i32, i32)| {
                let (i, j) = (cell / width + di, cell % width + dj);
                let inside = (0..depth).contains(&i) && (0..width).contains(&j);
                let is_open = inside && open >> (i * width + j) & 1 == 1;
                is_open.then_some(((i * width + j) as u64, (di, dj)))
            };
            [(-1, 0), (1, 0), (0, -1), (0, 1)].into_iter().filter_map(step).collect()
        });
        let entries = match goals.len() {
            few if few <= MOST_CODED => 1 << (BITS * (few + 1)),
            many => lehmer::count(many + 1) as usize,
        };
        let (count, steps) = (goals.len(), steps.collect());
        let mut table = TileDistances { count, steps, distance: vec![UNSEEN; entries] };
        let cells = (0..(depth * width) as usize).filter(|cell| open >> cell & 1 == 1);
        let blanks = cells.filter(|cell| !goals.contains(cell));
        let goal = |blank| Placement::new(blank, goals.iter().copied());
        let mut level: Vec<Placement> = blanks.map(goal).collect();
        for depth in 0.. {
            level.retain(|&placement| {
                let index = table.index(placement);
                let entry = &mut table.distance[index];
                std::mem::replace(entry, depth.min(*entry)) == UNSEEN
            });
            if level.is_empty() {
                break;
            }
            let next = |&from: &Placement| table.neighbours(from).map(|(to, _)| to);
            level = level.iter().flat_map(next).collect();
        }
        table
    }

    /// The index of a placement: its code or, for many tiles, which fill all cells but one, the rank of their cells.
    fn index(&self, placement: Placement) -> usize {
        if self.count <= MOST_CODED {
            return placement.0 as usize;
        }
        let cells: [u8; 9] = std::array::from_fn(|k| (placement.0 >> (BITS * k) & 15) as u8);
        lehmer::rank(&cells[..=self.count]) as usize
    }

    /// The number of moves that are left.
    pub fn distance(&self, placement: Placement) -> u8 {
        self.distance[self.index(placement)]
    }

    /// Makes a step towards the goal and returns the step of the blank, or `None` at the goal.
    pub fn next(&self, placement: &mut Placement) -> Option<(i32, i32)> {
        let distance = self.distance(*placement);
        let mut neighbours = self.neighbours(*placement);
        let (at, step) = neighbours.find(|&(at, _)| self.distance(at) < distance)?;
        *placement = at;
        Some(step)
    }

    /// Returns all placements that are one move away, with the step of the blank.
    pub fn neighbours(&self, from: Placement) -> impl Iterator<Item = (Placement, (i32, i32))> {
        let steps = self.steps[from.blank() as usize].iter();
        steps.map(move |&(to, step)| (from.step(to, self.count), step))
    }
}

/// The bits of the first `lines` lines of `width` cells.
fn rectangle(lines: i32, width: i32) -> u16 {
    (0..lines).fold(0, |open, i| open | ((1 << width) - 1) << (4 * i))
}

/// The table for a line's last two tiles, with goals (0, j) and (0, j + 1), the only open cells of a window's line 0.
pub(crate) fn pair(width: i32, j: i32) -> &'static TileDistances {
    static TABLES: [[OnceLock<TileDistances>; 3]; 3] =
        [const { [const { OnceLock::new() }; 3] }; 3];
    TABLES[width as usize - 2][j as usize].get_or_init(|| {
        let open = (rectangle(4, width) & !15) | (3 << j);
        TileDistances::new((GRID, GRID), open, &[j as usize, j as usize + 1])
    })
}

/// The table for the first line of a block; `None` if the block has at most nine cells and is finished at once.
pub(crate) fn line(lines: i32, width: i32) -> Option<&'static TileDistances> {
    static TABLES: [OnceLock<TileDistances>; 3] = [const { OnceLock::new() }; 3];
    let shape = [(4, 4), (3, 4), (4, 3)].iter().position(|&shape| shape == (lines, width))?;
    let (open, goals) = (rectangle(lines, width), &[0, 1, 2, 3][..width as usize]);
    Some(TABLES[shape].get_or_init(|| TileDistances::new((GRID, GRID), open, goals)))
}

/// The table for all tiles of a view of at most nine cells, which is at least as wide as deep, with the goal cell of
/// the blank; `None` for any other view. Cost: at most 9!/2 visits and 9! bytes at the first call.
pub(crate) fn rest(lines: i32, width: i32, blank: usize) -> Option<&'static TileDistances> {
    static TABLES: [[OnceLock<TileDistances>; 9]; 4] =
        [const { [const { OnceLock::new() }; 9] }; 4];
    let shapes = [(2, 2), (2, 3), (2, 4), (3, 3)];
    let shape = shapes.iter().position(|&shape| shape == (lines, width))?;
    Some(TABLES[shape][blank].get_or_init(|| {
        let goals = (0..(lines * width) as usize).filter(|&cell| cell != blank);
        TileDistances::new((lines, width), u16::MAX, &goals.collect::<Vec<_>>())
    }))
}

// The board while it is being solved: which element is on each cell, in constant time in both directions.
//
// Invariant: `at` and `place` are inverse permutations; elements are named by their goal cells, so the
// solved board is the identity.

/// A board that is being solved.
pub(crate) struct Field {
    pub size: Size,
    /// The goal cell of the element on each cell.
    at: Vec<u16>,
    /// The cell of the element with each goal cell.
    place: Vec<u16>,
    pub blank: usize,
    pub blank_home: usize,
    pub moves: Vec<Direction>,
}

impl Field {
    /// The field of a board, given the goal cell of each tile.
    pub fn new(size: Size, home: &[u16], board: &Board) -> Field {
        let at: Vec<u16> = board.tiles().iter().map(|&t| home[usize::from(t)]).collect();
        let mut place = vec![0; at.len()];
        for (cell, &home) in at.iter().enumerate() {
            place[usize::from(home)] = cell as u16;
        }
        Field {
            size,
            blank: usize::from(place[usize::from(home[0])]),
            blank_home: usize::from(home[0]),
            moves: Vec::new(),
            at,
            place,
        }
    }

    /// The cell of the tile whose goal cell is `home`.
    pub fn place(&self, home: usize) -> usize {
        usize::from(self.place[home])
    }

    /// The goal cell of the element on a cell.
    pub fn home(&self, cell: usize) -> usize {
        usize::from(self.at[cell])
    }

    /// Moves the blank to the adjacent cell in the opposite of `direction`, which contains the tile that moves. A move
    /// that undoes the previous one deletes both.
    pub fn step(&mut self, to: usize, direction: Direction) {
        let tile = self.at[to];
        self.at[self.blank] = tile;
        self.place[usize::from(tile)] = self.blank as u16;
        self.at[to] = self.blank_home as u16;
        self.place[self.blank_home] = to as u16;
        self.blank = to;
        if self.moves.last() == Some(&direction.opposite()) {
            self.moves.pop();
        } else {
            self.moves.push(direction);
        }
    }

    /// Returns the outer line of the region that should be placed next, as the first line of a view: on the longer
    /// side, without the blank's goal cell, and with the shortest distances for its tiles.
    pub fn cheapest_line(&self, region: &Region) -> RegionView {
        let lines = RegionView::all(region, self.size.cols()).into_iter().filter(|view| {
            let (depth, width) = (view.depth, view.width);
            depth >= width && view.spot(self.blank_home).i > 0
        });
        let way = |view: &RegionView| -> i32 {
            let tile = |j| {
                let spot = view.spot(self.place(view.cell(0, j)));
                let along = (spot.j - j).abs();
                starting(along, spot.i).min(starting(spot.i, along))
            };
            (0..view.width).map(tile).sum()
        };
        lines
            .min_by_key(way)
            .expect("the blank's goal cell is on one outer line of the longer side at most")
    }
}

/// The number of moves that take a tile `a` cells in one direction and `b` in the other, beginning with one of the `a`,
/// when the blank is ahead of it and nothing is in the way; if `a` is 0, too large to be chosen.
///
/// A step straight ahead costs 5 moves (the blank goes around the tile), a step with a turn costs 3.
pub(crate) fn starting(a: i32, b: i32) -> i32 {
    if a == 0 {
        return if b == 0 { 0 } else { i32::MAX / 2 };
    }
    if a > b { 6 * b + 1 + 5 * (a - b - 1) } else { 6 * a - 2 + 5 * (b - a) }
}

// A rectangle of the board seen from one of its sides: line 0 is the outer line on that side.
//
// Invariant: spots of a view and cells of the board are in bijection on the rectangle, and steps
// between neighbouring spots are steps between neighbouring cells.

/// A rectangle of cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Region {
    pub top: usize,
    pub left: usize,
    pub rows: usize,
    pub cols: usize,
}

impl Region {
    pub fn whole(size: Size) -> Region {
        Region { top: 0, left: 0, rows: size.rows(), cols: size.cols() }
    }

    pub fn without_first_line(mut self, view: &RegionView) -> Region {
        let first = usize::from(view.sign > 0);
        if view.turned {
            (self.left, self.cols) = (self.left + first, self.cols - 1);
        } else {
            (self.top, self.rows) = (self.top + first, self.rows - 1);
        }
        self
    }
}

/// A spot in a view: line `i` from the side, position `j` in the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Spot {
    pub i: i32,
    pub j: i32,
}

impl Spot {
    pub fn distance(self, other: Spot) -> i32 {
        (self.i - other.i).abs() + (self.j - other.j).abs()
    }
}

/// A region seen from one side: the top, the left, or one of the opposite sides.
#[derive(Clone, Debug)]
pub(crate) struct RegionView {
    /// Number of lines.
    pub depth: i32,
    /// Number of cells in a line.
    pub width: i32,
    /// Whether the lines are columns of the board.
    turned: bool,
    /// The direction from a line to the next one: 1 from the top or the left, else -1.
    sign: i32,
    /// Row and column of spot (0, 0).
    corner: (i32, i32),
    /// Number of columns of the board.
    cols: i32,
}

impl RegionView {
    /// The views of a region from the top, the bottom, the left and the right.
    pub fn all(region: &Region, board_cols: usize) -> [RegionView; 4] {
        [(false, 1), (false, -1), (true, 1), (true, -1)].map(|(turned, sign)| {
            let (rows, cols) = (region.rows as i32, region.cols as i32);
            let (depth, width) = if turned { (cols, rows) } else { (rows, cols) };
            let mut corner = (region.top as i32, region.left as i32);
            if sign < 0 {
                *(if turned { &mut corner.1 } else { &mut corner.0 }) += depth - 1;
            }
            RegionView { depth, width, turned, sign, corner, cols: board_cols as i32 }
        })
    }

    /// The cell of spot (i, j).
    pub fn cell(&self, i: i32, j: i32) -> usize {
        let (down, right) = if self.turned { (j, self.sign * i) } else { (self.sign * i, j) };
        ((self.corner.0 + down) * self.cols + self.corner.1 + right) as usize
    }

    /// The spot of a cell of the region.
    pub fn spot(&self, cell: usize) -> Spot {
        let (cell, cols) = (cell as u32, self.cols as u32);
        let (down, right) = ((cell / cols) as i32, (cell % cols) as i32);
        let (down, right) = (down - self.corner.0, right - self.corner.1);
        let (i, j) = if self.turned { (right, down) } else { (down, right) };
        Spot { i: self.sign * i, j }
    }

    /// The direction of the tile in the move that takes the blank to an adjacent line, or along its line.
    pub fn direction(&self, (di, dj): (i32, i32)) -> Direction {
        let (back, forward) = match di {
            0 => (if self.turned { Direction::Up } else { Direction::Left }, dj > 0),
            _ => (if self.turned { Direction::Left } else { Direction::Up }, di * self.sign > 0),
        };
        if forward { back } else { back.opposite() }
    }
}
