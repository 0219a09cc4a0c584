//! Additive pattern databases as a heuristic: the entry that a board looks up, kept up to date move by move.
//!
//! Invariant: a view's index of a pattern is the lexicographic rank of the cells of the pattern's tiles, seen through
//! the view's symmetry. Let digit i be the cell of tile i minus the number of earlier tiles on smaller cells; the rank
//! is the mixed-radix number with these digits. A tile that moves from cell a to b changes its own digit by b - a, less
//! one for every earlier tile in between, and the digit of every later tile in between by one. In region-aware
//! databases, the rank is that of the positions within the set of cells, which change by one for every tile in between.
//! So an index is updated with one addition per cell between a and b: none for neighbours in a row, at most a row's
//! length for neighbours in a column.

use std::cmp::Ordering;

use crate::{
    pdb::{Kind, Pattern},
    perm::placement,
    puzzle::{Board, Direction, Size},
    solve::database::Database,
};

/// Maximum number of cells of a board that can have databases.
pub(crate) const MAX_CELLS: usize = Pattern::MAX_SIDE * Pattern::MAX_SIDE;

/// A pattern that no tile belongs to.
pub(crate) const NO_PATTERN: u8 = u8::MAX;

/// A set of disjoint patterns seen through one rotation or reflection of the board: the incremental index for a custom
/// solver.
///
/// The index of a pattern is the entry in a database of kind [`crate::pdb::Kind::Minimum`]: byte
/// [`SymmetricView::index`] of [`crate::pdb::Pdb::bytes`] is the minimum number of moves of the pattern's tiles. A move
/// changes only the index of the pattern of the moved tile: [`SymmetricView::change`] computes by how much, in a few
/// nanoseconds. `tests/examples/ida.rs` is a complete solver based on it.
///
/// ```
/// use tilewave::pdb::Pattern;
/// use tilewave::puzzle::{Direction, Goal, Size};
/// use tilewave::solve::SymmetricView;
/// let goal = Goal::Last.board(Size::new(3, 3)?)?;
/// let patterns = [Pattern::new(goal.clone(), &[1, 2, 3, 4])?, Pattern::new(goal.clone(), &[5, 6, 7, 8])?];
/// let views = SymmetricView::all(&goal, &patterns);
/// assert_eq!(views.len(), 2); // as it is, and mirrored along the diagonal through the blank
/// let tiles: Vec<u8> = goal.tiles().iter().map(|&tile| tile as u8).collect();
/// let (pattern, change) = views[0].change(&tiles, goal.blank(), Direction::Right).unwrap();
/// let moved = goal.slide(Direction::Right).unwrap();
/// assert_eq!(pattern, 1); // tile 8 moved
/// assert_eq!(
///     views[0].index(pattern, &moved) as i64,
///     views[0].index(pattern, &goal) as i64 + change
/// );
/// # Ok::<(), tilewave::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct SymmetricView {
    size: Size,
    /// The pattern of each tile.
    pub(crate) pattern: [u8; MAX_CELLS],
    /// The index change per cell that a tile moves forward.
    stride: [i64; MAX_CELLS],
    /// The index change when a tile moves forward past another one.
    pub(crate) over: Vec<[i64; MAX_CELLS]>,
    /// For each blank cell and direction, how the tile moves.
    steps: Vec<[TileMove; 4]>,
    /// The image of each cell under the symmetry.
    pub(crate) image: Vec<u8>,
    /// The tiles that take the place of each pattern's tiles, in the pattern's order.
    pub(crate) tiles: Vec<Vec<u8>>,
    /// For each tile, its position in that order.
    pub(crate) place: [u8; MAX_CELLS],
}

/// A tile's move as a view sees it.
#[derive(Clone, Copy, Debug, Default)]
struct TileMove {
    /// Number of cells forward, negative for backward.
    distance: i8,
    /// The cells in between (as numbered on the board): the first `count` elements.
    between: [u8; 6],
    count: u8,
}

