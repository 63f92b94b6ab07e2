/* Finds what a path means in the tree that the program sees. */
#include "overlay.h"

#include <stdatomic.h>

enum { MAX_LINKS = 40 }; /* as in the kernel, path_resolution(7) */

/* What is known of a directory, so that what lies below need not be tried in
 * vain. */
typedef struct hints {
    bool upper;   /* the overlay may hold it */
    bool gone;    /* deletions below it may be noted */
    bool foreign; /* the way there is one that the kernel would not go */
} hints;

/* A directory that was found. */
typedef struct directory {
    char path[PATH_MAX];
    hints hints;
    bool outside;
} directory;

static int stat_at(const char *path, struct stat *st) {
    return syscall(SYS_newfstatat, AT_FDCWD, path, st, AT_SYMLINK_NOFOLLOW) == 0 ? 0 : errno;
}

static int read_link(const char *path, char *out) {
    long n = syscall(SYS_readlinkat, AT_FDCWD, path, out, (size_t)PATH_MAX);
    if (n < 0) return errno;
    if (n >= PATH_MAX) return ENAMETOOLONG;
    out[n] = 0;
    return 0;
}

/* look_upper looks into the overlay. target gets the text of a link. */
static int look_upper(place *p, hints *h, char *target) {
    struct stat st;
    char path[PATH_MAX];
    if (!ov_upper_path(path, p->path)) return ENAMETOOLONG;
    int error = stat_at(path, &st);
    if (error == ENOENT) h->upper = false;
    if (error == ENOENT || error == ENOTDIR) return 0;
    if (error) return error;
    p->upper = true;
    p->type = st.st_mode & S_IFMT;
    if (p->type != S_IFLNK) {
        strcpy(p->real, path);
        return 0;
    }
    if ((error = read_link(path, target))) return error;
    if (!ov_under(target, OV_LENT)) {
        strcpy(p->real, path);
        return 0;
    }
    p->lent = true;
    strcpy(p->real, target + strlen(OV_LENT));
    error = stat_at(p->real, &st);
    p->type = error ? S_IFREG : st.st_mode & S_IFMT;
    return 0;
}

/* look_lower looks for an original that was not deleted. */
static int look_lower(place *p, hints *h, char *target) {
    struct stat st;
    if (h->gone) {
        char path[PATH_MAX];
        if (!ov_gone_path(path, p->path)) return ENAMETOOLONG;
        int error = stat_at(path, &st);
        if (error == ENOENT) h->gone = false;
        if (error == ENOTDIR || (error == 0 && !S_ISDIR(st.st_mode))) {
            p->gone = !p->upper;
            return 0;
        }
    }
    int error = stat_at(p->path, &st);
    if (error == ENOENT || error == ENOTDIR) return 0;
    if (error) return error;
    p->lower = true;
    mode_t type = st.st_mode & S_IFMT;
    if (p->upper && (p->type != S_IFDIR || type != S_IFDIR)) return 0;
    /* Of a directory that both have, the original stands for it, so that it
     * stays the same file when something is written into it. */
    p->type = type;
    strcpy(p->real, p->path);
    return type == S_IFLNK ? read_link(p->path, target) : 0;
}

static int look(place *p, hints *h, char *target) {
    p->type = 0;
    p->upper = p->lower = p->lent = p->gone = false;
    strcpy(p->real, p->path);
    if (h->upper) {
        int error = look_upper(p, h, target);
        if (error) return error;
    }
    return look_lower(p, h, target);
}

int ov_look(place *p) {
    char target[PATH_MAX];
    hints h = {true, true, false};
    p->outside = p->plain = false;
    return look(p, &h, target);
}

void ov_visible(char *path) {
    if (ov_under(path, ov_root)) {
        memmove(path, path + ov_root_length, strlen(path + ov_root_length) + 1);
        if (!*path) strcpy(path, "/");
    }
}

int ov_where(int fd, char *out) {
    char link[32];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    int error = read_link(link, out);
    if (error) return error == ENOENT ? EBADF : error;
    return *out == '/' ? 0 : ENOTDIR;
}

/* begin_at gives the directory that a relative path begins at. */
static int begin_at(int dirfd, directory *d) {
    if (dirfd == AT_FDCWD) {
        if (syscall(SYS_getcwd, d->path, (size_t)PATH_MAX) < 0) return errno;
        if (*d->path != '/') return ENOENT; /* (unreachable) */
    } else {
        int error = ov_where(dirfd, d->path);
        if (error) return error;
    }
    if (ov_under(d->path, ov_root)) {
        d->hints.foreign = true;
        ov_visible(d->path);
    }
    return 0;
}

