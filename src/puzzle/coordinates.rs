//! The order in which a state is read as a line and a cell: along a path for boards ([`Coordinates`]), chosen for cheap
//! windows for other puzzles ([`PositionOrder`]).
//!
//! `space` takes one or the other when it makes a puzzle, and converts states with it.
//!
//! Invariant: users see boards in row-major order with their own tile numbers; everything below this module sees a line
//! (tiles read along the snake path) and a cell (path index of the blank). All conversion between the two is done here.

use std::collections::HashSet;

use crate::{
    puzzle::{
        Board, Metric, MoveGraph, Permutation, PuzzleError, Size, Window, error::wrong, is_even,
    },
    random::SplitMix64,
};

// Invariant: the goal's own line is 0, 1, 2, .. (even), so the boards that can reach the goal are
// exactly those with an even line.

/// The frame of reference that a goal defines: tiles are renumbered in the order in which the goal has them along the
/// snake path, so that every goal of every board is the identity line.
///
/// ```
/// use tilewave::puzzle::{Board, Coordinates};
/// let frame = Coordinates::new(Board::parse("1 2 3/4 5 6/7 8 0", None)?);
/// let (line, cell) = frame.encode(&Board::parse("1 2 3/4 5 6/7 0 8", None)?)?;
/// assert_eq!((line, cell), (vec![0, 1, 2, 3, 4, 5, 6, 7], 7)); // the blank moved along the path
/// assert_eq!(frame.decode(&[0, 1, 2, 3, 4, 5, 6, 7], 8).to_string(), "1 2 3/4 5 6/7 8 0");
/// # Ok::<(), tilewave::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Coordinates {
    path: SnakePath,
    goal: Board,
    /// The tile with each number: the goal's tiles along the path.
    tile: Vec<u16>,
    /// The number of each tile (entry 0, the blank, is unused).
    number: Vec<u16>,
}

impl Coordinates {
    /// Returns the frame of a goal.
    pub fn new(goal: Board) -> Coordinates {
        let path = SnakePath::new(goal.size());
        let tile = along(&path, &goal);
        let mut number = vec![0; goal.size().cells()];
        for (i, &t) in tile.iter().enumerate() {
            number[usize::from(t)] = i as u16;
        }
        Coordinates { path, goal, tile, number }
    }

    /// Returns the goal.
    pub fn goal(&self) -> &Board {
        &self.goal
    }

    /// Returns the snake path.
    pub fn path(&self) -> &SnakePath {
        &self.path
    }

    /// Returns the line of a board (the goal-relative numbers of its tiles along the path) and its cell
    /// (the path index of the blank), whether or not the board can reach the goal.
    ///
    /// # Errors
    /// A [`PuzzleError`] if the board and the goal have different sizes.
    pub fn encode(&self, board: &Board) -> Result<(Vec<u16>, usize), PuzzleError> {
        if board.size() != self.goal.size() {
            return Err(PuzzleError::shape(board.size(), self.goal.size()));
        }
        let line = along(&self.path, board).iter().map(|&t| self.number[usize::from(t)]).collect();
        Ok((line, self.path.index(board.blank())))
    }

    /// Returns whether the board can reach the goal, that is, whether its line is even. Fails like
    /// [`Coordinates::encode`].
    pub fn solvable(&self, board: &Board) -> Result<bool, PuzzleError> {
        Ok(is_even(&self.encode(board)?.0))
    }

    /// Like [`Coordinates::encode`], but only for boards that can reach the goal.
    ///
    /// # Errors
    /// A [`PuzzleError`] that names two tiles whose exchange makes the board solvable, and those of
    /// [`Coordinates::encode`].
    pub fn encode_solvable(&self, board: &Board) -> Result<(Vec<u16>, usize), PuzzleError> {
        let (line, cell) = self.encode(board)?;
        if is_even(&line) {
            return Ok((line, cell));
        }
        let (goal, (one, other)) = (&self.goal, self.suggested_swap(&line));
        Err(
            wrong!(Unreachable: "'{board}' is not solvable: the board's parity is odd, so no moves \
            lead to the goal '{goal}'; exchange two tiles (for example {one} and {other}) or \
            choose another goal"),
        )
    }

