//! Tables and solutions of random puzzles against plain code: every encoding, up to symmetry, of all sets, of each set,
//! of some pieces; each solution and each state is read back from its text.

use tilewave::{
    Error, NoProgress, Resources,
    pruning::{CosetTable, PruningTable},
    puzzle::{Arrangement, Puzzle},
    random::SplitMix64,
    solve::{MeetingLists, PuzzleSolver, StateSolver},
    table::{TableEncoding, TableError},
};

use super::limits::UpTo;
use crate::plain::HashMap;
use crate::random_puzzle::{Drawn, Features, State, arrangement};

/// Most states of a puzzle, and the number of them that are compared.
const STATES: usize = 3000;
const COMPARED: usize = 8;
/// Nodes after which a search of so few states will not end: at depth 19, with tables of single sets, some take millions.
const ENDLESS: u64 = 1_000_000_000;
/// Nodes for a search with a coset table, which may tell hardly anything apart.
const WITH_COSETS: u64 = 200_000;

/// What was compared, and what differs.
#[derive(Default)]
struct Tally {
    puzzles: usize,
    tables: usize,
    reduced: usize,
    cosets: usize,
    solutions: usize,
    wrong: Vec<String>,
}

/// What of a puzzle has tables: all pieces, each set, or the first pieces of each set.
const PARTS: [&str; 3] = ["whole", "sets", "pieces"];

/// A state, and the length of its shortest solutions.
type Compared<'s> = (&'s State, Option<usize>);

fn state_of(arrangement: &Arrangement) -> State {
    arrangement.0.iter().map(|row| row.iter().map(|p| (p.kind, p.turn)).collect()).collect()
}

impl Tally {
    fn hold<T: PartialEq + std::fmt::Debug>(&mut self, what: &str, found: T, expected: T) {
        if found != expected {
            self.wrong.push(format!("{what}: {found:?} is found, {expected:?} expected"));
        }
    }

    fn puzzle(&mut self, seed: u64, with: Features) {
        let drawn = Drawn::new(seed, with);
        let (distances, true) = drawn.distances(STATES) else { return };
        let Ok(puzzle) = drawn.puzzle(&format!("puzzle {seed}")) else { return };
        self.puzzles += 1;
        let mut states: Vec<&State> = distances.keys().collect();
        states.sort();
        let step = states.len().div_ceil(COMPARED);
        let some: Vec<Compared> =
            (states.iter().step_by(step)).map(|&state| (state, drawn.way_back(state))).collect();
        for (state, _) in &some {
            let text = puzzle.text(&arrangement(state));
            let read = puzzle.read(&text).map(|(read, _)| read).map_err(|e| e.to_string());
            self.hold(&format!("puzzle {seed}, {text}"), read, Ok(arrangement(state)));
        }
        for (number, part) in PARTS.into_iter().enumerate() {
            // Encodings in turn; with and without symmetry.
            let turn = seed as usize + number;
            let sizes = [TableEncoding::Byte, TableEncoding::Nibble, TableEncoding::Mod3];
            let size = match sizes[turn % 3] {
                TableEncoding::Mod3 if puzzle.is_directed() => TableEncoding::Byte,
                size => size,
            };
            let reduced = turn / 3 % 2 == 1;
            let what = format!("puzzle {seed}, {part} {size} {reduced}");
            self.solve((&drawn, &puzzle), (&what, part), (size, reduced), (&some, &distances));
        }
        self.cosets(seed, (&drawn, &puzzle), &some);
        let mut lists = MeetingLists::new(&puzzle, 1 << 30);
        for &(state, length) in &some {
            let Some(length) = length else { continue };
            let found = lists.solve(&arrangement(state), &NoProgress).unwrap();
            let found = found.and_then(|answer| answer.moves).map(|moves| moves.len());
            self.hold(&format!("puzzle {seed}, lists, {state:?}"), found, Some(length));
        }
    }

