package vgpu

import (
	"fmt"
	"os"
	"testing"
)

// sharedCache keeps what is compiled for one test for the others.
var sharedCache string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "plimsoll-test-*")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	sharedCache = dir
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}
