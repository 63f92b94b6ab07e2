/* opendir, readdir and what else lists directories. */
#include "list.h"

#include <glob.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

_Static_assert(sizeof(struct dirent) == sizeof(struct dirent64), "dirent64 is dirent");

/* A stream is a DIR whose entries we serve. */
typedef struct stream {
    DIR *dir;
    char path[PATH_MAX];
    listing list;
    size_t next; /* place in the list, after the two dots */
    int dots;    /* how many of "." and ".." were served */
    struct stream *link;
} stream;

static stream *streams;
static atomic_int count; /* of streams; without any there is no need to look */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void hold(void) { pthread_mutex_lock(&lock); }
static void let_go(void) { pthread_mutex_unlock(&lock); }
/* A child must not inherit the lock from a thread that it does not have. */
__attribute__((constructor)) static void survive_fork(void) { pthread_atfork(hold, let_go, let_go); }

static stream *stream_of(DIR *dir) {
    if (!atomic_load(&count)) return NULL;
    hold();
    stream *s = streams;
    while (s && s->dir != dir) s = s->link;
    let_go();
    return s;
}

static void forget(DIR *dir) {
    if (!atomic_load(&count)) return;
    hold();
    stream **s = &streams, *found;
    while (*s && (*s)->dir != dir) s = &(*s)->link;
    if ((found = *s)) {
        *s = found->link;
        atomic_fetch_sub(&count, 1);
    }
    let_go();
    if (!found) return;
    list_free(&found->list);
    free(found);
}

/* serve makes a stream of a DIR. On failure the DIR is closed. */
static DIR *serve(DIR *dir, const char *path) {
    stream *s = dir ? calloc(1, sizeof *s) : NULL;
    if (!s) {
        if (dir) NEXT(closedir)(dir);
        return NULL;
    }
    s->dir = dir;
    strcpy(s->path, path);
    int error = list_read(&s->list, path);
    if (error) {
        NEXT(closedir)(dir);
        list_free(&s->list);
        free(s);
        errno = error;
        return NULL;
    }
    hold();
    s->link = streams;
    streams = s;
    atomic_fetch_add(&count, 1);
    let_go();
    return dir;
}

EXPORT DIR *opendir(const char *path) {
    if (ov_untouched()) return NEXT(opendir)(path);
    place p;
    int error = ov_find(AT_FDCWD, path, true, &p);
    if (!error && !p.type && !p.outside && !p.plain) error = ENOENT;
    if (error) {
        errno = error;
        return NULL;
    }
    DIR *dir = NEXT(opendir)(p.plain ? path : p.real);
    return dir && list_differs(&p) ? serve(dir, p.path) : dir;
}

EXPORT DIR *fdopendir(int fd) {
    DIR *dir = NEXT(fdopendir)(fd);
    if (!dir || ov_untouched()) return dir;
    place p;
    int saved = errno;
    if (ov_where(fd, p.path)) return dir;
    ov_visible(p.path);
    bool differs = !ov_allowed(p.path) && !ov_look(&p) && p.type == S_IFDIR && list_differs(&p);
    errno = saved;
    return differs ? serve(dir, p.path) : dir;
}

EXPORT int closedir(DIR *dir) {
    forget(dir);
    return NEXT(closedir)(dir);
}

/* dot serves "." and "..", whose numbers the original has. */
static struct dirent *dot(stream *s) {
    for (struct dirent *e; (e = NEXT(readdir)(s->dir));)
        if (!strcmp(e->d_name, s->dots ? ".." : ".")) {
            s->dots++;
            return e;
        }
    s->dots = 2;
    return NULL;
}

static struct dirent *next_entry(stream *s) {
    while (s->dots < 2) {
        NEXT(rewinddir)(s->dir);
        struct dirent *e = dot(s);
        if (e) return e;
    }
    if (s->next >= s->list.size) return NULL;
    struct dirent *e = (struct dirent *)(s->list.data + s->next);
    s->next += e->d_reclen;
    return e;
}

EXPORT struct dirent *readdir(DIR *dir) {
    stream *s = stream_of(dir);
    if (!s) return NEXT(readdir)(dir);
    int saved = errno;
    struct dirent *e = next_entry(s);
    errno = saved;
    return e;
}