impl SymmetricView {
    /// Returns the views of a goal: one for every rotation and reflection that takes the goal's blank to that of the
    /// patterns' goal. Empty if there is none, or if the patterns are for boards of a different size (transposed boards
    /// are supported). The maximum of the sums over all views is also a lower bound.
    pub fn all(goal: &Board, patterns: &[Pattern]) -> Vec<SymmetricView> {
        let Some(first) = patterns.first() else { return Vec::new() };
        let patterns: Vec<_> = patterns.iter().map(|pattern| (pattern, Kind::Minimum)).collect();
        let view = |image| SymmetricView::new(goal, &patterns, image);
        symmetries(goal, first.goal()).into_iter().map(view).collect()
    }

    /// Returns the pattern that a tile belongs to, by its index in the set.
    pub fn pattern(&self, tile: u16) -> Option<usize> {
        let pattern = *self.pattern.get(usize::from(tile))?;
        (pattern != NO_PATTERN).then_some(usize::from(pattern))
    }

    /// Returns the index of a pattern on a board, from scratch.
    pub fn index(&self, pattern: usize, board: &Board) -> u64 {
        let at = |tile: u8| board.tiles().iter().position(|&t| t == u16::from(tile));
        let mut cells = [0; Pattern::MAX_TILES];
        let cells = self.cells(pattern, |tile| at(tile).unwrap_or_default(), &mut cells);
        placement::rank(self.size.cells(), cells)
    }

    /// Returns the pattern whose index changes, and the change, when a tile of a board (row-major, with 0 for the
    /// blank) moves into the blank; `None` at the border, and for tiles in no pattern.
    #[inline]
    pub fn change(&self, tiles: &[u8], blank: usize, direction: Direction) -> Option<(usize, i64)> {
        let tile = tiles[direction.tile_cell(self.size, blank)?];
        let pattern = self.pattern(u16::from(tile))?;
        Some((pattern, self.step(tiles, blank, direction, tile)))
    }

    /// The change of the index of the tile's pattern when the tile moves into the blank.
    #[inline(always)]
    pub(crate) fn step(&self, tiles: &[u8], blank: usize, d: Direction, tile: u8) -> i64 {
        let step = &self.steps[blank][d as usize];
        let tile = usize::from(tile);
        let distance = i64::from(step.distance);
        let mut change = distance.abs() * self.stride[tile];
        let over = &self.over[tile];
        for &cell in &step.between[..usize::from(step.count)] {
            change += over[usize::from(tiles[usize::from(cell)])];
        }
        if distance < 0 { -change } else { change }
    }

    /// The cells of the tiles that the tile passes, as numbered on the board, and whether it moves forward.
    pub(crate) fn passed(&self, blank: usize, d: Direction) -> (&[u8], bool) {
        let step = &self.steps[blank][d as usize];
        (&step.between[..usize::from(step.count)], step.distance > 0)
    }

