//! Depths of some of a puzzle's states, against plain searches of the whole puzzle.

use tilewave::{
    NoProgress, Resources,
    progress::StopWhen,
    pruning::PruningTable,
    puzzle::{Arrangement, Puzzle, PuzzleSpec, Searched, Variant},
    solve::{PuzzleSolver, StateSubset},
    table::TableEncoding,
};

use crate::plain::{HashMap, of_puzzle};

/// Positions of sets whose pieces are where they belong, and turned as they belong.
type Fixed = &'static [(usize, &'static [usize])];

fn listed(word: &str, variant: Variant) -> Puzzle {
    let spec = PuzzleSpec { variant, ..PuzzleSpec::of(word) };
    match spec.puzzle().unwrap() {
        Searched::Numbered(space) => Puzzle::of_space(&space).unwrap(),
        Searched::Listed(puzzle) => puzzle,
    }
}

fn is_fixed(puzzle: &Puzzle, state: &Arrangement, fixed: Fixed) -> bool {
    let solved = puzzle.solved();
    let mut all = fixed.iter().flat_map(|(set, at)| at.iter().map(|&at| (*set, at)));
    all.all(|(set, at)| state.0[set][at] == solved.0[set][at])
}

/// The mask in the notation of states: sets by name, `?` for what is open.
fn mask(puzzle: &Puzzle, fixed: Fixed) -> String {
    let solved = puzzle.solved();
    let set = |&(set, at): &(usize, &[usize])| {
        let row = &solved.0[set];
        let first = usize::from(!puzzle.name().starts_with("graph"));
        let number = |i: usize| match at.contains(&i) {
            true => (usize::from(row[i].kind) + first).to_string(),
            false => "?".into(),
        };
        let numbers: Vec<String> = (0..row.len()).map(number).collect();
        let turn = |i: usize| if at.contains(&i) { row[i].turn.to_string() } else { "?".into() };
        let turns: Vec<String> = (0..row.len()).map(turn).collect();
        let turning = puzzle.sets()[set].orientations > 1;
        let turns = if turning { format!("/{}", turns.join(" ")) } else { String::new() };
        format!("{} {}{turns}", puzzle.sets()[set].name, numbers.join(" "))
    };
    fixed.iter().map(set).collect::<Vec<_>>().join("; ")
}

/// The depths of all states from some of them, by plain code.
fn depths(puzzle: &Puzzle, goals: Vec<Arrangement>) -> HashMap<Arrangement, usize> {
    of_puzzle(puzzle, goals, usize::MAX).0
}

/// Blocks that grow, a phase, several goals, goals that are all states of a projection, and one that is the puzzle's own.
#[test]
fn depths_of_some_states_are_those_of_a_plain_search() {
    let cases: &[(&str, &[&str], Fixed, Fixed)] = &[
        ("2x2x2", &["U", "R"], &[(0, &[0, 1])], &[(0, &[0, 1, 2, 3, 4, 5, 6])]),
        ("2x2x2", &["U", "R"], &[(0, &[1])], &[(0, &[0, 1, 4])]),
        ("pyraminx", &[], &[(1, &[0, 1])], &[(1, &[0, 1, 2, 3])]),
        ("topspin:7,4", &[], &[(0, &[0, 1])], &[(0, &[0, 1, 2, 3])]),
        ("graph:0-1,1-2,2-3,3-0,0-2", &[], &[(0, &[1])], &[(0, &[0, 1, 2, 3])]),
    ];
    for &(word, moves, from, goals) in cases {
        let moves: Vec<String> = moves.iter().map(ToString::to_string).collect();
        let variant = Variant { moves, ..Variant::default() };
        let whole = listed(word, variant.clone());
        let all: Vec<Arrangement> = depths(&whole, vec![whole.solved()]).into_keys().collect();
        let fixed = |fixed: Fixed| -> Vec<Arrangement> {
            all.iter().filter(|state| is_fixed(&whole, state, fixed)).cloned().collect()
        };
        let solved = fixed(goals);
        assert!(solved.len() > usize::from(goals.len() > 1) && solved.len() < all.len(), "{word}");
        let truth = depths(&whole, solved);
        let mut expected: Vec<u64> = Vec::new();
        for state in fixed(from) {
            let depth = truth[&state];
            expected.resize(expected.len().max(depth + 1), 0);
            expected[depth] += 1;
        }
        // As goals, and as the puzzle's own solved state where that is the only one.
        let goals = vec![mask(&whole, goals)];
        let puzzle = listed(word, Variant { goals, ..variant });
        let subset = StateSubset::of(&puzzle, &whole, &[mask(&whole, from)]).unwrap();
        let table = PruningTable::build(&puzzle, TableEncoding::Byte, Resources::new()).unwrap();
        let solver = PuzzleSolver::new(puzzle.clone(), [table]).unwrap();
        let found = subset.depths(&solver, &NoProgress).unwrap();
        // Each state of a projection stands for as many states.
        let each = expected.iter().sum::<u64>() / found.total();
        let counts: Vec<u64> = found.counts.iter().map(|count| count * each).collect();
        assert_eq!(counts, expected, "{word} {from:?}");
        assert!(expected.len() > 3, "{word}: {expected:?}");
        assert_eq!((found.complete, found.states.clone()), (true, Some(found.total().into())));
        assert!(found.total() <= subset.states());
        assert!(subset.classes() <= subset.states());
        // Checksums are those of the states: symmetries do not change them.
        assert_eq!(found.checksums.len(), counts.len());
        let last = found.last.listed();
        assert_eq!(last.len() as u64, *found.counts.last().unwrap());
        assert!(last.iter().all(|state| solver.solve(state).unwrap().at_least + 1 == counts.len()));
        let page = tilewave::report::Report::new(&found).html().unwrap();
        assert!(page.contains("<title>Some states of"), "{word}");
        let stopped = subset.depths(&solver, &StopWhen(|| true));
        assert!(stopped.unwrap_err().to_string().contains("interrupted"), "{word}");
    }
}

