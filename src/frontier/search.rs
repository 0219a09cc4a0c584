//! The search: level after level, until the last one that is requested or that exists.

use std::{
    collections::BTreeSet,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicUsize, Ordering},
    },
    time::Instant,
};

use num_bigint::BigUint;

use crate::{
    Error,
    frontier::{
        bit_levels::{BitLevels, BucketRanks},
        bucket_space::{BucketSpace, CoordinateChoice, LevelForm, ListShape},
        canonical::{CanonicalLevels, CanonicalStates},
        level::LevelWork,
        levels::{FoundLevels, FoundLists, LevelStore, LevelUse, MemoryLevels},
        lists::BucketLists,
        product::ProductSpace,
        symmetry::{PuzzleRows, SymmetryGroup},
    },
    kernel::{Kernel, by_words, keys::KeyLayout},
    outcome::{Engine, LastStates, ListLevels, Outcome},
    progress::{LevelDone, NoProgress, Phase, Progress},
    puzzle::{Arrangement, Move, Puzzle, Searched},
    resources::{Resources, resource_setters, setters},
    stop::SearchError,
    store::{LevelRecord, ListCounts, ListCut, StorageError},
    threads::pool,
};

/// Number of bytes of keys that a thread generates at once, however little memory there is.
const LEAST_SLICE: usize = 32 << 20;
/// Number of bytes of a key of all fields beyond which keys take longer than rows: those of buckets are too long for
/// registers.
const LONG_KEY: f64 = 40.0;

/// A list search of a puzzle with several sets, from its solved states.
///
/// ```
/// use tilewave::frontier::FrontierSearch;
/// use tilewave::puzzle::{PieceSet, Move, Puzzle, SetAction, Transformation};
/// // Three coins in a row; a move turns two neighbours over.
/// let turn = |coins: [u8; 3]| Transformation(vec![SetAction { source: vec![0, 1, 2], twist: coins.into() }]);
/// let one = |name: &str, coins| Move { name: name.into(), transformation: turn(coins), requires: None };
/// let coins = vec![PieceSet::distinct("coins", 3, 2)];
/// let puzzle = Puzzle::new("coins", coins, vec![one("L", [1, 1, 0]), one("R", [0, 1, 1])])?;
/// let found = FrontierSearch::new(puzzle).run()?;
/// assert_eq!(found.counts, [1, 2, 1]);
/// assert_eq!(found.lists.unwrap().reduced, Some(vec![1, 1, 1])); // L and R are mirror images
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FrontierSearch {
    puzzle: Puzzle,
    /// What is the same for all searches of the puzzle, made when it is needed.
    rows: Arc<OnceLock<PuzzleRows>>,
    /// The states as a product, if they are one, without symmetries and with them.
    products: Arc<[OnceLock<Option<ProductSpace>>; 2]>,
    /// Last depth to compute, `None` for all depths. The states at this depth are counted but not stored.
    pub max_depth: Option<usize>,
    /// Number of levels before the last one that are not stored either: the lists end this much earlier, and several
    /// successive moves lead from there to the last level. At most [`FrontierSearch::MOST_AHEAD`] are used.
    pub count_ahead: usize,
    /// Whether states are reduced by symmetries.
    pub symmetry: bool,
    /// Whether a search on disk keeps bitmaps, a bit for each state of the puzzle, instead of lists. The states must be a
    /// product: where pieces are and how they are turned must not depend on each other.
    pub bitmaps: bool,
    /// Maximum number of states of the last level to return; its lists are then stored. If the level has more states,
    /// which ones are returned depends on this number.
    pub keep_last: usize,
    /// Resources that the search may use; `memory` limits the levels.
    pub resources: Resources,
    /// Whether this is one of several measuring searches, whose progress is not reported.
    pub(super) measures: bool,
}

setters! { FrontierSearch: count_ahead: usize, symmetry: bool, bitmaps: bool, keep_last: usize,; max_depth: usize, }
resource_setters! { FrontierSearch }

impl FrontierSearch {
    /// The greatest number of levels before the last one that can be counted without being stored.
    pub const MOST_AHEAD: usize = 3;

    /// Returns a complete search with default options.
    pub fn new(puzzle: Puzzle) -> FrontierSearch {
        FrontierSearch {
            puzzle,
            rows: Arc::default(),
            products: Arc::default(),
            max_depth: None,
            count_ahead: 0,
            symmetry: true,
            bitmaps: false,
            keep_last: 0,
            resources: Resources::new(),
            measures: false,
        }
    }

    /// Returns the puzzle that is searched.
    pub fn puzzle(&self) -> &Puzzle {
        &self.puzzle
    }

    /// Returns the puzzle's states as rows.
    pub(super) fn rows(&self) -> &PuzzleRows {
        self.rows.get_or_init(|| PuzzleRows::of(&self.puzzle))
    }

    /// Runs the search in memory, on its own threads. Cost: a few nanoseconds per state up to symmetry per move; 8
    /// bytes per state up to symmetry for every 60 bits that a state takes, for the two widest levels that are stored.
    /// Lists that would take more than half of the memory are coded, which takes 1 to 6 bytes per state and about 100
    /// ns more for each. Full levels take three bits for each state of the puzzle up to symmetry, if that is less.
    ///
    /// # Errors
    /// [`SearchError`].
    pub fn run(&self) -> Result<Outcome, Error> {
        self.run_with(&NoProgress)
    }

