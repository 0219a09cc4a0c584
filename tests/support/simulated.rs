//! A directory in memory that breaks on command: for tests of everything that must survive.
//!
//! Invariant: two images are kept (after redb). The **live** one is what the program sees; the
//! **durable** one is what a power cut leaves: what was synced, plus whatever part of the rest the
//! chosen seed lets through. A name is durable after [`Storage::sync_names`], a file's bytes after
//! [`Append::sync`]; a rename is never half done.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard};

use tilewave::internals::{Append, Bytes, Lock, Place, ReadAt, Storage, StorageError};
use tilewave::random::SplitMix64;

/// A directory in memory. Clones are the same directory.
#[derive(Clone, Debug, Default)]
pub struct Simulated {
    state: Arc<Mutex<SimulatedState>>,
}

#[derive(Debug, Default)]
struct SimulatedState {
    /// File number of each name, as the program sees it, and as of the last sync of names.
    live: BTreeMap<String, usize>,
    durable: BTreeMap<String, usize>,
    files: Vec<SimulatedFile>,
    faults: Faults,
    syncs: u64,
    releases: u64,
    removals: u64,
    /// The power is cut: nothing works any more.
    dead: bool,
    locked: bool,
}

/// One file's bytes.
#[derive(Clone, Debug, Default)]
struct SimulatedFile {
    live: Vec<u8>,
    durable: Vec<u8>,
    /// The end of the bytes that a failing sync has lost.
    lost: usize,
}

/// What goes wrong.
#[derive(Clone, Debug, Default)]
pub struct Faults {
    /// The power is cut instead of this sync, counted from 1.
    pub cut_at: Option<u64>,
    /// Bytes that fit; a write beyond them is done in part and fails.
    pub capacity: Option<u64>,
    /// Reads of files whose names begin so fail.
    pub unreadable: Option<String>,
    /// Reads of files whose names begin so come back with their middle bit changed.
    pub flipped: Option<String>,
    /// Reads of files whose names begin so come back as zeros behind the first 16 bytes.
    pub zeroed: Option<String>,
    /// The disk that the directory shares with all others of this number.
    pub device: Option<u64>,
    /// No lock can be taken.
    pub no_locks: bool,
    /// No bytes of a file can be given back.
    pub no_release: bool,
    /// This sync, counted from 1, fails, and what it should have made durable never is: a later sync of the same file
    /// says that all is well, as the systems do.
    pub fail_sync: Option<u64>,
    /// This removal, counted from 1, fails, and the file stays.
    pub fail_removal: Option<u64>,
}

/// What the system says of a file.
fn said(file: &str, reason: io::Error) -> StorageError {
    Place { directory: "memory".into(), file: file.into() }.error(reason)
}

fn broken(file: &str) -> StorageError {
    said(file, io::Error::other("input/output error"))
}

