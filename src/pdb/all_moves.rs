//! Pattern spaces in which every move counts, those of the other tiles too.
//!
//! Invariant: a state is (cells of the pattern's tiles, cell of the blank); the other tiles look alike. A set of
//! occupied cells and a free cell are a slot, as a set and a region are in the database of one bit an entry. Every move
//! changes the blank's colour: a class is the slots of a colour, it only gains bits, and the states of a level are
//! those that are new.
//!
//! Searched from the pattern at home and the blank anywhere, both colours have states at every depth. Then the class
//! that is stepped second reads the other one as it was before: a copy, of which only what has changed is copied again.

use std::time::Instant;

use rayon::prelude::*;

use crate::kernel::{Kernel, KernelError, PatternStep, SetMove, SetMoves, Word};
use crate::pdb::error::pool;
use crate::pdb::regions::{Grid, bits};
use crate::pdb::slots::{FirstVisitSink, SlotClass, SlotPass, Slots, TakeMarks, unit, word_bytes};
use crate::pdb::{Pattern, PdbError};
use crate::perm::layout::Layout;
use crate::perm::lehmer;
use crate::perm::placement::{Subsets, binomial};
use crate::progress::{LevelDone, Phase, Progress};

/// A search of a pattern space.
///
/// ```
/// use tilewave::pdb::{Pattern, Space};
/// use tilewave::{Goal, NoProgress, Size};
/// // The fringe of the 8-puzzle: 9!/3! states of five tiles and the blank.
/// let goal = Goal::Last.board(Size::new(3, 3)?)?;
/// let found = Space::new(Pattern::new(goal, &[3, 6, 7, 8, 5])?).run(&NoProgress)?;
/// assert_eq!(found.counts.iter().sum::<u64>(), 60_480);
/// assert_eq!(found.counts[0], 4); // the pattern at home, the blank on any other cell
/// # Ok::<(), tilewave::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Space {
    /// The pattern, of five tiles or more.
    pub pattern: Pattern,
    /// The blank's cell in the state of depth 0; `None` for all states with the pattern at home.
    pub blank: Option<u8>,
    /// Kernel, `None` for the fastest of this processor.
    pub kernel: Option<Kernel>,
    /// Worker threads, `None` for one per core.
    pub threads: Option<usize>,
    /// Most bytes of memory, `None` for no limit.
    pub memory: Option<u64>,
    /// Depth after which to stop.
    pub max_depth: Option<usize>,
}

/// What a search of a pattern space found.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Depths {
    /// States per depth.
    pub counts: Vec<u64>,
    /// States that there are, N!/(N-k-1)!.
    pub states: u64,
    /// Whether the search ran until no new state was found.
    pub complete: bool,
    /// Wall time in seconds.
    pub seconds: f64,
}

/// Takes the states of a stretch: class, depth, number of the stretch, how many they are, and their words.
pub(crate) type TakeStates<'a> =
    dyn Fn(usize, usize, usize, u64, &[Word]) -> Result<(), PdbError> + Sync + 'a;

/// Sets, and how the free cells of each are numbered.
pub(crate) struct BlankSets {
    pub grid: Grid,
    pub subsets: Subsets,
    layout: Layout,
    /// For each colour the first slot of each set, and one more for the end.
    starts: [Vec<u32>; 2],
}

impl Space {
    /// Returns the search of a pattern's space from the pattern at home and the blank anywhere.
    pub fn new(pattern: Pattern) -> Space {
        Space { pattern, blank: None, kernel: None, threads: None, memory: None, max_depth: None }
    }

    /// Returns the number of states.
    pub fn states(&self) -> u64 {
        let free = self.pattern.size().cells() - self.pattern.tiles().len();
        self.pattern.placements() * free as u64
    }