    /// Runs the search like [`FrontierSearch::run`], with an observer that sees the progress and may stop the work
    /// ([`SearchError::Interrupted`]).
    pub fn run_with(&self, progress: &dyn Progress) -> Result<Outcome, Error> {
        if self.bitmaps {
            return Err(SearchError::NoFiles(Engine::Bitmap).into());
        }
        self.check_room(progress)?;
        self.timed(|of| self.run_kept(self.weigh(of), of, progress))
    }

    /// Runs the search in memory with its levels kept in a way, or in buckets if there are more states than expected: keys
    /// are shorter, can be coded, or become bits.
    fn run_kept(
        &self,
        keeping: LevelKeeping,
        of: &PuzzleRows,
        progress: &dyn Progress,
    ) -> Result<Outcome, Error> {
        let reported = AtomicUsize::new(0);
        let choice = match keeping {
            LevelKeeping::Buckets(choice) => choice,
            LevelKeeping::Canonical => match self.search_canonical(of, progress, &reported) {
                Err(Error::Search(SearchError::Level { .. })) => self.choose(of, None),
                found => return found,
            },
        };
        let progress = &Repeating { progress, reported: reported.into_inner() };
        self.search(of, &choice, &mut MemoryLevels::default(), progress)
    }

    /// Runs the search with its lists in a store; its coordinate may be given.
    pub(crate) fn run_in(
        &self,
        store: &mut dyn LevelStore,
        cut: Option<&ListCut>,
        progress: &dyn Progress,
    ) -> Result<Outcome, Error> {
        self.timed(|of| self.search(of, &self.choose(of, cut), store, progress))
    }

    /// Returns the puzzle's states as a product; an error if they are none.
    pub(crate) fn product(&self, symmetric: bool) -> Result<&ProductSpace, SearchError> {
        let product = &self.products[usize::from(symmetric)];
        let product = product.get_or_init(|| ProductSpace::of(&self.puzzle, symmetric)).as_ref();
        product.ok_or_else(|| {
            let puzzle = self.puzzle.to_string();
            match self.puzzle.states() {
                Some(states) if states > ProductSpace::MOST_STATES.into() => {
                    SearchError::BitmapStates(puzzle)
                }
                _ => SearchError::Bitmaps(puzzle),
            }
        })
    }

    /// Runs a search on its own threads.
    pub(crate) fn timed(
        &self,
        search: impl FnOnce(&PuzzleRows) -> Result<Outcome, Error> + Send,
    ) -> Result<Outcome, Error> {
        let pool = pool(self.resources.threads)?;
        let begun = Instant::now();
        let mut found = pool.install(|| search(self.rows()))?;
        found.threads = pool.current_num_threads();
        found.seconds = begun.elapsed().as_secs_f64();
        Ok(found)
    }

    /// Returns how a search in memory keeps its levels. Only buckets have kernels, count ahead, and take moves that depend
    /// on the state.
    pub(super) fn weigh(&self, of: &PuzzleRows) -> LevelKeeping {
        let Resources { memory, kernel, .. } = self.resources;
        let buckets = || CoordinateChoice::weighed(of, self.symmetry, self.max_depth, memory);
        let fields = of.fields.fields.len();
        let (shape, long) = (ListShape::canonical(of, self.symmetry), ListShape::whole(&of.fields));
        let widest = of.widest(self.max_depth) / shape.symmetries;
        let fits = |memory: u64| 6.0 * widest * shape.key_bytes < memory as f64;
        let can = of.puzzle.allows_all_moves()
            && (1..usize::from(u16::MAX)).contains(&fields)
            && of.moves.len() < usize::from(u16::MAX)
            && kernel.is_none()
            && self.count_ahead == 0
            && memory.is_none_or(fits);
        if !can {
            return LevelKeeping::Buckets(buckets().0);
        }
        if long.key_bytes > LONG_KEY {
            return LevelKeeping::Canonical;
        }
        let (choice, cost) = buckets();
        let each = 200.0 + 8.0 * fields as f64;
        match widest * of.moves.len() as f64 * each < cost {
            true => LevelKeeping::Canonical,
            false => LevelKeeping::Buckets(choice),
        }
    }

    /// Returns an estimate of the number of states at the last depth, based on the growth of the first levels. Cost:
    /// that of searching some thousand states.
    pub(crate) fn expected_widest(&self) -> f64 {
        self.rows().widest(self.max_depth)
    }

    /// Returns the choice of a run, or a new one.
    pub(super) fn choose(&self, of: &PuzzleRows, cut: Option<&ListCut>) -> CoordinateChoice {
        let memory = self.resources.memory;
        let new = || CoordinateChoice::new(of, self.symmetry, self.max_depth, memory);
        cut.map_or_else(new, CoordinateChoice::of_cut)
    }

    /// Returns the buckets of a run, or of a new one.
    pub(crate) fn space_of(&self, cut: Option<&ListCut>) -> Result<BucketSpace, SearchError> {
        self.space(self.rows(), &self.choose(self.rows(), cut))
    }

