//! The order in which positions are read into a line, chosen so that moves are cheap.
//!
//! Invariant: the same moves give the same order, on every machine and in every version that costs windows alike.
//!
//! A move permutes the line by a window that depends on the cell and on the order. Windows in the last five places
//! of the line stay inside a register, those in the last eight inside a block of registers; for others it
//! counts how many elements they bring to the last eight places from further in front (docs/design.md).

use std::collections::HashSet;

use super::permutation::Permutation;
use crate::random::SplitMix64;

/// Places at the end of the line whose arrangements are the lanes of one register.
const LANE_PLACES: usize = 5;
/// Places at the end of the line whose arrangements are neighbours in memory.
const NEAR_PLACES: usize = 8;
/// Windows that the search for an order may look at: a tenth of a second.
const MOST_WINDOWS: usize = 4_000_000;
/// Orders that are improved: the best natural ones, and as many shuffled ones.
const IMPROVED: usize = 4;
const SEED: u64 = 0x7469_6c65;

/// Returns the positions in the order in which they are read. Cost: a tenth of a second at most.
///
/// ```
/// use tilewave::puzzle::{Permutation, reading_order};
/// // Reversals of the first positions: read from the far end, they lie at the end of the line.
/// let flips: Vec<Permutation> = (2..=12)
///     .map(|k| Permutation::from_fn(12, |p| if p < k { k - 1 - p } else { p }))
///     .collect();
/// assert_eq!(reading_order(12, &flips), [11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0]);
/// ```
pub fn reading_order(positions: usize, generators: &[Permutation]) -> Vec<usize> {
    let sources: Vec<Permutation> = generators.iter().map(Permutation::inverse).collect();
    let mut left = MOST_WINDOWS;
    let mut cost = |order: &[usize]| {
        left = left.saturating_sub(positions * generators.len());
        (left > 0).then(|| order_cost(order, &sources))
    };
    let mut seen = HashSet::new();
    let mut orders: Vec<(usize, Vec<usize>)> = Vec::new();
    for order in natural_orders(positions, generators) {
        if seen.insert(order.clone())
            && let Some(cost) = cost(&order)
        {
            orders.push((cost, order));
        }
    }
    // Equal costs keep the order above: the more natural first.
    orders.sort_by_key(|(cost, _)| *cost);
    orders.truncate(IMPROVED);
    let mut dice = SplitMix64::new(SEED);
    for _ in 0..IMPROVED {
        let mut order: Vec<usize> = (0..positions).collect();
        for i in (1..positions).rev() {
            order.swap(i, dice.below(i as u64 + 1) as usize);
        }
        orders.extend(cost(&order).map(|cost| (cost, order)));
    }
    for (least, order) in &mut orders {
        let mut unchanged = 0;
        let pairs = (0..positions).flat_map(|i| (i + 1..positions).map(move |j| (i, j)));
        let pairs: Vec<(usize, usize)> = pairs.collect();
        for &(i, j) in pairs.iter().cycle() {
            order.swap(i, j);
            match cost(order) {
                Some(cost) if cost < *least => (*least, unchanged) = (cost, 0),
                found => {
                    order.swap(i, j);
                    unchanged += 1;
                    if found.is_none() || unchanged == pairs.len() {
                        break;
                    }
                }
            }
        }
    }
    let best = orders.into_iter().min_by_key(|(cost, _)| *cost);
    best.map_or_else(|| (0..positions).collect(), |(_, order)| order)
}

/// Orders that puzzles suggest: as numbered, rotated, and along the moves from each position; each also backwards.
fn natural_orders(positions: usize, generators: &[Permutation]) -> Vec<Vec<usize>> {
    let mut orders: Vec<Vec<usize>> = Vec::new();
    for first in 0..positions {
        orders.push((0..positions).map(|i| (i + first) % positions).collect());
    }
    for first in 0..positions {
        let mut order = vec![first];
        let mut next = 0;
        while order.len() < positions {
            // Positions that no move joins to these come after them.
            let from = order.get(next).copied();
            let images = generators.iter().map(|g| g.image(from.unwrap_or(first)));
            let reached: Vec<usize> = match from {
                Some(_) => images.collect(),
                None => (0..positions)
                    .find(|p| !order.contains(p))
                    .into_iter()
                    .collect(),
            };
            next += usize::from(from.is_some());
            for position in reached {
                if !order.contains(&position) {
                    order.push(position);
                }
            }
        }
        orders.push(order);
    }
    let with_reverse = |order: Vec<usize>| [order.iter().rev().copied().collect(), order];
    orders.into_iter().flat_map(with_reverse).collect()
}

/// The sum of the costs of all windows that differ.
fn order_cost(order: &[usize], sources: &[Permutation]) -> usize {
    let cells = order.len();
    let mut index = [0; Permutation::MAX_LEN];
    for (i, &position) in order.iter().enumerate() {
        index[position] = i;
    }
    let mut windows: Vec<u64> = Vec::with_capacity(sources.len() * cells);
    for source in sources {
        let mut from = [0; Permutation::MAX_LEN];
        for (i, &position) in order.iter().enumerate() {
            from[i] = index[source.image(position)];
        }
        windows.extend((0..cells).map(|to| {
            let places = (0..cells).filter(|&i| i != to);
            let nibble = |i: usize| (from[i] - usize::from(from[i] > from[to])) as u64;
            places.fold(0, |window, i| window << 4 | nibble(i))
        }));
    }
    windows.sort_unstable();
    windows.dedup();
    windows.iter().map(|&w| window_cost(w, cells - 1)).sum()
}

/// The cost of the window of a line, four bits per place, the last place lowest.
fn window_cost(window: u64, len: usize) -> usize {
    let source = |place: usize| (window >> (4 * (len - 1 - place)) & 15) as usize;
    let Some(first) = (0..len).find(|&place| source(place) != place) else {
        return 0;
    };
    let near = len.saturating_sub(NEAR_PLACES);
    if first + LANE_PLACES >= len {
        1
    } else if first >= near {
        2
    } else {
        3 + (0..near).filter(|&place| source(place) >= near).count()
    }
}
