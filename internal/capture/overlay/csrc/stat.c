/* stat and its relatives. */
#include "overlay.h"

#include <sys/statfs.h>
#include <sys/statvfs.h>

/* Opening by an empty path, or none, is about the descriptor itself. */
static bool about_fd(const char *path, int flags) { return !path || (!*path && flags & AT_EMPTY_PATH); }

static int stat_at(int dirfd, const char *path, struct stat *st, int flags) {
    place p;
    int error = about_fd(path, flags) ? 0 : ov_seen(&dirfd, &path, !(flags & AT_SYMLINK_NOFOLLOW), &p);
    return error ? ov_fail(error) : (int)syscall(SYS_newfstatat, dirfd, path, st, flags);
}

EXPORT int stat(const char *path, struct stat *st) { return stat_at(AT_FDCWD, path, st, 0); }
EXPORT int lstat(const char *path, struct stat *st) { return stat_at(AT_FDCWD, path, st, AT_SYMLINK_NOFOLLOW); }
EXPORT int fstatat(int dirfd, const char *path, struct stat *st, int flags) { return stat_at(dirfd, path, st, flags); }

/* On the systems that this is for, the 64-bit structure is the same one. */
_Static_assert(sizeof(struct stat) == sizeof(struct stat64), "stat64 is stat");

EXPORT int stat64(const char *path, struct stat64 *st) { return stat_at(AT_FDCWD, path, (struct stat *)st, 0); }
EXPORT int lstat64(const char *path, struct stat64 *st) {
    return stat_at(AT_FDCWD, path, (struct stat *)st, AT_SYMLINK_NOFOLLOW);
}
EXPORT int fstatat64(int dirfd, const char *path, struct stat64 *st, int flags) {
    return stat_at(dirfd, path, (struct stat *)st, flags);
}

/* Programs compiled before glibc 2.33 call these. */
EXPORT int __xstat(int version, const char *path, struct stat *st);
EXPORT int __lxstat(int version, const char *path, struct stat *st);
EXPORT int __fxstatat(int version, int dirfd, const char *path, struct stat *st, int flags);
EXPORT int __xstat64(int version, const char *path, struct stat64 *st);
EXPORT int __lxstat64(int version, const char *path, struct stat64 *st);
EXPORT int __fxstatat64(int version, int dirfd, const char *path, struct stat64 *st, int flags);

int __xstat(int version, const char *path, struct stat *st) {
    (void)version;
    return stat_at(AT_FDCWD, path, st, 0);
}

int __lxstat(int version, const char *path, struct stat *st) {
    (void)version;
    return stat_at(AT_FDCWD, path, st, AT_SYMLINK_NOFOLLOW);
}

int __fxstatat(int version, int dirfd, const char *path, struct stat *st, int flags) {
    (void)version;
    return stat_at(dirfd, path, st, flags);
}

int __xstat64(int version, const char *path, struct stat64 *st) { return __xstat(version, path, (struct stat *)st); }
int __lxstat64(int version, const char *path, struct stat64 *st) { return __lxstat(version, path, (struct stat *)st); }
int __fxstatat64(int version, int dirfd, const char *path, struct stat64 *st, int flags) {
    return __fxstatat(version, dirfd, path, (struct stat *)st, flags);
}

#ifdef STATX_TYPE
EXPORT int statx(int dirfd, const char *path, int flags, unsigned mask, struct statx *st) {
    place p;
    int error = about_fd(path, flags) ? 0 : ov_seen(&dirfd, &path, !(flags & AT_SYMLINK_NOFOLLOW), &p);
    return error ? ov_fail(error) : (int)syscall(SYS_statx, dirfd, path, flags, mask, st);
}
#endif

/* SEEN(statfs, path, out) asks libc's statfs about the path in its place. */
#define SEEN(name, path, out)                               \
    do {                                                    \
        place p;                                            \
        int here = AT_FDCWD;                                \
        int error = ov_seen(&here, &(path), true, &p);      \
        return error ? ov_fail(error) : NEXT(name)(path, out); \
    } while (0)

EXPORT int statfs(const char *path, struct statfs *out) { SEEN(statfs, path, out); }
EXPORT int statfs64(const char *path, struct statfs64 *out) { SEEN(statfs64, path, out); }
EXPORT int statvfs(const char *path, struct statvfs *out) { SEEN(statvfs, path, out); }
EXPORT int statvfs64(const char *path, struct statvfs64 *out) { SEEN(statvfs64, path, out); }