    /// Returns the buckets of the puzzle for a given coordinate.
    fn space(
        &self,
        of: &PuzzleRows,
        choice: &CoordinateChoice,
    ) -> Result<BucketSpace, SearchError> {
        let kernel = self.resources.choose_kernel()?;
        let puzzle = &self.puzzle;
        // Moves may depend on one unique piece, as those of a board depend on the blank.
        let mut piece = None;
        let is_refused = |one: &&Move| {
            let field = one.requires.map(|at| of.fields.location(at));
            field.is_some_and(|field| field.is_none() || *piece.get_or_insert(field) != field)
        };
        if let Some(one) = puzzle.moves().iter().find(is_refused) {
            let (puzzle, name) = (puzzle.to_string(), one.name.clone());
            return Err(SearchError::Condition { puzzle, name });
        }
        let space = BucketSpace::new(of, choice, kernel);
        if space.words() > KeyLayout::MAX_WORDS {
            let (puzzle, words) = (puzzle.to_string(), space.words());
            return Err(SearchError::WideState { puzzle, words });
        }
        Ok(space)
    }

    /// States from lists: the number requested, from the first lists.
    fn listed(
        &self,
        (of, space): (&PuzzleRows, &BucketSpace),
        lists: &BucketLists,
    ) -> Result<Vec<Arrangement>, StorageError> {
        // Images of a state whose bucket has symmetries of its own occur twice.
        let mut listed = BTreeSet::new();
        for (chunk, lists) in lists.chunks.iter().enumerate() {
            if listed.len() >= self.keep_last {
                break;
            }
            let group = &space.coordinate.group;
            space.each_row(chunk, lists, &mut |row| self.list((of, group), row, &mut listed))?;
        }
        Ok(listed.into_iter().take(self.keep_last).collect())
    }

    /// Adds the images of a row until there are enough.
    fn list(
        &self,
        (of, group): (&PuzzleRows, &SymmetryGroup),
        row: &[u8],
        listed: &mut BTreeSet<Arrangement>,
    ) {
        if listed.len() < self.keep_last {
            let images = group.images(row);
            listed.extend(images.iter().map(|image| of.fields.decode(&self.puzzle, image)));
        }
    }

    /// The first depth whose states are counted but not stored.
    pub(crate) fn first_counted(&self) -> usize {
        let ahead = self.count_ahead.min(FrontierSearch::MOST_AHEAD);
        let counted = usize::from(self.keep_last == 0) + ahead;
        let stored = |most: usize| (most + 1).saturating_sub(counted);
        self.max_depth.map_or(usize::MAX, |most| stored(most).max(1))
    }

    /// Tells an observer that the search begins; returns the number of states.
    pub(crate) fn begin(
        &self,
        progress: &dyn Progress,
    ) -> Result<(Option<BigUint>, Option<u64>), SearchError> {
        // The number of states takes time, which searches that only measure do not need.
        let states = (!self.measures).then(|| self.puzzle.states()).flatten();
        self.check_states(states.as_ref())?;
        // The states at the last depth are rarely all states.
        progress.started(u64::MAX);
        let all = states.as_ref().and_then(|states| u64::try_from(states).ok());
        if let Some(all) = all {
            progress.at_most(all);
        }
        Ok((states, all))
    }

    /// Computes level after level with states in canonical form. Stores the number of levels that have been reported.
    fn search_canonical(
        &self,
        of: &PuzzleRows,
        progress: &dyn Progress,
        reported: &AtomicUsize,
    ) -> Result<Outcome, Error> {
        let space = CanonicalStates::new(of, self.symmetry);
        if !self.measures {
            tracing::debug!("{}", space.describe());
        }
        let (states, all) = self.begin(progress)?;
        let spare = self.resources.memory.unwrap_or(u64::MAX);
        let mut found = FoundLevels::after(&self.puzzle, all, (Vec::new(), false));
        let (mut lists, first) = CanonicalLevels::start(&space, &of.goals);
        let (mut first, mut peak_bytes) = (Some(first), lists.bytes());
        let computed = found.drive(self.max_depth, progress, |found| {
            let (depth, begun) = (found.depth(), Instant::now());
            reported.store(depth, Ordering::Relaxed);
            let is_stored = depth < self.first_counted();
            let room = spare.saturating_sub(lists.bytes());
            let total = first.take().map_or_else(|| lists.level(is_stored, room, progress), Ok)?;
            found.check(total.tally.states)?;
            let taken = lists.bytes();
            peak_bytes = peak_bytes.max(taken);
            let bytes = total.lists.kept * if is_stored { of.start.len() as u64 } else { 0 };
            Ok(total.record(bytes, begun.elapsed().as_secs_f64()))
        });
        computed.map_err(|error| found.stopped(error))?;
        let mut last = BTreeSet::new();
        if self.keep_last > 0 && found.levels.last().is_some_and(|level| level.bytes > 0) {
            // In an order that does not depend on the threads.
            let mut rows: Vec<&[u8]> = lists.of_level(found.levels.len() - 1).collect();
            rows.sort_unstable();
            rows.iter().for_each(|row| self.list((of, &space.group), row, &mut last));
        }
        let last = last.into_iter().take(self.keep_last).collect();
        let with = (None, space.group.order(), space.group.whole.clone());
        Ok(self.outcome((states, found), with, (peak_bytes, last)))
    }

