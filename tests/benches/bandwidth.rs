//! The memory traffic that no sweep can avoid, and nothing else: read one array, read and write
//! another, on all cores (`cargo bench --bench bandwidth`). The ceiling for `tilewave bfs 2x7`.

// criterion_group! makes public functions without documentation.
#![allow(missing_docs)]

use std::sync::Mutex;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use tilewave::internals::Array;

/// 64-byte units of each array: 1 GiB, far beyond any cache.
const UNITS: u64 = 1 << 24;
/// Units that a worker takes at a time.
const TASK: usize = 336 * 64;

fn stream(c: &mut Criterion) {
    let mut cur = Array::zeroed(UNITS).expect("memory");
    cur.units_mut().fill([0x55; 64]);
    let mut next = Array::zeroed(UNITS).expect("memory");
    next.units_mut().fill([0x0f; 64]);
    let mut group = c.benchmark_group("bandwidth");
    group.sample_size(10).throughput(Throughput::Bytes(UNITS * 64 * 3));
    group.bench_function("next = cur and not next", |b| {
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

criterion_group!(benches, stream);
criterion_main!(benches);
