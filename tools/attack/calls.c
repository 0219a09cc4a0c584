/*
 * Stands between a program and the kernel: fails, shortens or records its system calls on files.
 *
 * Loaded with LD_PRELOAD. A seccomp filter turns every call of interest into a signal, wherever in the
 * program it is made (the C library or an inlined instruction: Rust crates use both); the handler decides,
 * and makes the call itself from the one place that the filter lets through. Needs no privileges.
 *
 *   ATTACK_UNDER=PREFIX   only calls on paths that begin so, and on descriptors opened from them
 *   ATTACK_LOG=FILE       record every such call (struct record below)
 *   ATTACK_DATA=1         with the bytes written
 *   ATTACK_CALL=CLASS     open create read write sync rename remove map size close stat lock memory thread make link
 *                         names (sync of a directory) punch (a hole into a file) advice (pages of a map are read) any
 *   ATTACK_NTH=N          the N-th call of the class, from 1, and
 *   ATTACK_MORE=1         all after it
 *   ATTACK_ERROR=E        fail with this errno; 0: only half of the bytes are written or read; -1: SIGKILL instead of
 *                         the call; -2: SIGINT, then the call; -3: what is read or mapped is zeros
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#endif

#ifndef __x86_64__
#error "only for x86-64"
#endif

enum class {
    OTHER, OPEN, CREATE, READ, WRITE, SYNC, RENAME, REMOVE, MAP, SIZE, CLOSE, STAT, LOCK, MEMORY, THREAD,
    SEEK, MAKE, LINK, NAMES, PUNCH, ADVICE, CLASSES
};
static const char *const names[CLASSES] = {
    "other", "open", "create", "read", "write", "sync", "rename", "remove", "map", "size", "close", "stat",
    "lock", "memory", "thread", "seek", "make", "link", "names", "punch", "advice"};

/* What the log holds for each call, then `path` bytes of path (two with a zero between for renames) and
 * `data` bytes that were written. */
struct record {
    uint32_t class, flags;
    int32_t descriptor, fault;
    int64_t result, offset;
    uint32_t path, data;
};

enum { DESCRIPTORS = 65536, PATHS = 512 };
static char *opened[DESCRIPTORS];
static char directory[DESCRIPTORS];
static char under[PATHS];
static size_t under_length;
static int chosen = -1, error_number, more, with_data, log_file = -1;
static long nth;
static volatile long count;
static volatile int busy;

/* The one instruction that the filter lets through. */
__asm__(".text\n.globl attack_call\n.hidden attack_call\nattack_call:\n"
        "mov %rdi,%rax\nmov %rsi,%rdi\nmov %rdx,%rsi\nmov %rcx,%rdx\nmov %r8,%r10\nmov %r9,%r8\n"
        "mov 8(%rsp),%r9\nsyscall\n.globl attack_after\n.hidden attack_after\nattack_after:\nret\n");
long attack_call(long n, long a, long b, long c, long d, long e, long f);
extern char attack_after[];
#define CALL(n, a, b, c, d, e, f) attack_call(n, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))

static void enter(void) {
    while (__sync_lock_test_and_set(&busy, 1)) CALL(SYS_sched_yield, 0, 0, 0, 0, 0, 0);
}
static void leave(void) { __sync_lock_release(&busy); }

static int inside(const char *path) {
    return path && under_length && strncmp(path, under, under_length) == 0;
}
static const char *of(long fd) { return fd >= 0 && fd < DESCRIPTORS ? opened[fd] : NULL; }

static void log_bytes(const void *bytes, size_t length) {
    const char *at = bytes;
    while (length > 0) {
        long n = CALL(SYS_write, log_file, at, length, 0, 0, 0);
        if (n <= 0) return;
        at += n;
        length -= n;
    }
}
static void note(int class, int fault, long fd, long result, long offset, long flags, const char *path,
                 const char *second, const void *data, size_t length) {
    if (log_file < 0) return;
    if (!with_data) length = 0;
    struct record r = {class, flags, fd, fault, result, offset, strlen(path) + (second ? 1 + strlen(second) : 0), length};
    log_bytes(&r, sizeof r);
    log_bytes(path, strlen(path));
    if (second) {
        log_bytes("", 1);
        log_bytes(second, strlen(second));
    }
    log_bytes(data, length);
}

