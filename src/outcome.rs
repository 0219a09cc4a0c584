//! The result of a search, whichever engine ran it.
//!
//! Searches return an [`Outcome`]; reports, the program and Python read it.

use num_bigint::BigUint;

use crate::{
    kernel::Kernel,
    puzzle::{Arrangement, Searched, State, StateSpace},
    random::SplitMix64,
    store::{LevelRecord, Manifest},
    units::names,
};

/// An engine that runs a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// Makes streaming passes over byte arrays in memory; needs numbered states and lines with at least 6 elements.
    Sweep,
    /// Unranks, expands and ranks every frontier state; plain and slow, but runs any board.
    Reference,
    /// Makes the passes of the sweep engine, with the levels in files and one chunk at a time in memory; needs lines
    /// with at least 6 elements.
    Disk,
    /// Keeps each level as sorted lists of states, up to symmetry, in memory or in files; runs any puzzle.
    Frontier,
    /// Keeps a bit for each state in files, for complete searches of puzzles whose states are a product.
    Bitmap,
    /// Finds shortest solutions of some of the states of a puzzle ([`StateSubset`](crate::solve::StateSubset)).
    Solver,
}

names! { Engine:
    "sweep" = Sweep, "Streaming passes over byte arrays in memory";
    "reference" = Reference, "Simple and slow, for any puzzle with numbered states";
    "disk" = Disk, "Like sweep, but with the levels in files";
    "frontier" = Frontier, "Lists of states: for any puzzle, as deep as memory and disk space allow";
    "bitmap" = Bitmap, "A bit for each state, in files: for complete searches of many states";
    "solver" = Solver, "A shortest solution of each state, for some of the states of any puzzle";
}

/// Where a search on disk keeps the planes: the bits that cross between chunks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlaneStore {
    /// The planes of all chunks are in memory: 8 bytes per plane per register.
    Memory,
    /// The planes are in files; those of one chunk at a time are in memory.
    Files,
}

names! { PlaneStore:
    "memory" = Memory, "In memory";
    "files" = Files, "In files";
}

/// The result of a search: one count and one checksum per depth, and how they were computed.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Outcome {
    /// The puzzle that was searched, from its start.
    pub searched: Searched,
    /// What the states have in common, as text, if only some states were solved; empty for a search of all states.
    pub among: Vec<String>,
    /// Number of reachable states, or of those that were solved; `None` if it is not known.
    pub states: Option<BigUint>,
    /// Engine that ran.
    pub engine: Engine,
    /// Kernel that ran; the reference engine has none.
    pub kernel: Option<Kernel>,
    /// Number of worker threads.
    pub threads: usize,
    /// Number of states at each depth.
    pub counts: Vec<u64>,
    /// Checksum at each depth. Engines of numbered states agree in theirs; list searches have others, which do not
    /// depend on symmetries, kernel, threads and memory.
    pub checksums: Vec<u64>,
    /// Wall-clock time per depth, in seconds.
    pub level_seconds: Vec<f64>,
    /// What a list search says of its levels.
    pub lists: Option<ListLevels>,
    /// Whether the levels contain all states: no new state was found, or as many as there are, if that is known.
    pub complete: bool,
    /// Wall-clock time of the whole search, including allocation, in seconds.
    pub seconds: f64,
    /// Size of the state arrays, or peak size of the lists in memory, in bytes.
    pub array_bytes: u64,
    /// States of the last depth, in increasing order, at most as many as were asked for.
    pub last: LastStates,
    /// The resources that a search on disk used.
    pub disk: Option<DiskUse>,
}

