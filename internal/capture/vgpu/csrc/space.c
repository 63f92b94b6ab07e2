/* space.c: the range of addresses that stands for device memory.
 *
 * One private mapping without reserved memory: pages cost nothing until somebody
 * writes small contents into them. A table with one entry per 2 MiB page names
 * the range that owns the page, so that any pointer is found in one step.
 */
#include "memory.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* 16 TiB: 64 devices of 100 GiB, each with two expandable segments that reserve
 * more than all of it. */
#define LARGEST_SPAN ((size_t)1 << 44)
#define SMALLEST_SPAN ((size_t)1 << 32)
/* Below the libraries and above the heap, on x86-64 and on 48-bit arm64. */
#define WANTED_BASE ((uintptr_t)0x600000000000)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uintptr_t base;
static size_t span;
static bool locked_pages; /* pages must be opened one by one: no overcommit */
static uint32_t *owner;   /* per page: index into ranges, 0 for nobody */
static struct vgpu_range *ranges;
static uint32_t range_count, range_room, free_range;
static size_t cursor; /* page at which the next search begins */
static uint64_t next_id;

static void before_fork(void) { pthread_mutex_lock(&lock); }
static void after_fork(void) { pthread_mutex_unlock(&lock); }

static void *map(size_t n, int protection, void *wanted)
{
	void *p = mmap(wanted, n, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	return p == MAP_FAILED ? NULL : p;
}

/* A limit on address space (ulimit -v) or strict overcommit may refuse the
 * largest span or a writable one; take what there is. */
static void reserve(void)
{
	void *p = NULL;
	size_t n;
	bool closed = vgpu_setting("closed_pages", 0); /* for the tests of the case below */
	for (n = LARGEST_SPAN; n >= SMALLEST_SPAN; n >>= 1) {
		p = closed ? NULL : map(n + VGPU_PAGE_BYTES, PROT_READ | PROT_WRITE, (void *)WANTED_BASE);
		if (!p && (p = map(n + VGPU_PAGE_BYTES, PROT_NONE, (void *)WANTED_BASE)))
			locked_pages = true;
		if (p)
			break;
	}
	if (!p) {
		vgpu_note("no address space for device memory: a limit on virtual memory (ulimit -v) is in the way");
		return;
	}
	madvise(p, n + VGPU_PAGE_BYTES, MADV_NOHUGEPAGE);
	madvise(p, n + VGPU_PAGE_BYTES, MADV_DONTDUMP);
	owner = map(n / VGPU_PAGE_BYTES * sizeof *owner, PROT_READ | PROT_WRITE, NULL);
	if (!owner)
		return;
	span = n;
	range_count = 1; /* entry 0 means nobody */
	pthread_atfork(before_fork, after_fork, after_fork);
	__atomic_store_n(&base, ((uintptr_t)p + VGPU_PAGE_BYTES - 1) & ~(uintptr_t)(VGPU_PAGE_BYTES - 1), __ATOMIC_RELEASE);
}

bool vgpu_space(uintptr_t *start, size_t *bytes)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, reserve);
	*start = base;
	*bytes = span;
	return base != 0;
}

bool vgpu_on_device(const void *p)
{
	/* Before anything was reserved nothing can be on a device. */
	uintptr_t b = __atomic_load_n(&base, __ATOMIC_ACQUIRE);
	return b && (uintptr_t)p - b < span;
}

size_t vgpu_pages(size_t n)
{
	if (n > SIZE_MAX - VGPU_PAGE_BYTES)
		return SIZE_MAX & ~(VGPU_PAGE_BYTES - 1);
	return (n + VGPU_PAGE_BYTES - 1) & ~(VGPU_PAGE_BYTES - 1);
}

static size_t page_of(uintptr_t p) { return (p - base) / VGPU_PAGE_BYTES; }

/* The functions from here to the next line of dashes are called with the lock held. */

