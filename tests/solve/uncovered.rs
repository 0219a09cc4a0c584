//! Random sets of databases, most of which leave tiles out, against complete searches.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use tilewave::internals::pool;
use tilewave::pdb::{Build, Encoding, Kind, Pattern, Pdb};
use tilewave::progress::NoProgress;
use tilewave::puzzle::{Board, Size};
use tilewave::random::SplitMix64;
use tilewave::search::Search;
use tilewave::solve::{Optimal, Stage, StateSolver};
use tilewave::table::{DistanceTable, TableEncoding};

use super::walked;
use crate::cli::{json, stdout};

/// The number of lengths that were compared, of boards that were split between threads, and of sets of each type.
type Compared = BTreeMap<&'static str, usize>;

struct Trial {
    random: SplitMix64,
    goal: Board,
    databases_goal: Board,
}

impl Trial {
    fn new(seed: u64, sizes: &[(usize, usize)]) -> Trial {
        let mut random = SplitMix64::new(seed);
        let (rows, cols) = sizes[random.below(sizes.len() as u64) as usize];
        let goal = arranged(&mut random, (rows, cols), None);
        // A symmetry takes the blank of the goal to that of the databases' goal.
        let (mut row, mut col) = (goal.blank() / cols, goal.blank() % cols);
        let (mut rows, mut cols) = (rows, cols);
        if random.below(2) == 0 {
            row = rows - 1 - row;
        }
        if random.below(2) == 0 {
            col = cols - 1 - col;
        }
        if random.below(4) == 0 {
            (row, col, rows, cols) = (col, row, cols, rows);
        }
        let databases_goal = match random.below(2) {
            0 if (rows, cols) == (goal.size().rows(), goal.size().cols()) => goal.clone(),
            _ => arranged(&mut random, (rows, cols), Some(row * cols + col)),
        };
        Trial { random, goal, databases_goal }
    }

    fn below(&mut self, bound: usize) -> usize {
        self.random.below(bound as u64) as usize
    }

    fn database(&mut self, tiles: &[u16], all_moves: bool) -> Arc<Pdb> {
        let kind = match (all_moves, self.below(3)) {
            (true, _) => Kind::AllMoves,
            (false, 0) => Kind::Minimum,
            (false, _) => Kind::Regions,
        };
        let encoding = match (kind, self.below(3)) {
            (Kind::Regions, 0..=1) => Encoding::Bit,
            (_, 2) => kind.encodings()[self.below(kind.encodings().len())],
            _ => Encoding::Byte,
        };
        let pattern = Pattern::new(self.databases_goal.clone(), tiles).unwrap();
        let pattern = match kind {
            Kind::AllMoves => pattern.with_blank().unwrap(),
            _ => pattern,
        };
        Arc::new(Build::new(pattern).kind(kind).encoding(encoding).threads(1).run().unwrap())
    }

    /// Up to three partitions of up to three patterns, most of which leave tiles out.
    fn partitions(&mut self) -> Vec<Vec<Arc<Pdb>>> {
        let mut partitions: Vec<Vec<Arc<Pdb>>> = Vec::new();
        for _ in 0..1 + self.below(3) {
            let mut tiles: Vec<u16> = (1..self.goal.size().cells() as u16).collect();
            shuffle(&mut self.random, &mut tiles);
            let all_moves = self.below(8) == 0;
            let left_out = match self.below(8) {
                0 => 0,
                _ => 1 + self.below(tiles.len()),
            };
            tiles.truncate((tiles.len() - left_out.min(tiles.len() - 1)).max(1));
            let mut partition = Vec::new();
            while !tiles.is_empty() && partition.len() < 3 {
                let most = tiles.len().min(if all_moves { 3 } else { 4 });
                let some = tiles.split_off(tiles.len() - 1 - self.below(most));
                // A database may be in several partitions.
                let known = partitions.concat();
                let known = known.iter().find(|pdb| {
                    let theirs = pdb.pattern().tiles();
                    some.iter().all(|tile| theirs.contains(tile)) && theirs.len() == some.len()
                });
                partition.push(match known.cloned().filter(|_| !all_moves) {
                    Some(pdb) => pdb,
                    None => self.database(&some, all_moves),
                });
                if all_moves {
                    break;
                }
            }
            partitions.push(partition);
        }
        partitions
    }
}

