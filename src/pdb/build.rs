//! Builds of databases.
//!
//! The program and Rust programs call [`Build::run`], after [`plan`] or [`plan_on_disk`] has said what it takes. Small
//! patterns go to the plain builder; for others, `slots` searches, and a [`TableBuild`] makes the table from what it
//! finds.

use crate::{
    hint::{DIR, Hint, MEMORY},
    kernel::Kernel,
    pdb::{
        ArrangementOrder, Encoding, EntryOrder, Kind, Pattern, Pdb, PdbError, SLOTS, SlotGraph,
        WINDOW, encode,
        file::Summary,
        orders, regions,
        slots::{MarkBits, SlotSearch, Slots, WriteBytes, home_place, unit, word_bytes},
    },
    perm::{
        Layout, Register, lehmer,
        placement::{Subsets, binomial},
        set_of,
    },
    progress::{Meter, NoProgress, Phase, Progress},
    resources::{Resources, resource_setters, setters},
    store::{Array, FileHeader as _, Image},
    units::{bytes, thousands},
};

// Building a database: its requirements, and the choice of a builder.

/// A database to build.
///
/// ```
/// use tilewave::pdb::{Build, Encoding, Kind};
/// use tilewave::{Goal, Pattern, Size};
/// let pattern = Pattern::new(Goal::Last.board(Size::new(3, 3)?)?, &[1, 2, 3])?;
/// let pdb = Build::new(pattern).kind(Kind::Regions).encoding(Encoding::Bit).threads(2).run()?;
/// assert_eq!(pdb.kind(), Kind::Regions);
/// # Ok::<(), tilewave::Error>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Build {
    /// The pattern.
    pub pattern: Pattern,
    /// The kind of value that an entry holds.
    pub kind: Kind,
    /// The encoding of the values.
    pub encoding: Encoding,
    /// Whether to use the plain builder even if the fast one could run. The plain builder is slow, but independent of
    /// everything that makes the other one fast.
    pub plain: bool,
    /// Resources that the build may use; `kernel` applies to the fast builder.
    pub resources: Resources,
}

setters! { Build: pattern: Pattern, kind: Kind, encoding: Encoding, plain: bool, }
resource_setters! { Build }

impl Build {
    /// Returns the build that stores a pattern's minimum over the blank, with one byte per entry, as fast as possible.
    pub fn new(pattern: Pattern) -> Build {
        Build {
            pattern,
            kind: Kind::Minimum,
            encoding: Encoding::Byte,
            plain: false,
            resources: Resources::new(),
        }
    }

    /// The pattern without the blank.
    fn tiles(&self) -> Result<Pattern, PdbError> {
        match self.kind {
            Kind::AllMoves => self.pattern.without_blank(),
            Kind::Minimum | Kind::Regions => Ok(self.pattern.clone()),
        }
    }
}

/// The size, memory and disk space that a build needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BuildPlan {
    /// The number of entries of the table. For the region-aware kind, regions are counted for each set of cells.
    pub entries: u64,
    /// The size of the file's data section, in bytes.
    pub data_bytes: u64,
    /// Peak memory in bytes.
    pub memory_bytes: u64,
    /// The size in bytes of the temporary files, for a build in a directory.
    pub disk_bytes: u64,
    /// Whether the fast builder runs.
    pub fast: bool,
}

/// Returns the size, memory and disk space that a build needs.
///
/// # Errors
/// [`PdbError::Memory`] if the memory exceeds the budget, and [`PdbError::Unsuitable`].
pub fn plan(build: &Build) -> Result<BuildPlan, PdbError> {
    BuildPlan::of(build, false)
}

/// Returns the requirements of a [`crate::pdb::DiskBuild`], which keeps its levels in files. Same errors as [`plan`],
/// plus [`PdbError::Unsuitable`] for databases that can only be built in memory.
pub fn plan_on_disk(build: &Build) -> Result<BuildPlan, PdbError> {
    BuildPlan::of(build, true)
}

/// Bits in level files per entry: measurements for seven and eight tiles gave 3.0 to 3.7.
const LEVEL_BITS: u64 = 4;

