package pyast

import "encoding/binary"

// A Reading is what the parser said of a file, in some four bytes for each node
// of its tree: for analyses that come back to a file and must not hold its tree
// meanwhile. Parsing anew costs ten times as much.
type Reading struct {
	size  int // of the source
	nodes int
	bytes []byte
}

// Size is how many bytes a reading takes.
func (r *Reading) Size() int { return len(r.bytes) }

// ParseKeeping is Parse, and gives the reading to come back with.
func ParseKeeping(src []byte) (*Module, *Reading, error) {
	t, err := parseTree(src)
	if err != nil {
		return nil, nil, err
	}
	return lower(src, t), t.pack(len(src)), nil
}

// Parse is the tree of the file that the reading is of, without the parser.
// Another file is parsed.
func (r *Reading) Parse(src []byte) (*Module, error) {
	if len(src) != r.size {
		return Parse(src)
	}
	return lower(src, r.unpack()), nil
}

// The first byte of a node holds its flags, whether it has children and a
// sibling after it, and how far behind the end of the node before it begins,
// or, for a first child, behind its parent's beginning; skipFar stands for a
// distance that follows. Then come the kind, the field and the length. A kind
// of 255 or more follows after that byte as two.
const (
	hasChildren = 8 << iota
	hasNext
	skipUnit
	skipFar  = 7 * skipUnit
	manyKind = 255
)

func (t *cst) pack(size int) *Reading {
	out := make([]byte, 0, 4*len(t.nodes))
	parents := []int32{}
	at := int32(0)
	for i := range t.nodes {
		n := &t.nodes[i]
		head := byte(n.flags)
		if n.first != 0 {
			head |= hasChildren
		}
		if n.next != 0 {
			head |= hasNext
		}
		skip := n.start - at
		if 0 <= skip && skip < skipFar/skipUnit {
			out = append(out, head|byte(skip)*skipUnit)
		} else {
			out = binary.AppendVarint(append(out, head|skipFar), int64(skip))
		}
		if n.kind < manyKind {
			out = append(out, byte(n.kind))
		} else {
			out = binary.LittleEndian.AppendUint16(append(out, manyKind), n.kind)
		}
		out = binary.AppendUvarint(append(out, byte(n.field)), uint64(n.end-n.start))
		at, parents = follow(t.nodes, int32(i), parents)
	}
	return &Reading{size, len(t.nodes), append([]byte(nil), out...)}
}

func (r *Reading) unpack() *cst {
	t := &cst{kinds: kinds(), field: fields(), nodes: make([]cstNode, r.nodes)}
	parents := []int32{}
	at, in := int32(0), r.bytes
	for i := range t.nodes {
		n := &t.nodes[i]
		head := in[0]
		in = in[1:]
		skip := int64(head / skipUnit)
		if head >= skipFar {
			var size int
			skip, size = binary.Varint(in)
			in = in[size:]
		}
		n.kind = uint16(in[0])
		if in = in[1:]; n.kind == manyKind {
			n.kind = binary.LittleEndian.Uint16(in)
			in = in[2:]
		}
		n.field = uint16(in[0])
		length, size := binary.Uvarint(in[1:])
		in = in[1+size:]
		n.flags = uint16(head & (hasChildren - 1))
		n.start = at + int32(skip)
		n.end = n.start + int32(length)
		if head&hasChildren != 0 {
			n.first = int32(i) + 1
		}
		if head&hasNext != 0 {
			n.next = -1 // until the node is reached
		}
		at, parents = follow(t.nodes, int32(i), parents)
	}
	return t
}

// follow is where the node after i is measured from, and its parents that are
// still open. It sets the next of the node that the one after i follows.
func follow(nodes []cstNode, i int32, parents []int32) (at int32, open []int32) {
	n := &nodes[i]
	if n.first != 0 {
		return n.start, append(parents, i)
	}
	for n.next == 0 && len(parents) > 0 {
		n = &nodes[parents[len(parents)-1]]
		parents = parents[:len(parents)-1]
	}
	if n.next != 0 {
		n.next = i + 1
	}
	return n.end, parents
}
