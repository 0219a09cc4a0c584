//! How the ranks of a job come together: one job per directory, one manifest, one way to cut.
//!
//! Invariant: no rank writes or removes a level file before every rank has found the same search and every
//! directory is locked by one rank of this job.

use std::hash::{BuildHasher, RandomState};

use super::directories::Directories;
use super::{Disk, DiskError, Fit, PlaneStore, check, new_manifest};
use crate::Error;
use crate::bfs::network::CHUNKS_PER_RANK;
use crate::bfs::team::{Stopped, Team, together};
use crate::bfs::{Search, SearchError};
use crate::perm::layout::Layout;
use crate::store::Manifest;

/// Most bytes that leave a rank between two meetings, if a chunk has not more.
pub(super) const ROUND: u64 = 256 << 20;

/// The search that all ranks work on.
pub(super) struct Mustered {
    /// Held until the search ends.
    pub locks: Vec<Box<dyn Send + Sync>>,
    /// The same on all ranks; without levels for a new search.
    pub manifest: Manifest,
    pub fit: Fit,
}

/// Locks the directories, finds the search and chooses how to cut it.
pub(super) fn muster(search: &Search, disk: &Disk, team: &dyn Team) -> Result<Mustered, Stopped> {
    let versions = team.share(env!("CARGO_PKG_VERSION").into());
    let same = (versions == env!("CARGO_PKG_VERSION").as_bytes()).then_some(());
    let same = same.ok_or_else(|| DiskError::Elsewhere {
        rank: team.rank(),
        reason: "its program is of another version than rank 0's: start the same on all machines"
            .into(),
    });
    together(team, same)?;
    let unchecked = match disk.check {
        false => Ok(()),
        true => Err(DiskError::Apart {
            directory: disk.directories.first().name(),
            reason: "several ranks check nothing before they go on: leave out --check, and check with tilewave verify --dir"
                .into(),
        }),
    };
    together(team, unchecked)?;
    let (leader, locks) = lock(team, &disk.directories)?;
    let found = find(team, &disk.directories, leader)?;
    let fit = fit(search, disk, team, found.as_ref())?;
    let manifest = match found {
        Some(manifest) => {
            together(team, check(search, disk, &manifest))?;
            manifest
        }
        None => share(team, &new_manifest(search, disk, fit))?,
    };
    let fresh = manifest.levels.is_empty();
    let swept = disk.directories.sweep((!fresh).then_some(&manifest));
    together(team, swept)?;
    Ok(Mustered {
        locks,
        manifest,
        fit,
    })
}

/// Returns rank 0's manifest on all ranks.
pub(super) fn share(team: &dyn Team, manifest: &Manifest) -> Result<Manifest, Stopped> {
    let text = team.share(manifest.text().into_bytes());
    let read = Manifest::parse(&text);
    together(
        team,
        read.map_err(|reason| DiskError::Elsewhere {
            rank: team.rank(),
            reason: format!("rank 0 sends a manifest that it cannot read: {reason}"),
        }),
    )
}

/// Locks each directory by the lowest rank that works in it, and returns that rank of this one's.
///
/// Ranks find out who shares a directory by leaving a file there; it is named like a scratch file, so what
/// a killed job leaves is removed by the next.
#[allow(clippy::type_complexity)]
fn lock(
    team: &dyn Team,
    directories: &Directories,
) -> Result<(usize, Vec<Box<dyn Send + Sync>>), Stopped> {
    let token = RandomState::new().hash_one(std::process::id());
    let token = team.share(token.to_le_bytes().to_vec());
    let job: String = token.iter().map(|byte| format!("{byte:02x}")).collect();
    let prefix = format!("cross-job-{job}.");
    let first = directories.first();
    let name = format!("{prefix}{:06}", team.rank());
    let wrong = |e| DiskError::io(first, &name, e);
    together(team, first.create(&name).map_err(wrong))?;
    let names = together(team, first.list().map_err(wrong))?;
    let ranks = names.iter().filter_map(|name| name.strip_prefix(&prefix));
    let lowest = ranks.filter_map(|rank| rank.parse().ok()).min();
    let leader = lowest.unwrap_or(team.rank());
    let locks = if leader == team.rank() {
        directories.lock()
    } else {
        Ok(Vec::new())
    };
    // Nobody lists any more.
    let removed = first.remove(&name).map_err(wrong);
    let locks = together(team, locks)?;
    together(team, removed)?;
    Ok((leader, locks))
}

