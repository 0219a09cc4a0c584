//! Random boards: reproducible, solvable, uniform.

use std::collections::HashMap;

use tilewave::puzzle::{Board, Coordinates, MoveStyle, Moves, PuzzleSpec};
use tilewave::solve::Scrambler;

use super::goal;
use crate::cli::stdout as succeeds;

#[test]
fn a_seed_always_gives_the_same_boards() {
    // Computed once; a change would break what users have written down.
    let goal = goal("last", "3x4".parse().unwrap());
    let boards: Vec<String> = Scrambler::new(goal, 42).take(3).map(|b| b.to_string()).collect();
    assert_eq!(
        boards,
        ["10 7 8 11/4 0 5 3/1 9 6 2", "5 2 10 1/8 7 4 3/0 6 9 11", "11 0 7 5/8 2 4 6/1 3 9 10"]
    );
}

#[test]
fn boards_can_reach_the_goal() {
    for (size, seed) in [("2x2", 1), ("3x3", 2), ("3x5", 3), ("10x10", 4)] {
        for name in ["first", "last", "blank=1"] {
            let goal = goal(name, size.parse().unwrap());
            let frame = Coordinates::new(goal.clone());
            for board in Scrambler::new(goal, seed).take(100) {
                assert!(frame.solvable(&board).unwrap(), "{board}");
            }
        }
    }
}

#[test]
fn all_solvable_boards_are_equally_likely() {
    let goal = goal("blank=1", "2x3".parse().unwrap());
    let mut counts: HashMap<Board, u32> = HashMap::new();
    let draws = 360 * 100;
    for board in Scrambler::new(goal, 5).take(draws) {
        *counts.entry(board).or_default() += 1;
    }
    assert_eq!(counts.len(), 360);
    let squares = counts.values().map(|&c| (f64::from(c) - 100.0).powi(2) / 100.0);
    let chi: f64 = squares.sum();
    // 359 degrees of freedom: mean 359, standard deviation 27; five of them to each side.
    assert!((225.0..495.0).contains(&chi), "{chi}");
}

/// Moves lead to the states that the same seed gives, and are as few as they can be where that is quick.
#[test]
fn moves_lead_to_the_states_of_the_same_seed() {
    let lines = |line: &[&str]| -> Vec<String> {
        let scramble = ["scramble", "--seed", "3", "-n", "4", "-q"];
        succeeds(&[&scramble[..], line].concat()).lines().map(String::from).collect()
    };
    for (name, how) in [
        ("2x2x2", "--moves"),
        ("2x2x2", "--moves=optimal"),
        ("skewb", "--moves"),
        ("pyraminx", "--moves"),
        ("dino", "--moves"),
        ("topspin:7,3", "--moves"),
        ("3x3x3", "--moves"),
    ] {
        let puzzle = PuzzleSpec::of(name).listed().unwrap();
        for (state, moves) in lines(&[name]).iter().zip(lines(&[name, how])) {
            let (read, made) = (puzzle.read(state).unwrap().0, puzzle.read(&moves).unwrap().0);
            assert_eq!(read, made, "{name}: {state}, {moves}");
            let most = match name {
                "3x3x3" => 31,
                "topspin:7,3" => 21,
                _ => 14,
            };
            assert!(moves.split(' ').count() <= most, "{name}: {moves}");
        }
    }
    for (size, how, most) in
        [("3x3", "--moves", 31), ("4x4", "--moves", 80), ("6x6", "--moves", 800)]
    {
        let goal = goal("last", size.parse().unwrap());
        for (state, moves) in lines(&[size]).iter().zip(lines(&[size, how])) {
            let moves = Moves::parse(&moves, MoveStyle::Tile).unwrap();
            assert_eq!(moves.apply(&goal).unwrap().to_string(), *state, "{size}: {moves:?}");
            assert!(moves.len() <= most, "{size}: {moves:?}");
        }
    }
}
