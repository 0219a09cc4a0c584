//! Random sets of databases that leave tiles out, against complete searches.

use super::*;
use crate::bfs::Search;
use crate::pdb::{Build, Encoding, Kind, build};
use crate::progress::NoProgress;
use crate::puzzle::tiles::Size;
use crate::random::SplitMix64;
use crate::table;

/// What was tried: lengths compared, boards that were split between threads, sets of each sort.
#[derive(Debug, Default)]
struct Tried {
    sets: usize,
    lengths: usize,
    split: usize,
    uncovered: usize,
    joined: usize,
    bits: usize,
    all_moves: usize,
    transposed: usize,
}

struct Trial {
    random: SplitMix64,
    goal: Board,
    databases_goal: Board,
}

impl Trial {
    fn new(seed: u64, sizes: &[(usize, usize)]) -> Trial {
        let mut random = SplitMix64::new(seed);
        let (rows, cols) = sizes[random.below(sizes.len() as u64) as usize];
        let goal = board(&mut random, (rows, cols), None);
        // The databases' goal has its blank where a symmetry takes the goal's.
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
            _ => board(&mut random, (rows, cols), Some(row * cols + col)),
        };
        Trial {
            random,
            goal,
            databases_goal,
        }
    }

    fn below(&mut self, bound: usize) -> usize {
        self.random.below(bound as u64) as usize
    }

    fn shuffled_tiles(&mut self) -> Vec<u16> {
        let cells = self.goal.size().cells() as u16;
        let mut tiles: Vec<u16> = (1..cells).collect();
        shuffle(&mut self.random, &mut tiles);
        tiles
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
        let how = Build {
            kind,
            encoding,
            threads: Some(1),
            ..Build::new(pattern)
        };
        Arc::new(build(&how, &NoProgress).unwrap())
    }

    /// Up to three partitions of up to three patterns, most of which leave tiles out.
    fn partitions(&mut self) -> Vec<Vec<Arc<Pdb>>> {
        let mut partitions: Vec<Vec<Arc<Pdb>>> = Vec::new();
        for _ in 0..1 + self.below(3) {
            let mut tiles = self.shuffled_tiles();
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

    /// Boards near the goal and far from it.
    fn boards(&mut self, count: usize, farthest: usize) -> Vec<Board> {
        let lengths = [3, 8, 16, farthest];
        let mut boards = Vec::new();
        for i in 0..count {
            let mut board = self.goal.clone();
            for _ in 0..1 + self.below(lengths[i % lengths.len()]) {
                let near: Vec<Board> = board.neighbours().map(|(_, next)| next).collect();
                board = near[self.below(near.len())].clone();
            }
            boards.push(board);
        }
        boards
    }
}

fn shuffle<T>(random: &mut SplitMix64, items: &mut [T]) {
    for i in (1..items.len()).rev() {
        items.swap(i, random.below(i as u64 + 1) as usize);
    }
}

/// A random arrangement, the blank in a cell where one is given.
fn board(random: &mut SplitMix64, (rows, cols): (usize, usize), blank: Option<usize>) -> Board {
    let mut tiles: Vec<u16> = (0..(rows * cols) as u16).collect();
    shuffle(random, &mut tiles);
    if let (Some(to), Some(from)) = (blank, tiles.iter().position(|&tile| tile == 0)) {
        tiles.swap(to, from);
    }
    Board::new(Size::new(rows, cols).unwrap(), &tiles).unwrap()
}

fn pools() -> Vec<rayon::ThreadPool> {
    let pool = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    [1, 2, 3, 8].map(|threads| pool(threads).unwrap()).into()
}

/// Solves boards with random sets, each on one of several numbers of threads, iterations being split early.
fn compare(seeds: std::ops::Range<u64>, sizes: &[(usize, usize)], farthest: usize) -> Tried {
    let (pools, mut tried) = (pools(), Tried::default());
    for seed in seeds {
        let mut trial = Trial::new(seed, sizes);
        let mut partitions = trial.partitions();
        let boards = trial.boards(12, farthest);
        let goal = trial.goal.clone();
        let truth = table::build(
            &Search::new(goal.clone()),
            table::Encoding::Mod3,
            &NoProgress,
        );
        let truth = truth.unwrap();
        // More views than a node has are refused.
        let mut solver = loop {
            match Optimal::with_partitions(&goal, partitions.clone()) {
                Ok(solver) => break solver,
                Err(error) => assert!(error.to_string().contains(" ways, "), "{seed}: {error}"),
            }
            match partitions.len() {
                1 => partitions[0].truncate(1),
                _ => partitions.truncate(1),
            }
        };
        solver.tree.split_from = [1, 32, 1000, u64::MAX][trial.below(4)];
        let all = partitions.concat();
        tried.uncovered += usize::from(!solver.tree.is_covered());
        tried.joined += usize::from(solver.tree.views.iter().any(|lens| lens.joined));
        tried.bits += usize::from(all.iter().all(|pdb| pdb.encoding() == Encoding::Bit));
        tried.all_moves += usize::from(all.iter().any(|pdb| pdb.kind() == Kind::AllMoves));
        tried.transposed += usize::from(trial.databases_goal.size() != goal.size());
        tried.sets += 1;
        for (i, board) in boards.iter().enumerate() {
            let what = || format!("seed {seed}: {board} to {goal}: {:?}", solver.databases());
            let length = truth.depth(board).unwrap().expect("the table is complete");
            assert!(solver.estimate(board).unwrap() <= length, "{}", what());
            let (answer, split) = pools[i % pools.len()].install(|| {
                match solver.attempt(board, &NoProgress).unwrap() {
                    Attempt::Answered(answer) => (answer, false),
                    Attempt::Hard(pending) => (solver.finish(pending, &NoProgress).unwrap(), true),
                }
            });
            let found = answer.moves.as_ref().map(|moves| moves.len());
            assert_eq!(found, Some(length), "{}", what());
            assert_eq!(answer.at_least, length, "{}", what());
            tried.lengths += 1;
            tried.split += usize::from(split);
        }
    }
    tried
}

#[test]
#[ignore = "three minutes: cargo test --release --lib -- --ignored"]
fn a_hundred_thousand_lengths_are_right() {
    let sizes = [(2, 2), (2, 3), (3, 2), (2, 4), (4, 2), (3, 3), (3, 3)];
    let tried = compare(500..8500, &sizes, 60);
    assert_eq!(tried.lengths, 96_000);
    let sizes = [(3, 4), (4, 3), (2, 5), (5, 2), (2, 6)];
    let more = compare(8500..8900, &sizes, 24);
    assert_eq!(more.lengths, 4_800, "{tried:?}, {more:?}");
}

#[test]
fn sets_that_leave_tiles_out_give_shortest_solutions() {
    let sizes = [(2, 2), (2, 3), (3, 2), (2, 4), (4, 2), (3, 3), (3, 3)];
    let tried = compare(0..500, &sizes, 60);
    assert_eq!(tried.lengths, 12 * tried.sets);
    let least = tried.sets / 40;
    for sort in [
        tried.uncovered,
        tried.joined,
        tried.bits,
        tried.all_moves,
        tried.transposed,
    ] {
        assert!(sort >= least, "{tried:?}");
    }
    assert!(tried.split >= 200, "{tried:?}");
}
