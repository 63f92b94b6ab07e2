//go:build !cgo

package main

import "errors"

// packed needs libzstd, which is C.
func packed([]byte) ([]byte, error) {
	return nil, errors.New("packing recordings needs cgo: build with a C compiler and CGO_ENABLED=1")
}
