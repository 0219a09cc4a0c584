//! Carries one tile through a region whose first line is partly closed.
//!
//! Invariant: the blank never enters a closed cell, and the carried tile moves only towards its target.

use crate::solve::constructive::tables::{
    self, Field, GRID, Placement, RegionView, Spot, starting,
};

/// The blank at work in one view of the field.
pub(crate) struct Carrier<'a> {
    pub field: &'a mut Field,
    pub view: &'a RegionView,
    pub blank: Spot,
    /// The open cells of line 0: `open.0 ..= open.1`, none if `open.0 > open.1`.
    pub open: (i32, i32),
}

impl Carrier<'_> {
    /// Returns the spot of the tile whose goal is (0, j).
    pub fn tile(&self, j: i32) -> Spot {
        self.view.spot(self.field.place(self.view.cell(0, j)))
    }

    fn is_open(&self, i: i32, j: i32) -> bool {
        let inside = i < self.view.depth && (0..self.view.width).contains(&j);
        inside && (i > 0 || (i == 0 && self.open.0 <= j && j <= self.open.1))
    }

    /// Moves the blank one line, or one cell along its line.
    pub fn step(&mut self, (di, dj): (i32, i32)) {
        self.blank = Spot { i: self.blank.i + di, j: self.blank.j + dj };
        let cell = self.view.cell(self.blank.i, self.blank.j);
        self.field.step(cell, self.view.direction((di, dj)));
    }

    /// Returns an estimate of the number of moves that carry a tile from one spot to another, starting from the blank's
    /// place.
    pub fn estimate(&self, tile: Spot, target: Spot) -> i32 {
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
    pub fn carry(&mut self, j: i32, target: Spot, stop: impl Fn(Spot) -> bool) {
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

    /// Returns by how much the blank's steps bring the tiles that they move closer to their goals.
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

    /// Returns the better side, 1 or -1, for going around the tile ahead.
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
            } else if dj == 0 {
                // The tile is straight ahead across lines. The side may be closed further on, in line 0: then the other
                // side is open.
                let side = |s: i32| free(i, j + s) && free(i + di, j + s);
                let good = |s: i32| side(s) && free(i + 2 * di, j + s);
                let s = match (good(1), good(-1)) {
                    (true, true) => self.better_side((0, 1), (di, 0)),
                    (true, false) => 1,
                    (false, true) => -1,
                    (false, false) if side(1) => 1,
                    (false, false) => -1,
                };
                self.step((0, s));
                self.step((di, 0));
            } else if di == 0 {
                let side = |s: i32| (0..=2).all(|k| free(i + s, j + k * dj));
                let s = match (side(1), side(-1)) {
                    (true, true) => self.better_side((1, 0), (0, dj)),
                    (false, true) => -1,
                    _ => 1,
                };
                self.step((s, 0));
                self.step((0, dj));
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
// Invariant: the tiles of line 0 outside `open` are home.

/// An outer line while it is being placed.
pub(crate) struct Peel<'a> {
    carrier: Carrier<'a>,
    width: i32,
}

impl<'a> Peel<'a> {
    /// Returns line 0 of a view, with all of its cells open.
    pub fn new(field: &'a mut Field, view: &'a RegionView) -> Peel<'a> {
        let blank = view.spot(field.blank);
        let carrier = Carrier { field, view, blank, open: (0, view.width - 1) };
        Peel { carrier, width: view.width }
    }

    /// Places all tiles of the line.
    pub fn place(mut self) {
        loop {
            let (first, last) = self.carrier.open;
            let home = |j| self.carrier.tile(j) == Spot { i: 0, j };
            if last - first == 1 {
                if !(home(first) && home(last)) {
                    self.place_pair(first);
                }
                return;
            }
            // Tiles that are already home at an end are skipped; otherwise the cheaper end is next.
            if home(first) {
                self.carrier.open.0 += 1;
            } else if home(last) {
                self.carrier.open.1 -= 1;
            } else {
                let cost = |j| self.carrier.estimate(self.carrier.tile(j), Spot { i: 0, j });
                let j = if cost(first) <= cost(last) { first } else { last };
                self.carrier.carry(j, Spot { i: 0, j }, |_| false);
            }
        }
    }

    /// Places the tiles that belong at (0, j) and (0, j + 1), the only open cells of the line.
    fn place_pair(&mut self, j: i32) {
        let window = TableWindow::around(j, self.width);
        let both = [j, j + 1].map(|j| window.contains(self.carrier.tile(j)));
        if !(both == [true, true] && self.enter(&window, j)) {
            self.park(&window, j, both);
        }
        let code = |spot: Spot| (spot.i * GRID + spot.j - window.left) as usize;
        let tiles = [j, j + 1].map(|j| code(self.carrier.tile(j)));
        let table = tables::pair(window.width as usize, (j - window.left) as usize);
        let mut state = Placement::new(code(self.carrier.blank), &tiles);
        while let Some(step) = table.next(&mut state) {
            self.carrier.step(step);
        }
    }

    /// Brings one tile of the pair to the other's goal, where it is out of the way, then brings the other one and the
    /// blank into the window.
    fn park(&mut self, window: &TableWindow, j: i32, inside: [bool; 2]) {
        let carrier = &mut self.carrier;
        let cost = |tile: i32, other: i32| {
            let parked = Spot { i: 0, j: other };
            let waiting = Spot { i: 1, j: other };
            carrier.estimate(carrier.tile(tile), parked)
                + carrier.estimate(carrier.tile(other), waiting)
        };
        let (tile, other) = match inside {
            [true, false] => (j, j + 1),
            [false, true] => (j + 1, j),
            _ if cost(j, j + 1) <= cost(j + 1, j) => (j, j + 1),
            _ => (j + 1, j),
        };
        carrier.carry(tile, Spot { i: 0, j: other }, |_| false);
        let open = std::mem::replace(&mut carrier.open, (1, 0));
        carrier.carry(other, Spot { i: 1, j: other }, |spot| window.contains(spot));
        self.enter(window, j);
        self.carrier.open = open;
    }

    /// Takes the blank into the window along a path that keeps the pair in it, if there is one. There is one if only
    /// one of the two tiles is below line 0.
    fn enter(&mut self, window: &TableWindow, j: i32) -> bool {
        let carrier = &mut self.carrier;
        if window.contains(carrier.blank) {
            return true;
        }
        let pair = [carrier.tile(j), carrier.tile(j + 1)];
        let Spot { i, j } = carrier.blank;
        let columns = window.left..window.left + window.width;
        // From below: along first, then up. From the side: across first, then in.
        let from_below = i >= GRID;
        let spots: Vec<Spot> = if from_below {
            columns.map(|j| Spot { i: GRID - 1, j }).collect()
        } else {
            let edge = j.clamp(columns.start, columns.end - 1);
            (1..GRID).map(|i| Spot { i, j: edge }).collect()
        };
        let free = spots.into_iter().filter(|spot| !pair.contains(spot));
        let Some(entry) = free.min_by_key(|spot| spot.distance(carrier.blank)) else {
            return false;
        };
        while carrier.blank != entry {
            let (di, dj) = (entry.i - carrier.blank.i, entry.j - carrier.blank.j);
            if di == 0 || (from_below && dj != 0) {
                carrier.step((0, dj.signum()));
            } else {
                carrier.step((di.signum(), 0));
            }
        }
        true
    }
}

/// The part of a view in which the table places the last two tiles of a line: the first four lines, and at most four
/// columns around the two cells.
struct TableWindow {
    left: i32,
    width: i32,
}

impl TableWindow {
    /// Returns the window around (0, j) and (0, j + 1) in lines of the given width.
    fn around(j: i32, width: i32) -> TableWindow {
        let own = width.min(GRID);
        TableWindow { left: (j - 1).clamp(0, width - own), width: own }
    }

    fn contains(&self, spot: Spot) -> bool {
        spot.i < GRID && (self.left..self.left + self.width).contains(&spot.j)
    }
}
