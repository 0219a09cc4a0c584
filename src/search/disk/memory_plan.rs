//! How a search on disk fits the memory: how many chunks, and where the planes lie.

use crate::Error;
use crate::kernel::Kernel;
use crate::perm::{LANES, lehmer};
use crate::puzzle::{Metric, StateSpace};
use crate::search::disk::{Disk, DiskError};
use crate::search::{Chunks, Crossings, Engine, PlaneStore, Search, SearchError, SearchProblem};
use crate::store::{Codec, Manifest};

/// The memory of a search on disk.
#[derive(Clone, Copy, Debug)]
pub struct MemoryPlan {
    pub(crate) chunks: Chunks,
    /// Where the planes lie.
    pub planes: PlaneStore,
    /// Bytes of its arrays.
    pub bytes: u64,
    pub(crate) extent: Extent,
    /// How its files are coded.
    pub(crate) codec: Codec,
    /// Most groups of a level.
    pub(crate) groups: usize,
    /// Bytes of the planes of a level in files, 0 when they lie in memory.
    pub(crate) plane_files: u64,
    /// Batches of the next chunk that may be read ahead, about a megabyte each.
    pub(crate) read_ahead: usize,
}

/// How large a state space is, as far as files go.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extent {
    pub states: u64,
    /// Classes of levels.
    pub classes: u64,
    /// Whether the states seen are kept beside each level.
    pub seen: bool,
    /// Most that the widest of levels holds of all states, where nobody knows; a level of half of its class has the
    /// longest codes.
    pub widest: f64,
}

impl Extent {
    fn of(problem: &SearchProblem) -> Extent {
        let space = &problem.space;
        Extent {
            states: problem.space.numbered_states(),
            classes: problem.groups.classes.len() as u64,
            seen: problem.groups.directed,
            widest: match space.metric() {
                Some(Metric::Stm) => 0.09,
                Some(Metric::Mtm) => 0.16,
                None => 0.5 / problem.groups.classes.len() as f64,
            },
        }
    }
}

/// Whether levels of a state space can be cut into chunks.
pub(crate) fn suits(space: &StateSpace) -> bool {
    SearchProblem::chunked(space).is_ok()
}

/// Most memory for reading ahead.
const READ_AHEAD: u64 = 2 << 30;

/// Bytes of a batch that is read ahead, about.
const BATCH: u64 = 1 << 20;

impl MemoryPlan {
    /// Returns the number of chunks.
    pub fn chunks(&self) -> usize {
        self.chunks.count
    }

    /// Returns the fewest chunks that fit the memory, or those of a run that is there already.
    ///
    /// # Errors
    /// [`SearchError::Memory`] when even the most chunks do not fit.
    pub fn choose(
        search: &Search,
        disk: &Disk,
        manifest: Option<&Manifest>,
    ) -> Result<MemoryPlan, Error> {
        let asked = manifest.map(|m| m.shared_digits as usize);
        MemoryPlan::of(&SearchProblem::chunked(&search.space)?, search, disk, asked)
    }

    /// Returns the fewest chunks of a problem that fit the memory, or as many as asked for.
    pub(crate) fn of(
        problem: &SearchProblem,
        search: &Search,
        disk: &Disk,
        asked: Option<usize>,
    ) -> Result<MemoryPlan, Error> {
        let (puzzle, layout) = (problem.space.to_string(), problem.layout);
        let asked = asked.or(disk.shared_digits);
        let most = Chunks::cuts(layout).next_back().map_or(0, |chunks| chunks.digits);
        if let Some(digits) = asked.filter(|&digits| digits > most) {
            return Err(DiskError::Digits { puzzle, digits, most }.into());
        }
        let budget = search.memory.unwrap_or(u64::MAX);
        let mut least = u64::MAX;
        for chunks in Chunks::cuts(layout).filter(|cut| asked.is_none_or(|k| cut.digits == k)) {
            let planes = Crossings::count(&problem.groups, chunks) as u64;
            for store in [PlaneStore::Memory, PlaneStore::Files] {
                if disk.planes.is_some_and(|asked| asked != store) {
                    continue;
                }
                let chunk = chunks.registers() as u64;
                let sets = Crossings::sets(&problem.groups, chunks) as u64;
                let (words, plane_files) = match store {
                    PlaneStore::Memory => (planes * layout.registers() * 8 * sets, 0),
                    // Incoming and outgoing words, and the segments on their way.
                    PlaneStore::Files => {
                        (planes * chunk * 32, planes * layout.registers() * LANES as u64 / 8)
                    }
                };
                let bytes = chunk * 64 * problem.groups.most() as u64 + words;
                least = least.min(bytes);
                if bytes <= budget {
                    let ahead = ((budget - bytes) / 2).min(READ_AHEAD) / BATCH;
                    let kernel = search.kernel.unwrap_or_else(Kernel::best);
                    return Ok(MemoryPlan {
                        chunks,
                        planes: store,
                        bytes,
                        extent: Extent::of(problem),
                        codec: disk.codec.unwrap_or(Codec::best(kernel)),
                        groups: problem.groups.most(),
                        plane_files,
                        read_ahead: ahead.max(4) as usize,
                    });
                }
            }
        }
        let engine = Engine::Disk;
        Err(SearchError::Memory { puzzle, engine, needed: least, budget }.into())
    }

