/* runtime_copy.c: the runtime's copies and fills. The direction comes from the
 * addresses, as with unified addressing; the kind that callers pass is not needed. */
#include "memory.h"
#include "runtime.h"

#include <string.h>

static int copy(void *to, const void *from, size_t n, void *stream)
{
	if (n && (!to || !from))
		return vgpu_result(VGPU_INVALID_VALUE);
	vgpu_activate(vgpu_current_device());
	vgpu_capture_work(stream);
	vgpu_copy(to, from, n);
	return VGPU_OK;
}

VGPU_API int cudaMemcpy(void *to, const void *from, size_t n, int kind VGPU_UNUSED)
{
	int error = vgpu_capture_sync_all();
	return error ? vgpu_result(error) : copy(to, from, n, NULL);
}

VGPU_API int cudaMemcpyAsync(void *to, const void *from, size_t n, int kind VGPU_UNUSED, void *stream)
{
	return copy(to, from, n, stream);
}

VGPU_API int cudaMemcpyPeer(void *to, int to_device VGPU_UNUSED, const void *from, int from_device VGPU_UNUSED, size_t n)
{
	return copy(to, from, n, NULL);
}

VGPU_API int cudaMemcpyPeerAsync(void *to, int to_device VGPU_UNUSED, const void *from, int from_device VGPU_UNUSED, size_t n, void *stream)
{
	return copy(to, from, n, stream);
}

/* Rows are copied when the whole is small. A large whole that lands on the
 * device leaves zeros from its first to its last byte, gaps included. */
static int copy_rows(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height, void *stream)
{
	if (width > to_pitch || width > from_pitch || (height && to_pitch > SIZE_MAX / 2 / height))
		return vgpu_result(VGPU_INVALID_VALUE);
	if (!width || !height)
		return VGPU_OK;
	vgpu_activate(vgpu_current_device());
	vgpu_capture_work(stream);
	if (vgpu_on_device(to) && width * height > VGPU_SMALL_BYTES) {
		vgpu_space_zero((uintptr_t)to, (height - 1) * to_pitch + width);
		return VGPU_OK;
	}
	for (size_t row = 0; row < height; row++) {
		char *target = (char *)to + row * to_pitch;
		if (vgpu_on_device(from) && width * height > VGPU_SMALL_BYTES)
			memset(target, 0, width);
		else
			vgpu_copy(target, (const char *)from + row * from_pitch, width);
	}
	return VGPU_OK;
}

VGPU_API int cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height, int kind VGPU_UNUSED)
{
	int error = vgpu_capture_sync_all();
	return error ? vgpu_result(error) : copy_rows(to, to_pitch, from, from_pitch, width, height, NULL);
}

VGPU_API int cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height, int kind VGPU_UNUSED, void *stream)
{
	return copy_rows(to, to_pitch, from, from_pitch, width, height, stream);
}

/* cudaMemcpy3DParms, without the arrays, which nobody can make here. */
struct pitched {
	char *p;
	size_t pitch, width, height;
};
struct box {
	void *from_array;
	size_t from_position[3];
	struct pitched from;
	void *to_array;
	size_t to_position[3];
	struct pitched to;
	size_t extent[3];
	int kind;
};
_Static_assert(sizeof(struct box) == 160, "cudaMemcpy3DParms");

static char *corner(const struct pitched *p, const size_t at[3])
{
	return p->p + at[2] * p->height * p->pitch + at[1] * p->pitch + at[0];
}

static int copy_box(const struct box *b, void *stream, const char *name)
{
	if (b->from_array || b->to_array)
		return vgpu_result(vgpu_refuse(VGPU_RUNTIME, name));
	for (size_t z = 0; z < b->extent[2]; z++) {
		int error = copy_rows(corner(&b->to, b->to_position) + z * b->to.pitch * b->to.height, b->to.pitch,
			corner(&b->from, b->from_position) + z * b->from.pitch * b->from.height, b->from.pitch,
			b->extent[0], b->extent[1], stream);
		if (error)
			return error;
	}
	return VGPU_OK;
}

VGPU_API int cudaMemcpy3D(const struct box *b) { return copy_box(b, NULL, __func__); }
VGPU_API int cudaMemcpy3DAsync(const struct box *b, void *stream) { return copy_box(b, stream, __func__); }

/* cudaMemcpyBatchAsync lost its index of the failing copy in CUDA 13. */
#if PLIMSOLL_CUDA_MAJOR >= 13
VGPU_API int cudaMemcpyBatchAsync(const void **to, const void **from, const size_t *n, size_t count, void *attributes VGPU_UNUSED, size_t *indices VGPU_UNUSED, size_t attribute_count VGPU_UNUSED, void *stream)
#else
VGPU_API int cudaMemcpyBatchAsync(void **to, void **from, size_t *n, size_t count, void *attributes VGPU_UNUSED, size_t *indices VGPU_UNUSED, size_t attribute_count VGPU_UNUSED, size_t *failed VGPU_UNUSED, void *stream)
#endif
{
	for (size_t i = 0; i < count; i++) {
		int error = copy((void *)to[i], from[i], n[i], stream);
		if (error)
			return error;
	}
	return VGPU_OK;
}

static int fill(void *p, int byte, size_t n, void *stream)
{
	if (n && !p)
		return vgpu_result(VGPU_INVALID_VALUE);
	vgpu_activate(vgpu_current_device());
	vgpu_capture_work(stream);
	vgpu_fill(p, byte, n);
	return VGPU_OK;
}

VGPU_API int cudaMemset(void *p, int byte, size_t n) { return fill(p, byte, n, NULL); }
VGPU_API int cudaMemsetAsync(void *p, int byte, size_t n, void *stream) { return fill(p, byte, n, stream); }

static int fill_rows(void *p, size_t pitch, int byte, size_t width, size_t height, void *stream)
{
	if (width > pitch || (height && pitch > SIZE_MAX / 2 / height))
		return vgpu_result(VGPU_INVALID_VALUE);
	if (!width || !height)
		return VGPU_OK;
	if (width * height > VGPU_SMALL_BYTES)
		return fill(p, byte, (height - 1) * pitch + width, stream);
	vgpu_capture_work(stream);
	for (size_t row = 0; row < height; row++)
		vgpu_fill((char *)p + row * pitch, byte, width);
	return VGPU_OK;
}

VGPU_API int cudaMemset2D(void *p, size_t pitch, int byte, size_t width, size_t height) { return fill_rows(p, pitch, byte, width, height, NULL); }
VGPU_API int cudaMemset2DAsync(void *p, size_t pitch, int byte, size_t width, size_t height, void *stream) { return fill_rows(p, pitch, byte, width, height, stream); }
