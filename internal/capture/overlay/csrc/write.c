/* Brings into the overlay what is about to change. */
#include "overlay.h"

#include <stdatomic.h>
#include <sys/ioctl.h>

#ifndef FICLONE
#define FICLONE _IOW(0x94, 9, int) /* linux/fs.h */
#endif

static int failed(long result) { return result < 0 ? errno : 0; }

static int make_directory(const char *path, mode_t mode) {
    int error = failed(syscall(SYS_mkdirat, AT_FDCWD, path, mode));
    if (!error) ov_restructure();
    return error == EEXIST ? 0 : error;
}

/* make_all makes the directories above path, of which the first skip bytes
 * exist. They get the mode of the originals, which begin at original. */
static int make_all(char *path, size_t skip, const char *original) {
    for (char *slash = strchr(path + skip + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        struct stat st;
        char now[PATH_MAX];
        *slash = 0;
        mode_t mode = 0755;
        if (original && ov_join(now, sizeof now, original, "")) {
            now[slash - path - (long)skip] = 0;
            if (syscall(SYS_newfstatat, AT_FDCWD, now, &st, 0) == 0) mode = st.st_mode & 07777;
        }
        int error = make_directory(path, mode | 0700);
        *slash = '/';
        if (error) return error;
    }
    return 0;
}

int ov_make_parents(const char *path) {
    char upper[PATH_MAX];
    if (!ov_upper_path(upper, path)) return ENAMETOOLONG;
    ov_touch();
    return make_all(upper, ov_root_length, path);
}

int ov_work_name(char *out) {
    static atomic_uint count;
    char name[64];
    snprintf(name, sizeof name, OV_WORK "/%ld-%u", syscall(SYS_gettid), atomic_fetch_add(&count, 1));
    return ov_join(out, PATH_MAX, ov_root, name) ? 0 : ENAMETOOLONG;
}

static int copy_by_hand(int from, int to) {
    char buffer[16384];
    for (;;) {
        ssize_t n = read(from, buffer, sizeof buffer);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return n < 0 ? errno : 0;
        for (ssize_t done = 0; done < n;) {
            ssize_t m = write(to, buffer + done, (size_t)(n - done));
            if (m < 0 && errno != EINTR) return errno;
            if (m > 0) done += m;
        }
    }
}

/* copy_contents shares the blocks where the file system can, and lets the
 * kernel copy where it can. */
static int copy_contents(int from, int to, int64_t size) {
    if (ioctl(to, FICLONE, from) == 0) return 0;
    if (size > ov_copy_limit) return ENOSPC;
    for (int64_t left = size; left > 0;) {
        ssize_t n = syscall(SYS_copy_file_range, from, NULL, to, NULL, (size_t)left, 0u);
        if (n <= 0) return copy_by_hand(from, to);
        left -= n;
    }
    return copy_by_hand(from, to); /* what was added meanwhile */
}

/* fill makes the file at work a copy of the original. */
static int fill(const char *original, const char *work, bool contents) {
    struct stat st;
    int from = (int)syscall(SYS_openat, AT_FDCWD, original, O_RDONLY | O_CLOEXEC | O_NOCTTY, 0);
    if (from < 0) {
        /* It may be written but not read; then it has no contents to keep. */
        if (contents || errno != EACCES) return errno;
    }
    if (syscall(SYS_newfstatat, AT_FDCWD, original, &st, 0)) st.st_mode = 0644;
    int to = (int)syscall(SYS_openat, AT_FDCWD, work, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    int error = failed(to);
    if (!error && contents) error = copy_contents(from, to, st.st_size);
    if (!error) {
        struct timespec times[2] = {st.st_atim, st.st_mtim};
        error = failed(syscall(SYS_fchmod, to, (st.st_mode & 07777) | 0600));
        if (contents) syscall(SYS_utimensat, to, NULL, times, 0);
    }
    if (to >= 0) close(to);
    if (from >= 0) close(from);
    return error;
}

/* A copy becomes visible all at once, since other processes may want the
 * same one. */
int ov_copy(place *p, bool contents) {
    char work[PATH_MAX], upper[PATH_MAX];
    int error = ov_make_parents(p->path);
    if (!error) error = ov_work_name(work);
    if (!error && !ov_upper_path(upper, p->path)) error = ENAMETOOLONG;
    if (!error) error = fill(p->real, work, contents);
    if (!error) {
        if (p->lent) error = failed(syscall(SYS_renameat, AT_FDCWD, work, AT_FDCWD, upper));
        else error = failed(syscall(SYS_linkat, AT_FDCWD, work, AT_FDCWD, upper, 0));
        if (error == EEXIST) error = 0;
    }
    syscall(SYS_unlinkat, AT_FDCWD, work, 0);
    if (error) return error;
    strcpy(p->real, upper);
    p->upper = true;
    p->lent = p->plain = false;
    return 0;
}

int ov_lend(const char *original, const char *path) {
    char work[PATH_MAX], upper[PATH_MAX], text[PATH_MAX];
    int error = ov_make_parents(path);
    if (!error) error = ov_work_name(work);
    if (error) return error;
    if (!ov_upper_path(upper, path) || !ov_join(text, sizeof text, OV_LENT, original)) return ENAMETOOLONG;
    error = failed(syscall(SYS_symlinkat, text, AT_FDCWD, work));
    if (error) return error;
    error = failed(syscall(SYS_renameat, AT_FDCWD, work, AT_FDCWD, upper));
    if (error) syscall(SYS_unlinkat, AT_FDCWD, work, 0);
    ov_restructure();
    return error;
}

int ov_hide(const char *path) {
    struct stat st;
    char gone[PATH_MAX], away[PATH_MAX];
    if (!ov_gone_path(gone, path)) return ENAMETOOLONG;
    ov_touch();
    int error = make_all(gone, ov_root_length, NULL);
    if (error == ENOTDIR) return 0; /* a directory above is gone as a whole */
    if (error) return error;
    if (syscall(SYS_newfstatat, AT_FDCWD, gone, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode)) {
        error = ov_work_name(away);
        if (!error) error = failed(syscall(SYS_renameat, AT_FDCWD, gone, AT_FDCWD, away));
        if (error) return error;
    }
    int fd = (int)syscall(SYS_openat, AT_FDCWD, gone, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    error = failed(fd);
    if (fd >= 0) close(fd);
    ov_restructure();
    return error;
}

int ov_may_change(const char *path) {
    place parent;
    if (strlen(path) >= sizeof parent.path) return ENAMETOOLONG;
    strcpy(parent.path, path);
    ov_parent(parent.path);
    int error = ov_look(&parent);
    if (error) return error;
    if (!parent.lower) return 0; /* made by the program: the kernel judges */
    int (*check)(int, const char *, int, int) = NEXT(faccessat);
    return check && check(AT_FDCWD, parent.path, W_OK | X_OK, AT_EACCESS) ? errno : 0;
}

/* prepare_old gets an existing file ready to be opened for writing. */
static int prepare_old(place *p, int flags) {
    bool write = (flags & O_ACCMODE) != O_RDONLY || flags & O_TRUNC;
    if ((flags & O_CREAT) && (flags & O_EXCL)) return EEXIST;
    if (p->type == S_IFLNK) return ELOOP;
    if (p->type == S_IFDIR) {
        if ((flags & O_TMPFILE) != O_TMPFILE) return flags & O_CREAT || write ? EISDIR : 0;
        char below[PATH_MAX], upper[PATH_MAX];
        if (!ov_join(below, sizeof below, p->path, "/x") || !ov_upper_path(upper, p->path)) return ENAMETOOLONG;
        strcpy(p->real, upper);
        p->plain = false;
        return ov_make_parents(below);
    }
    if (p->type != S_IFREG || !write || (p->upper && !p->lent)) return 0;
    int (*check)(int, const char *, int, int) = NEXT(faccessat);
    if (check && check(AT_FDCWD, p->real, W_OK, AT_EACCESS)) return errno;
    int error = ov_copy(p, !(flags & O_TRUNC));
    ov_note(error == ENOSPC ? "no-space" : "overwrite", p->path);
    return error;
}

bool ov_writes(int flags) {
    if (flags & O_PATH) return false;
    return (flags & O_ACCMODE) != O_RDONLY || flags & (O_CREAT | O_TRUNC);
}

int ov_prepare(int dirfd, const char *path, int flags, place *p, const char **action) {
    bool exclusive = (flags & O_CREAT) && (flags & O_EXCL);
    *action = NULL;
    size_t n = path ? strlen(path) : 0;
    bool slash = n && path[n - 1] == '/';
    bool follow = slash ? !(flags & O_CREAT) : !(flags & O_NOFOLLOW) && !exclusive;
    int error = ov_find_any(dirfd, path, follow, p);
    if (error || p->outside) return error;
    if (p->slash && flags & O_CREAT) return EISDIR;
    if (p->slash && p->type && p->type != S_IFDIR) return ENOTDIR;
    if (!ov_writes(flags)) return p->type || p->plain ? 0 : ENOENT;
    if (p->type) return prepare_old(p, flags);
    if (!(flags & O_CREAT)) return ENOENT;
    if ((error = ov_may_change(p->path)) || (error = ov_make_parents(p->path))) return error;
    if (!ov_upper_path(p->real, p->path)) return ENAMETOOLONG;
    p->plain = false;
    *action = "create";
    return 0;
}
