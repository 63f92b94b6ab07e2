/* config.c: reads PLIMSOLL_VGPU, "key=value;key=value", once per process. */
#include "core.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static struct vgpu_config config;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* find returns the value of a key and its length, or null. */
static const char *find(const char *key, size_t *length)
{
	const char *at = getenv("PLIMSOLL_VGPU");
	size_t n = strlen(key);
	while (at && *at) {
		const char *end = strchr(at, ';');
		size_t entry = end ? (size_t)(end - at) : strlen(at);
		if (entry > n && at[n] == '=' && strncmp(at, key, n) == 0) {
			*length = entry - n - 1;
			return at + n + 1;
		}
		at = end ? end + 1 : NULL;
	}
	return NULL;
}

uint64_t vgpu_setting(const char *key, uint64_t otherwise)
{
	size_t length;
	const char *value = find(key, &length);
	char *end;
	uint64_t number;
	if (!value || length == 0 || *value < '0' || *value > '9')
		return otherwise;
	number = strtoull(value, &end, 10);
	return end == value + length ? number : otherwise;
}

static void text(const char *key, char *out, size_t room, const char *otherwise)
{
	size_t length;
	const char *value = find(key, &length);
	if (!value) {
		value = otherwise;
		length = strlen(otherwise);
	}
	if (length >= room)
		length = room - 1;
	memcpy(out, value, length);
	out[length] = 0;
}

/* The defaults are an A100: what a process sees that was given the libraries
 * but no configuration. The Go side always names every key. */
static void read_config(void)
{
	struct vgpu_card *c = &config.card;
	config.devices = (int)vgpu_setting("devices", 1);
	if (config.devices > VGPU_MAX_DEVICES)
		config.devices = VGPU_MAX_DEVICES;
	text("name", c->name, sizeof c->name, "NVIDIA A100-SXM4-80GB");
	text("log", config.log_path, sizeof config.log_path, "");
	c->capability = (int)vgpu_setting("capability", 80);
	c->multiprocessors = (int)vgpu_setting("multiprocessors", 108);
	c->threads_per_multiprocessor = (int)vgpu_setting("threads", 2048);
	c->blocks_per_multiprocessor = (int)vgpu_setting("blocks", 32);
	c->registers_per_multiprocessor = (int)vgpu_setting("registers", 65536);
	c->shared_per_block = vgpu_setting("shared_block", 49152);
	c->shared_per_block_optin = vgpu_setting("shared_optin", 166912);
	c->shared_per_multiprocessor = vgpu_setting("shared_multiprocessor", 167936);
	c->shared_reserved_per_block = vgpu_setting("shared_reserved", 1024);
	c->l2_bytes = vgpu_setting("l2", 41943040);
	c->clock_khz = (int)vgpu_setting("clock_khz", 1410000);
	c->memory_clock_khz = (int)vgpu_setting("memory_clock_khz", 1593000);
	c->memory_bus_bits = (int)vgpu_setting("bus_bits", 5120);
	c->capacity_bytes = vgpu_setting("capacity", 84987740160ull);
	c->nvml_total_bytes = vgpu_setting("nvml_total", c->capacity_bytes);
	c->context_bytes = vgpu_setting("context", 0);
	if (c->context_bytes > c->capacity_bytes)
		c->context_bytes = c->capacity_bytes;
	config.cudnn_workspace_bytes = vgpu_setting("cudnn_workspace", 0);
}

/* The version of each major that PyTorch's wheels were built with last, for a
 * process that was not told. */
int vgpu_cuda_version(void)
{
	const char *text = getenv("PLIMSOLL_CUDA");
	int version = text ? atoi(text) : 0;
	if (version / 1000 == PLIMSOLL_CUDA_MAJOR)
		return version;
	return PLIMSOLL_CUDA_MAJOR == 11 ? 11080 : PLIMSOLL_CUDA_MAJOR == 12 ? 12090 : 13020;
}

const struct vgpu_config *vgpu_config(void)
{
	pthread_once(&once, read_config);
	return &config;
}
