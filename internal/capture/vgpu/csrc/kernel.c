/* kernel.c: what PyTorch's libraries register when they are loaded: images of
 * kernels, kernels and device variables. Kept so that questions about a kernel
 * are answered from its own image; nothing is ever run. */
#include "memory.h"
#include "runtime.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The wrapper that a compiled object passes to __cudaRegisterFatBinary. */
struct wrapper {
	int magic;
	int version;
	const unsigned char *data;
	void *more;
};
#define WRAPPER_MAGIC 0x466243b1

/* The image: a header, then entries. Layout as in fatbinary_section.h and
 * cuobjdump's output; only the architecture of an entry is looked at. */
struct image_header {
	uint32_t magic;
	uint16_t version, header_bytes;
	uint64_t bytes;
};
struct image_entry {
	uint16_t kind; /* 1 PTX, 2 machine code */
	uint16_t version;
	uint32_t header_bytes;
	uint64_t bytes;
	uint32_t compressed_bytes, unknown;
	uint16_t minor, major;
	uint32_t architecture; /* 90 is 9.0 */
};
#define IMAGE_MAGIC 0xba55ed50u

struct kernel {
	const void *host;
	const struct wrapper *image;
	int thread_limit; /* __launch_bounds__, or -1 */
};
struct variable {
	const void *host;
	size_t bytes;
	void *device;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct kernel *kernels;
static size_t kernel_count, kernel_room, kernels_sorted;
static struct variable *variables;
static size_t variable_count, variable_room;

static void *grow(void *array, size_t count, size_t *room, size_t item)
{
	if (count < *room)
		return array;
	size_t more = *room ? *room * 2 : 4096;
	void *p = realloc(array, more * item);
	if (p)
		*room = more;
	return p;
}

VGPU_API void **__cudaRegisterFatBinary(void *image)
{
	void **handle = malloc(sizeof *handle);
	if (handle)
		*handle = image;
	return handle;
}

VGPU_API void __cudaUnregisterFatBinary(void **handle) { free(handle); }

VGPU_API void __cudaRegisterFunction(void **handle, const char *host, char *device VGPU_UNUSED, const char *name VGPU_UNUSED,
	int thread_limit, void *tid VGPU_UNUSED, void *bid VGPU_UNUSED, void *block VGPU_UNUSED, void *grid VGPU_UNUSED, int *warp VGPU_UNUSED)
{
	pthread_mutex_lock(&lock);
	void *more = grow(kernels, kernel_count, &kernel_room, sizeof *kernels);
	if (more) {
		kernels = more;
		kernels[kernel_count++] = (struct kernel){host, handle ? *handle : NULL, thread_limit};
	}
	pthread_mutex_unlock(&lock);
}

VGPU_API void __cudaRegisterVar(void **handle VGPU_UNUSED, char *host, char *address VGPU_UNUSED, const char *name VGPU_UNUSED,
	int external VGPU_UNUSED, size_t bytes, int constant VGPU_UNUSED, int global VGPU_UNUSED)
{
	pthread_mutex_lock(&lock);
	void *more = grow(variables, variable_count, &variable_room, sizeof *variables);
	if (more) {
		variables = more;
		variables[variable_count++] = (struct variable){host, bytes, NULL};
	}
	pthread_mutex_unlock(&lock);
}

VGPU_API char __cudaInitModule(void **handle VGPU_UNUSED) { return 1; }

static int by_host(const void *a, const void *b)
{
	uintptr_t x = (uintptr_t)((const struct kernel *)a)->host, y = (uintptr_t)((const struct kernel *)b)->host;
	return x < y ? -1 : x > y;
}

/* Called with the lock held. */
static void sort_kernels(void)
{
	if (kernels_sorted == kernel_count)
		return;
	qsort(kernels, kernel_count, sizeof *kernels, by_host);
	kernels_sorted = kernel_count;
}

/* Best architecture of an image for a card: the highest that is not above the
 * card's, machine code of its own major or PTX of any. 0 when there is none. */
static int architecture(const struct wrapper *w, int capability)
{
	int best = 0;
	if (!w || w->magic != WRAPPER_MAGIC || !w->data)
		return 0;
	const struct image_header *h = (const void *)w->data;
	if (h->magic != IMAGE_MAGIC || h->header_bytes < sizeof *h)
		return 0;
	const unsigned char *at = w->data + h->header_bytes, *end = at + h->bytes;
	while (at + sizeof(struct image_entry) <= end) {
		const struct image_entry *e = (const void *)at;
		int a = (int)e->architecture;
		if (e->header_bytes < sizeof *e || e->bytes > (uint64_t)(end - at))
			break;
		if (a <= capability && a > best && (e->kind == 1 || a / 10 == capability / 10))
			best = a;
		at += e->header_bytes + e->bytes;
	}
	return best;
}

struct vgpu_kernel vgpu_kernel_of(const void *host)
{
	int capability = vgpu_config()->card.capability;
	struct vgpu_kernel k = {.threads_per_block = 1024, .registers = 32, .ptx_version = capability};
	struct kernel key = {.host = host}, *found = NULL;
	pthread_mutex_lock(&lock);
	sort_kernels();
	if (kernel_count)
		found = bsearch(&key, kernels, kernel_count, sizeof *kernels, by_host);
	if (found) {
		int a = architecture(found->image, capability);
		if (a)
			k.ptx_version = a;
		if (found->thread_limit > 0 && found->thread_limit < 1024)
			k.threads_per_block = found->thread_limit;
	}
	pthread_mutex_unlock(&lock);
	return k;
}

/* A card that PyTorch carries no kernels for: on a real one the first launch
 * fails. What PyTorch allocates can still be asked here, so it is only noted. */
void vgpu_check_image(const void *host)
{
	static bool done;
	int capability = vgpu_config()->card.capability;
	char text[200];
	struct kernel key = {.host = host}, *found = NULL;
	if (__atomic_exchange_n(&done, true, __ATOMIC_RELAXED))
		return;
	pthread_mutex_lock(&lock);
	sort_kernels();
	if (kernel_count)
		found = bsearch(&key, kernels, kernel_count, sizeof *kernels, by_host);
	bool missing = found && found->image && found->image->magic == WRAPPER_MAGIC && !architecture(found->image, capability);
	pthread_mutex_unlock(&lock);
	if (!missing)
		return;
	snprintf(text, sizeof text, "no kernel image for compute capability %d.%d in the user's PyTorch: a real card of this kind could not run it", capability / 10, capability % 10);
	vgpu_note(text);
}

void *vgpu_global_storage(size_t n)
{
	/* A program's own variables lie in its image, which the context's share
	 * covers: they are not counted again. */
	return (void *)vgpu_space_take(n, 0, VGPU_ALLOCATION, vgpu_current_device());
}

#define INVALID_SYMBOL 13

static struct variable *variable_of(const void *host)
{
	for (size_t i = 0; i < variable_count; i++)
		if (variables[i].host == host)
			return &variables[i];
	return NULL;
}

VGPU_API int cudaGetSymbolAddress(void **p, const void *symbol)
{
	void *fresh;
	pthread_mutex_lock(&lock);
	struct variable *v = variable_of(symbol);
	size_t bytes = v ? v->bytes : 0;
	*p = v ? v->device : NULL;
	pthread_mutex_unlock(&lock);
	if (!v)
		return vgpu_result(INVALID_SYMBOL);
	if (*p)
		return VGPU_OK;
	fresh = vgpu_global_storage(bytes);
	if (!fresh)
		return vgpu_result(VGPU_OUT_OF_MEMORY);
	pthread_mutex_lock(&lock);
	v = variable_of(symbol); /* the table may have moved, or another thread been first */
	if (!v->device)
		v->device = fresh;
	*p = v->device;
	pthread_mutex_unlock(&lock);
	return VGPU_OK;
}

VGPU_API int cudaGetSymbolSize(size_t *bytes, const void *symbol)
{
	pthread_mutex_lock(&lock);
	struct variable *v = variable_of(symbol);
	if (v)
		*bytes = v->bytes;
	pthread_mutex_unlock(&lock);
	return vgpu_result(v ? VGPU_OK : INVALID_SYMBOL);
}

VGPU_API int cudaMemcpyToSymbol(const void *symbol, const void *from, size_t n, size_t offset, int kind VGPU_UNUSED)
{
	void *p;
	int error = cudaGetSymbolAddress(&p, symbol);
	if (!error)
		vgpu_copy((char *)p + offset, from, n);
	return error;
}

VGPU_API int cudaMemcpyFromSymbol(void *to, const void *symbol, size_t n, size_t offset, int kind VGPU_UNUSED)
{
	void *p;
	int error = cudaGetSymbolAddress(&p, symbol);
	if (!error)
		vgpu_copy(to, (char *)p + offset, n);
	return error;
}

VGPU_API int cudaMemcpyToSymbolAsync(const void *symbol, const void *from, size_t n, size_t offset, int kind, void *stream)
{
	vgpu_capture_work(stream);
	return cudaMemcpyToSymbol(symbol, from, n, offset, kind);
}

VGPU_API int cudaMemcpyFromSymbolAsync(void *to, const void *symbol, size_t n, size_t offset, int kind, void *stream)
{
	vgpu_capture_work(stream);
	return cudaMemcpyFromSymbol(to, symbol, n, offset, kind);
}
