//! The last cells, at most nine: complete tables of optimal distances.
//!
//! Invariant: an entry is the exact distance of an arrangement to the goal, or [`UNSEEN`] for the half
//! that cannot reach it.

use std::sync::OnceLock;

use super::view::{Region, View};
use crate::perm::lehmer;
use crate::puzzle::tiles::{Direction, Size};

/// The most cells of a rest.
const MAX_CELLS: usize = 9;
/// The entry of an arrangement that cannot reach the goal.
const UNSEEN: u8 = u8::MAX;

/// What stands on each cell, named by its goal cell, in reading order of the view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct State {
    at: [u8; MAX_CELLS],
    blank: usize,
}

/// A region of at most nine cells and its table.
pub(super) struct Rest {
    view: View,
    cells: usize,
    distance: &'static [u8],
}

/// Returns the table of a region with the blank's goal cell, or `None` when the region is larger. Cost:
/// the first time for a shape and a goal cell at most 9!/2 visits and 9! bytes.
pub(super) fn of(region: &Region, size: Size, blank_home: usize) -> Option<Rest> {
    static TABLES: [[OnceLock<Vec<u8>>; MAX_CELLS]; 4] =
        [const { [const { OnceLock::new() }; MAX_CELLS] }; 4];
    let views = View::all(region, size);
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
    Some(Rest {
        view,
        cells: depth * width,
        distance,
    })
}

/// The steps of a blank in a rectangle: its new cell, and the step in lines and along them.
fn steps(depth: usize, width: usize, blank: usize) -> impl Iterator<Item = (usize, (i32, i32))> {
    let (i, j) = (blank / width, blank % width);
    [
        (i > 0).then(|| (blank - width, (-1, 0))),
        (i + 1 < depth).then(|| (blank + width, (1, 0))),
        (j > 0).then(|| (blank - 1, (0, -1))),
        (j + 1 < width).then(|| (blank + 1, (0, 1))),
    ]
    .into_iter()
    .flatten()
}

/// Distances to the identity, by rank.
fn distances(depth: usize, width: usize, blank: usize) -> Vec<u8> {
    let cells = depth * width;
    let mut distance = vec![UNSEEN; lehmer::count(cells) as usize];
    let mut solved = State {
        at: [0; MAX_CELLS],
        blank,
    };
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

impl State {
    fn step(mut self, to: usize) -> State {
        self.at.swap(self.blank, to);
        self.blank = to;
        self
    }
}

impl Rest {
    /// Returns the state of the region, given the cell of the element with each goal cell.
    pub fn state(&self, place: &[u8; 16], blank_home: usize) -> State {
        let width = self.view.width;
        let mut state = State {
            at: [0; MAX_CELLS],
            blank: 0,
        };
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

    /// Returns the least number of moves to the goal.
    pub fn distance(&self, state: &State) -> u8 {
        self.distance[lehmer::rank(&state.at[..self.cells]) as usize]
    }

    /// Appends a shortest way to the goal.
    pub fn walk(&self, mut state: State, way: &mut Vec<Direction>) {
        let (depth, width) = (self.view.depth as usize, self.view.width as usize);
        let mut left = self.distance(&state);
        while left > 0 && left != UNSEEN {
            left -= 1;
            let closer = |(to, _): &(usize, _)| self.distance(&state.step(*to)) == left;
            let Some((to, (di, dj))) = steps(depth, width, state.blank).find(closer) else {
                return;
            };
            way.push(match (di, dj) {
                (di, 0) => self.view.across(di),
                (_, dj) => self.view.along(dj),
            });
            state = state.step(to);
        }
    }
}