    /// The outcome of a search with a kernel, with so many of all symmetries, at the most bytes, and the last states.
    pub(crate) fn outcome(
        &self,
        (states, found): (Option<BigUint>, FoundLevels),
        (kernel, symmetries, all): (Option<Kernel>, usize, Option<BigUint>),
        (array_bytes, last): (u64, Vec<Arrangement>),
    ) -> Outcome {
        let levels = &found.levels;
        let counts = |of: fn(ListCounts) -> u64| {
            levels.iter().map(|level| of(level.lists.unwrap_or_default())).collect()
        };
        let searched = Searched::Listed(self.puzzle.clone());
        Outcome {
            lists: Some(ListLevels {
                symmetries,
                reduced: (all == Some(symmetries.into())).then(|| counts(|lists| lists.reduced)),
                all_symmetries: all,
                generated: counts(|lists| lists.generated),
                kept: counts(|lists| lists.kept),
                bytes: levels.iter().map(|level| level.bytes).collect(),
            }),
            array_bytes,
            last: LastStates::Listed(last),
            ..Outcome::of((searched, states), (Engine::Frontier, kernel), levels, found.ended)
        }
    }

    /// Computes level after level, from those that the store has.
    pub(super) fn search(
        &self,
        of: &PuzzleRows,
        choice: &CoordinateChoice,
        store: &mut dyn LevelStore,
        progress: &dyn Progress,
    ) -> Result<Outcome, Error> {
        let space = &self.space(of, choice)?;
        if !self.measures {
            tracing::debug!("{}", space.describe());
        }
        let form = if store.is_on_disk() { Some(LevelForm::Coded) } else { choice.form };
        let coded = store.is_on_disk() || form == Some(LevelForm::Coded) && space.coder.can_code();
        let may = store.takes_bits() && form.is_none_or(|form| form == LevelForm::Bits);
        let mut ranks = may.then(|| BucketRanks::new(space, of)).flatten();
        let words = space.words();
        let (states, all) = self.begin(progress)?;
        let spare = self.resources.memory.unwrap_or(u64::MAX);
        let FoundLists { levels, ended, mut lists } = store.found(space, spare)?;
        let mut found = FoundLevels::after(&self.puzzle, all, (levels, ended));
        if let Some(last) = found.depth().checked_sub(1) {
            progress.continued(last, found.states);
        }
        let bytes = |lists: &[BucketLists]| lists.iter().map(BucketLists::bytes).sum::<u64>();
        let mut peak_bytes = bytes(&lists);
        // The number of levels that are stored: the others were counted.
        let mut stored = found.levels.iter().take_while(|level| level.bytes > 0).count();
        let mut bits: Option<BitLevels> = None;
        let computed = found.drive(self.max_depth, progress, |found| {
            let (depth, begun) = (found.depth(), Instant::now());
            let taken = bytes(&lists) + bits.as_ref().map_or(0, BitLevels::bytes);
            let room = spare.saturating_sub(taken);
            // The expected size of the lists after a level.
            let kept = |depth: usize| kept(&found.levels[depth]) as f64;
            let growth = stored.checked_sub(2).map_or(1.0, |d| kept(d + 1) / kept(d)).max(1.0);
            let after = |depth: usize| kept(depth) * growth * (8 * words) as f64;
            let is_wide = || depth > 0 && after(stored - 1) > 0.5 * room as f64;
            // Lists are faster if they fit, but the thread of a single bucket would work alone.
            let is_alone = space.chunks() <= rayon::current_num_threads();
            let is_full = |ranks: &mut BucketRanks| {
                let bytes = BitLevels::bytes_of(ranks);
                let pays = ranks.is_worth_while() && bytes <= room;
                let pays = pays && after(depth - 1) > bytes as f64 / 3.0;
                let is_list = depth >= self.first_counted();
                form.is_some() || !is_list && pays && (is_alone || is_wide())
            };
            if let Some(ranks) = ranks.take_if(|ranks| depth > 0 && is_full(ranks)) {
                let made = by_words!(words, W => BitLevels::new::<W>(ranks, &lists), 1 2 3 4 8 16)?;
                peak_bytes = peak_bytes.max(taken + made.bytes());
                bits = Some(made);
                lists.clear();
            }
            if let Some(bits) = &mut bits {
                let total =
                    by_words!(words, W => bits.level::<W>((depth, room), progress), 1 2 3 4 8 16)?;
                peak_bytes = peak_bytes.max(taken + bits.list_bytes);
                stored += usize::from(total.tally.states > 0);
                return Ok(total.record(bits.bytes() / 3, begun.elapsed().as_secs_f64()));
            }
            let can = space.coder.can_code();
            let mut becomes = match depth < self.first_counted() {
                true if coded || can && is_wide() => LevelUse::Coded,
                true => LevelUse::Kept,
                false => LevelUse::Counted(depth + 1 - stored),
            };
            // A thread has its keys once, or up to four times: generated, new, as strings, encoded.
            let part = if becomes.is_stored() { room / 5 } else { room / 5 * 3 };
            let slice = part / rayon::current_num_threads() as u64;
            let slice = usize::try_from(slice).unwrap_or(usize::MAX).max(LEAST_SLICE);
            let slice = choice.slice.unwrap_or(slice);
            let total = loop {
                store.open(depth, becomes, room);
                let sink = store.sink();
                let computed = if depth == 0 {
                    space.start(&of.goals, becomes == LevelUse::Coded, sink)
                } else {
                    let (current, seen) = lists.split_last().expect("an earlier level");
                    let work = LevelWork { seen, current, depth, becomes, slice, sink, progress };
                    by_words!(words, W => space.level::<W>(&work))
                };
                match store.meet(computed) {
                    Ok(Some(total)) => break total,
                    Ok(None) => {}
                    Err(Error::Search(SearchError::Level { .. }))
                        if becomes == LevelUse::Kept && can =>
                    {
                        becomes = LevelUse::Coded;
                    }
                    Err(error) => return Err(error),
                }
            };
            // Before the level is recorded as finished.
            found.check(total.tally.states)?;
            let (next, level) = store.close(total, space, begun)?;
            if becomes.is_stored() && level.states > 0 {
                stored += 1;
                peak_bytes = peak_bytes.max(taken + next.bytes());
                if !space.directed {
                    lists.drain(..lists.len().saturating_sub(1));
                }
                lists.push(next);
            }
            Ok(level)
        });
        computed.map_err(|error| found.stopped(error))?;
        let levels = &found.levels;
        if let Some(bits) = bits.filter(|_| self.keep_last > 0) {
            let last = by_words!(words, W => bits.lists::<W>(), 1 2 3 4 8 16);
            lists.push(last.ok_or_else(|| space.too_long(levels.len() - 1))?);
        }
        let last = match lists.last() {
            Some(lists) if self.keep_last > 0 && stored == levels.len() => {
                self.listed((of, space), lists)?
            }
            _ => Vec::new(),
        };
        let with = (Some(space.layout.kernel), space.symmetries(), space.all_symmetries.clone());
        Ok(self.outcome((states, found), with, (peak_bytes, last)))
    }
}