impl Simulated {
    fn state(&self) -> MutexGuard<'_, SimulatedState> {
        self.state.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// The state while the power is on.
    fn alive(&self) -> Result<MutexGuard<'_, SimulatedState>, StorageError> {
        let state = self.state();
        state.alive()?;
        Ok(state)
    }

    /// Returns a directory where this goes wrong.
    pub fn with(faults: Faults) -> Simulated {
        let directory = Simulated::default();
        directory.set_faults(faults);
        directory
    }

    /// Sets what goes wrong from now on.
    pub fn set_faults(&self, faults: Faults) {
        self.state().faults = faults;
    }

    /// Returns the number of syncs so far, of files and of names.
    pub fn syncs(&self) -> u64 {
        self.state().syncs
    }

    /// Returns how often bytes of a file were to be given back.
    #[allow(dead_code)] // builds of databases give none back
    pub fn releases(&self) -> u64 {
        self.state().releases
    }

    /// Returns how many files were to be removed so far.
    #[allow(dead_code)] // of builds of databases nobody asks
    pub fn removals(&self) -> u64 {
        self.state().removals
    }

    /// Returns the directory that is there after the power has been cut and come back. What was not
    /// synced is there or not, in whole or in part, as `seed` decides.
    pub fn after_cut(&self, seed: u64) -> Simulated {
        let state = self.state();
        let mut dice = SplitMix64::new(seed);
        let mut names = state.durable.clone();
        // Names that were not synced may have changed on the disk all the same.
        let gone = |name: &String| !state.live.contains_key(name);
        for (name, &file) in &state.live {
            if state.durable.get(name) != Some(&file) && dice.below(2) == 0 {
                names.insert(name.clone(), file);
                // Of a renamed file, the old name goes with the coming of the new one.
                names.retain(|name, f| *f != file || !gone(name));
            }
        }
        let live: Vec<usize> = state.live.values().copied().collect();
        for (name, file) in &state.durable {
            if gone(name) && !live.contains(file) && dice.below(2) == 0 {
                names.remove(name);
            }
        }
        let files = state.files.iter().map(|image| {
            let mut bytes = image.durable.clone();
            if image.live.len() > bytes.len() {
                let rest = &image.live[bytes.len()..];
                let some = dice.below(rest.len() as u64 + 1) as usize;
                bytes.extend(&rest[..some]);
            }
            bytes
        });
        Simulated::of(names, files)
    }

    /// A directory of files that are durable.
    fn of(names: BTreeMap<String, usize>, files: impl Iterator<Item = Vec<u8>>) -> Simulated {
        let files =
            files.map(|bytes| SimulatedFile { live: bytes.clone(), durable: bytes, lost: 0 });
        let state = SimulatedState {
            live: names.clone(),
            durable: names,
            files: files.collect(),
            ..SimulatedState::default()
        };
        Simulated { state: Arc::new(Mutex::new(state)) }
    }

    /// Returns a copy of the directory as the program sees it, without faults and locks.
    pub fn copy(&self) -> Simulated {
        let state = self.state();
        let files = state.files.iter().map(|image| image.live.clone());
        Simulated::of(state.live.clone(), files)
    }

    /// Changes the bytes of a file behind the program's back.
    ///
    /// # Panics
    /// When there is no such file.
    pub fn damage(&self, name: &str, change: impl FnOnce(&mut Vec<u8>)) {
        let mut state = self.state();
        let file = *state.live.get(name).expect("a file to damage");
        change(&mut state.files[file].live);
        state.files[file].durable = state.files[file].live.clone();
    }
}

impl SimulatedState {
    fn alive(&self) -> Result<(), StorageError> {
        match self.dead {
            true => Err(said("", io::Error::other("the power is cut"))),
            false => Ok(()),
        }
    }

    fn file(&self, name: &str) -> Result<usize, StorageError> {
        let file = self.live.get(name).copied();
        file.ok_or_else(|| said(name, io::Error::from(io::ErrorKind::NotFound)))
    }

    /// Counts a sync, or cuts the power.
    fn sync(&mut self) -> Result<(), StorageError> {
        self.alive()?;
        self.syncs += 1;
        if self.faults.cut_at == Some(self.syncs) {
            self.dead = true;
        }
        self.alive()
    }

    /// Whether the sync that was just counted fails.
    fn fails(&self) -> bool {
        self.faults.fail_sync == Some(self.syncs)
    }

    fn bytes(&self) -> u64 {
        self.live.values().map(|&file| self.files[file].live.len() as u64).sum()
    }
}

impl Storage for Simulated {
    fn create(&self, name: &str) -> Result<Box<dyn Append>, StorageError> {
        let mut state = self.alive()?;
        let file = state.files.len();
        state.files.push(SimulatedFile::default());
        state.live.insert(name.to_string(), file);
        Ok(Box::new(SimulatedAppend { directory: self.clone(), file, name: name.into() }))
    }

    fn open(&self, name: &str) -> Result<Box<dyn ReadAt>, StorageError> {
        let state = self.alive()?;
        let file = state.file(name)?;
        let hit = |fault: &Option<String>| fault.as_ref().is_some_and(|f| name.starts_with(f));
        let mut bytes = state.files[file].live.clone();
        let middle = bytes.len() / 2;
        if hit(&state.faults.flipped)
            && let Some(byte) = bytes.get_mut(middle)
        {
            *byte ^= 16;
        }
        if hit(&state.faults.zeroed) {
            bytes.iter_mut().skip(16).for_each(|byte| *byte = 0);
        }
        let unreadable = hit(&state.faults.unreadable);
        Ok(Box::new(Opened { bytes, unreadable, place: said(name, io::Error::other("")).place }))
    }