static uint32_t new_range(void)
{
	uint32_t i = free_range;
	if (i) {
		free_range = ranges[i].parent;
		return i;
	}
	if (range_count >= range_room) {
		uint32_t room = range_room ? range_room * 2 : 1024;
		struct vgpu_range *more = realloc(ranges, room * sizeof *ranges);
		if (!more)
			return 0;
		ranges = more;
		range_room = room;
	}
	return range_count++;
}

static void drop_range(uint32_t i)
{
	memset(&ranges[i], 0, sizeof ranges[i]);
	ranges[i].parent = free_range;
	free_range = i;
}

static void set_owner(uintptr_t p, size_t n, uint32_t i)
{
	uint32_t *at = owner + page_of(p);
	for (size_t k = n / VGPU_PAGE_BYTES; k--;)
		*at++ = i;
}

static bool owns_all(uint32_t i)
{
	const uint32_t *at = owner + page_of(ranges[i].start);
	for (size_t k = ranges[i].bytes / VGPU_PAGE_BYTES; k--;)
		if (*at++ != i)
			return false;
	return true;
}

/* Whole range that owns a page: a reservation where a mapping lies on it. */
static const struct vgpu_range *outermost(uint32_t i)
{
	return ranges[i].kind == VGPU_MAPPING ? &ranges[ranges[i].parent] : &ranges[i];
}

/* First run of free pages from a page on, or the end. A page is left free
 * behind each range, so that running over its end meets nobody's memory. */
static size_t free_run(size_t from, size_t want, size_t step)
{
	size_t pages = span / VGPU_PAGE_BYTES;
	while (from + want + 1 <= pages) {
		size_t k;
		from = (from + step - 1) / step * step;
		for (k = 0; k <= want && from + k < pages && !owner[from + k]; k++)
			;
		if (k > want)
			return from;
		if (from + k >= pages)
			break;
		const struct vgpu_range *r = outermost(owner[from + k]);
		from = page_of(r->start) + r->bytes / VGPU_PAGE_BYTES + 1;
	}
	return pages;
}

/* ------------------------------------------------------------------------ */

/* Addresses rise until the range is used up and are reused only then: a stale
 * pointer is noticed, and among equal free blocks PyTorch takes the lowest
 * address, as it does on a fresh process of a real machine. */
uintptr_t vgpu_space_take(size_t n, size_t alignment, enum vgpu_kind kind, int device)
{
	uintptr_t start;
	size_t bytes, want = vgpu_pages(n ? n : 1), at, step;
	uint32_t i;
	if (!vgpu_space(&start, &bytes) || want >= bytes)
		return 0;
	step = alignment > VGPU_PAGE_BYTES ? alignment / VGPU_PAGE_BYTES : 1;
	want /= VGPU_PAGE_BYTES;
	pthread_mutex_lock(&lock);
	at = free_run(cursor, want, step);
	if (at == bytes / VGPU_PAGE_BYTES)
		at = free_run(0, want, step);
	i = at < bytes / VGPU_PAGE_BYTES ? new_range() : 0;
	if (i) {
		struct vgpu_range *r = &ranges[i];
		memset(r, 0, sizeof *r);
		r->start = start + at * VGPU_PAGE_BYTES;
		r->bytes = want * VGPU_PAGE_BYTES;
		r->requested = n;
		r->kind = kind;
		r->device = device;
		r->id = ++next_id;
		set_owner(r->start, r->bytes, i);
		cursor = at + want + 1;
		start = r->start;
	}
	pthread_mutex_unlock(&lock);
	if (!i)
		vgpu_note("no addresses are left for device memory, although the card has room");
	return i ? start : 0;
}

bool vgpu_space_find(uintptr_t p, struct vgpu_range *found)
{
	bool known = false;
	if (!vgpu_on_device((void *)p))
		return false;
	pthread_mutex_lock(&lock);
	uint32_t i = owner[page_of(p)];
	if (i) {
		*found = ranges[i];
		known = true;
	}
	pthread_mutex_unlock(&lock);
	return known;
}

void vgpu_space_mark_stream_ordered(uintptr_t p)
{
	pthread_mutex_lock(&lock);
	uint32_t i = vgpu_on_device((void *)p) ? owner[page_of(p)] : 0;
	if (i)
		ranges[i].stream_ordered = true;
	pthread_mutex_unlock(&lock);
}

