/* Questions about a path that are no stat: access, links, names, attributes. */
#include "overlay.h"

#include <stdlib.h>
#include <sys/xattr.h>

EXPORT int faccessat(int dirfd, const char *path, int mode, int flags) {
    place p;
    int error = ov_seen(&dirfd, &path, !(flags & AT_SYMLINK_NOFOLLOW), &p);
    return error ? ov_fail(error) : NEXT(faccessat)(dirfd, path, mode, flags);
}

EXPORT int access(const char *path, int mode) { return faccessat(AT_FDCWD, path, mode, 0); }
EXPORT int euidaccess(const char *path, int mode) { return faccessat(AT_FDCWD, path, mode, AT_EACCESS); }
EXPORT int eaccess(const char *path, int mode) { return faccessat(AT_FDCWD, path, mode, AT_EACCESS); }

/* strip_root takes the overlay's folder off what the kernel says about open
 * files and the working directory. */
static ssize_t strip_root(char *text, ssize_t n, size_t size) {
    if (n < (ssize_t)ov_root_length || (size_t)n > size || memcmp(text, ov_root, ov_root_length)) return n;
    if (n == (ssize_t)ov_root_length) {
        *text = '/';
        return 1;
    }
    if (text[ov_root_length] != '/') return n;
    memmove(text, text + ov_root_length, (size_t)n - ov_root_length);
    return n - (ssize_t)ov_root_length;
}

EXPORT ssize_t readlinkat(int dirfd, const char *path, char *out, size_t size) {
    place p;
    int error = path && *path ? ov_seen(&dirfd, &path, false, &p) : 0;
    if (error) return ov_fail(error);
    if (ov_untouched()) return syscall(SYS_readlinkat, dirfd, path, out, size);
    char whole[PATH_MAX];
    ssize_t n = syscall(SYS_readlinkat, dirfd, path, whole, sizeof whole);
    if (n < 0) return n;
    n = strip_root(whole, n, sizeof whole);
    if ((size_t)n > size) n = (ssize_t)size;
    memcpy(out, whole, (size_t)n);
    return n;
}

EXPORT ssize_t readlink(const char *path, char *out, size_t size) { return readlinkat(AT_FDCWD, path, out, size); }

EXPORT ssize_t __readlink_chk(const char *path, char *out, size_t size, size_t room);
EXPORT ssize_t __readlinkat_chk(int dirfd, const char *path, char *out, size_t size, size_t room);

ssize_t __readlink_chk(const char *path, char *out, size_t size, size_t room) {
    return readlinkat(AT_FDCWD, path, out, size < room ? size : room);
}

ssize_t __readlinkat_chk(int dirfd, const char *path, char *out, size_t size, size_t room) {
    return readlinkat(dirfd, path, out, size < room ? size : room);
}

EXPORT char *realpath(const char *path, char *out) {
    if (ov_untouched() || !path) return NEXT(realpath)(path, out);
    place p;
    int error = ov_find(AT_FDCWD, path, true, &p);
    if (!error && p.outside) {
        char whole[PATH_MAX];
        if (!NEXT(realpath)(p.real, whole)) return NULL;
        ov_visible(whole);
        strcpy(p.path, whole);
    } else if (!error && !p.type) {
        error = ENOENT;
    }
    if (error) {
        errno = error;
        return NULL;
    }
    return out ? strcpy(out, p.path) : strdup(p.path);
}

EXPORT char *__realpath_chk(const char *path, char *out, size_t room);
char *__realpath_chk(const char *path, char *out, size_t room) {
    (void)room;
    return realpath(path, out);
}

EXPORT char *canonicalize_file_name(const char *path) { return realpath(path, NULL); }

/* A program may work in a directory that is only in the overlay. */
EXPORT char *getcwd(char *out, size_t size) {
    if (ov_untouched()) return NEXT(getcwd)(out, size);
    char whole[PATH_MAX];
    if (syscall(SYS_getcwd, whole, sizeof whole) < 0) return NULL;
    ov_visible(whole);
    size_t n = strlen(whole) + 1;
    if (!out) {
        if (size && size < n) {
            errno = ERANGE;
            return NULL;
        }
        out = malloc(size ? size : n);
        return out ? strcpy(out, whole) : NULL;
    }
    if (size < n) {
        errno = size ? ERANGE : EINVAL;
        return NULL;
    }
    return strcpy(out, whole);
}

EXPORT char *__getcwd_chk(char *out, size_t size, size_t room);
char *__getcwd_chk(char *out, size_t size, size_t room) { return getcwd(out, size < room ? size : room); }

EXPORT char *get_current_dir_name(void) {
    if (ov_untouched()) return NEXT(get_current_dir_name)();
    return getcwd(NULL, 0);
}

EXPORT int chdir(const char *path) {
    place p;
    int dirfd = AT_FDCWD, error = ov_seen(&dirfd, &path, true, &p);
    return error ? ov_fail(error) : (int)syscall(SYS_chdir, path);
}

/* Extended attributes, read. */
#define SEEN(follow)                                              \
    place p;                                                      \
    int dirfd = AT_FDCWD, error = ov_seen(&dirfd, &path, follow, &p); \
    if (error) return ov_fail(error);

EXPORT ssize_t getxattr(const char *path, const char *name, void *value, size_t size) {
    SEEN(true)
    return syscall(SYS_getxattr, path, name, value, size);
}

EXPORT ssize_t lgetxattr(const char *path, const char *name, void *value, size_t size) {
    SEEN(false)
    return syscall(SYS_lgetxattr, path, name, value, size);
}

EXPORT ssize_t listxattr(const char *path, char *list, size_t size) {
    SEEN(true)
    return syscall(SYS_listxattr, path, list, size);
}

EXPORT ssize_t llistxattr(const char *path, char *list, size_t size) {
    SEEN(false)
    return syscall(SYS_llistxattr, path, list, size);
}
