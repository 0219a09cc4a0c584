//! The optimal solver against complete searches and against published lengths.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tilewave::internals::placement;
use tilewave::pdb::{Build, Encoding, Kind, Pattern, Pdb, partition};
use tilewave::progress::{NoProgress, Phase, Progress};
use tilewave::puzzle::{Board, Moves, Size};
use tilewave::random::SplitMix64;
use tilewave::solve::{
    Attempt, MovePruner, Optimal, Scrambler, StateSolver, SymmetricView, default_patterns,
};

use super::{board, goal};
use crate::table::distances;

/// Stops after a number of nodes.
struct StopAfter {
    most: u64,
    nodes: AtomicU64,
}

impl StopAfter {
    fn new(most: u64) -> StopAfter {
        let nodes = AtomicU64::new(0);
        StopAfter { most, nodes }
    }
}

impl Progress for StopAfter {
    fn progress(&self, _: Phase, nodes: u64, _: u64) {
        self.nodes.fetch_max(nodes, Ordering::Relaxed);
    }

    fn interrupted(&self) -> bool {
        self.nodes.load(Ordering::Relaxed) > self.most
    }
}

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
        let mut boards: Vec<(Board, usize)> = distances(&goal).into_iter().collect();
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
        let known = distances(&goal);
        let farthest = known.iter().max_by_key(|(board, d)| (**d, board.to_string())).unwrap();
        let answer = solver.solve(farthest.0).unwrap();
        assert_eq!(answer.moves.map(|m| m.len()), Some(*farthest.1), "{corner}");
    }
    let error = Optimal::new(&goal("blank=4", size), pdbs.clone()).err().unwrap().to_string();
    assert!(error.contains("no rotation or reflection"), "{error}");
}

#[test]
fn known_15_puzzles_have_their_published_lengths() {
    let size = Size::new(4, 4).unwrap();
    let last = goal("last", size);
    // Databases for Korf's goal; the solver turns them for the other one.
    let first = goal("first", size);
    let pdbs = build_all(partition("6-6-3", &first).unwrap());
    let solver = Optimal::new(&last, pdbs.clone()).unwrap();
    for (text, length) in [
        ("5 1 2 3/9 6 7 4/13 10 11 8/14 15 0 12", 11),
        ("5 1 7 3/9 2 11 4/13 6 15 8/0 10 14 12", 15),
        ("1 2 3 4/5 6 7 8/9 10 11 12/13 14 0 15", 1),
        ("1 2 3 4/5 6 7 8/9 10 11 12/13 14 15 0", 0),
    ] {
        let answer = solver.solve(&board(text)).unwrap();
        assert_eq!(answer.moves.map(|m| m.len()), Some(length), "{text}");
    }
    let odd = board("1 2 3 4/5 6 7 8/9 10 11 12/13 15 14 0");
    let error = solver.solve(&odd).unwrap_err().to_string();
    assert!(error.contains("parity is odd"), "{error}");

    let solver = Optimal::new(&first, pdbs.clone()).unwrap();
    let mut solved = 0;
    // The easier half keeps the test short.
    let instances = instances(include_str!("../data/korf50.txt"), size);
    for (board, length) in instances.iter().filter(|(_, length)| *length <= 50) {
        let answer = solver.solve(board).unwrap();
        assert_eq!(answer.moves.map(|m| m.len()), Some(*length), "{board}");
        solved += 1;
    }
    assert!(solved >= 10, "{solved}");
}

