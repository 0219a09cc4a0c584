//! Predicts the requirements of a search on disk: how it fits in memory, and its use of the disk and the network.
//!
//! Invariant: pure arithmetic, except for [`DiskBudget::of`]. The widths of levels are given; if there are none, the
//! number of all states yields an upper estimate.

use crate::{
    Error,
    hint::{Hint, IGNORE_SPACE},
    kernel::Kernel,
    perm::{LANES, lehmer},
    puzzle::{Metric, StateSpace},
    search::{
        Chunks, Crossings, Engine, PlaneStore, Search, SearchError, SearchProblem,
        disk::{Disk, Widths},
    },
    store::Codec,
    units::bytes,
};

/// The memory of a search on disk.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct MemoryPlan {
    pub(crate) chunks: Chunks,
    /// Where the planes are stored.
    pub planes: PlaneStore,
    /// Size of the arrays in memory, in bytes.
    pub bytes: u64,
    /// How its files are encoded.
    pub(crate) codec: Codec,
    /// Maximum number of groups of a level.
    pub(crate) groups: usize,
    /// Size in bytes of the planes of a level in files, 0 if they are in memory.
    pub(crate) plane_files: u64,
    /// Number of batches of the next chunk that may be read ahead, about a megabyte each.
    pub(crate) read_ahead: usize,
    /// The number of states, and of classes of levels.
    states: u64,
    classes: u64,
    /// Whether the states seen are stored together with each level.
    seen: bool,
    /// Maximum share of all states in the widest level, if that is unknown; a level with half of the states of its
    /// class has the longest codes.
    widest: f64,
}

const READ_AHEAD: u64 = 2 << 30;

/// Approximate size of a batch that is read ahead.
const BATCH: u64 = 1 << 20;

/// Minimum number of chunks of every rank, if the board allows it: with fewer, ranks with one more chunk than the
/// others make them wait.
const CHUNKS_PER_RANK: usize = 4;

/// Maximum number of bytes sent from a rank in a superstep, unless a single chunk has more.
pub(crate) const SENT: u64 = 256 << 20;

/// The error for a search that exceeds the memory limit.
fn too_large(problem: &SearchProblem, needed: u64, budget: u64) -> Error {
    let puzzle = problem.space.to_string();
    SearchError::Memory { puzzle, engine: Engine::Disk, needed, budget }.into()
}

impl MemoryPlan {
    /// Returns the number of chunks.
    pub fn chunks(&self) -> usize {
        self.chunks.count
    }

    /// Returns the plan with the fewest chunks that fit in memory, or with the number requested.
    ///
    /// # Errors
    /// [`SearchError::Memory`] if it does not fit even with the maximum number of chunks.
    pub fn choose(search: &Search, disk: &Disk) -> Result<MemoryPlan, Error> {
        let problem = SearchProblem::chunked(&search.space)?;
        MemoryPlan::of(&problem, search, disk, disk.shared_digits)
    }

