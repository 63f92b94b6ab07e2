/* Making what is no regular file: directories, links, pipes. */
#include "overlay.h"

#include <sys/types.h>

/* fresh readies the place of something new. It returns 0 or an errno, and
 * EXDEV when the arguments can be used as they are. */
enum { AS_GIVEN = EXDEV };

static int fresh(int dirfd, const char *path, bool directory, place *p) {
    if (!ov_on()) return AS_GIVEN;
    int error = ov_find_any(dirfd, path, false, p);
    if (error) return error;
    if (p->outside) return p->plain ? AS_GIVEN : 0;
    if (p->type) return EEXIST;
    if (p->slash && !directory) return ENOENT;
    if ((error = ov_may_change(p->path)) || (error = ov_make_parents(p->path))) return error;
    return ov_upper_path(p->real, p->path) ? 0 : ENAMETOOLONG;
}

/* made notes what was made when the call succeeded. */
static int made(long result, const place *p, const char *action) {
    if (result == 0 && !p->outside) {
        ov_restructure();
        ov_note(action, p->path);
    }
    return (int)result;
}

EXPORT int mkdirat(int dirfd, const char *path, mode_t mode) {
    place p;
    int error = fresh(dirfd, path, true, &p);
    if (error == AS_GIVEN) return (int)syscall(SYS_mkdirat, dirfd, path, mode);
    if (error) return ov_fail(error);
    return made(syscall(SYS_mkdirat, AT_FDCWD, p.real, mode), &p, "mkdir");
}

EXPORT int mkdir(const char *path, mode_t mode) { return mkdirat(AT_FDCWD, path, mode); }

EXPORT int symlinkat(const char *target, int dirfd, const char *path) {
    place p;
    int error = fresh(dirfd, path, false, &p);
    if (error == AS_GIVEN) return (int)syscall(SYS_symlinkat, target, dirfd, path);
    if (error) return ov_fail(error);
    return made(syscall(SYS_symlinkat, target, AT_FDCWD, p.real), &p, "create");
}

EXPORT int symlink(const char *target, const char *path) { return symlinkat(target, AT_FDCWD, path); }

EXPORT int mknodat(int dirfd, const char *path, mode_t mode, dev_t device) {
    place p;
    int error = fresh(dirfd, path, false, &p);
    if (error == AS_GIVEN) return (int)syscall(SYS_mknodat, dirfd, path, mode, (unsigned)device);
    if (error) return ov_fail(error);
    return made(syscall(SYS_mknodat, AT_FDCWD, p.real, mode, (unsigned)device), &p, "create");
}

EXPORT int mknod(const char *path, mode_t mode, dev_t device) { return mknodat(AT_FDCWD, path, mode, device); }
EXPORT int mkfifoat(int dirfd, const char *path, mode_t mode) { return mknodat(dirfd, path, mode | S_IFIFO, 0); }
EXPORT int mkfifo(const char *path, mode_t mode) { return mknodat(AT_FDCWD, path, mode | S_IFIFO, 0); }

EXPORT int __xmknod(int version, const char *path, mode_t mode, dev_t *device);
EXPORT int __xmknodat(int version, int dirfd, const char *path, mode_t mode, dev_t *device);

int __xmknod(int version, const char *path, mode_t mode, dev_t *device) {
    (void)version;
    return mknodat(AT_FDCWD, path, mode, *device);
}

int __xmknodat(int version, int dirfd, const char *path, mode_t mode, dev_t *device) {
    (void)version;
    return mknodat(dirfd, path, mode, *device);
}

/* link_original makes a second name of an original by lending it. */
static int link_original(const place *from, const place *to) {
    if (to->outside) return ov_fail(EXDEV);
    int error = from->type == S_IFREG ? ov_lend(from->real, to->path) : EXDEV;
    if (error) return ov_fail(error);
    return made(0, to, "create");
}

EXPORT int linkat(int fromfd, const char *from, int tofd, const char *to, int flags) {
    place old, new;
    int error = fresh(tofd, to, false, &new);
    if (error && error != AS_GIVEN) return ov_fail(error);
    const char *real = error == AS_GIVEN ? to : new.real;
    int realfd = error == AS_GIVEN ? tofd : AT_FDCWD;
    if (!ov_on() || (!*from && flags & AT_EMPTY_PATH)) return (int)syscall(SYS_linkat, fromfd, from, realfd, real, flags);
    if ((error = ov_find(fromfd, from, flags & AT_SYMLINK_FOLLOW, &old))) return ov_fail(error);
    if (!old.outside && !old.type) return ov_fail(ENOENT);
    if (old.type == S_IFDIR) return ov_fail(EPERM);
    if (!old.outside && (!old.upper || old.lent)) return link_original(&old, &new);
    long result = old.plain ? syscall(SYS_linkat, fromfd, from, realfd, real, flags)
                            : syscall(SYS_linkat, AT_FDCWD, old.real, realfd, real, flags);
    return realfd == AT_FDCWD && real == new.real ? made(result, &new, "create") : (int)result;
}

EXPORT int link(const char *from, const char *to) { return linkat(AT_FDCWD, from, AT_FDCWD, to, 0); }