    /// The cells of a pattern's tiles in the numbering of its database, given the cell of each tile.
    #[inline]
    pub(crate) fn cells<'c>(
        &self,
        pattern: usize,
        at: impl Fn(u8) -> usize,
        cells: &'c mut [u8; Pattern::MAX_TILES],
    ) -> &'c [u8] {
        let tiles = &self.tiles[pattern];
        for (cell, &tile) in cells.iter_mut().zip(tiles) {
            *cell = self.image[at(tile)];
        }
        &cells[..tiles.len()]
    }

    /// The view through a symmetry. Indices are ranks of cells or, for [`Kind::Regions`], of positions within the set
    /// of cells.
    fn new(goal: &Board, patterns: &[(&Pattern, Kind)], image: Vec<u8>) -> SymmetricView {
        let size = goal.size();
        let cells = size.cells();
        let mut view = SymmetricView {
            size,
            pattern: [NO_PATTERN; MAX_CELLS],
            stride: [0; MAX_CELLS],
            over: vec![[0; MAX_CELLS]; cells],
            steps: vec![[TileMove::default(); 4]; cells],
            image,
            tiles: patterns.iter().map(|(p, _)| vec![0; p.home().len()]).collect(),
            place: [0; MAX_CELLS],
        };
        for (p, (pattern, kind)) in patterns.iter().enumerate() {
            let (k, regions) = (pattern.home().len(), *kind == Kind::Regions);
            let mut weight = [0; Pattern::MAX_TILES];
            for (i, &home) in pattern.home().iter().enumerate() {
                let cell = view.image.iter().position(|&image| image == home);
                let tile = usize::from(goal.tiles()[cell.unwrap_or_default()]);
                view.tiles[p][i] = tile as u8;
                view.pattern[tile] = p as u8;
                view.place[tile] = i as u8;
                weight[i] = match regions {
                    true => (1..(k - i) as i64).product(),
                    false => (i + 1..k).map(|j| (cells - j) as i64).product(),
                };
                view.stride[tile] = if regions { 0 } else { weight[i] };
            }
            for (i, &tile) in view.tiles[p].iter().enumerate() {
                for (j, &other) in view.tiles[p].iter().enumerate() {
                    view.over[usize::from(tile)][usize::from(other)] = match (j.cmp(&i), regions) {
                        (Ordering::Equal, _) => 0,
                        (Ordering::Less, false) => -weight[i],
                        (Ordering::Greater, false) => weight[j],
                        // Positions: other tiles move back by one, while this one moves forward by one.
                        (Ordering::Less, true) => -weight[j],
                        (Ordering::Greater, true) => weight[i],
                    };
                }
            }
        }
        for blank in 0..cells {
            for direction in Direction::ALL {
                let Some(cell) = direction.tile_cell(size, blank) else { continue };
                let (from, to) = (view.image[cell], view.image[blank]);
                let step = &mut view.steps[blank][direction as usize];
                step.distance = to as i8 - from as i8;
                for between in 0..cells {
                    if (from.min(to) + 1..from.max(to)).contains(&view.image[between]) {
                        step.between[usize::from(step.count)] = between as u8;
                        step.count += 1;
                    }
                }
            }
        }
        view
    }
}

/// The images of all cells under each symmetry that takes a size to another; none for more than [`MAX_CELLS`] cells.
pub(crate) fn images(from: Size, to: Size) -> Vec<Vec<u8>> {
    let image = |turn: u8| {
        let [transpose, flip_rows, flip_cols] = [4, 2, 1].map(|bit| turn & bit != 0);
        let turned = |(r, c)| if transpose { (c, r) } else { (r, c) };
        let fits = turned((from.rows(), from.cols())) == (to.rows(), to.cols());
        let image = |cell: usize| {
            let (r, c) = turned((cell / from.cols(), cell % from.cols()));
            let r = if flip_rows { to.rows() - 1 - r } else { r };
            let c = if flip_cols { to.cols() - 1 - c } else { c };
            (r * to.cols() + c) as u8
        };
        (fits && from.cells() <= MAX_CELLS).then(|| (0..from.cells()).map(image).collect())
    };
    (0..8).filter_map(image).collect()
}

/// The images of all cells under each symmetry that takes a goal to the size of another and its blank to the other's.
pub(crate) fn symmetries(goal: &Board, other: &Board) -> Vec<Vec<u8>> {
    let mut images = images(goal.size(), other.size());
    images.retain(|image| usize::from(image[goal.blank()]) == other.blank());
    images
}

// The sums of a partition: its patterns as they are and through the symmetries of the board.
//
// Invariant: the patterns of a sum have no tile in common, so their values can be added.

/// Patterns of a partition, seen through one symmetry of the board.
pub(crate) struct Lens {
    pub view: SymmetricView,
    /// The databases of the view's patterns.
    pub databases: Vec<Database>,
    /// Whether its values are added to those of the previous lens, because they concern different tiles.
    pub joined: bool,
}

