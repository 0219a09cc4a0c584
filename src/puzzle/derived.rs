//! Puzzles with several sets of pieces that are made from other puzzles: parts of them, and boards and permutation
//! puzzles in this form.
//!
//! Pruning tables and patterns of pieces are made for a part, which [`Puzzle::keeping`] and similar methods
//! return. [`Puzzle::of_space`] is for boards of any size: list searches need no state numbers.

use std::{collections::HashSet, fmt, sync::Arc};

use crate::{
    puzzle::{
        Arrangement, Board, ErrorPlace, GluedPiece, Metric, Move, PieceAt, PieceSet, Placed,
        Puzzle, PuzzleError, SetAction, Size, StateSpace, Transformation,
        error::wrong,
        group::all_orbits,
        sets::{GoalSet, Notation, many_locations},
    },
    units::{joined, shown},
};

// Parts of a puzzle: with some of its pieces, without orientations, or with pieces made to look alike. A distance in a
// projection is at most the distance in the puzzle; pattern databases rely on this.
//
// Invariant: a projection has the moves of its puzzle, without those that have no effect in it, and with only the
// first of equal moves.

/// Pieces of a set, as specified by `edges:1-4+7`, or all of them if no numbers follow.
struct NamedPieces<'a> {
    /// `None` for the only set.
    set: Option<&'a str>,
    pieces: Option<&'a str>,
}

impl NamedPieces<'_> {
    /// Numbers alone are those of the only set.
    fn of(text: &str, is_only: bool) -> NamedPieces<'_> {
        if is_only && text.starts_with(|c: char| c.is_ascii_digit()) {
            return NamedPieces { set: None, pieces: Some(text) };
        }
        let (set, pieces) = text.split_once(':').unzip();
        NamedPieces { set: set.or(Some(text)), pieces }
    }

    /// Whether a set is meant: a name without its number stands for all sets with this name, unless it follows a `=`.
    fn means(&self, set: &PieceSet) -> bool {
        let Some(named) = self.set else { return true };
        if let Some(exact) = named.strip_prefix('=') {
            return set.name == exact;
        }
        let plain = set.name.trim_end_matches(|c: char| c.is_ascii_digit());
        set.name.eq_ignore_ascii_case(named) || plain.eq_ignore_ascii_case(named)
    }

    /// For each kind of piece of a set, whether it is meant; the first kind has this number.
    fn kinds(&self, set: &PieceSet, first_number: u8) -> Result<Vec<bool>, PuzzleError> {
        let Some(text) = self.pieces else {
            return Ok(vec![true; set.moduli.len()]);
        };
        let wrong = || {
            let (text, named) = (shown(text, 32), &set.name);
            let pieces = set.moduli.len() - usize::from(first_number == 0);
            wrong!(Unknown: "'{text}' does not specify pieces of set '{named}': its pieces are 1 to \
                {pieces}; write, for example, 1-4 or 1+3+5-7")
        };
        let mut kinds = vec![false; set.moduli.len()];
        for part in text.split('+') {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let index = |word: &str| {
                let number = word.trim().parse::<usize>().ok();
                let number = number.filter(|&number| number > 0).ok_or_else(wrong)?;
                Ok(number - usize::from(first_number))
            };
            let meant = index(first)?..=index(last)?;
            kinds.get_mut(meant).filter(|meant| !meant.is_empty()).ok_or_else(wrong)?.fill(true);
        }
        Ok(kinds)
    }
}