/// All states of a puzzle are some of them: depths and checksums are those of the search.
#[test]
fn all_states_have_the_depths_and_checksums_of_a_search() {
    let whole = listed("topspin:6,4", Variant::default());
    let subset = StateSubset::of(&whole, &whole, &[mask(&whole, &[(0, &[])])]).unwrap();
    let search = tilewave::frontier::FrontierSearch::new(whole.clone()).run().unwrap();
    let table = PruningTable::build(&whole, TableEncoding::Byte, Resources::new()).unwrap();
    let found = subset.depths(&PuzzleSolver::new(whole, [table]).unwrap(), &NoProgress).unwrap();
    // One of each class is solved.
    assert_eq!(search.reduced().unwrap().iter().sum::<u64>(), subset.classes());
    assert_eq!((found.counts, found.checksums), (search.counts, search.checksums));
}

/// Where the moves do not tell which states they reach, the table does: of those that exchange two of four corners, the
/// group of U and R, which is that of the projective line over five elements, has one in three.
#[test]
fn states_that_moves_do_not_reach_are_none() {
    let moves = vec!["U".into(), "R".into()];
    let variant = Variant { moves, ..Variant::default() };
    let whole = listed("2x2x2", variant.clone());
    let is_moved = |&at: &usize| {
        let moved = (0..whole.moves().len()).map(|one| whole.moved(&whole.solved(), one).unwrap());
        moved.map(|state| state.0[0][at]).any(|piece| piece != whole.solved().0[0][at])
    };
    let moved: Vec<usize> = (0..7).filter(is_moved).collect();
    assert_eq!(moved.len(), 6);
    let text = |pieces: &[(usize, usize)]| {
        let piece = |at| pieces.iter().find(|(there, _)| *there == at);
        let numbers =
            (0..7).map(|at| piece(at).map_or("?".into(), |(_, own)| (own + 1).to_string()));
        format!("corners {}", numbers.collect::<Vec<_>>().join(" "))
    };
    let mut reached = 0;
    for &last in &moved[3..] {
        let (a, b, c) = (moved[0], moved[1], moved[2]);
        let goals = vec![text(&[(a, a), (b, b), (c, c), (last, last)])];
        let puzzle = listed("2x2x2", Variant { goals, ..variant.clone() });
        let swapped = text(&[(a, b), (b, a), (c, c), (last, last)]);
        let table = PruningTable::build(&puzzle, TableEncoding::Byte, Resources::new()).unwrap();
        let solver = PuzzleSolver::new(puzzle.clone(), [table]).unwrap();
        let subset = StateSubset::of(&puzzle, &whole, &[swapped]).map_err(tilewave::Error::from);
        match subset.and_then(|subset| subset.depths(&solver, &NoProgress)) {
            Ok(found) => reached += u64::from(found.total() > 0),
            Err(error) => assert!(error.to_string().contains("no moves of"), "{error}"),
        }
    }
    assert_eq!(reached, 1);
}

/// The engine that the outcome names searches no levels.
#[test]
fn a_search_does_not_run_on_the_solver() {
    let goal = tilewave::Board::parse("1 2/3 0", None).unwrap();
    let search = tilewave::Search::new(goal).engine(tilewave::search::Engine::Solver);
    let error = search.run().unwrap_err().to_string();
    assert!(error.contains("engine solver solves some states"), "{error}");
}
