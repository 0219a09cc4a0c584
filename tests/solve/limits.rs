//! What is said of a search that was given up: a bound that is true, and the same on any number of threads.

use std::{
    collections::BTreeSet,
    sync::{
        Mutex,
        atomic::{AtomicU64, Ordering},
    },
};

use tilewave::{
    Resources,
    pdb::Build,
    progress::{Phase, Progress},
    pruning::PruningTable,
    puzzle::{Board, Goal, Move, PieceAt, Puzzle, Size, Turns, named},
    random::SplitMix64,
    solve::{Answer, Optimal, PuzzleSolver, Scrambler, SolveError, StateSolver, default_patterns},
    table::TableEncoding,
};

use super::mixed;

/// Stops at a number of nodes, and keeps the lengths that were searched.
pub struct UpTo {
    most: u64,
    nodes: AtomicU64,
    lengths: Mutex<BTreeSet<usize>>,
}

impl UpTo {
    pub fn new(most: u64) -> UpTo {
        UpTo { most, nodes: AtomicU64::new(0), lengths: Mutex::default() }
    }
}

impl Progress for UpTo {
    fn progress(&self, phase: Phase, nodes: u64, _: u64) {
        self.nodes.fetch_max(nodes, Ordering::Relaxed);
        if let Phase::Search(length) = phase {
            self.lengths.lock().unwrap().insert(length);
        }
    }

    fn interrupted(&self) -> bool {
        self.nodes.load(Ordering::Relaxed) >= self.most
    }
}

fn kept(puzzle: &Puzzle, pieces: &str) -> PruningTable {
    let kept = puzzle.clone().keeping(&[pieces.into()]).unwrap();
    PruningTable::build(&kept, TableEncoding::Byte, Resources::new()).unwrap()
}

/// The bound of an answer; the length where it is a solution.
fn bound<M>(answer: &Answer<Vec<M>>) -> usize {
    answer.moves.as_ref().map_or(answer.at_least, Vec::len)
}

/// With every limit, on one thread and on several, the same bound is said: one that is no more than the length.
fn is_true_and_the_same(
    name: &str,
    length: usize,
    all: u64,
    solve: &(dyn Fn(&UpTo) -> (usize, u64) + Sync),
) {
    for most in (0..).map(|power| 3u64 << (2 * power)).take_while(|&most| most < 2 * all) {
        let on = |threads| Resources::new().threads(threads).install(|| solve(&UpTo::new(most)));
        let [one, two, three] = [1, 2, 3].map(|threads| on(threads).unwrap());
        assert!(one.0 <= length, "{name}: at least {} moves, but {length} suffice", one.0);
        assert_eq!((one.0, one.0), (two.0, three.0), "{name}, {most} of {all} nodes");
        // Nobody asks for less than a node and gets hundreds.
        assert!(one.1 < 4 * most + 100 || one.1 == all, "{name}: {} nodes of {most}", one.1);
    }
}

#[test]
fn bounds_of_puzzles_that_were_given_up_are_true() {
    let mut random = SplitMix64::new(2);
    for (name, turns, pieces) in [
        ("2x2x2", Turns::Quarter, "corners:1-3"),
        ("2x2x2", Turns::Powers, "corners:1-3"),
        ("2x2x2", Turns::Directed, "corners:1-4"),
        ("skewb", Turns::Powers, "centres"),
        ("3x3x3", Turns::Quarter, "edges:1-4"),
    ] {
        let puzzle = named::parse(name).unwrap().counting(turns).unwrap();
        let solver = PuzzleSolver::new(puzzle.clone(), [kept(&puzzle, pieces)]).unwrap();
        for _ in 0..2 {
            let state = mixed(&puzzle, if name == "3x3x3" { 7 } else { 50 }, &mut random);
            let whole = solver.solve(&state).unwrap();
            let solve = |limit: &UpTo| {
                let answer = solver.solve_with(&state, limit).unwrap();
                (bound(&answer), answer.nodes)
            };
            is_true_and_the_same(name, bound(&whole), whole.nodes, &solve);
        }
    }
}