    /// Returns the bytes of memory that the search takes. Cost: a look at each set of cells.
    ///
    /// # Errors
    /// [`PdbError::ShortSpace`].
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
        // Four moves of eight bytes, twice while they are listed, with headers; three masks and an end.
        let tables = slots * (32 + 32 + 56 + 28) + 8 * sets;
        let words = word_bytes(lehmer::count(layout.len()));
        Ok((slots + copied) * words + tables + (4 << 20))
    }

    pub(crate) fn layout(&self) -> Result<Layout, PdbError> {
        Layout::sliced(self.pattern.tiles().len()).ok_or(PdbError::ShortSpace)
    }

    /// Searches level by level, on a thread pool of its own.
    ///
    /// # Errors
    /// [`PdbError`] when the pattern has fewer than five tiles, the memory does not suffice or cannot be had, the
    /// blank stands on a tile, or the observer interrupts.
    pub fn run(&self, observer: &dyn Progress) -> Result<Depths, PdbError> {
        let layout = self.layout()?;
        let home = self.pattern.home();
        let free =
            |blank: u8| usize::from(blank) < self.pattern.size().cells() && !home.contains(&blank);
        if let Some(blank) = self.blank.filter(|&blank| !free(blank)) {
            return Err(PdbError::BlankOnTile { cell: blank });
        }
        self.fits(self.memory_bytes()?)?;
        let kernel = self.checked_kernel()?;
        let sets = || BlankSets::new(&self.pattern, layout);
        pool(self.threads)?.install(|| self.search(&sets(), kernel, None, observer))
    }

    /// Refuses what needs more memory than there is.
    pub(crate) fn fits(&self, needed: u64) -> Result<(), PdbError> {
        match self.memory.filter(|&budget| needed > budget) {
            None => Ok(()),
            Some(budget) => Err(PdbError::Budget {
                tiles: self.pattern.tiles().len(),
                size: self.pattern.size(),
                entries: self.states(),
                needed,
                budget,
                less: None,
            }),
        }
    }

    pub(crate) fn checked_kernel(&self) -> Result<Kernel, PdbError> {
        match self.kernel {
            Some(kernel) if !kernel.is_supported() => Err(KernelError::Unsupported(kernel).into()),
            Some(kernel) => Ok(kernel),
            None => Ok(Kernel::best()),
        }
    }

    /// Searches; hands the states of each level over to a taker, if there is one: class, depth, and what
    /// [`FirstVisitSink::To`] says.
    pub(crate) fn search(
        &self,
        sets: &BlankSets,
        kernel: Kernel,
        take: Option<&TakeStates<'_>>,
        observer: &dyn Progress,
    ) -> Result<Depths, PdbError> {
        let begun = Instant::now();
        let layout = sets.layout;
        observer.started(self.states());
        observer.progress(Phase::Setup, 0, 1);
        let step = PatternStep::new(kernel, layout)?;
        let class = |class| SlotClass::new(layout, sets.moves(class));
        let mut classes = [class(0)?, class(1)?];
        observer.progress(Phase::Setup, 1, 1);
        // The smaller class is stepped first, and copied.
        let slots = [0, 1].map(|class: usize| classes[class].changed.len());
        let first = usize::from(slots[1] < slots[0]);
        let copied = match self.blank {
            None => slots[first],
            Some(_) => 0,
        };
        let mut copy = Slots::zeroed(copied, unit(layout))?;
        let mut counts = vec![self.start(sets, &mut classes)];
        if self.blank.is_none() {
            copy.renew(&classes[first], layout);
        }
        observer.level(&LevelDone { depth: 0, states: counts[0], seconds: 0.0 });
        let mut complete = false;
        let mut found = counts[0];
        while self.max_depth.is_none_or(|most| counts.len() <= most) {
            let level_begun = Instant::now();
            let mut states = 0;
            let before = [0, 1].map(|class: usize| classes[class].changed.clone());
            for class in [first, 1 - first] {
                let [low, high] = &mut classes;
                let (own, other) = match class {
                    0 => (low, &*high),
                    _ => (high, &*low),
                };
                if before[1 - class].iter().all(|&slices| slices == 0) {
                    // Nothing comes from the other class; what came last was read.
                    own.changed.fill(0);
                    continue;
                }
                let as_it_was = class != first && self.blank.is_none();
                let source: &[Word] = match as_it_was {
                    true => copy.words(),
                    false => other.seen.words(),
                };
                let pass = SlotPass {
                    step: &step,
                    layout,
                    source,
                    changed: &before[1 - class],
                    depth: counts.len(),
                    found: found + states,
                    total: self.states(),
                    observer,
                };
                let depth = counts.len();
                let to: &TakeMarks<'_> = &|number, states, words| match take {
                    Some(take) => take(class, depth, number, states, words),
                    None => Ok(()),
                };
                let marks = match take {
                    Some(_) => FirstVisitSink::To(to),
                    None => FirstVisitSink::Count,
                };
                states += pass.run(own, marks)?;
            }
            if self.blank.is_none() {
                copy.renew(&classes[first], layout);
            }
            found += states;
            if states == 0 {
                complete = true;
                break;
            }
            counts.push(states);
            observer.level(&LevelDone {
                depth: counts.len() - 1,
                states,
                seconds: level_begun.elapsed().as_secs_f64(),
            });
        }
        Ok(Depths {
            counts,
            states: self.states(),
            complete,
            seconds: begun.elapsed().as_secs_f64(),
        })
    }

    /// Writes the states of depth 0; returns their number.
    fn start(&self, sets: &BlankSets, classes: &mut [SlotClass; 2]) -> u64 {
        let set = self.pattern.home().iter().fold(0u64, |set, &c| set | 1 << c);
        let free = bits(sets.grid.free(set));
        let blanks = free.filter(|&cell| self.blank.is_none_or(|b| usize::from(b) == cell));
        let mut count = 0;
        for blank in blanks {
            let (class, slot) = sets.find(set, blank);
            classes[class].begin(&self.pattern, sets.layout, slot);
            count += 1;
        }
        count
    }
}

