//! State arrays in huge-page memory, and the amount of available memory.

use std::{
    fs::{self, File, Metadata},
    io,
    path::Path,
    sync::atomic::{AtomicU8, AtomicU64},
};

use memmap2::{Mmap, MmapMut, MmapOptions, MmapRaw};

use crate::{
    store::platform,
    system::{SystemError, opened},
};

/// Size in bytes of one unit of an array: a cache line, and a register of the sweep engine.
const UNIT: usize = 64;

/// A zeroed array of 64-byte units, on huge pages if the system has them (Linux: transparent huge pages, by `madvise`).
/// Pages are touched, and therefore counted, only when they are used.
///
/// Invariant: units are aligned to 64 bytes (pages are).
#[derive(Debug)]
pub struct Array {
    map: MmapMut,
}

impl Array {
    pub fn zeroed(units: u64) -> Result<Array, SystemError> {
        let bytes = units.saturating_mul(UNIT as u64);
        let refused = |reason: String| SystemError::Memory { bytes, reason };
        let len = usize::try_from(bytes).map_err(|e| refused(e.to_string()))?;
        let map = MmapMut::map_anon(len.max(1)).map_err(|e| refused(e.to_string()))?;
        // Huge pages make random reads cheap; without them, the search is slower, not wrong.
        #[cfg(target_os = "linux")]
        let _ = map.advise(memmap2::Advice::HugePage);
        Ok(Array { map })
    }

    /// Returns the bytes of a file, which is extended to this length with all its blocks allocated; bytes written to
    /// the array are written to the file.
    ///
    /// # Safety
    /// Nothing else writes to the file or truncates it.
    #[allow(unsafe_code)]
    pub unsafe fn of_file(file: &File, len: u64) -> io::Result<Array> {
        platform::reserve(file, len)?;
        // SAFETY: the caller's promise. Windows maps nothing beyond the end: of a last unit that is not whole, only the
        // bytes are there.
        let map = unsafe { MmapOptions::new().len(len as usize).map_mut(file)? };
        Ok(Array { map })
    }

    /// Writes all bytes to the file, and reports what could not be written.
    pub fn flush(&self) -> io::Result<()> {
        self.map.flush()
    }

    /// All bytes, also those of a last unit that is not whole.
    pub fn bytes(&self) -> &[u8] {
        &self.map
    }

    pub fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.map
    }

    pub fn units(&self) -> &[[u8; UNIT]] {
        self.map.as_chunks().0
    }

    pub fn units_mut(&mut self) -> &mut [[u8; UNIT]] {
        self.map.as_chunks_mut().0
    }
}

/// A zeroed array of 64-bit words to which several threads may write.
#[derive(Debug)]
pub struct Words {
    map: MmapRaw,
    len: usize,
}

impl Words {
    pub fn zeroed(len: usize) -> Result<Words, SystemError> {
        let Array { map } = Array::zeroed((len as u64).div_ceil(8))?;
        let map = MmapRaw::from(map);
        Ok(Words { map, len })
    }

    #[allow(unsafe_code)]
    pub fn get(&self) -> &[AtomicU64] {
        // SAFETY: the mapping is page-aligned, writable and at least `len` words long, and lives as
        // long as `self`, which gives no other access to it: all access is atomic. The pointer is the
        // mapping's own, not one of a shared slice, so that it may be written through.
        unsafe { std::slice::from_raw_parts(self.map.as_mut_ptr().cast_const().cast(), self.len) }
    }
}

/// Returns bytes to which several threads may write.
#[allow(unsafe_code)]
pub fn shared_bytes(bytes: &mut [u8]) -> &[AtomicU8] {
    // SAFETY: an atomic byte has the size and alignment of a byte, and the borrow is exclusive for as long as the
    // atomic bytes live, so that all access to them is atomic.
    unsafe { std::slice::from_raw_parts(bytes.as_mut_ptr().cast_const().cast(), bytes.len()) }
}

/// Returns bytes as words to which several threads may write.
///
/// # Panics
/// If they do not begin and end with a word.
#[allow(unsafe_code)]
pub fn shared_words(bytes: &mut [u8]) -> &[AtomicU64] {
    // SAFETY: an atomic word has no invalid values, and the borrow is exclusive, as for bytes.
    let (before, words, after) = unsafe { bytes.align_to_mut::<AtomicU64>() };
    assert!(before.is_empty() && after.is_empty(), "words are aligned");
    words
}

/// Returns the default memory limit in bytes: half of the free memory, where limits of control groups are taken into
/// account. 2 GiB if the system does not report it.
pub fn budget() -> u64 {
    const UNKNOWN: u64 = 2 << 30;
    free_memory().map_or(UNKNOWN, |free| free / 2)
}