#[test]
fn bounds_of_boards_that_were_given_up_are_true() {
    let goal = Goal::Last.board(Size::new(3, 4).unwrap()).unwrap();
    let pdbs = default_patterns(&goal).unwrap().into_iter().map(|p| Build::new(p).run().unwrap());
    let solver = Optimal::new(&goal, pdbs).unwrap();
    for board in Scrambler::new(goal, 8).take(3) {
        let board: Board = board;
        let of = |answer: Answer| answer.moves.as_ref().map_or(answer.at_least, |m| m.len());
        let whole = solver.solve(&board).unwrap();
        let (length, all) = (whole.moves.as_ref().unwrap().len(), whole.nodes);
        let solve = |limit: &UpTo| {
            let answer = solver.solve_with(&board, limit).unwrap();
            (of(answer.clone()), answer.nodes)
        };
        is_true_and_the_same(&board.to_string(), length, all, &solve);
    }
}

/// Where every move changes a parity, all solutions of a state have lengths of one parity, and only those are searched.
#[test]
fn lengths_of_the_wrong_parity_are_not_searched() {
    let graph = "graph:0-1,1-2,3-4,4-5,6-7,7-8,0-3,1-4,2-5,3-6,4-7,5-8";
    let mut random = SplitMix64::new(6);
    for (name, pieces, is_even) in [
        ("2x2x2", "corners:1-3", true),
        ("3x3x3", "edges:1-4", true),
        // Every move changes the place of the free vertex.
        (graph, "1-4", true),
        // Threefold turns keep parities.
        ("skewb", "centres", false),
    ] {
        let puzzle = Puzzle::of_graph(name).map_or_else(
            || named::parse(name).unwrap().counting(Turns::Quarter).unwrap(),
            |graph| graph.unwrap(),
        );
        let solver = PuzzleSolver::new(puzzle.clone(), [kept(&puzzle, pieces)]).unwrap();
        let mut parities = BTreeSet::new();
        for more in 0..6 {
            let moves = if name == "3x3x3" { 5 } else { 24 } + more % 2;
            let state = mixed(&puzzle, moves, &mut random);
            let seen = UpTo::new(u64::MAX);
            let length = bound(&solver.solve_with(&state, &seen).unwrap());
            let lengths = seen.lengths.into_inner().unwrap();
            let same = lengths.iter().all(|other| other % 2 == length % 2);
            assert!(same || !is_even, "{name}: {lengths:?} for {length}");
            parities.extend(lengths.iter().map(|length| length % 2));
        }
        assert_eq!(parities.len(), 2, "{name}: both kinds of states have occurred");
    }
}

/// States that moves cannot reach are refused with the reason, although moves depend on several pieces or places are
/// forbidden: even if all moves were always allowed, these invariants would hold.
#[test]
fn states_that_moves_cannot_reach_are_refused_where_moves_have_conditions() {
    let free = named::parse("2x2x2").unwrap().counting(Turns::Quarter).unwrap();
    let at = |position, kind| PieceAt { set: 0, position, kind };
    let illegal = free.clone().forbidding(vec![at(0, 6)]).unwrap();
    // One move needs one piece, another one another piece.
    let moves = free.moves().iter().zip(0..).map(|(one, number)| Move {
        requires: (number < 2).then(|| at(6 - number, 6 - number)),
        ..one.clone()
    });
    let sets = free.sets().to_vec();
    let needing = Puzzle::new("needing", sets, moves.collect()).unwrap();
    // Where some places are forbidden, all states are known; not where moves need several pieces.
    for (puzzle, known) in [(illegal, Some(Ok(()))), (needing, None)] {
        let solver = PuzzleSolver::new(puzzle.clone(), [kept(&free, "corners:1-2")]).unwrap();
        let mut twisted = puzzle.solved();
        twisted.0[0][1].turn = 1;
        let why = solver.reaches(&twisted).unwrap().unwrap_err().to_string();
        assert!(why.contains("sum of the orientations in set 'corners'"), "{why}");
        match solver.solve(&twisted) {
            Err(SolveError::Puzzle(error)) => assert!(error.to_string().contains(&why), "{error}"),
            other => panic!("{other:?}"),
        }
        // What is not known to be reachable is solved if it is.
        let moved = |one| puzzle.moved(&puzzle.solved(), one);
        let near = (2..puzzle.moves().len()).rev().find_map(moved).unwrap();
        assert_eq!(solver.reaches(&near), known);
        assert_eq!(bound(&solver.solve(&near).unwrap()), 1);
    }
    let forbidden = free.clone().forbidding(vec![at(0, 1)]).unwrap();
    let mut state = forbidden.solved();
    state.0[0].swap(0, 1);
    assert!(forbidden.reaches(&state).unwrap().is_err());
}
