package vgpu

import (
	"context"
	"os"
	"testing"
)

// coreContext is for what is built once for several tests.
var coreContext = context.Background()

func TestMain(m *testing.M) {
	code := m.Run()
	if dir, _ := core(); dir != "" {
		_ = os.RemoveAll(dir)
	}
	os.Exit(code)
}
