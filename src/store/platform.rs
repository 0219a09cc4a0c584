//! What Linux, macOS and Windows do differently with files and memory. docs/guarantees.md says what follows from it.
//!
//! The rest of `store` calls these functions and asks no further on which system it runs.

#![allow(unsafe_code)]

use std::{
    fs::{File, OpenOptions},
    io,
    path::{Path, PathBuf},
};

use tempfile::NamedTempFile;

#[cfg(unix)]
pub use crate::store::platform::unix::*;
#[cfg(windows)]
pub use crate::store::platform::windows::*;

/// The directory, or its nearest existing ancestor.
fn existing(path: &Path) -> Option<PathBuf> {
    let above = path.ancestors().map(|path| match path.as_os_str() {
        name if name.is_empty() => Path::new("."),
        _ => path,
    });
    above.into_iter().find(|path| path.exists()).map(PathBuf::from)
}

/// Reads from a position to the end of the buffer.
pub fn read_exact_at(file: &File, bytes: &mut [u8], offset: u64) -> io::Result<()> {
    #[cfg(unix)]
    return std::os::unix::fs::FileExt::read_exact_at(file, bytes, offset);
    #[cfg(windows)]
    return each_piece(bytes, offset, |rest, at| {
        std::os::windows::fs::FileExt::seek_read(file, rest, at)
    });
}

/// Linux and macOS.
#[cfg(unix)]
mod unix {
    use std::os::unix::fs::{FileExt, FileTypeExt, MetadataExt, OpenOptionsExt};

    use super::*;

    /// Opens a file and returns its length with it. Fails for anything but a regular file: a pipe in its place would
    /// have no writer, so opening it would wait forever.
    pub fn open_file(options: &mut OpenOptions, path: &Path) -> io::Result<(File, u64)> {
        let opened = options.custom_flags(rustix::fs::OFlags::NONBLOCK.bits() as i32).open(path);
        // A socket cannot be opened, a pipe that nobody reads not for writing, a directory neither.
        let facts = match &opened {
            Ok(file) => file.metadata(),
            Err(_) => std::fs::metadata(path),
        };
        let facts = match facts {
            Err(error) => return Err(opened.err().unwrap_or(error)),
            Ok(facts) => facts,
        };
        let other = match facts.file_type() {
            kind if kind.is_file() => return opened.map(|file| (file, facts.len())),
            kind if kind.is_dir() => "a directory",
            kind if kind.is_fifo() => "a pipe",
            kind if kind.is_socket() => "a socket",
            _ => "a device",
        };
        Err(io::Error::other(format!("this is {other}, not a file: move it away")))
    }

