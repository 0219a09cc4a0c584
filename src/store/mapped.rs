//! Files mapped for reading.
//!
//! Invariant: a mapped file is only read, and whoever maps it answers for nobody changing it, or for what
//! happens then. Files of this program are replaced by renaming, never written in place, so a mapping keeps its
//! contents while others write a new file of the same name.

#![allow(unsafe_code)]

use std::fs::{File, Metadata};
use std::io;
use std::path::Path;

use memmap2::Mmap;

use super::cut::{EndWhenCut, Watch};

/// The bytes of a file, mapped for reading.
#[derive(Debug)]
pub struct Mapped {
    // The watch ends before the map does.
    watch: Option<Watch>,
    map: Option<Mmap>,
    file: File,
    /// What the file was like when it was mapped.
    then: Metadata,
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
        let then = file.metadata()?;
        if then.is_dir() {
            return Err(io::Error::from(io::ErrorKind::IsADirectory));
        }
        let map = match then.len() {
            0 => None,
            // SAFETY: the bytes are only read, and the caller promises that nobody changes them.
            _ => Some(unsafe { Mmap::map(&file)? }),
        };
        Ok(Mapped {
            watch: None,
            map,
            file,
            then,
        })
    }

    /// Maps a file in a process that has promised to end when the file is cut short. Whoever rests an answer on
    /// the bytes asks first whether the file [is unchanged](Mapped::is_unchanged): what is overwritten shows.
    ///
    /// # Errors
    /// As [`Mapped::open`], and when too many files are mapped this way.
    pub fn watched(path: &Path, promise: EndWhenCut) -> io::Result<Mapped> {
        // SAFETY: reading what was cut off ends the process in an orderly way. What is overwritten is no more
        // than other numbers to those who read: plain bytes, each of any value, behind checked indices.
        let mut mapped = unsafe { Mapped::open(path)? };
        mapped.watch = promise.watch(mapped.bytes(), path);
        match mapped.watch {
            Some(_) => Ok(mapped),
            None => Err(io::Error::other("too many files are mapped")),
        }
    }

    /// Returns the bytes.
    pub fn bytes(&self) -> &[u8] {
        self.map.as_deref().unwrap_or_default()
    }

    /// Returns whether the file is as it was when it was mapped, by its length and the time of its last change.
    pub fn is_unchanged(&self) -> bool {
        let facts = |of: &Metadata| Some((of.len(), of.modified().ok()?));
        let now = self.file.metadata().ok();
        now.is_some_and(|now| facts(&now) == facts(&self.then))
    }
}