    /// Returns the fewest chunks of a problem that fit in memory, or the number requested.
    pub(crate) fn of(
        problem: &SearchProblem,
        search: &Search,
        disk: &Disk,
        asked: Option<usize>,
    ) -> Result<MemoryPlan, Error> {
        let (space, layout, groups) = (&problem.space, problem.layout, &problem.groups);
        let most = Chunks::cuts(layout).next_back().map_or(0, |chunks| chunks.digits);
        if let Some(digits) = asked.filter(|&digits| digits > most) {
            let asked = digits.to_string();
            let asked = Hint::Value("shared_digits", &asked);
            let refused = format!("{asked} is too large: {space} allows at most {most}");
            return Err(SearchError::Digits(refused).into());
        }
        let classes = groups.classes.len() as u64;
        let budget = search.resources.memory.unwrap_or(u64::MAX);
        let mut least = u64::MAX;
        for chunks in Chunks::cuts(layout).filter(|cut| asked.is_none_or(|k| cut.digits == k)) {
            let planes = Crossings::count(groups, chunks) as u64;
            let stores = [PlaneStore::Memory, PlaneStore::Files].into_iter();
            for store in stores.filter(|store| disk.planes.is_none_or(|asked| asked == *store)) {
                let chunk = chunks.registers() as u64;
                let sets = Crossings::sets(groups, chunks) as u64;
                let (words, plane_files) = match store {
                    PlaneStore::Memory => (planes * layout.registers() * 8 * sets, 0),
                    // Incoming and outgoing words, and the segments on their way.
                    PlaneStore::Files => {
                        (planes * chunk * 32, planes * layout.registers() * LANES as u64 / 8)
                    }
                };
                let bytes = chunk * 64 * groups.most() as u64 + words;
                least = least.min(bytes);
                if bytes <= budget {
                    let ahead = ((budget - bytes) / 2).min(READ_AHEAD) / BATCH;
                    let kernel = search.resources.kernel.unwrap_or_else(Kernel::best);
                    return Ok(MemoryPlan {
                        chunks,
                        planes: store,
                        bytes,
                        codec: disk.codec.unwrap_or(Codec::best(kernel)),
                        groups: groups.most(),
                        plane_files,
                        read_ahead: ahead.max(4) as usize,
                        states: space.numbered_states(),
                        classes,
                        seen: groups.directed,
                        widest: match space.metric() {
                            Some(Metric::Stm) => 0.09,
                            Some(Metric::Mtm) => 0.16,
                            None => 0.5 / classes as f64,
                        },
                    });
                }
            }
        }
        Err(too_large(problem, least, budget))
    }

