/* Faults at the n-th file operation inside a folder, by interposition (LD_PRELOAD).

   Counted are the operations that change files: opening for writing, the first two writes to a file
   that was opened, rename, unlink, mkdir, rmdir. Relative paths count as inside: the command runs in
   the folder. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

enum { OFF, COUNT, KILL, DISK_FULL, FAIL };
#define MOST 65536
#define WRITES_COUNTED 2
static int mode, at, code;
static volatile int count;
static char prefix[4096];
static char ours[MOST];

void fault_arm(const char *folder, int new_mode, int n, int error)
{
    strncpy(prefix, folder, sizeof prefix - 1);
    memset(ours, 0, sizeof ours);
    at = n, code = error, count = 0, mode = new_mode;
}

int fault_count(void) { return count; }

static void die(void)
{
    kill(0, SIGKILL);
    for (;;) pause();
}

static int inside(const char *path)
{
    return mode && (path[0] != '/' || !strncmp(path, prefix, strlen(prefix)));
}

/* Count an operation; return whether it is the one at which the fault happens. */
static int due(void)
{
    int n = __sync_add_and_fetch(&count, 1);
    return n == at || (n > at && mode == DISK_FULL);
}

#define REAL(name) static __typeof__(&name) real; if (!real) real = dlsym(RTLD_NEXT, #name)

/* An operation that is done wholly or not at all; `fills` says whether it needs room on the disk. */
#define WHOLE(counts, fills, call)                                              \
    do {                                                                        \
        if (!(counts)) return call;                                             \
        int now = due();                                                        \
        if (now && mode == FAIL) { errno = code; return -1; }                   \
        if (now && mode == DISK_FULL && (fills)) { errno = ENOSPC; return -1; } \
        int result = call;                                                      \
        int kept = errno;                                                       \
        if (now && mode == KILL) die();                                         \
        errno = kept;                                                           \
        return result;                                                          \
    } while (0)

static int noted(int fd, int counts)
{
    if (fd >= 0 && fd < MOST) ours[fd] = (char)counts;
    return fd;
}

#define WRITES(flags) ((flags) & (O_WRONLY | O_RDWR | O_CREAT))
#define OPEN(name)                                                         \
    int name(const char *path, int flags, ...)                             \
    {                                                                      \
        REAL(name);                                                        \
        va_list list;                                                      \
        va_start(list, flags);                                             \
        mode_t rights = va_arg(list, mode_t);                              \
        va_end(list);                                                      \
        int counts = inside(path) && WRITES(flags);                        \
        WHOLE(counts, 0, noted(real(path, flags, rights), counts));        \
    }
OPEN(open)
OPEN(open64)

#define OPENAT(name)                                                       \
    int name(int folder, const char *path, int flags, ...)                 \
    {                                                                      \
        REAL(name);                                                        \
        va_list list;                                                      \
        va_start(list, flags);                                             \
        mode_t rights = va_arg(list, mode_t);                              \
        va_end(list);                                                      \
        int counts = inside(path) && WRITES(flags);                        \
        WHOLE(counts, 0, noted(real(folder, path, flags, rights), counts)); \
    }
OPENAT(openat)
OPENAT(openat64)

int close(int fd)
{
    REAL(close);
    noted(fd, 0);
    return real(fd);
}

ssize_t write(int fd, const void *data, size_t size)
{
    REAL(write);
    if (!mode || fd < 0 || fd >= MOST || !ours[fd]) return real(fd, data, size);
    int counts = ours[fd]++ <= WRITES_COUNTED;
    if (ours[fd] > WRITES_COUNTED) ours[fd] = WRITES_COUNTED + 1;
    if (counts ? !due() : !(mode == DISK_FULL && count >= at)) return real(fd, data, size);
    if (mode == FAIL) {
        errno = code;
        return -1;
    }
    if (mode == DISK_FULL && (count > at || !counts)) {
        errno = ENOSPC;
        return -1;
    }
    ssize_t half = real(fd, data, size / 2);
    if (mode == KILL) die();
    if (half == 0) errno = ENOSPC, half = -1;
    return half;
}

int rename(const char *from, const char *to)
{
    REAL(rename);
    WHOLE(inside(to), 0, real(from, to));
}

int unlink(const char *path)
{
    REAL(unlink);
    WHOLE(inside(path), 0, real(path));
}

int unlinkat(int folder, const char *path, int flags)
{
    REAL(unlinkat);
    WHOLE(inside(path), 0, real(folder, path, flags));
}

int mkdir(const char *path, mode_t rights)
{
    REAL(mkdir);
    WHOLE(inside(path), 1, real(path, rights));
}

int rmdir(const char *path)
{
    REAL(rmdir);
    WHOLE(inside(path), 0, real(path));
}
