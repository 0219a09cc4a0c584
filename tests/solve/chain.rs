//! Solutions piece after piece.

use tilewave::{
    NoProgress, Resources,
    internals::ChainSolver,
    progress::StopWhen,
    puzzle::{Puzzle, PuzzleSpec, Variant},
};

fn puzzle(word: &str, pieces: &[&str], same: &[&str]) -> Puzzle {
    let words = |of: &[&str]| of.iter().map(|&word| word.into()).collect();
    let variant = Variant { pieces: words(pieces), same: words(same), ..Variant::default() };
    PuzzleSpec { variant, ..PuzzleSpec::of(word) }.listed().unwrap()
}

/// Random states of puzzles of every kind, with pieces that look alike, orientations that are not seen, and moves that depend on
/// a shape or on a blank; each solution is made move by move, and is as long as can be expected.
#[test]
fn random_states_of_every_puzzle_are_solved() {
    for (word, pieces, same, most) in [
        ("2x2x2", &[][..], &[][..], 40),
        ("3x3x3", &[], &[], 90),
        ("3x3x3", &["edges:1-4", "corners"], &[], 70),
        ("3x3x3", &[], &["edges:1-6", "corners:3-4"], 90),
        ("4x4x4", &[], &[], 260),
        ("pyraminx", &[], &[], 40),
        ("kilominx", &[], &[], 90),
        ("megaminx", &[], &[], 420),
        ("fto", &[], &[], 180),
        ("rex", &[], &[], 170),
        ("curvy-copter", &[], &[], 130),
        ("square-1", &[], &[], 300),
        ("topspin:12,4", &[], &[], 220),
        ("graph:0-1,1-2,2-3,3-4,4-5,5-0,0-6,6-3", &[], &[], 400),
        ("3x3", &[], &["1-4", "5-8"], 300),
    ] {
        let puzzle = puzzle(word, pieces, same);
        let solver = ChainSolver::new(&puzzle).unwrap_or_else(|| panic!("{puzzle}"));
        for state in puzzle.scrambles(3).unwrap().take(3) {
            let answer = solver.solve_with(&state, &NoProgress).unwrap();
            let moves = answer.moves.unwrap();
            let mut at = state.clone();
            for name in &moves {
                let one = puzzle.moves().iter().position(|one| one.name == *name).unwrap();
                at = puzzle.moved(&at, one).unwrap_or_else(|| panic!("{puzzle}: {name}"));
            }
            assert!(puzzle.is_goal(&at), "{puzzle}");
            assert!(moves.len() <= most, "{puzzle}: {}", moves.len());
            let alone = Resources::new()
                .threads(1)
                .install(|| solver.solve_with(&state, &NoProgress))
                .unwrap();
            assert_eq!(alone.unwrap().moves.unwrap(), moves, "{puzzle}");
        }
        let solved = solver.solve_with(&puzzle.solved(), &NoProgress).unwrap();
        assert_eq!((solved.moves.unwrap().len(), solved.at_least), (0, 0), "{puzzle}");
    }
}

/// Puzzles whose moves cannot be undone, or which have several solved states, have no such solver; an observer stops one.
#[test]
fn what_has_no_such_solution_is_told() {
    let cube = puzzle("3x3x3", &[], &[]);
    let solver = ChainSolver::new(&cube).unwrap();
    let (state, _) = cube.read("R U F").unwrap();
    let stopped = solver.solve_with(&state, &StopWhen(|| true)).unwrap();
    assert_eq!((stopped.moves, stopped.at_least), (None, 1));
    let two = Variant { goals: vec!["U U'".into(), "R".into()], ..Variant::default() };
    let two = PuzzleSpec { variant: two, ..PuzzleSpec::of("2x2x2") }.listed().unwrap();
    assert!(ChainSolver::new(&two).is_none());
    let one_way = cube.only(|name| ["R", "U"].contains(&name)).unwrap();
    assert!(ChainSolver::new(&one_way).is_none());
}