    /// Returns the fewest chunks that give every rank several and fit in the memory of a rank together with its
    /// messages, or the number requested.
    pub(crate) fn of_ranks(
        problem: &SearchProblem,
        search: &Search,
        disk: &Disk,
        ranks: usize,
        asked: Option<usize>,
    ) -> Result<MemoryPlan, Error> {
        let disk = disk.clone().planes(PlaneStore::Files);
        let budget = search.resources.memory.unwrap_or(u64::MAX);
        let with_messages = |mut plan: MemoryPlan| {
            let planes = Crossings::count(&problem.groups, plan.chunks);
            let chunk = (planes * plan.chunks.registers() * 8) as u64;
            let own = chunk * plan.chunks().div_ceil(ranks) as u64;
            // What has arrived for this step and the next; what is sent and received after a superstep.
            plan.bytes += 2 * own + 2 * own.min(SENT.max(chunk));
            let fits = plan.bytes <= budget;
            if fits { Ok(plan) } else { Err(too_large(problem, plan.bytes, budget)) }
        };
        let mut best = Err(SearchError::InMemory(problem.space.to_string()).into());
        let cuts = Chunks::cuts(problem.layout).map(|chunks| chunks.digits).collect();
        for digits in asked.map_or(cuts, |k| vec![k]) {
            match MemoryPlan::of(problem, search, &disk, Some(digits)).and_then(with_messages) {
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

/// The traffic between the ranks of a distributed search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Network {
    /// Number of digits that all lines of a chunk share, K: the smallest number that gives every rank four chunks.
    pub shared_digits: usize,
    /// Number of chunks.
    pub chunks: usize,
    /// Number of windows that cross between chunks, counted for each pair of cells.
    pub windows: usize,
    /// Upper bound on the number of bytes that all ranks together send for a level: 1 bit per line per crossing window,
    /// excluding the share that stays on its rank.
    pub level_bytes: u64,
    /// Size in bytes of the segments on a rank: those of its own chunks for two steps.
    pub rank_bytes: u64,
}

/// Returns the traffic of a search with a number of ranks.
///
/// Cost: negligible; no arrays are allocated.
///
/// # Errors
/// [`SearchError::TooLarge`], [`SearchError::TooSmall`] or [`SearchError::InMemory`] if the space cannot be searched on
/// disk.
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
    let cut = cut.ok_or_else(|| SearchError::InMemory(space.to_string()))?;
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

// The disk.

/// The disk space that a search may take.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DiskBudget {
    /// Maximum size of its files in bytes, according to the requested limit.
    limit: u64,
    /// For each disk, its number if known, the free space plus what its files take there already, and the share of its
    /// directories.
    disks: Vec<(Option<u64>, u64, u64)>,
    /// The sum of all shares.
    of: u64,
}

impl DiskBudget {
    /// Returns the disk space that a search may take in its directories.
    ///
    /// # Errors
    /// [`SearchError`] if the directories hold a run whose manifest cannot be read.
    pub fn of(disk: &Disk) -> Result<DiskBudget, SearchError> {
        let directories = &disk.directories;
        let manifest = directories.manifest()?;
        if manifest.is_none() {
            directories.deal(&directories.shares_by_room());
        }
        let shares = directories.shares();
        let (_, of) = shares.share(0);
        let mut disks: Vec<(Option<u64>, u64, u64)> = Vec::new();
        for (place, storage) in directories.all().enumerate() {
            let Some(free) = storage.free() else { continue };
            let files = manifest.iter().flat_map(|manifest| &manifest.files);
            let chunks = files.flat_map(|files| &files.chunks);
            let here = chunks.filter(|record| shares.place(record.chunk as usize) == place);
            let taken: u64 = here.map(|record| record.bytes).sum();
            // Directories on one disk share its free space.
            let device = storage.device();
            let known = disks.iter().position(|disk| device.is_some() && disk.0 == device);
            let at = known.unwrap_or(disks.len());
            if at == disks.len() {
                disks.push((device, free, 0));
            }
            disks[at].1 = disks[at].1.saturating_add(taken);
            disks[at].2 += u64::from(shares.share(place).0);
        }
        Ok(DiskBudget { limit: disk.limit.unwrap_or(u64::MAX), disks, of: of.into() })
    }

    /// Checks that `needed` bytes are within the limit, and that the share of each disk fits on that disk.
    ///
    /// # Errors
    /// [`SearchError::Refused`] with the figures.
    pub fn check(&self, needed: u64) -> Result<(), SearchError> {
        let refuse = |needed, limit, advice: String| {
            let (needed, limit) = (bytes(needed), bytes(limit));
            Err(SearchError::Refused(format!(
                "the search needs about {needed} of disk space at its peak, but only {limit} may \
                 be used: {advice}"
            )))
        };
        if needed > self.limit {
            return refuse(
                needed,
                self.limit,
                format!(
                    "raise {} if the disk has more space, or start anyway with {IGNORE_SPACE}",
                    Hint::Setting("disk_limit")
                ),
            );
        }
        for &(_, free, part) in &self.disks {
            let share = (u128::from(needed) * u128::from(part) / u128::from(self.of)) as u64;
            if share > free {
                let advice = if self.disks.len() == 1 {
                    format!(
                        "choose a directory with more space, specify several directories on \
                         different disks, or start anyway with {IGNORE_SPACE}"
                    )
                } else {
                    format!(
                        "these figures are for one of the disks; choose a directory with more \
                         space, or start anyway with {IGNORE_SPACE}"
                    )
                };
                return refuse(share, free, advice);
            }
        }
        Ok(())
    }
}

/// Maximum ratio of coded bytes to the entropy of independent bits, from measurements (`docs/notebook/disk.md`): states
/// cluster on lines, which makes frames smaller than for independent bits, and codes are not perfect, which makes them
/// larger. For levels of 2x7 in the single-tile metric, the ratio is 0.79 to 0.81 with zstd, and 0.67 to 0.75 with
/// rANS.
fn coded_share(plan: MemoryPlan) -> f64 {
    match (plan.codec, plan.classes) {
        (Codec::Zstd, 2) => 0.83,
        (Codec::Rans, 2) => 0.76,
        // Cells of both colours depend less on each other.
        (Codec::Zstd, _) => 0.92,
        (Codec::Rans, _) => 0.84,
    }
}

/// The disk space and traffic that a search takes.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Estimate {
    /// Size of each level's files in bytes; empty if the widths are unknown.
    pub level_bytes: Vec<u64>,
    /// Peak size of the level files, in bytes.
    pub peak_bytes: u64,
    /// Total bytes written.
    pub bytes_written: u64,
    /// Total bytes read: every level once as the current level and once as the previous one.
    pub bytes_read: u64,
}

/// Minimum size of a file on disk: a block of the file system.
const FILE: u64 = 4096;

/// Approximate size of a frame with a single state, including its entry in the index.
const FRAME: u64 = 80;

/// Returns the size in bytes of the states of a class, as one long row of bits of which `bits` are coded.
fn coded(plan: MemoryPlan, states: u64, bits: f64) -> u64 {
    // A class has one bit for each of its states.
    let all = plan.states as f64 / plan.classes as f64;
    let p = (states as f64 / all).clamp(0.0, 1.0);
    let entropy = |p: f64| if p > 0.0 { -p * p.log2() } else { 0.0 };
    ((entropy(p) + entropy(1.0 - p)) * bits / 8.0 * coded_share(plan)) as u64
}

/// Returns the size in bytes of the frames of some states of a class.
fn level_bytes(plan: MemoryPlan, states: u64) -> u64 {
    coded(plan, states, plan.states as f64 / plan.classes as f64)
}

/// The maximum share of the first levels in the time of the complete search, if not everything is known.
pub(crate) fn share(first: &Widths, published: &[u64], plan: MemoryPlan) -> f64 {
    if first.counts.is_empty() {
        return 1.0;
    }
    let all = match published {
        // As if all levels had the maximum width: there are at least this many.
        [] => 1.0 / plan.widest,
        published => passes(published, plan),
    };
    (passes(&first.counts, plan) / all).min(1.0)
}

/// Returns the cost of levels with these widths, in passes over all lines: a block is computed as a whole if a state
/// can arrive in it, and from each state about three blocks can be reached.
fn passes(widths: &[u64], plan: MemoryPlan) -> f64 {
    let blocks = plan.chunks.layout.blocks() as f64;
    let touched = |&width: &u64| 1.0 - (-3.0 * width as f64 / blocks).exp();
    widths.iter().map(touched).sum()
}

/// The number of states that the levels of a class have contained up to each depth.
fn seen(widths: &[u64], classes: u64) -> Vec<u64> {
    let mut sums = widths.to_vec();
    for depth in classes as usize..sums.len() {
        sums[depth] = sums[depth].saturating_add(sums[depth - classes as usize]);
    }
    sums
}

/// Size of a state that crosses alone: the number of its block, and its position there.
const CROSSING: u64 = 6;

/// Number of chunks that a commit may find written but not yet durable, with 10 seconds between commits (3x5: 3.7).
const UNCOMMITTED: usize = 4;

/// Returns the disk space and traffic that a search with these level widths takes.
pub fn estimate(widths: &Widths, plan: MemoryPlan, keep_all: bool) -> Estimate {
    if widths.exact || widths.counts.is_empty() {
        return estimate_of(&widths.counts, plan, keep_all, u64::MAX);
    }
    // Codes are longest for half of a class: if the number may exceed that, half is assumed.
    let half = plan.states / plan.classes / 2;
    let first = estimate_of(&widths.counts, plan, keep_all, half);
    let whole = estimate_of(&[], plan, keep_all, half);
    Estimate {
        peak_bytes: first.peak_bytes.min(whole.peak_bytes),
        bytes_written: first.bytes_written.min(whole.bytes_written),
        bytes_read: first.bytes_read.min(whole.bytes_read),
        level_bytes: first.level_bytes,
    }
}

/// Returns the requirements of levels with these widths; empty if they are unknown. Widths and their sums count only up
/// to the maximum `most`.
fn estimate_of(widths: &[u64], plan: MemoryPlan, keep_all: bool, most: u64) -> Estimate {
    let chunks = plan.chunks() as u64;
    let frames = (plan.chunks.frames() * plan.groups) as u64 * chunks;
    // In a thin level, every state has its own frame, and every few states have their own file.
    let level_of = |states: u64| {
        level_bytes(plan, states) + FRAME * states.min(frames) + FILE * states.min(chunks)
    };
    let widest = (plan.states as f64 * plan.widest) as u64;
    // The states seen so far are stored together with each level, if they are needed; half of all states take most
    // space.
    let beside = |seen: u64| u64::from(plan.seen) * level_bytes(plan, seen);
    let most_beside = beside(plan.states / plan.classes / 2);
    let seen = seen(widths, plan.classes).into_iter().map(|sum| sum.min(most));
    let widths: Vec<u64> = widths.iter().map(|&width| width.min(most)).collect();
    let level: Vec<u64> = widths.iter().zip(seen).map(|(&w, s)| level_of(w) + beside(s)).collect();
    let written: u64 = match level.is_empty() {
        // As if all levels had the maximum width.
        true => ((level_of(widest) + most_beside) as f64 / plan.widest) as u64,
        false => level.iter().sum(),
    };
    // The current level is complete; the previous one becomes the next chunk by chunk, and what a commit has not yet
    // made durable exists twice.
    let extra = |bytes: u64| bytes * chunks.min(UNCOMMITTED as u64) / chunks;
    // Planes are coded like levels; those of thin levels give the position of each state.
    let planes = plan.plane_files;
    let there = |states: u64| match planes {
        0 => 0,
        planes => {
            let alone = CROSSING * states.min(frames * 64) + FILE * states.min(chunks);
            coded(plan, states, planes as f64 * 8.0) + alone
        }
    };
    let widest = (widest, level_of(widest) + most_beside);
    let mut levels: Vec<(u64, u64)> = widths.iter().copied().zip(level.iter().copied()).collect();
    match levels.len() {
        0 => levels = vec![widest; 2],
        1 => levels.insert(0, (0, 0)),
        _ => {}
    }
    let steps = levels.windows(2).map(|two| {
        let [from, to] = [two[0].1, two[1].1];
        let levels = if keep_all { written } else { from + to + extra(from.max(to)) };
        // The disk space of planes that are read is freed for those that are written; for one chunk, both exist.
        let [read, written] = [two[0].0, two[1].0].map(there);
        levels + read.max(written) + (read + written) / chunks
    });
    let peak = steps.max().unwrap_or(0);
    let sent = if level.is_empty() {
        (planes as f64 / plan.widest) as u64
    } else {
        widths.iter().map(|&width| there(width)).sum()
    };
    Estimate {
        peak_bytes: peak,
        bytes_written: written + sent,
        bytes_read: written.saturating_mul(2) + sent,
        level_bytes: level,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        puzzle::{Goal, Size, families},
        search::forecast::in_memory,
    };

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

    #[test]
    fn a_puzzle_that_nobody_has_searched_may_have_half_of_a_class_in_a_level() {
        for (name, classes) in [("coxeter:12", 2), ("stars:12", 2), ("lrx:11", 1)] {
            let search = Search::of(StateSpace::of_puzzle(families::parse(name).unwrap()));
            let plan = MemoryPlan::choose(&search, &in_memory()).unwrap();
            assert_eq!(plan.classes, classes, "{name}");
            let found = estimate(&Widths::default(), plan, false);
            // Two levels with one bit for each state of a class, of which codes take at least 0.83 if there are two
            // classes.
            let most = 2 * plan.states / classes / 8;
            assert!(found.peak_bytes > most / 4 * 3, "{name}: {found:?}");
            assert!(found.peak_bytes < most * 2, "{name}: {found:?}");
            assert!(found.bytes_written > found.peak_bytes / 2, "{name}: {found:?}");
        }
    }

    #[test]
    fn estimates_grow_with_the_levels() {
        let size = Size::new(3, 4).unwrap();
        let search = Search::new(Goal::Last.board(size).unwrap());
        let mut disk = in_memory();
        disk.shared_digits = Some(1);
        let plan = MemoryPlan::choose(&search, &disk).unwrap();
        let counts = vec![1, 1000, 20_000_000, 21_841_159, 10_000];
        let widths = Widths { counts: counts.clone(), exact: true };
        let found = estimate(&widths, plan, false);
        assert!(found.level_bytes[..4].is_sorted());
        // Two levels of 21 MB of registers each, at half their size.
        assert!((15_000_000..25_000_000).contains(&found.peak_bytes), "{found:?}");
        assert!(found.bytes_written < found.peak_bytes);
        assert_eq!(found.bytes_read, 2 * found.bytes_written);
        assert_eq!(estimate(&widths, plan, true).peak_bytes, found.bytes_written);
        let unknown = estimate(&Widths::default(), plan, false);
        assert!(unknown.peak_bytes >= found.peak_bytes * 9 / 10);
        assert!(unknown.bytes_written > unknown.peak_bytes);
        disk.planes = Some(PlaneStore::Files);
        let files = MemoryPlan::choose(&search, &disk).unwrap();
        // The first depths of a board that has never been searched take next to nothing.
        let large = Size::new(4, 4).unwrap();
        let four = Search::new(Goal::Last.board(large).unwrap());
        disk.planes = Some(PlaneStore::Memory);
        let wide = MemoryPlan::choose(&four, &disk).unwrap();
        disk.planes = Some(PlaneStore::Files);
        let thin = |depth| crate::search::disk::widths(&four.space, &[], Some(depth)).unwrap();
        assert_eq!(thin(20).counts[..4], [1, 2, 4, 10]);
        assert_eq!(thin(20).counts.len(), 21);
        let most = estimate(&thin(10), wide, false).peak_bytes;
        assert!(most < 100_000_000, "{most}");
        // In separate files, 12,000 states take 12,000 blocks of the file system.
        disk.shared_digits = Some(5);
        let many = MemoryPlan::choose(&four, &disk).unwrap();
        assert_eq!(many.chunks(), 360_360);
        let twelve = thin(12).counts;
        assert!(twelve[12] + twelve[11] > 12_000, "{twelve:?}");
        let many = estimate(&thin(12), many, false);
        assert!(many.peak_bytes > (twelve[12] + twelve[11]) * FILE, "{many:?}");
        assert_eq!(thin(60), Widths::default());
        // The same holds for their time in a search whose levels are unknown.
        assert!(share(&thin(10), &[], wide) < 0.1);
        assert_eq!(share(&thin(60), &[], wide), 1.0);
        assert_eq!(share(&widths, &counts, plan), 1.0);
        let known = crate::search::disk::widths(&search.space, &counts, Some(1)).unwrap();
        assert!(known.exact && known.counts == [1, 1000]);
        // Planes of 332,640 registers of 60 lines: one bit for each, coded like the levels; they exist once, and those
        // of one chunk twice.
        let more = estimate(&widths, files, false).peak_bytes - found.peak_bytes;
        let dense = 332_640 * 60 / 8;
        let share = found.level_bytes[3] as f64 / (239_500_800.0 / 2.0 / 8.0);
        let coded = (f64::from(dense) * share * 12.0 / 11.0) as u64;
        assert!((coded..coded + 1_000_000).contains(&more), "{coded} {more}");
    }
}
