//! What each worker keeps from one chunk to the next.
//!
//! Invariant: a thread has at most one set at a time, and what a set holds from before is never read.

use std::sync::Mutex;

use crate::bfs::chunks::Chunks;
use crate::bfs::plane_sources::BlockSources;
use crate::perm::kernel::Kernel;
use crate::perm::layout::Register;
use crate::store::{Codec, Decoder, Encoder, MemoryError};

/// Codecs for every worker, made before the first begins, since their tables take megabytes, and the memory
/// that a step works in.
pub(super) struct Codecs(Mutex<Vec<(Decoder, Encoder, Scratch)>>);

impl Codecs {
    /// Returns the codecs of a number of threads, which encode with `codec`; `level` is zstd's.
    pub fn new(
        codec: Codec,
        level: i32,
        kernel: Kernel,
        threads: usize,
    ) -> Result<Codecs, MemoryError> {
        let set = |_| {
            let encoder = Encoder::new(codec, level, kernel)?;
            Ok((Decoder::new(kernel)?, encoder, Scratch::default()))
        };
        let sets: Result<Vec<_>, MemoryError> = (0..threads).map(set).collect();
        Ok(Codecs(Mutex::new(sets?)))
    }

    /// Lends a set of them to one of the threads.
    pub fn with<T>(&self, work: impl FnOnce(&mut Decoder, &mut Encoder, &mut Scratch) -> T) -> T {
        let idle = || self.0.lock().unwrap_or_else(|e| e.into_inner());
        let set = idle().pop();
        let mut set = set.expect("every thread has at most one set");
        let result = work(&mut set.0, &mut set.1, &mut set.2);
        idle().push(set);
        result
    }
}

/// What one worker of a step writes to: memory of one chunk for the next.
#[derive(Default)]
pub(super) struct Scratch {
    pub located: BlockSources,
    /// One block per plane into a group, spread to bytes.
    pub halo: Vec<Register>,
    pub words: Vec<u64>,
    pub frame: Vec<Register>,
    /// For each block of the frame which groups of its registers are left from the frame before.
    pub stale: Vec<u64>,
    pub occupied: Vec<bool>,
    /// The states seen, where they are kept.
    pub seen: Vec<Register>,
}

impl Scratch {
    /// Makes it as large as a step needs; what is in it stays, and nobody reads it.
    pub fn fit(&mut self, chunks: Chunks, planes: usize, seen: bool) {
        let size = chunks.layout.block_registers();
        self.halo.resize(size * planes, [0; 64]);
        self.words.resize(size, 0);
        self.frame.resize(chunks.frame_registers(), [0; 64]);
        self.stale.resize(chunks.frame_blocks, 0);
        self.occupied.resize(chunks.frame_blocks, false);
        self.seen
            .resize(self.frame.len() * usize::from(seen), [0; 64]);
    }
}
