//! One board solved by several ranks, here threads of one process, against one process.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use tilewave::internals::{LogLine, Recorder, SubtreeSplit, Walked, replay};
use tilewave::pdb::{Build, Pattern, Pdb, partition};
use tilewave::progress::{NoProgress, Progress};
use tilewave::puzzle::{Board, Size};
use tilewave::search::Ranks;
use tilewave::solve::{Answer, Attempt, Logged, Optimal, Pending, Stage, StateSolver};

use super::limits::UpTo;
use super::threads::ranks;
use super::{board, goal};

/// Hard for one thread over rows, some millions of nodes each.
const HARD: [&str; 3] = [
    "15 14 0 4/11 1 6 13/7 5 8 9/3 2 10 12",
    "13 11 4 12/1 8 9 15/6 5 14 2/7 3 10 0",
    "14 7 8 2/13 11 10 4/9 12 5 0/3 6 1 15",
];

fn solver() -> Optimal {
    let first = goal("first", Size::new(4, 4).unwrap());
    let rows = [1..4, 4..8, 8..12, 12..16u16];
    let pdbs = rows.map(|row| {
        let pattern = Pattern::new(first.clone(), &Vec::from_iter(row)).unwrap();
        Build::new(pattern).run().unwrap()
    });
    Optimal::new(&first, pdbs).unwrap()
}

fn hard(solver: &Optimal, board: &Board) -> Pending {
    match solver.attempt_with(board, &NoProgress).unwrap() {
        Attempt::Hard(pending) => pending,
        Attempt::Answered(answer) => panic!("{board} is not hard: {answer:?}"),
    }
}

/// Solves with so many threads on each rank; returns the answer of each.
fn together<P: Progress, R: Recorder + Send>(
    solver: &Optimal,
    pending: &Pending,
    threads: &[usize],
    observers: impl Fn(usize) -> (P, R) + Sync,
) -> Vec<(Answer, R)> {
    ranks(threads.len(), |team| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads[team.rank()]);
        let pool = pool.build().unwrap();
        let (progress, recorder) = observers(team.rank());
        let together = Ranks { communicator: team, pool: &pool };
        let answer = solver.finish_together_with(pending.clone(), together, &progress, &recorder);
        (answer.unwrap(), recorder)
    })
}

/// What a recorder was told.
#[derive(Default)]
struct Told {
    stages: Mutex<Vec<Stage>>,
    subtrees: Mutex<Vec<(SubtreeSplit, Walked)>>,
}

impl Recorder for Told {
    fn iteration(&self, next: Stage) {
        self.stages.lock().unwrap().push(next);
    }

    fn subtree(&self, pieces: SubtreeSplit, walked: Walked) {
        let mut all = self.subtrees.lock().unwrap();
        // Nothing of an iteration comes before it has begun.
        let stages = self.stages.lock().unwrap();
        assert!(stages.last().is_none_or(|stage| stage.threshold == pieces.threshold));
        all.push((pieces, walked));
    }
}

impl Told {
    /// The subtrees of each threshold, in order, however they came.
    fn of_thresholds(&self) -> BTreeMap<usize, Vec<Walked>> {
        let mut all: BTreeMap<usize, Vec<Walked>> = BTreeMap::new();
        for &(pieces, walked) in &*self.subtrees.lock().unwrap() {
            all.entry(pieces.threshold).or_default().push(walked);
        }
        for walked in all.values_mut() {
            walked.sort_by_key(|walked| walked.subtree);
        }
        all
    }
}

#[test]
fn any_number_of_ranks_finds_the_answer_of_one_process() {
    let solver = solver();
    let mut iterations = 0;
    for text in HARD {
        let board = board(text);
        let pending = hard(&solver, &board);
        let told = Told::default();
        let alone = solver.finish_recorded_with(pending.clone(), &NoProgress, &told);
        let alone = alone.unwrap();
        let subtrees = told.of_thresholds();
        let stages = told.stages.into_inner().unwrap();
        iterations += stages.len();
        // The last iteration begins where the one before came closest: it ends long before it has as many nodes.
        let last = stages.last().unwrap();
        assert!(alone.nodes - last.nodes < last.last / 4, "{board}: {stages:?}, {}", alone.nodes);
        for threads in [&[1][..], &[1, 1], &[2, 1, 1], &[1, 3]] {
            let answers = together(&solver, &pending, threads, |_| (NoProgress, Told::default()));
            for (answer, told) in answers {
                assert_eq!(answer.moves, alone.moves, "{board}, {threads:?}");
                assert_eq!(answer.nodes, alone.nodes, "{board}, {threads:?}");
                // All ranks know what each has done, of all iterations but the last.
                let last = *subtrees.keys().next_back().unwrap();
                for (threshold, walked) in told.of_thresholds() {
                    if threshold < last {
                        assert_eq!(walked, subtrees[&threshold], "{board}, {threads:?}");
                    }
                }
                assert_eq!(*told.stages.lock().unwrap(), stages, "{board}, {threads:?}");
            }
        }
    }
    assert!(iterations > 2, "{iterations} iterations have one after them");
}

