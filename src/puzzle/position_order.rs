//! The order in which an arrangement is read as a line, for each cell of the distinguished element.
//!
//! Invariant: the cells are the positions in the order of a path. Each cell has an order of the other positions; if
//! this is the order of the path, they follow it, with the cell left out.
//!
//! A cell may also be read as if the whole puzzle had been turned by a symmetry that takes another cell to it. Both
//! cells then have the same windows, so that there are fewer windows in total, but longer ones.

use std::collections::HashSet;

use crate::{
    puzzle::{Permutation, Puzzle, Window},
    random::SplitMix64,
};

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
    /// Returns the order along a path in which a group of symmetries turns each cell to the first cell of its orbit.
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
        let mut index = vec![0; cells];
        for (cell, &position) in self.path.iter().enumerate() {
            index[position] = cell;
        }
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
                let to = index[generator.image(self.path[from])];
                for (pulled, &position) in pulled.iter_mut().zip(&self.orders[to]) {
                    *pulled = place[from][source.image(position)];
                }
                call(from, to, &pulled);
            }
        }
    }

    /// Returns moves in general form.
    pub fn puzzle(&self, generators: &[Permutation], directed: bool) -> Puzzle {
        let mut moves = Vec::new();
        self.each_move(generators, |from, to, pulled| {
            moves.push((from, to, Window::new(0, pulled)));
        });
        moves.sort();
        let make = if directed { Puzzle::directed } else { Puzzle::new };
        make(self.path.len(), moves)
    }

    /// Returns the total cost of all distinct windows, in units of about the time to move a register.
    pub fn cost(&self, generators: &[Permutation]) -> usize {
        self.cost_between(generators, self.path.len())
    }

    /// Returns the cost if a byte holds `cells` cells: a window is then counted once for every pair of bytes that it
    /// connects.
    pub fn cost_between(&self, generators: &[Permutation], cells: usize) -> usize {
        let mut windows: Vec<(u64, usize, usize)> =
            Vec::with_capacity(generators.len() * self.path.len());
        self.each_move(generators, |from, to, pulled| {
            let join = |window, &p: &u8| window << 4 | u64::from(p);
            windows.push((pulled.iter().fold(0, join), from / cells, to / cells));
        });
        windows.sort_unstable();
        windows.dedup();
        let len = self.path.len() - 1;
        let costs = windows.iter().map(|&(window, ..)| window_cost(window, len));
        costs.sum()
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
// move registers as units; for others, the cost depends on how many elements cross between the two (docs/puzzles.md).
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
const MOST_WINDOWS: usize = 1_000_000;

/// Number of paths that are improved: the best natural ones, and the same number of shuffled ones.
const IMPROVED: usize = 3;

const SEED: u64 = 0x7469_6c65;

impl PositionOrder {
    /// Returns a cheap order of a puzzle's positions. Cost: at most a tenth of a second.
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
        let left = MOST_WINDOWS / (positions * generators.len());
        let path = PathSearch { generators, left }.best(&natural_paths(positions, generators));
        let path = PositionOrder::new(&path, &[]);
        // A window is carried out for every pair of bytes that it joins.
        let cells = positions.div_ceil(positions.div_ceil(BYTE_CELLS));
        let turned = generators.iter().filter_map(turned);
        let orders = std::iter::once(path).chain(turned);
        let best = orders.min_by_key(|order| order.cost_between(generators, cells));
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

/// The search for a path.
struct PathSearch<'a> {
    generators: &'a [Permutation],
    /// The number of position orders that may still be examined.
    left: usize,
}

impl PathSearch<'_> {
    fn cost(&mut self, path: &[usize]) -> Option<usize> {
        self.left = self.left.checked_sub(1)?;
        Some(PositionOrder::new(path, &[]).cost(self.generators))
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