EXPORT struct dirent64 *readdir64(DIR *dir) { return (struct dirent64 *)readdir(dir); }

typedef int reader(DIR *dir, struct dirent *entry, struct dirent **result);

static int read_into(DIR *dir, struct dirent *entry, struct dirent **result, reader *next) {
    stream *s = stream_of(dir);
    if (!s) return next(dir, entry, result);
    struct dirent *e = readdir(dir);
    if (e) memcpy(entry, e, e->d_reclen);
    *result = e ? entry : NULL;
    return 0;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations" /* Rust's library calls them */

EXPORT int readdir_r(DIR *dir, struct dirent *entry, struct dirent **result) {
    return read_into(dir, entry, result, NEXT(readdir_r));
}

EXPORT int readdir64_r(DIR *dir, struct dirent64 *entry, struct dirent64 **result) {
    return read_into(dir, (struct dirent *)entry, (struct dirent **)result, (reader *)NEXT(readdir_r));
}

#pragma GCC diagnostic pop

EXPORT void rewinddir(DIR *dir) {
    stream *s = stream_of(dir);
    if (s) {
        int saved = errno;
        list_free(&s->list);
        if (list_read(&s->list, s->path)) list_free(&s->list);
        s->next = 0;
        s->dots = 0;
        errno = saved;
    }
    NEXT(rewinddir)(dir);
}

EXPORT long telldir(DIR *dir) {
    stream *s = stream_of(dir);
    return s ? (long)s->next + s->dots : NEXT(telldir)(dir);
}

EXPORT void seekdir(DIR *dir, long position) {
    stream *s = stream_of(dir);
    if (!s) {
        NEXT(seekdir)(dir, position);
        return;
    }
    /* Entries are eight bytes apart at least, so that the dots fit between. */
    s->dots = (int)(position & 7);
    s->next = (size_t)(position & ~7L);
}

typedef int filter(const struct dirent *);
typedef int order(const struct dirent **, const struct dirent **);

EXPORT int scandir(const char *path, struct dirent ***out, filter *keep, order *compare) {
    if (ov_untouched()) return NEXT(scandir)(path, out, keep, compare);
    DIR *dir = opendir(path);
    if (!dir) return -1;
    struct dirent **list = NULL;
    size_t n = 0;
    for (struct dirent *e; (e = readdir(dir));) {
        if (keep && !keep(e)) continue;
        struct dirent **grown = realloc(list, (n + 1) * sizeof *list);
        struct dirent *own = malloc(e->d_reclen);
        if (grown) list = grown;
        if (!grown || !own) {
            free(own);
            break;
        }
        list[n++] = memcpy(own, e, e->d_reclen);
    }
    closedir(dir);
    if (compare && n) qsort(list, n, sizeof *list, (int (*)(const void *, const void *))(void *)compare);
    *out = list;
    return (int)n;
}

EXPORT int scandir64(const char *path, struct dirent64 ***out, int (*keep)(const struct dirent64 *),
                     int (*compare)(const struct dirent64 **, const struct dirent64 **)) {
    return scandir(path, (struct dirent ***)out, (filter *)(void *)keep, (order *)(void *)compare);
}

/* glob lists through functions that it can be given. */
EXPORT int glob(const char *pattern, int flags, int (*failed)(const char *, int), glob_t *out) {
    if (ov_untouched() || flags & GLOB_ALTDIRFUNC) return NEXT(glob)(pattern, flags, failed, out);
    out->gl_opendir = (void *(*)(const char *))(void *)opendir;
    out->gl_readdir = (struct dirent *(*)(void *))(void *)readdir;
    out->gl_closedir = (void (*)(void *))(void *)closedir;
    out->gl_stat = stat;
    out->gl_lstat = lstat;
    int result = NEXT(glob)(pattern, flags | GLOB_ALTDIRFUNC, failed, out);
    out->gl_flags &= ~GLOB_ALTDIRFUNC;
    return result;
}

EXPORT int glob64(const char *pattern, int flags, int (*failed)(const char *, int), glob64_t *out) {
    return glob(pattern, flags, failed, (glob_t *)out);
}