impl Slots {
    /// Copies the slices of a class that have changed.
    fn renew(&mut self, class: &SlotClass, layout: Layout) {
        let (unit, slice) = (unit(layout), layout.slice_registers());
        let slots = self.words_mut().par_chunks_mut(unit);
        slots
            .zip(class.seen.words().par_chunks(unit))
            .zip(&class.changed)
            .with_min_len(256)
            .for_each(|((to, from), changed)| {
                for number in bits(*changed) {
                    let words = number * slice..(number + 1) * slice;
                    to[words.clone()].copy_from_slice(&from[words]);
                }
            });
    }
}

impl BlankSets {
    pub fn new(pattern: &Pattern, layout: Layout) -> BlankSets {
        let grid = Grid::new(pattern.size());
        let subsets = Subsets::new(grid.cells(), layout.len()).expect("patterns are small");
        let starts = |colour| {
            let mut starts = vec![0];
            starts.extend(subsets.iter().scan(0, |slots, set| {
                *slots += grid.free_of(set, colour).count_ones();
                Some(*slots)
            }));
            starts
        };
        BlankSets { starts: [starts(0), starts(1)], grid, subsets, layout }
    }

    /// Returns the number of slots of a class.
    pub fn slots(&self, class: usize) -> usize {
        self.starts[class].last().map_or(0, |&slots| slots as usize)
    }

    /// The class and slot of a free cell.
    pub fn find(&self, set: u64, cell: usize) -> (usize, usize) {
        let class = self.grid.colour(1 << cell);
        let below = self.grid.free_of(set, class) & ((1 << cell) - 1);
        let start = self.starts[class][self.subsets.rank(set)];
        (class, start as usize + below.count_ones() as usize)
    }

    /// The moves into all slots of a class.
    fn moves(&self, class: usize) -> SetMoves {
        let sources = self.starts[1 - class][self.subsets.count()] as usize;
        let lists: Vec<Vec<SetMove>> = (0..self.subsets.count())
            .into_par_iter()
            .with_min_len(64)
            .flat_map_iter(|rank| {
                let set = self.subsets.unrank(rank);
                bits(self.grid.free_of(set, class)).map(move |blank| self.moves_of(set, blank))
            })
            .collect();
        SetMoves::new(self.layout, sources, lists)
    }

    /// The moves that take the blank to a cell.
    fn moves_of(&self, set: u64, blank: usize) -> Vec<SetMove> {
        let below = |set: u64, cell: usize| (set & ((1 << cell) - 1)).count_ones() as usize;
        let from = |near: usize| {
            // The blank came from there, and what stands there now came from here.
            let is_tile = set >> near & 1 == 1;
            let (source, shift) = match is_tile {
                true => {
                    let source = set ^ 1 << near ^ 1 << blank;
                    let (from, to) = (below(source, blank), below(set, near));
                    (source, SetMoves::shift(self.layout, from, to))
                }
                false => (set, 0),
            };
            SetMove { source: self.find(source, near).1 as u32, shift: shift as u8, from: 0, to: 0 }
        };
        bits(self.grid.around(1 << blank)).map(from).collect()
    }
}