/* Directories that were found, by the text that they were asked for. */
typedef struct memory {
    atomic_flag busy;
    unsigned generation;
    hints hints;
    char asked[256];
    char path[256];
} memory;

enum { MEMORIES = 1024 };
static memory memories[MEMORIES];

static memory *memory_of(const char *asked) {
    unsigned h = 2166136261u;
    for (; *asked; asked++) h = (h ^ (unsigned char)*asked) * 16777619u;
    return &memories[h % MEMORIES];
}

static bool recall(const char *asked, directory *d) {
    unsigned now = ov_generation();
    if (now == 0 || strlen(asked) >= sizeof((memory *)0)->asked) return false;
    memory *m = memory_of(asked);
    if (atomic_flag_test_and_set_explicit(&m->busy, memory_order_acquire)) return false;
    bool found = m->generation == now && !strcmp(m->asked, asked);
    if (found) {
        strcpy(d->path, m->path);
        d->hints = m->hints;
    }
    atomic_flag_clear_explicit(&m->busy, memory_order_release);
    return found;
}

static void remember(const char *asked, const directory *d, unsigned generation) {
    memory *m = memory_of(asked);
    if (generation == 0 || strlen(asked) >= sizeof m->asked || strlen(d->path) >= sizeof m->path) return;
    if (atomic_flag_test_and_set_explicit(&m->busy, memory_order_acquire)) return;
    m->generation = generation;
    m->hints = d->hints;
    strcpy(m->asked, asked);
    strcpy(m->path, d->path);
    atomic_flag_clear_explicit(&m->busy, memory_order_release);
}

/* next_name takes the first name off rest. It returns NULL at the end. */
static char *next_name(char **rest) {
    char *name = *rest + strspn(*rest, "/");
    if (!*name) return NULL;
    *rest = name + strcspn(name, "/");
    if (**rest) *(*rest)++ = 0;
    return name;
}

/* has_up says whether a path holds a "..". */
static bool has_up(const char *path) {
    for (const char *s = path; (s = strstr(s, "..")); s++)
        if ((s == path || s[-1] == '/') && (s[2] == 0 || s[2] == '/')) return true;
    return false;
}

/* enter appends a name to the directory d and goes there. When that is a
 * link, rest becomes what it points to and what was left. */
static int enter(directory *d, const char *name, char **rest, char *space, int *links, place *p) {
    char target[PATH_MAX];
    if (!ov_join(p->path, PATH_MAX, d->path[1] ? d->path : "", "/") || !ov_join(p->path, PATH_MAX, p->path, name))
        return ENAMETOOLONG;
    int error = look(p, &d->hints, target);
    if (error) return error;
    if (p->type == S_IFLNK) {
        if (++*links > MAX_LINKS) return ELOOP;
        if (p->upper) d->hints.foreign = true;
        size_t n = strlen(target), left = strlen(*rest);
        if (n + left + 2 > PATH_MAX) return ENAMETOOLONG;
        memmove(space + n + 1, *rest, left + 1);
        memcpy(space, target, n);
        space[n] = '/';
        *rest = space;
        if (*target == '/') strcpy(d->path, "/");
        d->hints.upper = d->hints.gone = true;
        return 0;
    }
    if (p->type == 0) return ENOENT;
    if (p->type != S_IFDIR) return ENOTDIR;
    strcpy(d->path, p->path);
    return 0;
}

/* walk goes from the directory d along text. p is room to work in. */
static int walk(directory *d, const char *text, int *links, place *p) {
    char space[PATH_MAX], *rest = space, *name;
    if (strlen(text) >= sizeof space) return ENAMETOOLONG;
    strcpy(space, text);
    d->outside = false;
    for (;;) {
        if (ov_allowed(d->path) && !has_up(rest)) {
            /* The kernel knows the way on, through /proc too. */
            rest += strspn(rest, "/");
            d->outside = true;
            if (*rest && (!ov_join(d->path, PATH_MAX, d->path, "/") || !ov_join(d->path, PATH_MAX, d->path, rest)))
                return ENAMETOOLONG;
            return 0;
        }
        if (!(name = next_name(&rest))) return 0;
        if (!strcmp(name, ".")) continue;
        if (!strcmp(name, "..")) {
            ov_parent(d->path);
            d->hints.upper = d->hints.gone = true;
            d->hints.foreign = true; /* it may be the way out of a new directory */
            continue;
        }
        int error = enter(d, name, &rest, space, links, p);
        if (error) return error;
    }
}

