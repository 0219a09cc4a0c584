//! Frames of a level: each codec against the other, in one run.
//!
//! `TILEWAVE_RUN=DIR cargo bench --bench codec` takes the frames of the last level of a run; without it those of 3x4 at
//! depth 36.

#![allow(missing_docs, clippy::print_stdout)]

use std::path::PathBuf;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use tilewave::internals::{
    Codec, DEFAULT_LEVEL, Decoder, Directory, Encoder, Io, LevelReader, Manifest, Storage,
};
use tilewave::puzzle::{Goal, Size};
use tilewave::search::disk::{Directories, Disk};
use tilewave::{Kernel, Search};

type Register = [u8; 64];

/// Most frames that are taken, evenly spread.
const FRAMES: usize = 200;

fn frames(directory: &Directory) -> Vec<Vec<Register>> {
    let names = directory.list().expect("a directory");
    let levels = names.iter().filter(|name| Manifest::is_file_name(name));
    let last = levels.clone().map(|name| &name[..9]).max().expect("a run");
    let mut decoder = Decoder::new(Kernel::best()).expect("memory");
    let mut all = Vec::new();
    for name in levels.filter(|name| name.starts_with(last)) {
        let file = directory.open(name).expect("a file");
        let reader = LevelReader::open(file).expect("a level");
        let registers = reader.header.frame_lines as usize / 60;
        let entries = reader.index.len();
        for entry in (0..entries).step_by(entries.div_ceil(FRAMES)) {
            let frames = reader.read(entry..entry + 1).expect("a frame");
            let mut frame = vec![[0; 64]; registers];
            if frames.decode(0, &mut decoder, &mut frame, false).is_ok() {
                all.push(frame);
            }
        }
    }
    let step = all.len().div_ceil(FRAMES);
    all.into_iter().step_by(step).collect()
}

/// Prints the entropy of single bytes, in bytes of a frame over those of zstd, for what they may depend on.
fn entropies(frames: &[Vec<Register>]) {
    let mut zstd = Encoder::new(Codec::Zstd, DEFAULT_LEVEL, Kernel::best()).expect("memory");
    let coded = |frame: &Vec<Register>| zstd.encode(frame).expect("memory").len() as f64;
    let coded: f64 = frames.iter().map(coded).sum();
    let held = |byte: u8| usize::from(byte != 0);
    type Context<'a> = &'a dyn Fn(&[Register], usize, usize) -> usize;
    let wide = |frame: &[Register], r: usize| frame[r].iter().filter(|b| **b != 0).count();
    let contexts: [(&str, Context); 4] = [
        ("nothing", &|_, _, _| 0),
        ("whether the byte before holds states", &|f, r, l| {
            l.checked_sub(1).map_or(2, |before| held(f[r][before]))
        }),
        ("whether the byte above holds states", &|f, r, l| {
            r.checked_sub(1).map_or(2, |above| held(f[above][l]))
        }),
        ("how many bytes of the register hold states, in eight classes", &|f, r, _| {
            wide(f, r).div_ceil(8)
        }),
    ];
    for (name, context) in contexts {
        let mut bits = 0.0;
        for frame in frames {
            let mut counts = vec![[0u32; 256]; 9];
            for (r, register) in frame.iter().enumerate() {
                for (l, &byte) in register[..60].iter().enumerate() {
                    counts[context(frame, r, l)][usize::from(byte)] += 1;
                }
            }
            for counts in counts {
                let all = f64::from(counts.iter().sum::<u32>());
                let counts = counts.iter().filter(|n| **n > 0).map(|&n| f64::from(n));
                bits -= counts.map(|n| n * (n / all).log2()).sum::<f64>();
            }
        }
        println!("entropy given {name}: {:.3} of zstd", bits / 8.0 / coded);
    }
}

fn codecs(c: &mut Criterion) {
    let made = tempfile::tempdir().expect("a directory");
    let path = std::env::var_os("TILEWAVE_RUN").map(PathBuf::from);
    if path.is_none() {
        let directory = Directory::create(made.path(), Io::Read).expect("a directory");
        let size: Size = "3x4".parse().expect("a size");
        let mut search = Search::new(Goal::Last.board(size).expect("a goal"));
        search.max_depth = Some(36);
        let disk = Disk::new(Directories::new(vec![Box::new(directory)]));
        disk.run(&search).expect("a search");
    }
    let path = path.unwrap_or(made.path().to_path_buf());
    let directory = Directory::create(&path, Io::Read).expect("a directory");
    let frames = frames(&directory);
    entropies(&frames);
    let bytes: usize = frames.iter().map(|frame| frame.len() * 60).sum();
    for kernel in Kernel::ALL.into_iter().filter(|k| k.is_supported()) {
        for codec in Codec::ALL {
            if codec == Codec::Zstd && kernel != Kernel::best() {
                continue;
            }
            let name = format!("{} {kernel}", codec.name());
            let mut encoder = Encoder::new(codec, DEFAULT_LEVEL, kernel).expect("memory");
            let mut decoder = Decoder::new(kernel).expect("memory");
            let mut encode = |frame: &[Register]| encoder.encode(frame).expect("memory").to_vec();
            let coded: Vec<Vec<u8>> = frames.iter().map(|frame| encode(frame)).collect();
            let size: usize = coded.iter().map(Vec::len).sum();
            println!("{name}: {size} bytes, {:.4} a line", size as f64 / bytes as f64);
            let mut group = c.benchmark_group("codec");
            group.throughput(Throughput::Bytes(bytes as u64)).sample_size(10);
            group.bench_function(BenchmarkId::new("encode", &name), |b| {
                b.iter(|| {
                    for frame in &frames {
                        std::hint::black_box(encoder.encode(frame).expect("memory"));
                    }
                });
            });
            let mut registers = vec![[0; 64]; frames[0].len()];
            group.bench_function(BenchmarkId::new("decode", &name), |b| {
                b.iter(|| {
                    for (frame, coded) in frames.iter().zip(&coded) {
                        let registers = &mut registers[..frame.len()];
                        decoder.decode(codec, coded, registers, false).expect("a frame");
                    }
                });
            });
        }
    }
}

criterion_group!(benches, codecs);
criterion_main!(benches);
