//! Making a database: what it needs, and the choice of a builder.

use crate::kernel::{Kernel, KernelError};
use crate::pdb::all_moves::Space;
use crate::pdb::byte_build::{self, SearchedVisits};
use crate::pdb::database::Pdb;
use crate::pdb::encoding::bit_of;
use crate::pdb::error::pool;
use crate::pdb::header::{Summary, raw_bytes};
use crate::pdb::regions::{EntryOrder, SetGraph};
use crate::pdb::slots::{self, FirstVisitSink, SlotBoard, Slots};
use crate::pdb::{Encoding, Kind, Pattern, PdbError, encode, file_order, levels, oracle};
use crate::perm::layout::Layout;
use crate::perm::lehmer;
use crate::perm::placement::binomial;
use crate::progress::Progress;
use crate::store::{FileHeader as _, Image};

/// A database to build.
#[derive(Clone, Debug)]
pub struct Build {
    /// The pattern.
    pub pattern: Pattern,
    /// What an entry is a value of.
    pub kind: Kind,
    /// How values are stored.
    pub encoding: Encoding,
    /// Kernel of the fast builder, `None` for the fastest of this processor.
    pub kernel: Option<Kernel>,
    /// Worker threads, `None` for one per core.
    pub threads: Option<usize>,
    /// Most bytes of memory, `None` for no limit.
    pub memory: Option<u64>,
    /// Whether to take the plain builder even where the fast one could run: slow, and independent of
    /// everything that makes the other fast.
    pub plain: bool,
}

impl Build {
    /// Returns the build of a pattern's minimum over the blank, in bytes, as fast as possible.
    pub fn new(pattern: Pattern) -> Build {
        Build {
            pattern,
            kind: Kind::Minimum,
            encoding: Encoding::Byte,
            kernel: None,
            threads: None,
            memory: None,
            plain: false,
        }
    }

    /// The kernel that runs.
    pub(crate) fn kernel(&self) -> Result<Kernel, KernelError> {
        match self.kernel {
            Some(kernel) if !kernel.is_supported() => Err(KernelError::Unsupported(kernel)),
            Some(kernel) => Ok(kernel),
            None => Ok(Kernel::best()),
        }
    }
}

/// What a build needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BuildPlan {
    /// Entries of the table. For the region-aware kind the regions are counted set by set.
    pub entries: u64,
    /// Bytes of the file's data section.
    pub data_bytes: u64,
    /// Most bytes of memory in use at a time.
    pub memory_bytes: u64,
    /// Bytes of files beside the database, for a build in a directory.
    pub disk_bytes: u64,
    /// Whether the fast builder runs.
    pub fast: bool,
}

/// Returns what a build needs.
///
/// # Errors
/// [`PdbError::Budget`] when that exceeds the budget, [`PdbError::BitKind`].
pub fn plan(build: &Build) -> Result<BuildPlan, PdbError> {
    if !build.kind.encodings().contains(&build.encoding) {
        return Err(PdbError::BitKind);
    }
    let pattern = &build.pattern;
    if build.kind == Kind::AllMoves {
        let space = Space::of_build(build)?;
        let entries = space.pattern.with_blank()?.placements();
        let fast = !build.plain && Layout::sliced(space.pattern.tiles().len()).is_some();
        let memory_bytes = match fast {
            true => space.build_bytes()?,
            // Two levels of eight bytes a state.
            false => 17 * entries + (4 << 20),
        };
        check(build, entries, memory_bytes, None)?;
        return Ok(BuildPlan { entries, data_bytes: entries, memory_bytes, disk_bytes: 0, fast });
    }
    let (n, k) = (pattern.size().cells(), pattern.tiles().len());
    let sets = binomial(n, k);
    let placements = pattern.placements();
    let fast = !build.plain && Layout::sliced(k).is_some();
    // The counting of regions itself takes time and memory: refuse what cannot fit anyway before.
    let least = memory(build, sets, placements, placements, fast);
    let less = |entries| {
        let on_disk = fast && build.encoding == Encoding::Bit;
        on_disk.then(|| memory_on_disk(build, entries))
    };
    check(build, placements, least, less(placements))?;
    let entries = match build.kind {
        Kind::Minimum | Kind::AllMoves => placements,
        Kind::Regions => {
            let starts = EntryOrder::new(pattern, build.kind).region_starts();
            u64::from(*starts.last().unwrap_or(&0)) * lehmer::count(k)
        }
    };
    let memory_bytes = memory(build, sets, placements, entries, fast);
    check(build, entries, memory_bytes, less(entries))?;
    Ok(BuildPlan {
        entries,
        data_bytes: raw_bytes(entries, build.encoding),
        memory_bytes,
        disk_bytes: 0,
        fast,
    })
}