    /// Reads bytes of a file into uninitialized memory.
    pub fn read_at(file: &File, offset: u64, len: usize) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::with_capacity(len);
        while bytes.len() < len {
            // The allocator may have provided more memory than requested.
            let rest = len - bytes.len();
            let room = rustix::buffer::spare_capacity(&mut bytes);
            let at = offset + (len - rest) as u64;
            match rustix::io::pread(file, room, at) {
                Ok(0) => return Err(io::Error::from(io::ErrorKind::UnexpectedEof)),
                Ok(_) => {}
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        bytes.truncate(len);
        Ok(bytes)
    }

    pub fn write_at(file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
        file.write_all_at(bytes, offset)
    }

    /// Makes the bytes of a file durable. On macOS, the standard library asks the disk itself to write them
    /// (F_FULLFSYNC); disks on a network that do not know this are asked as on Linux.
    pub fn sync_file(file: &File) -> io::Result<()> {
        match file.sync_all() {
            #[cfg(target_vendor = "apple")]
            Err(error) if error.raw_os_error() == Some(libc::ENOTSUP) => {
                Ok(rustix::fs::fsync(file)?)
            }
            synced => synced,
        }
    }

    /// Makes the names in a directory durable.
    pub fn sync_directory(directory: &Path) -> io::Result<()> {
        File::open(directory).and_then(|directory| sync_file(&directory))
    }

    /// Gives a temporary file its name, in place of any file of that name.
    pub fn persist(temporary: NamedTempFile, target: &Path) -> io::Result<()> {
        temporary.persist(target).map(drop).map_err(|failed| failed.error)
    }

    /// The default permissions of the user's new files: the system applies the umask.
    pub fn permit(builder: &mut tempfile::Builder<'_, '_>) {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }

    /// Whether a file still has a name: what has been removed can be locked, but by nobody who would notice.
    pub fn has_name(file: &File) -> io::Result<bool> {
        Ok(file.metadata()?.nlink() > 0)
    }

    /// Whether an error says that the file system has no locks: a network file system without its lock daemon.
    pub fn is_no_locks(error: &io::Error) -> bool {
        error.raw_os_error() == Some(rustix::io::Errno::NOLCK.raw_os_error())
    }

    /// Frees the disk space of a part of a file; returns whether it was freed.
    pub fn punch(file: &File, offset: u64, len: u64) -> bool {
        #[cfg(target_os = "linux")]
        {
            use rustix::fs::{FallocateFlags, fallocate};
            let hole = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
            fallocate(file, hole, offset, len).is_ok()
        }
        #[cfg(target_vendor = "apple")]
        {
            // Only whole blocks.
            let block = file.metadata().map_or(1, |facts| facts.blksize().max(1));
            let first = offset.next_multiple_of(block);
            let end = (offset + len) / block * block;
            let hole = libc::fpunchhole_t {
                fp_flags: 0,
                reserved: 0,
                fp_offset: first as libc::off_t,
                fp_length: end.saturating_sub(first) as libc::off_t,
            };
            let file = std::os::fd::AsRawFd::as_raw_fd(file);
            // SAFETY: the call reads one structure of this kind.
            end > first && unsafe { libc::fcntl(file, libc::F_PUNCHHOLE, &raw const hole) } == 0
        }
        #[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
        {
            let _ = (file, offset, len);
            false
        }
    }

    /// Allocates the blocks of a file up to a length, so that a full disk is reported now and not when a page is
    /// written; some network file systems cannot report it.
    pub fn reserve(file: &File, len: u64) -> io::Result<()> {
        #[cfg(target_os = "linux")]
        match rustix::fs::fallocate(file, rustix::fs::FallocateFlags::empty(), 0, len) {
            Err(error) if error != rustix::io::Errno::OPNOTSUPP => return Err(error.into()),
            _ => {}
        }
        #[cfg(target_vendor = "apple")]
        {
            let mut wanted = libc::fstore_t {
                fst_flags: libc::F_ALLOCATEALL,
                fst_posmode: libc::F_PEOFPOSMODE,
                fst_offset: 0,
                fst_length: len as libc::off_t,
                fst_bytesalloc: 0,
            };
            let descriptor = std::os::fd::AsRawFd::as_raw_fd(file);
            // SAFETY: the call reads and writes one structure of this kind.
            if unsafe { libc::fcntl(descriptor, libc::F_PREALLOCATE, &raw mut wanted) } != 0 {
                let error = io::Error::last_os_error();
                if error.raw_os_error() != Some(libc::ENOTSUP) {
                    return Err(error);
                }
            }
        }
        file.set_len(len)
    }

    /// Returns the bytes that can still be written to the disk of a directory.
    pub fn free_space(directory: &Path) -> Option<u64> {
        let facts = rustix::fs::statvfs(existing(directory)?).ok()?;
        Some(facts.f_bavail.saturating_mul(facts.f_frsize))
    }

    /// Returns a number that is the same for directories on one disk.
    pub fn disk_of(directory: &Path) -> Option<u64> {
        Some(std::fs::metadata(existing(directory)?).ok()?.dev())
    }

    /// Returns the name of a device that a path means although it does not look so: only Windows has such names.
    pub fn reserved_name(_: &Path) -> Option<&str> {
        None
    }

    /// Returns the memory that is free according to the system alone; Linux tells it, and limits, in files.
    pub fn free_memory() -> Option<u64> {
        #[cfg(target_vendor = "apple")]
        {
            // SAFETY: all zeros is a structure of numbers.
            let mut facts: libc::vm_statistics64 = unsafe { std::mem::zeroed() };
            let mut count = libc::HOST_VM_INFO64_COUNT;
            // SAFETY: the call writes at most as many words as the count says, which is those of the structure.
            #[allow(deprecated)]
            let failed = unsafe {
                let into = (&raw mut facts).cast();
                libc::host_statistics64(
                    libc::mach_host_self(),
                    libc::HOST_VM_INFO64,
                    into,
                    &raw mut count,
                )
            };
            // What was read from files, and not used lately, is free as well.
            let pages = u64::from(facts.free_count) + u64::from(facts.inactive_count);
            (failed == 0).then(|| pages * rustix::param::page_size() as u64)
        }
        #[cfg(not(target_vendor = "apple"))]
        None
    }

    /// Returns the peak resident memory of this process where the system has a call for it; Linux tells it in a file.
    pub fn peak_memory() -> Option<u64> {
        #[cfg(target_vendor = "apple")]
        {
            // SAFETY: all zeros is a structure of numbers.
            let mut used: libc::rusage = unsafe { std::mem::zeroed() };
            // SAFETY: the call writes one structure of this kind.
            let failed = unsafe { libc::getrusage(libc::RUSAGE_SELF, &raw mut used) };
            // In bytes, unlike on Linux.
            (failed == 0).then_some(used.ru_maxrss as u64)
        }
        #[cfg(not(target_vendor = "apple"))]
        None
    }
}

#[cfg(windows)]
mod windows {
    use std::{
        ffi::c_void,
        os::windows::{ffi::OsStrExt, fs::OpenOptionsExt, io::AsRawHandle},
        ptr,
    };

