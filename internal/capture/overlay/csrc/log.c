/* Tells plimsoll what was written, one line each: action, tab, path. */
#include "overlay.h"

/* escape keeps a path on one line: tab, newline and backslash get a backslash. */
static size_t escape(char *out, size_t size, const char *path) {
    size_t n = 0;
    static const char pairs[] = "\tt\nn\rr\\\\";
    for (; *path && n + 3 < size; path++) {
        const char *special = NULL;
        for (const char *p = pairs; *p; p += 2)
            if (*p == *path) special = p;
        if (special) {
            out[n++] = '\\';
            out[n++] = special[1];
        } else {
            out[n++] = *path;
        }
    }
    return n;
}

void ov_note(const char *action, const char *path) {
    if (!*ov_log) return;
    int saved = errno;
    char line[PATH_MAX + 64];
    size_t n = strlen(action);
    memcpy(line, action, n);
    line[n++] = '\t';
    n += escape(line + n, sizeof line - n - 1, path);
    line[n++] = '\n';
    int fd = (int)syscall(SYS_openat, AT_FDCWD, ov_log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (fd >= 0) {
        /* One write, so that lines of several processes do not mix. */
        ssize_t written = write(fd, line, n);
        (void)written; /* a full disk costs a line of the list */
        close(fd);
    }
    errno = saved;
}