/* A path as the program means it; names beside a directory descriptor are put behind its path. */
static const char *whole(long at, const char *path, char *room) {
    if (path && path[0] != '/' && at != AT_FDCWD && of(at)) {
        size_t n = strlen(of(at)), m = strlen(path);
        if (n + m + 2 > PATHS) return path;
        memcpy(room, of(at), n);
        room[n] = '/';
        memcpy(room + n + 1, path, m + 1);
        return room;
    }
    return path;
}

/* Whether this call is to fail. */
static int strikes(int class) {
    if (nth == 0 || (chosen != CLASSES && chosen != class)) return 0;
    long now = __sync_add_and_fetch(&count, 1);
    return more ? now >= nth : now == nth;
}

static long handle(long n, long a, long b, long c, long d, long e, long f) {
    int class = OTHER;
    long fd = -1, flags = 0, offset = -1, length = 0;
    const char *path = NULL, *second = NULL;
    const void *data = NULL;
    char room[PATHS], other[PATHS];
    switch (n) {
    case SYS_open: path = (char *)a; flags = b; class = OPEN; break;
    case SYS_openat: path = whole(a, (char *)b, room); flags = c; class = OPEN; break;
    case SYS_read: fd = a; length = c; class = READ; break;
    case SYS_pread64: fd = a; length = c; offset = d; class = READ; break;
    case SYS_write: fd = a; data = (void *)b; length = c; class = WRITE; break;
    case SYS_pwrite64: fd = a; data = (void *)b; length = c; offset = d; class = WRITE; break;
    case SYS_writev: fd = a; class = WRITE; length = c > 0 ? (long)((struct iovec *)b)->iov_len : 0; break;
    case SYS_copy_file_range: fd = c; class = WRITE; break;
    case SYS_sendfile: fd = a; class = WRITE; break;
    case SYS_fsync: case SYS_fdatasync: case SYS_sync_file_range: fd = a; class = SYNC; break;
    case SYS_madvise: flags = c; class = ADVICE; break;
    case SYS_rename: path = (char *)a; second = (char *)b; class = RENAME; break;
    case SYS_renameat: case SYS_renameat2:
        path = whole(a, (char *)b, room); second = whole(c, (char *)d, other); class = RENAME; break;
    case SYS_link: path = (char *)a; second = (char *)b; class = LINK; break;
    case SYS_linkat: path = whole(a, (char *)b, room); second = whole(c, (char *)d, other); class = LINK; break;
    case SYS_unlink: case SYS_rmdir: path = (char *)a; class = REMOVE; break;
    case SYS_unlinkat: path = whole(a, (char *)b, room); class = REMOVE; break;
    case SYS_mkdir: path = (char *)a; class = MAKE; break;
    case SYS_mkdirat: path = whole(a, (char *)b, room); class = MAKE; break;
    case SYS_mmap: fd = e; class = (int)e == -1 ? MEMORY : MAP; break;
    case SYS_ftruncate: fd = a; offset = b; class = SIZE; break;
    case SYS_fallocate: fd = a; flags = b; offset = c + d;
        class = b & FALLOC_FL_PUNCH_HOLE ? PUNCH : SIZE; break;
    case SYS_close: fd = a; class = CLOSE; break;
    case SYS_statx: path = whole(a, (char *)b, room); class = STAT; if (b && !*(char *)b) { path = NULL; fd = a; } break;
    case SYS_newfstatat: path = whole(a, (char *)b, room); class = STAT; if (b && !*(char *)b) { path = NULL; fd = a; } break;
    case SYS_fstat: fd = a; class = STAT; break;
    case SYS_getdents64: fd = a; class = READ; break;
    case SYS_flock: fd = a; class = LOCK; break;
    case SYS_fcntl: fd = a; class = b == F_DUPFD || b == F_DUPFD_CLOEXEC ? OTHER : LOCK; break;
    case SYS_lseek: fd = a; class = SEEK; break;
    }
    if (class == OPEN && (flags & (O_CREAT | O_TRUNC))) class = CREATE;
    const char *file = path ? path : of(fd);
    /* Forgotten before it is closed: another thread may be given the number at once. */
    if (class == CLOSE && fd >= 0 && fd < DESCRIPTORS) opened[fd] = NULL;
    /* Closing a directory cannot fail, and nobody can do anything about it. */
    if (class == CLOSE && file && directory[fd]) class = OTHER;
    if (class == SYNC && file && directory[fd]) class = NAMES;
    if (class != MEMORY && class != ADVICE && !inside(file) && !inside(second)) return CALL(n, a, b, c, d, e, f);
    int recording = log_file >= 0;
    if (recording) enter();
    long result;
    int fault = 0;
    if (class != OTHER && class != SEEK && strikes(class)) {
        fault = 1;
        if (error_number == -1) {
            CALL(SYS_kill, CALL(SYS_getpid, 0, 0, 0, 0, 0, 0), SIGKILL, 0, 0, 0, 0);
            for (;;) CALL(SYS_sched_yield, 0, 0, 0, 0, 0, 0);
        } else if (error_number == -2) {
            CALL(SYS_kill, CALL(SYS_getpid, 0, 0, 0, 0, 0, 0), SIGINT, 0, 0, 0, 0);
            result = CALL(n, a, b, c, d, e, f);
        } else if (error_number == -3) {
            if (n == SYS_mmap) {
                result = CALL(n, a, b, c, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            } else {
                result = CALL(n, a, b, c, d, e, f);
                if ((n == SYS_read || n == SYS_pread64) && result > 0)
                    memset((void *)b, 0, result);
                else
                    fault = 0;
            }
        } else if (error_number == 0) {
            if ((n == SYS_read || n == SYS_pread64 || n == SYS_write || n == SYS_pwrite64) && c > 1)
                c = length = length / 2;
            else
                fault = 0;
            result = CALL(n, a, b, c, d, e, f);
        } else {
            if (class == CLOSE) CALL(n, a, b, c, d, e, f);
            result = -error_number;
        }
    } else {
        result = CALL(n, a, b, c, d, e, f);
    }
    if (class == OPEN || class == CREATE) {
        if (result >= 0 && result < DESCRIPTORS) {
            /* Kept for ever: nothing may be freed in a signal handler, and the runs are short. */
            static char arena[1 << 24];
            static size_t used;
            int had = recording;
            if (!had) enter();
            size_t m = strlen(file) + 1;
            if (used + m < sizeof arena) {
                opened[result] = memcpy(arena + used, file, m);
                struct stat what;
                directory[result] = CALL(SYS_fstat, result, &what, 0, 0, 0, 0) == 0 && S_ISDIR(what.st_mode);
                used += m;
            }
            if (!had) leave();
            fd = result;
        }
    } else if (class == OTHER && n == SYS_fcntl && result >= 0 && result < DESCRIPTORS) {
        opened[result] = opened[fd];
    } else if (n == SYS_lseek) {
        offset = result;
    }
    if (recording) {
        if (n == SYS_writev && result > 0) {
            /* One record per piece. */
            long left = result;
            for (int i = 0; i < c && left > 0; i++) {
                const struct iovec *v = (struct iovec *)b + i;
                long m = (long)v->iov_len < left ? (long)v->iov_len : left;
                note(class, fault, fd, m, -1, flags, file, NULL, v->iov_base, m);
                left -= m;
            }
        } else {
            note(class, fault, fd, result, offset, flags, file ? file : "", second, data, class == WRITE && data && result > 0 ? result : 0);
        }
        leave();
    }
    return result;
}

static void trapped(int signal, siginfo_t *info, void *context) {
    (void)signal;
    (void)info;
    greg_t *r = ((ucontext_t *)context)->uc_mcontext.gregs;
    int kept = errno;
    r[REG_RAX] = handle(r[REG_RAX], r[REG_RDI], r[REG_RSI], r[REG_RDX], r[REG_R10], r[REG_R8], r[REG_R9]);
    errno = kept;
}

/* Threads are started with all signals blocked, so their call cannot be trapped. */
int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument) {
    static int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    if (!real) real = (__typeof__(real))dlsym(RTLD_NEXT, "pthread_create");
    int fails = chosen == THREAD && strikes(THREAD);
    enter();
    note(THREAD, fails, -1, fails ? -EAGAIN : 0, 0, 0, "", NULL, NULL, 0);
    leave();
    if (fails) return EAGAIN;
    return real(thread, attributes, start, argument);
}