    /// Returns the fewest chunks that give every rank several and fit the memory of a rank with its messages, or as
    /// many as asked for.
    pub(crate) fn of_ranks(
        problem: &SearchProblem,
        search: &Search,
        disk: &Disk,
        ranks: usize,
        asked: Option<usize>,
    ) -> Result<MemoryPlan, Error> {
        let puzzle = problem.space.to_string();
        let disk = Disk { planes: Some(PlaneStore::Files), ..disk.clone() };
        let mut best = Err(SearchError::TooSmall { puzzle: puzzle.clone() }.into());
        let cuts = Chunks::cuts(problem.layout).map(|chunks| chunks.digits).collect();
        for digits in asked.map_or(cuts, |k| vec![k]) {
            let mut plan = MemoryPlan::of(problem, search, &disk, Some(digits));
            if let Ok(plan) = &mut plan {
                let planes = Crossings::count(&problem.groups, plan.chunks);
                let chunk = (planes * plan.chunks.registers() * 8) as u64;
                let own = chunk * plan.chunks().div_ceil(ranks) as u64;
                // What has arrived for this step and the next; what leaves and arrives after a superstep.
                plan.bytes += 2 * own + 2 * own.min(SENT.max(chunk));
            }
            match plan {
                Ok(MemoryPlan { bytes: needed, .. })
                    if search.memory.is_some_and(|m| needed > m) =>
                {
                    let (engine, budget) = (Engine::Disk, search.memory.unwrap_or(0));
                    let puzzle = puzzle.clone();
                    let refused = SearchError::Memory { puzzle, engine, needed, budget };
                    best = best.or(Err(refused.into()));
                }
                Ok(plan) => {
                    best = Ok(plan);
                    if plan.chunks() >= ranks * CHUNKS_PER_RANK {
                        break;
                    }
                }
                Err(error) => best = best.or(Err(error)),
            }
        }
        best
    }
}

/// The disk that a search may take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiskBudget {
    /// Bytes that its files may come to by the limit asked for.
    limit: u64,
    /// For each disk what is free and what its files take there already, and the share of its directories.
    disks: Vec<(u64, u64)>,
    /// The share of all.
    of: u64,
}

impl DiskBudget {
    /// Returns the room in the directories of a search.
    ///
    /// # Errors
    /// [`DiskError`] when a run is there whose manifest cannot be read.
    pub fn of(disk: &Disk) -> Result<DiskBudget, DiskError> {
        let manifest = disk.directories.manifest()?;
        let directories = &disk.directories;
        if manifest.is_none() {
            directories.deal(&directories.shares_by_room());
        }
        let shares = directories.shares();
        let (_, of) = shares.share(0);
        let mut devices: Vec<Option<u64>> = Vec::new();
        let mut disks: Vec<(u64, u64)> = Vec::new();
        for (place, storage) in directories.all().enumerate() {
            let Some(free) = storage.free() else { continue };
            let files = manifest.iter().flat_map(|manifest| &manifest.files);
            let chunks = files.flat_map(|files| &files.chunks);
            let here = chunks.filter(|record| shares.place(record.chunk as usize) == place);
            let taken: u64 = here.map(|record| record.bytes).sum();
            // Directories on one disk share what is free.
            let device = storage.device();
            let known = devices.iter().position(|d| device.is_some() && *d == device);
            let at = known.unwrap_or(disks.len());
            if at == disks.len() {
                devices.push(device);
                disks.push((free, 0));
            }
            disks[at].0 = disks[at].0.saturating_add(taken);
            disks[at].1 += u64::from(shares.share(place).0);
        }
        Ok(DiskBudget { limit: disk.limit.unwrap_or(u64::MAX), disks, of: of.into() })
    }

    /// Refuses what does not fit, in all or on any one disk.
    ///
    /// # Errors
    /// [`DiskError::Disk`] with the numbers.
    pub fn check(&self, needed: u64) -> Result<(), DiskError> {
        if needed > self.limit {
            return Err(DiskError::Disk {
                needed,
                limit: self.limit,
                advice: "raise --disk-limit if the disk has more, or start all the same with --ignore-space",
            });
        }
        for &(free, part) in &self.disks {
            let share = (u128::from(needed) * u128::from(part) / u128::from(self.of)) as u64;
            if share > free {
                return Err(DiskError::Disk {
                    needed: share,
                    limit: free,
                    advice: match self.disks.len() {
                        1 => {
                            "choose a --dir with more room, spread the chunks with several, or start all the same with --ignore-space"
                        }
                        _ => {
                            "that is the share of one of its disks; choose a --dir with more room, or start all the same with --ignore-space"
                        }
                    },
                });
            }
        }
        Ok(())
    }
}

