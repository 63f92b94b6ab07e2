/* Programs that the program starts: they may lie in the overlay, and must
 * not get away without this library. */
#include "overlay.h"

#include <alloca.h>
#include <elf.h>
#include <spawn.h>
#include <stdlib.h>

extern char **environ;

enum { MAX_PRELOAD = 8192 };

/* kept are the variables that a child needs, as this process got them. */
static char kept_preload[MAX_PRELOAD], kept_files[MAX_PRELOAD];

static void keep(char *to, const char *name) {
    const char *value = getenv(name);
    if (!value || !ov_join(to, MAX_PRELOAD, name, "=") || !ov_join(to, MAX_PRELOAD, to, value)) *to = 0;
}

__attribute__((constructor)) static void keep_all(void) {
    if (!ov_on()) return;
    keep(kept_preload, "LD_PRELOAD");
    keep(kept_files, "PLIMSOLL_FILES");
}

static size_t count(char *const list[]) {
    size_t n = 0;
    while (list && list[n]) n++;
    return n;
}

/* complete fills out, which has room for two more, with the environment and
 * what it lacks. A child may preload more, but not less. */
static char *const *complete(char *const list[], char **out) {
    if (!ov_on() || !*kept_files) return list;
    size_t n = 0;
    bool preload = !*kept_preload, files = false;
    for (size_t i = 0; list && list[i]; i++) {
        if (!strncmp(list[i], "PLIMSOLL_FILES=", 15)) files = true;
        if (!strncmp(list[i], "LD_PRELOAD=", 11)) {
            if (!strstr(list[i], "libplimsoll-files.so")) continue;
            preload = true;
        }
        out[n++] = list[i];
    }
    if (!preload) out[n++] = kept_preload;
    if (!files) out[n++] = kept_files;
    out[n] = NULL;
    return out;
}

/* COMPLETE(list) is the environment with what it lacks; it lives as long as
 * the caller's frame. */
#define COMPLETE(list) complete(list, alloca((count(list) + 3) * sizeof(char *)))

/* tell_static notes a program that has no loader, so that nothing can be
 * preloaded into it. */
static void tell_static(const char *path) {
    union {
        Elf64_Ehdr head;
        char bytes[4096];
    } file;
    if (!ov_on()) return;
    int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
    ssize_t n = fd < 0 ? 0 : read(fd, &file, sizeof file);
    if (fd >= 0) close(fd);
    if (n < (ssize_t)sizeof file.head || memcmp(file.bytes, ELFMAG, SELFMAG) || file.bytes[EI_CLASS] != ELFCLASS64) return;
    for (int i = 0; i < file.head.e_phnum; i++) {
        Elf64_Phdr h;
        size_t at = file.head.e_phoff + (size_t)i * sizeof h;
        if (at + sizeof h > (size_t)n) return;
        memcpy(&h, file.bytes + at, sizeof h);
        if (h.p_type == PT_INTERP) return;
    }
    ov_note("uncaught", path);
}

EXPORT int execve(const char *path, char *const argv[], char *const env[]) {
    place p;
    int here = AT_FDCWD, error = ov_seen(&here, &path, true, &p);
    if (error) return ov_fail(error);
    tell_static(path);
    return (int)syscall(SYS_execve, path, argv, COMPLETE(env));
}

EXPORT int execv(const char *path, char *const argv[]) { return execve(path, argv, environ); }

EXPORT int execvpe(const char *file, char *const argv[], char *const env[]) {
    if (strchr(file, '/')) return execve(file, argv, env);
    return NEXT(execvpe)(file, argv, COMPLETE(env));
}

EXPORT int execvp(const char *file, char *const argv[]) { return execvpe(file, argv, environ); }

EXPORT int fexecve(int fd, char *const argv[], char *const env[]) { return NEXT(fexecve)(fd, argv, COMPLETE(env)); }

EXPORT int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
                       const posix_spawnattr_t *attributes, char *const argv[], char *const env[]) {
    place p;
    int here = AT_FDCWD, error = ov_seen(&here, &path, true, &p);
    if (error) return error;
    tell_static(path);
    return NEXT(posix_spawn)(pid, path, actions, attributes, argv, COMPLETE(env));
}

EXPORT int posix_spawnp(pid_t *pid, const char *file, const posix_spawn_file_actions_t *actions,
                        const posix_spawnattr_t *attributes, char *const argv[], char *const env[]) {
    if (strchr(file, '/')) return posix_spawn(pid, file, actions, attributes, argv, env);
    return NEXT(posix_spawnp)(pid, file, actions, attributes, argv, COMPLETE(env));
}

/* The child opens by itself, so the path is readied here. */
EXPORT int posix_spawn_file_actions_addopen(posix_spawn_file_actions_t *actions, int fd, const char *path, int flags, mode_t mode) {
    if (!ov_on()) return NEXT(posix_spawn_file_actions_addopen)(actions, fd, path, flags, mode);
    place p;
    const char *action;
    int error = ov_prepare(AT_FDCWD, path, flags, &p, &action);
    if (error) return error;
    if (action) ov_note(action, p.path);
    return NEXT(posix_spawn_file_actions_addopen)(actions, fd, p.plain ? path : p.real, flags, mode);
}
