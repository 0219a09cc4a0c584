//! The optimal solver against complete searches and against published lengths.

use std::collections::HashMap;

use tilewave::pdb::{Build, Pattern, Pdb, Unobserved, build, partition};
use tilewave::puzzle::tiles::{Board, Direction, Moves, Size};
use tilewave::solve::{Attempt, MoveMachine, Optimal, default_patterns};

use super::{board, goal};

fn build_all(patterns: Vec<Pattern>) -> Vec<Pdb> {
    let databases = patterns
        .into_iter()
        .map(|p| build(&Build::new(p), &Unobserved));
    databases
        .collect::<Result<_, _>>()
        .expect("small databases can be built")
}

/// Distances of all boards by sliding.
fn distances(goal: &Board) -> HashMap<Board, usize> {
    let mut known = HashMap::from([(goal.clone(), 0)]);
    let mut level = vec![goal.clone()];
    for depth in 1.. {
        let mut next = Vec::new();
        for board in &level {
            for direction in Direction::ALL {
                if let Ok(moved) = Moves(vec![direction]).apply(board)
                    && !known.contains_key(&moved)
                {
                    known.insert(moved.clone(), depth);
                    next.push(moved);
                }
            }
        }
        if next.is_empty() {
            break;
        }
        level = next;
    }
    known
}

#[test]
fn every_board_of_2x3_and_2x4_and_many_of_3x3_are_solved_optimally() {
    for (size, name, step) in [
        ("2x3", "last", 1),
        ("3x2", "blank=3", 1),
        ("2x4", "last", 3),
        ("4x2", "blank=2", 7),
        ("3x3", "last", 101),
        ("3x3", "blank=4", 301),
    ] {
        let goal = goal(name, size.parse().unwrap());
        let pdbs = build_all(default_patterns(&goal).unwrap());
        let solver = Optimal::new(&goal, &pdbs).unwrap();
        let mut boards: Vec<(Board, usize)> = distances(&goal).into_iter().collect();
        boards.sort_by_key(|(board, distance)| (*distance, board.to_string()));
        for (board, distance) in boards.iter().step_by(step) {
            let answer = solver.solve(board, &|_: u64| false).unwrap();
            let moves = answer.moves.expect("no limit was set");
            assert_eq!(moves.len(), *distance, "{board} to {goal}");
            assert_eq!(moves.apply(board).unwrap(), goal);
        }
    }
}

#[test]
fn databases_of_one_corner_serve_all_corners() {
    let size = Size::new(3, 3).unwrap();
    let first = goal("first", size);
    let pdbs = build_all(default_patterns(&first).unwrap());
    for corner in ["blank=0", "blank=2", "blank=6", "blank=8"] {
        let goal = goal(corner, size);
        let solver = Optimal::new(&goal, &pdbs).unwrap();
        assert_eq!(solver.views(), 2, "each corner lies on one diagonal");
        let known = distances(&goal);
        let farthest = known
            .iter()
            .max_by_key(|(board, d)| (**d, board.to_string()))
            .unwrap();
        let answer = solver.solve(farthest.0, &|_: u64| false).unwrap();
        assert_eq!(answer.moves.map(|m| m.len()), Some(*farthest.1), "{corner}");
    }
    let error = Optimal::new(&goal("blank=4", size), &pdbs)
        .err()
        .unwrap()
        .to_string();
    assert!(error.contains("no rotation or reflection"), "{error}");
}

#[test]
fn known_15_puzzles_have_their_published_lengths() {
    let size = Size::new(4, 4).unwrap();
    let last = goal("last", size);
    // Databases for Korf's goal; the solver turns them for the other one.
    let first = goal("first", size);
    let pdbs = build_all(partition("6-6-3", &first).unwrap());
    let solver = Optimal::new(&last, &pdbs).unwrap();
    for (text, length) in [
        ("5 1 2 3/9 6 7 4/13 10 11 8/14 15 0 12", 11),
        ("5 1 7 3/9 2 11 4/13 6 15 8/0 10 14 12", 15),
        ("1 2 3 4/5 6 7 8/9 10 11 12/13 14 0 15", 1),
        ("1 2 3 4/5 6 7 8/9 10 11 12/13 14 15 0", 0),
    ] {
        let answer = solver.solve(&board(text), &|_: u64| false).unwrap();
        assert_eq!(answer.moves.map(|m| m.len()), Some(length), "{text}");
    }
    let odd = board("1 2 3 4/5 6 7 8/9 10 11 12/13 15 14 0");
    let error = solver.solve(&odd, &|_: u64| false).unwrap_err().to_string();
    assert!(error.contains("parity is odd"), "{error}");

    let solver = Optimal::new(&first, &pdbs).unwrap();
    let mut solved = 0;
    // The easier half keeps the test short.
    let instances = instances(include_str!("../data/korf100.txt"), size);
    for (board, length) in instances.iter().filter(|(_, length)| *length <= 50) {
        let answer = solver.solve(board, &|_: u64| false).unwrap();
        assert_eq!(answer.moves.map(|m| m.len()), Some(*length), "{board}");
        solved += 1;
    }
    assert!(solved >= 10, "{solved}");
}

