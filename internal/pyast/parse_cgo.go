//go:build cgo

package pyast

// tree-sitter's own Go binding asks C once or more for each property of each
// node, and lets C call back into Go for each allocation; both together cost
// more than parsing. flatten therefore copies a whole tree in one call, and the
// allocator is set back to C's. The declarations repeat those of
// tree_sitter/api.h (version 15 of the interface), whose folder cgo cannot name;
// they are weak, because the code they name is in the binding's package.

/*
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

typedef struct { uint32_t context[4]; const void *id; const void *tree; } TSNode;
typedef struct { const void *tree; const void *id; uint32_t context[3]; } TSTreeCursor;

#define WEAK extern __attribute__((weak))
WEAK void ts_set_allocator(void *(*)(size_t), void *(*)(size_t, size_t), void *(*)(void *, size_t), void (*)(void *));
WEAK TSTreeCursor ts_tree_cursor_new(TSNode);
WEAK void ts_tree_cursor_delete(TSTreeCursor *);
WEAK TSNode ts_tree_cursor_current_node(const TSTreeCursor *);
WEAK uint16_t ts_tree_cursor_current_field_id(const TSTreeCursor *);
WEAK bool ts_tree_cursor_goto_first_child(TSTreeCursor *);
WEAK bool ts_tree_cursor_goto_next_sibling(TSTreeCursor *);
WEAK bool ts_tree_cursor_goto_parent(TSTreeCursor *);
WEAK uint16_t ts_node_symbol(TSNode);
WEAK uint32_t ts_node_start_byte(TSNode);
WEAK uint32_t ts_node_end_byte(TSNode);
WEAK bool ts_node_is_named(TSNode);
WEAK bool ts_node_is_missing(TSNode);
WEAK uint32_t ts_node_descendant_count(TSNode);

typedef struct { uint16_t kind, field, flags; int32_t start, end, first, next; } flat;

static void plimsoll_allocator(void) { ts_set_allocator(NULL, NULL, NULL, NULL); }

static uint32_t plimsoll_count(TSNode n) { return ts_node_descendant_count(n); }

static void put(flat *f, const TSTreeCursor *c) {
	TSNode n = ts_tree_cursor_current_node(c);
	f->kind = ts_node_symbol(n);
	f->field = ts_tree_cursor_current_field_id(c);
	f->flags = (ts_node_is_named(n) ? 1 : 0) | (ts_node_is_missing(n) ? 2 : 0) | (f->kind == 0xFFFF ? 4 : 0);
	f->start = ts_node_start_byte(n);
	f->end = ts_node_end_byte(n);
	f->first = f->next = 0;
}

// Fills out, which has room for cap nodes, in preorder; next doubles as the
// link to the parent until the node's next sibling is known. Returns how many.
static uint32_t plimsoll_flatten(TSNode root, flat *out, uint32_t cap) {
	TSTreeCursor c = ts_tree_cursor_new(root);
	int32_t *parent = malloc(sizeof(int32_t) * (size_t)cap);
	uint32_t n = 0;
	int32_t at = 0;
	if (cap == 0 || parent == NULL) goto done;
	put(&out[n++], &c);
	parent[0] = -1;
	for (;;) {
		if (n < cap && ts_tree_cursor_goto_first_child(&c)) {
			put(&out[n], &c);
			out[at].first = n;
			parent[n] = at;
			at = n++;
			continue;
		}
		bool more;
		while (!(more = n < cap && ts_tree_cursor_goto_next_sibling(&c))) {
			at = parent[at];
			if (at < 0 || !ts_tree_cursor_goto_parent(&c)) goto done;
		}
		put(&out[n], &c);
		out[at].next = n;
		parent[n] = parent[at];
		at = n++;
	}
done:
	free(parent);
	ts_tree_cursor_delete(&c);
	return n;
}
*/
import "C"

import (
	"errors"
	"sync"
	"unsafe"

	sitter "github.com/tree-sitter/go-tree-sitter"
	python "github.com/tree-sitter/tree-sitter-python/bindings/go"
)

type grammar struct {
	language *sitter.Language
	kinds    []string
	fields   []string
}

var load = sync.OnceValue(func() *grammar {
	C.plimsoll_allocator()
	g := &grammar{language: sitter.NewLanguage(python.Language())}
	for id := range g.language.NodeKindCount() {
		g.kinds = append(g.kinds, g.language.NodeKindForId(uint16(id)))
	}
	g.kinds = append(g.kinds, "ERROR") // whose own id is 65535
	for id := range g.language.FieldCount() + 1 {
		g.fields = append(g.fields, g.language.FieldNameForId(uint16(id)))
	}
	return g
})

var parsers = sync.Pool{New: func() any {
	p := sitter.NewParser()
	if err := p.SetLanguage(load().language); err != nil {
		return err
	}
	return p
}}

func kinds() []string { return load().kinds }

func fields() []string { return load().fields }

// parseTree reads src, which must be UTF-8.
func parseTree(src []byte) (*cst, error) {
	g := load()
	got := parsers.Get()
	parser, ok := got.(*sitter.Parser)
	if !ok {
		return nil, got.(error)
	}
	defer parsers.Put(parser)
	parser.Reset()
	tree := parser.Parse(src, nil)
	if tree == nil {
		return nil, errors.New("the parser gave up")
	}
	defer tree.Close()
	root := *(*C.TSNode)(unsafe.Pointer(tree.RootNode()))
	t := &cst{kinds: g.kinds, field: g.fields, nodes: make([]cstNode, C.plimsoll_count(root))}
	n := C.plimsoll_flatten(root, (*C.flat)(unsafe.Pointer(unsafe.SliceData(t.nodes))), C.uint32_t(len(t.nodes)))
	t.nodes = t.nodes[:n]
	for i := range t.nodes {
		if t.nodes[i].flags&flagError != 0 {
			t.nodes[i].kind = uint16(len(t.kinds) - 1)
		}
	}
	return t, nil
}
