/* books.c: how much of each device the driver has handed out. */
#include "memory.h"

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct vgpu_books books[VGPU_MAX_DEVICES];

bool vgpu_books_take(int device, size_t bytes)
{
	const struct vgpu_card *c = &vgpu_config()->card;
	bool fits;
	if (device < 0 || device >= vgpu_config()->devices)
		return false;
	pthread_mutex_lock(&lock);
	struct vgpu_books *b = &books[device];
	fits = bytes <= c->capacity_bytes - c->context_bytes && b->used <= c->capacity_bytes - c->context_bytes - bytes;
	if (fits) {
		b->used += bytes;
		if (b->used > b->peak)
			b->peak = b->used;
	}
	b->allocations++;
	pthread_mutex_unlock(&lock);
	return fits;
}

void vgpu_books_give(int device, size_t bytes)
{
	if (device < 0 || device >= VGPU_MAX_DEVICES)
		return;
	pthread_mutex_lock(&lock);
	books[device].used -= bytes;
	books[device].frees++;
	pthread_mutex_unlock(&lock);
}

struct vgpu_books vgpu_books(int device)
{
	struct vgpu_books b = {0};
	if (device < 0 || device >= VGPU_MAX_DEVICES)
		return b;
	pthread_mutex_lock(&lock);
	b = books[device];
	pthread_mutex_unlock(&lock);
	return b;
}

size_t vgpu_books_free(int device)
{
	const struct vgpu_card *c = &vgpu_config()->card;
	return c->capacity_bytes - c->context_bytes - vgpu_books(device).used;
}
