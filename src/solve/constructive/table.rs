//! Exact distances of up to four tiles and the blank on a grid of at most 4x4 cells.
//!
//! Invariant: an entry is the least number of moves that place the tiles, wherever the blank ends, or
//! [`UNSEEN`]; entries of neighbours differ by at most one.

use std::sync::OnceLock;

/// Cells in a line of the grid; smaller grids leave cells out.
pub(super) const GRID: i32 = 4;
/// The entry of an arrangement that cannot occur.
const UNSEEN: u8 = u8::MAX;
/// Bits of a grid cell in an index.
const BITS: usize = 4;

/// Where the blank and up to four tiles stand: 4 bits each, the blank lowest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Placement(u32);

impl Placement {
    /// Returns the placement of the blank and of tiles on grid cells.
    pub fn new(blank: usize, tiles: &[usize]) -> Placement {
        let mut code = blank;
        for (k, &cell) in tiles.iter().enumerate() {
            code |= cell << (BITS * (k + 1));
        }
        Placement(code as u32)
    }

    fn blank(self) -> u32 {
        self.0 & 15
    }

    /// The placement after the blank has gone to `to`, with `count` tiles.
    fn step(self, to: u32, count: usize) -> Placement {
        let mut code = (self.0 & !15) | to;
        for k in 1..=count {
            let shift = BITS * k;
            if (self.0 >> shift) & 15 == to {
                code = (code & !(15 << shift)) | (self.blank() << shift);
            }
        }
        Placement(code)
    }
}

/// Distances to one way of placing `count` tiles.
pub(super) struct Distances {
    count: usize,
    /// Neighbours of each grid cell, with the step of the blank that leads there.
    steps: [Vec<(u32, (i32, i32))>; 16],
    distance: Vec<u8>,
}

impl Distances {
    /// Returns the table of placing tiles on the given goals in a grid of open cells (bit i * 4 + j).
    /// Cost: one visit of each placement.
    fn new(open: u16, goals: &[usize]) -> Distances {
        let is_open = |cell: i32| open & (1 << cell) != 0;
        let steps = std::array::from_fn(|cell| {
            let (i, j) = (cell as i32 / GRID, cell as i32 % GRID);
            let around = [(-1, 0), (1, 0), (0, -1), (0, 1)].into_iter();
            let inside = around
                .filter(|(di, dj)| (0..GRID).contains(&(i + di)) && (0..GRID).contains(&(j + dj)));
            inside
                .map(|(di, dj)| ((i + di) * GRID + j + dj, (di, dj)))
                .filter(|&(to, _)| is_open(to))
                .map(|(to, step)| (to as u32, step))
                .collect()
        });
        let mut table = Distances {
            count: goals.len(),
            steps,
            distance: vec![UNSEEN; 1 << (BITS * (goals.len() + 1))],
        };
        let blanks = (0..16).filter(|&cell| is_open(cell as i32) && !goals.contains(&cell));
        let mut level: Vec<Placement> = blanks.map(|b| Placement::new(b, goals)).collect();
        for depth in 0.. {
            level.retain(|p| {
                let entry = &mut table.distance[p.0 as usize];
                std::mem::replace(entry, depth.min(*entry)) == UNSEEN
            });
            if level.is_empty() {
                break;
            }
            let next = |p: &Placement| {
                let (p, count) = (*p, table.count);
                let steps = table.steps[p.blank() as usize].iter();
                steps.map(move |&(to, _)| p.step(to, count))
            };
            let unseen = |p: &Placement| table.distance[p.0 as usize] == UNSEEN;
            level = level.iter().flat_map(next).filter(unseen).collect();
        }
        table
    }

    /// Returns the number of moves that are left.
    pub fn distance(&self, placement: Placement) -> u8 {
        self.distance[placement.0 as usize]
    }

    /// Makes a step towards the goal and returns the blank's step, or `None` at the goal.
    pub fn next(&self, placement: &mut Placement) -> Option<(i32, i32)> {
        let distance = self.distance(*placement);
        let mut neighbours = self.neighbours(*placement);
        let (at, step) = neighbours.find(|&(at, _)| self.distance(at) < distance)?;
        *placement = at;
        Some(step)
    }

    /// Returns all placements one move away, with the blank's step.
    pub fn neighbours(&self, from: Placement) -> impl Iterator<Item = (Placement, (i32, i32))> {
        let steps = self.steps[from.blank() as usize].iter();
        steps.map(move |&(to, step)| (from.step(to, self.count), step))
    }
}

/// The bits of the first `lines` lines of `width` cells.
fn rectangle(lines: usize, width: usize) -> u16 {
    (0..lines).fold(0, |open, i| open | ((1 << width) - 1) << (4 * i))
}

/// Returns the table of the last two tiles of a line, goals (0, j) and (0, j + 1), in a window of four
/// lines whose line 0 has no other open cell.
pub(super) fn pair(width: usize, j: usize) -> &'static Distances {
    static TABLES: [[OnceLock<Distances>; 3]; 3] = [const { [const { OnceLock::new() }; 3] }; 3];
    TABLES[width - 2][j].get_or_init(|| {
        let open = (rectangle(4, width) & !15) | (3 << j);
        Distances::new(open, &[j, j + 1])
    })
}

/// Returns the table of a whole first line of a block with 3 or 4 lines, or `None` when the block has
/// at most nine cells and is finished at once.
pub(super) fn line(lines: usize, width: usize) -> Option<&'static Distances> {
    static TABLES: [OnceLock<Distances>; 3] = [const { OnceLock::new() }; 3];
    let table = match (lines, width) {
        (4, 4) => &TABLES[0],
        (3, 4) => &TABLES[1],
        (4, 3) => &TABLES[2],
        _ => return None,
    };
    let goals = [0, 1, 2, 3];
    Some(table.get_or_init(|| Distances::new(rectangle(lines, width), &goals[..width])))
}
