/* fopen and freopen, which open inside libc. */
#include "overlay.h"

/* flags_of reads a mode such as "r+b". */
static int flags_of(const char *mode) {
    int flags = 0;
    switch (*mode) {
    case 'w': flags = O_WRONLY | O_CREAT | O_TRUNC; break;
    case 'a': flags = O_WRONLY | O_CREAT | O_APPEND; break;
    default: flags = O_RDONLY; break;
    }
    for (mode++; *mode && *mode != ','; mode++) {
        if (*mode == '+') flags = (flags & ~O_ACCMODE) | O_RDWR;
        if (*mode == 'x') flags |= O_EXCL;
    }
    return flags;
}

typedef FILE *opener(const char *path, const char *mode, FILE *stream);

static FILE *fopen_next(const char *path, const char *mode, FILE *stream) {
    (void)stream;
    return NEXT(fopen)(path, mode);
}

static FILE *freopen_next(const char *path, const char *mode, FILE *stream) {
    return NEXT(freopen)(path, mode, stream);
}

static FILE *stream_at(const char *path, const char *mode, FILE *stream, opener *next) {
    int flags = mode ? flags_of(mode) : 0;
    if (!path || !ov_on() || (!ov_writes(flags) && !ov_dirty())) return next(path, mode, stream);
    place p;
    const char *action;
    int error = ov_prepare(AT_FDCWD, path, flags, &p, &action);
    if (error) {
        errno = error;
        return NULL;
    }
    FILE *f = next(p.plain ? path : p.real, mode, stream);
    if (f && action) ov_note(action, p.path);
    return f;
}

EXPORT FILE *fopen(const char *path, const char *mode) { return stream_at(path, mode, NULL, fopen_next); }
EXPORT FILE *fopen64(const char *path, const char *mode) { return stream_at(path, mode, NULL, fopen_next); }

EXPORT FILE *freopen(const char *path, const char *mode, FILE *stream) {
    return stream_at(path, mode, stream, freopen_next);
}

EXPORT FILE *freopen64(const char *path, const char *mode, FILE *stream) {
    return stream_at(path, mode, stream, freopen_next);
}
