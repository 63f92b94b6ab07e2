package cli

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/plimsoll-dev/plimsoll/internal/capture"
)

// A statusLine shows what goes on in one line of the terminal, and nothing
// when stderr is no terminal.
type statusLine struct {
	mu     sync.Mutex
	stdio  IO
	begin  time.Time
	prefix string // which card or trial of several
	shown  int    // columns that are written now
}

func newStatusLine(stdio IO) *statusLine {
	return &statusLine{stdio: stdio, begin: stdio.Now()}
}

// progress shows how far a capture is.
func (s *statusLine) progress(p capture.Progress) {
	text := s.prefix + p.Doing
	if p.Want > 0 {
		text += fmt.Sprintf(", %d of %d steps done", p.Steps, p.Want)
	}
	s.show(text)
}

func (s *statusLine) show(text string) {
	if !s.stdio.Progress() {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	text = fmt.Sprintf("%s  %.0f s", text, s.stdio.Now().Sub(s.begin).Seconds())
	if runes := []rune(text); len(runes) >= s.stdio.ErrWidth {
		text = string(runes[:s.stdio.ErrWidth-1])
	}
	width := len([]rune(text))
	fmt.Fprint(s.stdio.Err, "\r", text, strings.Repeat(" ", max(0, s.shown-width)))
	s.shown = width
}

// clear takes the line away.
func (s *statusLine) clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.shown > 0 {
		fmt.Fprint(s.stdio.Err, "\r", strings.Repeat(" ", s.shown), "\r")
		s.shown = 0
	}
}
