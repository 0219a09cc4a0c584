//! The levels of a search of numbered states: how they are passed on, and what can be expected of them.

use std::{collections::HashSet, iter};

use crate::{
    Error,
    perm::Register,
    puzzle::{MoveGraph, StateSpace},
};

/// Called for each group of a level with the depth, the number of the group's first line, the registers of all its
/// lines in the layout of [`crate::perm::layout`], and the cells (path indices) that the bits of a byte represent.
pub(crate) type EachLevel<'a> =
    dyn FnMut(usize, u64, &[Register], &[usize]) -> Result<(), Error> + Send + 'a;

// Predictions for the levels.

/// The numbers of states per depth on which an estimate is based.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Widths {
    /// Number of states at each depth, as far as the search goes; empty if nothing is known.
    pub counts: Vec<u64>,
    /// Whether `counts` contains exact published numbers rather than upper bounds.
    pub exact: bool,
}

impl Widths {
    /// Returns the number of states at all depths together, or `None` if nothing is known.
    pub fn states(&self) -> Option<u64> {
        (!self.counts.is_empty()).then(|| self.counts.iter().sum())
    }
}

/// Returns the states per depth of a search: the published numbers as far as the search goes; if there are none, the
/// maximum number of states that each number of moves can reach; empty if these add up to more states than exist.
///
/// # Errors
/// Same errors as [`StateSpace::start`].
///
/// ```
/// use tilewave::search::disk;
/// use tilewave::puzzle::{Goal, Metric, StateSpace};
///
/// let board = Goal::Last.board("4x4".parse()?)?;
/// let space = StateSpace::of_board(board).in_metric(Metric::Mtm);
/// let widths = disk::widths(&space, &[], Some(4))?;
/// assert_eq!(widths.counts, [1, 6, 18, 54, 162]);
/// assert!(!widths.exact);
/// assert!(disk::widths(&space, &[], None)?.counts.is_empty());
/// # Ok::<(), tilewave::Error>(())
/// ```
pub fn widths(
    space: &StateSpace,
    published: &[u64],
    max_depth: Option<usize>,
) -> Result<Widths, Error> {
    let levels = max_depth.map_or(usize::MAX, |depth| depth.saturating_add(1));
    if !published.is_empty() {
        let counts = published[..published.len().min(levels)].to_vec();
        return Ok(Widths { counts, exact: true });
    }
    let mut widths = Widths::default();
    // Paths with a single possible move never end, and no search needs this many levels.
    if levels > MOST_LEVELS {
        return Ok(widths);
    }
    let start = space.start()?;
    let mut left = space.numbered_states();
    for most in growth(space.moves(), start.cell).take(levels) {
        match left.checked_sub(most) {
            Some(rest) => left = rest,
            None => return Ok(Widths::default()),
        }
        widths.counts.push(most);
    }
    Ok(widths)
}

/// Maximum number of levels for which growth is counted.
const MOST_LEVELS: usize = 1000;

// The maximum number of states at a depth, if they have not been counted.
//
// Invariant: an upper bound. Of the shortest paths to a state, take the first in the order of the moves. Any two
// consecutive moves in it are the first of the shortest paths to where they lead; otherwise the path could be replaced
// by a shorter one, or by one that comes first. So the number of states at a depth is at most the number of paths of
// that length in which any two consecutive moves are such a pair: no two that cancel, that one move can replace, or
// that can be exchanged.

/// Returns the number of paths of each length from a cell, one depth after another; endless if paths are.
fn growth(puzzle: &MoveGraph, cell: usize) -> impl Iterator<Item = u64> {
    let edges = puzzle.edges();
    let from = |cell| (0..edges.len()).filter(move |&edge| edges[edge].from == cell);
    let moved = |line: &[usize], edge: usize| {
        let mut line = line.to_vec();
        puzzle.windows()[edges[edge].window].apply(&mut line);
        (line, edges[edge].to)
    };
    let start: Vec<usize> = (0..puzzle.line_len()).collect();
    // The moves that may follow each move, and the number of paths that end with it.
    let (mut after, mut ways) = (vec![Vec::new(); edges.len()], vec![0; edges.len()]);
    for first in 0..puzzle.cells() {
        let mut seen = HashSet::from([(start.clone(), first)]);
        let new = |&edge: &usize| seen.insert(moved(&start, edge));
        let once: Vec<usize> = from(first).filter(new).collect();
        for &edge in &once {
            ways[edge] = u64::from(first == cell);
            let (line, to) = moved(&start, edge);
            let new = |&edge: &usize| seen.insert(moved(&line, edge));
            after[edge] = from(to).filter(new).collect();
        }
    }
    let longer = move |ways: &Vec<u64>| {
        let mut longer = vec![0u64; ways.len()];
        for (&ways, after) in ways.iter().zip(&after) {
            for &edge in after {
                longer[edge] = longer[edge].saturating_add(ways);
            }
        }
        Some(longer)
    };
    let sum = |ways: Vec<u64>| ways.into_iter().fold(0, u64::saturating_add);
    let lengths = iter::successors(Some(ways), longer).map(sum);
    iter::once(1).chain(lengths.take_while(|&states| states > 0))
}
