/* A page of memory in the overlay that all processes of one capture share. */
#include "overlay.h"

#include <stdatomic.h>
#include <sys/mman.h>

typedef struct page {
    atomic_int dirty;
    atomic_uint generation;
} page;

static page own = {1, 0}; /* without a page: always look, never remember */
static _Atomic(page *) mapped;

static page *map(void) {
    char path[PATH_MAX];
    if (!ov_join(path, sizeof path, ov_root, OV_WORK)) return &own;
    syscall(SYS_mkdirat, AT_FDCWD, ov_root, 0700);
    syscall(SYS_mkdirat, AT_FDCWD, path, 0700);
    if (!ov_join(path, sizeof path, ov_root, OV_WORK "/state")) return &own;
    int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0) return &own;
    page *p = &own;
    if (syscall(SYS_ftruncate, fd, (long)sizeof(page)) == 0) {
        void *m = mmap(NULL, sizeof(page), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (m != MAP_FAILED) p = m;
    }
    syscall(SYS_close, fd);
    return p;
}

static page *shared(void) {
    page *p = atomic_load_explicit(&mapped, memory_order_acquire);
    if (p) return p;
    int saved = errno;
    page *fresh = map(), *none = NULL;
    if (!atomic_compare_exchange_strong(&mapped, &none, fresh)) {
        if (fresh != &own) munmap(fresh, sizeof(page));
        fresh = none;
    }
    errno = saved;
    return fresh;
}

bool ov_dirty(void) { return atomic_load_explicit(&shared()->dirty, memory_order_acquire) != 0; }

void ov_touch(void) { atomic_store(&shared()->dirty, 1); }

void ov_restructure(void) {
    page *p = shared();
    atomic_store(&p->dirty, 1);
    atomic_fetch_add(&p->generation, 1);
}

/* 0 means that nothing may be remembered. */
unsigned ov_generation(void) {
    page *p = shared();
    return p == &own ? 0 : atomic_load(&p->generation) + 1;
}
