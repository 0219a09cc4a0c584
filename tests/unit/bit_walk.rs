use std::sync::Arc;

use super::*;
use crate::pdb::{Build, Encoding, Kind, Pattern, Pdb, build};
use crate::progress::NoProgress;
use crate::puzzle::tiles::{Board, Goal, Size};
use crate::solve::control::Alone;
use crate::solve::record::NoRecorder;
use crate::solve::tree::Tree;
use crate::solve::walk::Walk;
use crate::solve::{Optimal, Scrambler};

fn solver(goal: &Board, partitions: &[&[&[u16]]]) -> Optimal {
    let bits = |tiles: &&[u16]| -> Arc<Pdb> {
        let how = Build {
            kind: Kind::Regions,
            encoding: Encoding::Bit,
            ..Build::new(Pattern::new(goal.clone(), tiles).unwrap())
        };
        Arc::new(build(&how, &NoProgress).unwrap())
    };
    let partition = |patterns: &&[&[u16]]| patterns.iter().map(bits).collect();
    Optimal::with_partitions(goal, partitions.iter().map(partition)).unwrap()
}

/// Both walks through all iterations of a board; returns the nodes of the last.
fn compare<const V: usize>(tree: &Tree, board: &Board) -> u64 {
    let mut limit = tree.estimate(board) as i32;
    loop {
        let alone = Alone::default();
        let observers = (&NoProgress as _, &NoRecorder as _);
        let control = Control::new(observers, &alone, (limit as usize, 0));
        let root = Walk::<V, false>::new(tree, board, &control).root();
        let expected = Walk::<V, false>::resume(tree, &root, &[], &control, 0).pass(limit);
        let tables = BitTables::<V>::new(tree).expect("all are bits");
        let found = BitWalk::new(&tables, &root, limit, &control, 0).pass();
        assert_eq!(found.solution, expected.solution, "{board}, {limit}");
        assert_eq!(found.nodes, expected.nodes, "{board}, {limit}");
        assert!(!found.stopped && !expected.stopped);
        if let Some(moves) = found.solution {
            assert_eq!(moves.len(), limit as usize);
            return found.nodes;
        }
        assert_eq!(found.excess, expected.excess, "{board}, {limit}");
        assert_eq!(found.left, expected.left, "{board}, {limit}");
        limit += found.excess;
    }
}

fn compare_all<const V: usize>(goal: &Board, partitions: &[&[&[u16]]], boards: usize) {
    let solver = solver(goal, partitions);
    let boards = || Scrambler::new(goal.clone(), 7).take(boards);
    let all = || -> Vec<u64> { boards().map(|b| compare::<V>(&solver.tree, &b)).collect() };
    let before = all();
    solver.tree.arrange(&NoProgress);
    let arranged = |database: &crate::solve::database::Database| database.layout().1[0] == 1;
    // Small ones fit the caches in any order.
    let large = partitions.concat().iter().any(|tiles| tiles.len() > 3);
    assert_eq!(solver.tree.databases().any(arranged), large);
    assert_eq!(all(), before);
    assert!(before.iter().sum::<u64>() > 100, "{before:?}");
    let sharing = self::solver(goal, partitions).without_copies();
    sharing.tree.arrange(&NoProgress);
    assert!(!sharing.tree.databases().any(arranged));
}

#[test]
fn the_walk_over_bits_is_the_walk_over_any_databases() {
    let size = |rows, cols| Size::new(rows, cols).unwrap();
    let corner = Goal::First.board(size(3, 3)).unwrap();
    let rows: &[&[u16]] = &[&[1, 2, 3, 4], &[5, 6, 7, 8]];
    compare_all::<2>(&corner, &[rows], 20);
    compare_all::<4>(&corner, &[rows, &[&[1, 2, 5, 8], &[3, 4, 6, 7]]], 20);
    // Fewer views than the walk has room for.
    compare_all::<4>(&corner, &[rows], 5);
    // Tiles of no pattern: sums are as odd as they like.
    compare_all::<4>(&corner, &[&[&[1, 2, 3, 4]], &[&[4, 5, 6, 7, 8]]], 20);
    // A pattern and its mirror image make one sum, alone and beside others.
    let mirrored: &[&[u16]] = &[&[1, 2, 5], &[4, 8]];
    compare_all::<2>(&corner, &[mirrored], 20);
    compare_all::<4>(&corner, &[mirrored, rows], 20);
    compare_all::<4>(&corner, &[&[&[1, 2]], mirrored], 10);
    // All symmetries: a tile passes other cells in each.
    let centre = Board::parse("1 2 3/4 0 5/6 7 8", None).unwrap();
    compare_all::<8>(&centre, &[&[&[1, 2, 3, 4], &[5, 6, 7, 8]]], 20);
    // Boards that are not square, and the blank's goal in the middle of a side.
    let long = Goal::First.board(size(3, 4)).unwrap();
    let halves: &[&[u16]] = &[&[1, 2, 4, 5, 6], &[3, 7, 8, 9, 10, 11]];
    compare_all::<1>(&long, &[halves], 5);
    let oblong = Board::parse("1 2 0 3 4/5 6 7 8 9", None).unwrap();
    compare_all::<2>(&oblong, &[&[&[1, 2, 3, 4, 5], &[6, 7, 8, 9]]], 5);
}