    fn solve(
        &mut self,
        (drawn, puzzle): (&Drawn, &Puzzle),
        (what, part): (&str, &str),
        kind: (TableEncoding, bool),
        (some, distances): (&[Compared], &HashMap<State, usize>),
    ) {
        let piece = |set: &tilewave::puzzle::PieceSet| match part {
            "sets" => format!("={}", set.name),
            _ => format!("={}:1-{}", set.name, set.moduli.len().div_ceil(2)),
        };
        let kept: Vec<Puzzle> = match part {
            "whole" => vec![puzzle.clone()],
            _ => puzzle
                .sets()
                .iter()
                .filter_map(|set| puzzle.clone().keeping(&[piece(set)]).ok())
                .collect(),
        };
        let tables = kept.iter().filter_map(|of| self.table(what, of, kind)).collect::<Vec<_>>();
        if let ("whole", Some(table)) = (part, tables.first()) {
            if !puzzle.is_directed() {
                let mut counts = vec![0; distances.values().max().unwrap() + 1];
                distances.values().for_each(|&depth| counts[depth] += 1);
                self.hold(what, table.histogram(), &counts[..]);
            }
            for (state, depth) in some {
                let found = table.depth(&arrangement(state)).map_err(|error| error.to_string());
                self.hold(&format!("{what}, table, {state:?}"), found, Ok(*depth));
            }
        }
        let Ok(solver) = PuzzleSolver::new(puzzle.clone(), tables) else { return };
        self.compare(what, (drawn, &solver, ENDLESS), some);
        self.others(what, &solver, distances);
    }

    /// Solutions with a coset table, of hardly any memory and of more than the exact table takes.
    fn cosets(&mut self, seed: u64, (drawn, puzzle): (&Drawn, &Puzzle), some: &[Compared]) {
        if !CosetTable::suits(puzzle) {
            return;
        }
        for bytes in [20_000, 1 << 20].into_iter().skip(usize::from(!seed.is_multiple_of(4))) {
            let what = format!("puzzle {seed}, cosets in {bytes}");
            match CosetTable::build(puzzle, bytes, Resources::new()) {
                Ok(table) => {
                    self.cosets += 1;
                    let solver = PuzzleSolver::two_sided(table).unwrap();
                    self.compare(&what, (drawn, &solver, WITH_COSETS), some);
                }
                Err(Error::Table(TableError::Memory(_))) => (),
                Err(error) => self.wrong.push(format!("{what}: {error}")),
            }
        }
    }

    /// The lengths that a solver finds, and its solutions.
    fn compare(
        &mut self,
        what: &str,
        (drawn, solver, most): (&Drawn, &PuzzleSolver, u64),
        some: &[Compared],
    ) {
        let puzzle = solver.puzzle();
        let is_free = drawn.illegal.is_empty() && drawn.blocks.is_empty();
        let has_conditions = !is_free || drawn.moves.iter().any(|one| one.requires.is_some());
        for (state, length) in some {
            let Some(length) = *length else { continue };
            let (what, arranged) = (format!("{what}, {state:?}"), arrangement(state));
            self.hold(&what, solver.reaches(&arranged).is_some_and(|r| r.is_err()), false);
            // A solution that is never found is a wrong one.
            let found = match solver.solve_with(&arranged, &UpTo::new(most)) {
                Ok(answer) if answer.moves.is_none() && most < ENDLESS => {
                    self.hold(&what, answer.at_least <= length, true);
                    continue;
                }
                Ok(answer) => answer,
                Err(error) => {
                    self.wrong.push(format!("{what}: {error}"));
                    continue;
                }
            };
            let moves = found.moves.unwrap_or_else(|| vec!["?".into(); 99]);
            self.hold(&what, (moves.len(), found.at_least), (length, length));
            self.solutions += 1;
            // What is printed can be read, and leads to a goal.
            let mut names = moves.iter();
            let end = match puzzle.read(&moves.join(" ")) {
                // Moves with conditions cannot be read as moves of the solved puzzle.
                _ if has_conditions => names.try_fold(arranged.clone(), |state, name| {
                    let one = puzzle.moves().iter().position(|one| one.name == *name)?;
                    puzzle.moved(&state, one)
                }),
                Ok((_, Some(done))) => Some(puzzle.after(&arranged, &done.effect)),
                _ => Some(arranged.clone()).filter(|_| moves.is_empty()),
            };
            let solved = end.is_some_and(|end| drawn.goals().contains(&state_of(&end)));
            self.hold(&format!("{what}, {moves:?}"), solved, moves.len() < 99);
            // Given up at any time: no more is claimed than is true.
            for most in [1, 40] {
                let answer = solver.solve_with(&arranged, &UpTo::new(most)).unwrap();
                let is_bound = answer.at_least <= length;
                self.hold(&format!("{what}, {} in {most}", answer.at_least), is_bound, true);
            }
        }
    }