/// Returns the manifest of rank 0's directory on all ranks, if there is one.
fn find(
    team: &dyn Team,
    directories: &Directories,
    leader: usize,
) -> Result<Option<Manifest>, Stopped> {
    let leads = leader == team.rank();
    let own = if leads {
        directories.manifest()
    } else {
        Ok(None)
    };
    let own = together(team, own)?;
    let there = team.share(vec![u8::from(own.is_some())]) == [1];
    let apart = |reason: &str| {
        Err(DiskError::Apart {
            directory: directories.first().name(),
            reason: reason.into(),
        })
    };
    // A directory of another machine: what lies there must belong to rank 0's search.
    let fits = (|| match &own {
        _ if leader == 0 || !leads => Ok(()),
        Some(_) => apart(
            "the manifest of a search lies here, but rank 0 works elsewhere: start the ranks so that rank 0 has this directory, or move the manifest to rank 0's",
        ),
        None if !there && has_levels(directories)? => apart(
            "level files lie here, but rank 0's directory has no manifest: start the ranks so that rank 0 has the directory with the manifest, or choose another --dir",
        ),
        None => Ok(()),
    })();
    together(team, fits)?;
    if !there {
        return Ok(None);
    }
    let text = own.map_or(Vec::new(), |manifest| manifest.text().into_bytes());
    let text = team.share(text);
    let wrong = |reason| DiskError::Elsewhere {
        rank: team.rank(),
        reason: format!("rank 0 sends a manifest that it cannot read: {reason}"),
    };
    Ok(Some(together(team, Manifest::parse(&text).map_err(wrong))?))
}

fn has_levels(directories: &Directories) -> Result<bool, DiskError> {
    for storage in directories.all() {
        let names = storage.list().map_err(|e| DiskError::io(storage, "", e))?;
        if names.iter().any(|name| Manifest::is_file_name(name)) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns how the search is cut: as rank 0 decides, where every rank has the memory.
fn fit(
    search: &Search,
    disk: &Disk,
    team: &dyn Team,
    manifest: Option<&Manifest>,
) -> Result<Fit, Stopped> {
    let asked = manifest.map(|m| m.shared_digits as usize);
    let asked = asked.or(disk.shared_digits);
    let chosen = together(team, choose(search, disk, team.size(), asked))?;
    let digits = team.share(vec![chosen.shared_digits() as u8]);
    let digits = Some(usize::from(digits[0]));
    together(team, choose(search, disk, team.size(), digits))
}

/// Returns the fewest chunks that give every rank several and fit the memory of a rank.
fn choose(search: &Search, disk: &Disk, ranks: usize, asked: Option<usize>) -> Result<Fit, Error> {
    let size = search.goal.size();
    let layout = Layout::new(size.tiles()).ok_or(SearchError::TooSmall { size })?;
    let mut best = Err(None);
    for digits in asked.map_or(0..layout.prefix(), |k| k..k + 1) {
        let mut cut = disk.clone();
        cut.shared_digits = Some(digits);
        cut.planes = Some(PlaneStore::Files);
        match Fit::choose(search, &cut, None).and_then(|fit| with_letters(search, fit, ranks)) {
            Ok(fit) => {
                let enough = fit.chunks() >= ranks * CHUNKS_PER_RANK;
                best = Ok(fit);
                if enough {
                    break;
                }
            }
            Err(error) => best = best.map_err(|_: Option<Error>| Some(error)),
        }
    }
    best.map_err(|error| error.unwrap_or_else(|| SearchError::TooSmall { size }.into()))
}

/// Adds the letters of a rank to the memory that a search needs.
fn with_letters(search: &Search, fit: Fit, ranks: usize) -> Result<Fit, Error> {
    let size = search.goal.size();
    let space = crate::bfs::StateSpace::new(search.goal.clone())?;
    let puzzle = space.frame().path().puzzle();
    let classes = crate::bfs::classes::Classes::new(&puzzle);
    let classes = classes.ok_or(SearchError::TooLarge { size })?;
    let planes = crate::bfs::crossing::Crossings::count(&puzzle, &classes, fit.chunks);
    let chunk = (planes * fit.chunks.registers() * 8) as u64;
    let own = chunk * fit.chunks().div_ceil(ranks) as u64;
    // What has arrived for this step and the next; what leaves and arrives at a meeting.
    let letters = 2 * own + 2 * own.min(ROUND.max(chunk));
    let bytes = fit.bytes + letters;
    match search.memory {
        Some(budget) if bytes > budget => Err(SearchError::Memory {
            size,
            engine: crate::bfs::Engine::Disk,
            needed: bytes,
            budget,
        }
        .into()),
        _ => Ok(Fit { bytes, ..fit }),
    }
}
