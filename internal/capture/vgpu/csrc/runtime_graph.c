/* runtime_graph.c: CUDA graphs as PyTorch uses them: captured, made executable,
 * launched. Launching does nothing, which is what the kernels do anyway. What
 * edits or reads single nodes is refused by name. */
#include "graph.h"
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

/* The dependencies of what comes next are nodes, of which only the number is
 * kept: none are named. */
static int info(void *stream, int *status, unsigned long long *id, void **graph, const void **dependencies, const void **edges, size_t *count)
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
	if (edges)
		*edges = NULL;
	if (count)
		*count = 0;
	return VGPU_OK;
}

#if PLIMSOLL_CUDA_MAJOR >= 13
VGPU_API int cudaStreamGetCaptureInfo(void *stream, int *status, unsigned long long *id, void **graph, const void **dependencies, const void **edges, size_t *count)
{
	return info(stream, status, id, graph, dependencies, edges, count);
}
#else
VGPU_API int cudaStreamGetCaptureInfo(void *stream, int *status, unsigned long long *id)
{
	return info(stream, status, id, NULL, NULL, NULL, NULL);
}
#endif

VGPU_API int cudaStreamGetCaptureInfo_v2(void *stream, int *status, unsigned long long *id, void **graph, const void **dependencies, size_t *count)
{
	return info(stream, status, id, graph, dependencies, NULL, count);
}

VGPU_API int cudaStreamGetCaptureInfo_v3(void *stream, int *status, unsigned long long *id, void **graph, const void **dependencies, const void **edges, size_t *count)
{
	return info(stream, status, id, graph, dependencies, edges, count);
}

/* --- graphs -------------------------------------------------------------- */

VGPU_API int cudaGraphCreate(void **graph, unsigned flags VGPU_UNUSED)
{
	*graph = vgpu_graph_new();
	return vgpu_result(*graph ? VGPU_OK : VGPU_OUT_OF_MEMORY);
}

static int destroy(void *graph)
{
	struct vgpu_graph *g = vgpu_graph_of(graph);
	if (!g)
		return vgpu_result(VGPU_INVALID_VALUE);
	vgpu_graph_free(g);
	return VGPU_OK;
}

VGPU_API int cudaGraphDestroy(void *graph) { return destroy(graph); }
VGPU_API int cudaGraphExecDestroy(void *executable) { return destroy(executable); }

static int instantiate(void **executable, void *graph)
{
	struct vgpu_graph *g = vgpu_graph_of(graph);
	*executable = g ? vgpu_graph_copy(g) : NULL;
	return vgpu_result(!g ? VGPU_INVALID_VALUE : *executable ? VGPU_OK : VGPU_OUT_OF_MEMORY);
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

/* Launched on a capturing stream, a graph becomes one node of the new one. */
VGPU_API int cudaGraphLaunch(void *executable, void *stream)
{
	if (!vgpu_graph_of(executable) || !vgpu_stream_valid(stream))
		return vgpu_result(VGPU_INVALID_HANDLE);
	vgpu_capture_work(stream);
	return VGPU_OK;
}

/* With no array to fill, how many nodes there are. */
VGPU_API int cudaGraphGetNodes(void *graph, void **nodes, size_t *count)
{
	struct vgpu_graph *g = vgpu_graph_of(graph);
	if (!g)
		return vgpu_result(VGPU_INVALID_VALUE);
	if (nodes && g->nodes)
		return vgpu_result(vgpu_refuse(VGPU_RUNTIME, __func__));
	*count = g->nodes;
	return VGPU_OK;
}

/* --- objects that live as long as graphs ---------------------------------- */

VGPU_API int cudaUserObjectCreate(void **object, void *p, void (*destroy_it)(void *), unsigned references, unsigned flags VGPU_UNUSED)
{
	struct vgpu_object *o = malloc(sizeof *o);
	if (!o)
		return vgpu_result(VGPU_OUT_OF_MEMORY);
	*o = (struct vgpu_object){(int)references, p, destroy_it};
	*object = o;
	return VGPU_OK;
}

VGPU_API int cudaUserObjectRetain(void *object, unsigned count)
{
	__atomic_add_fetch(&((struct vgpu_object *)object)->references, (int)count, __ATOMIC_RELAXED);
	return VGPU_OK;
}

VGPU_API int cudaUserObjectRelease(void *object, unsigned count)
{
	vgpu_object_release(object, (int)count);
	return VGPU_OK;
}

#define MOVE 1u /* the caller's references become the graph's */

VGPU_API int cudaGraphRetainUserObject(void *graph, void *object, unsigned count, unsigned flags)
{
	struct vgpu_graph *g = vgpu_graph_of(graph);
	if (!g)
		return vgpu_result(VGPU_INVALID_VALUE);
	if (!(flags & MOVE))
		cudaUserObjectRetain(object, count);
	return vgpu_result(vgpu_graph_hold(g, object, (int)count) ? VGPU_OK : VGPU_OUT_OF_MEMORY);
}

VGPU_API int cudaGraphReleaseUserObject(void *graph, void *object, unsigned count)
{
	struct vgpu_graph *g = vgpu_graph_of(graph);
	if (g)
		vgpu_graph_let_go(g, object, (int)count);
	return vgpu_result(g ? VGPU_OK : VGPU_INVALID_VALUE);
}

/* No graph holds memory of its own: attributes of graph memory are zero. */
VGPU_API int cudaDeviceGetGraphMemAttribute(int device VGPU_UNUSED, int attribute VGPU_UNUSED, void *value)
{
	*(uint64_t *)value = 0;
	return VGPU_OK;
}
