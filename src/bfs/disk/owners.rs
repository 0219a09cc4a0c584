//! Which rank computes which chunk.
//!
//! Invariant: the rank of a chunk sees all files of that chunk, and writes its next one beside them. With
//! one directory for all ranks that says nothing; with directories of their own it keeps every chunk on
//! its machine, whatever the number of ranks.

use std::collections::HashSet;
use std::io;

use super::directories::Directories;
use super::error::DiskError;
use super::halt::{Stopped, agreed};
use crate::bfs::communicator::Communicator;
use crate::store::{Manifest, RunFile};

/// Returns the rank of each chunk, as all ranks agree.
pub(super) fn agree(
    communicator: &dyn Communicator,
    directories: &Directories,
    manifest: &Manifest,
) -> Result<Vec<usize>, Stopped> {
    if communicator.size() == 1 {
        return Ok(vec![0; manifest.chunks as usize]);
    }
    let wrong = |e| DiskError::io(directories.first(), "", e);
    let seen = agreed(communicator, seen(directories, manifest).map_err(wrong))?;
    let owners = owners(&communicator.all_gather(seen)).map_err(|chunk| DiskError::Apart {
        directory: directories.first().name(),
        reason: format!(
            "no rank sees all files of chunk {chunk}: give every rank the directories that it had, or copy the files of all into one"
        ),
    });
    agreed(communicator, owners)
}

/// Returns for each chunk whether this rank sees all files that the manifest has of it.
fn seen(directories: &Directories, manifest: &Manifest) -> io::Result<Vec<u8>> {
    let lists: Vec<HashSet<String>> = directories
        .all()
        .map(|storage| Ok(storage.list()?.into_iter().collect()))
        .collect::<io::Result<_>>()?;
    let mut seen = vec![1; manifest.chunks as usize];
    for files in &manifest.files {
        for record in files.chunks.iter().filter(|record| record.has_file()) {
            let chunk = record.chunk as usize;
            let (run, depth, chunk_number) = (manifest.run, files.depth, record.chunk);
            let names = [
                RunFile::Level {
                    depth,
                    chunk: chunk_number,
                },
                // Cut off before the names followed the last commit.
                RunFile::Uncommitted {
                    run,
                    depth,
                    chunk: chunk_number,
                },
            ];
            let list = &lists[directories.place(chunk)];
            if !names.iter().any(|file| list.contains(&file.name())) {
                seen[chunk] = 0;
            }
        }
    }
    Ok(seen)
}

/// Returns the rank of each chunk, every rank as many as the others where it sees them, or the first
/// chunk that no rank sees.
fn owners(seen: &[Vec<u8>]) -> Result<Vec<usize>, usize> {
    let chunks = seen[0].len();
    let sees = |rank: usize, chunk: usize| seen[rank].get(chunk) == Some(&1);
    let choices: Vec<usize> = (0..chunks)
        .map(|chunk| (0..seen.len()).filter(|&rank| sees(rank, chunk)).count())
        .collect();
    // Those with the fewest choices choose first.
    let mut order: Vec<usize> = (0..chunks).collect();
    order.sort_by_key(|&chunk| choices[chunk]);
    let mut load = vec![0; seen.len()];
    let mut owners = vec![0; chunks];
    for chunk in order {
        let able = (0..seen.len()).filter(|&rank| sees(rank, chunk));
        let owner = able.min_by_key(|&rank| load[rank]).ok_or(chunk)?;
        owners[chunk] = owner;
        load[owner] += 1;
    }
    Ok(owners)
}

#[cfg(test)]
#[path = "../../../tests/unit/owners.rs"]
mod tests;
