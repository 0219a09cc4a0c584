//! How the ranks of a job come together: one job per directory, one manifest, one way to cut.
//!
//! Invariant: no rank writes or removes a level file before every rank has found the same search and every
//! directory is locked by one rank of this job.

use std::collections::HashSet;

use crate::search::disk::{
    Directories, Disk, DiskError, MemoryPlan, Stopped, Survey, agreed, frame_lines,
};
use crate::search::{Communicator, Search, SearchProblem};
use crate::store::{Identity, Lock, Manifest, RunFile, StorageError};

/// Stops all ranks when one of them was started for another search, with the same words on each.
pub(crate) fn compare(
    search: &Search,
    disk: &Disk,
    communicator: &dyn Communicator,
) -> Result<(), Stopped> {
    let or_all = |number: Option<usize>| number.map_or("all".into(), |n| n.to_string());
    let version = [("version", env!("CARGO_PKG_VERSION").to_string())];
    let options = [
        ("max-depth", or_all(search.max_depth)),
        ("shared-digits", or_all(disk.shared_digits)),
        ("levels kept", kept(disk.keep_all).into()),
        ("last states", search.keep_last.to_string()),
    ];
    let facts = version.into_iter().chain(Identity::of(&search.space).facts());
    let facts = facts.chain(options);
    let text: String = facts.map(|(name, value)| format!("{name}\t{value}\n")).collect();
    let all = communicator.all_gather(text.into_bytes());
    let all: Vec<_> = all.iter().map(|text| String::from_utf8_lossy(text)).collect();
    for (rank, text) in all.iter().enumerate() {
        // The version comes first: of another one nothing else need be understood.
        let differs = text.lines().zip(all[0].lines()).find(|(a, b)| a != b);
        let Some((found, asked)) = differs else {
            continue;
        };
        let words = |line: &str| {
            let (name, value) = line.split_once('\t').unwrap_or((line, ""));
            (name.to_string(), value.to_string())
        };
        let ((name, found), (_, asked)) = (words(found), words(asked));
        let error = DiskError::Ranks { rank, name, found, asked };
        return Err(Stopped::Together(error.into()));
    }
    Ok(())
}

/// Returns rank 0's manifest on all ranks.
pub(crate) fn share(
    communicator: &dyn Communicator,
    manifest: Option<&Manifest>,
) -> Result<Manifest, Stopped> {
    let text = manifest.map_or(Vec::new(), |manifest| manifest.text().into_bytes());
    let read = Manifest::parse(&communicator.broadcast(text));
    let wrong = |reason| DiskError::Elsewhere {
        rank: communicator.rank(),
        reason: format!("rank 0 sends a manifest that it cannot read: {reason}"),
    };
    agreed(communicator, read.map_err(wrong))
}

/// Locks each directory by the lowest rank that works in it, and returns that rank of this one's.
///
/// Ranks find out who shares a directory by leaving an empty file there for a moment.
#[allow(clippy::type_complexity)]
pub(crate) fn lock(
    communicator: &dyn Communicator,
    directories: &Directories,
    patience: std::time::Duration,
) -> Result<(usize, Vec<Lock>), Stopped> {
    let token = agreed(communicator, run_number(directories))?;
    let token = communicator.broadcast(token.to_le_bytes().to_vec());
    let job: String = token.iter().map(|byte| format!("{byte:02x}")).collect();
    let prefix = format!("cross-job-{job}.");
    let first = directories.first();
    let name = format!("{prefix}{:06}", communicator.rank());
    agreed(communicator, first.create(&name))?;
    let names = agreed(communicator, first.list())?;
    let ranks = names.iter().filter_map(|name| name.strip_prefix(&prefix));
    let lowest = ranks.filter_map(|rank| rank.parse().ok()).min();
    let leader = lowest.unwrap_or(communicator.rank());
    let locks =
        if leader == communicator.rank() { directories.lock(patience) } else { Ok(Vec::new()) };
    // Nobody lists any more.
    let removed = first.remove(&name);
    let locks = agreed(communicator, locks)?;
    agreed(communicator, removed)?;
    Ok((leader, locks))
}

/// Returns the manifest of rank 0's directory on all ranks, if there is one.
pub(crate) fn find(
    communicator: &dyn Communicator,
    survey: &Survey,
    leader: usize,
) -> Result<Option<Manifest>, Stopped> {
    let leads = leader == communicator.rank();
    let own = if leads { survey.manifest() } else { Ok(None) };
    let own = agreed(communicator, own)?;
    let there = communicator.broadcast(vec![u8::from(own.is_some())]) == [1];
    let apart = |reason: &str| Err(DiskError::apart(survey.directories.first(), reason));
    // A directory of another machine: what lies there must belong to rank 0's search.
    let fits = match own {
        _ if leader == 0 || !leads => Ok(()),
        Some(_) => apart(
            "the manifest of a search lies here, but rank 0 works elsewhere: start the ranks so that rank 0 has this directory, or move the manifest to rank 0's",
        ),
        None if !there && survey.has_levels() => apart(
            "level files lie here, but rank 0's directory has no manifest: start the ranks so that rank 0 has the directory with the manifest, or choose another --dir",
        ),
        None => Ok(()),
    };
    agreed(communicator, fits)?;
    if !there {
        return Ok(None);
    }
    share(communicator, own).map(Some)
}