    use windows_sys::Win32::{
        Foundation::{ERROR_SHARING_VIOLATION, GENERIC_WRITE},
        Storage::FileSystem::{
            BY_HANDLE_FILE_INFORMATION, FILE_FLAG_BACKUP_SEMANTICS, FILE_STANDARD_INFO,
            FileStandardInfo, GetDiskFreeSpaceExW, GetFileInformationByHandle,
            GetFileInformationByHandleEx,
        },
        System::{
            IO::DeviceIoControl,
            Ioctl::{FILE_ZERO_DATA_INFORMATION, FSCTL_SET_SPARSE, FSCTL_SET_ZERO_DATA},
            ProcessStatus::{K32GetProcessMemoryInfo, PROCESS_MEMORY_COUNTERS},
            SystemInformation::{GlobalMemoryStatusEx, MEMORYSTATUSEX},
            Threading::GetCurrentProcess,
        },
    };

    use super::*;
    use crate::system::directories;

    /// Opens a file and returns its length with it. Fails for a directory.
    pub fn open_file(options: &mut OpenOptions, path: &Path) -> io::Result<(File, u64)> {
        let file = options.open(path).map_err(|error| match directories(path)(error) {
            error if error.kind() == io::ErrorKind::IsADirectory => {
                io::Error::other("this is a directory, not a file: move it away")
            }
            error => error,
        })?;
        let len = file.metadata()?.len();
        Ok((file, len))
    }

