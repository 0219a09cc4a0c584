//! A rectangle of the board seen from one of its sides: line 0 is the outer line on that side.
//!
//! Invariant: spots of a view and cells of the board are in bijection on the rectangle, and steps
//! between neighbouring spots are steps between neighbouring cells.

use crate::puzzle::tiles::{Direction, Size};

/// A rectangle of cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Region {
    pub top: usize,
    pub left: usize,
    pub rows: usize,
    pub cols: usize,
}

impl Region {
    /// Returns all of a board.
    pub fn whole(size: Size) -> Region {
        Region {
            top: 0,
            left: 0,
            rows: size.rows(),
            cols: size.cols(),
        }
    }

    /// Returns the region without the first line of one of its views.
    pub fn without_first_line(self, view: &View) -> Region {
        let mut rest = self;
        match view.side {
            Side::Top => rest.top += 1,
            Side::Left => rest.left += 1,
            Side::Bottom | Side::Right => {}
        }
        match view.side {
            Side::Top | Side::Bottom => rest.rows -= 1,
            Side::Left | Side::Right => rest.cols -= 1,
        }
        rest
    }
}

/// The side of a region on which a view has its first line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Top,
    Bottom,
    Left,
    Right,
}

/// A place in a view: line `i` from the side, position `j` in the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Spot {
    pub i: i32,
    pub j: i32,
}

impl Spot {
    /// Returns the number of steps between two spots.
    pub fn distance(self, other: Spot) -> i32 {
        (self.i - other.i).abs() + (self.j - other.j).abs()
    }
}

/// A region seen from one side.
#[derive(Clone, Debug)]
pub(super) struct View {
    /// Number of lines.
    pub depth: i32,
    /// Cells of a line.
    pub width: i32,
    side: Side,
    /// Cell of spot (0, 0).
    origin: i32,
    /// From a line to the next one, and along a line.
    stride: (i32, i32),
    /// Columns of the board.
    cols: u32,
    /// Row and column of spot (0, 0).
    corner: (i32, i32),
}

impl View {
    /// Returns the views of a region from its four sides.
    pub fn all(region: &Region, size: Size) -> [View; 4] {
        [Side::Top, Side::Bottom, Side::Left, Side::Right].map(|side| View::new(region, size, side))
    }

    fn new(region: &Region, size: Size, side: Side) -> View {
        let cols = size.cols() as i32;
        let (top, left) = (region.top as i32, region.left as i32);
        let (rows, width) = (region.rows as i32, region.cols as i32);
        let corner = match side {
            Side::Top | Side::Left => (top, left),
            Side::Bottom => (top + rows - 1, left),
            Side::Right => (top, left + width - 1),
        };
        let stride = match side {
            Side::Top => (cols, 1),
            Side::Bottom => (-cols, 1),
            Side::Left => (1, cols),
            Side::Right => (-1, cols),
        };
        let (depth, width) = match side {
            Side::Top | Side::Bottom => (rows, width),
            Side::Left | Side::Right => (width, rows),
        };
        View {
            depth,
            width,
            side,
            origin: corner.0 * cols + corner.1,
            stride,
            cols: cols as u32,
            corner,
        }
    }

    /// Returns the cell of a spot.
    pub fn cell(&self, i: i32, j: i32) -> usize {
        (self.origin + i * self.stride.0 + j * self.stride.1) as usize
    }

    /// Returns the spot of a cell of the region.
    pub fn spot(&self, cell: usize) -> Spot {
        let cell = cell as u32;
        let row = (cell / self.cols) as i32 - self.corner.0;
        let col = (cell % self.cols) as i32 - self.corner.1;
        match self.side {
            Side::Top => Spot { i: row, j: col },
            Side::Bottom => Spot { i: -row, j: col },
            Side::Left => Spot { i: col, j: row },
            Side::Right => Spot { i: -col, j: row },
        }
    }

    /// Returns the move that takes the blank to another line (`di` is 1 or -1): the way of the tile.
    pub fn across(&self, di: i32) -> Direction {
        let outward = match self.side {
            Side::Top => Direction::Up,
            Side::Bottom => Direction::Down,
            Side::Left => Direction::Left,
            Side::Right => Direction::Right,
        };
        if di > 0 { outward } else { outward.opposite() }
    }

    /// Returns the move that takes the blank along its line (`dj` is 1 or -1): the way of the tile.
    pub fn along(&self, dj: i32) -> Direction {
        let back = match self.side {
            Side::Top | Side::Bottom => Direction::Left,
            Side::Left | Side::Right => Direction::Up,
        };
        if dj > 0 { back } else { back.opposite() }
    }
}
