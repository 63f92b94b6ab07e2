/* A dladdr that remembers. PyTorch asks it for the name of every frame of every
 * allocation; glibc's goes through all symbols of a library for each, which took
 * two thirds of a recording's time. This one sorts a library's symbols the first
 * time, before recordings are forked. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct entry {
    uintptr_t at, size;
    const char *name;
} entry;

typedef struct library {
    uintptr_t base, begin, end;
    const char *path;
    entry *entries;
    size_t count;
} library;

enum { MAX_LIBRARIES = 1024 };

static library libraries[MAX_LIBRARIES];
static int known;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int compare(const void *a, const void *b) {
    uintptr_t x = ((const entry *)a)->at, y = ((const entry *)b)->at;
    return (x > y) - (x < y);
}

/* symbols counts a library's dynamic symbols by its GNU hash table. */
static size_t symbols(const uint32_t *hash) {
    uint32_t buckets = hash[0], offset = hash[1], bloom = hash[2], last = 0;
    const uint32_t *bucket = hash + 4 + bloom * (sizeof(ElfW(Addr)) / 4), *chain = bucket + buckets;
    for (uint32_t i = 0; i < buckets; i++)
        if (bucket[i] > last) last = bucket[i];
    if (last < offset) return offset;
    while (!(chain[last - offset] & 1)) last++;
    return last + 1;
}

static void read_symbols(library *l, const ElfW(Dyn) *d) {
    const ElfW(Sym) *table = NULL;
    const char *names = NULL;
    const uint32_t *hash = NULL;
    for (; d->d_tag != DT_NULL; d++) {
        if (d->d_tag == DT_SYMTAB) table = (const void *)d->d_un.d_ptr;
        if (d->d_tag == DT_STRTAB) names = (const void *)d->d_un.d_ptr;
        if (d->d_tag == DT_GNU_HASH) hash = (const void *)d->d_un.d_ptr;
    }
    if (!table || !names || !hash || (uintptr_t)table < l->base) return;
    size_t n = symbols(hash);
    l->entries = malloc(n * sizeof *l->entries);
    for (size_t i = 0; l->entries && i < n; i++) {
        int type = ELF64_ST_TYPE(table[i].st_info);
        if (table[i].st_shndx == SHN_UNDEF || !table[i].st_value || (type != STT_FUNC && type != STT_GNU_IFUNC)) continue;
        l->entries[l->count++] = (entry){l->base + table[i].st_value, table[i].st_size, names + table[i].st_name};
    }
    qsort(l->entries, l->count, sizeof *l->entries, compare);
}

static int find(struct dl_phdr_info *info, size_t size, void *data) {
    (void)size;
    library *l = data;
    uintptr_t at = l->begin, low = UINTPTR_MAX, high = 0;
    const ElfW(Dyn) *dynamic = NULL;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *h = &info->dlpi_phdr[i];
        uintptr_t begin = info->dlpi_addr + h->p_vaddr;
        if (h->p_type == PT_DYNAMIC) dynamic = (const void *)begin;
        if (h->p_type != PT_LOAD) continue;
        if (begin < low) low = begin;
        if (begin + h->p_memsz > high) high = begin + h->p_memsz;
    }
    if (at < low || at >= high) return 0;
    *l = (library){.base = info->dlpi_addr, .begin = low, .end = high, .path = info->dlpi_name};
    if (dynamic && l->base) read_symbols(l, dynamic);
    return 1;
}

static const library *library_of(uintptr_t at) {
    for (int i = known - 1; i >= 0; i--)
        if (at >= libraries[i].begin && at < libraries[i].end) return &libraries[i];
    if (known == MAX_LIBRARIES) return NULL;
    library l = {.begin = at};
    if (!dl_iterate_phdr(find, &l)) return NULL;
    libraries[known] = l;
    return &libraries[known++];
}

int dladdr(const void *address, Dl_info *out) {
    uintptr_t at = (uintptr_t)address;
    pthread_mutex_lock(&lock);
    const library *l = library_of(at);
    pthread_mutex_unlock(&lock);
    if (!l) return 0;
    *out = (Dl_info){.dli_fname = l->path, .dli_fbase = (void *)l->base};
    size_t low = 0, high = l->count;
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (l->entries[mid].at <= at) low = mid + 1;
        else high = mid;
    }
    if (low && at < l->entries[low - 1].at + (l->entries[low - 1].size ? l->entries[low - 1].size : 1)) {
        out->dli_sname = l->entries[low - 1].name;
        out->dli_saddr = (void *)l->entries[low - 1].at;
    }
    return 1;
}