__attribute__((constructor)) static void begin(void) {
    const char *text = getenv("ATTACK_UNDER");
    if (!text) return;
    under_length = strlen(text);
    if (under_length >= sizeof under) _exit(99);
    memcpy(under, text, under_length);
    if ((text = getenv("ATTACK_CALL"))) {
        chosen = CLASSES;
        for (int i = 0; i < CLASSES; i++)
            if (strcmp(text, names[i]) == 0) chosen = i;
    }
    if ((text = getenv("ATTACK_NTH"))) nth = atol(text);
    more = getenv("ATTACK_MORE") != NULL;
    if ((text = getenv("ATTACK_ERROR"))) error_number = atoi(text);
    with_data = getenv("ATTACK_DATA") != NULL;
    if ((text = getenv("ATTACK_LOG"))) {
        int low = open(text, O_CREAT | O_TRUNC | O_WRONLY | O_APPEND, 0600);
        log_file = fcntl(low, F_DUPFD_CLOEXEC, 1000);
        close(low);
        if (log_file < 0) _exit(99);
    }
    unsetenv("LD_PRELOAD");

    struct sigaction action = {.sa_sigaction = trapped, .sa_flags = SA_SIGINFO | SA_RESTART | SA_NODEFER};
    if (sigaction(SIGSYS, &action, NULL) != 0) _exit(99);
    static const int traps[] = {
        SYS_open, SYS_openat, SYS_read, SYS_pread64, SYS_write, SYS_pwrite64, SYS_writev, SYS_copy_file_range,
        SYS_sendfile, SYS_fsync, SYS_fdatasync, SYS_sync_file_range, SYS_rename, SYS_renameat, SYS_renameat2,
        SYS_link, SYS_linkat, SYS_unlink, SYS_rmdir, SYS_unlinkat, SYS_mkdir, SYS_mkdirat, SYS_ftruncate,
        SYS_fallocate, SYS_close, SYS_statx, SYS_newfstatat, SYS_fstat, SYS_getdents64, SYS_flock, SYS_fcntl,
        SYS_lseek};
    enum { TRAPS = sizeof traps / sizeof *traps };
    struct sock_filter code[TRAPS + 24];
    int n = 0;
    uint64_t after = (uint64_t)attack_after;
#define LOAD(field) code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, field)
#define IF(op, value, yes, no) code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | op | BPF_K, value, yes, no)
#define GIVE(what) code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, what)
    LOAD(offsetof(struct seccomp_data, instruction_pointer));
    IF(BPF_JEQ, (uint32_t)after, 0, 3);
    LOAD(offsetof(struct seccomp_data, instruction_pointer) + 4);
    IF(BPF_JEQ, (uint32_t)(after >> 32), 0, 1);
    GIVE(SECCOMP_RET_ALLOW);
    LOAD(offsetof(struct seccomp_data, nr));
    for (int i = 0; i < TRAPS; i++) {
        /* To the trap that is the last instruction but one. */
        IF(BPF_JEQ, (uint32_t)traps[i], TRAPS - i - 1 + 9, 0);
    }
    /* Maps: those of files, and large ones without when memory is to run short. glibc maps the stacks of new
       threads with signals unblocked. Of advice only that which reads: glibc gives others with signals blocked. */
    IF(BPF_JEQ, SYS_mmap, 0, 5);
    LOAD(offsetof(struct seccomp_data, args[4]));
    IF(BPF_JEQ, 0xffffffffu, 0, 6);
    LOAD(offsetof(struct seccomp_data, args[1]));
    IF(BPF_JGE, chosen == MEMORY ? 65536 : 0xffffffffu, 4, 0);
    GIVE(SECCOMP_RET_ALLOW);
    IF(BPF_JEQ, SYS_madvise, 0, 3);
    LOAD(offsetof(struct seccomp_data, args[2]));
    IF(BPF_JEQ, MADV_POPULATE_READ, 0, 1);
    GIVE(SECCOMP_RET_TRAP);
    GIVE(SECCOMP_RET_ALLOW);
    struct sock_fprog program = {n, code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) _exit(98);
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) != 0) _exit(98);
}