impl Puzzle {
    /// Returns the puzzle with some sets of pieces, or some pieces of a set: `corners`, `edges:1-6`, `edges:1-3+8`.
    /// Pieces are counted from 1 in the order of the solved puzzle; pieces of a set that are not selected look alike,
    /// in all orientations. Those on which moves depend, like the blank of a board, are always kept. A name without its
    /// number stands for all sets with this name: `edges` for `edges` and `edges2`, but `=edges` only for `edges`.
    ///
    /// ```
    /// use tilewave::puzzle::{named, Turns};
    /// let cube = named::parse("3x3x3").unwrap().counting(Turns::Powers)?;
    /// let six = cube.keeping(&["edges:1-6".into()])?;
    /// assert_eq!(six.states().map(|states| states.to_string()), Some("42577920".into())); // 12!/6! 2^6
    /// # Ok::<(), tilewave::puzzle::PuzzleError>(())
    /// ```
    ///
    /// # Errors
    /// A [`PuzzleError`] for sets and pieces that the puzzle does not have, if a move depends on pieces of a set that is
    /// left out, and if no move is left.
    pub fn keeping(mut self, names: &[String]) -> Result<Puzzle, PuzzleError> {
        let (_, solved, goals) = self.parts();
        let named = self.named(names)?;
        let meant = |set: &PieceSet| named.iter().any(|named| named.means(set));
        let kept: Vec<usize> = (0..self.sets.len()).filter(|&i| meant(&self.sets[i])).collect();
        let renumbered = |at: &mut PieceAt| {
            let set = kept.iter().position(|&i| i == usize::from(at.set));
            at.set = set.ok_or_else(|| self.sets[usize::from(at.set)].needed())? as u8;
            Ok::<_, PuzzleError>(())
        };
        self.illegal.iter_mut().try_for_each(renumbered)?;
        let mut left_out = false;
        for index in 0..self.sets.len() {
            let (set, mut kinds) = (&self.sets[index], vec![false; self.sets[index].moduli.len()]);
            for named in named.iter().filter(|named| named.means(set)) {
                let own = named.kinds(set, self.first_number(index))?;
                kinds.iter_mut().zip(own).for_each(|(kind, own)| *kind |= own);
            }
            for block in &mut self.blocks {
                let all = block.len();
                block.retain(|one| usize::from(one.set) != index || kinds[usize::from(one.kind)]);
                left_out |= block.len() < all;
            }
        }
        for one in self.blocks.iter_mut().flatten() {
            let set = kept.iter().position(|&i| i == usize::from(one.set));
            one.set = set.expect("its piece is kept") as u8;
        }
        if left_out {
            let note = "pieces of blocks are left out: only the others are glued together";
            self.notes.push(note.into());
        }
        for one in self.moves.iter_mut().chain(&mut self.aliases) {
            one.requires.iter_mut().try_for_each(renumbered)?;
            let turns = kept.iter().map(|&i| one.transformation.0[i].clone());
            one.transformation = Transformation(turns.collect());
        }
        let all = self.sets.len();
        self.sets = kept.iter().map(|&i| self.sets[i].clone()).collect();
        let mut words = Vec::new();
        for index in 0..self.sets.len() {
            let set = &self.sets[index];
            let mut left = vec![true; set.moduli.len()];
            for at in self.needed().filter(|at| usize::from(at.set) == index) {
                left[usize::from(at.kind)] = false;
            }
            let mut word = set.name.clone();
            for named in named.iter().filter(|named| named.means(set)) {
                for (left, meant) in
                    left.iter_mut().zip(named.kinds(set, self.first_number(index))?)
                {
                    *left &= !meant;
                }
                word += &named.pieces.map_or(String::new(), |pieces| format!(":{pieces}"));
            }
            words.push(word);
            self.merge(index, &left, true)?;
        }
        if self.sets.len() < all || words.iter().any(|word| word.contains(':')) {
            self.name = format!("{} {}", self.name, words.join(","));
        }
        Ok(self.rebuilt()?.solved_as(&kept, &solved, goals.as_deref()))
    }

    /// Returns a projection of a puzzle with the images of its goals as goals: these sets of the puzzle are left, in
    /// which the pieces of its solved state have become those of the projection's.
    fn solved_as(self, kept: &[usize], solved: &Arrangement, goals: Option<&GoalSet>) -> Puzzle {
        let Some(goals) = goals else { return self };
        let seen = |(set, &index): (&PieceSet, &usize), goal: &Arrangement| {
            let image = |piece: &Placed| {
                let home = solved.0[index].iter().position(|own| own.kind == piece.kind);
                let Placed { kind, .. } = set.solved[home.expect("a piece of the puzzle")];
                Placed { kind, turn: piece.turn % set.moduli[usize::from(kind)] }
            };
            goal.0[index].iter().map(image).collect()
        };
        let image = |goal| self.sets.iter().zip(kept).map(|own| seen(own, goal)).collect();
        let states = goals.states.iter().map(|goal| Arrangement(image(goal))).collect();
        self.solved_at(states)
    }

    /// Returns the puzzle in which the orientations of all pieces of some sets, or of some pieces of a set, are
    /// ignored.
    pub fn unoriented(mut self, names: &[String]) -> Result<Puzzle, PuzzleError> {
        let (all, solved, goals) = self.parts();
        self.each_meant(names, |puzzle, index, kinds| {
            puzzle.unturn(index, kinds);
            Ok(())
        })?;
        self.name = format!("{} without orientation of {}", self.name, names.join(","));
        Ok(self.rebuilt()?.solved_as(&all, &solved, goals.as_deref()))
    }