/// How a search in memory keeps its levels: as the keys of buckets, or as states in canonical form.
pub(super) enum LevelKeeping {
    Buckets(CoordinateChoice),
    Canonical,
}

/// Reports the levels that have not been reported before.
struct Repeating<'a> {
    progress: &'a dyn Progress,
    reported: usize,
}

impl Progress for Repeating<'_> {
    fn started(&self, states: u64) {
        if self.reported == 0 {
            self.progress.started(states);
        }
    }

    fn at_most(&self, states: u64) {
        if self.reported == 0 {
            self.progress.at_most(states);
        }
    }

    fn progress(&self, phase: Phase, done: u64, total: u64) {
        self.progress.progress(phase, done, total);
    }

    fn level(&self, level: &LevelDone) {
        if level.depth >= self.reported {
            self.progress.level(level);
        }
    }

    fn interrupted(&self) -> bool {
        self.progress.interrupted()
    }
}

/// The number of keys of a level.
fn kept(level: &LevelRecord) -> u64 {
    level.lists.map_or(0, |lists| lists.kept)
}

#[cfg(test)]
mod tests {
    use std::{
        collections::HashSet,
        sync::atomic::{AtomicU64, Ordering},
    };

    use rayon::prelude::*;

    use super::*;
    use crate::{
        frontier::{bucket_space::candidates, coordinate::sizes},
        kernel::Kernel,
        progress::{Phase, StopWhen},
        puzzle::{
            PieceAt, PieceSet, Placed, SetAction, StateSpace, Transformation, Turns, Variant,
            families,
        },
    };

    fn turn(source: &[u8], twist: &[u8]) -> SetAction {
        SetAction { source: source.to_vec(), twist: twist.to_vec() }
    }

    fn one(name: &str, turns: Vec<SetAction>) -> Move {
        Move::free(name, Transformation(turns))
    }

    /// A set of pieces of these kinds with this many orientations.
    fn pieces(name: &str, kinds: &[u8], orientations: u8) -> PieceSet {
        let mut set = PieceSet::distinct(name, kinds.len() as u8, orientations);
        set.solved = kinds.iter().map(|&kind| Placed { kind, turn: 0 }).collect();
        set
    }

    /// A board of any size: the blank is the piece whose home is a given cell.
    fn board(rows: usize, columns: usize, home: usize) -> Puzzle {
        let cells = rows * columns;
        let mut moves = Vec::new();
        for (from, to) in (0..cells).flat_map(|from| (0..cells).map(move |to| (from, to))) {
            let apart =
                (from / columns).abs_diff(to / columns) + (from % columns).abs_diff(to % columns);
            if apart == 1 {
                let mut source: Vec<u8> = (0..cells as u8).collect();
                source.swap(from, to);
                let blank = PieceAt { set: 0, position: from as u8, kind: home as u8 };
                let slide = one(&format!("{from}-{to}"), vec![turn(&source, &vec![0; cells])]);
                moves.push(Move { requires: Some(blank), ..slide });
            }
        }
        let tiles = vec![PieceSet::distinct("tiles", cells as u8, 1)];
        Puzzle::new(format!("{rows}x{columns}"), tiles, moves).unwrap()
    }

    /// Two wheels, each with four pieces with three orientations, that share two places, and a ring of equal pieces.
    fn wheels(kinds: [u8; 6]) -> Puzzle {
        let sets = vec![pieces("corners", &kinds, 3), pieces("ring", &[0, 1, 0, 1], 1)];
        let (still, round) = (turn(&[0, 1, 2, 3], &[0; 4]), turn(&[3, 0, 1, 2], &[0; 4]));
        let left = turn(&[3, 0, 1, 2, 4, 5], &[1, 2, 1, 2, 0, 0]);
        let right = turn(&[0, 1, 5, 2, 3, 4], &[0, 0, 1, 2, 1, 2]);
        let moves = vec![one("L", vec![left, round]), one("R", vec![right, still])];
        Puzzle::new("wheels", sets, moves).unwrap()
    }

