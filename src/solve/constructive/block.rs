//! Finishing a block of at most 4x4 cells: lines by tables, at most nine cells optimally.
//!
//! Invariant: `trail` is the way from the block's first arrangement to the one under examination.

use super::field::Field;
use super::rest::{self, Rest};
use super::table::{self, Distances, GRID, Placement};
use super::view::{Region, View};
use crate::puzzle::tiles::{Direction, Size};

/// How hard lines are tried: the ways of placing one that are followed, and how many moves more than
/// the fewest they may take.
struct Effort {
    ways: usize,
    detour: usize,
}

/// For boards that are no larger than a block. On Korf's first fifty instances the mean ratio to the
/// optimum is 1.16; it is 1.23 with one way and no detour (10 µs instead of 300 µs a board), 1.10 with
/// 1000 ways and a detour of 2 (10 ms).
const THOROUGH: Effort = Effort {
    ways: 64,
    detour: 1,
};
/// For the last block of larger boards, where a few moves do not count.
const QUICK: Effort = Effort { ways: 1, detour: 0 };

/// Brings the block, which is all that is left, home.
pub(super) fn finish(field: &mut Field, region: &Region) {
    let size = field.size();
    let code = |cell: usize| {
        let (row, col) = (
            cell / size.cols() - region.top,
            cell % size.cols() - region.left,
        );
        row * GRID as usize + col
    };
    let mut block = Block::default();
    for row in region.top..region.top + region.rows {
        for col in region.left..region.left + region.cols {
            let home = row * size.cols() + col;
            block.place[code(home)] = code(field.place(home)) as u8;
        }
    }
    let whole = Region {
        top: 0,
        left: 0,
        ..*region
    };
    let effort = if *region == Region::whole(size) {
        THOROUGH
    } else {
        QUICK
    };
    let mut search = Search {
        effort,
        size: Size::new(GRID as usize, GRID as usize).expect("4x4 is a board"),
        blank_home: code(field.blank_home()),
        trail: Vec::with_capacity(128),
        best: None,
    };
    search.divide(block, whole);
    for direction in search.best.unwrap_or_default() {
        if let Some(cell) = direction.tile_cell(size, field.blank()) {
            field.step(cell, direction);
        }
    }
}

/// An arrangement of the block: the grid cell of the element with each goal cell.
#[derive(Clone, Copy, Default)]
struct Block {
    place: [u8; 16],
}

struct Search {
    effort: Effort,
    size: Size,
    blank_home: usize,
    trail: Vec<Direction>,
    best: Option<Vec<Direction>>,
}

impl Search {
    /// Solves the region in all ways of taking lines off it.
    fn divide(&mut self, block: Block, region: Region) {
        if let Some(rest) = rest::of(&region, self.size, self.blank_home) {
            return self.complete(&block, &rest);
        }
        for view in View::all(&region, self.size) {
            let Some(table) = table::line(view.depth as usize, view.width as usize) else {
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
            let line = Line {
                table,
                view: &view,
                rest: region.without_first_line(&view),
                longest: self.trail.len() + usize::from(table.distance(start)) + self.effort.detour,
            };
            let mut ways = self.effort.ways;
            self.place(block, start, &line, &mut ways);
        }
    }

    /// Places a line in up to `ways` short ways, and solves the rest after each.
    fn place(&mut self, block: Block, placement: Placement, line: &Line, ways: &mut usize) {
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
            let direction = match (di, dj) {
                (di, 0) => line.view.across(di),
                (_, dj) => line.view.along(dj),
            };
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

    /// Finishes at most nine cells, if that makes the shortest way so far.
    fn complete(&mut self, block: &Block, rest: &Rest) {
        let state = rest.state(&block.place, self.blank_home);
        let len = self.trail.len() + usize::from(rest.distance(&state));
        if self.best.as_ref().is_none_or(|best| len < best.len()) {
            let mut best = self.trail.clone();
            rest.walk(state, &mut best);
            self.best = Some(best);
        }
    }
}

/// A line that is being placed, and what is left afterwards.
struct Line<'a> {
    table: &'static Distances,
    view: &'a View,
    rest: Region,
    /// The longest trail that still counts when the line is placed.
    longest: usize,
}

impl Block {
    /// The block after the blank has gone to the grid cell `to`.
    fn step(mut self, blank_home: usize, to: usize) -> Block {
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
