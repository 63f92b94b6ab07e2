/* host.c: host memory that CUDA knows: pinned, registered and managed. A sorted
 * array, since a process has few of them and asks about pointers often. */
#include "memory.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct vgpu_host *hosts;
static size_t count, room;

/* Index of the first entry that ends after p. Called with the lock held. */
static size_t position(uintptr_t p)
{
	size_t low = 0, high = count;
	while (low < high) {
		size_t middle = (low + high) / 2;
		if (hosts[middle].start + hosts[middle].bytes <= p)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int insert(struct vgpu_host h)
{
	int err = VGPU_OK;
	pthread_mutex_lock(&lock);
	size_t at = position(h.start);
	if (at < count && hosts[at].start < h.start + h.bytes) {
		err = VGPU_HOST_ALREADY_REGISTERED;
	} else if (count == room) {
		size_t more = room ? room * 2 : 64;
		struct vgpu_host *grown = realloc(hosts, more * sizeof *hosts);
		if (grown) {
			hosts = grown;
			room = more;
		} else {
			err = VGPU_OUT_OF_MEMORY;
		}
	}
	if (!err) {
		memmove(hosts + at + 1, hosts + at, (count - at) * sizeof *hosts);
		hosts[at] = h;
		count++;
	}
	pthread_mutex_unlock(&lock);
	return err;
}

static bool take_out(uintptr_t start, bool registered, struct vgpu_host *was)
{
	bool mine = false;
	pthread_mutex_lock(&lock);
	size_t at = position(start);
	if (at < count && hosts[at].start == start && (hosts[at].kind == VGPU_HOST_REGISTERED) == registered) {
		mine = true;
		*was = hosts[at];
		memmove(hosts + at, hosts + at + 1, (count - at - 1) * sizeof *hosts);
		count--;
	}
	pthread_mutex_unlock(&lock);
	return mine;
}

/* Untouched pages cost nothing, as with the real allocator's lazy callers; a
 * buffer that a data loader fills takes what it takes on a real machine. */
void *vgpu_host_alloc(size_t n, enum vgpu_host_kind kind, int device, unsigned flags)
{
	size_t bytes = (n + 4095) & ~(size_t)4095;
	void *p;
	if (bytes < n || !n)
		return NULL;
	p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED)
		return NULL;
	if (insert((struct vgpu_host){(uintptr_t)p, bytes, kind, device, flags}) == VGPU_OK)
		return p;
	munmap(p, bytes);
	return NULL;
}

bool vgpu_host_free(void *p)
{
	struct vgpu_host was;
	if (!take_out((uintptr_t)p, false, &was))
		return false;
	munmap(p, was.bytes);
	return true;
}

int vgpu_host_register(void *p, size_t n, int device, unsigned flags)
{
	if (!p || !n)
		return VGPU_INVALID_VALUE;
	return insert((struct vgpu_host){(uintptr_t)p, n, VGPU_HOST_REGISTERED, device, flags});
}

int vgpu_host_unregister(void *p)
{
	struct vgpu_host was;
	return take_out((uintptr_t)p, true, &was) ? VGPU_OK : VGPU_HOST_NOT_REGISTERED;
}

bool vgpu_host_find(const void *p, struct vgpu_host *found)
{
	bool known = false;
	pthread_mutex_lock(&lock);
	size_t at = position((uintptr_t)p);
	if (at < count && hosts[at].start <= (uintptr_t)p) {
		*found = hosts[at];
		known = true;
	}
	pthread_mutex_unlock(&lock);
	return known;
}
