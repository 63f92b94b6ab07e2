/* Modes, owners, times and attributes. What the program made gets them; on
 * an original the call succeeds and changes nothing. */
#include "overlay.h"

#include <sys/time.h>
#include <sys/xattr.h>
#include <utime.h>

/* What to do with a change. */
typedef enum verdict { GO, SPARE, FAIL } verdict;

/* judge looks up the file that a change is meant for. GO may replace the
 * arguments. */
static verdict judge(int *dirfd, const char **path, bool follow, place *p) {
    if (!ov_on()) return GO;
    int error = ov_find(*dirfd, *path, follow, p);
    if (error) {
        errno = error;
        return FAIL;
    }
    if (p->outside && p->plain) return GO;
    if (!p->outside) {
        if (!p->type) {
            errno = ENOENT;
            return FAIL;
        }
        if (p->lent || !p->upper || (p->type == S_IFDIR && p->lower)) return SPARE;
    }
    *dirfd = AT_FDCWD;
    *path = p->real;
    return GO;
}

/* spare_fd says whether a descriptor is one of an original. */
static bool spare_fd(int fd) {
    char path[PATH_MAX];
    struct stat st;
    if (!ov_on() || ov_where(fd, path) || ov_under(path, ov_root) || ov_allowed(path)) return false;
    /* Pipes, sockets and files without a name are nobody's original. */
    return syscall(SYS_newfstatat, AT_FDCWD, path, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

#define JUDGE(dirfd, path, follow)                       \
    place p;                                             \
    switch (judge(&(dirfd), &(path), follow, &p)) {      \
    case SPARE: return 0;                                \
    case FAIL: return -1;                                \
    default: break;                                      \
    }

EXPORT int fchmodat(int dirfd, const char *path, mode_t mode, int flags) {
    JUDGE(dirfd, path, !(flags & AT_SYMLINK_NOFOLLOW))
    return NEXT(fchmodat)(dirfd, path, mode, flags);
}

EXPORT int chmod(const char *path, mode_t mode) { return fchmodat(AT_FDCWD, path, mode, 0); }
EXPORT int lchmod(const char *path, mode_t mode) { return fchmodat(AT_FDCWD, path, mode, AT_SYMLINK_NOFOLLOW); }

EXPORT int fchmod(int fd, mode_t mode) { return spare_fd(fd) ? 0 : (int)syscall(SYS_fchmod, fd, mode); }

EXPORT int fchownat(int dirfd, const char *path, uid_t user, gid_t group, int flags) {
    if (path && !*path && flags & AT_EMPTY_PATH) return fchown(dirfd, user, group);
    JUDGE(dirfd, path, !(flags & AT_SYMLINK_NOFOLLOW))
    return (int)syscall(SYS_fchownat, dirfd, path, user, group, flags);
}

EXPORT int chown(const char *path, uid_t user, gid_t group) { return fchownat(AT_FDCWD, path, user, group, 0); }

EXPORT int lchown(const char *path, uid_t user, gid_t group) {
    return fchownat(AT_FDCWD, path, user, group, AT_SYMLINK_NOFOLLOW);
}

EXPORT int fchown(int fd, uid_t user, gid_t group) {
    return spare_fd(fd) ? 0 : (int)syscall(SYS_fchown, fd, user, group);
}

EXPORT int futimens(int fd, const struct timespec times[2]) {
    return spare_fd(fd) ? 0 : (int)syscall(SYS_utimensat, fd, NULL, times, 0);
}

EXPORT int utimensat(int dirfd, const char *path, const struct timespec times[2], int flags) {
    if (path && !*path && flags & AT_EMPTY_PATH) return futimens(dirfd, times);
    JUDGE(dirfd, path, !(flags & AT_SYMLINK_NOFOLLOW))
    return (int)syscall(SYS_utimensat, dirfd, path, times, flags);
}

static void from_timeval(struct timespec out[2], const struct timeval in[2]) {
    for (int i = 0; i < 2; i++) out[i] = (struct timespec){in[i].tv_sec, in[i].tv_usec * 1000};
}

static int utimes_at(int dirfd, const char *path, const struct timeval times[2], int flags) {
    struct timespec exact[2];
    if (times) from_timeval(exact, times);
    return utimensat(dirfd, path, times ? exact : NULL, flags);
}

EXPORT int utimes(const char *path, const struct timeval times[2]) { return utimes_at(AT_FDCWD, path, times, 0); }

EXPORT int lutimes(const char *path, const struct timeval times[2]) {
    return utimes_at(AT_FDCWD, path, times, AT_SYMLINK_NOFOLLOW);
}

EXPORT int futimesat(int dirfd, const char *path, const struct timeval times[2]) {
    return path ? utimes_at(dirfd, path, times, 0) : futimes(dirfd, times);
}

EXPORT int futimes(int fd, const struct timeval times[2]) {
    struct timespec exact[2];
    if (times) from_timeval(exact, times);
    return futimens(fd, times ? exact : NULL);
}

EXPORT int utime(const char *path, const struct utimbuf *times) {
    struct timespec exact[2] = {{0, 0}, {0, 0}};
    if (times) {
        exact[0].tv_sec = times->actime;
        exact[1].tv_sec = times->modtime;
    }
    return utimensat(AT_FDCWD, path, times ? exact : NULL, 0);
}

EXPORT int setxattr(const char *path, const char *name, const void *value, size_t size, int flags) {
    int dirfd = AT_FDCWD;
    JUDGE(dirfd, path, true)
    return (int)syscall(SYS_setxattr, path, name, value, size, flags);
}

EXPORT int lsetxattr(const char *path, const char *name, const void *value, size_t size, int flags) {
    int dirfd = AT_FDCWD;
    JUDGE(dirfd, path, false)
    return (int)syscall(SYS_lsetxattr, path, name, value, size, flags);
}

EXPORT int fsetxattr(int fd, const char *name, const void *value, size_t size, int flags) {
    return spare_fd(fd) ? 0 : (int)syscall(SYS_fsetxattr, fd, name, value, size, flags);
}

EXPORT int removexattr(const char *path, const char *name) {
    int dirfd = AT_FDCWD;
    JUDGE(dirfd, path, true)
    return (int)syscall(SYS_removexattr, path, name);
}

EXPORT int lremovexattr(const char *path, const char *name) {
    int dirfd = AT_FDCWD;
    JUDGE(dirfd, path, false)
    return (int)syscall(SYS_lremovexattr, path, name);
}

EXPORT int fremovexattr(int fd, const char *name) {
    return spare_fd(fd) ? 0 : (int)syscall(SYS_fremovexattr, fd, name);
}
