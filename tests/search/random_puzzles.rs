//! Random small puzzles of every kind against a search in plain code: states at each depth, tables and shortest
//! solutions.

use std::collections::BTreeSet;
use std::time::Instant;

use tilewave::frontier::FrontierSearch;
use tilewave::internals::{MemoryDirectory, Storage};
use tilewave::progress::StopWhen;
use tilewave::pruning::PruningTable;
use tilewave::puzzle::PuzzleErrorKind;
use tilewave::puzzle::{Arrangement, Puzzle};
use tilewave::search::disk::{Directories, Disk};
use tilewave::search::{LastStates, SearchError};
use tilewave::solve::{PuzzleSolver, StateSolver};
use tilewave::table::TableEncoding;
use tilewave::{Kernel, Resources};

use crate::program::PATIENCE;
use crate::random_puzzle::{Drawn, Features, State, arrangement};

/// Most states of a puzzle whose tables and solutions are compared; of others, the first depths are.
const STATES: usize = 3000;
/// Most states of a puzzle whose classes up to symmetry are compared.
const CLASSES: usize = 400;
/// What was compared, and what differs.
#[derive(Default)]
struct Comparison {
    puzzles: usize,
    /// Searches whose states up to symmetry were compared, those with symmetries, and those that claimed nothing.
    classes: [usize; 3],
    tables: usize,
    solutions: usize,
    wrong: Vec<String>,
}

impl Comparison {
    fn agreed(self) -> Comparison {
        let wrong = &self.wrong;
        let first = wrong[..wrong.len().min(20)].join("\n");
        assert!(wrong.is_empty(), "{} differ:\n{first}", wrong.len());
        self
    }

    fn hold<T: PartialEq + std::fmt::Debug>(&mut self, what: String, found: T, expected: T) {
        if found != expected {
            self.wrong.push(format!("{what}: {found:?} is found, {expected:?} expected"));
        }
    }

    /// Compares the states at each depth, of many sets only the first; with few sets, also tables and solutions.
    fn puzzle(&mut self, seed: u64, with: Features) {
        let drawn = Drawn::new(seed, with);
        let (distances, mut complete) = drawn.distances(STATES);
        let mut counts = vec![0; distances.values().max().unwrap() + 1];
        distances.values().for_each(|&depth| counts[depth] += 1);
        if with.many_sets {
            // Wrong moves could lead to more states than any memory holds.
            counts.truncate(6);
            complete = false;
        }
        let name = format!("puzzle {seed}");
        let puzzle = match drawn.puzzle(&name) {
            Ok(puzzle) => puzzle,
            Err(error) if error.kind() == PuzzleErrorKind::Undecided => return,
            Err(error)
                if error.to_string().starts_with("two moves are called")
                    && drawn.has_generator_twice() =>
            {
                return;
            }
            // Refused where no move does anything.
            Err(error) => return self.hold(format!("{name}, {error}"), counts, vec![1]),
        };
        let search =
            FrontierSearch::new(puzzle.clone()).max_depth((!complete).then_some(counts.len() - 1));
        let kernels = Kernel::ALL.into_iter().filter(|kernel| kernel.is_supported());
        let each = kernels.map(|kernel| (false, Some(kernel)));
        for (symmetry, kernel) in each.chain([(true, None)]) {
            match search.clone().symmetry(symmetry).kernel(kernel).run() {
                Ok(found) => {
                    let what = format!("{name}, {symmetry}, {kernel:?}");
                    self.hold(what, found.counts.clone(), counts.clone());
                    let few = complete && distances.len() <= CLASSES;
                    let all = found.lists.as_ref().and_then(|lists| lists.all_symmetries.clone());
                    if let (Some(all), true) = (all, few) {
                        let Some((classes, order)) = drawn.classes(&distances) else { continue };
                        self.hold(
                            format!("{name}, symmetries, {}", puzzle.to_json()),
                            all,
                            order.into(),
                        );
                        let Some(reduced) = found.reduced().map(<[u64]>::to_vec) else {
                            self.classes[2] += usize::from(symmetry);
                            continue;
                        };
                        self.classes[0] += 1;
                        self.classes[1] += usize::from(classes != counts);
                        let what = format!("{name}, up to symmetry, {}", puzzle.to_json());
                        self.hold(what, reduced, classes);
                    } else if symmetry && few {
                        self.classes[2] += 1;
                    }
                }
                Err(error) => {
                    return assert!(error.to_string().contains("depends on a piece"), "{error}");
                }
            }
        }
        self.puzzles += 1;
        // As JSON, a puzzle has its moves, pieces and goals; what is not a move is left out.
        let json = puzzle.to_json();
        let again = Puzzle::of_json(&name, &json).map(|again| again.to_json());
        self.hold(format!("{name}, JSON"), again, Some(json));
        if !complete {
            return;
        }
        if let Some(states) = puzzle.states() {
            let expected = distances.len().to_string();
            self.hold(format!("{name}, states"), states.to_string(), expected);
        }
        let mut some: Vec<&State> = distances.keys().collect();
        some.sort();
        let some = some
            .iter()
            .step_by(some.len().div_ceil(9))
            .map(|&state| (state, arrangement(state), drawn.way_back(state)));
        let some: Vec<_> = some.collect();
        let table = |of: &Puzzle| PruningTable::build(of, TableEncoding::Byte, Resources::new());
        let Ok(whole) = table(&puzzle) else { return };
        self.tables += 1;
        for (state, arranged, back) in &some {
            self.hold(format!("{name}, table, {state:?}"), whole.depth(arranged).unwrap(), *back);
        }
        // By a table of each set, too, where there are several.
        let each = puzzle.sets().iter().map(|set| format!("={}", set.name));
        let each = each.filter_map(|set| puzzle.clone().keeping(&[set]).ok());
        let each: Vec<_> = each.map(|set| table(&set).unwrap()).collect();
        for tables in [vec![whole], each] {
            let Ok(solver) = PuzzleSolver::new(puzzle.clone(), tables) else { continue };
            for (state, arranged, back) in some.iter().filter(|(_, _, back)| back.is_some()) {
                // A solution that is never found is a wrong one; a busy machine takes seconds for others.
                let begun = Instant::now();
                let stop = StopWhen(|| begun.elapsed() > PATIENCE);
                let found = solver.solve_with(arranged, &stop);
                let found = found.map(|answer| answer.moves.map(|m| m.len()));
                let found = found.map_err(|error| error.to_string());
                self.hold(format!("{name}, solution, {state:?}"), found, Ok(*back));
                self.solutions += 1;
            }
        }
    }
}

