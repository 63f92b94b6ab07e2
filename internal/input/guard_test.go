package input

import (
	"errors"
	"io"
	"strings"
	"testing"
)

func TestGuard(t *testing.T) {
	t.Parallel()
	g := &Guard{Src: strings.NewReader("one two"), Left: 3}
	buf := make([]byte, 3)
	if n, err := g.Read(buf); n != 3 || err != nil {
		t.Fatalf("%d bytes, %v", n, err)
	}
	if _, err := g.Read(buf); !errors.Is(err, ErrLarge) {
		t.Errorf("after all that was left: %v", err)
	}
	g.Left = 100
	if rest, err := io.ReadAll(g); string(rest) != " two" || err != nil {
		t.Errorf("the next value is %q, %v", rest, err)
	}
}