    /// Arrangements that no moves lead to are not said to be solvable, and those that a solver refuses are such.
    fn others(&mut self, what: &str, solver: &PuzzleSolver, distances: &HashMap<State, usize>) {
        let puzzle = solver.puzzle();
        let mut random = SplitMix64::new(distances.len() as u64);
        for _ in 0..4 {
            let mut state = state_of(&puzzle.solved());
            for (row, set) in state.iter_mut().zip(puzzle.sets()) {
                for at in (1..row.len()).rev() {
                    row.swap(at, random.below(at as u64 + 1) as usize);
                }
                for (kind, turn) in row.iter_mut() {
                    *turn = random.below(set.moduli[usize::from(*kind)].into()) as u8;
                }
            }
            let known = distances.contains_key(&state);
            let told = solver.reaches(&arrangement(&state)).map(|told| told.is_ok());
            // Of directed puzzles, distances are those from the goals.
            if !puzzle.is_directed() {
                self.hold(
                    &format!("{what}, {state:?}"),
                    told.is_none_or(|told| told == known),
                    true,
                );
            }
        }
    }

    /// The table of some pieces; none where depths do not fit, or where symmetries do not make it smaller.
    fn table(
        &mut self,
        what: &str,
        of: &Puzzle,
        (size, reduced): (TableEncoding, bool),
    ) -> Option<PruningTable> {
        let whole = || PruningTable::build(of, size, Resources::new());
        let table = match reduced {
            true => PruningTable::build_with(of, (size, true), Resources::new(), &NoProgress),
            false => whole(),
        };
        let table = match table {
            Err(Error::Table(TableError::NoSymmetry(_))) => whole(),
            table => table,
        };
        match table {
            Ok(table) => {
                self.tables += 1;
                self.reduced += usize::from(table.symmetries() > 1);
                Some(table)
            }
            // Boards with equal tiles; a projection may be directed where the puzzle is not.
            Err(Error::Table(TableError::TooDeep { .. } | TableError::Unsuitable(_))) => None,
            Err(error) if error.to_string().contains("depends on a piece") => None,
            // Few of the arrangements of its pieces are states, and the others have numbers, too.
            Err(error) if error.to_string().starts_with("cannot allocate") => None,
            Err(error) => {
                self.wrong.push(format!("{what}: {error}"));
                None
            }
        }
    }

    fn agreed(self) -> Tally {
        let wrong = &self.wrong;
        let first = wrong[..wrong.len().min(20)].join("\n");
        assert!(wrong.is_empty(), "{} differ:\n{first}", wrong.len());
        self
    }
}

#[test]
fn tables_and_solutions_of_random_puzzles_are_those_of_plain_code() {
    let mut tally = Tally::default();
    (0..120).for_each(|seed| tally.puzzle(seed, Features::ALL));
    let Tally { puzzles, tables, reduced, cosets, solutions, .. } = tally.agreed();
    let counts = format!("{puzzles} {tables} {reduced} {cosets} {solutions}");
    assert!(puzzles > 50 && tables > 120 && reduced > 10 && solutions > 600, "{counts}");
    assert!(cosets > 2, "{counts}");
}

#[test]
#[ignore = "a quarter of an hour: cargo test --release --test suite solve::random -- --ignored"]
fn tables_and_solutions_of_3000_random_puzzles_are_those_of_plain_code() {
    let mut tally = Tally::default();
    (1000..4000).for_each(|seed| tally.puzzle(seed, Features::ALL));
    let Tally { puzzles, solutions, .. } = tally.agreed();
    assert!(puzzles > 1200 && solutions > 15_000, "{puzzles} {solutions}");
}

#[test]
fn tables_and_solutions_of_puzzles_with_blocks_are_those_of_plain_code() {
    let mut tally = Tally::default();
    (0..80).for_each(|seed| tally.puzzle(seed, Features::BLOCKS));
    let Tally { puzzles, tables, solutions, .. } = tally.agreed();
    assert!(puzzles > 25 && tables > 60 && solutions > 200, "{puzzles} {tables} {solutions}");
}
