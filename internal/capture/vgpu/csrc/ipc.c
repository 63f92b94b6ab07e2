/* ipc.c: handles of memory that go from process to process. Device memory is
 * private to a process here, so a handle is good in the process that made it
 * (PyTorch's own round trips) and refused by name in another. */
#include "layouts.h"
#include "memory.h"
#include "runtime.h"

#include <string.h>
#include <unistd.h>

struct handle {
	char mark[8];
	int64_t pid;
	uint64_t start, id;
};
static const char mark[8] = "plimsoll";
_Static_assert(sizeof(struct handle) <= sizeof(struct vgpu_ipc_handle), "an IPC handle has room");

VGPU_API int cudaIpcGetMemHandle(struct vgpu_ipc_handle *out, void *p)
{
	struct vgpu_range r;
	struct handle h = {.pid = getpid()};
	if (!vgpu_space_find((uintptr_t)p, &r))
		return vgpu_result(VGPU_INVALID_VALUE);
	memcpy(h.mark, mark, sizeof mark);
	h.start = r.start;
	h.id = r.id;
	memset(out, 0, sizeof *out);
	memcpy(out, &h, sizeof h);
	return VGPU_OK;
}

VGPU_API int cudaIpcOpenMemHandle(void **p, struct vgpu_ipc_handle in, unsigned flags VGPU_UNUSED)
{
	struct vgpu_range r;
	struct handle h;
	memcpy(&h, &in, sizeof h);
	if (memcmp(h.mark, mark, sizeof mark) != 0)
		return vgpu_result(VGPU_INVALID_VALUE);
	if (h.pid != getpid()) {
		vgpu_note("GPU memory was sent from one process to another (CUDA IPC), which the virtual GPU cannot do");
		return vgpu_result(vgpu_refuse(VGPU_RUNTIME, __func__));
	}
	if (!vgpu_space_find((uintptr_t)h.start, &r) || r.id != h.id)
		return vgpu_result(VGPU_INVALID_VALUE);
	*p = (void *)r.start;
	return VGPU_OK;
}

/* An event's handle need not work elsewhere: every event is complete. */
VGPU_API int cudaIpcGetEventHandle(struct vgpu_ipc_handle *out, void *event VGPU_UNUSED)
{
	memset(out, 0, sizeof *out);
	memcpy(out, mark, sizeof mark);
	return VGPU_OK;
}

int cudaEventCreateWithFlags(void **event, unsigned flags);

VGPU_API int cudaIpcOpenEventHandle(void **event, struct vgpu_ipc_handle in)
{
	if (memcmp(&in, mark, sizeof mark) != 0)
		return vgpu_result(VGPU_INVALID_VALUE);
	return cudaEventCreateWithFlags(event, 0);
}