/// Boards that have taken three million nodes go on with larger databases, whoever searches and whenever they are built.
#[test]
fn hard_boards_go_on_with_larger_databases() {
    let first = goal("first", Size::new(4, 4).unwrap());
    let larger = partition("6-6-3", &first).unwrap().into_iter();
    let larger: Vec<Arc<Pdb>> = larger.map(|p| Arc::new(Build::new(p).run().unwrap())).collect();
    let pairs = (1..16u16).collect::<Vec<_>>();
    let pairs = pairs.chunks(2).map(|pair| Pattern::new(first.clone(), pair).unwrap());
    let pairs: Vec<Arc<Pdb>> = pairs.map(|p| Arc::new(Build::new(p).run().unwrap())).collect();
    let asked = Arc::new(AtomicUsize::new(0));
    let reserved = || {
        let (larger, asked) = (larger.clone(), asked.clone());
        Optimal::new(&first, pairs.clone()).unwrap().with_reserve(move |_| {
            asked.fetch_add(1, Ordering::Relaxed);
            Ok(Some(vec![larger.clone()]))
        })
    };
    let with = reserved();
    with.solve(&board("1 2 3 7/0 4 6 11/8 5 9 10/12 13 14 15")).unwrap();
    assert_eq!(asked.load(Ordering::Relaxed), 0, "an easy board needs none");
    for (text, length) in HARD.iter().zip([66, 62, 59]) {
        let board = board(text);
        let told = Told::default();
        let alone = with.finish_recorded_with(hard(&with, &board), &NoProgress, &told).unwrap();
        assert_eq!(asked.swap(1, Ordering::Relaxed), 1, "once for all boards");
        let moves = alone.moves.as_ref().unwrap();
        assert_eq!(moves.len(), length);
        assert_eq!(moves.apply(&board).unwrap(), first);
        let stages = told.stages.into_inner().unwrap();
        let switched = stages.iter().find(|stage| stage.nodes >= 3 << 20).unwrap();
        // The others took more before that.
        assert!(alone.nodes - switched.nodes < 1 << 20, "{} {stages:?}", alone.nodes);
        for threads in [&[1][..], &[2, 1]] {
            let fresh = reserved();
            let pending = hard(&fresh, &board);
            let answers = together(&fresh, &pending, threads, |_| (NoProgress, Told::default()));
            for (answer, _) in answers {
                assert_eq!((&answer.moves, answer.nodes), (&alone.moves, alone.nodes), "{board}");
            }
        }
        // From each iteration that a log may have.
        for stage in &stages {
            let (fresh, mut found) = (reserved(), BTreeMap::new());
            let begun = LogLine::pending(0, &hard(&fresh, &board));
            for line in [begun, LogLine::iteration(0, *stage, None, 1.0)] {
                replay(line, std::slice::from_ref(&board), &fresh, &mut found).unwrap();
            }
            let Some(Logged::Pending { search, .. }) = found.remove(&0) else { unreachable!() };
            let answer = fresh.finish_with(search, &NoProgress).unwrap();
            assert_eq!(answer.moves.unwrap().len(), length);
        }
        asked.store(1, Ordering::Relaxed);
    }
    // Where there are none, the answer is that of the others.
    let (board, lacking) = (board(HARD[1]), solver().with_reserve(|_| Ok(None)));
    assert_eq!(lacking.solve(&board).unwrap().nodes, solver().solve(&board).unwrap().nodes);
}

#[test]
fn ranks_go_on_from_what_a_log_says() {
    let solver = solver();
    // One that has an iteration without a solution after another.
    let (board, pending, told, alone) = HARD
        .iter()
        .find_map(|text| {
            let board = board(text);
            let (pending, told) = (hard(&solver, &board), Told::default());
            let alone = solver.finish_recorded_with(pending.clone(), &NoProgress, &told);
            let long = told.stages.lock().unwrap().len() > 1;
            long.then(|| (board, pending, told, alone.unwrap()))
        })
        .expect("one of them takes long");
    // The first iteration is over, and every third subtree of the second.
    let stage = told.stages.lock().unwrap()[0];
    let subtrees = told.subtrees.into_inner().unwrap();
    let line = |threshold: usize, every: u32| {
        let its = |&&(pieces, _): &&(SubtreeSplit, Walked)| pieces.threshold == threshold;
        let its: Vec<_> = subtrees.iter().filter(its).collect();
        let known = its.iter().map(|(_, walked)| *walked);
        let walked: Vec<Walked> = known.filter(|w| w.subtree % every == 0).collect();
        assert!(walked.len() > 200, "{} of {:?}", walked.len(), its[0].0);
        let (of, seconds) = (its[0].0, 1.0);
        LogLine::Subtrees { board: 0, of, walked, seconds }
    };
    let entries = [
        LogLine::pending(0, &pending),
        line(pending.stage.threshold, 1),
        LogLine::iteration(0, stage, None, 1.0),
        line(stage.threshold, 3),
    ];
    let (mut found, boards) = (BTreeMap::new(), [board]);
    for line in entries {
        replay(line, &boards, &solver, &mut found).unwrap();
    }
    let Some(Logged::Pending { search, .. }) = found.remove(&0) else {
        panic!("the log says that the board is begun");
    };
    let answers = together(&solver, &search, &[1, 1, 2], |_| (NoProgress, Told::default()));
    for (answer, told) in answers {
        assert_eq!((&answer.moves, answer.nodes), (&alone.moves, alone.nodes));
        let again = told.of_thresholds();
        let again = again[&stage.threshold].iter().filter(|w| w.subtree % 3 == 0);
        assert_eq!(again.count(), 0, "what is known is walked again");
    }
}

#[test]
fn what_stops_one_rank_stops_all() {
    let solver = solver();
    let pending = hard(&solver, &board(HARD[2]));
    let most = pending.nodes() + (2 << 20);
    let observers = |rank| {
        // All nodes count, not those of this rank alone.
        (UpTo::new(if rank == 1 { most } else { u64::MAX }), ())
    };
    let answers = together(&solver, &pending, &[1, 1, 1], observers);
    for (answer, _) in &answers {
        assert_eq!(answer.moves, None);
        assert_eq!((answer.at_least, answer.nodes), (answers[0].0.at_least, answers[0].0.nodes));
        assert!((most..most + (8 << 20)).contains(&answer.nodes), "{}", answer.nodes);
    }
}