    /// The two tiles whose exchange makes an odd board solvable: if possible, two neighbours on the path that are in
    /// the wrong order.
    fn suggested_swap(&self, line: &[u16]) -> (u16, u16) {
        let i = line.windows(2).position(|w| w[0] > w[1]).unwrap_or(0);
        let (a, b) = (self.tile[usize::from(line[i])], self.tile[usize::from(line[i + 1])]);
        (a.min(b), a.max(b))
    }

    /// Returns the board with the given line and cell: the inverse of [`Coordinates::encode`].
    ///
    /// # Panics
    /// If the line is not a permutation of `0..tiles`, or the cell is not on the board.
    pub fn decode(&self, line: &[u16], cell: usize) -> Board {
        let size = self.goal.size();
        let mut tiles = vec![0; size.cells()];
        let indices = (0..size.cells()).filter(|&i| i != cell);
        for (&number, index) in line.iter().zip(indices) {
            tiles[self.path.cell(index)] = self.tile[usize::from(number)];
        }
        Board::new(size, &tiles).expect("a line is a permutation of the tiles")
    }
}

/// The tiles of a board in path order, without the blank.
fn along(path: &SnakePath, board: &Board) -> Vec<u16> {
    let tiles = (0..board.size().cells()).map(|i| board.tiles()[path.cell(i)]);
    tiles.filter(|&t| t != 0).collect()
}

// Invariant: cells with consecutive path indices are neighbours on the board, and neighbouring cells have path indices
// of different parity.

/// The snake path of a board: a numbering of its cells in which row 0 is read left to right, row 1
/// right to left, and so on.
///
/// The rows of the path run along the SHORT side of the board (they are its columns if the board is wider than high),
/// because a vertical move then jumps over few tiles: at most 2 * short - 2.
///
/// ```
/// use tilewave::puzzle::{SnakePath, Size};
/// let path = SnakePath::new(Size::new(3, 3)?);
/// let order: Vec<usize> = (0..9).map(|i| path.cell(i)).collect();
/// assert_eq!(order, [0, 1, 2, 5, 4, 3, 6, 7, 8]);
/// # Ok::<(), tilewave::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct SnakePath {
    size: Size,
    cell: Vec<usize>,
    index: Vec<usize>,
}

impl SnakePath {
    /// Returns the snake path of a board.
    pub fn new(size: Size) -> SnakePath {
        let (rows, cols) = (size.rows(), size.cols());
        let transposed = cols > rows;
        let (long, short) = if transposed { (cols, rows) } else { (rows, cols) };
        let mut cell = Vec::with_capacity(size.cells());
        for r in 0..long {
            for k in 0..short {
                let c = if r % 2 == 0 { k } else { short - 1 - k };
                cell.push(if transposed { c * cols + r } else { r * cols + c });
            }
        }
        let mut index = vec![0; cell.len()];
        for (i, &c) in cell.iter().enumerate() {
            index[c] = i;
        }
        SnakePath { size, cell, index }
    }

    /// Returns the size of the board.
    pub fn size(&self) -> Size {
        self.size
    }

    /// Returns the row-major cell at a path index.
    pub fn cell(&self, index: usize) -> usize {
        self.cell[index]
    }

    /// Returns the path index of a row-major cell.
    pub fn index(&self, cell: usize) -> usize {
        self.index[cell]
    }

    /// Returns the board's moves in general form, with cells numbered along the path.
    ///
    /// When the blank moves from path index i to j > i, one tile moves from j to i. Tiles i..j-1 of the line (which
    /// does not include the blank) therefore rotate right by one; for j = i + 1, nothing changes. A move of several
    /// tiles is equivalent to moving one tile at a time.
    ///
    /// Source: the parity theorem of S. Muralidharan, The fifteen puzzle: a new approach, Mathematics Magazine 90
    /// (2017), expressed as window rotations of odd length.
    pub fn puzzle(&self, metric: Metric) -> MoveGraph {
        let (rows, cols) = (self.size.rows(), self.size.cols());
        let mut moves = Vec::new();
        for cell in 0..rows * cols {
            let (right, below) = (cols - 1 - cell % cols, rows - 1 - cell / cols);
            for (distance, step) in [(right, 1), (below, cols)] {
                let most = distance.min(metric.most_tiles());
                let mut window = Window::identity();
                for to in (1..=most).map(|k| cell + k * step) {
                    window = window.then(&self.single(to - step, to));
                    moves.push((self.index(cell), self.index(to), window.clone()));
                }
            }
        }
        moves.sort_unstable();
        MoveGraph::new(self.size.cells(), moves)
    }

