//! Single functions, and whole searches for comparison. A name or its beginning says which are measured:
//! `cargo bench --bench functions -- kernels`.

// criterion_group! makes public functions without documentation.
#![allow(missing_docs)]

use std::hint::black_box;
use std::sync::Mutex;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use rayon::prelude::*;
use tilewave::internals::layout::Layout;
use tilewave::internals::{Array, ByteBlock, Kernel, Rule, StepProgram, Transfer, lehmer};
use tilewave::puzzle::{Board, Goal, Metric, Size, SnakePath};
use tilewave::search::{Engine, Search};
use tilewave::solve::{Constructive, Scrambler};

/// 64-byte units of each array: 1 GiB, far beyond any cache.
const UNITS: u64 = 1 << 24;
/// Units that a worker takes at a time.
const TASK: usize = 336 * 64;

/// The memory traffic that no sweep can avoid, and nothing else: read one array, read and write another, on all cores.
/// The ceiling for `tilewave bfs 2x7`.
fn bandwidth(c: &mut Criterion) {
    let mut group = c.benchmark_group("bandwidth");
    group.sample_size(10).throughput(Throughput::Bytes(UNITS * 64 * 3));
    group.bench_function("next = cur and not next", |b| {
        let [mut cur, mut next] = [0; 2].map(|_| Array::zeroed(UNITS).expect("memory"));
        cur.units_mut().fill([0x55; 64]);
        next.units_mut().fill([0x0f; 64]);
        b.iter(|| {
            let parts = next.units_mut().chunks_mut(TASK).zip(cur.units().chunks(TASK));
            let tasks = Mutex::new(parts);
            rayon::broadcast(|_| {
                loop {
                    let task = tasks.lock().expect("no worker panics").next();
                    let Some((next, cur)) = task else { break };
                    for (n, c) in next.as_flattened_mut().iter_mut().zip(cur.as_flattened()) {
                        *n = c & !*n;
                    }
                }
            });
        });
    });
    group.finish();
}

/// One block step of each kernel on one thread, data in cache. The figure to watch is registers (60 lines each) per
/// second.
fn kernels(c: &mut Criterion) {
    for (rows, cols) in [(2, 6), (3, 4), (2, 7), (3, 5), (4, 4)] {
        let size = Size::new(rows, cols).expect("a size");
        let puzzle = SnakePath::new(size).puzzle(Metric::Stm);
        let layout = Layout::new(puzzle.line_len()).expect("a layout");
        let transfers: Vec<Transfer> = puzzle
            .windows()
            .iter()
            .enumerate()
            .map(|(i, window)| {
                let edges = puzzle.edges().iter().filter(|e| e.window == i && e.from % 2 == 0);
                let bits = edges.map(|e| (e.from as u8 / 2, e.to as u8 / 2)).collect();
                Transfer { window: window.clone(), bits }
            })
            .filter(|t| !t.bits.is_empty())
            .collect();
        let registers = layout.block_registers();
        let mut group = c.benchmark_group(format!("kernels, block step {size}"));
        group.throughput(Throughput::Elements(registers as u64));
        for kernel in Kernel::ALL.into_iter().filter(|k| k.is_supported()) {
            let program = StepProgram::new(kernel, layout, &transfers).expect("a supported kernel");
            let counts = program.gathers().iter().map(|g| g.source_blocks.count());
            let blocks = counts.sum();
            let cur = vec![[0x15; 64]; registers * 4];
            let mut next = vec![[0; 64]; registers];
            let source_blocks: Vec<usize> = (0..blocks).map(|i| i % 4 * registers).collect();
            let (variants, live) = (vec![0; transfers.len()], vec![true; transfers.len()]);
            group.bench_function(BenchmarkId::from_parameter(kernel), |b| {
                b.iter(|| {
                    program.step(ByteBlock {
                        cur: &cur,
                        next: &mut next,
                        rule: Rule::Reverse,
                        seen: &mut [],
                        own: &vec![0; program.gathers().len()],
                        register: 0,
                        parity: 0,
                        source_blocks: &source_blocks,
                        variants: &variants,
                        live: &live,
                        halo: &[],
                        ahead: &[],
                        ahead_by: 0,
                    })
                });
            });
        }
        group.finish();
    }
}

/// Rank and unrank of lines.
fn ranking(c: &mut Criterion) {
    let mut group = c.benchmark_group("ranking");
    for n in [11, 13, 15] {
        let middle = lehmer::even_count(n) / 3;
        let mut line = vec![0; n];
        lehmer::unrank_in_parity(0, middle, &mut line);
        group.bench_with_input(BenchmarkId::new("rank", n), &line, |b, line| {
            b.iter(|| lehmer::rank_in_parity(black_box(line)));
        });
        group.bench_function(BenchmarkId::new("unrank", n), |b| {
            b.iter(|| lehmer::unrank_in_parity(0, black_box(middle), &mut line));
        });
    }
    group.finish();
}

/// Whole searches, the sweep engine's kernels against the reference engine.
fn searches(c: &mut Criterion) {
    for (rows, cols) in [(3, 4), (2, 6)] {
        let size = Size::new(rows, cols).expect("a size");
        let mut search = Search::new(Goal::Last.board(size).expect("a goal"));
        let mut group = c.benchmark_group(format!("searches, {size}"));
        group.sample_size(10).warm_up_time(Duration::from_millis(500));
        search.engine = Some(Engine::Reference);
        group.bench_function("reference", |b| b.iter(|| search.run()));
        search.engine = Some(Engine::Sweep);
        for kernel in Kernel::ALL.into_iter().filter(|k| k.is_supported()) {
            search.resources.kernel = Some(kernel);
            let id = BenchmarkId::new("sweep", kernel);
            group.bench_function(id, |b| b.iter(|| search.run()));
        }
        group.finish();
    }
}

/// Boards a second of the constructive solver.
fn constructive(c: &mut Criterion) {
    for size in ["4x4", "5x5", "10x10", "20x20"] {
        let goal = Goal::Last.board(size.parse().unwrap()).unwrap();
        let boards: Vec<Board> = Scrambler::new(goal.clone(), 1).take(1000).collect();
        let solver = Constructive::new(goal);
        let moves = |board: &Board| solver.solve(board).unwrap().len();
        let mut group = c.benchmark_group("constructive");
        group.sample_size(10);
        group.throughput(Throughput::Elements(boards.len() as u64));
        group.bench_function(BenchmarkId::new("one thread", size), |b| {
            b.iter(|| black_box(&boards).iter().map(moves).sum::<usize>());
        });
        group.bench_function(BenchmarkId::new("all threads", size), |b| {
            b.iter(|| black_box(&boards).par_iter().map(moves).sum::<usize>());
        });
        group.finish();
    }
}

criterion_group!(benches, bandwidth, kernels, ranking, searches, constructive);
criterion_main!(benches);