impl BuildPlan {
    fn of(build: &Build, on_disk: bool) -> Result<BuildPlan, PdbError> {
        if !build.kind.encodings().contains(&build.encoding) {
            return Err(PdbError::encoding());
        }
        let pattern = build.tiles()?;
        let (n, k) = (pattern.size().cells(), pattern.tiles().len());
        let fast = !build.plain && Layout::sliced(k).is_some();
        let bits = fast && build.encoding == Encoding::Bit;
        if on_disk && !bits {
            return Err(PdbError::unsuitable(format!(
                "{DIR} works only for databases with one bit per entry and at least five tiles: \
                 choose such a database ({}), or leave out {DIR}",
                Hint::Value("encoding", "bit")
            )));
        }
        let of_slots = |slots: u64| {
            let entries = match build.kind {
                Kind::Minimum => pattern.placements(),
                Kind::Regions | Kind::AllMoves => slots * lehmer::count(k),
            };
            let needed = |on_disk| needed(build, (n, k), (slots, entries), fast, on_disk);
            let memory_bytes = needed(on_disk);
            let less = (bits && !on_disk).then(|| needed(true)).filter(|&less| less < memory_bytes);
            if let Some(budget) = build.resources.exceeded_by(memory_bytes) {
                let less = less.map(bytes);
                let less = less.map(|less| Hint::InDirectory(&less).to_string());
                return Err(PdbError::Memory(format!(
                    "a database for {} tiles on {} has {} entries and needs {} of memory to build, \
                     but the limit is {}: choose fewer tiles, {}raise the limit with {MEMORY} if \
                     the machine has more",
                    build.pattern.tiles().len(),
                    build.pattern.size(),
                    thousands(entries),
                    bytes(memory_bytes),
                    bytes(budget),
                    less.unwrap_or("or ".into())
                )));
            }
            Ok(BuildPlan {
                entries,
                data_bytes: build.encoding.bytes(entries),
                memory_bytes,
                disk_bytes: if on_disk { entries * LEVEL_BITS / 8 } else { 0 },
                fast,
            })
        };
        let sets = binomial(n, k);
        if build.kind == Kind::AllMoves {
            build.pattern.with_blank()?;
            return of_slots(sets * (n - k) as u64);
        }
        // Counting the regions itself takes time and memory: reject in advance what cannot fit anyway.
        of_slots(sets)?;
        let starts = EntryOrder::new(&pattern, build.kind).region_starts();
        of_slots(u64::from(*starts.last().unwrap_or(&0)))
    }
}

/// The peak memory of a build for k tiles on n cells.
fn needed(
    build: &Build,
    (n, k): (usize, usize),
    (slots, entries): (u64, u64),
    fast: bool,
    on_disk: bool,
) -> u64 {
    let (sets, fixed) = (binomial(n, k), 4 << 20);
    let states = slots * lehmer::count(k);
    let packed = build.encoding.bytes(entries);
    let starts = match build.kind {
        Kind::Minimum | Kind::AllMoves => 0,
        Kind::Regions => 8 * sets,
    };
    if !fast {
        // One flag per state, and two levels of 9 bytes per state in growing lists.
        let bytes = if build.encoding == Encoding::Bit { packed } else { 0 };
        return entries + bytes + states + 24 * sets * lehmer::count(k) + 8 * sets + fixed;
    }
    let (words, tables) = (word_bytes(states), SlotGraph::bytes(sets, slots, k));
    // Rows of 60 lanes in 64 bytes.
    let values = entries / 60 * 64;
    let after = match (build.kind, build.encoding) {
        _ if on_disk => return needed_on_disk(entries, sets, k, words) + tables + fixed,
        // Each core transposes 64 slots at a time.
        (_, Encoding::Bit) => {
            words + tables + words.max(packed + 32 * lehmer::count(k) * SLOTS as u64)
        }
        // The memory of the values becomes the file.
        (Kind::Minimum, _) => values + (words + 4 * slots + tables).max(entries),
        (Kind::Regions, _) => values + (words + tables).max(entries),
        (Kind::AllMoves, _) => values + (words + tables).max(entries + entries / n as u64),
    };
    after + starts + fixed
}

/// The memory of a build whose levels go to files, excluding its tables.
fn needed_on_disk(entries: u64, sets: u64, tiles: usize, words: u64) -> u64 {
    // The indices of all level files: 24 bytes per frame.
    let indices = words / (100 << 10) * 24 * 128;
    // A window, and the data that each core codes or transposes.
    let window = 2 * WINDOW as u64 * word_bytes(lehmer::count(tiles));
    let working = window + 16 * (entries / lehmer::count(tiles)) + (36 << 20);
    words.max(Encoding::Bit.bytes(entries) + indices + working) + 8 * sets
}

impl Build {
    /// Builds the database in memory, on its own threads.
    ///
    /// Cost: about 2 ns of one AVX-512 core per entry for patterns of five or more tiles; memory as computed by
    /// [`plan`], which for the minimum kind is twice the table.
    ///
    /// # Errors
    /// [`PdbError`] if the table exceeds the memory limit, the processor cannot run the kernel, or memory or threads
    /// are unavailable.
    pub fn run(&self) -> Result<Pdb, PdbError> {
        self.run_with(&NoProgress)
    }

