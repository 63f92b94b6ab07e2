/* driver_graph.c: the driver's side of capturing and launching graphs. */
#include "runtime.h"

int cudaStreamGetCaptureInfo_v2(void *stream, int *status, unsigned long long *id, void **graph, const void **dependencies, size_t *count);
int cudaStreamGetCaptureInfo_v3(void *stream, int *status, unsigned long long *id, void **graph, const void **dependencies, const void **edges, size_t *count);
int cudaGraphCreate(void **graph, unsigned flags);
int cudaGraphDestroy(void *graph);
int cudaGraphExecDestroy(void *executable);
int cudaGraphInstantiateWithFlags(void **executable, void *graph, unsigned long long flags);
int cudaGraphLaunch(void *executable, void *stream);
int cudaGraphGetNodes(void *graph, void **nodes, size_t *count);
int cudaUserObjectCreate(void **object, void *p, void (*destroy)(void *), unsigned references, unsigned flags);
int cudaUserObjectRetain(void *object, unsigned count);
int cudaUserObjectRelease(void *object, unsigned count);
int cudaGraphRetainUserObject(void *graph, void *object, unsigned count, unsigned flags);
int cudaGraphReleaseUserObject(void *graph, void *object, unsigned count);
int cudaLaunchHostFunc(void *stream, void (*function)(void *), void *data);

VGPU_API int cuStreamBeginCapture_v2(void *stream, int mode) { return vgpu_capture_begin(stream, mode); }
VGPU_API int cuStreamEndCapture(void *stream, void **graph) { return vgpu_capture_end(stream, graph); }

VGPU_API int cuStreamGetCaptureInfo_v2(void *stream, int *status, unsigned long long *id, void **graph, const void **dependencies, size_t *count)
{
	return cudaStreamGetCaptureInfo_v2(stream, status, id, graph, dependencies, count);
}

VGPU_API int cuStreamGetCaptureInfo_v3(void *stream, int *status, unsigned long long *id, void **graph, const void **dependencies, const void **edges, size_t *count)
{
	return cudaStreamGetCaptureInfo_v3(stream, status, id, graph, dependencies, edges, count);
}

VGPU_API int cuGraphCreate(void **graph, unsigned flags) { return cudaGraphCreate(graph, flags); }
VGPU_API int cuGraphDestroy(void *graph) { return cudaGraphDestroy(graph); }
VGPU_API int cuGraphExecDestroy(void *executable) { return cudaGraphExecDestroy(executable); }
VGPU_API int cuGraphInstantiateWithFlags(void **executable, void *graph, unsigned long long flags) { return cudaGraphInstantiateWithFlags(executable, graph, flags); }
VGPU_API int cuGraphLaunch(void *executable, void *stream) { return cudaGraphLaunch(executable, stream); }
VGPU_API int cuGraphGetNodes(void *graph, void **nodes, size_t *count) { return cudaGraphGetNodes(graph, nodes, count); }
VGPU_API int cuUserObjectCreate(void **object, void *p, void (*destroy)(void *), unsigned references, unsigned flags) { return cudaUserObjectCreate(object, p, destroy, references, flags); }
VGPU_API int cuUserObjectRetain(void *object, unsigned count) { return cudaUserObjectRetain(object, count); }
VGPU_API int cuUserObjectRelease(void *object, unsigned count) { return cudaUserObjectRelease(object, count); }
VGPU_API int cuGraphRetainUserObject(void *graph, void *object, unsigned count, unsigned flags) { return cudaGraphRetainUserObject(graph, object, count, flags); }
VGPU_API int cuGraphReleaseUserObject(void *graph, void *object, unsigned count) { return cudaGraphReleaseUserObject(graph, object, count); }
VGPU_API int cuLaunchHostFunc(void *stream, void (*function)(void *), void *data) { return cudaLaunchHostFunc(stream, function, data); }

/* The driver has nothing to say: the callback is kept by nobody. */
VGPU_API int cuLogsRegisterCallback(void *callback VGPU_UNUSED, void *data VGPU_UNUSED, void **handle)
{
	if (handle)
		*handle = vgpu_handle();
	return VGPU_OK;
}
