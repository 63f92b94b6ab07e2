/* Reads PLIMSOLL_FILES="root=DIR;log=FILE;allow=PATH:PATH;copy=BYTES". */
#include "overlay.h"

#include <dlfcn.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

char ov_root[PATH_MAX];
size_t ov_root_length;
char ov_log[PATH_MAX];
int64_t ov_copy_limit = (int64_t)4 << 30;

static char allow_list[4 * PATH_MAX]; /* each ends in a zero; an empty one is the last */

enum { FRESH, BUSY, OFF, ON };
static atomic_int phase;
static atomic_int beginner; /* the thread that reads the configuration */

/* Devices and what the kernel makes up are no files. */
static const char *const always_allowed[] = {"/dev", "/proc", "/sys"};

static void add_allowed(const char *from, size_t length) {
    char *to = allow_list;
    while (*to) to += strlen(to) + 1;
    while (length > 1 && from[length - 1] == '/') length--;
    if (length == 0 || *from != '/' || to + length + 2 > allow_list + sizeof allow_list) return;
    memcpy(to, from, length);
    to[length] = to[length + 1] = 0;
}

static void read_allowed(const char *list, size_t length) {
    while (length > 0) {
        const char *colon = memchr(list, ':', length);
        size_t one = colon ? (size_t)(colon - list) : length;
        add_allowed(list, one);
        list += one + (colon != NULL);
        length -= one + (colon != NULL);
    }
}

static void read_path(char *to, const char *from, size_t length) {
    while (length > 1 && from[length - 1] == '/') length--;
    if (length == 0 || length >= PATH_MAX || *from != '/') return;
    memcpy(to, from, length);
    to[length] = 0;
}

static void read_field(const char *field, size_t length) {
    static const struct {
        const char *name;
        char *path;
    } paths[] = {{"root=", ov_root}, {"log=", ov_log}};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        size_t n = strlen(paths[i].name);
        if (length > n && !memcmp(field, paths[i].name, n)) read_path(paths[i].path, field + n, length - n);
    }
    if (length > 6 && !memcmp(field, "allow=", 6)) read_allowed(field + 6, length - 6);
    if (length > 5 && !memcmp(field, "copy=", 5)) ov_copy_limit = strtoll(field + 5, NULL, 10);
}

static int read_config(void) {
    const char *text = getenv("PLIMSOLL_FILES");
    if (!text || !*text) return OFF;
    for (size_t i = 0; i < sizeof always_allowed / sizeof *always_allowed; i++)
        add_allowed(always_allowed[i], strlen(always_allowed[i]));
    while (*text) {
        size_t length = strcspn(text, ";");
        read_field(text, length);
        text += length + (text[length] == ';');
    }
    ov_root_length = strlen(ov_root);
    return ov_root_length > 1 && ov_root_length < PATH_MAX / 2 ? ON : OFF;
}

/* begin runs once, at the first call of any function here, which may come
 * before any constructor. */
static int begin(void) {
    int self = (int)syscall(SYS_gettid), fresh = FRESH;
    if (atomic_load(&phase) == BUSY && atomic_load(&beginner) == self) return OFF;
    if (atomic_compare_exchange_strong(&phase, &fresh, BUSY)) {
        atomic_store(&beginner, self);
        int saved = errno;
        atomic_store(&phase, read_config());
        errno = saved;
    }
    while (atomic_load(&phase) == BUSY) sched_yield();
    return atomic_load(&phase);
}

bool ov_on(void) {
    int now = atomic_load_explicit(&phase, memory_order_acquire);
    if (now < OFF) now = begin();
    return now == ON;
}

bool ov_allowed(const char *path) {
    for (const char *a = allow_list; *a; a += strlen(a) + 1)
        if (ov_under(path, a)) return true;
    return false;
}

void *ov_next(const char *name) { return dlsym(RTLD_NEXT, name); }
