//! What Linux, macOS and Windows do differently with processes and terminals: requests to stop, the end of a process
//! whose mapped file was cut, and the folder for caches.
//!
//! The rest of the program calls these functions and asks no further on which system it runs.

#![allow(unsafe_code)]

use std::{
    io,
    ops::Range,
    path::{Path, PathBuf},
    ptr,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicPtr, Ordering},
    },
};

use parking_lot::Mutex;
use tilewave::Mapped;

pub use crate::platform::system::*;

// Caches.

/// What the help says of the folder for caches.
pub const CACHES: &str = if cfg!(windows) {
    "$XDG_CACHE_HOME/tilewave, or %LOCALAPPDATA%\\tilewave"
} else if cfg!(target_vendor = "apple") {
    "$XDG_CACHE_HOME/tilewave, or ~/Library/Caches/tilewave"
} else {
    "$XDG_CACHE_HOME/tilewave, or ~/.cache/tilewave"
};

/// Returns the folder in which programs of this user keep what can be computed again.
pub fn caches() -> Option<PathBuf> {
    let set =
        |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let of_system = || {
        if cfg!(windows) {
            return set("LOCALAPPDATA");
        }
        let within = if cfg!(target_vendor = "apple") { "Library/Caches" } else { ".cache" };
        Some(set("HOME")?.join(within))
    };
    set("XDG_CACHE_HOME").or_else(of_system)
}

// Mapped files. Reading a page that the file no longer has, or that its disk cannot read, is a signal or an exception.
//
// Invariant: its handler neither allocates nor waits for a lock: another thread may hold any lock.

/// The addresses of a map, the line that is said when it was cut, and the map that was made before it.
struct Map {
    bytes: Range<usize>,
    line: String,
    older: Option<&'static Map>,
}

/// The newest map. Maps live as long as the process: the handler may be reading them.
static NEWEST: AtomicPtr<Map> = AtomicPtr::new(ptr::null_mut());

/// Whether the handler is there; held while a map is added.
static HANDLED: Mutex<bool> = Mutex::new(false);

fn newest() -> Option<&'static Map> {
    // SAFETY: a map was complete before it was stored, and is never changed or freed.
    unsafe { NEWEST.load(Ordering::Acquire).as_ref() }
}

/// The map of an address. The newest first: it may lie where one lay that is gone.
fn map_of(address: usize) -> Option<&'static Map> {
    std::iter::successors(newest(), |map| map.older).find(|map| map.bytes.contains(&address))
}

/// Whether nobody has asked this before: of several threads that read what was cut, or for which there is no memory,
/// the first one says it.
pub fn is_first() -> bool {
    static SAID: AtomicBool = AtomicBool::new(false);
    !SAID.swap(true, Ordering::Relaxed)
}

/// Maps a file. When it is cut short later, the process ends with status 1 and a line that names the file.
///
/// # Errors
/// What the system says.
pub fn map_file(path: &Path) -> io::Result<Mapped> {
    let mut handled = HANDLED.lock();
    if !*handled {
        handle_cuts()?;
        *handled = true;
    }
    // SAFETY: reading what was cut off ends the process in an orderly way.
    let mapped = unsafe { Mapped::open(path)? };
    let line = format!(
        "error: '{}' was truncated, or its disk failed, while tilewave was reading it: copy \
         the file again, and do not change it while tilewave runs\n",
        path.display()
    );
    let bytes = mapped.bytes().as_ptr_range();
    let bytes = bytes.start as usize..bytes.end as usize;
    let map = Box::leak(Box::new(Map { bytes, line, older: newest() }));
    NEWEST.store(map, Ordering::Release);
    Ok(mapped)
}

/// Linux and macOS.
#[cfg(unix)]
mod system {
    use std::ffi::{c_int, c_void};