impl Lens {
    /// Returns the lenses of a partition, one sum after the other: the partition through each symmetry that takes the
    /// goal's blank to that of the patterns' goal. Tiles that this leaves out are covered, as far as possible, by the
    /// partition's patterns seen through other symmetries: a pattern and its mirror image need only one database. Sums
    /// over the same sets of tiles are merged.
    pub fn of_partition(goal: &Board, databases: &[Database]) -> Vec<Lens> {
        let Some(first) = databases.first() else { return Vec::new() };
        let all: Vec<usize> = (0..databases.len()).collect();
        let images = symmetries(goal, first.pdb.pattern().goal());
        let of_some = |some: &[usize], image: &Vec<u8>| {
            Lens::new(goal, some.iter().map(|&p| databases[p].clone()).collect(), image.clone())
        };
        let whole: Vec<Lens> = images.iter().map(|image| of_some(&all, image)).collect();
        let additive = !databases.iter().any(Database::has_blank);
        let (mut lenses, mut known) = (Vec::new(), Vec::new());
        for (v, lens) in whole.iter().enumerate() {
            let mut parts: Vec<_> = all.iter().map(|&p| lens.part(p)).collect();
            let mut sum = vec![(v, all.clone())];
            for (w, other) in whole.iter().enumerate().filter(|_| additive) {
                let taken: Vec<u8> = parts.iter().flat_map(|(_, tiles)| tiles).copied().collect();
                let fits = |&p: &usize| !other.part(p).1.iter().any(|tile| taken.contains(tile));
                let more: Vec<usize> = all.iter().copied().filter(fits).collect();
                parts.extend(more.iter().map(|&p| other.part(p)));
                sum.extend((!more.is_empty()).then_some((w, more)));
            }
            parts.sort_unstable();
            if known.contains(&parts) {
                continue;
            }
            known.push(parts);
            for (i, (w, some)) in sum.into_iter().enumerate() {
                lenses.push(Lens { joined: i > 0, ..of_some(&some, &images[w]) });
            }
        }
        lenses
    }

    /// Databases through a symmetry.
    fn new(goal: &Board, databases: Vec<Database>, image: Vec<u8>) -> Lens {
        let patterns = databases.iter().map(|one| (one.pdb.pattern(), one.pdb.kind()));
        let view = SymmetricView::new(goal, &patterns.collect::<Vec<_>>(), image);
        Lens { view, databases, joined: false }
    }

    /// What the values of a pattern measure: what is counted, and for which tiles, in their order.
    fn part(&self, pattern: usize) -> (&'static str, Vec<u8>) {
        let mut tiles = self.view.tiles[pattern].clone();
        tiles.sort_unstable();
        (self.databases[pattern].pdb.kind().name(), tiles)
    }
}

#[cfg(test)]
mod tests {
    use crate::{
        pdb::Encoding,
        puzzle::{Goal, Size},
        solve::{Optimal, Scrambler, database::tests::regions},
    };

    #[test]
    fn a_pattern_and_its_mirror_image_need_one_database() {
        let goal = Goal::First.board(Size::new(3, 3).unwrap()).unwrap();
        for encoding in [Encoding::Bit, Encoding::Byte] {
            let of = |tiles: &[u16]| regions(&goal, tiles, encoding);
            // Tiles 3, 6 and 7 are the mirror images of 1, 2 and 5; 4 and 8 are on the diagonal.
            let (above, below, diagonal) = (of(&[1, 2, 5]), of(&[3, 6, 7]), of(&[4, 8]));
            let one = Optimal::new(&goal, [above.clone(), diagonal.clone()]).unwrap();
            let two = Optimal::new(&goal, [above.clone(), below, diagonal]).unwrap();
            let alone = Optimal::new(&goal, [above]).unwrap();
            assert_eq!([one.views(), two.views(), alone.views()], [2, 1, 2]);
            let mut more = 0;
            for board in Scrambler::new(goal.clone(), 3).take(50) {
                let (value, least) =
                    (one.estimate(&board).unwrap(), alone.estimate(&board).unwrap());
                assert_eq!(value, two.estimate(&board).unwrap(), "{board}");
                more += value - least;
                let solved = |solver: &Optimal| solver.solve(&board).unwrap();
                let (one, two, alone) = (solved(&one), solved(&two), solved(&alone));
                assert_eq!((&one.moves, one.nodes), (&two.moves, two.nodes), "{board}");
                assert_eq!(one.at_least, alone.at_least, "{board}");
            }
            assert!(more > 50, "{more}");
        }
    }
}
