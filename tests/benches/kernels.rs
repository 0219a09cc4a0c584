//! One block step of each kernel on one thread, data in cache: `cargo bench --bench kernels`.
//!
//! The figure to watch is registers (60 lines each) per second.

// criterion_group! makes public functions without documentation.
#![allow(missing_docs)]

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use tilewave::internals::layout::Layout;
use tilewave::internals::{ByteBlock, Kernel, Rule, StepProgram, Transfer};
use tilewave::puzzle::{Metric, Size, SnakePath};

fn block_steps(c: &mut Criterion) {
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
        let mut group = c.benchmark_group(format!("block step {size}"));
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

criterion_group!(benches, block_steps);
criterion_main!(benches);