/// The boards of a list and their lengths: a number, the tiles, the length, whatever else.
fn instances(text: &str, size: Size) -> Vec<(Board, usize)> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let instances = lines.map(|line| {
        let numbers: Vec<usize> = line
            .split_whitespace()
            .map(|word| word.parse().unwrap())
            .collect();
        let cells = size.cells();
        let tiles: Vec<u16> = numbers[1..=cells].iter().map(|&t| t as u16).collect();
        (Board::new(size, &tiles).unwrap(), numbers[cells + 1])
    });
    instances.collect()
}

#[test]
fn a_hard_board_is_split_and_has_the_answer_of_one_thread() {
    let size = Size::new(4, 4).unwrap();
    let first = goal("first", size);
    let pdbs = build_all(partition("5-5-5", &first).unwrap());
    let solver = Optimal::new(&first, &pdbs).unwrap();
    // The instance of the list that takes most: 66 moves.
    let instances = instances(include_str!("../data/korf100.txt"), size);
    let (board, length) = instances.iter().max_by_key(|(_, length)| *length).unwrap();
    let never = |_: u64| false;
    let Attempt::Hard(pending) = solver.attempt(board, &never).unwrap() else {
        panic!("{board} is not hard");
    };
    assert_eq!(pending.board(), board);
    let answers = [1, 2, 5].map(|threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        let pool = pool.build().unwrap();
        let answer = pool.install(|| solver.finish(pending.clone(), &never));
        let answer = answer.unwrap();
        (answer.moves.unwrap(), answer.nodes)
    });
    assert_eq!(answers[0].0.len(), *length);
    assert_eq!(&answers[0].0.apply(board).unwrap(), &first);
    assert!(answers[0].1 > 1 << 20, "{}", answers[0].1);
    assert_eq!(answers[0], answers[1]);
    assert_eq!(answers[0], answers[2]);
    // Stopped in the part that is split.
    let stop = |nodes: u64| nodes > 1 << 20;
    let answer = solver.finish(pending, &stop).unwrap();
    assert!(answer.moves.is_none());
    assert!((*length - 10..*length).contains(&answer.at_least));
    assert!(
        (1 << 20..1 << 21).contains(&answer.nodes),
        "{}",
        answer.nodes
    );
}

#[test]
#[ignore = "builds 486 MiB of databases, ten seconds: cargo test --release --test solve -- --ignored"]
fn the_easiest_of_korfs_24_puzzles_takes_81_moves() {
    let size = Size::new(5, 5).unwrap();
    let first = goal("first", size);
    let patterns = default_patterns(&first).unwrap();
    assert_eq!(patterns, partition("6-6-6-6", &first).unwrap());
    let pdbs = build_all(patterns);
    let solver = Optimal::new(&first, &pdbs).unwrap();
    assert_eq!(solver.views(), 2);
    let instances = instances(include_str!("../data/korf24.txt"), size);
    assert_eq!(instances.len(), 25);
    let (board, length) = instances.iter().min_by_key(|(_, length)| *length).unwrap();
    assert_eq!(*length, 81);
    let answer = solver.solve(board, &|_: u64| false).unwrap();
    let moves = answer.moves.expect("no limit was set");
    assert_eq!(moves.len(), *length);
    assert_eq!(moves.apply(board).unwrap(), first);
}

#[test]
fn a_stopped_search_says_what_it_excludes() {
    let size = Size::new(4, 4).unwrap();
    let first = goal("first", size);
    let pdbs = build_all(partition("5-5-5", &first).unwrap());
    let solver = Optimal::new(&first, &pdbs).unwrap();
    // At depth 80, far beyond this limit of nodes.
    let board = board("15 10 8 12/11 14 9 13/2 6 5 1/3 7 4 0");
    let answer = solver.solve(&board, &|nodes| nodes > 100_000).unwrap();
    assert!(answer.moves.is_none());
    assert!((40..80).contains(&answer.at_least), "{}", answer.at_least);
    assert!(
        (100_000..200_000).contains(&answer.nodes),
        "{}",
        answer.nodes
    );
}

#[test]
fn the_move_machine_prunes_walks_but_no_board() {
    let size = Size::new(3, 3).unwrap();
    let machine = MoveMachine::new(size, 12);
    assert!(machine.states() > 9);
    // Depth-first through the machine reaches every board of each depth, by fewer walks.
    let start = goal("last", size);
    let known = distances(&start);
    let mut frontier = vec![(start.clone(), machine.start(start.blank()))];
    let mut walks = 1;
    for depth in 1..=14 {
        let mut next = Vec::new();
        for (board, state) in &frontier {
            for (direction, state) in machine.moves(*state) {
                next.push((Moves(vec![direction]).apply(board).unwrap(), state));
            }
        }
        let reached: std::collections::HashSet<&Board> = next.iter().map(|(b, _)| b).collect();
        for (board, _) in known.iter().filter(|(_, d)| **d == depth) {
            assert!(reached.contains(board), "{board} at depth {depth}");
        }
        walks = next.len();
        frontier = next;
    }
    let boards = known.values().filter(|d| **d == 14).count();
    assert!(walks < boards * 11 / 10, "{walks} walks to {boards} boards");
}
