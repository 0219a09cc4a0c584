//! The answers to Korf's 24-puzzles in docs/results: every solution is replayed, every length is the published one.

use std::collections::BTreeMap;
use std::fs;

use serde::Deserialize;
use tilewave::puzzle::{Board, Goal, MoveStyle, Moves};

use super::results;

#[derive(Deserialize)]
struct Answer {
    instance: usize,
    board: String,
    length: usize,
    moves: String,
    nodes: u64,
    seconds: f64,
}

#[test]
fn solutions_of_korfs_24_puzzles_are_as_long_as_published() {
    let published =
        include_str!("../data/korf24.txt").lines().filter(|line| !line.starts_with('#'));
    let published: BTreeMap<usize, Vec<&str>> = published
        .map(|line| {
            let words: Vec<&str> = line.split(' ').collect();
            (words[0].parse().unwrap(), words[1..].to_vec())
        })
        .collect();
    assert_eq!(published.len(), 50);
    let text = fs::read_to_string(results().join("korf24.jsonl")).unwrap();
    let answers: Vec<Answer> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(answers.len() >= 19 && answers.is_sorted_by(|a, b| a.instance < b.instance));
    let goal = Goal::First.board("5x5".parse().unwrap()).unwrap();
    for answer in answers {
        let words = &published[&answer.instance];
        assert_eq!(answer.board.replace('/', " "), words[..25].join(" "));
        let moves = Moves::parse(&answer.moves, MoveStyle::Tile).unwrap();
        assert_eq!(moves.apply(&Board::parse(&answer.board, None).unwrap()).unwrap(), goal);
        assert_eq!((moves.len(), words[25]), (answer.length, answer.length.to_string().as_str()));
        assert!(answer.nodes > 0 && answer.seconds > 0.0);
    }
}