/// What a list search says of its levels.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ListLevels {
    /// Number of symmetries of the puzzle that were used, 1 for none.
    pub symmetries: usize,
    /// Number of all symmetries of the puzzle; `None` if it is not known.
    pub all_symmetries: Option<BigUint>,
    /// Number of states up to symmetry at each depth; `None` if the search did not use all symmetries.
    pub reduced: Option<Vec<u64>>,
    /// Number of keys that moves produced for each depth, including duplicates.
    pub generated: Vec<u64>,
    /// Number of new keys at each depth: slightly more than the number of states up to symmetry.
    pub kept: Vec<u64>,
    /// Size of each level's lists in memory or on disk, in bytes; 0 if its states were only counted.
    pub bytes: Vec<u64>,
}

/// States of the last depth.
#[derive(Clone, Debug, PartialEq)]
pub enum LastStates {
    /// States with numbers.
    Numbered(Vec<State>),
    /// States of a list search, in the order of their arrangements.
    Listed(Vec<Arrangement>),
}

/// The resources that a search on disk used.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct DiskUse {
    /// Peak size of all files, in bytes.
    pub peak_bytes: u64,
    /// Number of chunks.
    pub chunks: usize,
    /// Where the planes were kept; list searches have none.
    pub planes: Option<PlaneStore>,
    /// Number of bytes of level files written, over all sessions.
    pub bytes_written: u64,
    /// Size of each level's files, in bytes.
    pub level_bytes: Vec<u64>,
    /// Thread-seconds of this session spent decoding.
    pub decode_seconds: f64,
    /// Thread-seconds of this session spent in the kernel, including the planes.
    pub kernel_seconds: f64,
    /// Thread-seconds of this session spent encoding.
    pub encode_seconds: f64,
    /// Thread-seconds of this session during which workers waited for a reader or the writer.
    pub wait_seconds: f64,
    /// Number of processes in this session.
    pub ranks: usize,
    /// Number of bytes that ranks sent to each other in this session for the step to each depth.
    pub network_bytes: Vec<u64>,
}

/// Whether levels are all levels of a puzzle: they `ended` with an empty one, or contain all of its states, if their
/// number is known. A search to the last depth ends with no empty level.
pub(crate) fn is_complete<N: From<u64> + PartialEq>(
    ended: bool,
    found: u64,
    all: Option<N>,
) -> bool {
    ended || all == Some(found.into())
}

impl DiskUse {
    /// Returns what a manifest says of the disk.
    pub(crate) fn of(manifest: &Manifest, ranks: usize) -> DiskUse {
        DiskUse {
            peak_bytes: manifest.peak_bytes,
            chunks: manifest.chunks as usize,
            bytes_written: manifest.bytes_written,
            level_bytes: manifest.levels.iter().map(|level| level.bytes).collect(),
            ranks,
            ..DiskUse::default()
        }
    }
}

impl Outcome {
    /// Returns the outcome of a search that has found these levels; `ended` says that there are no others. What was
    /// used for it is left out.
    pub(crate) fn of(
        (searched, states): (Searched, Option<BigUint>),
        (engine, kernel): (Engine, Option<Kernel>),
        levels: &[LevelRecord],
        ended: bool,
    ) -> Outcome {
        let counts: Vec<u64> = levels.iter().map(|level| level.states).collect();
        Outcome {
            searched,
            among: Vec::new(),
            complete: is_complete(ended, counts.iter().sum(), states.clone()),
            states,
            engine,
            kernel,
            threads: 0,
            counts,
            checksums: levels.iter().map(|level| level.checksum).collect(),
            level_seconds: levels.iter().map(|level| level.seconds).collect(),
            lists: None,
            seconds: 0.0,
            array_bytes: 0,
            last: LastStates::Numbered(Vec::new()),
            disk: None,
        }
    }

