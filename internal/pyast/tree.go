package pyast

import "errors"

// ErrNoCgo is what Parse returns in a build without cgo.
var ErrNoCgo = errors.New("lint needs cgo: this binary was built with CGO_ENABLED=0, build it with a C compiler")

// A cst is a concrete syntax tree in one array, in preorder.
type cst struct {
	nodes []cstNode
	kinds []string // kind names by id
	field []string // field names by id
}

// A cstNode has the layout of the C struct flat.
type cstNode struct {
	kind       uint16
	field      uint16
	flags      uint16
	start, end int32
	first      int32 // index of the first child, or 0
	next       int32 // index of the next sibling, or 0
}

const (
	flagNamed = 1 << iota
	flagMissing
	flagError
)