/// Bits of level files for each entry: 3.0 to 3.7 were measured for seven and eight tiles.
const LEVEL_BITS: u64 = 4;

/// Returns what a build needs whose levels go to files: [`crate::pdb::DiskBuild`].
///
/// # Errors
/// As [`plan`], and [`PdbError::DiskKind`] for what is built in memory only.
pub fn plan_on_disk(build: &Build) -> Result<BuildPlan, PdbError> {
    let in_memory = plan(&Build { memory: None, ..build.clone() })?;
    if build.encoding != Encoding::Bit || !in_memory.fast {
        return Err(PdbError::DiskKind);
    }
    let entries = in_memory.entries;
    let memory_bytes = memory_on_disk(build, entries);
    check(build, entries, memory_bytes, None)?;
    Ok(BuildPlan { memory_bytes, disk_bytes: entries * LEVEL_BITS / 8, ..in_memory })
}

/// The memory of a build whose levels go to files.
fn memory_on_disk(build: &Build, entries: u64) -> u64 {
    let (n, k) = (build.pattern.size().cells(), build.pattern.tiles().len());
    let (slots, sets) = (entries / lehmer::count(k), binomial(n, k));
    let words = slots::word_bytes(entries);
    // The indices of all level files: 24 bytes a frame.
    let indices = words / (100 << 10) * 24 * 128;
    // A window, and what each core codes or turns.
    let working = levels::window_bytes(k) + 8 * slots + (32 << 20);
    let collecting = raw_bytes(entries, Encoding::Bit) + indices + working;
    slots::tables(sets, slots, k) + words.max(collecting) + 8 * sets + (8 << 20)
}

fn memory(build: &Build, sets: u64, placements: u64, entries: u64, fast: bool) -> u64 {
    let packed = match build.encoding {
        Encoding::Byte => 0,
        encoding => raw_bytes(entries, encoding),
    };
    let starts = match build.kind {
        Kind::Minimum | Kind::AllMoves => 0,
        Kind::Regions => 8 * sets,
    };
    // Rows of 60 lanes in 64 bytes.
    let padded = |bytes: u64| bytes / 60 * 64;
    let fixed = 4 << 20;
    if !fast {
        // A flag per state, at most eight regions, and two levels of 16 bytes per state.
        return entries + placements * 24 + 8 * sets + packed + fixed;
    }
    let k = build.pattern.tiles().len();
    let graph = SetGraph::bytes(sets, k);
    if build.encoding == Encoding::Bit {
        let slots = entries / lehmer::count(k);
        let words = slots::word_bytes(entries);
        // Each core turns 64 slots at a time.
        let turning = 32 * lehmer::count(k) * 64;
        let tables = slots::tables(sets, slots, k);
        return words + tables + words.max(packed + turning) + starts + fixed;
    }
    let search = padded(placements) + padded(entries) + graph;
    let finish = match build.kind {
        Kind::Minimum | Kind::AllMoves => padded(entries) + packed,
        Kind::Regions => (padded(entries) + entries + graph).max(entries + packed),
    };
    search.max(finish) + starts + fixed
}

fn check(build: &Build, entries: u64, needed: u64, less: Option<u64>) -> Result<(), PdbError> {
    match build.memory {
        Some(budget) if needed > budget => Err(PdbError::Budget {
            tiles: build.pattern.tiles().len(),
            size: build.pattern.size(),
            entries,
            needed,
            budget,
            less: less.filter(|&less| less < needed),
        }),
        _ => Ok(()),
    }
}

/// Builds a database in memory, on a thread pool of its own.
///
/// Cost: about 4 ns of one AVX-512 core per entry for patterns of five tiles and more; memory as
/// [`plan`] says, twice the table for the minimum kind.
///
/// # Errors
/// [`PdbError`] when the table does not fit the budget, the kernel does not run here, memory or threads
/// cannot be had, or the observer interrupts.
pub fn build(build: &Build, observer: &dyn Progress) -> Result<Pdb, PdbError> {
    let plan = plan(build)?;
    if build.kind == Kind::AllMoves {
        let space = Space::of_build(build)?;
        return match plan.fast {
            true => Ok(space.build(observer)?.1),
            false => space.build_plain(observer),
        };
    }
    let kernel = build.kernel()?;
    pool(build.threads)?.install(|| {
        let pdb = if plan.fast {
            build_fast(build, plan, kernel, observer)?
        } else {
            build_plain(build, plan, observer)?
        };
        match build.encoding == pdb.encoding() {
            true => Ok(pdb),
            false => encode(&pdb, build.encoding),
        }
    })
}