    /// Six pieces in a row that move cyclically, four of them back and forth.
    fn slide(kinds: [u8; 6]) -> Puzzle {
        let all = turn(&[1, 2, 3, 4, 5, 0], &[0; 6]);
        let some = turn(&[3, 0, 1, 2, 4, 5], &[0; 6]);
        let moves = vec![one("A", vec![all]), one("B", vec![some])];
        Puzzle::new("slide", vec![pieces("pieces", &kinds, 1)], moves).unwrap()
    }

    fn solved_by(puzzle: Puzzle, goals: &[&str], subgroup: &str) -> Puzzle {
        let goals = goals.iter().map(|&goal| goal.into()).collect();
        let variant = Variant { goals, subgroup: Variant::split(subgroup), ..Variant::default() };
        let puzzle = variant.of(puzzle, Turns::Directed).unwrap();
        assert!(puzzle.goals().len() > 1, "{puzzle}");
        puzzle
    }

    fn alike(puzzle: Puzzle, names: &[&str]) -> Puzzle {
        puzzle.alike(&names.iter().map(|&name| name.into()).collect::<Vec<_>>()).unwrap()
    }

    fn puzzles() -> Vec<Puzzle> {
        let different = [0, 1, 2, 3, 4, 5];
        let at = |position, kind| PieceAt { set: 0, position, kind };
        vec![
            board(2, 3, 0),
            board(3, 3, 4),
            // Boards with equal tiles: of two colours, with the blank in the last cell, and with some that differ.
            alike(board(3, 3, 0), &["1-3", "4-8"]),
            alike(board(2, 4, 7), &["1-3", "4-7"]),
            alike(board(2, 4, 2), &["1-2", "6+8"]),
            wheels(different).inverse_closed().unwrap(),
            wheels(different).with_powers().unwrap(),
            wheels([0, 1, 2, 0, 0, 0]).inverse_closed().unwrap(),
            wheels([0, 0, 0, 1, 1, 1]).with_powers().unwrap(),
            wheels([0, 1, 2, 3, 3, 3]),
            wheels(different).with_powers().unwrap().forbidding(vec![at(0, 1), at(5, 2)]).unwrap(),
            wheels([0, 0, 0, 1, 1, 1])
                .inverse_closed()
                .unwrap()
                .forbidding(vec![at(1, 1)])
                .unwrap(),
            // Pieces that look alike and do not turn have no fields of their own.
            slide([0, 1, 2, 2, 2, 2]).with_powers().unwrap().forbidding(vec![at(0, 2)]).unwrap(),
            // Several goals, with one colour and with two, with symmetries that exchange them, and with directed moves.
            solved_by(wheels(different).inverse_closed().unwrap(), &["L", "R' L R"], ""),
            solved_by(wheels(different).with_powers().unwrap(), &["L", "L2", "L'"], "R2"),
            solved_by(slide([0, 1, 2, 3, 4, 5]).inverse_closed().unwrap(), &["A", "B"], ""),
            solved_by(wheels([0, 0, 0, 1, 1, 1]).with_powers().unwrap(), &["L", "L R L"], ""),
            solved_by(slide([0, 1, 2, 3, 3, 3]), &["A", "pieces 1 ? ? ? 2 ?"], ""),
        ]
    }

    /// The number of states at each depth, and those of the last depth, computed by plain code.
    fn plain(puzzle: &Puzzle, depth: usize) -> (Vec<u64>, Vec<Arrangement>) {
        let mut level = puzzle.goals().to_vec();
        let mut seen: HashSet<Arrangement> = level.iter().cloned().collect();
        let mut counts = vec![level.len() as u64];
        while counts.len() <= depth {
            let moves = 0..puzzle.moves().len();
            let after = |state| moves.clone().filter_map(move |one| puzzle.moved(state, one));
            let next: Vec<Arrangement> =
                level.iter().flat_map(after).filter(|state| seen.insert(state.clone())).collect();
            if next.is_empty() {
                break;
            }
            counts.push(next.len() as u64);
            level = next;
        }
        level.sort();
        (counts, level)
    }

    fn bytes(found: &Outcome, depth: usize) -> u64 {
        found.lists.as_ref().unwrap().bytes[depth]
    }

    fn reduced(found: &Outcome, depth: usize) -> Option<u64> {
        found.reduced().map(|reduced| reduced[depth])
    }

    fn levels(found: &Outcome) -> Vec<(u64, u64)> {
        found.counts.iter().copied().zip(found.checksums.iter().copied()).collect()
    }

