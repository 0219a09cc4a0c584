//! The bytes of a file, in memory or mapped.
//!
//! Invariant: memory holds the very bytes of the file, so that saving is writing and opening is mapping.

use super::free_memory::free_memory;
use super::{Array, Mapped, MemoryError};

/// The bytes of a file.
#[derive(Debug)]
pub enum Image {
    /// In memory, on huge pages where the system has them.
    Memory {
        /// At least as many bytes.
        array: Array,
        /// Bytes of the file.
        len: usize,
    },
    /// Mapped from the file.
    Mapped(Mapped),
}

impl Image {
    /// Returns zeroed memory for a file of `len` bytes.
    ///
    /// # Errors
    /// [`MemoryError`] when the system refuses it.
    pub fn zeroed(len: u64) -> Result<Image, MemoryError> {
        let array = Array::zeroed(len.div_ceil(64))?;
        let len = usize::try_from(len).unwrap_or(usize::MAX);
        Ok(Image::Memory { array, len })
    }

    /// Returns zeroed memory for a file of `len` bytes that the machine has room for now: what a file
    /// claims is not taken for granted.
    ///
    /// # Errors
    /// [`MemoryError`] when less is free.
    pub fn in_free_memory(len: u64) -> Result<Image, MemoryError> {
        match free_memory() {
            Some(free) if free < len => Err(MemoryError::Map {
                bytes: len,
                reason: format!("{free} bytes are free"),
            }),
            _ => Image::zeroed(len),
        }
    }

    /// Returns a copy of the bytes of a file.
    ///
    /// # Errors
    /// [`MemoryError`] when the system refuses the memory.
    pub fn of(bytes: &[u8]) -> Result<Image, MemoryError> {
        let mut image = Image::in_free_memory(bytes.len() as u64)?;
        image.bytes_mut().copy_from_slice(bytes);
        Ok(image)
    }

    /// Returns the bytes.
    pub fn bytes(&self) -> &[u8] {
        match self {
            Image::Memory { array, len } => &array.units().as_flattened()[..*len],
            Image::Mapped(mapped) => mapped.bytes(),
        }
    }

    /// Returns the bytes in memory, to be written; none of a mapped file.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        match self {
            Image::Memory { array, len } => &mut array.units_mut().as_flattened_mut()[..*len],
            Image::Mapped(_) => &mut [],
        }
    }
}
