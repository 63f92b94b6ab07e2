/* graph.h: a captured graph and the objects whose lives hang on it. */
#ifndef PLIMSOLL_GRAPH_H
#define PLIMSOLL_GRAPH_H

#include "core.h"

/* Something of the user's that is destroyed when the last graph lets go of it. */
struct vgpu_object {
	int references;
	void *p;
	void (*destroy)(void *);
};

/* A graph or an executable one: how many nodes it has and what it holds. */
struct vgpu_graph {
	uint32_t magic;
	size_t nodes;
	struct {
		struct vgpu_object *object;
		int count;
	} *held;
	size_t held_count;
};

struct vgpu_graph *vgpu_graph_new(void);
/* The graph of a handle, or null when it is none or was destroyed. */
struct vgpu_graph *vgpu_graph_of(void *handle);
/* A graph that holds the same objects: what instantiating makes. */
struct vgpu_graph *vgpu_graph_copy(const struct vgpu_graph *g);
void vgpu_graph_free(struct vgpu_graph *g);

void vgpu_object_release(struct vgpu_object *object, int count);
bool vgpu_graph_hold(struct vgpu_graph *g, struct vgpu_object *object, int count);
void vgpu_graph_let_go(struct vgpu_graph *g, struct vgpu_object *object, int count);

#endif