    fn rename(&self, from: &str, to: &str) -> Result<(), StorageError> {
        let mut state = self.alive()?;
        let file = state.file(from)?;
        state.live.remove(from);
        state.live.insert(to.to_string(), file);
        Ok(())
    }

    fn link(&self, from: &str, to: &str) -> Result<(), StorageError> {
        let mut state = self.alive()?;
        let file = state.file(from)?;
        match state.live.contains_key(to) {
            true => Err(said(to, io::Error::from(io::ErrorKind::AlreadyExists))),
            false => {
                state.live.insert(to.to_string(), file);
                Ok(())
            }
        }
    }

    fn remove(&self, name: &str) -> Result<(), StorageError> {
        let mut state = self.alive()?;
        state.removals += 1;
        if state.faults.fail_removal == Some(state.removals) {
            return Err(broken(name));
        }
        state.live.remove(name);
        Ok(())
    }

    fn release(&self, name: &str, offset: u64, len: u64) -> bool {
        let mut state = self.state();
        state.releases += 1;
        let file = state.alive().and_then(|()| state.file(name));
        let Some(file) = file.ok().filter(|_| !state.faults.no_release) else {
            return false;
        };
        let end = (offset + len) as usize;
        state.files[file].live[offset as usize..end].fill(0);
        true
    }

    fn list(&self) -> Result<Vec<String>, StorageError> {
        let state = self.alive()?;
        Ok(state.live.keys().cloned().collect())
    }

    fn sync_names(&self) -> Result<(), StorageError> {
        let mut state = self.state();
        state.sync()?;
        if state.fails() {
            return Err(broken(""));
        }
        state.durable = state.live.clone();
        Ok(())
    }

    fn lock(&self) -> Result<Option<Lock>, StorageError> {
        let mut state = self.alive()?;
        if state.faults.no_locks {
            return Err(said("lock", io::Error::from(io::ErrorKind::Unsupported)));
        }
        if state.locked {
            return Ok(None);
        }
        state.locked = true;
        Ok(Some(Box::new(Held(self.clone()))))
    }

    fn is_locked(&self) -> bool {
        self.state().locked
    }

    fn free(&self) -> Option<u64> {
        let state = self.state();
        let capacity = state.faults.capacity?;
        Some(capacity.saturating_sub(state.bytes()))
    }

    fn device(&self) -> Option<u64> {
        self.state().faults.device
    }

    fn name(&self) -> String {
        "memory".into()
    }
}

struct Held(Simulated);

impl Drop for Held {
    fn drop(&mut self) {
        self.0.state().locked = false;
    }
}

struct SimulatedAppend {
    directory: Simulated,
    file: usize,
    name: String,
}

impl Append for SimulatedAppend {
    fn append(&mut self, bytes: &[u8]) -> Result<(), StorageError> {
        let mut state = self.directory.alive()?;
        let room = state
            .faults
            .capacity
            .map_or(u64::MAX, |capacity| capacity.saturating_sub(state.bytes()));
        let fits = bytes.len().min(usize::try_from(room).unwrap_or(usize::MAX));
        state.files[self.file].live.extend(&bytes[..fits]);
        if fits < bytes.len() {
            return Err(said(&self.name, io::Error::from(io::ErrorKind::StorageFull)));
        }
        Ok(())
    }

    fn sync(&mut self) -> Result<(), StorageError> {
        let mut state = self.directory.state();
        state.sync()?;
        let fails = state.fails();
        let image = &mut state.files[self.file];
        if fails {
            image.lost = image.live.len();
            return Err(broken(&self.name));
        }
        // Files are appended to; behind what was durable before, the lost bytes are a hole.
        let kept = image.durable.len();
        image.durable.extend(&image.live[kept..]);
        let lost = kept.min(image.lost)..image.lost;
        image.durable[lost].fill(0);
        Ok(())
    }
}

struct Opened {
    bytes: Vec<u8>,
    unreadable: bool,
    place: Place,
}

impl ReadAt for Opened {
    fn len(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn read(&self, offset: u64, len: usize) -> Result<Bytes, StorageError> {
        match self.unreadable {
            true => Err(broken(&self.place.file)),
            false => self.bytes.read(offset, len).map_err(|e| self.place.error(e.reason)),
        }
    }

    fn place(&self) -> &Place {
        &self.place
    }
}