    /// Returns the puzzle in which the pieces that each name stands for look alike: all pieces of a set, or
    /// `centres:1-4`. If they have different numbers of orientations, their orientations are ignored.
    pub fn alike(mut self, names: &[String]) -> Result<Puzzle, PuzzleError> {
        let (all, solved, goals) = self.parts();
        let mut taken = HashSet::new();
        self.each_meant(names, |puzzle, index, kinds| {
            for kind in (0..kinds.len()).filter(|&kind| kinds[kind]) {
                if !taken.insert((index, kind)) {
                    let (number, set) =
                        (kind + usize::from(puzzle.first_number(index)), &puzzle.sets[index].name);
                    return Err(wrong!(Twice: "piece {number} of set '{set}' is in two ranges: \
                        separate the ranges, or make one of them"));
                }
            }
            puzzle.merge(index, kinds, false)
        })?;
        self.name = format!("{} with equal {}", self.name, names.join(","));
        Ok(self.rebuilt()?.solved_as(&all, &solved, goals.as_deref()))
    }

    /// The indices of all sets, the solved state, and the goals, which the puzzle gives up.
    fn parts(&mut self) -> (Vec<usize>, Arrangement, Option<Arc<GoalSet>>) {
        ((0..self.sets.len()).collect(), self.solved(), self.goals.take())
    }

    /// Changes each set that is meant, given which of its kinds are meant.
    fn each_meant(
        &mut self,
        names: &[String],
        mut change: impl FnMut(&mut Puzzle, usize, &[bool]) -> Result<(), PuzzleError>,
    ) -> Result<(), PuzzleError> {
        for named in self.named(names)? {
            for index in 0..self.sets.len() {
                if named.means(&self.sets[index]) {
                    let kinds = named.kinds(&self.sets[index], self.first_number(index))?;
                    change(self, index, &kinds)?;
                }
            }
        }
        Ok(())
    }

    /// The pieces on which moves depend, where they must be.
    fn needed(&self) -> impl Iterator<Item = &PieceAt> {
        self.moves.iter().filter_map(|one| one.requires.as_ref()).chain(&self.illegal)
    }

    fn named<'a>(&self, names: &'a [String]) -> Result<Vec<NamedPieces<'a>>, PuzzleError> {
        let named: Vec<NamedPieces> = {
            let is_only = self.sets.len() == 1;
            names.iter().map(|name| NamedPieces::of(name, is_only)).collect()
        };
        let unknown = named.iter().find(|n| !self.sets.iter().any(|set| n.means(set)));
        if let Some(unknown) = unknown {
            let sets = joined(self.sets.iter().map(|set| &set.name), ", ");
            let name = shown(unknown.set.unwrap_or_default(), 32);
            let wrong = wrong!(Unknown: "no set is called '{name}': the sets are {sets}");
            return Err(wrong.placed(ErrorPlace::Set(name)));
        }
        Ok(named)
    }

    /// Makes the orientations of some kinds of pieces invisible.
    pub(super) fn unturn(&mut self, index: usize, kinds: &[bool]) {
        let set = &mut self.sets[index];
        for (modulus, _) in set.moduli.iter_mut().zip(kinds).filter(|(_, meant)| **meant) {
            *modulus = 1;
        }
        for piece in set.solved.iter_mut().filter(|piece| kinds[usize::from(piece.kind)]) {
            piece.turn = 0;
        }
    }

    /// Merges kinds of pieces into the first of them. Its orientations become invisible if requested, or if the kinds
    /// have different numbers of orientations.
    pub(super) fn merge(
        &mut self,
        index: usize,
        kinds: &[bool],
        unseen: bool,
    ) -> Result<(), PuzzleError> {
        let Some(first) = kinds.iter().position(|meant| *meant) else { return Ok(()) };
        let depends = |at: &PieceAt| usize::from(at.set) == index && kinds[usize::from(at.kind)];
        let is_glued =
            |one: &GluedPiece| usize::from(one.set) == index && kinds[usize::from(one.kind)];
        if self.needed().any(depends) || self.blocks.iter().flatten().any(is_glued) {
            return Err(self.sets[index].needed());
        }
        let set = &mut self.sets[index];
        let of = |kind: usize| kinds[kind] && set.moduli[kind] != set.moduli[first];
        let modulus = match unseen || (0..kinds.len()).any(of) {
            true => 1,
            false => set.moduli[first],
        };
        set.moduli[first] = modulus;
        for piece in set.solved.iter_mut().filter(|piece| kinds[usize::from(piece.kind)]) {
            *piece = Placed { kind: first as u8, turn: piece.turn % modulus };
        }
        Ok(())
    }

    /// The puzzle again, with its kinds numbered without gaps and without duplicate moves.
    pub(super) fn rebuilt(mut self) -> Result<Puzzle, PuzzleError> {
        for (index, set) in self.sets.iter_mut().enumerate() {
            let used = |kind: &usize| set.solved.iter().any(|p| usize::from(p.kind) == *kind);
            let kept: Vec<usize> = (0..set.moduli.len()).filter(used).collect();
            let number = |kind: u8| kept.iter().position(|&k| k == usize::from(kind));
            let renumber = |kind: u8| number(kind).map_or(kind, |kind| kind as u8);
            let moved = self.moves.iter_mut().filter_map(|one| one.requires.as_mut());
            for at in moved.chain(&mut self.illegal).filter(|at| usize::from(at.set) == index) {
                at.kind = renumber(at.kind);
            }
            for one in self.blocks.iter_mut().flatten().filter(|one| usize::from(one.set) == index)
            {
                one.kind = renumber(one.kind);
            }
            for piece in &mut set.solved {
                piece.kind = renumber(piece.kind);
            }
            set.moduli = kept.iter().map(|&kind| set.moduli[kind]).collect();
        }
        let conditions = (self.illegal, self.blocks);
        let mut puzzle = Puzzle::under(self.name, self.sets, self.moves, conditions)?;
        puzzle.aliases.extend(self.aliases);
        Ok(Puzzle { notes: self.notes, notation: self.notation, ..puzzle })
    }
}

