//! What the program says when it cannot go on at all: no memory is left, or a mapped file was cut short.
//!
//! Invariant: nothing here allocates or waits for a lock once it has begun to speak: another thread may hold any
//! lock, and a signal handler may do little. The library asks for none of this; a program does, for its process.

#![allow(unsafe_code)]

use std::{
    alloc::{GlobalAlloc, Layout, System},
    io::{self, IsTerminal, Write},
    path::Path,
};

use tilewave::Mapped;

/// The system's allocator; when it has no more memory, the program ends with words and not with a signal.
pub struct Allocator;

impl Allocator {
    fn given(memory: *mut u8, bytes: usize) -> *mut u8 {
        if memory.is_null() {
            out_of_memory(bytes);
        }
        memory
    }
}

// SAFETY: every call goes to the system's allocator as it came, and what that returns is returned; where that is
// null, the process ends instead.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the promises of this function, which are the same.
        Allocator::given(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        Allocator::given(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as above.
        Allocator::given(unsafe { System.realloc(memory, layout, size) }, size)
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(memory, layout) }
    }
}

fn out_of_memory(bytes: usize) -> ! {
    let mut line = [0; 200];
    let mut rest = &mut line[..];
    // A bar that stands there is left where it is. The line has room for all of it.
    let end_of_bar = if io::stderr().is_terminal() { "\n" } else { "" };
    let _ = writeln!(
        rest,
        "{end_of_bar}error: not enough memory (the system refuses another {bytes} bytes): close \
         other programs, or use fewer threads (-j) or a lower --memory"
    );
    let len = 200 - rest.len();
    write_unlocked(&line[..len]);
    std::process::exit(1)
}

/// Writes to stderr, whoever of this process is writing to it.
pub fn write_unlocked(text: &[u8]) {
    #[cfg(unix)]
    let _ = rustix::io::write(io::stderr(), text);
    #[cfg(not(unix))]
    let _ = Write::write_all(&mut io::stderr(), text);
}

/// Maps a file. When it is cut short later, the process ends with status 1 and a line that names the file.
///
/// # Errors
/// What the system says; [`io::ErrorKind::Unsupported`] where no signal tells of cut files, and
/// [`io::ErrorKind::QuotaExceeded`] where too many files are mapped.
pub fn map(path: &Path) -> io::Result<Mapped> {
    #[cfg(unix)]
    return signal::map(path);
    #[cfg(not(unix))]
    Err(io::ErrorKind::Unsupported.into())
}

// Reading a page of a map that the file no longer has is a signal, SIGBUS.
#[cfg(unix)]
mod signal {
    use std::{
        ffi::{c_int, c_void},
        sync::{
            Mutex,
            atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering},
        },
    };

    use super::*;

    /// A map, and the line that is said when it was cut. Lines live as long as the process: the handler may be
    /// reading them.
    struct Map {
        begin: AtomicUsize,
        end: AtomicUsize,
        line: AtomicPtr<String>,
    }

    /// All maps; those behind the last one are empty. A solver has at most 16 partitions of eight databases.
    static MAPS: [Map; 256] = [const {
        Map {
            begin: AtomicUsize::new(0),
            end: AtomicUsize::new(0),
            line: AtomicPtr::new(std::ptr::null_mut()),
        }
    }; 256];

    /// How many maps there are, once the handler is there.
    static KNOWN: Mutex<Option<usize>> = Mutex::new(None);

    pub fn map(path: &Path) -> io::Result<Mapped> {
        let mut known = KNOWN.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let next = match *known {
            Some(next) => next,
            None => handle().map(|()| 0)?,
        };
        let free = MAPS.get(next).ok_or(io::ErrorKind::QuotaExceeded)?;
        // SAFETY: reading what was cut off ends the process in an orderly way.
        let mapped = unsafe { Mapped::open(path)? };
        let line = format!(
            "error: '{}' was truncated, or its disk failed, while it was in use: copy it again, \
             and do not change it while tilewave runs\n",
            path.display()
        );
        free.line.store(Box::leak(Box::new(line)), Ordering::Relaxed);
        let begin = mapped.bytes().as_ptr() as usize;
        free.begin.store(begin, Ordering::Relaxed);
        free.end.store(begin + mapped.bytes().len(), Ordering::Release);
        *known = Some(next + 1);
        Ok(mapped)
    }

    fn handle() -> io::Result<()> {
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
        let holds = |map: &&Map| {
            // The end first: it was stored last.
            address < map.end.load(Ordering::Acquire)
                && address >= map.begin.load(Ordering::Relaxed)
        };
        // The newest first: it may lie where one lay that is gone.
        let Some(map) = MAPS.iter().rev().find(holds) else {
            // SAFETY: a handler may do this.
            unsafe { libc::signal(libc::SIGBUS, libc::SIG_DFL) };
            return;
        };
        // Other threads may fault as well: the first one says it.
        while SAID.swap(true, Ordering::Relaxed) {
            // SAFETY: a handler may do this.
            unsafe { libc::pause() };
        }
        // SAFETY: the line was stored before the end and is never freed; a handler may do the rest.
        unsafe {
            let line = &*map.line.load(Ordering::Relaxed);
            libc::write(libc::STDERR_FILENO, line.as_ptr().cast(), line.len());
            libc::_exit(1);
        }
    }
}