    pub fn read_at(file: &File, offset: u64, len: usize) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; len];
        read_exact_at(file, &mut bytes, offset)?;
        Ok(bytes)
    }

    pub fn write_at(file: &File, mut bytes: &[u8], mut offset: u64) -> io::Result<()> {
        while !bytes.is_empty() {
            let written = std::os::windows::fs::FileExt::seek_write(file, bytes, offset)?;
            if written == 0 {
                return Err(io::ErrorKind::WriteZero.into());
            }
            bytes = &bytes[written..];
            offset += written as u64;
        }
        Ok(())
    }

    pub(super) fn each_piece(
        mut bytes: &mut [u8],
        mut offset: u64,
        read: impl Fn(&mut [u8], u64) -> io::Result<usize>,
    ) -> io::Result<()> {
        while !bytes.is_empty() {
            match read(bytes, offset)? {
                0 => return Err(io::Error::from(io::ErrorKind::UnexpectedEof)),
                len => (bytes, offset) = (&mut bytes[len..], offset + len as u64),
            }
        }
        Ok(())
    }

    /// Makes the bytes of a file durable.
    pub fn sync_file(file: &File) -> io::Result<()> {
        file.sync_all()
    }

    /// A directory, opened for the calls that ask about it or flush it.
    fn open_directory(directory: &Path, access: u32) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.access_mode(access).custom_flags(FILE_FLAG_BACKUP_SEMANTICS).open(directory)
    }

    /// Asks the system to write the names in a directory. Not every file system does it, and none says so: NTFS keeps a
    /// journal of names, in their order.
    pub fn sync_directory(directory: &Path) -> io::Result<()> {
        let _ = open_directory(directory, GENERIC_WRITE).and_then(|opened| opened.sync_all());
        Ok(())
    }

    /// Gives a temporary file its name, in place of any file of that name, which others may have open.
    pub fn persist(temporary: NamedTempFile, target: &Path) -> io::Result<()> {
        // Renaming as `tempfile` does it fails if anybody reads the old file.
        let (file, path) = temporary.into_parts();
        let path = path.keep().map_err(|failed| failed.error)?;
        let renamed = std::fs::rename(&path, target);
        drop(file);
        renamed.map_err(|error| {
            let _ = std::fs::remove_file(&path);
            in_use(error, target)
        })
    }

    /// Says of a file that cannot be replaced although it may be written to that somebody uses it: Windows denies access
    /// to it.
    fn in_use(error: io::Error, target: &Path) -> io::Error {
        let is_refused = error.kind() == io::ErrorKind::PermissionDenied
            || error.raw_os_error() == Some(ERROR_SHARING_VIOLATION as i32);
        let facts = std::fs::metadata(target).ok().filter(|_| is_refused);
        match facts.is_some_and(|facts| facts.is_file() && !facts.permissions().readonly()) {
            true => io::Error::new(io::ErrorKind::ResourceBusy, error),
            false => error,
        }
    }

    /// New files have the permissions of their directory.
    pub fn permit(_: &mut tempfile::Builder<'_, '_>) {}

    /// Whether a file still has a name, and will keep it when it is closed.
    pub fn has_name(file: &File) -> io::Result<bool> {
        let mut facts = FILE_STANDARD_INFO::default();
        let len = size_of_val(&facts) as u32;
        let into = (&raw mut facts).cast();
        // SAFETY: the handle is open; the call writes one structure of this kind, whose size it is told.
        let found = unsafe {
            GetFileInformationByHandleEx(file.as_raw_handle(), FileStandardInfo, into, len)
        };
        match found {
            0 => Err(io::Error::last_os_error()),
            _ => Ok(!facts.DeletePending && facts.NumberOfLinks > 0),
        }
    }

    /// File systems without locks say that they do not support them.
    pub fn is_no_locks(_: &io::Error) -> bool {
        false
    }

    /// Frees the disk space of a part of a file; returns whether it was freed.
    pub fn punch(file: &File, offset: u64, len: u64) -> bool {
        let control = |code, input: *const c_void, bytes: usize| {
            let mut returned = 0;
            let (none, wait) = (ptr::null_mut(), ptr::null_mut());
            let file = file.as_raw_handle();
            // SAFETY: the handle is open; the input is a structure of the size that the call is told, or nothing.
            unsafe {
                DeviceIoControl(file, code, input, bytes as u32, none, 0, &raw mut returned, wait)
                    != 0
            }
        };
        let hole = FILE_ZERO_DATA_INFORMATION {
            FileOffset: offset as i64,
            BeyondFinalZero: (offset + len) as i64,
        };
        // Zeros take no space only in files that are marked as sparse.
        control(FSCTL_SET_SPARSE, ptr::null(), 0)
            && control(FSCTL_SET_ZERO_DATA, (&raw const hole).cast(), size_of_val(&hole))
    }

    /// Extends a file to a length; the system allocates all of its blocks.
    pub fn reserve(file: &File, len: u64) -> io::Result<()> {
        file.set_len(len)
    }

    /// Returns the bytes that can still be written to the disk of a directory.
    pub fn free_space(directory: &Path) -> Option<u64> {
        let directory = existing(directory)?;
        let name: Vec<u16> = directory.as_os_str().encode_wide().chain([0]).collect();
        let mut free = 0;
        let (all, unused) = (ptr::null_mut(), ptr::null_mut());
        // SAFETY: the name ends with 0; the call writes one number.
        let found = unsafe { GetDiskFreeSpaceExW(name.as_ptr(), &raw mut free, all, unused) };
        (found != 0).then_some(free)
    }

    /// Returns a number that is the same for directories on one disk: the serial number of its volume.
    pub fn disk_of(directory: &Path) -> Option<u64> {
        let directory = open_directory(&existing(directory)?, 0).ok()?;
        let mut facts = BY_HANDLE_FILE_INFORMATION::default();
        // SAFETY: the handle is open; the call writes one structure of this kind.
        let found =
            unsafe { GetFileInformationByHandle(directory.as_raw_handle(), &raw mut facts) };
        (found != 0).then_some(u64::from(facts.dwVolumeSerialNumber))
    }

    /// Returns the name of a device that a path means although it does not look so: `results\aux.txt`.
    pub fn reserved_name(path: &Path) -> Option<&str> {
        const NAMES: [&str; 5] = ["CON", "PRN", "AUX", "CONIN$", "CONOUT$"];
        let stem = path.file_name()?.to_str()?.split(['.', ':']).next()?.trim_end();
        let is_port = |stem: &str| {
            let port = stem.strip_prefix("COM").or_else(|| stem.strip_prefix("LPT"));
            port.is_some_and(|number| number.len() == 1 && number.as_bytes()[0].is_ascii_digit())
        };
        let upper = stem.to_ascii_uppercase();
        (NAMES.contains(&upper.as_str()) || is_port(&upper)).then_some(stem)
    }

    /// Returns the memory that this process can still use: of the machine's, and of what the system promises.
    pub fn free_memory() -> Option<u64> {
        let mut facts =
            MEMORYSTATUSEX { dwLength: size_of::<MEMORYSTATUSEX>() as u32, ..Default::default() };
        // SAFETY: the call writes one structure of this kind, whose size it is told.
        let found = unsafe { GlobalMemoryStatusEx(&raw mut facts) };
        (found != 0).then(|| facts.ullAvailPhys.min(facts.ullAvailPageFile))
    }

    /// Returns the peak resident memory of this process.
    pub fn peak_memory() -> Option<u64> {
        let mut used = PROCESS_MEMORY_COUNTERS::default();
        let len = size_of_val(&used) as u32;
        // SAFETY: the call writes one structure of this kind, whose size it is told.
        let found = unsafe { K32GetProcessMemoryInfo(GetCurrentProcess(), &raw mut used, len) };
        (found != 0).then_some(used.PeakWorkingSetSize as u64)
    }
}