/// Returns the peak resident memory of this process in bytes, if the system reports it.
pub fn peak_memory() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok();
    status.map_or_else(platform::peak_memory, |status| reported(&status, "VmHWM:"))
}

/// A number of bytes that the system reports in a line `Name: 12 kB`.
fn reported(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}

// How much memory is free, for this process.
//
// Invariant: the limits of every control group from the process's own up to the root apply, so the minimum counts
// (batch systems set theirs several levels up).

/// What the system calls the memory that is available without swapping.
const AVAILABLE: &str = "MemAvailable:";

/// Returns the number of bytes that this process can still allocate, if the system reports it.
pub(crate) fn free_memory() -> Option<u64> {
    let Ok(facts) = fs::read_to_string("/proc/meminfo") else { return platform::free_memory() };
    let system = reported(&facts, AVAILABLE)?;
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let left = left_in_groups(&groups, Path::new("/sys/fs/cgroup"));
    Some(left.map_or(system, |left| left.min(system)))
}

/// The minimum left in the control groups of a process (`/proc/self/cgroup`), of either version; `None` without limits.
fn left_in_groups(groups: &str, root: &Path) -> Option<u64> {
    let left = groups.lines().filter_map(|line| {
        let mut fields = line.splitn(3, ':').skip(1);
        let (controllers, path) = (fields.next()?, fields.next()?);
        let (root, names) = if controllers.is_empty() {
            (root.to_path_buf(), ["memory.max", "memory.current", "inactive_file "])
        } else if controllers.split(',').any(|name| name == "memory") {
            let names = ["memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file "];
            (root.join("memory"), names)
        } else {
            return None;
        };
        let own = Path::new(path.trim_start_matches('/'));
        own.ancestors().filter_map(|group| left(&root.join(group), names)).min()
    });
    left.min()
}

/// The amount left in one group: its limit, less the memory in use that it cannot free at once.
fn left(group: &Path, [limit, used, cache]: [&str; 3]) -> Option<u64> {
    let number = |text: &str| text.trim().parse::<u64>().ok();
    let read = |name: &str| fs::read_to_string(group.join(name)).ok();
    let (limit, used) = (number(&read(limit)?)?, number(&read(used)?)?);
    let stat = read("memory.stat").unwrap_or_default();
    let cached = stat.lines().find_map(|line| line.strip_prefix(cache));
    let cached = cached.and_then(number).unwrap_or(0);
    Some(limit.saturating_sub(used.saturating_sub(cached)))
}

// Files mapped for reading.
//
// Invariant: a mapped file is only read, and the caller guarantees that nobody modifies it, or handles the
// consequences. Files of this program are replaced by renaming, never written in place, so a mapping keeps its contents
// while others write a new file with the same name.

/// The bytes of a file, mapped for reading.
#[derive(Debug)]
pub struct Mapped {
    map: Option<Mmap>,
    file: File,
    /// The metadata of the file when it was mapped.
    then: Metadata,
}

impl Mapped {
    /// Maps a file. Cost: constant; pages are read when used.
    ///
    /// # Safety
    /// As long as the mapping exists, the file must not be truncated; otherwise reading beyond its new end terminates
    /// the process with SIGBUS, unless it is handled. If bytes are overwritten, readers only see different numbers: the
    /// bytes are plain bytes for which any value is valid, and indices are checked. Before relying on a result, check
    /// that the file [is unchanged](Mapped::is_unchanged).
    #[allow(unsafe_code)]
    pub unsafe fn open(path: impl AsRef<Path>) -> io::Result<Mapped> {
        let (file, then) = opened(path.as_ref())?;
        let map = match then.len() {
            0 => None,
            // SAFETY: the bytes are only read, and the caller promises that nobody modifies them.
            _ => Some(unsafe { Mmap::map(&file)? }),
        };
        Ok(Mapped { map, file, then })
    }

    pub fn bytes(&self) -> &[u8] {
        self.map.as_deref().unwrap_or_default()
    }

    /// Returns whether the file is the same as when it was mapped, judging by its length and modification time.
    pub fn is_unchanged(&self) -> bool {
        let facts = |of: &Metadata| Some((of.len(), of.modified().ok()?));
        let now = self.file.metadata().ok();
        now.is_some_and(|now| facts(&now) == facts(&self.then))
    }
}

/// The bytes of a file, in memory or mapped.
///
/// Invariant: memory contains exactly the bytes of the file, so that saving is writing and opening is mapping.
#[derive(Debug)]
pub enum Image {
    /// In memory, on huge pages if the system has them.
    Memory {
        /// At least this many bytes.
        array: Array,
        /// Size of the file in bytes.
        len: usize,
    },
    /// Mapped from the file.
    Mapped(Mapped),
}