    /// Returns the number of states found.
    pub fn total(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Returns the state space, if the states were searched by their numbers.
    pub fn space(&self) -> Option<&StateSpace> {
        match &self.searched {
            Searched::Numbered(space) => Some(space),
            Searched::Listed(_) => None,
        }
    }

    /// Whether the largest depth of the complete search is God's number.
    pub(crate) fn begins_at_goal(&self) -> bool {
        self.among.is_empty()
            && self.space().is_none_or(|space| space.start_text() == space.goal_text())
    }

    /// Returns the largest depth (God's number if start and goal are equal), or `None` if the search stopped early.
    pub fn diameter(&self) -> Option<usize> {
        self.complete.then(|| self.counts.len() - 1)
    }

    /// Returns the number of states at the largest depth, or `None` if the search stopped early.
    pub fn antipodes(&self) -> Option<u64> {
        self.counts.last().copied().filter(|_| self.complete)
    }

    /// Returns the number of states up to symmetry at each depth; `None` if they were not counted.
    pub fn reduced(&self) -> Option<&[u64]> {
        self.lists.as_ref()?.reduced.as_deref()
    }

    /// Returns the number of symmetries of the puzzle that were used, 1 for none.
    pub fn symmetries(&self) -> usize {
        self.lists.as_ref().map_or(1, |lists| lists.symmetries)
    }

    /// Returns the mean depth of the states found.
    pub fn mean_depth(&self) -> f64 {
        let sum: u128 =
            self.counts.iter().enumerate().map(|(d, &c)| d as u128 * u128::from(c)).sum();
        sum as f64 / self.total() as f64
    }

    /// Returns at most `most` states of the last depth in the puzzle's notation, which reads them back.
    pub fn last_texts(&self, most: usize) -> Vec<String> {
        match (&self.last, &self.searched) {
            (LastStates::Numbered(states), Searched::Numbered(space)) => {
                states.iter().take(most).map(|&state| space.text(state)).collect()
            }
            (LastStates::Listed(states), Searched::Listed(puzzle)) => {
                states.iter().take(most).map(|state| puzzle.text(state)).collect()
            }
            _ => Vec::new(),
        }
    }
}

impl LastStates {
    /// Returns the number of states.
    pub fn len(&self) -> usize {
        match self {
            LastStates::Numbered(states) => states.len(),
            LastStates::Listed(states) => states.len(),
        }
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Keeps at most `most` states, chosen at random with a seed, all equally likely, and in a random order. Cost: sorting.
    pub fn choose(&mut self, most: usize, seed: u64) {
        fn chosen<T: Ord>(states: &mut Vec<T>, most: usize, seed: u64) {
            // Threads find them in any order.
            states.sort_unstable();
            let mut random = SplitMix64::new(seed);
            for at in 0..states.len().min(most) {
                let left = states.len() - at;
                states.swap(at, at + random.below(left as u64) as usize);
            }
            states.truncate(most);
        }
        match self {
            LastStates::Numbered(states) => chosen(states, most, seed),
            LastStates::Listed(states) => chosen(states, most, seed),
        }
    }

    /// Returns the states with numbers; none of a list search.
    pub fn numbered(&self) -> &[State] {
        match self {
            LastStates::Numbered(states) => states,
            LastStates::Listed(_) => &[],
        }
    }

    /// Returns the states of a list search; none with numbers.
    pub fn listed(&self) -> &[Arrangement] {
        match self {
            LastStates::Numbered(_) => &[],
            LastStates::Listed(states) => states,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::LastStates;
    use crate::puzzle::State;

    #[test]
    fn states_are_chosen_as_often_as_others() {
        let all: Vec<State> = (0..6).map(|line| State { line, cell: 0 }).collect();
        let mut often = [[0; 2]; 6];
        for seed in 0..6000 {
            let mut states = LastStates::Numbered(all.iter().rev().copied().collect());
            states.choose(2, seed);
            let [first, second] = states.numbered() else { panic!("two of six") };
            assert_ne!(first, second);
            often[first.line as usize][0] += 1;
            often[second.line as usize][1] += 1;
        }
        // A thousand each; five standard deviations are 144.
        assert!(often.as_flattened().iter().all(|many| (856..1144).contains(many)), "{often:?}");
    }
}
