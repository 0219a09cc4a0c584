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

/// The bytes of a file, mapped for reading.
#[derive(Debug)]
pub struct Mapped {
    // The watch ends before the map does.
    watch: Option<MappedRange>,
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
        Ok(Mapped { watch: None, map, file, then })
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

// What happens when a mapped file is cut short while it is in use.
//
// Invariant: reading a page that is no longer there ends the process by a signal (SIGBUS). A program that asks
// for it by [`EndWhenCut`] ends with status 1 and one line that names the file instead; a library never asks.

/// A promise of this process: when a file that it has mapped is cut short, it ends with status 1 and a line on
/// stderr that names the file.
#[derive(Clone, Copy, Debug)]
pub struct EndWhenCut(());

/// A range of addresses, and what to say when it cannot be read.
#[derive(Debug)]
pub(crate) struct MappedRange {
    #[cfg(unix)]
    slot: &'static signal::Slot,
}

impl EndWhenCut {
    /// Makes the promise for the whole process, which is for programs to do and not for libraries: it handles
    /// the signal SIGBUS from now on.
    ///
    /// # Errors
    /// What the system says; [`io::ErrorKind::Unsupported`] where there is no such signal.
    pub fn promise() -> io::Result<EndWhenCut> {
        #[cfg(unix)]
        return signal::handle().map(|()| EndWhenCut(()));
        #[cfg(not(unix))]
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Keeps the promise for a map, until what is returned is dropped; none when too many are watched.
    pub(crate) fn watch(self, map: &[u8], path: &Path) -> Option<MappedRange> {
        #[cfg(unix)]
        return signal::Slot::take(map, path).map(|slot| MappedRange { slot });
        #[cfg(not(unix))]
        None
    }
}

#[cfg(unix)]
impl Drop for MappedRange {
    fn drop(&mut self) {
        self.slot.free();
    }
}

#[cfg(unix)]
mod signal {
    use std::ffi::{c_int, c_void};
    use std::io;
    use std::path::Path;
    use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};

    /// A map that is watched. The line lives as long as the process: a handler may be reading it.
    #[derive(Debug)]
    pub struct Slot {
        taken: AtomicBool,
        begin: AtomicUsize,
        end: AtomicUsize,
        line: AtomicPtr<String>,
    }

    /// Most maps at a time: a solver has at most 16 partitions of eight databases.
    const SLOTS: usize = 256;

    static WATCHED: [Slot; SLOTS] = [const {
        Slot {
            taken: AtomicBool::new(false),
            begin: AtomicUsize::new(0),
            end: AtomicUsize::new(0),
            line: AtomicPtr::new(std::ptr::null_mut()),
        }
    }; SLOTS];

    impl Slot {
        pub fn take(map: &[u8], path: &Path) -> Option<&'static Slot> {
            let free = |slot: &&Slot| !slot.taken.swap(true, Ordering::Acquire);
            let slot = WATCHED.iter().find(free)?;
            let line = format!(
                "error: '{}' was cut short, or its disk failed, while it was in use: copy it again, and leave it \
                 alone while tilewave runs\n",
                path.display()
            );
            let line = Box::leak(Box::new(line));
            slot.line.store(line, Ordering::Relaxed);
            let begin = map.as_ptr() as usize;
            slot.begin.store(begin, Ordering::Relaxed);
            slot.end.store(begin + map.len(), Ordering::Release);
            Some(slot)
        }

        pub fn free(&self) {
            self.end.store(0, Ordering::Release);
            self.taken.store(false, Ordering::Release);
        }
    }

    pub fn handle() -> io::Result<()> {
        // SAFETY: all zeros is a sigaction: no flags, an empty mask, the default handler.
        let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
        action.sa_sigaction = on_bus_error as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO;
        // SAFETY: the handler has the signature that SA_SIGINFO asks for and does only what a handler may do.
        match unsafe { libc::sigaction(libc::SIGBUS, &raw const action, std::ptr::null_mut()) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// Says which file was cut and ends the process. An address in no map is not for this handler: the access
    /// is tried again without one.
    extern "C" fn on_bus_error(_: c_int, info: *mut libc::siginfo_t, _: *mut c_void) {
        static SAID: AtomicBool = AtomicBool::new(false);
        // SAFETY: the system passes a pointer to what it knows of the signal, of an address for SIGBUS.
        let address = unsafe { (*info).si_addr() } as usize;
        let holds = |slot: &&Slot| {
            // The end first: it was stored last.
            address < slot.end.load(Ordering::Acquire)
                && address >= slot.begin.load(Ordering::Relaxed)
        };
        let Some(slot) = WATCHED.iter().find(holds) else {
            // SAFETY: a handler may do this.
            unsafe { libc::signal(libc::SIGBUS, libc::SIG_DFL) };
            return;
        };
        // Other threads stumble as well, but it is said once.
        while SAID.swap(true, Ordering::Relaxed) {
            // SAFETY: a handler may do this.
            unsafe { libc::pause() };
        }
        // SAFETY: the line was stored before the end and is never freed; a handler may do the rest.
        unsafe {
            let line = &*slot.line.load(Ordering::Relaxed);
            libc::write(libc::STDERR_FILENO, line.as_ptr().cast(), line.len());
            libc::_exit(1);
        }
    }
}
