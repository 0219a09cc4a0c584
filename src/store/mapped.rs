//! Files mapped for reading.
//!
//! Invariant: a mapped file is only read, and whoever maps it answers for nobody changing it. Files of this
//! program are replaced by renaming, never written in place, so a mapping keeps its contents while others
//! write a new file of the same name.

#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::path::Path;

use memmap2::Mmap;

/// The bytes of a file, mapped for reading.
#[derive(Debug)]
pub struct Mapped {
    map: Option<Mmap>,
}

impl Mapped {
    /// Maps a file. Cost: constant; pages are read when used.
    ///
    /// # Errors
    /// What the system says of opening or mapping it.
    ///
    /// # Safety
    /// As long as the map lives, nobody shortens or overwrites the file: reading what was cut off ends the
    /// process (SIGBUS), and what is overwritten changes under shared references.
    pub unsafe fn open(path: &Path) -> io::Result<Mapped> {
        let file = File::open(path)?;
        let metadata = file.metadata()?;
        if metadata.is_dir() {
            return Err(io::Error::from(io::ErrorKind::IsADirectory));
        }
        if metadata.len() == 0 {
            return Ok(Mapped { map: None });
        }
        // SAFETY: the bytes are only read, and the caller promises that nobody changes them.
        let map = unsafe { Mmap::map(&file)? };
        Ok(Mapped { map: Some(map) })
    }

    /// Returns the bytes.
    pub fn bytes(&self) -> &[u8] {
        self.map.as_deref().unwrap_or_default()
    }

    /// Tells the system that reads will come in no order, which spares it reading ahead.
    pub fn read_at_random(&self) {
        #[cfg(unix)]
        if let Some(map) = &self.map {
            // Only a hint: without it reads are as right.
            let _ = map.advise(memmap2::Advice::Random);
        }
    }
}
