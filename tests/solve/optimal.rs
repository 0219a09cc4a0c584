//! The optimal solver against complete searches and against published lengths.

use std::sync::Arc;

use tilewave::internals::placement;
use tilewave::pdb::{Build, Encoding, Kind, Pattern, Pdb, partition};
use tilewave::progress::NoProgress;
use tilewave::puzzle::{Board, Moves, Size};
use tilewave::random::SplitMix64;
use tilewave::solve::{
    Attempt, MovePruner, Optimal, Scrambler, StateSolver, SymmetricView, default_patterns,
};

use super::limits::UpTo;
use super::{goal, instances, korf, walked};
use crate::plain::of_boards;

fn build_all(patterns: Vec<Pattern>) -> Vec<Arc<Pdb>> {
    let databases = patterns.into_iter().map(|p| Build::new(p).run().map(Arc::new));
    databases.collect::<Result<_, _>>().expect("small databases can be built")
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
        let solver = Optimal::new(&goal, pdbs.clone()).unwrap();
        let mut boards: Vec<(Board, usize)> = of_boards(&goal).into_iter().collect();
        boards.sort_by_key(|(board, distance)| (*distance, board.to_string()));
        for (board, distance) in boards.iter().step_by(step) {
            let answer = solver.solve(board).unwrap();
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
        let solver = Optimal::new(&goal, pdbs.clone()).unwrap();
        assert_eq!(solver.views(), 2, "each corner lies on one diagonal");
        let known = of_boards(&goal);
        let farthest = known.iter().max_by_key(|(board, d)| (**d, board.to_string())).unwrap();
        let answer = solver.solve(farthest.0).unwrap();
        assert_eq!(answer.moves.map(|m| m.len()), Some(*farthest.1), "{corner}");
    }
    let error = Optimal::new(&goal("blank=4", size), pdbs.clone()).err().unwrap().to_string();
    assert!(error.contains("no rotation or reflection"), "{error}");
    let oblong = goal("last", Size::new(2, 4).unwrap());
    let error = Optimal::new(&oblong, pdbs).err().unwrap().to_string();
    assert!(error.contains("the databases are for 3x3, not for 2x4"), "{error}");
}

#[test]
fn known_15_puzzles_have_their_published_lengths() {
    let first = goal("first", Size::new(4, 4).unwrap());
    let solver = Optimal::new(&first, build_all(partition("6-6-3", &first).unwrap())).unwrap();
    let mut solved = 0;
    // The easier half keeps the test short.
    for (board, length) in korf().iter().filter(|(_, length)| *length <= 50) {
        let answer = solver.solve(board).unwrap();
        assert_eq!(answer.moves.map(|m| m.len()), Some(*length), "{board}");
        solved += 1;
    }
    assert!(solved >= 10, "{solved}");
}

#[test]
fn a_hard_board_is_split_and_has_the_answer_of_one_thread() {
    let size = Size::new(4, 4).unwrap();
    let first = goal("first", size);
    let pdbs = build_all(partition("5-5-5", &first).unwrap());
    let solver = Optimal::new(&first, pdbs.clone()).unwrap();
    // The instance of the list that takes most: 66 moves.
    let instances = korf();
    let (board, length) = instances.iter().max_by_key(|(_, length)| *length).unwrap();
    let never = NoProgress;
    let Attempt::Hard(pending) = solver.attempt_with(board, &never).unwrap() else {
        panic!("{board} is not hard");
    };
    assert_eq!(&pending.state, board);
    let answers = [1, 2, 5].map(|threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        let pool = pool.build().unwrap();
        let answer = pool.install(|| solver.finish_with(pending.clone(), &never));
        let answer = answer.unwrap();
        (answer.moves.unwrap(), answer.nodes)
    });
    assert_eq!(answers[0].0.len(), *length);
    assert_eq!(&answers[0].0.apply(board).unwrap(), &first);
    assert!(answers[0].1 > 1 << 20, "{}", answers[0].1);
    assert_eq!(answers[0], answers[1]);
    assert_eq!(answers[0], answers[2]);
    // Stopped in the part that is split.
    let stop = UpTo::new(1 << 20);
    let answer = solver.finish_with(pending, &stop).unwrap();
    assert!(answer.moves.is_none());
    assert!((*length - 10..*length).contains(&answer.at_least));
    assert!((1 << 20..1 << 21).contains(&answer.nodes), "{}", answer.nodes);
}

