/* mkstemp and its relatives, which open inside libc. */
#include "overlay.h"

#include <stdlib.h>
#include <sys/random.h>

enum { X_COUNT = 6, TRIES = 238328 };

/* next_name replaces the Xs before the suffix. */
static bool next_name(char *template, int suffix) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    unsigned char dice[X_COUNT];
    size_t n = strlen(template);
    if (suffix < 0 || n < (size_t)suffix + X_COUNT) return false;
    char *x = template + n - (size_t)suffix - X_COUNT;
    if (syscall(SYS_getrandom, dice, sizeof dice, 0u) != (long)sizeof dice) return false;
    for (int i = 0; i < X_COUNT; i++) x[i] = letters[dice[i] % (sizeof letters - 1)];
    return true;
}

static bool ends_in_x(const char *template, int suffix) {
    size_t n = strlen(template);
    return suffix >= 0 && n >= (size_t)suffix + X_COUNT && !memcmp(template + n - (size_t)suffix - X_COUNT, "XXXXXX", X_COUNT);
}

static int temporary(char *template, int suffix, int flags) {
    if (!ends_in_x(template, suffix)) return ov_fail(EINVAL);
    for (int i = 0; i < TRIES && next_name(template, suffix); i++) {
        int fd = open(template, (flags & ~O_ACCMODE) | O_RDWR | O_CREAT | O_EXCL, 0600);
        if (fd >= 0 || errno != EEXIST) return fd;
    }
    return ov_fail(EEXIST);
}

EXPORT int mkstemp(char *template) { return temporary(template, 0, 0); }
EXPORT int mkstemp64(char *template) { return temporary(template, 0, 0); }
EXPORT int mkostemp(char *template, int flags) { return temporary(template, 0, flags); }
EXPORT int mkostemp64(char *template, int flags) { return temporary(template, 0, flags); }
EXPORT int mkstemps(char *template, int suffix) { return temporary(template, suffix, 0); }
EXPORT int mkstemps64(char *template, int suffix) { return temporary(template, suffix, 0); }
EXPORT int mkostemps(char *template, int suffix, int flags) { return temporary(template, suffix, flags); }
EXPORT int mkostemps64(char *template, int suffix, int flags) { return temporary(template, suffix, flags); }

EXPORT char *mkdtemp(char *template) {
    if (!ends_in_x(template, 0)) {
        errno = EINVAL;
        return NULL;
    }
    for (int i = 0; i < TRIES && next_name(template, 0); i++) {
        if (mkdir(template, 0700) == 0) return template;
        if (errno != EEXIST) return NULL;
    }
    errno = EEXIST;
    return NULL;
}
