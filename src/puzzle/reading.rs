//! How an arrangement is read as a line, for each cell of the distinguished element.
//!
//! Invariant: cells are the positions in the order of a path. Each cell has an order of the other positions; with
//! that of the path, they follow it, the cell left out.
//!
//! A cell may also be read as if the whole puzzle had been turned by a symmetry that takes another cell there. Then both
//! have the same windows, and there are fewer in all, but longer ones.

use super::permutation::Permutation;
use super::{Puzzle, Window};

/// Places at the end of the line whose arrangements are the lanes of one register.
const LANE_PLACES: usize = 5;
/// Places at the end of the line whose arrangements are neighbours in memory.
const NEAR_PLACES: usize = 8;

/// The orders in which positions are read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reading {
    /// The position of each cell.
    path: Vec<usize>,
    /// For each cell the other positions, in the order of the line.
    orders: Vec<Vec<usize>>,
}

impl Reading {
    /// Returns the reading along a path, of which a group of symmetries turns cells to the first one that they
    /// join them with. Only the identity of the group may fix a position; with nothing else in it, or with nothing
    /// at all, every cell is read along the path.
    ///
    /// # Panics
    /// When the path does not have every position once.
    pub fn new(path: &[usize], symmetries: &[Permutation]) -> Reading {
        let mut orders = vec![Vec::new(); path.len()];
        let index = Permutation::new(path)
            .expect("every position once")
            .inverse();
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
        Reading {
            path: path.to_vec(),
            orders,
        }
    }

    /// Returns the reading with the given orders, or `None` when the path does not have every position once, or an
    /// order not every position but that of its cell.
    pub fn from_orders(path: Vec<usize>, orders: Vec<Vec<usize>>) -> Option<Reading> {
        let full = |order: &[usize]| order.len() == path.len() && Permutation::new(order).is_ok();
        let others = |(cell, order): (&usize, &Vec<usize>)| full(&[&[*cell], &order[..]].concat());
        let whole =
            full(&path) && orders.len() == path.len() && path.iter().zip(&orders).all(others);
        whole.then_some(Reading { path, orders })
    }

    /// Returns the positions in the order of the cells.
    pub fn path(&self) -> &[usize] {
        &self.path
    }

    /// Returns the positions other than that of a cell, in the order of the line.
    pub fn order(&self, cell: usize) -> &[usize] {
        &self.orders[cell]
    }

    /// Calls a function with cell, next cell and, for each place of the line, the place that its element comes
    /// from, for all moves.
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

    /// Returns moves in the general form.
    pub fn puzzle(&self, generators: &[Permutation], directed: bool) -> Puzzle {
        let mut moves = Vec::new();
        self.each_move(generators, |from, to, pulled| {
            moves.push((from, to, Window::new(0, pulled)));
        });
        moves.sort();
        match directed {
            true => Puzzle::directed(self.path.len(), moves),
            false => Puzzle::new(self.path.len(), moves),
        }
    }

    /// Returns what the windows that differ cost together, in about the time that it takes to move a register.
    pub fn cost(&self, generators: &[Permutation]) -> usize {
        self.cost_between(generators, self.path.len())
    }

    /// Returns the same where a byte holds so many cells: a window costs once for every pair of bytes that it leads
    /// from and to.
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

/// The cost of the window of a line, four bits per place, the last place lowest.
fn window_cost(window: u64, len: usize) -> usize {
    let source = |place: usize| (window >> (4 * (len - 1 - place)) & 15) as usize;
    let Some(first) = (0..len).find(|&place| source(place) != place) else {
        return 0;
    };
    let near = len.saturating_sub(NEAR_PLACES);
    match (0..near).filter(|&place| source(place) >= near).count() {
        0 if first + LANE_PLACES >= len => 1,
        0 => 2,
        // Tables for each place that the element may come from; with several, a pass for each of them. An element
        // that enters the lanes from just before them makes every register come from six others.
        crossing => {
            let lanes = len.saturating_sub(LANE_PLACES);
            let spread = (lanes..len).any(|place| source(place) + 1 == lanes);
            10 * crossing + usize::from(spread)
        }
    }
}
