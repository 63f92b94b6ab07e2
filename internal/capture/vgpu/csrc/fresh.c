/* fresh.c: blocks that PyTorch's allocator hands out read as zeros.
 *
 * The allocator gives the same addresses again and again without telling the
 * driver, and kernels write nothing here. A number that a kernel should have
 * written for the host (how many entries of a mask are set, whether a
 * factorisation failed) would read as whatever an earlier tensor left at its
 * address, and the script would be told to allocate gigabytes by it. So the one
 * virtual call through which PyTorch allocates is watched, and what the block
 * held before is forgotten. Nothing else about the allocator changes.
 */
#define _GNU_SOURCE
#include "core.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The allocator rounds every block up to this. */
#define BLOCK_BYTES ((size_t)512)

/* Clear what lies in pages that were written. One that never was reads as zeros
 * and is left alone: to write it would cost host memory. At most SMALL_PAGES. */
#define SMALL_PAGES (VGPU_SMALL_BYTES / 4096 + 1)

static void clear_written(uintptr_t from, uintptr_t to, uintptr_t page)
{
	unsigned char written[SMALL_PAGES];
	uintptr_t first = from & ~(page - 1);
	if (from >= to || mincore((void *)first, to - first, written) != 0)
		return;
	for (uintptr_t at = first; at < to; at += page) {
		uintptr_t low = at < from ? from : at, high = at + page > to ? to : at + page;
		if (written[(at - first) / page] & 1)
			memset((void *)low, 0, high - low);
	}
}

/* Small blocks keep their pages, which are written soon again; those of large
 * ones are given back. */
static void forget(uintptr_t p, size_t n)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), end, first, last;
	if (!n || !vgpu_on_device((const void *)p))
		return;
	end = p + ((n + BLOCK_BYTES - 1) & ~(BLOCK_BYTES - 1));
	if (end - p <= VGPU_SMALL_BYTES) {
		clear_written(p, end, page);
		return;
	}
	first = (p + page - 1) & ~(page - 1);
	last = end & ~(page - 1);
	clear_written(p, first, page);
	clear_written(last, end, page);
	madvise((void *)first, last - first, MADV_DONTNEED);
}

/* c10::DataPtr: the address, its owner and how to end it, the device. It is given
 * back through memory of the caller, like a C structure of this size. */
struct data_ptr { void *data, *context, *deleter, *device; };
typedef struct data_ptr (*allocate_function)(void *self, size_t n);

static allocate_function original;

static struct data_ptr watched_allocate(void *self, size_t n)
{
	struct data_ptr block = original(self, n);
	forget((uintptr_t)block.data, n);
	return block;
}

/* The call's place in the table of virtual functions: after the two destructors
 * (c10/core/Allocator.h, PyTorch 2.0 to 2.15). */
#define ALLOCATE_SLOT 2
#define ALLOCATOR_LIBRARY "libc10_cuda.so"
#define ALLOCATOR_SYMBOL "_ZN3c104cuda20CUDACachingAllocator9allocatorE"

/* The table of the allocator in use, or null when it is not PyTorch's own. */
static void **allocator_table(void)
{
	void *library = dlopen(ALLOCATOR_LIBRARY, RTLD_LAZY | RTLD_NOLOAD), **allocator, **table = NULL;
	Dl_info where;
	if (!library)
		return NULL;
	allocator = dlsym(library, ALLOCATOR_SYMBOL); /* std::atomic<CUDAAllocator *> */
	if (allocator && *allocator)
		table = *(void ***)*allocator;
	dlclose(library);
	if (!table || !dladdr(table[ALLOCATE_SLOT], &where) || !where.dli_fname || !strstr(where.dli_fname, ALLOCATOR_LIBRARY))
		return NULL;
	return table;
}

static pthread_mutex_t watch_lock = PTHREAD_MUTEX_INITIALIZER;

/* Watch PyTorch's allocator from now on: 0 when it is watched, -1 when PyTorch's
 * CUDA library is not loaded yet or has another allocator. May be called often. */
VGPU_API int plimsoll_vgpu_watch_allocator(void)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), at;
	void **table;
	pthread_mutex_lock(&watch_lock);
	table = allocator_table();
	if (table && table[ALLOCATE_SLOT] != (void *)watched_allocate) {
		at = (uintptr_t)&table[ALLOCATE_SLOT] & ~(page - 1);
		if (mprotect((void *)at, page, PROT_READ | PROT_WRITE) == 0) {
			original = (allocate_function)table[ALLOCATE_SLOT];
			table[ALLOCATE_SLOT] = (void *)watched_allocate;
			mprotect((void *)at, page, PROT_READ);
		}
	}
	pthread_mutex_unlock(&watch_lock);
	return original ? 0 : -1;
}
