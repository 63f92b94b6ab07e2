//go:build !cgo

package pyast

func parseTree([]byte) (*cst, error) { return nil, ErrNoCgo }

func kinds() []string { return nil }

func fields() []string { return nil }
