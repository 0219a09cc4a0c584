//! Placing one outer line of a region with more than four lines.
//!
//! Invariant: the tiles of line 0 outside `open` are home.

use super::carry::Carrier;
use super::field::Field;
use super::table::{self, GRID, Placement};
use super::view::{Spot, View};

/// An outer line while it is being placed.
pub(super) struct Peel<'a> {
    carrier: Carrier<'a>,
    width: i32,
}

impl<'a> Peel<'a> {
    /// Returns the line 0 of a view, all of it open.
    pub fn new(field: &'a mut Field, view: &'a View) -> Peel<'a> {
        let blank = view.spot(field.blank());
        let carrier = Carrier {
            field,
            view,
            blank,
            open: (0, view.width - 1),
        };
        Peel {
            carrier,
            width: view.width,
        }
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
            // Whatever is home at an end is done; otherwise the cheaper end is next.
            if home(first) {
                self.carrier.open.0 += 1;
            } else if home(last) {
                self.carrier.open.1 -= 1;
            } else {
                let cost = |j| {
                    self.carrier
                        .estimate(self.carrier.tile(j), Spot { i: 0, j })
                };
                let j = if cost(first) <= cost(last) {
                    first
                } else {
                    last
                };
                self.carrier.carry(j, Spot { i: 0, j }, |_| false);
            }
        }
    }

    /// Places the tiles of (0, j) and (0, j + 1), the only open cells of the line.
    fn place_pair(&mut self, j: i32) {
        let window = Window::around(j, self.width);
        let both = [j, j + 1].map(|j| window.contains(self.carrier.tile(j)));
        if !(both == [true, true] && self.enter(&window, j)) {
            self.park(&window, j, both);
        }
        let code = |spot: Spot| (spot.i * GRID + spot.j - window.left) as usize;
        let tiles = [j, j + 1].map(|j| code(self.carrier.tile(j)));
        let table = table::pair(window.width as usize, (j - window.left) as usize);
        let mut state = Placement::new(code(self.carrier.blank), &tiles);
        while let Some(step) = table.next(&mut state) {
            match step {
                (di, 0) => self.carrier.across(di),
                (_, dj) => self.carrier.along(dj),
            }
        }
    }

    /// Brings one tile of the pair to the other's goal, where it is out of the way, then the other one
    /// and the blank into the window.
    fn park(&mut self, window: &Window, j: i32, inside: [bool; 2]) {
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

    /// Takes the blank into the window by a way that keeps the pair in it, if there is one. There is
    /// one if only one of the two stands below line 0.
    fn enter(&mut self, window: &Window, j: i32) -> bool {
        let carrier = &mut self.carrier;
        if window.contains(carrier.blank) {
            return true;
        }
        let pair = [carrier.tile(j), carrier.tile(j + 1)];
        let Spot { i, j } = carrier.blank;
        let columns = window.left..window.left + window.width;
        // From below: along first, then up. From the side: across first, then in.
        let entry = if i >= GRID {
            let spots = columns.map(|j| Spot { i: GRID - 1, j });
            spots
                .filter(|spot| !pair.contains(spot))
                .min_by_key(|spot| spot.distance(carrier.blank))
        } else {
            let edge = j.clamp(columns.start, columns.end - 1);
            let spots = (1..GRID).map(|i| Spot { i, j: edge });
            spots
                .filter(|spot| !pair.contains(spot))
                .min_by_key(|spot| spot.distance(carrier.blank))
        };
        let Some(entry) = entry else { return false };
        let from_below = i >= GRID;
        while carrier.blank != entry {
            let (di, dj) = (entry.i - carrier.blank.i, entry.j - carrier.blank.j);
            if di == 0 || (from_below && dj != 0) {
                carrier.along(dj.signum());
            } else {
                carrier.across(di.signum());
            }
        }
        true
    }
}

/// The part of a view in which the table places the last two tiles of a line: the first four lines, at
/// most four columns round the two.
struct Window {
    left: i32,
    width: i32,
}

impl Window {
    /// Returns the window of (0, j) and (0, j + 1) in lines of the given width.
    fn around(j: i32, width: i32) -> Window {
        let own = width.min(GRID);
        Window {
            left: (j - 1).clamp(0, width - own),
            width: own,
        }
    }

    fn contains(&self, spot: Spot) -> bool {
        spot.i < GRID && (self.left..self.left + self.width).contains(&spot.j)
    }
}