fn shuffle(random: &mut SplitMix64, tiles: &mut [u16]) {
    for last in (1..tiles.len()).rev() {
        tiles.swap(last, random.below(last as u64 + 1) as usize);
    }
}

/// A random arrangement, with the blank in a given cell if there is one.
fn arranged(random: &mut SplitMix64, (rows, cols): (usize, usize), blank: Option<usize>) -> Board {
    let mut tiles: Vec<u16> = (0..(rows * cols) as u16).collect();
    shuffle(random, &mut tiles);
    if let (Some(to), Some(from)) = (blank, tiles.iter().position(|&tile| tile == 0)) {
        tiles.swap(to, from);
    }
    Board::new(Size::new(rows, cols).unwrap(), &tiles).unwrap()
}

/// Solves boards near the goal and far from it with random sets, on several numbers of threads.
fn compare(seeds: Range<u64>, sizes: &[(usize, usize)], farthest: usize) -> Compared {
    let pools = [1, 2, 3, 8].map(|threads| pool(Some(threads)).unwrap());
    let mut tried = Compared::default();
    let mut count = |what, is: bool| *tried.entry(what).or_default() += usize::from(is);
    for seed in seeds {
        let mut trial = Trial::new(seed, sizes);
        let mut partitions = trial.partitions();
        let goal = trial.goal.clone();
        let truth = DistanceTable::build(&Search::new(goal.clone()), TableEncoding::Mod3).unwrap();
        // More views than a node can have are rejected.
        let solver = loop {
            match Optimal::with_partitions(&goal, partitions.clone()) {
                Ok(solver) => break solver,
                Err(error) => {
                    let error = error.to_string();
                    assert!(error.contains(" lookups per node, but "), "{seed}: {error}");
                }
            }
            match partitions.len() {
                1 => partitions[0].truncate(1),
                _ => partitions.truncate(1),
            }
        };
        // As before a long search: bits in another order, if there is memory for it.
        let memory: Option<u64> = [None, Some(0)][trial.below(2)];
        let solver = solver.memory(memory);
        let mut next = Stage::default();
        next.last = u64::MAX;
        solver.make_ready(next, &NoProgress).unwrap();
        let all = partitions.concat();
        let is_bits = all.iter().all(|pdb| pdb.encoding() == Encoding::Bit);
        // The walk over bits is the walk over any databases.
        let bytes = is_bits.then(|| {
            let byte = |pdb: &Arc<Pdb>| {
                let build = Build::new(pdb.pattern().clone()).kind(pdb.kind());
                Arc::new(build.encoding(Encoding::Byte).run().unwrap())
            };
            let partitions = partitions.iter().map(|all| all.iter().map(byte).collect());
            Optimal::with_partitions(&goal, partitions).unwrap()
        });
        let tiles = |partition: &Vec<Arc<Pdb>>| -> usize {
            partition.iter().map(|pdb| pdb.pattern().tiles().len()).sum()
        };
        // A view of a part of a partition adds to another one.
        let is_part = |view: &Vec<String>| partitions.iter().all(|all| all.len() != view.len());
        count("uncovered", partitions.iter().any(|all| tiles(all) + 1 < goal.tiles().len()));
        count("joined", solver.databases().iter().any(is_part));
        count("bits", is_bits);
        count("all moves", all.iter().any(|pdb| pdb.kind() == Kind::AllMoves));
        count("transposed", trial.databases_goal.size() != goal.size());
        count("sets", true);
        for (i, &most) in [3, 8, 16, farthest].iter().cycle().take(12).enumerate() {
            let moves = 1 + trial.below(most);
            let board = &walked(&goal, moves, &mut trial.random);
            let what = || format!("seed {seed}: {board} to {goal}: {:?}", solver.databases());
            let length = truth.depth(board).unwrap().expect("the table is complete");
            assert!(solver.estimate(board).unwrap() <= length, "{}", what());
            // All iterations on all threads, or those of an attempt on one.
            let answer = pools[i % pools.len()].install(|| match i % 3 {
                0 => solver.solve(board),
                _ => solver.finish_with(solver.begin(board).unwrap(), &NoProgress),
            });
            let answer = answer.unwrap();
            let found = answer.moves.as_ref().map(|moves| moves.len());
            assert_eq!((found, answer.at_least), (Some(length), length), "{}", what());
            if let Some(same) = bytes.as_ref().map(|bytes| bytes.solve(board).unwrap()) {
                assert_eq!((same.moves, same.nodes), (answer.moves, answer.nodes), "{}", what());
            }
            count("lengths", true);
            // From 256 nodes of an iteration on.
            count("split", i % 3 > 0 && answer.nodes > 1000);
        }
    }
    tried
}

