//go:build !cgo

package pyast

func parseTree([]byte) (*cst, error) { return nil, ErrNoCgo }
