/* open and its relatives. */
#include "overlay.h"

#include <stdarg.h>

/* The mode follows the flags when something may be made. */
#define MODE_AFTER(flags)                                              \
    mode_t mode = 0;                                                   \
    if ((flags) & (O_CREAT | __O_TMPFILE)) {                           \
        va_list more;                                                  \
        va_start(more, flags);                                         \
        mode = va_arg(more, mode_t);                                   \
        va_end(more);                                                  \
    }

static int raw_open(int dirfd, const char *path, int flags, mode_t mode) {
    return (int)syscall(SYS_openat, dirfd, path, flags, mode);
}

/* CALLER tells raw.c who calls. */
#define CALLER \
    if (ov_on()) ov_caller(__builtin_return_address(0));

static int open_at(int dirfd, const char *path, int flags, mode_t mode) {
    if (!ov_on() || (!ov_writes(flags) && !ov_dirty())) return raw_open(dirfd, path, flags, mode);
    place p;
    const char *action;
    int error = ov_prepare(dirfd, path, flags, &p, &action);
    if (error) return ov_fail(error);
    int fd = p.plain ? raw_open(dirfd, path, flags, mode) : raw_open(AT_FDCWD, p.real, flags, mode);
    if (fd >= 0 && action) ov_note(action, p.path);
    return fd;
}

EXPORT int open(const char *path, int flags, ...) {
    MODE_AFTER(flags)
    CALLER
    return open_at(AT_FDCWD, path, flags, mode);
}

EXPORT int open64(const char *path, int flags, ...) {
    MODE_AFTER(flags)
    CALLER
    return open_at(AT_FDCWD, path, flags, mode);
}

EXPORT int openat(int dirfd, const char *path, int flags, ...) {
    MODE_AFTER(flags)
    CALLER
    return open_at(dirfd, path, flags, mode);
}

EXPORT int openat64(int dirfd, const char *path, int flags, ...) {
    MODE_AFTER(flags)
    CALLER
    return open_at(dirfd, path, flags, mode);
}

EXPORT int creat(const char *path, mode_t mode) {
    return open_at(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode);
}

EXPORT int creat64(const char *path, mode_t mode) {
    return open_at(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode);
}

/* What programs call that were compiled with _FORTIFY_SOURCE. */
EXPORT int __open_2(const char *path, int flags);
EXPORT int __open64_2(const char *path, int flags);
EXPORT int __openat_2(int dirfd, const char *path, int flags);
EXPORT int __openat64_2(int dirfd, const char *path, int flags);

int __open_2(const char *path, int flags) { return open_at(AT_FDCWD, path, flags, 0); }
int __open64_2(const char *path, int flags) { return open_at(AT_FDCWD, path, flags, 0); }
int __openat_2(int dirfd, const char *path, int flags) { return open_at(dirfd, path, flags, 0); }
int __openat64_2(int dirfd, const char *path, int flags) { return open_at(dirfd, path, flags, 0); }

EXPORT int truncate(const char *path, off_t length) {
    if (ov_on()) {
        place p;
        const char *action;
        int error = ov_prepare(AT_FDCWD, path, O_WRONLY | (length == 0 ? O_TRUNC : 0), &p, &action);
        if (error) return ov_fail(error);
        if (!p.plain) return (int)syscall(SYS_truncate, p.real, length);
    }
    return (int)syscall(SYS_truncate, path, length);
}

EXPORT int truncate64(const char *path, off64_t length) { return truncate(path, length); }
