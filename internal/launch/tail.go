package launch

import (
	"io"
	"sync"
)

// A Tail passes on what is written to it and keeps the end.
type Tail struct {
	to   io.Writer
	mu   sync.Mutex
	ring []byte
	at   int
	full bool
}

// NewTail keeps the last size bytes of what goes to w.
func NewTail(w io.Writer, size int) *Tail { return &Tail{to: w, ring: make([]byte, size)} }

// Write passes p on.
func (t *Tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	for rest := p; len(rest) > 0; {
		n := copy(t.ring[t.at:], rest)
		rest = rest[n:]
		t.at += n
		if t.at == len(t.ring) {
			t.at, t.full = 0, true
		}
	}
	t.mu.Unlock()
	return t.to.Write(p)
}

// Bytes is what was kept, from the first whole line on if something was dropped.
func (t *Tail) Bytes() []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.full {
		return append([]byte(nil), t.ring[:t.at]...)
	}
	out := append(append([]byte(nil), t.ring[t.at:]...), t.ring[:t.at]...)
	for i, c := range out {
		if c == '\n' {
			return out[i+1:]
		}
	}
	return out
}