/* directory_at finds the directory that text means, seen from d. */
static int directory_at(directory *d, const char *text, int *links, place *p) {
    char asked[PATH_MAX];
    if (*text == '/') strcpy(d->path, "/");
    if (!ov_join(asked, PATH_MAX, d->path, d->hints.foreign ? "//" : "/") || !ov_join(asked, PATH_MAX, asked, text)) return ENAMETOOLONG;
    if (recall(asked, d)) {
        d->outside = false;
        return 0;
    }
    unsigned generation = ov_generation();
    d->hints.upper = d->hints.gone = true;
    int error = walk(d, text, links, p);
    if (!error && !d->outside) remember(asked, d, generation);
    return error;
}

/* split cuts a path into directory and last name. Slashes at its end are
 * taken off and reported. The name is empty for "/", "." and "..". */
static void split(char *path, char **name, bool *slash) {
    size_t n = strlen(path);
    *slash = false;
    while (n > 1 && path[n - 1] == '/') {
        path[--n] = 0;
        *slash = true;
    }
    char *last = strrchr(path, '/');
    *name = last ? last + 1 : path;
    if (!strcmp(*name, ".") || !strcmp(*name, "..")) *name = path + n;
}

/* outside_at fills p for a path that the kernel resolves from here on. */
static int outside_at(place *p, const directory *d, const char *name) {
    p->type = 0;
    p->upper = p->lower = p->lent = p->gone = false;
    p->outside = true;
    p->plain = !d->hints.foreign;
    bool fits = ov_join(p->real, PATH_MAX, d->path, *name ? "/" : "") && ov_join(p->real, PATH_MAX, p->real, name);
    strcpy(p->path, p->real);
    return fits ? 0 : ENAMETOOLONG;
}

/* find_last looks up the last name below the directory d. It reports in again
 * that the name is a link to follow, and puts its target into path. */
static int find_last(directory *d, const char *name, bool follow, place *p, char *path, bool *again) {
    char target[PATH_MAX];
    if (!*name) strcpy(p->path, d->path);
    else if (!ov_join(p->path, PATH_MAX, d->path[1] ? d->path : "", "/") || !ov_join(p->path, PATH_MAX, p->path, name))
        return ENAMETOOLONG;
    if (ov_allowed(p->path)) return outside_at(p, d, name);
    int error = look(p, &d->hints, target);
    if (error) return error;
    if ((*again = p->type == S_IFLNK && follow)) {
        if (p->upper) d->hints.foreign = true;
        strcpy(path, target);
        return 0;
    }
    p->outside = false;
    p->plain = !d->hints.foreign && !p->upper && !p->gone;
    return 0;
}

int ov_find_any(int dirfd, const char *given, bool follow, place *p) {
    char path[PATH_MAX], *name;
    directory d = {.hints = {true, true, false}};
    bool slash, ends_in_slash = false, again = true;
    if (!given) return EFAULT;
    if (!*given) return ENOENT;
    if (strlen(given) >= sizeof path) return ENAMETOOLONG;
    strcpy(path, given);
    if (ov_under(path, ov_root)) {
        d.hints.foreign = true;
        ov_visible(path);
    }
    if (*path != '/') {
        int error = begin_at(dirfd, &d);
        if (error) return error;
    }
    for (int links = 0; again; links++) {
        if (links > MAX_LINKS) return ELOOP;
        split(path, &name, &slash);
        ends_in_slash |= slash;
        char last[NAME_MAX + 2];
        if (strlen(name) > NAME_MAX) return ENAMETOOLONG;
        strcpy(last, name);
        *name = 0;
        int error = directory_at(&d, path, &links, p);
        if (error) return error;
        if (d.outside) return outside_at(p, &d, last);
        again = false;
        if ((error = find_last(&d, last, follow, p, path, &again))) return error;
    }
    p->slash = ends_in_slash;
    return 0;
}

int ov_find(int dirfd, const char *path, bool follow, place *p) {
    size_t n = path ? strlen(path) : 0;
    int error = ov_find_any(dirfd, path, follow || (n && path[n - 1] == '/'), p);
    if (!error && p->slash && p->type && p->type != S_IFDIR && !p->outside) return ENOTDIR;
    return error;
}

int ov_seen(int *dirfd, const char **path, bool follow, place *p) {
    if (ov_untouched()) return 0;
    int error = ov_find(*dirfd, *path, follow, p);
    if (error || p->plain) return error;
    if (!p->type && !p->outside) return ENOENT;
    *dirfd = AT_FDCWD;
    *path = p->real;
    return 0;
}
