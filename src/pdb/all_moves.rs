//! Pattern spaces in which every move counts, including moves of tiles outside the pattern.
//!
//! Invariant: a state is (cells of the pattern's tiles, cell of the blank); the other tiles look alike. If the search
//! starts from the pattern at home with the blank anywhere, there are states with both colours of the blank's cell at
//! every depth.
//!
//! Source: J. Culberson and J. Schaeffer, Pattern databases, Computational Intelligence 14 (1998): the fringe.

use std::time::Instant;

use crate::{
    bits::{bits, set_of},
    pdb::{
        Build, Grid, Kind, Pattern, Pdb, PdbError, SlotGraph,
        slots::{CountOnly, SlotSearch, word_bytes},
    },
    perm::{
        Layout, lehmer,
        placement::{Subsets, binomial},
    },
    progress::{NoProgress, Progress},
    resources::{Resources, resource_setters, setters},
};

/// A search of a pattern space.
///
/// ```
/// use tilewave::pdb::{Pattern, Space};
/// use tilewave::{Goal, Size};
/// // The fringe of the 8-puzzle: 9!/3! states of five tiles and the blank.
/// let goal = Goal::Last.board(Size::new(3, 3)?)?;
/// let found = Space::new(Pattern::new(goal, &[3, 6, 7, 8, 5])?).run()?;
/// assert_eq!(found.counts.iter().sum::<u64>(), 60_480);
/// assert_eq!(found.counts[0], 4); // the pattern at home, the blank on any other cell
/// # Ok::<(), tilewave::Error>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Space {
    /// The pattern, with at least five tiles.
    pub pattern: Pattern,
    /// The blank's cell in the state at depth 0; `None` to start from all states with the pattern at home.
    pub blank: Option<u8>,
    /// Last depth to search; `None` for all depths.
    pub max_depth: Option<usize>,
    /// Resources that the search may use.
    pub resources: Resources,
}

setters! { Space: ; blank: u8, max_depth: usize, }
resource_setters! { Space }

/// The result of a search of a pattern space.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Depths {
    /// The number of states at each depth.
    pub counts: Vec<u64>,
    /// The number of states of the whole space, N!/(N-k-1)!.
    pub states: u64,
    /// Whether the search ran until no new state was found.
    pub complete: bool,
    /// Wall-clock time in seconds.
    pub seconds: f64,
}

impl Space {
    /// Returns the search of a pattern's space that starts from the pattern at home with the blank anywhere.
    pub fn new(pattern: Pattern) -> Space {
        Space { pattern, blank: None, max_depth: None, resources: Resources::new() }
    }

    /// Returns the number of states.
    pub fn states(&self) -> u64 {
        let free = self.pattern.size().cells() - self.pattern.tiles().len();
        self.pattern.placements() * free as u64
    }

    /// Returns the memory that the search takes, in bytes. Cost: one step per set of cells.
    ///
    /// # Errors
    /// [`PdbError::Unsuitable`].
    pub fn memory_bytes(&self) -> Result<u64, PdbError> {
        let layout = self.layout()?;
        let grid = Grid::new(self.pattern.size());
        let subsets = Subsets::new(grid.cells(), layout.len()).expect("patterns are small");
        let first = subsets.iter().map(|set| u64::from(grid.free_of(set, 0).count_ones()));
        let first: u64 = first.sum();
        let sets = binomial(grid.cells(), layout.len());
        let slots = sets * (grid.cells() - layout.len()) as u64;
        let copied = match self.blank {
            None => first.min(slots - first),
            Some(_) => 0,
        };
        let words = word_bytes(lehmer::count(layout.len()));
        let tables = SlotGraph::bytes(sets, slots, layout.len());
        Ok((slots + copied) * words + tables + (4 << 20))
    }

    fn layout(&self) -> Result<Layout, PdbError> {
        Layout::sliced(self.pattern.tiles().len()).ok_or_else(PdbError::short_space)
    }

    /// Searches level by level, on a thread pool of its own.
    ///
    /// # Errors
    /// [`PdbError`] if the pattern has fewer than five tiles, the memory limit is too low, memory cannot be allocated,
    /// or the blank is on the cell of a tile.
    pub fn run(&self) -> Result<Depths, PdbError> {
        self.run_with(&NoProgress)
    }

    /// Searches like [`Space::run`], with an observer that sees the progress and may stop the work.
    ///
    /// # Errors
    /// Same errors as [`Space::run`], plus [`PdbError::Interrupted`].
    pub fn run_with(&self, observer: &dyn Progress) -> Result<Depths, PdbError> {
        let layout = self.layout()?;
        let home = self.pattern.home();
        let free =
            |blank: u8| usize::from(blank) < self.pattern.size().cells() && !home.contains(&blank);
        if let Some(blank) = self.blank.filter(|&blank| !free(blank)) {
            return Err(PdbError::Unsuitable(format!(
                "the blank cannot be on cell {blank}: choose a cell of the board that is not the \
                 goal cell of a pattern tile"
            )));
        }
        let needed = self.memory_bytes()?;
        if let Some(budget) = self.resources.exceeded_by(needed) {
            return Err(PdbError::Budget {
                tiles: self.pattern.tiles().len(),
                size: self.pattern.size(),
                entries: self.states(),
                needed,
                budget,
                less: None,
            });
        }
        let kernel = self.resources.choose_kernel()?;
        self.resources.install(|| {
            let begun = Instant::now();
            observer.started(self.states());
            let graph = SlotGraph::new(&self.pattern, layout, Kind::AllMoves);
            let mut search = SlotSearch::new(&graph, kernel, self.blank.is_none(), observer)?;
            let blanks = bits(graph.grid.free(set_of(home)));
            let mut counts = vec![0];
            for blank in blanks.filter(|&cell| self.blank.is_none_or(|b| usize::from(b) == cell)) {
                search.begin(&graph, &self.pattern, blank);
                counts[0] += 1;
            }
            let (most, states) = (self.max_depth.unwrap_or(usize::MAX), self.states());
            let complete = search.run(&CountOnly, &mut counts, most, states)?;
            Ok(Depths { counts, states, complete, seconds: begun.elapsed().as_secs_f64() })
        })?
    }

    /// Searches from the goal state, whatever [`Space::blank`] is. Returns the depths and their database, which has
    /// kind [`Kind::AllMoves`] and one byte per entry, as [`Build::run`] builds it. [`crate::pdb::plan`] computes the
    /// memory.
    ///
    /// # Errors
    /// Same errors as [`Space::run`], plus [`PdbError::Pattern`] for patterns of eight tiles: the blank counts as one
    /// more.
    pub fn build(&self) -> Result<(Depths, Pdb), PdbError> {
        self.build_with(&NoProgress)
    }

    /// Searches like [`Space::build`], with an observer that sees the progress and may stop the work.
    ///
    /// # Errors
    /// Same errors as [`Space::build`], plus [`PdbError::Interrupted`].
    pub fn build_with(&self, observer: &dyn Progress) -> Result<(Depths, Pdb), PdbError> {
        self.layout()?;
        let (begun, states) = (Instant::now(), self.states());
        observer.started(states);
        let pdb = self.how().run_with(observer)?;
        let counts = pdb.histogram().to_vec();
        let seconds = begun.elapsed().as_secs_f64();
        Ok((Depths { counts, states, complete: true, seconds }, pdb))
    }

    fn how(&self) -> Build {
        Build::new(self.pattern.clone()).kind(Kind::AllMoves).resources(self.resources)
    }
}
