//! State arrays in huge-page memory, and how much memory there is.

use std::sync::atomic::AtomicU64;

use memmap2::{MmapMut, MmapRaw};

use super::allocator::can_fail;
use super::free_memory::free_memory;

/// Memory that could not be had.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MemoryError {
    /// The system refused the pages.
    #[error(
        "cannot map {bytes} bytes of memory: {reason}; close other programs or choose a smaller board"
    )]
    Map {
        /// Bytes asked for.
        bytes: u64,
        /// What the system said.
        reason: String,
    },
    /// There is none for the tables of a codec.
    #[error("not enough memory to compress; close other programs or take fewer threads")]
    Codec,
}

/// Bytes of one unit of an array: a cache line, and a register of the sweep engine.
const UNIT: usize = 64;

/// A zeroed array of 64-byte units, on huge pages where the system has them (Linux: transparent huge
/// pages, by `madvise`). Pages are touched, and so counted, only when used.
///
/// Invariant: units are aligned to 64 bytes (pages are).
#[derive(Debug)]
pub struct Array {
    map: MmapMut,
}

impl Array {
    /// Returns a zeroed array of `units` units of 64 bytes.
    ///
    /// # Errors
    /// [`MemoryError::Map`] when the system refuses the address space.
    pub fn zeroed(units: u64) -> Result<Array, MemoryError> {
        let bytes = units.saturating_mul(UNIT as u64);
        let refused = |reason: String| MemoryError::Map { bytes, reason };
        let len = usize::try_from(bytes).map_err(|e| refused(e.to_string()))?;
        let map = MmapMut::map_anon(len.max(1)).map_err(|e| refused(e.to_string()))?;
        // Huge pages make far reads cheap; where there are none, the search is slower, not wrong.
        #[cfg(target_os = "linux")]
        let _ = map.advise(memmap2::Advice::HugePage);
        Ok(Array { map })
    }

    /// Returns the units.
    pub fn units(&self) -> &[[u8; UNIT]] {
        self.map.as_chunks().0
    }

    /// Returns the units, to be written.
    pub fn units_mut(&mut self) -> &mut [[u8; UNIT]] {
        self.map.as_chunks_mut().0
    }
}

/// A zeroed array of 64-bit words that several threads may write.
#[derive(Debug)]
pub struct Words {
    map: MmapRaw,
    len: usize,
}

impl Words {
    /// Returns a zeroed array of `len` words.
    ///
    /// # Errors
    /// [`MemoryError::Map`] when the system refuses the address space.
    pub fn zeroed(len: usize) -> Result<Words, MemoryError> {
        let Array { map } = Array::zeroed((len as u64).div_ceil(8))?;
        let map = MmapRaw::from(map);
        Ok(Words { map, len })
    }

    /// Returns the words.
    #[allow(unsafe_code)]
    pub fn get(&self) -> &[AtomicU64] {
        // SAFETY: the mapping is page-aligned, writable and at least `len` words long, and lives as
        // long as `self`, which gives no other access to it: all access is atomic. The pointer is the
        // mapping's own, not one of a shared slice, so that it may be written through.
        unsafe { std::slice::from_raw_parts(self.map.as_mut_ptr().cast_const().cast(), self.len) }
    }
}

/// Returns the default memory budget in bytes: half of what is free, control-group limits respected.
/// Where the system does not tell, 2 GiB.
pub fn budget() -> u64 {
    const UNKNOWN: u64 = 2 << 30;
    free_memory().map_or(UNKNOWN, |free| free / 2)
}

/// Returns the peak resident memory of this process in bytes, where the system tells (Linux).
pub fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}

#[cfg(test)]
#[path = "../../tests/unit/memory.rs"]
mod tests;

/// Zeroed memory for some bytes, as an error where there is none.
pub(super) fn room(bytes: u64) -> Result<Vec<u8>, MemoryError> {
    let mut room = Vec::new();
    let reserve = |len| can_fail(|| room.try_reserve_exact(len)).map(|()| len);
    let reserved = usize::try_from(bytes).map(reserve);
    match reserved {
        Ok(Ok(len)) => {
            room.resize(len, 0);
            Ok(room)
        }
        _ => Err(MemoryError::Map {
            bytes,
            reason: "out of memory".into(),
        }),
    }
}
