/* Moving. An original does not move: its new name stands for it, and its old
 * one is hidden. */
#include "overlay.h"

#include <stdio.h>

#ifndef RENAME_NOREPLACE
#define RENAME_NOREPLACE 1
#endif

static int raw_rename(const char *from, const char *to) {
    return syscall(SYS_renameat, AT_FDCWD, from, AT_FDCWD, to) == 0 ? 0 : errno;
}

/* fits says whether something may take the name of what is there. */
static int fits(const place *from, const place *to, unsigned flags) {
    if (!from->type && !from->outside) return ENOENT;
    if ((from->slash || to->slash) && from->type != S_IFDIR && !from->outside) return ENOTDIR;
    if (to->outside || !to->type) return 0;
    if (flags & RENAME_NOREPLACE) return EEXIST;
    if (from->outside) return 0;
    if (from->type == S_IFDIR) return to->type == S_IFDIR ? ov_empty(to->path) : ENOTDIR;
    return to->type == S_IFDIR ? EISDIR : 0;
}

/* copy_link makes the original link from anew. */
static int copy_link(const place *from, const char *upper) {
    char target[PATH_MAX];
    long n = syscall(SYS_readlinkat, AT_FDCWD, from->real, target, sizeof target - 1);
    if (n < 0) return errno;
    target[n] = 0;
    syscall(SYS_unlinkat, AT_FDCWD, upper, 0);
    return syscall(SYS_symlinkat, target, AT_FDCWD, upper) == 0 ? 0 : errno;
}

/* put_original gives an original its new name. */
static int put_original(place *from, place *to, const char *upper) {
    switch (from->type) {
    case S_IFREG: return ov_lend(from->real, to->path);
    case S_IFLNK: return copy_link(from, upper);
    case S_IFDIR: break;
    default: return EXDEV; /* a pipe or socket stays where it is */
    }
    char raised[PATH_MAX];
    int error = ov_raise_tree(from->path);
    if (error) return error;
    return ov_upper_path(raised, from->path) ? raw_rename(raised, upper) : ENAMETOOLONG;
}

/* clear makes way for a directory: nothing of what was there may show
 * through. */
static int clear(const place *to, const char *upper) {
    if (to->upper) syscall(SYS_unlinkat, AT_FDCWD, upper, AT_REMOVEDIR);
    return to->lower ? ov_hide(to->path) : 0;
}

/* move_within moves inside the overlay. */
static int move_within(place *from, place *to) {
    char source[PATH_MAX], upper[PATH_MAX];
    int error = ov_make_parents(to->path);
    if (error) return error;
    if (!ov_upper_path(upper, to->path) || !ov_upper_path(source, from->path)) return ENAMETOOLONG;
    struct stat st;
    if (from->outside && syscall(SYS_newfstatat, AT_FDCWD, from->real, &st, AT_SYMLINK_NOFOLLOW) == 0)
        from->type = st.st_mode & S_IFMT;
    if (from->type == S_IFDIR && (error = clear(to, upper))) return error;
    if (from->outside) return raw_rename(from->real, upper);
    bool original = !from->upper || (from->type == S_IFDIR && from->lower);
    error = original ? put_original(from, to, upper) : raw_rename(source, upper);
    if (!error && from->lower) error = ov_hide(from->path);
    return error;
}

static int move(place *from, place *to, unsigned flags) {
    bool same = !from->outside && !to->outside && !strcmp(from->path, to->path);
    if (same && from->type && !(flags & RENAME_NOREPLACE)) return 0;
    if (from->type == S_IFDIR && ov_under(to->path, from->path)) return EINVAL;
    if (from->type && !from->outside && ov_under(from->path, to->path)) return ENOTEMPTY;
    int error = fits(from, to, flags);
    if (error) return error;
    if (flags & ~RENAME_NOREPLACE) return EINVAL; /* exchanging two files */
    if (!from->outside && from->lower && (error = ov_may_change(from->path))) return error;
    if (!to->outside && (error = ov_may_change(to->path))) return error;
    if (to->outside) {
        /* mv and shutil.move copy then, and delete the old name. */
        if (from->lower || from->lent) return EXDEV;
        error = raw_rename(from->real, to->real);
    } else {
        error = move_within(from, to);
    }
    ov_restructure();
    if (error) return error;
    if (!to->outside) ov_note(to->lower ? "overwrite" : from->type == S_IFDIR ? "mkdir" : "create", to->path);
    if (!from->outside) ov_note(from->lower ? "delete" : "removed", from->path);
    return 0;
}

EXPORT int renameat2(int fromfd, const char *from, int tofd, const char *to, unsigned flags) {
    if (!ov_on()) return (int)syscall(SYS_renameat2, fromfd, from, tofd, to, flags);
    place old, new;
    int error = ov_find_any(fromfd, from, false, &old);
    if (!error) error = ov_find_any(tofd, to, false, &new);
    if (error) return ov_fail(error);
    if (old.outside && new.outside)
        return (int)syscall(SYS_renameat2, old.plain ? fromfd : AT_FDCWD, old.plain ? from : old.real,
                            new.plain ? tofd : AT_FDCWD, new.plain ? to : new.real, flags);
    error = move(&old, &new, flags);
    return error ? ov_fail(error) : 0;
}

EXPORT int renameat(int fromfd, const char *from, int tofd, const char *to) {
    if (!ov_on()) return (int)syscall(SYS_renameat, fromfd, from, tofd, to);
    return renameat2(fromfd, from, tofd, to, 0);
}

EXPORT int rename(const char *from, const char *to) { return renameat(AT_FDCWD, from, AT_FDCWD, to); }
