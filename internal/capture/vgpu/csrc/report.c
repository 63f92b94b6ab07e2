/* report.c: the log of refusals and notes, one line each, and opaque handles. */
#include "core.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char *const library_names[] = {
#define NAME(id, name, code) name,
	VGPU_LIBRARIES(NAME)
#undef NAME
};
static const int refusal_codes[] = {
#define CODE(id, name, code) code,
	VGPU_LIBRARIES(CODE)
#undef CODE
};

/* Texts already logged by this process, as hashes: a table that is never
 * emptied. When it is full everything is logged again, which is only noise. */
#define SEEN_SLOTS 4096
static uint64_t seen[SEEN_SLOTS];
static pthread_mutex_t seen_lock = PTHREAD_MUTEX_INITIALIZER;

static uint64_t hash(const char *s)
{
	uint64_t h = 14695981039346656037ull; /* FNV-1a */
	for (; *s; s++)
		h = (h ^ (unsigned char)*s) * 1099511628211ull;
	return h ? h : 1;
}

static bool first_time(const char *line)
{
	uint64_t h = hash(line);
	bool fresh = true;
	pthread_mutex_lock(&seen_lock);
	for (size_t i = 0; i < SEEN_SLOTS; i++) {
		uint64_t *slot = &seen[(h + i) % SEEN_SLOTS];
		if (*slot == h) {
			fresh = false;
			break;
		}
		if (!*slot) {
			*slot = h;
			break;
		}
	}
	pthread_mutex_unlock(&seen_lock);
	return fresh;
}

/* A line is one write to a file opened for appending, so that lines of several
 * processes never mix. Tabs and line ends in the text become spaces. */
static void log_line(const char *kind, const char *library, const char *text)
{
	char line[1024];
	int head, n, fd;
	const char *path = vgpu_config()->log_path;
	if (!*path)
		return;
	head = snprintf(line, sizeof line, "%s\t%s%s", kind, library, *library ? "\t" : "");
	n = head + snprintf(line + head, sizeof line - (size_t)head - 16, "%s", text);
	if (n > (int)sizeof line - 17)
		n = (int)sizeof line - 17;
	for (int i = head; i < n; i++)
		if (line[i] == '\t' || line[i] == '\n' || line[i] == '\r')
			line[i] = ' ';
	line[n] = 0;
	if (!first_time(line))
		return;
	n += snprintf(line + n, sizeof line - (size_t)n, "\t%ld\n", (long)getpid());
	fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0)
		return;
	if (write(fd, line, (size_t)n) < 0) {
		/* Nobody to tell: the log is the channel that failed. */
	}
	close(fd);
}

int vgpu_refuse(enum vgpu_library library, const char *symbol)
{
	log_line("refused", library_names[library], symbol);
	return refusal_codes[library];
}

/* For the stand-ins of names that no row of the manifest lists, which are made
 * without a compiler and know their library by name. */
VGPU_API int64_t plimsoll_vgpu_refuse(const char *library, const char *symbol)
{
	int found = VGPU_OTHER;
	for (int i = 0; i < VGPU_LIBRARY_COUNT; i++)
		if (strcmp(library_names[i], library) == 0)
			found = i;
	return vgpu_refuse((enum vgpu_library)found, symbol);
}

VGPU_API int64_t plimsoll_vgpu_noop(const char *library VGPU_UNUSED, const char *symbol VGPU_UNUSED) { return 0; }

void vgpu_unknown(const char *symbol) { log_line("unknown", "", symbol); }

void vgpu_note(const char *text) { log_line("note", "", text); }

void *vgpu_handle(void)
{
	/* In the middle of the address space, where the kernel places nothing. */
	static uintptr_t next = (uintptr_t)0x5f0000000000;
	return (void *)__atomic_add_fetch(&next, 16, __ATOMIC_RELAXED);
}