// What a search on many machines sends over the network.
//
// Invariant: the figures are upper bounds of what [`crate::search::disk::run_distributed`] counts: blocks that are
// empty are left out on the way.

/// What ranks send to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network {
    /// Digits that all lines of a chunk share, K: the fewest that give every rank four chunks.
    pub shared_digits: usize,
    /// Number of chunks.
    pub chunks: usize,
    /// Windows that cross between chunks, for each pair of cells.
    pub windows: usize,
    /// Most bytes of a level over the network, of all ranks together: 1 bit per line and crossing window,
    /// but for the share that stays with its rank.
    pub level_bytes: u64,
    /// Bytes of segments that a rank holds: its own chunks' for two steps.
    pub rank_bytes: u64,
}

/// Chunks that every rank has at least, where the board allows: with fewer, those that have one more than
/// the others make them wait.
const CHUNKS_PER_RANK: usize = 4;

/// Most bytes that leave a rank in a superstep, if a chunk has not more.
pub(crate) const SENT: u64 = 256 << 20;

/// Returns what a search sends with a number of ranks.
///
/// Cost: none to speak of, no arrays are made.
///
/// # Errors
/// [`SearchError::TooLarge`], [`SearchError::TooSmall`] and [`SearchError::InMemory`] for what cannot be searched on disk.
///
/// ```
/// use tilewave::search::network;
/// use tilewave::puzzle::{Goal, StateSpace};
///
/// let space = StateSpace::of_board(Goal::Last.board("4x4".parse()?)?);
/// let network = network(&space, 16)?;
/// assert_eq!((network.shared_digits, network.windows), (2, 2));
/// assert_eq!(network.level_bytes, 153_243_090_000);
/// # Ok::<(), tilewave::Error>(())
/// ```
pub fn network(space: &StateSpace, ranks: usize) -> Result<Network, Error> {
    let problem = SearchProblem::chunked(space)?;
    let layout = problem.layout;
    let ranks = ranks.max(1);
    let enough = |cut: &Chunks| cut.count >= ranks * CHUNKS_PER_RANK;
    let cut = Chunks::cuts(layout).find(enough).or(Chunks::cuts(layout).next_back());
    let cut = cut.ok_or_else(|| SearchError::TooSmall { puzzle: space.to_string() })?;
    let windows = Crossings::count(&problem.groups, cut);
    let bits = u128::from(lehmer::even_count(layout.len())) * windows as u128;
    let bytes = |bits: u128| (bits / 8) as u64;
    let most = cut.count.div_ceil(ranks);
    let own = bits * most as u128 / cut.count as u128;
    Ok(Network {
        shared_digits: cut.digits,
        chunks: cut.count,
        windows,
        level_bytes: bytes(bits - bits / ranks as u128),
        rank_bytes: bytes(2 * own),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::puzzle::Goal;

    fn board(size: &str) -> StateSpace {
        StateSpace::of_board(Goal::Last.board(size.parse().unwrap()).unwrap())
    }

    #[test]
    fn bytes_are_a_bit_per_line_and_window() {
        let of = |size: &str, ranks| network(&board(size), ranks).unwrap();
        let lines = lehmer::even_count(11);
        // One process sends nothing and needs no chunks.
        let one = of("2x6", 1);
        assert_eq!((one.shared_digits, one.level_bytes), (1, 0));
        // Two ranks: 11 chunks of one crossing window; half of the bits stay.
        let two = of("2x6", 2);
        assert_eq!((two.shared_digits, two.chunks, two.windows), (1, 11, 1));
        assert_eq!(two.level_bytes, lines / 8 / 2);
        // Four ranks need 16 chunks. The second digit adds a window on 3x4, none on 2x6.
        assert_eq!(of("2x6", 4).windows, 1);
        let four = of("3x4", 4);
        assert_eq!((four.shared_digits, four.windows), (2, 2));
        assert_eq!(four.level_bytes, lines * 2 / 8 * 3 / 4);
        assert!(network(&board("2x3"), 2).is_err());
    }

    #[test]
    fn the_figures_of_the_page_are_right() {
        for (size, ranks, digits, chunks, windows, level, rank) in [
            ("2x7", 4, 2, 156, 1, 292e6, 0.2e9),
            ("3x5", 4, 2, 182, 2, 8.2e9, 5.5e9),
            ("2x8", 16, 2, 210, 1, 76.6e9, 10.9e9),
            ("4x4", 16, 2, 210, 2, 153e9, 21.8e9),
        ] {
            let found = network(&board(size), ranks).unwrap();
            let cut = (found.shared_digits, found.chunks, found.windows);
            assert_eq!(cut, (digits, chunks, windows), "{size}");
            assert!((found.level_bytes as f64 / level - 1.0).abs() < 0.01, "{size}: {found:?}");
            assert!((found.rank_bytes as f64 / rank - 1.0).abs() < 0.05, "{size}: {found:?}");
        }
    }
}