    #[test]
    fn all_coordinates_forms_kernels_and_symmetries_agree_with_plain_code() {
        use LevelForm::{Bits, Coded, Lists};
        puzzles().into_par_iter().for_each(|puzzle| {
            let search = FrontierSearch::new(puzzle).max_depth(6);
            let (expected, last) = plain(&search.puzzle, 6);
            assert!(expected.len() > 3, "{}: {expected:?}", search.puzzle);
            let first = search.run().unwrap();
            assert_eq!(first.counts, expected, "{}", search.puzzle);
            let listed = |search: &FrontierSearch| search.run().unwrap().last.listed().to_vec();
            assert_eq!(listed(&search.clone().keep_last(last.len())), last, "{}", search.puzzle);
            let some = listed(&search.clone().keep_last(2));
            assert!(some.len() == 2.min(last.len()) && some.iter().all(|s| last.contains(s)));
            let rows = search.rows();
            for symmetric in [true, false] {
                // Moves that depend on the state are not made there.
                if search.puzzle.allows_all_moves() {
                    let of = &search.puzzle;
                    for kept in [last.len(), 0] {
                        let search = search.clone().symmetry(symmetric).keep_last(kept);
                        let all = AtomicUsize::new(0);
                        let found = search.search_canonical(rows, &NoProgress, &all).unwrap();
                        assert_eq!(levels(&found), levels(&first), "{of} {symmetric}");
                        assert_eq!(found.last.listed(), &last[..kept], "{of} {symmetric}");
                        assert_eq!(found.symmetries(), rows.symmetries(symmetric).order(), "{of}");
                        if let (Some(some), Some(other)) = (found.reduced(), first.reduced()) {
                            assert_eq!(some, other, "{of} {symmetric}");
                        }
                    }
                }
                let all = candidates(rows, &rows.symmetries(symmetric));
                for (at, chosen) in all.iter().enumerate() {
                    // Each coordinate with a third of these, each of these with a third of the coordinates.
                    let second =
                        if cfg!(target_arch = "aarch64") { Kernel::Neon } else { Kernel::Avx2 };
                    let some = [
                        (true, Kernel::best(), Lists, 1),
                        (false, Kernel::best(), Coded, 2),
                        (true, Kernel::best(), Bits, 0),
                        (false, Kernel::Scalar, Bits, 0),
                        (true, second, Bits, 0),
                        (true, Kernel::Scalar, Lists, 0),
                        (true, second, Lists, 3),
                        (false, second, Lists, 0),
                        (true, Kernel::Scalar, Coded, 1),
                    ];
                    for (oriented, kernel, form, count_ahead) in
                        some.into_iter().skip(at % 3).step_by(3)
                    {
                        let (coarse, _) = sizes(&rows.fields, chosen).unwrap();
                        if !kernel.is_supported() || form == Bits && coarse > 1000 {
                            continue;
                        }
                        let search = search.clone().count_ahead(count_ahead).kernel(kernel);
                        let choice = CoordinateChoice {
                            fields: chosen.clone(),
                            oriented,
                            form: Some(form),
                            // Of a few keys, from lists in order; otherwise straight from the lists.
                            slice: (kernel != second).then_some(1 << 8),
                            symmetric,
                        };
                        let store = &mut MemoryLevels::default();
                        let found = search.search(rows, &choice, store, &NoProgress).unwrap();
                        let of = &search.puzzle;
                        let what =
                            format!("{of}: {chosen:?} {oriented} {kernel} {form:?} {symmetric}");
                        assert_eq!(levels(&found), levels(&first), "{what}");
                        // Rows of bits have the same size, however few states they contain.
                        let same = bytes(&found, 1) == bytes(&found, 3);
                        assert!(same || form != Bits, "{what}");
                        if let (Some(some), Some(other)) = (reduced(&found, 3), reduced(&first, 3))
                        {
                            assert_eq!(some, other, "{what}");
                        }
                    }
                }
            }
        });
    }

    /// The number of classes of states under all symmetries, computed from all images of each state.
    #[test]
    fn canonical_states_are_the_classes() {
        let free = puzzles().into_iter().filter(Puzzle::allows_all_moves);
        let mut used = Vec::new();
        for puzzle in free {
            let rows = PuzzleRows::of(&puzzle);
            let group = rows.symmetries(true);
            let space = CanonicalStates::new(&rows, true);
            let (mut lists, mut total) = CanonicalLevels::start(&space, &rows.goals);
            for depth in 0..5 {
                let (counts, states) = plain(&puzzle, depth);
                let least = |state| group.images(&rows.fields.encode(state)).pop_first();
                let classes: BTreeSet<_> = states.iter().map(least).collect();
                assert_eq!(total.tally.states, counts[depth], "{puzzle} at depth {depth}");
                assert_eq!(total.lists.kept, classes.len() as u64, "{puzzle} at depth {depth}");
                // Counted in many slices, then listed.
                let counted = lists.level(false, 1 << 10, &NoProgress).unwrap();
                total = lists.level(true, 1 << 30, &NoProgress).unwrap();
                assert_eq!(counted, total, "{puzzle} at depth {depth}");
            }
            used.push(space.group.order());
        }
        assert!(used.iter().filter(|&&symmetries| symmetries > 1).count() > 3, "{used:?}");
    }

    /// States take more memory in canonical form than as keys; what was reported is not reported again.
    #[test]
    fn if_canonical_states_do_not_fit_keys_do() {
        #[derive(Default)]
        struct Reported(std::sync::Mutex<Vec<usize>>);
        impl Progress for Reported {
            fn level(&self, level: &LevelDone) {
                self.0.lock().unwrap().push(level.depth);
            }
        }
        let search = FrontierSearch::new(wheels([0, 1, 2, 3, 4, 5]).with_powers().unwrap());
        let rows = search.rows();
        let with = |memory: u64| search.clone().max_depth(8).memory(memory);
        let is_too_little = |memory: &u64| {
            let alone = with(*memory).search_canonical(rows, &NoProgress, &AtomicUsize::new(0));
            alone.is_err_and(|error| matches!(error, Error::Search(SearchError::Level { .. })))
        };
        let most = (1..400).rev().map(|part| part << 10).find(is_too_little).unwrap();
        let search = with(most);
        let reported = Reported::default();
        let found = search.run_kept(LevelKeeping::Canonical, rows, &reported).unwrap();
        assert_eq!(found.counts, plain(&search.puzzle, 8).0);
        assert_eq!(reported.0.into_inner().unwrap(), Vec::from_iter(0..found.counts.len()));
    }