    use signal_hook::{
        consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ},
        flag,
    };

    use super::*;

    /// Makes a file that outgrows the limit of the shell (`ulimit -f`) an error of writing, not the end.
    pub fn prepare() {
        let _ = flag::register(SIGXFSZ, Arc::default());
    }

    /// Raises the flag on Ctrl-C, termination and a lost terminal. The second signal ends the process at once, with
    /// this exit code. A signal that is ignored, as SIGHUP under nohup, stays ignored.
    pub fn listen(asked: &Arc<AtomicBool>, code: u8) {
        for signal in [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|&signal| !is_ignored(signal)) {
            // In this order: the first signal finds the flag down, the second finds it up.
            let heard = flag::register_conditional_shutdown(signal, code.into(), Arc::clone(asked))
                .and_then(|_| flag::register(signal, Arc::clone(asked)));
            if let Err(error) = heard {
                tracing::debug!("cannot listen for signal {signal}: {error}");
            }
        }
    }

    fn is_ignored(signal: c_int) -> bool {
        // SAFETY: all zeros is a sigaction.
        let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
        // SAFETY: nothing is changed; the call writes one structure of this kind.
        let found = unsafe { libc::sigaction(signal, ptr::null(), &raw mut action) };
        found == 0 && action.sa_sigaction == libc::SIG_IGN
    }

    /// Writes to stderr, whoever of this process is writing to it.
    pub fn write_unlocked(text: &[u8]) {
        let _ = rustix::io::write(io::stderr(), text);
    }

    pub(super) fn handle_cuts() -> io::Result<()> {
        // SAFETY: all zeros is a sigaction: no flags, an empty mask, the default handler.
        let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
        action.sa_sigaction = on_bus_error as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO;
        // SAFETY: the handler has the signature that SA_SIGINFO asks for and does only what a handler may do.
        match unsafe { libc::sigaction(libc::SIGBUS, &raw const action, ptr::null_mut()) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// Says which file was cut and ends the process. An address in no map is not for this handler: the access
    /// is tried again without one.
    extern "C" fn on_bus_error(_: c_int, info: *mut libc::siginfo_t, _: *mut c_void) {
        // SAFETY: the system passes a pointer to what it knows of the signal, of an address for SIGBUS.
        let address = unsafe { (*info).si_addr() } as usize;
        let Some(map) = map_of(address) else {
            // SAFETY: a handler may do this.
            unsafe { libc::signal(libc::SIGBUS, libc::SIG_DFL) };
            return;
        };
        while !is_first() {
            // SAFETY: a handler may do this.
            unsafe { libc::pause() };
        }
        // SAFETY: a handler may do this.
        unsafe {
            libc::write(libc::STDERR_FILENO, map.line.as_ptr().cast(), map.line.len());
            libc::_exit(1);
        }
    }
}

#[cfg(windows)]
mod system {
    use std::{sync::OnceLock, time::Duration};

    use windows_sys::Win32::{
        Foundation::STATUS_IN_PAGE_ERROR,
        Storage::FileSystem::WriteFile,
        System::{
            Console::{
                CTRL_BREAK_EVENT, CTRL_C_EVENT, ENABLE_VIRTUAL_TERMINAL_PROCESSING, GetConsoleMode,
                GetStdHandle, STD_ERROR_HANDLE, STD_OUTPUT_HANDLE, SetConsoleCtrlHandler,
                SetConsoleMode,
            },
            Diagnostics::Debug::{AddVectoredExceptionHandler, EXCEPTION_POINTERS},
            Threading::{GetCurrentProcess, TerminateProcess},
        },
    };

    use super::*;

    /// Makes the console understand colours, which older ones do only when asked.
    pub fn prepare() {
        for stream in [STD_OUTPUT_HANDLE, STD_ERROR_HANDLE] {
            let mut mode = 0;
            // SAFETY: the calls fail for anything but a console; the first writes one number.
            unsafe {
                let console = GetStdHandle(stream);
                if GetConsoleMode(console, &raw mut mode) != 0 {
                    SetConsoleMode(console, mode | ENABLE_VIRTUAL_TERMINAL_PROCESSING);
                }
            }
        }
    }

    /// The flag that is raised, and the exit code of a process that is stopped at once.
    static ASKED: OnceLock<(Arc<AtomicBool>, u8)> = OnceLock::new();

    /// Raises the flag on Ctrl-C and Ctrl-Break, and when the console is closed or the user logs off. The second Ctrl-C
    /// ends the process at once, with this exit code.
    pub fn listen(asked: &Arc<AtomicBool>, code: u8) {
        let _ = ASKED.set((Arc::clone(asked), code));
        // SAFETY: the handler has the signature that the call asks for.
        if unsafe { SetConsoleCtrlHandler(Some(on_control), 1) } == 0 {
            tracing::debug!("cannot listen for Ctrl-C: {}", io::Error::last_os_error());
        }
    }

    /// Runs on a thread of its own.
    unsafe extern "system" fn on_control(event: u32) -> i32 {
        let Some((asked, code)) = ASKED.get() else { return 0 };
        let again = asked.swap(true, Ordering::Relaxed);
        if event != CTRL_C_EVENT && event != CTRL_BREAK_EVENT {
            // The system ends the process as soon as this returns, or after five seconds.
            std::thread::sleep(Duration::from_secs(60));
        } else if again {
            end(*code);
        }
        1
    }

    fn end(code: u8) {
        // SAFETY: the handle is that of this process.
        unsafe { TerminateProcess(GetCurrentProcess(), code.into()) };
    }

    /// Writes to stderr, whoever of this process is writing to it: a console takes only whole characters, which the
    /// standard library sees to.
    pub fn write_unlocked(text: &[u8]) {
        let _ = io::Write::write_all(&mut io::stderr(), text);
    }

    pub(super) fn handle_cuts() -> io::Result<()> {
        // SAFETY: the handler has the signature that the call asks for.
        match unsafe { AddVectoredExceptionHandler(1, Some(on_exception)) }.is_null() {
            true => Err(io::Error::last_os_error()),
            false => Ok(()),
        }
    }

    /// Says which file cannot be read and ends the process. Windows lets nobody cut a file that is mapped, but its disk
    /// may fail, or the machine that has it.
    unsafe extern "system" fn on_exception(facts: *mut EXCEPTION_POINTERS) -> i32 {
        const SEARCH_ON: i32 = 0;
        // SAFETY: the system passes a pointer to what it knows of the exception.
        let record = unsafe { &*(*facts).ExceptionRecord };
        // Whether it was read or written, and the address.
        let [_, address, ..] = record.ExceptionInformation;
        let map = map_of(address).filter(|_| record.ExceptionCode == STATUS_IN_PAGE_ERROR);
        let Some(map) = map else { return SEARCH_ON };
        while !is_first() {
            std::thread::sleep(Duration::from_secs(60));
        }
        let (line, len, mut written) = (map.line.as_ptr(), map.line.len() as u32, 0);
        // SAFETY: the line is as long as the call is told; the call writes one number.
        unsafe {
            WriteFile(GetStdHandle(STD_ERROR_HANDLE), line, len, &raw mut written, ptr::null_mut())
        };
        end(1);
        SEARCH_ON
    }
}