impl Image {
    /// Returns zeroed memory for a file of `len` bytes.
    pub fn zeroed(len: u64) -> Result<Image, SystemError> {
        let array = Array::zeroed(len.div_ceil(64))?;
        let len = usize::try_from(len).unwrap_or(usize::MAX);
        Ok(Image::Memory { array, len })
    }

    /// Returns zeroed memory for a file of `len` bytes, or an error if the machine does not have that much free memory
    /// now: sizes given in a file are not trusted.
    pub fn in_free_memory(len: u64) -> Result<Image, SystemError> {
        match free_memory() {
            Some(free) if free < len => {
                Err(SystemError::Memory { bytes: len, reason: format!("{free} bytes are free") })
            }
            _ => Image::zeroed(len),
        }
    }

    /// Returns a copy of the bytes of a file.
    pub fn of(bytes: &[u8]) -> Result<Image, SystemError> {
        let mut image = Image::in_free_memory(bytes.len() as u64)?;
        image.bytes_mut().copy_from_slice(bytes);
        Ok(image)
    }

    /// Writes what is in a file's own bytes to the file.
    pub fn flush(&self) -> io::Result<()> {
        match self {
            Image::Memory { array, .. } => array.flush(),
            Image::Mapped(_) => Ok(()),
        }
    }

    pub fn bytes(&self) -> &[u8] {
        match self {
            Image::Memory { array, len } => &array.bytes()[..*len],
            Image::Mapped(mapped) => mapped.bytes(),
        }
    }

    /// Returns the bytes in memory for writing; `None` for a mapped file.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        match self {
            Image::Memory { array, len } => &mut array.bytes_mut()[..*len],
            Image::Mapped(_) => &mut [],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_are_zeroed_and_writable() {
        let mut array = Array::zeroed(1000).unwrap();
        assert_eq!(array.units().len(), 1000);
        assert!(array.units().iter().flatten().all(|&byte| byte == 0));
        array.units_mut()[999] = [7; 64];
        assert_eq!(array.units()[999], [7; 64]);
    }

    #[test]
    #[allow(unsafe_code)]
    fn the_array_of_a_file_ends_where_the_file_ends() {
        let file = tempfile::tempfile().unwrap();
        // SAFETY: nothing else has the file.
        let array = unsafe { Array::of_file(&file, 100) }.unwrap();
        assert_eq!(file.metadata().unwrap().len(), 100);
        // Windows maps nothing beyond the end.
        assert_eq!((array.bytes().len(), array.units().len()), (100, 1));
    }

    #[test]
    fn an_impossible_array_is_an_error() {
        assert!(matches!(Array::zeroed(u64::MAX / 64), Err(SystemError::Memory { .. })));
    }

    #[test]
    fn a_process_knows_its_peak_and_its_budget() {
        assert!(budget() > 0);
        assert!(peak_memory().unwrap() > 1 << 20);
    }

    fn group(root: &Path, path: &str, files: &[(&str, &str)]) {
        let dir = root.join(path);
        fs::create_dir_all(&dir).unwrap();
        for (name, text) in files {
            fs::write(dir.join(name), text).unwrap();
        }
    }

    #[test]
    fn this_machine_has_memory() {
        assert!(free_memory().unwrap() > 1 << 20);
        assert_eq!(reported("MemFree: 1 kB\nMemAvailable:   12 kB\n", AVAILABLE), Some(12 << 10));
        assert_eq!(reported("MemFree: 1 kB\n", AVAILABLE), None);
    }

    #[test]
    fn the_narrowest_group_above_a_process_counts() {
        let root = tempfile::tempdir().unwrap();
        let job = [
            ("memory.max", "1000\n"),
            ("memory.current", "700\n"),
            ("memory.stat", "anon 500\ninactive_file 150\n"),
        ];
        group(root.path(), "slurm/job_7", &job);
        let step = [("memory.max", "max\n"), ("memory.current", "700\n")];
        group(root.path(), "slurm/job_7/step_0", &step);
        let left = |text: &str| left_in_groups(text, root.path());
        assert_eq!(left("0::/slurm/job_7/step_0\n"), Some(450));
        assert_eq!(left("0::/slurm\n"), None);
        assert_eq!(left("3:cpu,cpuacct:/slurm/job_7\n"), None);
        assert_eq!(left("nonsense\n"), None);
    }

    #[test]
    fn groups_of_version_1_count_as_well() {
        let root = tempfile::tempdir().unwrap();
        let limit = |limit: &'static str| {
            [("memory.limit_in_bytes", limit), ("memory.usage_in_bytes", "50")]
        };
        group(root.path(), "memory/a/b", &limit("9223372036854771712"));
        group(root.path(), "memory/a", &limit("80"));
        let groups = "5:devices:/\n4:memory:/a/b\n0::/\n";
        assert_eq!(left_in_groups(groups, root.path()), Some(30));
    }
}
