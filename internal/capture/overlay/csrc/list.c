/* Directories as the program sees them: what the overlay holds, and the
 * originals that are neither replaced nor gone. */
#include "list.h"

#include <stdlib.h>

enum { MAX_RAISED = 200000 }; /* files below a directory that moves */

void list_free(listing *l) {
    free(l->data);
    memset(l, 0, sizeof *l);
}

/* add appends an entry. */
static int add(listing *l, const char *name, unsigned char type, ino_t inode) {
    size_t length = strlen(name) + 1;
    size_t need = (offsetof(struct dirent, d_name) + length + 7) & ~(size_t)7;
    if (l->size + need > l->room) {
        size_t room = l->room ? 2 * l->room : 4096;
        while (room < l->size + need) room *= 2;
        char *data = realloc(l->data, room);
        if (!data) return ENOMEM;
        l->data = data;
        l->room = room;
    }
    struct dirent *e = (struct dirent *)(l->data + l->size);
    memset(e, 0, need);
    e->d_ino = inode;
    e->d_reclen = (unsigned short)need;
    e->d_type = type;
    memcpy(e->d_name, name, length);
    l->size += need;
    e->d_off = (off_t)l->size;
    return 0;
}

static bool is_dot(const char *name) { return !strcmp(name, ".") || !strcmp(name, ".."); }

/* own says whether a name at the top of the overlay is one of ours. */
static bool own(const char *path, const char *name) {
    return !path[1] && (!strcmp(name, OV_GONE + 1) || !strcmp(name, OV_WORK + 1));
}

/* add_upper lists what the overlay holds. A lent file is what it stands for. */
static int add_upper(listing *l, const char *path) {
    char upper[PATH_MAX];
    if (!ov_upper_path(upper, path)) return ENAMETOOLONG;
    DIR *d = NEXT(opendir)(upper);
    if (!d) return 0;
    int error = 0;
    for (struct dirent *e; !error && (e = NEXT(readdir)(d));) {
        place p;
        unsigned char type = e->d_type;
        if (is_dot(e->d_name) || own(path, e->d_name)) continue;
        if (type == DT_LNK || type == DT_UNKNOWN) {
            if (ov_join(p.path, PATH_MAX, path[1] ? path : "", "/") && ov_join(p.path, PATH_MAX, p.path, e->d_name) && !ov_look(&p))
                type = (unsigned char)IFTODT(p.type);
        }
        error = add(l, e->d_name, type, e->d_ino);
    }
    NEXT(closedir)(d);
    return error;
}