    /// The window of the blank's move between two neighbouring row-major cells.
    fn single(&self, from: usize, to: usize) -> Window {
        match (self.index(from), self.index(to)) {
            (i, j) if i < j => Window::rotate_right(i, j - 1),
            (i, j) => Window::rotate_left(j, i - 1),
        }
    }
}

// The order in which an arrangement is read as a line, for each cell of the distinguished element.
//
// Invariant: the cells are the positions in the order of a path. Each cell has an order of the other positions; if
// this is the order of the path, they follow it, with the cell left out.
//
// A cell may also be read as if the whole puzzle had been turned by a symmetry that takes another cell to it. Both
// cells then have the same windows, so that there are fewer windows in total, but longer ones.

/// Places at the end of the line whose arrangements make up the lanes of one register.
const LANE_PLACES: usize = 5;

/// Places at the end of the line whose arrangements are adjacent in memory.
const NEAR_PLACES: usize = 8;

/// The orders in which positions are read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PositionOrder {
    /// The position of each cell.
    path: Vec<usize>,
    /// For each cell, the other positions in the order of the line.
    orders: Vec<Vec<usize>>,
}

impl PositionOrder {
    /// Returns the order along a path in which a group of symmetries turns each cell to the first cell of its set.
    /// Only the identity of the group may fix a position. If the group contains only the identity, or is empty, every
    /// cell is read along the path.
    ///
    /// # Panics
    /// If the path does not contain every position once.
    pub fn new(path: &[usize], symmetries: &[Permutation]) -> PositionOrder {
        let mut orders = vec![Vec::new(); path.len()];
        let index = Permutation::new(path).expect("every position once").inverse();
        for cell in 0..path.len() {
            if !orders[cell].is_empty() {
                continue;
            }
            let order: Vec<usize> = path.iter().copied().filter(|&p| p != path[cell]).collect();
            for symmetry in symmetries {
                let turned = order.iter().map(|&position| symmetry.image(position));
                orders[index.image(symmetry.image(path[cell]))] = turned.collect();
            }
            orders[cell] = order;
        }
        PositionOrder { path: path.to_vec(), orders }
    }

    /// Returns the order with the given path and orders, or `None` if the path does not contain every position once, or
    /// if an order does not contain every position except that of its cell.
    pub fn from_orders(path: Vec<usize>, orders: Vec<Vec<usize>>) -> Option<PositionOrder> {
        let full = |order: &[usize]| order.len() == path.len() && Permutation::new(order).is_ok();
        let others = |(cell, order): (&usize, &Vec<usize>)| full(&[&[*cell], &order[..]].concat());
        let whole =
            full(&path) && orders.len() == path.len() && path.iter().zip(&orders).all(others);
        whole.then_some(PositionOrder { path, orders })
    }

    /// Returns the positions in the order of the cells.
    pub fn path(&self) -> &[usize] {
        &self.path
    }

    /// Returns the positions other than that of a cell, in the order of the line.
    pub fn order(&self, cell: usize) -> &[usize] {
        &self.orders[cell]
    }

    /// Calls a function for all moves, with the cell, the next cell and, for each place of the line, the place that its
    /// element comes from.
    fn each_move(&self, generators: &[Permutation], mut call: impl FnMut(usize, usize, &[u8])) {
        let cells = self.path.len();
        let index = Permutation::new(&self.path).expect("every position once").inverse();
        let mut place = vec![vec![0; cells]; cells];
        for (place, order) in place.iter_mut().zip(&self.orders) {
            for (i, &position) in order.iter().enumerate() {
                place[position] = i as u8;
            }
        }
        let mut pulled = vec![0; cells - 1];
        for generator in generators {
            let source = generator.inverse();
            for from in 0..cells {
                let to = index.image(generator.image(self.path[from]));
                for (pulled, &position) in pulled.iter_mut().zip(&self.orders[to]) {
                    *pulled = place[from][source.image(position)];
                }
                call(from, to, &pulled);
            }
        }
    }

    /// Returns moves in general form.
    pub fn puzzle(&self, generators: &[Permutation], directed: bool) -> MoveGraph {
        let mut moves = Vec::new();
        self.each_move(generators, |from, to, pulled| {
            moves.push((from, to, Window::new(0, pulled)));
        });
        moves.sort_unstable();
        let make = if directed { MoveGraph::directed } else { MoveGraph::new };
        make(self.path.len(), moves)
    }

