//! Databases in which every move counts, against naive searches, and in searches for solutions.

use tilewave::NoProgress;
use tilewave::pdb::{Build, Encoding, Kind, Pattern, Pdb, PdbError, rebuild, spot_check};
use tilewave::puzzle::{Board, Coordinates};
use tilewave::random::SplitMix64;
use tilewave::solve::{Optimal, SolveError};

use super::{Random, beside, database, exports::placements, goal};
use crate::plain::{HashMap, reached};

/// The depths of all states (blank's cell, tiles' cells) from the goal's own.
fn naive(goal: &Board, tiles: &[u16]) -> HashMap<Vec<u8>, usize> {
    let home = |tile: u16| goal.tiles().iter().position(|&t| t == tile).unwrap() as u8;
    let start: Vec<u8> = [0].iter().chain(tiles).map(|&tile| home(tile)).collect();
    reached(start, |state| {
        let blank = usize::from(state[0]);
        let after = |cell: usize| {
            let moved = state.iter().map(|&at| match usize::from(at) {
                here if here == blank => cell as u8,
                here if here == cell => blank as u8,
                _ => at,
            });
            moved.collect::<Vec<u8>>()
        };
        beside(goal.size(), blank).into_iter().map(after).collect::<Vec<_>>()
    })
}

#[test]
fn every_entry_is_the_depth_of_a_naive_search() {
    let cases: [(&str, &str, &[u16]); 5] = [
        ("2x3", "last", &[1, 2, 3, 4, 5]),
        ("2x4", "first", &[1, 2, 4, 6, 7]),
        ("3x3", "last", &[1, 3, 4, 6, 7, 8]),
        ("3x3", "blank=4", &[1, 2, 3, 4, 5, 6, 8]),
        ("3x4", "last", &[1, 4, 7, 10, 11]),
    ];
    for (size, text, tiles) in cases {
        let goal = goal(size, text);
        let truth = naive(&goal, tiles);
        let pattern = Pattern::new(goal.clone(), tiles).unwrap();
        let pdb = Build::new(pattern).kind(Kind::AllMoves).threads(2).run().unwrap();
        assert_eq!((pdb.kind(), pdb.encoding()), (Kind::AllMoves, Encoding::Byte));
        assert_eq!((pdb.pattern().tiles()[0], pdb.histogram()[0]), (0, 1));
        assert_eq!(pdb.histogram().iter().sum::<u64>(), truth.len() as u64);
        let mut reached = 0;
        let all = placements(goal.size().cells(), tiles.len() + 1);
        for (entry, cells) in (0..).zip(&all) {
            let depth = truth.get(cells).map(|&depth| depth as u8);
            assert_eq!(pdb.lookup(cells, cells[0]), depth, "{size} {cells:?}");
            assert_eq!(pdb.entry(cells, 0), entry);
            reached += u64::from(depth.is_some());
        }
        assert_eq!(reached, truth.len() as u64, "{size}: all states are entries");
        spot_check(&pdb, 20, 1, &NoProgress).unwrap();
        rebuild(&pdb, &Build::new(pdb.pattern().clone()), &NoProgress).unwrap();
    }
}

#[test]
fn what_does_not_go_together_is_refused() {
    let goal = goal("3x3", "last");
    let pdb = |tiles: &[u16]| database(&goal, tiles, Kind::AllMoves);
    let pair = [pdb(&[1, 2, 3, 4, 5]), pdb(&[4, 5, 6, 7, 8])];
    let error = tilewave::pdb::Evaluator::new(&pair, &goal).err().unwrap();
    assert!(matches!(error, PdbError::Unsuitable(_)), "{error}");
    let error = Optimal::new(&goal, pair).err().unwrap();
    assert!(matches!(error, SolveError::Pdb(PdbError::Unsuitable(_))), "{error}");
    let pattern = Pattern::new(goal.clone(), &[1, 2, 3, 4, 5]).unwrap();
    let how = Build::new(pattern).kind(Kind::AllMoves).encoding(Encoding::Bit);
    assert!(matches!(how.run(), Err(PdbError::Unsuitable(_))));
    let eight = Pattern::new(goal, &[1, 2, 3, 4, 5, 6, 7, 8]).unwrap();
    let error = Build::new(eight).kind(Kind::AllMoves).run().unwrap_err();
    assert!(matches!(error, PdbError::Pattern(_)), "{error}");
}

/// Searches with them, alone, several, and beside additive ones; through symmetries, too.
#[test]
fn solutions_are_as_short_as_with_additive_databases() {
    let mut random = Random(SplitMix64::new(5));
    for (size, text, first, second) in [
        ("3x3", "last", &[1u16, 2, 3, 4, 7][..], &[3u16, 5, 6, 7, 8][..]),
        ("3x3", "first", &[1, 2, 3, 4, 5, 6, 7], &[1, 3, 5, 6, 8]),
        ("2x4", "first", &[1, 2, 3, 4, 5], &[3, 4, 5, 6, 7]),
        ("3x4", "last", &[1, 2, 3, 4, 5], &[7, 8, 9, 10, 11]),
    ] {
        let goal = goal(size, text);
        let [a, b] = [first, second].map(|tiles| database(&goal, tiles, Kind::AllMoves));
        let [a, b] = [a, b].map(std::sync::Arc::new);
        let tiles: Vec<u16> = (1..goal.size().cells() as u16).collect();
        let additive = tiles.chunks(4).map(|tiles| database(&goal, tiles, Kind::Minimum));
        let additive: Vec<_> = additive.map(std::sync::Arc::new).collect();
        let truth = Optimal::new(&goal, additive.clone()).unwrap();
        let alone = Optimal::new(&goal, [a.clone()]).unwrap();
        let both = [vec![a.clone()], vec![b.clone()]];
        let both = Optimal::with_partitions(&goal, both).unwrap();
        let all = Optimal::with_partitions(&goal, [additive, vec![a.clone()], vec![b.clone()]]);
        let all = all.unwrap();
        let frame = Coordinates::new(goal.clone());
        let boards = if size == "3x4" { 5 } else { 30 };
        let mut higher = 0;
        for _ in 0..boards {
            let mut board = random.board(goal.size());
            while frame.encode_solvable(&board).is_err() {
                board = random.board(goal.size());
            }
            let shortest = truth.solve(&board).unwrap().moves.unwrap();
            for solver in [&alone, &both, &all] {
                let moves = solver.solve(&board).unwrap().moves.unwrap();
                assert_eq!(moves.len(), shortest.len(), "{board}");
                assert_eq!(moves.apply(&board).unwrap(), goal);
            }
            let value = |pdb: &Pdb| usize::from(pdb.value(&board).unwrap().unwrap());
            let estimates = [&alone, &both, &all].map(|solver| solver.estimate(&board).unwrap());
            assert!(estimates[0] >= value(&a) && estimates[0] <= shortest.len());
            assert!(estimates[1] >= estimates[0].max(value(&b)));
            assert_eq!(estimates[2], estimates[1].max(truth.estimate(&board).unwrap()));
            higher += usize::from(estimates[2] > estimates[1]);
        }
        assert!(higher < boards, "the largest value is not always an additive one");
    }
}
