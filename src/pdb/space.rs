//! Pattern spaces in which every move counts, those of the other tiles too.
//!
//! Invariant: a state is (cells of the pattern's tiles, cell of the blank); the other tiles look alike. Every move
//! changes the blank's colour. The cells of one colour that a set of occupied cells leaves free are cut into
//! groups of eight, a byte each: to the pattern step these are sets with eight regions. A class is a colour, it only
//! gains bits, and the states of a level are those that are new.
//!
//! Searched from the pattern at home and the blank anywhere, both colours have states at every depth. Then the class
//! that is stepped second reads the other one as it was before: a copy, of which only what has changed is copied again.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use rayon::prelude::*;

use super::build::pool;
use super::grid::{Grid, bits};
use super::pass::{Keep, Pass, merge};
use super::{Pattern, PdbError};
use crate::perm::kernel::{Kernel, KernelError, Move, Moves, PatternStep, Stretch};
use crate::perm::layout::{Layout, Register};
use crate::perm::placement::{Subsets, binomial};
use crate::progress::{Level, Phase, Progress};
use crate::store::Array;

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

/// The blank's cells of one colour, in groups of eight for each set.
struct Class {
    /// First group of each set, and one more for the end.
    starts: Vec<u32>,
    /// For each group all its bits.
    bits: Vec<u8>,
}

/// Sets, and how the free cells of each are numbered.
struct Sets {
    grid: Grid,
    subsets: Subsets,
    layout: Layout,
    classes: [Class; 2],
}

/// Cells of a group.
const GROUP: usize = 8;

impl Space {
    /// Returns the search of a pattern's space from the pattern at home and the blank anywhere.
    pub fn new(pattern: Pattern) -> Space {
        Space {
            pattern,
            blank: None,
            kernel: None,
            threads: None,
            memory: None,
            max_depth: None,
        }
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
        let mut groups = [0u64; 2];
        for set in subsets.iter() {
            for (colour, groups) in groups.iter_mut().enumerate() {
                *groups += grid.free_of(set, colour).count_ones().div_ceil(8) as u64;
            }
        }
        Ok(self.memory(layout, groups))
    }

    fn memory(&self, layout: Layout, groups: [u64; 2]) -> u64 {
        let (k, cells) = (layout.len(), self.pattern.size().cells());
        let unit = (layout.blocks() * layout.slice_registers() * 64) as u64;
        let copy = match self.blank {
            None => groups[0].min(groups[1]),
            Some(_) => 0,
        };
        let all = groups[0] + groups[1];
        let states = binomial(cells, k) * (cells - k) as u64;
        // Moves of eight bytes, four a state at most; bits, flags of slices and changes for each group.
        let tables = 32 * states + all * (32 + layout.blocks() as u64) + 8 * binomial(cells, k);
        (all + copy) * unit + tables + (4 << 20)
    }

    fn layout(&self) -> Result<Layout, PdbError> {
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
        let needed = self.memory_bytes()?;
        if let Some(budget) = self.memory.filter(|&budget| needed > budget) {
            return Err(PdbError::Budget {
                tiles: home.len(),
                size: self.pattern.size(),
                entries: self.states(),
                needed,
                budget,
                less: None,
            });
        }
        let kernel = match self.kernel {
            Some(kernel) if !kernel.is_supported() => {
                return Err(KernelError::Unsupported(kernel).into());
            }
            Some(kernel) => kernel,
            None => Kernel::best(),
        };
        pool(self.threads)?.install(|| self.search(layout, kernel, observer))
    }