    #[test]
    fn complete_searches_end_and_symmetries_are_all_found() {
        let boards = [board(3, 3, 4), board(3, 3, 0), board(2, 4, 1)];
        let orders = boards.map(|board| PuzzleRows::of(&board).symmetries(true).order());
        assert_eq!(orders, [8, 2, 1]);
        let found = FrontierSearch::new(board(3, 3, 8)).run().unwrap();
        assert_eq!((found.complete, found.counts.len()), (true, 32));
        // The two are mirror images.
        assert_eq!((found.counts[31], reduced(&found, 31)), (2, Some(1)));
        assert_eq!(found.counts.iter().sum::<u64>(), 181_440);
    }

    /// Any two outer elements of a star may be exchanged: of the 8! symmetries, those that fix some elements are used.
    #[test]
    fn of_too_many_symmetries_some_are_used() {
        let space = StateSpace::of_puzzle(families::parse("stars:9").unwrap());
        let search = FrontierSearch::new(Puzzle::of_space(&space).unwrap());
        let found = search.run().unwrap();
        let plain = search.clone().symmetry(false).run().unwrap();
        let canonical =
            search.run_kept(LevelKeeping::Canonical, search.rows(), &NoProgress).unwrap();
        // Checksums do not depend on which symmetries are used.
        for found in [&found, &canonical] {
            assert_eq!((&found.counts, &found.checksums), (&plain.counts, &plain.checksums));
        }
        assert_eq!(found.counts.iter().sum::<u64>(), 362_880);
        let group = search.rows().symmetries(true);
        assert_eq!(group.order(), 720);
        for (first, next) in (0..720).step_by(7).flat_map(|i| (0..720).map(move |j| (i, j))) {
            let both = &group.maps[usize::from(group.then(first, next))];
            assert!(*both == group.maps[usize::from(first)].then(&group.maps[usize::from(next)]));
        }
        assert!(found.symmetries() > 1, "{}", found.symmetries());
        assert!(canonical.symmetries() > 100, "{}", canonical.symmetries());
    }

    #[test]
    fn mirror_images_of_coins_count_once() {
        let coins = |twist: [u8; 3]| vec![turn(&[0, 1, 2], &twist)];
        let moves = vec![one("L", coins([1, 1, 0])), one("R", coins([0, 1, 1]))];
        let puzzle = Puzzle::new("coins", vec![PieceSet::distinct("coins", 3, 2)], moves);
        let found = FrontierSearch::new(puzzle.unwrap()).run().unwrap();
        let levels = (0..3).map(|depth| (found.counts[depth], reduced(&found, depth)));
        assert_eq!(levels.collect::<Vec<_>>(), [(1, Some(1)), (2, Some(1)), (1, Some(1))]);
    }

    /// Counts how often it is asked whether to stop, and how many chunks there are.
    #[derive(Default)]
    struct Asked {
        times: AtomicU64,
        chunks: AtomicU64,
    }

    impl Progress for Asked {
        fn progress(&self, _: Phase, _: u64, chunks: u64) {
            self.chunks.store(chunks, Ordering::Relaxed);
        }

        fn interrupted(&self) -> bool {
            self.times.fetch_add(1, Ordering::Relaxed);
            false
        }
    }

    /// A chunk of a large level takes long, and so does one of its buckets: each slice of one asks.
    #[test]
    fn an_interrupt_waits_for_one_slice() {
        let search = FrontierSearch::new(board(3, 3, 8));
        let rows = search.rows();
        let mut choice = search.choose(rows, None);
        (choice.form, choice.slice) = (Some(LevelForm::Lists), Some(64));
        let asked = Asked::default();
        let found = search.search(rows, &choice, &mut MemoryLevels::default(), &asked).unwrap();
        let chunks = asked.chunks.into_inner() * found.counts.len() as u64;
        let times = asked.times.into_inner();
        assert!(chunks > 0 && times > 10 * chunks, "{times} times for {chunks} chunks");
    }

    #[test]
    fn a_search_says_why_it_ends_early() {
        let mut search = FrontierSearch::new(board(5, 5, 0));
        let endless = search.run_with(&StopWhen(|| true)).unwrap_err();
        assert!(matches!(endless, Error::Search(SearchError::ManyStates { .. })));
        search.max_depth = Some(40);
        let interrupted = search.run_with(&StopWhen(|| true)).unwrap_err();
        assert!(matches!(interrupted, Error::Search(SearchError::Interrupted { .. })));
        search.resources.memory = Some(8 << 20);
        let error = search.run().unwrap_err();
        let Error::Search(SearchError::Level { depth, .. }) = error else {
            panic!("eight megabytes are not enough");
        };
        // Following the advice in the message works.
        search.max_depth = Some(depth);
        assert_eq!(search.run().unwrap().counts.len(), depth + 1);
    }
}