/// Returns how the search is cut: as rank 0 decides, where every rank has the memory.
pub(crate) fn agree_on_plan(
    problem: &SearchProblem,
    search: &Search,
    disk: &Disk,
    communicator: &dyn Communicator,
    manifest: Option<&Manifest>,
) -> Result<MemoryPlan, Stopped> {
    let asked = manifest.map(|m| m.shared_digits as usize);
    let ranks = communicator.size();
    if ranks == 1 {
        return MemoryPlan::of(problem, search, disk, asked).map_err(Stopped::Together);
    }
    let choose = |asked| MemoryPlan::of_ranks(problem, search, disk, ranks, asked);
    let chosen = agreed(communicator, choose(asked.or(disk.shared_digits)))?;
    let digits = communicator.broadcast(vec![chosen.chunks.digits as u8]);
    let digits = digits.first().map(|&digits| usize::from(digits));
    agreed(communicator, choose(digits))
}

/// Refuses a run that is not the one asked for.
pub(crate) fn check(
    search: &Search,
    disk: &Disk,
    plan: MemoryPlan,
    manifest: &Manifest,
) -> Result<(), DiskError> {
    let (found, asked) = (&manifest.identity, &Identity::of(&search.space));
    // A puzzle is known by its moves: its file may have another name now.
    let renamed = found.is_renamed(asked);
    let facts = found.facts().into_iter().zip(asked.facts());
    let same = facts
        .map(|((name, found), (_, asked))| (name, found, asked))
        .filter(|(name, ..)| !renamed || !["board", "moves"].contains(name));
    let options = [
        ("directories", manifest.directories.to_string(), disk.directories.count().to_string()),
        ("levels kept", kept(manifest.keep_all).into(), kept(disk.keep_all).into()),
        ("chunks", manifest.chunks.to_string(), plan.chunks().to_string()),
        ("lines a frame", manifest.frame_lines.to_string(), frame_lines(plan.chunks).to_string()),
    ];
    match same.chain(options).find(|(_, found, asked)| found != asked) {
        None => Ok(()),
        Some((name, found, asked)) => {
            Err(DiskError::Other { directory: disk.directories.first().name(), name, found, asked })
        }
    }
}

/// A number for a new run.
pub(crate) fn run_number(directories: &Directories) -> Result<u64, DiskError> {
    crate::random::seed().map_err(|e| directories.first().error("manifest", e).into())
}

fn kept(all: bool) -> &'static str {
    if all { "all" } else { "last" }
}

pub(crate) fn new_manifest(search: &Search, disk: &Disk, plan: MemoryPlan, run: u64) -> Manifest {
    Manifest {
        run,
        identity: Identity::of(&search.space),
        shared_digits: plan.chunks.digits as u32,
        chunks: plan.chunks.count as u32,
        frame_lines: frame_lines(plan.chunks),
        directories: disk.directories.count() as u32,
        shares: disk.directories.shares_by_room(),
        keep_all: disk.keep_all,
        ..Manifest::default()
    }
}

// Which rank computes which chunk.
//
// Invariant: the rank of a chunk sees all files of that chunk, and writes its next one beside them. With
// one directory for all ranks that says nothing; with directories of their own it keeps every chunk on
// its machine, whatever the number of ranks.

/// Returns the rank of each chunk, as all ranks agree.
pub(crate) fn agree(
    communicator: &dyn Communicator,
    directories: &Directories,
    manifest: &Manifest,
) -> Result<Vec<usize>, Stopped> {
    if communicator.size() == 1 {
        return Ok(vec![0; manifest.chunks as usize]);
    }
    let seen = agreed(communicator, seen(directories, manifest))?;
    let owners = owners(&communicator.all_gather(seen)).map_err(|chunk| DiskError::Apart {
        directory: directories.first().name(),
        reason: format!(
            "no rank sees all files of chunk {chunk}: give every rank the directories that it had, or copy the files of all into one"
        ),
    });
    agreed(communicator, owners)
}

/// Returns for each chunk whether this rank sees all files that the manifest has of it.
fn seen(directories: &Directories, manifest: &Manifest) -> Result<Vec<u8>, StorageError> {
    let lists: Vec<HashSet<String>> = directories
        .all()
        .map(|storage| Ok(storage.list()?.into_iter().collect()))
        .collect::<Result<_, StorageError>>()?;
    let mut seen = vec![1; manifest.chunks as usize];
    for files in &manifest.files {
        for record in files.chunks.iter().filter(|record| record.has_file()) {
            let chunk = record.chunk as usize;
            let (run, depth, chunk_number) = (manifest.run, files.depth, record.chunk);
            let names = [
                RunFile::Level { depth, chunk: chunk_number },
                // Cut off before the names followed the last commit.
                RunFile::Uncommitted { run, depth, chunk: chunk_number },
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
mod tests {
    use super::*;

    #[test]
    fn chunks_are_dealt_out() {
        assert_eq!(owners(&vec![vec![1; 7]; 3]).unwrap(), [0, 1, 2, 0, 1, 2, 0]);
        assert_eq!(owners(&vec![vec![1; 2]; 4]).unwrap(), [0, 1]);
    }

    #[test]
    fn chunks_stay_where_their_files_are() {
        // Ranks 0 and 1 on one machine, 2 on another; chunk 4 is empty, so anybody's.
        let seen = [vec![1, 1, 0, 1, 1], vec![1, 1, 0, 1, 1], vec![0, 0, 1, 0, 1]];
        let owners = owners(&seen).unwrap();
        assert_eq!(owners[2], 2);
        assert!(owners.iter().enumerate().all(|(chunk, &rank)| seen[rank][chunk] == 1));
        assert_eq!(owners[4], 1, "the first of those with the fewest");
        assert_eq!(super::owners(&[vec![1, 0], vec![1, 0]]), Err(1));
    }
}