#[test]
#[ignore = "three minutes: cargo test --release --test suite -- --ignored a_hundred_thousand_lengths"]
fn a_hundred_thousand_lengths_are_right() {
    let sizes = [(2, 2), (2, 3), (3, 2), (2, 4), (4, 2), (3, 3), (3, 3)];
    let tried = compare(500..8500, &sizes, 60);
    assert_eq!(tried["lengths"], 96_000);
    let sizes = [(3, 4), (4, 3), (2, 5), (5, 2), (2, 6)];
    let more = compare(8500..8900, &sizes, 24);
    assert_eq!(more["lengths"], 4_800, "{tried:?}, {more:?}");
}

#[test]
fn sets_that_leave_tiles_out_give_shortest_solutions() {
    let sizes = [(2, 2), (2, 3), (3, 2), (2, 4), (4, 2), (3, 3), (3, 3)];
    let tried = compare(0..500, &sizes, 60);
    assert_eq!(tried["lengths"], 12 * tried["sets"]);
    for sort in ["uncovered", "joined", "bits", "all moves", "transposed"] {
        assert!(tried[sort] >= tried["sets"] / 40, "{tried:?}");
    }
    assert!(tried["split"] >= 20, "{tried:?}");
}

#[test]
fn one_database_alone_solves_boards_near_the_goal() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("one.pdb").to_str().unwrap().to_string();
    for (size, pattern, goal, [near, length]) in [
        // For the transposed board.
        ("3x2 --goal 4 5/2 3/1 0", "1,2,4,5", "3 2 0/1 4 5", ["0 2 5/1 4 3", "10"]),
        ("2x3 --goal first", "2,3,5", "first", ["1 2 0/3 4 5", "2"]),
        ("4x4", "1,2,3,4,5", "last", ["1 2 3 4/5 6 7 8/9 10 15 11/13 14 12 0", "4"]),
        ("4x4", "1,2,3,4,5", "last", ["1 2 3 4/5 6 7 8/9 10 11 12/13 14 15 0", "0"]),
    ] {
        let (size, of) = size.split_once(" --goal ").unwrap_or((size, "last"));
        let how = ["--goal", of, "--pattern", pattern, "--encoding", "bit", "-o", &path, "--force"];
        stdout(&[&["pdb", "build", size][..], &how].concat());
        for threads in ["1", "2", "8"] {
            let how = ["--goal", goal, "--pdb", &path, "--format", "jsonl", "-j", threads];
            let line = json(&[&["solve", near][..], &how].concat());
            assert_eq!(line["optimal"], true, "{line}");
            assert_eq!(line["length"].to_string(), length, "{line}");
        }
    }
}
