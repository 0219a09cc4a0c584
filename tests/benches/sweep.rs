//! Whole searches, the sweep engine's kernels against the reference engine in one run:
//! `cargo bench --bench sweep`.

// criterion_group! makes public functions without documentation.
#![allow(missing_docs)]

use std::time::Duration;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use tilewave::Kernel;
use tilewave::puzzle::{Goal, Size};
use tilewave::search::{Engine, Search};

fn searches(c: &mut Criterion) {
    for (rows, cols) in [(3, 4), (2, 6)] {
        let size = Size::new(rows, cols).expect("a size");
        let mut search = Search::new(Goal::Last.board(size).expect("a goal"));
        let mut group = c.benchmark_group(size.to_string());
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

criterion_group!(benches, searches);
criterion_main!(benches);