// Boards and permutation puzzles as puzzles with sets: of any size, without state numbers.
//
// Invariant: the solved arrangement is the space's start, and the moves are those of the space.

impl Puzzle {
    /// Returns the puzzle of a space, with the start of the space as its solved state.
    ///
    /// ```
    /// use tilewave::frontier::FrontierSearch;
    /// use tilewave::puzzle::Puzzle;
    /// use tilewave::{Goal, puzzle::StateSpace};
    /// let space = StateSpace::of_board(Goal::First.board("5x5".parse()?)?);
    /// let mut search = FrontierSearch::new(Puzzle::of_space(&space)?);
    /// search.max_depth = Some(8);
    /// assert_eq!(search.run()?.counts, [1, 2, 4, 10, 26, 64, 159, 366, 862]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// A [`PuzzleError`] for boards of more than 128 cells.
    pub fn of_space(space: &StateSpace) -> Result<Puzzle, PuzzleError> {
        if let Some((_, start)) = space.boards() {
            return board(start, space.metric().unwrap_or_default());
        }
        let (puzzle, start) = space.arranged_start().expect("it is no board");
        let piece = |&kind: &u8| Placed { kind, turn: 0 };
        let start = Arrangement(vec![start.images().iter().map(piece).collect()]);
        Ok(puzzle.clone().unlabelled().solved_at([start].into()))
    }

    /// Returns the sliding-tile puzzle on a graph, `graph:0-1,1-2,2-0`: a tile on each vertex but one, which slides
    /// along an edge to the vertex that is free. Solved, tile `k` is on vertex `k` and vertex 0 is free; the moves are
    /// named after the ways of the blank. Returns `None` if the text does not begin with `graph:`.
    ///
    /// R. M. Wilson, Graph puzzles, homotopy, and the alternating group, J. Combin. Theory B 16 (1974).
    ///
    /// ```
    /// use tilewave::frontier::FrontierSearch;
    /// use tilewave::puzzle::Puzzle;
    /// // A hexagon with a vertex that joins two opposite corners: not every permutation of its tiles is possible.
    /// let theta = Puzzle::of_graph("graph:0-1,1-2,2-3,3-4,4-5,5-0,0-6,6-3").unwrap()?;
    /// assert_eq!(theta.states().unwrap().to_string(), "840");
    /// assert_eq!(FrontierSearch::new(theta).run()?.counts.iter().sum::<u64>(), 840);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// A [`PuzzleError`] for a word that is no edge, an edge from a vertex to itself or given twice, a graph that is not
    /// connected, and more than 128 vertices.
    pub fn of_graph(text: &str) -> Option<Result<Puzzle, PuzzleError>> {
        text.strip_prefix("graph:").map(|edges| graph(text, edges))
    }