    /// Builds the database like [`Build::run`], with an observer that sees the progress and may stop the work
    /// ([`PdbError::Interrupted`]).
    pub fn run_with(&self, observer: &dyn Progress) -> Result<Pdb, PdbError> {
        let plan = plan(self)?;
        self.resources.install(|| match plan.fast {
            true => TableBuild::new(self, plan.entries, observer)?.in_memory(),
            false => plain(self, plan.entries, observer),
        })?
    }
}

/// The header of a table, excluding histogram and checksums.
fn header(build: &Build, entries: u64, encoding: Encoding) -> Result<Summary, PdbError> {
    let pattern = match build.kind {
        Kind::AllMoves => build.pattern.with_blank()?,
        Kind::Minimum | Kind::Regions => build.pattern.clone(),
    };
    Ok(Summary {
        pattern,
        kind: build.kind,
        encoding,
        compressed: false,
        entries,
        histogram: vec![1],
        checksum: 0,
        starts_checksum: 0,
        stored_bytes: encoding.bytes(entries),
    })
}

/// A zeroed image that contains the table of region starts.
fn image(header: &Summary) -> Result<Image, PdbError> {
    let layout = header.layout();
    let mut image = Image::zeroed(layout.data.end())?;
    if header.kind == Kind::Regions {
        let starts = EntryOrder::new(&header.pattern, header.kind).region_starts();
        let index = layout.index.of_mut(image.bytes_mut());
        for (to, start) in index.as_chunks_mut().0.iter_mut().zip(starts) {
            *to = start.to_le_bytes();
        }
    }
    Ok(image)
}

/// Builds a table with the plain builder.
fn plain(build: &Build, entries: u64, observer: &dyn Progress) -> Result<Pdb, PdbError> {
    let mut header = header(build, entries, Encoding::Byte)?;
    let mut image = image(&header)?;
    let values = header.layout().data.of_mut(image.bytes_mut());
    header.histogram = regions::build_plain(&header.pattern, build.kind, values, observer)?;
    let pdb = Pdb::finish(image, header)?;
    match build.encoding {
        Encoding::Byte => Ok(pdb),
        encoding => encode(&pdb, encoding),
    }
}

/// A build for five or more tiles: a search over slots, whose results are then brought into the order of the file.
pub(crate) struct TableBuild<'a> {
    build: &'a Build,
    /// The pattern without the blank.
    pub pattern: Pattern,
    pub kernel: Kernel,
    pub graph: SlotGraph,
    pub order: ArrangementOrder,
    header: Summary,
    pub observer: &'a dyn Progress,
}

