//! The optimal solver against complete searches and against published lengths.

use std::collections::HashMap;

use tilewave::pdb::{Build, Pattern, Pdb, Unobserved, build, partition};
use tilewave::puzzle::tiles::{Board, Direction, Moves, Size};
use tilewave::solve::{MoveMachine, Optimal, default_patterns};

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
    for line in include_str!("../data/korf100.txt")
        .lines()
        .filter(|l| !l.starts_with('#'))
    {
        let numbers: Vec<usize> = line
            .split_whitespace()
            .map(|w| w.parse().unwrap())
            .collect();
        let [_, tiles @ .., length] = &numbers[..] else {
            continue;
        };
        // The easier half keeps the test short.
        if *length > 50 {
            continue;
        }
        let tiles: Vec<u16> = tiles.iter().map(|&t| t as u16).collect();
        let board = Board::new(size, &tiles).unwrap();
        let answer = solver.solve(&board, &|_: u64| false).unwrap();
        assert_eq!(answer.moves.map(|m| m.len()), Some(*length), "{board}");
        solved += 1;
    }
    assert!(solved >= 10, "{solved}");
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
