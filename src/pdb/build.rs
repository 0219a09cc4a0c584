//! Making a database: what it needs, and the choice of a builder.

use super::database::Pdb;
use super::entry_order::EntryOrder;
use super::header::{Summary, raw_bytes};
use super::set_graph::SetGraph;
use super::sweep::{self, Found};
use super::{Encoding, Kind, Pattern, PdbError, encode, plain, reorder, turn};
use crate::perm::kernel::{Kernel, KernelError};
use crate::perm::layout::Layout;
use crate::perm::lehmer;
use crate::perm::placement::binomial;
use crate::progress::Progress;
use crate::store::{Header as _, Image};

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
    let (n, k) = (pattern.size().cells(), pattern.tiles().len());
    let sets = binomial(n, k);
    let placements = pattern.placements();
    let fast = !build.plain && Layout::sliced(k).is_some();
    // The counting of regions itself takes time and memory: refuse what cannot fit anyway before.
    let least = memory(build, sets, placements, placements, fast);
    check(build, placements, least)?;
    let entries = match build.kind {
        Kind::Minimum => placements,
        Kind::Regions => {
            let starts = EntryOrder::new(pattern, build.kind).region_starts();
            u64::from(*starts.last().unwrap_or(&0)) * lehmer::count(k)
        }
    };
    let memory_bytes = memory(build, sets, placements, entries, fast);
    check(build, entries, memory_bytes)?;
    Ok(BuildPlan {
        entries,
        data_bytes: raw_bytes(entries, build.encoding),
        memory_bytes,
        fast,
    })
}

fn memory(build: &Build, sets: u64, placements: u64, entries: u64, fast: bool) -> u64 {
    let packed = match build.encoding {
        Encoding::Byte => 0,
        encoding => raw_bytes(entries, encoding),
    };
    let starts = match build.kind {
        Kind::Minimum => 0,
        Kind::Regions => 8 * sets,
    };
    // Rows of 60 lanes in 64 bytes.
    let padded = |bytes: u64| bytes / 60 * 64;
    let fixed = 4 << 20;
    if !fast {
        // A flag per state, at most eight regions, and two levels of 16 bytes per state.
        return entries + placements * 24 + 8 * sets + packed + fixed;
    }
    let graph = SetGraph::bytes(sets, build.pattern.tiles().len());
    if build.encoding == Encoding::Bit {
        let values = padded(entries / 8) + graph;
        // Each core turns 64 slots at a time.
        let turning = 32 * lehmer::count(build.pattern.tiles().len()) * 64;
        return values + padded(placements).max(packed + turning) + starts + fixed;
    }
    let search = padded(placements) + padded(entries) + graph;
    let finish = match build.kind {
        Kind::Minimum => padded(entries) + packed,
        Kind::Regions => (padded(entries) + entries + graph).max(entries + packed),
    };
    search.max(finish) + starts + fixed
}

fn check(build: &Build, entries: u64, needed: u64) -> Result<(), PdbError> {
    match build.memory {
        Some(budget) if needed > budget => Err(PdbError::Budget {
            tiles: build.pattern.tiles().len(),
            size: build.pattern.size(),
            entries,
            needed,
            budget,
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
    let kernel = match build.kernel {
        Some(kernel) if !kernel.is_supported() => {
            return Err(KernelError::Unsupported(kernel).into());
        }
        Some(kernel) => kernel,
        None => Kernel::best(),
    };
    pool(build.threads)?.install(|| {
        let pdb = if plan.fast {
            build_fast(build, plan, kernel, observer)?
        } else {
            build_plain(build, plan, observer)?
        };
        match build.encoding == pdb.encoding() {
            true => Ok(pdb),
            false => encode::encode(&pdb, build.encoding),
        }
    })
}

/// Returns a pool of worker threads, one per core unless told.
pub(super) fn pool(threads: Option<usize>) -> Result<rayon::ThreadPool, PdbError> {
    let threads = threads.unwrap_or(0);
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .map_err(|e| PdbError::Threads {
            threads,
            reason: e.to_string(),
        })
}

/// The header of a table, without histogram and checksums.
fn header(build: &Build, plan: BuildPlan, encoding: Encoding) -> Summary {
    Summary {
        pattern: build.pattern.clone(),
        kind: build.kind,
        encoding,
        compressed: false,
        entries: plan.entries,
        histogram: vec![0],
        checksum: 0,
        starts_checksum: 0,
        stored_bytes: raw_bytes(plan.entries, encoding),
    }
}

/// A zeroed image, with the table of region starts.
fn image(header: &Summary, starts: &[u32]) -> Result<Image, PdbError> {
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
    let mut header = header(build, plan, Encoding::Byte);
    let mut image = image(&header, &starts)?;
    let values = header.layout().data.of_mut(image.bytes_mut());
    header.histogram = plain::build(&build.pattern, build.kind, &starts, values, observer)?;
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
    let what = (pattern, build.kind, encoding);
    let mut header = header(build, plan, encoding);
    let data = header.layout().data;
    let len = data.end();
    match build.kind {
        Kind::Minimum => {
            // The values' memory becomes the file image: its sections need a little more.
            let extra = (len - plan.entries).div_ceil(64);
            let mut found = sweep::search(what, layout, kernel, extra, observer)?;
            reorder::by_position(&mut found, observer)?;
            let Found {
                graph,
                seen,
                values: mut array,
                histogram,
                ..
            } = found;
            header.histogram = histogram;
            let bytes = array.units_mut().as_flattened_mut();
            bytes[..data.offset as usize].fill(0);
            let lines = [0, 1].map(|class: usize| seen[class].units().as_flattened());
            let entries = data.of_mut(bytes);
            reorder::by_cells(pattern, &graph, lines, entries, observer)?;
            let len = len as usize;
            Ok(Pdb::finish(Image::Memory { array, len }, header))
        }
        Kind::Regions => {
            let starts = EntryOrder::new(pattern, build.kind).region_starts();
            let mut found = sweep::search(what, layout, kernel, 0, observer)?;
            header.histogram = std::mem::take(&mut found.histogram);
            let found = found.without_seen()?;
            let mut image = image(&header, &starts)?;
            let entries = data.of_mut(image.bytes_mut());
            match encoding {
                Encoding::Bit => turn::by_region(&found, entries, observer)?,
                _ => reorder::by_region(&found, &starts, entries, observer)?,
            }
            Ok(Pdb::finish(image, header))
        }
    }
}