/// Puzzles whose states are a product, by bitmap, with and without symmetries.
#[test]
fn random_products_are_searched_by_bitmap_as_in_plain_code() {
    let mut comparison = Comparison::default();
    for seed in 0..3000 {
        let drawn = Drawn::new(seed, Features::ALL);
        let name = format!("puzzle {seed}");
        let Ok(puzzle) = drawn.puzzle(&name) else { continue };
        if puzzle.states().is_none_or(|states| states > STATES.into()) {
            continue;
        }
        for symmetry in [false, true] {
            let search = FrontierSearch::new(puzzle.clone()).bitmaps(true).symmetry(symmetry);
            let directory: Box<dyn Storage> = Box::<MemoryDirectory>::default();
            let disk = Disk::new(Directories::new(vec![directory]));
            let found = match disk.run(&search.keep_last(usize::MAX)) {
                Err(tilewave::Error::Search(SearchError::Bitmaps(_))) => break,
                found => found.unwrap(),
            };
            let (distances, _) = drawn.distances(STATES);
            let mut counts = vec![0; distances.values().max().unwrap() + 1];
            distances.values().for_each(|&depth| counts[depth] += 1);
            let last = distances.iter().filter(|(_, depth)| **depth + 1 == counts.len());
            let last: BTreeSet<Arrangement> = last.map(|(state, _)| arrangement(state)).collect();
            comparison.puzzles += 1;
            comparison.hold(name.clone(), found.counts.clone(), counts.clone());
            let LastStates::Listed(listed) = &found.last else { panic!("{name} has numbers") };
            comparison.hold(format!("{name}, last"), listed.iter().cloned().collect(), last);
            let few = distances.len() <= CLASSES;
            let Some(reduced) = found.reduced().filter(|_| few && symmetry) else { continue };
            let Some((classes, _)) = drawn.classes(&distances) else { continue };
            comparison.classes[0] += 1;
            comparison.classes[1] += usize::from(classes != counts);
            comparison.hold(format!("{name}, up to symmetry"), reduced.to_vec(), classes);
        }
    }
    let Comparison { puzzles, classes, .. } = comparison.agreed();
    assert!(puzzles > 40 && classes[1] > 10, "{puzzles} {classes:?}");
}

#[test]
fn random_puzzles_are_as_in_plain_code() {
    let mut comparison = Comparison::default();
    (0..250).for_each(|seed| comparison.puzzle(seed, Features::ALL));
    let Comparison { puzzles, tables, solutions, classes, .. } = comparison.agreed();
    assert!(puzzles > 150 && tables > 100 && solutions > 1000, "{puzzles} {tables} {solutions}");
    assert!(classes[1] > 20 && classes[0] > classes[2], "{classes:?}");
}

#[test]
#[ignore = "half an hour: cargo test --release --test suite search::random_puzzles -- --ignored"]
fn three_thousand_random_puzzles_are_as_in_plain_code() {
    let mut comparison = Comparison::default();
    // Some are refused: several goals where nothing tells which of them are equal, and moves that depend on equal pieces.
    (250..5500).for_each(|seed| comparison.puzzle(seed, Features::ALL));
    let Comparison { puzzles, classes, .. } = comparison.agreed();
    assert!(puzzles > 3000 && classes[1] > 450, "{puzzles} {classes:?}");
}

#[test]
fn random_puzzles_of_many_sets_are_as_in_plain_code() {
    let mut comparison = Comparison::default();
    let many = Features { many_sets: true, ..Features::ALL };
    (0..15).for_each(|seed| comparison.puzzle(seed, many));
    let Comparison { puzzles, .. } = comparison.agreed();
    assert!(puzzles > 9, "{puzzles}");
}

#[test]
fn random_puzzles_with_blocks_are_as_in_plain_code() {
    let mut comparison = Comparison::default();
    (0..120).for_each(|seed| comparison.puzzle(seed, Features::BLOCKS));
    let many = Features { many_sets: true, ..Features::BLOCKS };
    (0..5).for_each(|seed| comparison.puzzle(seed, many));
    let Comparison { puzzles, tables, solutions, .. } = comparison.agreed();
    assert!(puzzles > 60 && tables > 40 && solutions > 300, "{puzzles} {tables} {solutions}");
}