impl<'a> TableBuild<'a> {
    pub fn new(
        build: &'a Build,
        entries: u64,
        observer: &'a dyn Progress,
    ) -> Result<TableBuild<'a>, PdbError> {
        let kernel = build.resources.choose_kernel()?;
        let pattern = build.tiles()?;
        let layout = Layout::sliced(pattern.tiles().len()).expect("a plan has checked the tiles");
        let graph = SlotGraph::new(&pattern, layout, build.kind);
        let header = header(build, entries, build.encoding)?;
        let order = ArrangementOrder::new(layout);
        Ok(TableBuild { build, pattern, kernel, graph, order, header, observer })
    }

    /// Returns the search that begins with the goal.
    pub fn begin(&self) -> Result<SlotSearch<'a>, PdbError> {
        SlotSearch::new(&self.graph, &self.pattern, self.header.entries, self.kernel, self.observer)
    }

    /// Finishes the table, whose entries are written by a function.
    pub fn finish(
        &self,
        histogram: Vec<u64>,
        write: impl FnOnce(&mut [u8]) -> Result<(), PdbError>,
    ) -> Result<Pdb, PdbError> {
        let mut image = image(&self.header)?;
        write(self.header.layout().data.of_mut(image.bytes_mut()))?;
        Ok(Pdb::finish(image, Summary { histogram, ..self.header.clone() })?)
    }

    fn in_memory(&self) -> Result<Pdb, PdbError> {
        match (self.build.kind, self.build.encoding) {
            (_, Encoding::Bit) => self.bits(),
            (Kind::Minimum, _) => self.minimum(),
            _ => self.bytes(),
        }
    }

    fn bits(&self) -> Result<Pdb, PdbError> {
        let search = self.begin()?;
        let words = |class| Slots::zeroed(self.graph.slots(class), unit(self.graph.layout));
        let mut values = [words(0)?, words(1)?];
        let histogram = search.run(&MarkBits::new(&mut values), vec![1])?;
        self.finish(histogram, |entries| {
            let slots = orders::slots_in_order(&self.graph);
            let meter = Meter::new(self.observer, Phase::Order, 0, slots.len() as u64);
            let words = |(class, slot): (usize, usize)| values[class].of(slot);
            Ok(orders::bits_by_slots(&self.order, &slots, words, entries, &meter)?)
        })
    }

    /// Writes one byte per entry: for each class, the values of its slots or of its sets.
    fn search_bytes(
        &self,
        search: SlotSearch,
        values: [&mut [Register]; 2],
    ) -> Result<Vec<u64>, PdbError> {
        let shared = self.build.kind == Kind::Minimum;
        let sink = WriteBytes::new(values, &self.graph, shared, self.kernel);
        let goal = self.graph.find(set_of(self.pattern.home()), self.pattern.goal().blank());
        sink.enter(goal, home_place(&self.pattern, self.graph.layout));
        search.run(&sink, vec![1])
    }

    /// Finishes a table with one value for each region, or each cell, of the blank.
    fn bytes(&self) -> Result<Pdb, PdbError> {
        let search = self.begin()?;
        let unit = unit(self.graph.layout);
        let array = |class| Array::zeroed((self.graph.slots(class) * unit) as u64);
        let mut values = [array(0)?, array(1)?];
        let histogram = self.search_bytes(search, values.each_mut().map(Array::units_mut))?;
        let values = values.each_ref().map(Array::units);
        self.finish(histogram, |entries| {
            if self.build.kind == Kind::Regions {
                let slots = orders::slots_in_order(&self.graph);
                let meter = Meter::new(self.observer, Phase::Order, 0, self.header.entries);
                return Ok(orders::lines(&self.order, &slots, values, entries, &meter)?);
            }
            // The values for each cell of the blank form a table of the tiles on the other cells.
            let (n, k) = (self.pattern.size().cells(), self.pattern.tiles().len());
            let subsets = Subsets::new(n - 1, k).expect("patterns are small");
            let mut lines = Image::zeroed((subsets.count() * self.order.len()) as u64)?;
            let part = entries.len() / n;
            let meter = Meter::new(self.observer, Phase::Order, 0, 2 * entries.len() as u64);
            for (blank, entries) in entries.chunks_mut(part).enumerate() {
                let above = |set: u64| set >> blank << (blank + 1) | set & ((1 << blank) - 1);
                let find = |set| self.graph.find(above(set), blank);
                let slots: Vec<(usize, usize)> = subsets.iter().map(find).collect();
                orders::lines(&self.order, &slots, values, lines.bytes_mut(), &meter)?;
                orders::by_placements(&subsets, lines.bytes(), entries, &meter)?;
            }
            Ok(())
        })
    }

    /// Finishes a table with one value for each placement: the memory of the values becomes the file image.
    fn minimum(&self) -> Result<Pdb, PdbError> {
        let search = self.begin()?;
        let unit = unit(self.graph.layout);
        let mut counts = [0, 0];
        // The place of each set's values within its class.
        let places = self.graph.subsets.iter().map(|set| {
            let class = self.graph.grid.colour(set);
            counts[class] += 1;
            (class, counts[class] - 1)
        });
        let places: Vec<(usize, usize)> = places.collect();
        let registers = counts.map(|sets| sets * unit);
        let data = self.header.layout().data;
        let len = data.end();
        let units = (registers[0] + registers[1]).max(len.div_ceil(64) as usize);
        let mut values = Array::zeroed(units as u64)?;
        let (low, high) = values.units_mut().split_at_mut(registers[0]);
        let histogram = self.search_bytes(search, [low, &mut high[..registers[1]]])?;
        let (low, high) = values.units().split_at(registers[0]);
        let mut lines = Image::zeroed((places.len() * self.order.len()) as u64)?;
        let meter = Meter::new(self.observer, Phase::Order, 0, 2 * self.header.entries);
        orders::lines(&self.order, &places, [low, high], lines.bytes_mut(), &meter)?;
        let bytes = values.units_mut().as_flattened_mut();
        bytes[..data.offset as usize].fill(0);
        let entries = data.of_mut(bytes);
        orders::by_placements(&self.graph.subsets, lines.bytes(), entries, &meter)?;
        let image = Image::Memory { array: values, len: len as usize };
        Ok(Pdb::finish(image, Summary { histogram, ..self.header.clone() })?)
    }
}
