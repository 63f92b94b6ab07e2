/* Paths as text. */
#include "overlay.h"

bool ov_join(char *out, size_t size, const char *a, const char *b) {
    size_t m = strlen(a), n = strlen(b);
    if (m + n >= size) return false;
    memmove(out, a, m);
    memmove(out + m, b, n + 1);
    return true;
}

bool ov_under(const char *path, const char *dir) {
    size_t n = strlen(dir);
    return !strncmp(path, dir, n) && (path[n] == 0 || path[n] == '/' || n == 1);
}

bool ov_upper_path(char *out, const char *path) { return ov_join(out, PATH_MAX, ov_root, path); }

bool ov_gone_path(char *out, const char *path) {
    return ov_join(out, PATH_MAX, ov_root, OV_GONE) && ov_join(out, PATH_MAX, out, path);
}

void ov_parent(char *path) {
    char *slash = strrchr(path, '/');
    if (!slash || slash == path) strcpy(path, "/");
    else *slash = 0;
}