    /// The total cost of all distinct windows, in units of about the time to move a register, if a byte holds `cells`
    /// cells: a window is counted once for every pair of bytes that it connects.
    fn cost(&self, generators: &[Permutation], cells: usize) -> usize {
        let mut windows: Vec<(u64, usize, usize)> =
            Vec::with_capacity(generators.len() * self.path.len());
        self.each_move(generators, |from, to, pulled| {
            let join = |window, &p: &u8| window << 4 | u64::from(p);
            windows.push((pulled.iter().fold(0, join), from / cells, to / cells));
        });
        windows.sort_unstable();
        windows.dedup();
        let len = self.path.len() - 1;
        windows.iter().map(|&(window, ..)| window_cost(window, len)).sum()
    }
}

/// The cost of the window given by a line, with four bits per place, the last place lowest.
fn window_cost(window: u64, len: usize) -> usize {
    let source = |place: usize| (window >> (4 * (len - 1 - place)) & 15) as usize;
    let Some(first) = (0..len).find(|&place| source(place) != place) else {
        return 0;
    };
    let near = len.saturating_sub(NEAR_PLACES);
    match (0..near).filter(|&place| source(place) >= near).count() {
        0 if first + LANE_PLACES >= len => 1,
        0 => 2,
        // Tables for each place that the element may come from; with several elements, a pass for each of them. If an
        // element enters the lanes from the place just before them, every register comes from six others.
        crossing => {
            let lanes = len.saturating_sub(LANE_PLACES);
            let spread = (lanes..len).any(|place| source(place) + 1 == lanes);
            10 * crossing + usize::from(spread)
        }
    }
}

// The order of a puzzle, chosen so that moves are cheap.
//
// Invariant: the same moves give the same order, on every machine and in every version with the same window costs.
//
// A move permutes the line by a window that depends on the cell and on the order. Windows that lie within the last five
// places of the line stay inside a register; windows that lie within the last eight places, or entirely before them,
// move registers as units; for others, the cost depends on how many elements cross between the two (docs/puzzle-files.md).
//
// A generator that is one cycle of all positions can be made to leave the line unchanged: the line is then read from
// the distinguished element on, along the cycle. The two rotations of LRX move only the cell, and the swap, which is
// one short window along any path, becomes one window per cell: LRX with 13 elements takes 38 s of processor time
// instead of 80 s.
//
// Orders by the twelve rotations of the dino cube were measured: 16 windows instead of 57, but the four that move the
// distinguished edge permute the whole line. This takes 5.9 to 8.0 s of processor time, compared with 4.0 s for a
// single path.

/// Number of cells in a byte.
const BYTE_CELLS: usize = 8;

/// Maximum number of windows that the search for an order may examine: a tenth of a second.
const MAX_WINDOWS: usize = 1_000_000;

/// Number of paths that are improved: the best natural ones, and the same number of shuffled ones.
const IMPROVED: usize = 3;

const SEED: u64 = 0x7469_6c65;

impl PositionOrder {
    /// Returns a cheap order of a puzzle's positions. Cost: at most a tenth of a second. Puzzles without generators, or
    /// with more than 17 positions, keep their order, because no line holds more than 16 elements.
    ///
    /// ```
    /// use tilewave::puzzle::{Permutation, PositionOrder};
    /// // Reversals of the first positions: read from the far end, they lie at the end of the line.
    /// let flips: Vec<Permutation> = (2..=12)
    ///     .map(|k| Permutation::from_fn(12, |p| if p < k { k - 1 - p } else { p }))
    ///     .collect();
    /// let order = PositionOrder::choose(12, &flips);
    /// assert_eq!(order.path(), [11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0]);
    /// ```
    pub fn choose(positions: usize, generators: &[Permutation]) -> PositionOrder {
        if generators.is_empty() || positions > 17 {
            return PositionOrder::new(&(0..positions).collect::<Vec<_>>(), &[]);
        }
        let left = MAX_WINDOWS / (positions * generators.len());
        let path = PathSearch { generators, left }.best(&natural_paths(positions, generators));
        let path = PositionOrder::new(&path, &[]);
        // A window is carried out for every pair of bytes that it joins.
        let cells = positions.div_ceil(positions.div_ceil(BYTE_CELLS));
        let turned = generators.iter().filter_map(turned);
        let orders = std::iter::once(path).chain(turned);
        let best = orders.min_by_key(|order| order.cost(generators, cells));
        best.expect("there is a path")
    }
}