/* A reservation under which something is still mapped stays. */
bool vgpu_space_give(uintptr_t p, enum vgpu_kind kind, struct vgpu_range *was)
{
	bool mine = false;
	if (!vgpu_on_device((void *)p))
		return false;
	pthread_mutex_lock(&lock);
	uint32_t i = owner[page_of(p)];
	if (i && ranges[i].kind == kind && ranges[i].start == p && owns_all(i)) {
		mine = true;
		*was = ranges[i];
		set_owner(was->start, was->bytes, 0);
		drop_range(i);
	}
	pthread_mutex_unlock(&lock);
	if (mine)
		vgpu_space_zero(was->start, was->bytes);
	return mine;
}

int vgpu_space_map(uintptr_t p, size_t n, int device, uint64_t physical)
{
	int err = VGPU_INVALID_VALUE;
	if (!vgpu_on_device((void *)p) || !n || n % VGPU_PAGE_BYTES || (p - base) % VGPU_PAGE_BYTES)
		return err;
	pthread_mutex_lock(&lock);
	uint32_t parent = owner[page_of(p)];
	if (parent && ranges[parent].kind == VGPU_RESERVATION && p + n <= ranges[parent].start + ranges[parent].bytes) {
		size_t k = 0;
		while (k < n / VGPU_PAGE_BYTES && owner[page_of(p) + k] == parent)
			k++;
		uint32_t i = k == n / VGPU_PAGE_BYTES ? new_range() : 0;
		if (i) {
			ranges[i] = (struct vgpu_range){.start = p, .bytes = n, .requested = n, .kind = VGPU_MAPPING,
				.device = device, .parent = parent, .physical = physical, .id = ++next_id};
			set_owner(p, n, i);
			err = VGPU_OK;
		}
	}
	pthread_mutex_unlock(&lock);
	return err;
}

/* cuMemUnmap may span several whole mappings. */
int vgpu_space_unmap(uintptr_t p, size_t n, void (*unmapped)(uint64_t physical))
{
	uintptr_t at = p, end = p + n;
	if (!vgpu_on_device((void *)p) || !n || end < p)
		return VGPU_INVALID_VALUE;
	while (at < end) {
		uint64_t physical = 0;
		size_t bytes = 0;
		pthread_mutex_lock(&lock);
		uint32_t i = vgpu_on_device((void *)at) ? owner[page_of(at)] : 0;
		if (i && ranges[i].kind == VGPU_MAPPING && ranges[i].start == at && at + ranges[i].bytes <= end) {
			physical = ranges[i].physical;
			bytes = ranges[i].bytes;
			set_owner(at, bytes, ranges[i].parent);
			drop_range(i);
		}
		pthread_mutex_unlock(&lock);
		if (!bytes)
			return VGPU_INVALID_VALUE;
		unmapped(physical);
		at += bytes;
	}
	vgpu_space_zero(p, n);
	return VGPU_OK;
}

int vgpu_space_touch(uintptr_t p, size_t n)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t from = p & ~(page - 1), to = (p + n + page - 1) & ~(page - 1);
	if (!vgpu_on_device((void *)p) || p + n < p || p + n > base + span)
		return -1;
	if (!locked_pages || !n)
		return 0;
	return mprotect((void *)from, to - from, PROT_READ | PROT_WRITE);
}

void vgpu_space_zero(uintptr_t p, size_t n)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t from = (p + page - 1) & ~(page - 1), to = (p + n) & ~(page - 1);
	if (from >= to) {
		if (!vgpu_space_touch(p, n))
			memset((void *)p, 0, n);
		return;
	}
	if (from > p && !vgpu_space_touch(p, from - p))
		memset((void *)p, 0, from - p);
	if (p + n > to && !vgpu_space_touch(to, p + n - to))
		memset((void *)to, 0, p + n - to);
	madvise((void *)from, to - from, MADV_DONTNEED);
}
