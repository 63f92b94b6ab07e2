/* estimates.c: gives out the sizes of estimates.h and logs which were used. */
#include "library.h"

#include <pthread.h>
#include <stdio.h>

static const struct {
	const char *name;
	int low_percent, high_percent;
} rows[] = {
#define ROW(id, name, low, high, rule, source) {name, low, high},
	VGPU_ESTIMATES(ROW)
#undef ROW
};

static size_t largest[VGPU_ESTIMATE_COUNT];
static pthread_mutex_t largest_lock = PTHREAD_MUTEX_INITIALIZER;

/* No workspace that any of the rules can mean is as large as this; a shape that
 * gives more is damaged, and the caller's allocation then fails as it should. */
#define IMPOSSIBLE_BYTES ((double)((size_t)1 << 50))

static size_t whole(double bytes)
{
	if (!(bytes > 0))
		return 0;
	return bytes > IMPOSSIBLE_BYTES ? (size_t)1 << 50 : (size_t)(bytes + 0.5);
}

static void log_use(enum vgpu_estimate which, size_t bytes, size_t low, size_t high)
{
	char text[160];
	bool larger;
	pthread_mutex_lock(&largest_lock);
	larger = high > largest[which];
	if (larger)
		largest[which] = high;
	pthread_mutex_unlock(&largest_lock);
	if (!larger)
		return;
	snprintf(text, sizeof text, "estimate %s %zu %zu %zu", rows[which].name, bytes, low, high);
	vgpu_note(text);
}

size_t vgpu_estimate(enum vgpu_estimate which, double bytes)
{
	double percent = (double)vgpu_setting("estimate_percent", 100);
	size_t given = whole(bytes * percent / 100);
	log_use(which, given, whole(bytes * rows[which].low_percent / 100), whole(bytes * rows[which].high_percent / 100));
	return given;
}

size_t vgpu_ceiling(enum vgpu_estimate which, size_t given, double ceiling_bytes)
{
	size_t ceiling = whole(ceiling_bytes);
	log_use(which, given, 0, ceiling > given ? ceiling : given);
	return given;
}