    fn search(
        &self,
        layout: Layout,
        kernel: Kernel,
        observer: &dyn Progress,
    ) -> Result<Depths, PdbError> {
        let begun = Instant::now();
        observer.started(self.states());
        observer.progress(Phase::Setup, 0, 1);
        let step = PatternStep::new(kernel, layout)?;
        let sets = Sets::new(&self.pattern, layout);
        let moves = [0, 1].map(|class| sets.moves(class));
        observer.progress(Phase::Setup, 1, 1);
        let groups = [0, 1].map(|class: usize| sets.classes[class].bits.len());
        let unit = layout.slice_registers();
        let array = |groups: usize| Array::zeroed((groups * layout.blocks() * unit) as u64);
        let mut seen = [array(groups[0])?, array(groups[1])?];
        // The smaller class is stepped first, and copied.
        let first = usize::from(groups[1] < groups[0]);
        let mut copy = array(match self.blank {
            None => groups[first],
            Some(_) => 0,
        })?;
        let mut flags = groups.map(|groups| vec![0u8; groups * layout.blocks()]);
        let mut changed = groups.map(|groups| vec![0u64; groups]);
        let mut counts = vec![self.start(&sets, &mut seen, &mut changed)];
        if self.blank.is_none() {
            copy.units_mut().copy_from_slice(seen[first].units());
        }
        observer.level(&Level {
            depth: 0,
            states: counts[0],
            seconds: 0.0,
        });
        let (found, stopped) = (AtomicU64::new(counts[0]), AtomicBool::new(false));
        let mut complete = false;
        while self.max_depth.is_none_or(|most| counts.len() <= most) {
            let level_begun = Instant::now();
            let mut states = 0;
            let mut any = false;
            let before = changed.clone();
            for class in [first, 1 - first] {
                if before[1 - class].iter().all(|&slices| slices == 0) {
                    // Nothing comes from the other class; what came last was read.
                    changed[class].fill(0);
                    flags[class]
                        .iter_mut()
                        .for_each(|flag| *flag &= Stretch::FULL);
                    continue;
                }
                let [seen0, seen1] = &mut seen;
                let (own, other) = match class {
                    0 => (seen0, &*seen1),
                    _ => (seen1, &*seen0),
                };
                let as_it_was = class != first && self.blank.is_none();
                let pass = Pass {
                    keep: Keep::Count,
                    layout,
                    step: &step,
                    bits: &sets.classes[class].bits,
                    slots: &[],
                    moves: &moves[class],
                    level: counts.len() + 1,
                    source: if as_it_was {
                        copy.units()
                    } else {
                        other.units()
                    },
                    changed: &before[1 - class],
                    observer,
                    found: &found,
                    total: self.states(),
                    stopped: &stopped,
                };
                states += pass.run(own.units_mut(), &mut [], &mut flags[class]);
                if stopped.load(Ordering::Relaxed) {
                    return Err(PdbError::Interrupted);
                }
                any |= merge(&flags[class], &mut changed[class]);
            }
            if self.blank.is_none() {
                renew(copy.units_mut(), seen[first].units(), &flags[first], unit);
            }
            if !any {
                complete = true;
                break;
            }
            counts.push(states);
            observer.level(&Level {
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
    fn start(&self, sets: &Sets, seen: &mut [Array; 2], changed: &mut [Vec<u64>; 2]) -> u64 {
        let home = self.pattern.home();
        let set = home.iter().fold(0u64, |set, &c| set | 1 << c);
        let mut tiles: Vec<u8> = (0..home.len() as u8).collect();
        tiles.sort_by_key(|&t| home[usize::from(t)]);
        let layout = sets.layout;
        let place = layout.place(&tiles);
        let mut count = 0;
        for blank in bits(sets.grid.free(set)) {
            if self.blank.is_some_and(|only| usize::from(only) != blank) {
                continue;
            }
            let (class, group, bit) = sets.find(set, blank);
            let groups = sets.classes[class].bits.len();
            let register =
                (place.block * groups + group) * layout.slice_registers() + layout.in_slice(place);
            seen[class].units_mut()[register][place.lane] |= 1 << bit;
            changed[class][group] |= 1 << place.block;
            count += 1;
        }
        count
    }
}

/// Copies the registers that have changed; one flag for each run of `unit`.
fn renew(copy: &mut [Register], seen: &[Register], flags: &[u8], unit: usize) {
    let runs = copy.par_chunks_mut(unit).zip(seen.par_chunks(unit));
    runs.zip(flags)
        .with_min_len(256)
        .for_each(|((to, from), flag)| {
            if flag & Stretch::CHANGED != 0 {
                to.copy_from_slice(from);
            }
        });
}

impl Sets {
    fn new(pattern: &Pattern, layout: Layout) -> Sets {
        let grid = Grid::new(pattern.size());
        let subsets = Subsets::new(grid.cells(), layout.len()).expect("patterns are small");
        let class = |colour| {
            let (mut starts, mut all) = (vec![0], Vec::new());
            for set in subsets.iter() {
                let mut left = grid.free_of(set, colour).count_ones() as usize;
                while left > 0 {
                    let cells = left.min(GROUP);
                    all.push(u8::MAX >> (GROUP - cells));
                    left -= cells;
                }
                starts.push(all.len() as u32);
            }
            Class { starts, bits: all }
        };
        let classes = [class(0), class(1)];
        Sets {
            grid,
            subsets,
            layout,
            classes,
        }
    }

    /// The class, group and bit of a free cell.
    fn find(&self, set: u64, cell: usize) -> (usize, usize, usize) {
        let class = self.grid.colour(1 << cell);
        let below = self.grid.free_of(set, class) & ((1 << cell) - 1);
        let number = below.count_ones() as usize;
        let start = self.classes[class].starts[self.subsets.rank(set)] as usize;
        (class, start + number / GROUP, number % GROUP)
    }

    /// The moves into all groups of a class.
    fn moves(&self, class: usize) -> Moves {
        let sources = self.classes[1 - class].bits.len();
        let lists: Vec<Vec<Vec<Move>>> = (0..self.subsets.count())
            .into_par_iter()
            .with_min_len(64)
            .map(|rank| self.moves_of(class, self.subsets.unrank(rank)))
            .collect();
        Moves::new(self.layout, sources, lists.into_iter().flatten())
    }

    /// The moves into the groups of a set.
    fn moves_of(&self, class: usize, set: u64) -> Vec<Vec<Move>> {
        let cells: Vec<usize> = bits(self.grid.free_of(set, class)).collect();
        let below = |set: u64, cell: usize| (set & ((1 << cell) - 1)).count_ones() as usize;
        let into_group = |cells: &[usize]| {
            let mut moves = Vec::new();
            for (to, &blank) in cells.iter().enumerate() {
                for near in bits(self.grid.around(1 << blank)) {
                    // The blank came from there, and what stands there now came from here.
                    let is_tile = set >> near & 1 == 1;
                    let (source, shift) = match is_tile {
                        true => {
                            let source = set ^ 1 << near ^ 1 << blank;
                            let (from, to) = (below(source, blank), below(set, near));
                            (source, Moves::shift(self.layout, from, to))
                        }
                        false => (set, 0),
                    };
                    let (_, group, from) = self.find(source, near);
                    moves.push(Move {
                        source: group as u32,
                        shift: shift as u8,
                        from: from as u8,
                        to: to as u8,
                    });
                }
            }
            moves
        };
        cells.chunks(GROUP).map(into_group).collect()
    }
}
