package formula

import (
	"os"
	"testing"

	"github.com/plimsoll-dev/plimsoll/internal/capture/child"
)

// TestMain lets the test binary supervise the scripts that it runs.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == child.Verb {
		os.Exit(child.Supervise())
	}
	os.Exit(m.Run())
}