    /// The edges of the graph along which tiles slide, the lesser end first; `None` if a move is anything else.
    pub(crate) fn edges(&self) -> Option<Vec<[usize; 2]>> {
        let [set] = &self.sets[..] else { return None };
        let ends = |one: &Move| {
            let from = usize::from(one.requires.filter(|at| at.kind == 0)?.position);
            let to = usize::from(one.transformation.0[0].source[from]);
            let is_slide = one.transformation == slide(set.positions(), &[from, to]).transformation;
            is_slide.then_some([from.min(to), from.max(to)])
        };
        let mut edges = self.moves.iter().map(ends).collect::<Option<Vec<_>>>()?;
        edges.sort_unstable();
        edges.dedup();
        Some(edges)
    }
}

fn no_graph(why: impl fmt::Display) -> PuzzleError {
    wrong!(Syntax: "{why}: write the edges of a connected graph, its vertices numbered from 0, for \
        example graph:0-1,1-2,2-3,3-0")
}

fn graph(name: &str, text: &str) -> Result<Puzzle, PuzzleError> {
    let mut edges: Vec<[usize; 2]> = Vec::new();
    for word in text.split(',').map(str::trim) {
        let ends = word.split_once('-').and_then(|(a, b)| Some([a.parse().ok()?, b.parse().ok()?]));
        let wrong = || no_graph(format_args!("'{}' is not an edge", shown(word, 40)));
        let ends: [usize; 2] = ends.ok_or_else(wrong)?;
        let [least, most] = [ends[0].min(ends[1]), ends[0].max(ends[1])];
        if most >= Puzzle::MAX_LOCATIONS {
            return Err(many_locations("tiles", most.saturating_add(1)));
        }
        if least == most || edges.contains(&[least, most]) {
            let what = if least == most { "joins a vertex to itself" } else { "occurs twice" };
            return Err(no_graph(format_args!("edge {word} {what}")));
        }
        edges.push([least, most]);
    }
    if edges.iter().all(|edge| edge[0] > 0) {
        let least = edges.iter().map(|edge| edge[0]).min().unwrap_or_default();
        return Err(no_graph(format_args!("the vertices begin at {least}")));
    }
    let vertices = edges.iter().map(|edge| edge[1] + 1).max().unwrap_or_default();
    let mut ways: Vec<Vec<usize>> =
        edges.iter().flat_map(|&[a, b]| [vec![a, b], vec![b, a]]).collect();
    ways.sort_unstable();
    let puzzle = sliding(name.into(), &(0..vertices).collect::<Vec<_>>(), &ways)?;
    let moves = puzzle.moves().iter();
    let sources: Vec<&[u8]> = moves.map(|one| &one.transformation.0[0].source[..]).collect();
    match all_orbits(vertices, &sources).get(1) {
        Some(far) => {
            Err(no_graph(format_args!("no edges lead from vertex 0 to vertex {}", far[0])))
        }
        None => Ok(puzzle),
    }
}

fn board(start: &Board, metric: Metric) -> Result<Puzzle, PuzzleError> {
    let tiles: Vec<usize> = start.tiles().iter().map(|&tile| usize::from(tile)).collect();
    let size = start.size();
    let puzzle = sliding(size.to_string(), &tiles, &board_ways(size, metric))?;
    Ok(Puzzle { notation: Some(Notation::Slides(size)), ..puzzle })
}

/// Whether a puzzle's moves are those of a board of a size.
pub(super) fn is_board(puzzle: &Puzzle, size: Size) -> bool {
    let metric = puzzle.metric().and_then(|metric| metric.parse().ok());
    let cells = puzzle.sets.iter().map(PieceSet::positions).sum::<usize>();
    cells == size.cells()
        && metric.is_some_and(|metric| {
            let ways = board_ways(size, metric);
            puzzle.moves.iter().eq(&ways.iter().map(|way| slide(cells, way)).collect::<Vec<_>>())
        })
}