/// The header of a table, without histogram and checksums.
pub(crate) fn header(build: &Build, entries: u64, encoding: Encoding) -> Summary {
    Summary {
        pattern: build.pattern.clone(),
        kind: build.kind,
        encoding,
        compressed: false,
        entries,
        histogram: vec![0],
        checksum: 0,
        starts_checksum: 0,
        stored_bytes: raw_bytes(entries, encoding),
    }
}

/// A zeroed image, with the table of region starts.
pub(crate) fn image(header: &Summary, starts: &[u32]) -> Result<Image, PdbError> {
    let layout = header.layout();
    let mut image = Image::zeroed(layout.data.end())?;
    let index = layout.index.of_mut(image.bytes_mut());
    for (to, start) in index.as_chunks_mut().0.iter_mut().zip(starts) {
        *to = start.to_le_bytes();
    }
    Ok(image)
}

fn build_plain(build: &Build, plan: BuildPlan, observer: &dyn Progress) -> Result<Pdb, PdbError> {
    let starts = EntryOrder::new(&build.pattern, Kind::Regions).region_starts();
    let mut header = header(build, plan.entries, Encoding::Byte);
    let mut image = image(&header, &starts)?;
    let values = header.layout().data.of_mut(image.bytes_mut());
    header.histogram = oracle::build(&build.pattern, build.kind, &starts, values, observer)?;
    Ok(Pdb::finish(image, header))
}

fn build_fast(
    build: &Build,
    plan: BuildPlan,
    kernel: Kernel,
    observer: &dyn Progress,
) -> Result<Pdb, PdbError> {
    let pattern = &build.pattern;
    let layout = Layout::sliced(pattern.tiles().len()).ok_or(PdbError::PatternLength {
        found: pattern.tiles().len(),
        max: Pattern::MAX_TILES,
        size: pattern.size(),
    })?;
    let encoding = match build.encoding {
        // What is packed when all values are there.
        Encoding::Nibble => Encoding::Byte,
        encoding => encoding,
    };
    let what = (pattern, build.kind);
    let mut header = header(build, plan.entries, encoding);
    let data = header.layout().data;
    let len = data.end();
    match build.kind {
        Kind::Minimum | Kind::AllMoves => {
            // The values' memory becomes the file image: its sections need a little more.
            let extra = (len - plan.entries).div_ceil(64);
            let mut found = byte_build::search(what, layout, kernel, extra, observer)?;
            file_order::by_position(&mut found, observer)?;
            let SearchedVisits { graph, seen, values: mut array, histogram, .. } = found;
            header.histogram = histogram;
            let bytes = array.units_mut().as_flattened_mut();
            bytes[..data.offset as usize].fill(0);
            let lines = [0, 1].map(|class: usize| seen[class].units().as_flattened());
            let entries = data.of_mut(bytes);
            file_order::by_cells(pattern, &graph, lines, entries, observer)?;
            let len = len as usize;
            Ok(Pdb::finish(Image::Memory { array, len }, header))
        }
        Kind::Regions => {
            let starts = EntryOrder::new(pattern, build.kind).region_starts();
            if encoding == Encoding::Bit {
                return build_bits(pattern, layout, kernel, header, &starts, observer);
            }
            let mut found = byte_build::search(what, layout, kernel, 0, observer)?;
            header.histogram = std::mem::take(&mut found.histogram);
            let found = found.without_seen()?;
            let mut image = image(&header, &starts)?;
            let entries = data.of_mut(image.bytes_mut());
            file_order::by_region(&found, &starts, entries, observer)?;
            Ok(Pdb::finish(image, header))
        }
    }
}

/// Builds a region-aware table of one bit an entry.
fn build_bits(
    pattern: &Pattern,
    layout: Layout,
    kernel: Kernel,
    mut header: Summary,
    starts: &[u32],
    observer: &dyn Progress,
) -> Result<Pdb, PdbError> {
    let mut board = SlotBoard::new(pattern, layout, kernel, observer)?;
    let words =
        |class: usize| Slots::zeroed(board.classes[class].changed.len(), slots::unit(layout));
    let mut values = [words(0)?, words(1)?];
    header.histogram = vec![1];
    board.search(pattern, &mut header.histogram, observer, |board, class, depth, found| {
        let marks = match bit_of(depth as u8) {
            0 => FirstVisitSink::Count,
            _ => FirstVisitSink::In(values[class].words_mut()),
        };
        board.level(class, depth, found, marks, observer)
    })?;
    let SlotBoard { graph, classes, .. } = board;
    drop(classes);
    let mut image = image(&header, starts)?;
    let entries = header.layout().data.of_mut(image.bytes_mut());
    file_order::bits_by_region(&graph, layout, &values, entries, observer)?;
    Ok(Pdb::finish(image, header))
}