/// The boards of a list and their lengths: a number, the tiles, the length, whatever else.
fn instances(text: &str, size: Size) -> Vec<(Board, usize)> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let instances = lines.map(|line| {
        let numbers: Vec<usize> =
            line.split_whitespace().map(|word| word.parse().unwrap()).collect();
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
    let solver = Optimal::new(&first, pdbs.clone()).unwrap();
    // The instance of the list that takes most: 66 moves.
    let instances = instances(include_str!("../data/korf50.txt"), size);
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
    let stop = StopAfter::new(1 << 20);
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
fn a_stopped_search_says_what_it_excludes() {
    let size = Size::new(4, 4).unwrap();
    let first = goal("first", size);
    let pdbs = build_all(partition("5-5-5", &first).unwrap());
    let solver = Optimal::new(&first, pdbs.clone()).unwrap();
    // At depth 80, far beyond this limit of nodes.
    let board = board("15 10 8 12/11 14 9 13/2 6 5 1/3 7 4 0");
    let answer = solver.solve_with(&board, &StopAfter::new(100_000)).unwrap();
    assert!(answer.moves.is_none());
    assert!((40..80).contains(&answer.at_least), "{}", answer.at_least);
    assert!((100_000..200_000).contains(&answer.nodes), "{}", answer.nodes);
}

#[test]
fn the_move_pruner_prunes_walks_but_no_board() {
    let size = Size::new(3, 3).unwrap();
    let pruner = MovePruner::new(size, 12);
    assert!(pruner.states() > 9);
    // Depth-first through the pruner reaches every board of each depth, by fewer walks.
    let start = goal("last", size);
    let known = distances(&start);
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

#[test]
fn databases_of_every_kind_and_encoding_give_shortest_solutions() {
    let size = Size::new(3, 3).unwrap();
    let last = goal("last", size);
    let known = distances(&last);
    let mut boards: Vec<(&Board, &usize)> = known.iter().collect();
    boards.sort_by_key(|(board, distance)| (**distance, board.to_string()));
    let first = goal("first", size);
    let patterns = default_patterns(&first).unwrap();
    let mut least = u64::MAX;
    for kind in [Kind::Minimum, Kind::Regions] {
        let mut same = None;
        for &encoding in kind.encodings() {
            let made = patterns.iter().enumerate().map(|(i, pattern)| {
                Build::new(pattern.clone())
                    // The second database is always plain: sets may be mixed.
                    .kind(if i == 0 { kind } else { Kind::Minimum })
                    .encoding(if i == 0 { encoding } else { Encoding::Byte })
            });
            let pdbs: Vec<Pdb> = made.map(|b| b.run().unwrap()).collect();
            let solver = Optimal::new(&last, pdbs).unwrap();
            let mut nodes = 0;
            for (board, distance) in boards.iter().step_by(211) {
                let answer = solver.solve(board).unwrap();
                let moves = answer.moves.expect("no limit was set");
                assert_eq!((moves.len(), moves.apply(board).unwrap()), (**distance, last.clone()));
                nodes += answer.nodes;
            }
            assert!(nodes <= least, "region-aware values are larger");
            assert_eq!(*same.get_or_insert(nodes), nodes, "{kind} {encoding}: the same values");
        }
        least = same.unwrap();
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
        for board in walks(&last, moves).take(5) {
            let answers = [&byte, &bit].map(|solver| solver.solve(&board).unwrap());
            let [byte, bit] = answers;
            assert!(bit.moves.as_ref().is_some_and(|found| found.len() <= moves));
            assert_eq!((byte.moves, byte.nodes), (bit.moves, bit.nodes), "{board}");
        }
    }
}

/// Boards that some random moves lead to.
fn walks(goal: &Board, moves: usize) -> impl Iterator<Item = Board> {
    let mut random = SplitMix64::new(11);
    std::iter::repeat_with(move || {
        let mut board = goal.clone();
        for _ in 0..moves {
            let near: Vec<Board> = board.neighbours().map(|(_, next)| next).collect();
            board = near[random.below(near.len() as u64) as usize].clone();
        }
        board
    })
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
    for board in walks(&last, 60).take(10) {
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
    let board = walks(&last, 50).next().unwrap();
    let [once, twice] = [once, &twice].map(|s| s.solve(&board).unwrap());
    assert_eq!((once.moves, once.nodes), (twice.moves, twice.nodes));
    let many = Optimal::with_partitions(&last, vec![a; 9]).err().unwrap().to_string();
    assert!(many.contains("18 lookups") && many.contains("at most 16"), "{many}");
}

#[test]
fn a_database_for_another_size_is_named_as_the_reason() {
    let small = goal("last", Size::new(3, 3).unwrap());
    let pdbs = build_all(default_patterns(&goal("last", Size::new(2, 4).unwrap())).unwrap());
    let error = Optimal::new(&small, pdbs).err().unwrap().to_string();
    assert!(error.contains("the databases are for 2x4, not for 3x3"), "{error}");
}

/// The solver of `tests/examples` finds solutions of the published lengths.
#[test]
fn the_example_solves_some_of_korfs_boards() {
    let size = Size::new(4, 4).unwrap();
    let mut known = instances(include_str!("../data/korf50.txt"), size);
    known.sort_by_key(|(_, length)| *length);
    known.truncate(6);
    let boards: Vec<Board> = known.iter().map(|(board, _)| board.clone()).collect();
    let solutions = super::ida::solve(&boards).unwrap();
    for (moves, (board, length)) in solutions.iter().zip(&known) {
        assert_eq!(moves.len(), *length);
        assert_eq!(moves.apply(board).unwrap(), goal("first", size));
    }
    assert_eq!(solutions.len(), 6);
}
