//! Rank and unrank of lines: `cargo bench --bench ranking`.

// criterion_group! makes public functions without documentation.
#![allow(missing_docs)]

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use tilewave::internals::lehmer;

fn ranking(c: &mut Criterion) {
    let mut group = c.benchmark_group("lines");
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

criterion_group!(benches, ranking);
criterion_main!(benches);