/// The ways of the blank on a board.
fn board_ways(size: Size, metric: Metric) -> Vec<Vec<usize>> {
    let (cells, columns) = (size.cells(), size.cols());
    let mut ways = Vec::new();
    for (from, to) in (0..cells).flat_map(|from| (0..cells).map(move |to| (from, to))) {
        let in_row = from / columns == to / columns;
        let step = if in_row { 1 } else { columns };
        let in_line = in_row || from % columns == to % columns;
        let far = from.abs_diff(to) / step;
        if !in_line || far == 0 || far > 1 && metric == Metric::Stm {
            continue;
        }
        let cell = |i: usize| if to > from { from + i * step } else { from - i * step };
        ways.push((0..=far).map(cell).collect());
    }
    ways
}

/// A puzzle of tiles and a blank (0), which moves along these ways, from cell to cell. The tiles on its way follow it,
/// one cell each.
fn sliding(name: String, start: &[usize], ways: &[Vec<usize>]) -> Result<Puzzle, PuzzleError> {
    let cells = start.len();
    if cells > Puzzle::MAX_LOCATIONS {
        return Err(many_locations("tiles", cells));
    }
    let mut tiles = PieceSet::distinct("tiles", cells as u8, 1);
    for (piece, &tile) in tiles.solved.iter_mut().zip(start) {
        piece.kind = tile as u8;
    }
    Puzzle::new(name, vec![tiles], ways.iter().map(|way| slide(cells, way)).collect())
}

/// The move of the blank along a way of some cells.
fn slide(cells: usize, way: &[usize]) -> Move {
    let (from, to) = (way[0], way[way.len() - 1]);
    let mut turn = SetAction::still(cells);
    for step in way.windows(2) {
        turn.source[step[0]] = step[1] as u8;
    }
    turn.source[to] = from as u8;
    Move {
        name: format!("{from}-{to}"),
        transformation: Transformation(vec![turn]),
        requires: Some(PieceAt { set: 0, position: from as u8, kind: 0 }),
    }
}

#[cfg(test)]
mod tests {
    use crate::{
        frontier::FrontierSearch,
        puzzle::named::{part, whole},
    };

    fn words(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).into()).collect()
    }

    #[test]
    fn projections_have_the_states_that_combinatorics_says() {
        let states = |puzzle: super::Puzzle| puzzle.states().unwrap().to_string();
        let keep = |names: &[&str]| part("3x3x3", names);
        for (names, expected) in [
            (&["edges:1-7"][..], "510935040"),
            (&["Edges:1-3+5", "edges:12"], "3041280"),
            (&["corners"], "88179840"),
            (&["corners:1-2", "edges:1"], "12096"),
        ] {
            assert_eq!(states(keep(names)), expected, "{names:?}");
        }
        let turned = whole("3x3x3").unoriented(&words(&["edges", "corners"])).unwrap();
        assert_eq!(states(turned), "9656672256000"); // 8! 12! / 2
        let alike = keep(&["edges"]).alike(&words(&["edges:1-4", "edges:5-12"])).unwrap();
        assert_eq!(states(alike), "1013760"); // 12!/(4! 8!) 2^11
    }

    /// Counted in two ways: by the positions of the selected pieces, and by the piece at each position.
    #[test]
    fn equal_pieces_and_pieces_left_out_are_the_same() {
        let counts = |puzzle| FrontierSearch::new(puzzle).run().unwrap().counts;
        let left_out = part("3x3x3", &["edges:1-3"]);
        let alike = part("3x3x3", &["edges"]).unoriented(&words(&["edges:4-12"])).unwrap();
        let alike = alike.alike(&words(&["edges:4-12"])).unwrap();
        assert_eq!(counts(left_out), counts(alike));
    }

    #[test]
    fn sequences_name_moves_that_nothing_left_follows() {
        let corners = part("4x4x4", &["corners"]);
        let read = |text: &str| corners.read(text).unwrap().0;
        assert_eq!(read("R 2R U 2F2"), read("R U"));
        assert!(corners.moves().iter().all(|one| one.name != "2R"));
        // Edges that look alike still have orientations: moves that only exchange them are moves.
        let turned = part("3x3x3", &["edges"]).alike(&words(&["edges"])).unwrap();
        assert_eq!(turned.moves().len(), 18);
    }

    #[test]
    fn what_cannot_be_projected_is_told() {
        let told = |names: &[&str]| whole("3x3x3").keeping(&words(names)).unwrap_err().to_string();
        assert!(told(&["wings"]).contains("no set is called 'wings'"), "{}", told(&["wings"]));
        for pieces in ["edges:0-3", "edges:5-3", "edges:1-13", "edges:x", "edges:"] {
            assert!(told(&[pieces]).contains("1 to 12"), "{}", told(&[pieces]));
        }
    }
}