/// The order that begins at the distinguished element and follows a cycle of all positions; `None` if the generator is
/// not such a cycle. The generator then moves only the cell.
fn turned(generator: &Permutation) -> Option<PositionOrder> {
    let positions = generator.len();
    let mut path = vec![0];
    let mut powers = vec![Permutation::identity(positions)];
    for i in 1..positions {
        path.push(generator.image(path[i - 1]));
        let power = |p| generator.image(powers[i - 1].image(p));
        powers.push(Permutation::from_fn(positions, power));
    }
    Permutation::new(&path).ok()?;
    Some(PositionOrder::new(&path, &powers))
}

struct PathSearch<'a> {
    generators: &'a [Permutation],
    /// The number of position orders that may still be examined.
    left: usize,
}

impl PathSearch<'_> {
    fn cost(&mut self, path: &[usize]) -> Option<usize> {
        self.left = self.left.checked_sub(1)?;
        // No matter between which cells.
        Some(PositionOrder::new(path, &[]).cost(self.generators, path.len()))
    }

    /// The cheapest path found; among equals, the most natural one.
    fn best(&mut self, natural: &[Vec<usize>]) -> Vec<usize> {
        let mut paths: Vec<(usize, Vec<usize>)> = vec![(usize::MAX, natural[0].clone())];
        paths.extend(natural.iter().map_while(|path| Some((self.cost(path)?, path.clone()))));
        paths.sort_by_key(|(cost, _)| *cost);
        paths.truncate(IMPROVED);
        let positions = natural[0].len();
        let mut dice = SplitMix64::new(SEED);
        for _ in 0..IMPROVED {
            let mut path: Vec<usize> = (0..positions).collect();
            for i in (1..positions).rev() {
                path.swap(i, dice.below(i as u64 + 1) as usize);
            }
            paths.extend(self.cost(&path).map(|cost| (cost, path)));
        }
        for (cost, path) in &mut paths {
            self.improve(cost, path);
        }
        let best = paths.into_iter().min_by_key(|(cost, _)| *cost);
        best.expect("there are natural paths").1
    }

    /// Exchanges pairs of positions as long as this lowers the cost.
    fn improve(&mut self, least: &mut usize, path: &mut [usize]) {
        let positions = path.len();
        let pairs = (0..positions).flat_map(|i| (i + 1..positions).map(move |j| (i, j)));
        let pairs: Vec<(usize, usize)> = pairs.collect();
        let mut unchanged = 0;
        for &(i, j) in pairs.iter().cycle() {
            path.swap(i, j);
            match self.cost(path) {
                Some(cost) if cost < *least => (*least, unchanged) = (cost, 0),
                found => {
                    path.swap(i, j);
                    unchanged += 1;
                    if found.is_none() || unchanged == pairs.len() {
                        return;
                    }
                }
            }
        }
    }
}

/// Paths suggested by the puzzle: in the order of the numbers, rotated, and along the moves from each position; each
/// also reversed.
fn natural_paths(positions: usize, generators: &[Permutation]) -> Vec<Vec<usize>> {
    let rotated = |first: usize| (0..positions).map(|i| (i + first) % positions).collect();
    let mut paths: Vec<Vec<usize>> = (0..positions).map(rotated).collect();
    for first in 0..positions {
        let mut path = vec![first];
        let mut next = 0;
        while path.len() < positions {
            let reached: Vec<usize> = match path.get(next) {
                Some(&from) => generators.iter().map(|g| g.image(from)).collect(),
                // Positions that no move connects with these come after them.
                None => (0..positions).filter(|p| !path.contains(p)).take(1).collect(),
            };
            next += usize::from(next < path.len());
            for position in reached {
                if !path.contains(&position) {
                    path.push(position);
                }
            }
        }
        paths.push(path);
    }
    let with_reverse = |path: Vec<usize>| [path.iter().rev().copied().collect(), path];
    let mut seen = HashSet::new();
    let all = paths.into_iter().flat_map(with_reverse);
    all.filter(|path: &Vec<usize>| seen.insert(path.clone())).collect()
}
