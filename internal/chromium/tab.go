//go:build unix

package chromium

import (
	"errors"
	"os"
	"testing"
)

// A Tab is a browser of a test, which fails when the browser does.
type Tab struct {
	*Browser
	t *testing.T
}

// Test starts a browser that ends with the test: the one that
// PLIMSOLL_CHROMIUM names, else the first in PATH. Without one, and in short
// mode, the test is skipped.
func Test(t *testing.T) Tab {
	t.Helper()
	if testing.Short() {
		t.Skip("a browser takes seconds")
	}
	path, err := Find(os.Getenv("PLIMSOLL_CHROMIUM"))
	if errors.Is(err, ErrMissing) {
		t.Skip(err)
	}
	b, err := Start(t.Context(), path)
	if err != nil {
		t.Skipf("%s does not start: %v", path, err)
	}
	t.Cleanup(b.Close)
	return Tab{b, t}
}

// Must fails the test at an error.
func (b Tab) Must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

// Value runs an expression and returns its value as text.
func (b Tab) Value(expression string) string {
	b.t.Helper()
	got, err := b.Eval(expression)
	b.Must(err)
	return got
}