static int by_name(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

/* names returns the entries' names, sorted, for looking up. */
static char **names(const listing *l, size_t *count) {
    *count = 0;
    for (size_t i = 0; i < l->size; i += ((struct dirent *)(l->data + i))->d_reclen) ++*count;
    char **out = malloc((*count + 1) * sizeof *out);
    if (!out) return NULL;
    size_t n = 0;
    for (size_t i = 0; i < l->size; i += ((struct dirent *)(l->data + i))->d_reclen)
        out[n++] = ((struct dirent *)(l->data + i))->d_name;
    qsort(out, *count, sizeof *out, by_name);
    return out;
}

/* hidden says whether an original is gone. The gone tree of its directory is
 * at gone; empty when there is none. */
static bool hidden(const char *gone, const char *name) {
    char path[PATH_MAX];
    struct stat st;
    if (!*gone || !ov_join(path, sizeof path, gone, "/") || !ov_join(path, sizeof path, path, name)) return false;
    return syscall(SYS_newfstatat, AT_FDCWD, path, &st, AT_SYMLINK_NOFOLLOW) == 0 && !S_ISDIR(st.st_mode);
}

/* add_lower lists the originals of the directory d. Names of what the overlay
 * holds are in taken, whose text must outlive it. */
static int add_lower(listing *l, const char *path, DIR *d) {
    char gone[PATH_MAX];
    struct stat st;
    size_t count;
    listing upper = *l;
    if (l->size && !(upper.data = malloc(l->size))) return ENOMEM;
    if (l->size) memcpy(upper.data, l->data, l->size);
    char **taken = names(&upper, &count);
    if (!ov_gone_path(gone, path) || syscall(SYS_newfstatat, AT_FDCWD, gone, &st, AT_SYMLINK_NOFOLLOW) != 0) *gone = 0;
    int error = taken ? 0 : ENOMEM;
    for (struct dirent *e; !error && (e = NEXT(readdir)(d));) {
        const char *name = e->d_name;
        if (is_dot(name) || bsearch(&name, taken, count, sizeof *taken, by_name) || hidden(gone, name)) continue;
        error = add(l, name, e->d_type, e->d_ino);
    }
    free(taken);
    if (upper.size) free(upper.data);
    return error;
}

int list_read(listing *l, const char *path) {
    place p;
    memset(l, 0, sizeof *l);
    if (strlen(path) >= sizeof p.path) return ENAMETOOLONG;
    strcpy(p.path, path);
    int error = ov_look(&p);
    if (error) return error;
    if (p.type != S_IFDIR) return p.type ? ENOTDIR : ENOENT;
    if (p.upper) error = add_upper(l, path);
    if (!error && p.lower) {
        DIR *d = NEXT(opendir)(p.real);
        if (!d) return errno;
        error = add_lower(l, path, d);
        NEXT(closedir)(d);
    }
    return error;
}

bool list_differs(const place *p) {
    char gone[PATH_MAX];
    struct stat st;
    if (p->outside) return false;
    if (p->upper) return true;
    return ov_gone_path(gone, p->path) && syscall(SYS_newfstatat, AT_FDCWD, gone, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

int ov_empty(const char *path) {
    listing l;
    int error = list_read(&l, path);
    if (!error && l.size) error = ENOTEMPTY;
    list_free(&l);
    return error;
}

/* raise brings one entry of a directory that moves into the overlay. */
static int raise_entry(const char *path, int *left);

static int raise_all(const char *path, int *left) {
    char below[PATH_MAX];
    listing l;
    if (!ov_join(below, sizeof below, path, "/x")) return ENAMETOOLONG;
    int error = ov_make_parents(below);
    if (!error) error = list_read(&l, path);
    else return error;
    for (size_t i = 0; !error && i < l.size; i += ((struct dirent *)(l.data + i))->d_reclen) {
        char *entry = malloc(PATH_MAX); /* the recursion is as deep as the tree */
        if (!entry) error = ENOMEM;
        else if (!ov_join(entry, PATH_MAX, path, "/") || !ov_join(entry, PATH_MAX, entry, ((struct dirent *)(l.data + i))->d_name)) error = ENAMETOOLONG;
        else error = raise_entry(entry, left);
        free(entry);
    }
    list_free(&l);
    return error;
}

static int raise_link(const place *p) {
    char target[PATH_MAX], upper[PATH_MAX];
    long n = syscall(SYS_readlinkat, AT_FDCWD, p->real, target, sizeof target - 1);
    if (n < 0) return errno;
    target[n] = 0;
    if (!ov_upper_path(upper, p->path)) return ENAMETOOLONG;
    return syscall(SYS_symlinkat, target, AT_FDCWD, upper) == 0 ? 0 : errno;
}

static int raise_entry(const char *path, int *left) {
    place p;
    if (--*left < 0) return EXDEV;
    strcpy(p.path, path);
    int error = ov_look(&p);
    if (error || !p.type) return error;
    if (p.type == S_IFDIR) return raise_all(path, left);
    if (p.upper) return 0;
    if (p.type == S_IFREG) return ov_lend(p.real, path);
    return p.type == S_IFLNK ? raise_link(&p) : 0;
}

int ov_raise_tree(const char *path) {
    int left = MAX_RAISED;
    return raise_all(path, &left);
}