#[test]
#[ignore = "builds 486 MiB of databases, ten seconds: cargo test --release --test suite -- --ignored takes_81_moves"]
fn the_easiest_of_korfs_24_puzzles_takes_81_moves() {
    let size = Size::new(5, 5).unwrap();
    let first = goal("first", size);
    let patterns = default_patterns(&first).unwrap();
    assert_eq!(patterns, partition("6-6-6-6", &first).unwrap());
    let pdbs = build_all(patterns);
    let solver = Optimal::new(&first, pdbs.clone()).unwrap();
    assert_eq!(solver.views(), 2);
    let instances = instances(include_str!("../data/korf24.txt"), size);
    assert_eq!(instances.len(), 50);
    let (board, length) = instances.iter().min_by_key(|(_, length)| *length).unwrap();
    assert_eq!(*length, 81);
    let answer = solver.solve(board).unwrap();
    let moves = answer.moves.expect("no limit was set");
    assert_eq!(moves.len(), *length);
    assert_eq!(moves.apply(board).unwrap(), first);
}

#[test]
fn the_move_pruner_prunes_walks_but_no_board() {
    let size = Size::new(3, 3).unwrap();
    let pruner = MovePruner::new(size, 12);
    assert!(pruner.states() > 9);
    // Depth-first through the pruner reaches every board of each depth, by fewer walks.
    let start = goal("last", size);
    let known = of_boards(&start);
    let mut frontier = vec![(start.clone(), pruner.start(start.blank()))];
    let mut walks = 1;
    for depth in 1..=14 {
        let mut next = Vec::new();
        for (board, state) in &frontier {
            for (direction, state) in pruner.moves(*state) {
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

/// Ranks beyond 32 bits: eight tiles on 4x5 have 5 * 10^9 placements, seven on 5x6 10^10.
#[test]
fn indices_of_large_databases_are_exact_and_follow_the_moves() {
    for (size, tiles) in [("4x5", 12..=19), ("5x6", 23..=29), ("6x6", 1..=8)] {
        let goal = goal("first", size.parse().unwrap());
        let pattern = Pattern::new(goal.clone(), &tiles.collect::<Vec<u16>>()).unwrap();
        let n = goal.size().cells();
        let view = &SymmetricView::all(&goal, std::slice::from_ref(&pattern))[0];
        let mut most = 0;
        for mut board in Scrambler::new(goal.clone(), 1).take(20) {
            let mut index = view.index(0, &board);
            for step in 0..200 {
                let next: Vec<_> = board.neighbours().collect();
                let (direction, moved) = next[step * 7 % next.len()].clone();
                let names: Vec<u8> = board.tiles().iter().map(|&t| t as u8).collect();
                if let Some((_, change)) = view.change(&names, board.blank(), direction) {
                    index = index.checked_add_signed(change).unwrap();
                }
                assert_eq!(index, placement::rank(n, &pattern.cells(&moved).unwrap()));
                board = moved;
                most = most.max(index);
            }
        }
        assert!(most > u64::from(u32::MAX), "{size}: {most} fits 32 bits");
    }
}

/// Boards of up to 32 cells have tables of their sets, larger ones have not; and all tiles of a pattern of 4x4 move.
#[test]
fn bits_are_carried_along_on_boards_of_every_size() {
    for (size, tiles, moves) in [
        ((4, 4), [&[1u16, 2, 3, 5, 6, 7, 9][..], &[4, 8, 10, 11, 12, 13, 14, 15]], 45),
        ((5, 5), [&[1, 2, 3, 6, 7], &[18, 19, 22, 23, 24]], 30),
        ((6, 6), [&[1, 2, 7, 8], &[29, 30, 34, 35]], 24),
    ] {
        // Seven tiles of 4x4 are quick only where code is optimized.
        let k = if cfg!(debug_assertions) { 5 } else { 7 };
        let last = goal("last", Size::new(size.0, size.1).unwrap());
        let [byte, bit] = [Encoding::Byte, Encoding::Bit].map(|encoding| {
            let pdbs = tiles.map(|tiles| {
                let tiles = &tiles[..tiles.len().min(k)];
                let how = Build::new(Pattern::new(last.clone(), tiles).unwrap())
                    .kind(Kind::Regions)
                    .encoding(encoding);
                how.run().unwrap()
            });
            Optimal::new(&last, pdbs).unwrap()
        });
        let mut random = SplitMix64::new(11);
        for _ in 0..5 {
            let board = walked(&last, moves, &mut random);
            let answers = [&byte, &bit].map(|solver| solver.solve(&board).unwrap());
            let [byte, bit] = answers;
            assert!(bit.moves.as_ref().is_some_and(|found| found.len() <= moves));
            assert_eq!((byte.moves, byte.nodes), (bit.moves, bit.nodes), "{board}");
        }
    }
}

/// The maximum over partitions: fewer nodes than with either, solutions as short.
#[test]
fn several_partitions_are_stronger_than_each() {
    let last = goal("last", Size::new(4, 4).unwrap());
    let part = |all: &[&[u16]], kind, encoding| -> Vec<Arc<Pdb>> {
        let make = |tiles: &&[u16]| {
            let how = Build::new(Pattern::new(last.clone(), tiles).unwrap())
                .kind(kind)
                .encoding(encoding);
            Arc::new(how.run().unwrap())
        };
        all.iter().map(make).collect()
    };
    let rows: [&[u16]; 3] = [&[1, 2, 3, 4, 5], &[6, 7, 8, 9, 10], &[11, 12, 13, 14, 15]];
    let squares: [&[u16]; 3] = [&[1, 2, 5, 6, 9], &[3, 4, 7, 8, 11], &[10, 12, 13, 14, 15]];
    let a = part(&rows, Kind::Regions, Encoding::Bit);
    let b = part(&squares, Kind::Minimum, Encoding::Byte);
    let solver = |all: &[Vec<Arc<Pdb>>]| Optimal::with_partitions(&last, all.to_vec()).unwrap();
    let solvers = [vec![a.clone()], vec![b.clone()], vec![a.clone(), b]].map(|all| solver(&all));
    assert_eq!(solvers.each_ref().map(|solver| solver.views()), [2, 2, 4]);
    let mut nodes = [0; 3];
    let mut random = SplitMix64::new(11);
    for _ in 0..10 {
        let board = walked(&last, 60, &mut random);
        let answers = solvers.each_ref().map(|s| s.solve(&board).unwrap());
        let lengths = answers.each_ref().map(|a| a.moves.as_ref().map(|moves| moves.len()));
        assert!(lengths[0].is_some() && lengths == [lengths[0]; 3], "{board}");
        for (sum, answer) in nodes.iter_mut().zip(&answers) {
            *sum += answer.nodes;
        }
    }
    assert!(nodes[2] < nodes[0].min(nodes[1]), "{nodes:?}");
    // The same partition twice changes nothing; more views than a node holds are refused.
    let (once, twice) = (&solvers[0], solver(&[a.clone(), a.clone()]));
    let board = walked(&last, 50, &mut random);
    let [once, twice] = [once, &twice].map(|s| s.solve(&board).unwrap());
    assert_eq!((once.moves, once.nodes), (twice.moves, twice.nodes));
    let many = Optimal::with_partitions(&last, vec![a; 9]).err().unwrap().to_string();
    assert!(many.contains("18 lookups") && many.contains("at most 16"), "{many}");
}

/// The solver of `tests/examples` finds solutions of the published lengths.
#[test]
fn the_example_solves_some_of_korfs_boards() {
    let mut known = korf();
    known.sort_by_key(|(_, length)| *length);
    known.truncate(6);
    let (boards, lengths): (Vec<Board>, Vec<usize>) = known.into_iter().unzip();
    let solutions = super::ida::solve(&boards).unwrap();
    assert_eq!(solutions.iter().map(|moves| moves.len()).collect::<Vec<_>>(), lengths);
    for (moves, board) in solutions.iter().zip(&boards) {
        assert_eq!(moves.apply(board).unwrap(), goal("first", board.size()));
    }
}
