/* runtime_graph.c: CUDA graphs as PyTorch uses them: captured, made executable,
 * launched. A graph is the number of its nodes; launching it does nothing, which
 * is what its kernels do anyway. What edits or reads nodes is refused by name. */
#include "runtime.h"

#include <stdlib.h>

VGPU_API int cudaStreamBeginCapture(void *stream, int mode) { return vgpu_result(vgpu_capture_begin(stream, mode)); }
VGPU_API int cudaStreamEndCapture(void *stream, void **graph) { return vgpu_result(vgpu_capture_end(stream, graph)); }

VGPU_API int cudaStreamIsCapturing(void *stream, int *status)
{
	uint64_t id;
	void *graph;
	*status = vgpu_capture_status(stream, &id, &graph);
	return VGPU_OK;
}

static int info(void *stream, int *status, unsigned long long *id, void **graph, const void **dependencies, size_t *count)
{
	uint64_t number;
	void *g;
	*status = vgpu_capture_status(stream, &number, &g);
	if (id)
		*id = number;
	if (graph)
		*graph = g;
	if (dependencies)
		*dependencies = NULL;
	if (count)
		*count = 0;
	return VGPU_OK;
}

#if PLIMSOLL_CUDA_MAJOR >= 13
VGPU_API int cudaStreamGetCaptureInfo(void *stream, int *status, unsigned long long *id, void **graph, const void **dependencies, const void **edges, size_t *count)
{
	if (edges)
		*edges = NULL;
	return info(stream, status, id, graph, dependencies, count);
}
#else
VGPU_API int cudaStreamGetCaptureInfo(void *stream, int *status, unsigned long long *id)
{
	return info(stream, status, id, NULL, NULL, NULL);
}

VGPU_API int cudaStreamGetCaptureInfo_v2(void *stream, int *status, unsigned long long *id, void **graph, const void **dependencies, size_t *count)
{
	return info(stream, status, id, graph, dependencies, count);
}
#endif

VGPU_API int cudaStreamGetCaptureInfo_v3(void *stream, int *status, unsigned long long *id, void **graph, const void **dependencies, const void **edges, size_t *count)
{
	if (edges)
		*edges = NULL;
	return info(stream, status, id, graph, dependencies, count);
}

/* An executable graph: its own handle, so that it outlives the graph. */
static int instantiate(void **executable, void *graph)
{
	if (!graph)
		return vgpu_result(VGPU_INVALID_VALUE);
	*executable = vgpu_handle();
	return VGPU_OK;
}

#if PLIMSOLL_CUDA_MAJOR >= 12
VGPU_API int cudaGraphInstantiate(void **executable, void *graph, unsigned long long flags VGPU_UNUSED)
{
	return instantiate(executable, graph);
}
#else
VGPU_API int cudaGraphInstantiate(void **executable, void *graph, void **failed, char *log, size_t room)
{
	if (failed)
		*failed = NULL;
	if (log && room)
		*log = 0;
	return instantiate(executable, graph);
}
#endif

VGPU_API int cudaGraphInstantiateWithFlags(void **executable, void *graph, unsigned long long flags VGPU_UNUSED)
{
	return instantiate(executable, graph);
}

VGPU_API int cudaGraphCreate(void **graph, unsigned flags VGPU_UNUSED)
{
	*graph = calloc(1, sizeof(size_t));
	return vgpu_result(*graph ? VGPU_OK : VGPU_OUT_OF_MEMORY);
}

VGPU_API int cudaGraphDestroy(void *graph)
{
	free(graph);
	return VGPU_OK;
}

/* With no array to fill, how many nodes there are; the nodes themselves are not
 * kept and so cannot be given out. */
VGPU_API int cudaGraphGetNodes(void *graph, void **nodes, size_t *count)
{
	if (nodes)
		return vgpu_result(vgpu_refuse(VGPU_RUNTIME, __func__));
	*count = vgpu_graph_nodes(graph);
	return VGPU_OK;
}

VGPU_API int cudaGraphDebugDotPrint(void *graph VGPU_UNUSED, const char *path VGPU_UNUSED, unsigned flags VGPU_UNUSED)
{
	return vgpu_result(vgpu_refuse(VGPU_RUNTIME, __func__));
}

VGPU_API int cudaUserObjectCreate(void **object, void *p VGPU_UNUSED, void (*destroy)(void *) VGPU_UNUSED, unsigned references VGPU_UNUSED, unsigned flags VGPU_UNUSED)
{
	*object = vgpu_handle();
	return VGPU_OK;
}

/* No graph holds memory of its own: attributes of graph memory are zero. */
VGPU_API int cudaDeviceGetGraphMemAttribute(int device VGPU_UNUSED, int attribute VGPU_UNUSED, void *value)
{
	*(uint64_t *)value = 0;
	return VGPU_OK;
}
