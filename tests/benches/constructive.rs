//! Boards a second of the constructive solver: `cargo bench --bench constructive`.

// criterion_group! makes public functions without documentation.
#![allow(missing_docs)]

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use rayon::prelude::*;
use tilewave::puzzle::{Board, Goal};
use tilewave::solve::{Constructive, Scrambler};

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

criterion_group!(benches, constructive);
criterion_main!(benches);
