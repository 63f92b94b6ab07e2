/* Deleting: what the program made goes, originals are hidden. */
#include "overlay.h"

#include <stdio.h>

static int raw_remove(const char *path, int flags) {
    return syscall(SYS_unlinkat, AT_FDCWD, path, flags) == 0 ? 0 : errno;
}

/* remove_upper deletes what the overlay holds. */
static int remove_upper(const place *p, int flags) {
    char upper[PATH_MAX];
    if (!ov_upper_path(upper, p->path)) return ENAMETOOLONG;
    int error = raw_remove(upper, flags);
    if (!error && (flags || p->type == S_IFLNK)) ov_restructure();
    return error;
}

/* delete_place does the work once the path is known and may be deleted. */
static int delete_place(const place *p, int flags) {
    int error = 0;
    if (flags & AT_REMOVEDIR) {
        if (p->type != S_IFDIR) return ENOTDIR;
        if ((error = ov_empty(p->path))) return error;
    } else if (p->type == S_IFDIR) {
        return EISDIR;
    }
    if (p->lower) {
        if ((error = ov_may_change(p->path)) || (error = ov_hide(p->path))) return error;
    }
    if (p->upper) error = remove_upper(p, flags);
    if (!error) ov_note(p->lower ? "delete" : "removed", p->path);
    return error;
}

EXPORT int unlinkat(int dirfd, const char *path, int flags) {
    if (!ov_on()) return (int)syscall(SYS_unlinkat, dirfd, path, flags);
    place p;
    int error = ov_find_any(dirfd, path, false, &p);
    if (error) return ov_fail(error);
    if (p.outside) {
        if (p.plain) return (int)syscall(SYS_unlinkat, dirfd, path, flags);
        return (int)syscall(SYS_unlinkat, AT_FDCWD, p.real, flags);
    }
    if (!p.type) return ov_fail(ENOENT);
    if (p.slash && p.type != S_IFDIR) return ov_fail(ENOTDIR);
    error = delete_place(&p, flags);
    return error ? ov_fail(error) : 0;
}

EXPORT int unlink(const char *path) { return unlinkat(AT_FDCWD, path, 0); }
EXPORT int rmdir(const char *path) { return unlinkat(AT_FDCWD, path, AT_REMOVEDIR); }

EXPORT int remove(const char *path) {
    if (unlinkat(AT_FDCWD, path, 0) == 0) return 0;
    return errno == EISDIR || errno == EPERM ? rmdir(path) : -1;
}
