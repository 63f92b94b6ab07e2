/* graph.c: graphs as counts of nodes, and the references they hold. */
#include "graph.h"

#include <stdlib.h>

#define MAGIC 0x67726166u

struct vgpu_graph *vgpu_graph_new(void)
{
	struct vgpu_graph *g = calloc(1, sizeof *g);
	if (g)
		g->magic = MAGIC;
	return g;
}

struct vgpu_graph *vgpu_graph_of(void *handle)
{
	struct vgpu_graph *g = handle;
	return g && g->magic == MAGIC ? g : NULL;
}

struct vgpu_graph *vgpu_graph_copy(const struct vgpu_graph *g)
{
	struct vgpu_graph *copy = vgpu_graph_new();
	if (!copy)
		return NULL;
	copy->nodes = g->nodes;
	for (size_t i = 0; i < g->held_count; i++) {
		struct vgpu_object *object = g->held[i].object;
		__atomic_add_fetch(&object->references, g->held[i].count, __ATOMIC_RELAXED);
		if (!vgpu_graph_hold(copy, object, g->held[i].count)) {
			vgpu_object_release(object, g->held[i].count);
			vgpu_graph_free(copy);
			return NULL;
		}
	}
	return copy;
}

void vgpu_graph_free(struct vgpu_graph *g)
{
	for (size_t i = 0; i < g->held_count; i++)
		vgpu_object_release(g->held[i].object, g->held[i].count);
	free(g->held);
	g->magic = 0;
	free(g);
}

void vgpu_object_release(struct vgpu_object *object, int count)
{
	if (__atomic_sub_fetch(&object->references, count, __ATOMIC_ACQ_REL) > 0)
		return;
	object->destroy(object->p);
	free(object);
}

/* The references are the caller's until this succeeds. */
bool vgpu_graph_hold(struct vgpu_graph *g, struct vgpu_object *object, int count)
{
	void *more = realloc(g->held, (g->held_count + 1) * sizeof *g->held);
	if (!more)
		return false;
	g->held = more;
	g->held[g->held_count].object = object;
	g->held[g->held_count++].count = count;
	return true;
}

void vgpu_graph_let_go(struct vgpu_graph *g, struct vgpu_object *object, int count)
{
	for (size_t i = 0; i < g->held_count; i++) {
		if (g->held[i].object != object || g->held[i].count < count)
			continue;
		g->held[i].count -= count;
		if (!g->held[i].count)
			g->held[i] = g->held[--g->held_count];
		vgpu_object_release(object, count);
		return;
	}
}
