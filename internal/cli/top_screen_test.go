package cli

import (
	"context"
	"io"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
)

// A terminal is one that a test looks at: what is written to it is shown by an
// emulator, which also answers what it is asked.
type terminal struct {
	t      *testing.T
	tty    *os.File // the program's side
	pty    *os.File // ours
	mu     sync.Mutex
	screen *vt.Emulator
	raw    strings.Builder
}

func newTerminal(t *testing.T, width, height int) *terminal {
	t.Helper()
	ours, tty, err := pty.Open()
	if err != nil {
		t.Skip("there are no terminals here:", err)
	}
	term := &terminal{t: t, tty: tty, pty: ours, screen: vt.NewEmulator(width, height)}
	term.resize(width, height)
	go io.Copy(ours, term.screen) //nolint:errcheck // ends with the emulator
	go func() {
		buf := make([]byte, 1<<16)
		for {
			n, err := ours.Read(buf)
			if err != nil {
				return
			}
			term.mu.Lock()
			term.raw.Write(buf[:n])
			term.screen.Write(buf[:n]) //nolint:errcheck // an emulator in memory
			term.mu.Unlock()
		}
	}()
	t.Cleanup(func() {
		tty.Close()
		ours.Close()
		if in, ok := term.screen.InputPipe().(io.Closer); ok {
			in.Close() //nolint:errcheck // a pipe in memory; the emulator's own Close races with who reads it
		}
	})
	return term
}

func (t *terminal) resize(width, height int) {
	t.mu.Lock()
	t.screen.Resize(width, height)
	t.mu.Unlock()
	if err := pty.Setsize(t.pty, &pty.Winsize{Rows: uint16(height), Cols: uint16(width)}); err != nil {
		t.t.Fatal(err)
	}
	// The kernel tells only those whose terminal it is.
	syscall.Kill(os.Getpid(), syscall.SIGWINCH) //nolint:errcheck // this process is there
}

func (t *terminal) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var b strings.Builder
	for y := range t.screen.Height() {
		for x := range t.screen.Width() {
			if cell := t.screen.CellAt(x, y); cell != nil {
				b.WriteString(cell.Content)
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// see waits until all of the words are on the screen.
func (t *terminal) see(words ...string) {
	t.t.Helper()
	deadline := time.Now().Add(30 * time.Second)
	for {
		text, missing := t.text(), ""
		for _, w := range words {
			if !strings.Contains(text, w) {
				missing = w
			}
		}
		if missing == "" {
			return
		}
		if time.Now().After(deadline) {
			t.t.Fatalf("%q is not seen on\n%s", missing, text)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func (t *terminal) typed(keys string) {
	if _, err := t.pty.WriteString(keys); err != nil {
		t.t.Fatal(err)
	}
}

// leave types q, which ends the screen in order.
func (t *terminal) leave(exit <-chan Exit) {
	t.t.Helper()
	t.typed("q")
	select {
	case got := <-exit:
		if got != ExitOK {
			t.t.Errorf("exit %d", got)
		}
	case <-time.After(20 * time.Second):
		t.t.Fatalf("q does not leave\n%s", t.text())
	}
}

// A session at a real terminal: keys, the mouse, sizes that change all the time, and
// a terminal that is left as it was.
func TestTopOnATerminal(t *testing.T) {
	term := newTerminal(t, 120, 40)
	stdio := IO{
		In: term.tty, Out: term.tty, Err: io.Discard, OutWidth: 120, Now: time.Now,
		Getenv: func(name string) string { return map[string]string{"TERM": "xterm-256color", "LANG": "C.UTF-8"}[name] },
	}
	exit := make(chan Exit, 1)
	go func() { exit <- Run(t.Context(), []string{"top", "--demo", "--interval", "200ms"}, stdio) }()
	term.see("plimsoll top", "GPU 4 does not answer", "GPU 5 is lost", "python -m ipyker", "● live")
	term.typed("t")
	term.see("pt_data_worker", "└")
	term.typed("/user=bob\r")
	term.see("filter user=bob", "python f")
	term.typed("\x1b")
	term.see("python -m ipyker")
	term.typed("?")
	term.see("keys and signs")
	term.typed("x\r")
	term.see("family", "GPU memory")
	term.typed("\x1b")
	term.see("/ filter")
	term.typed("K")
	term.see("cannot be sent a signal")    // nothing of the demo is a process
	term.typed("\x1b[<0;8;9M\x1b[<0;8;9m") // a click on the second GPU
	term.see("GPU 1 busy")
	for i := range 60 {
		term.resize(1+(i*37)%200, 1+(i*13)%70)
	}
	term.resize(80, 24)
	term.see("plimsoll top", "GPU 4 does not answer")
	term.leave(exit)
	time.Sleep(100 * time.Millisecond)
	term.mu.Lock()
	defer term.mu.Unlock()
	for _, pair := range [][2]string{{"\x1b[?1049h", "\x1b[?1049l"}, {"\x1b[?25l", "\x1b[?25h"}, {"\x1b[?1002h", "\x1b[?1002l"}} {
		if raw := term.raw.String(); strings.LastIndex(raw, pair[1]) < strings.LastIndex(raw, pair[0]) {
			t.Errorf("%q is not undone", pair[0])
		}
	}
}

// An interrupt from outside gives the terminal back, too.
func TestTopIsInterrupted(t *testing.T) {
	term := newTerminal(t, 80, 24)
	stdio := IO{In: term.tty, Out: term.tty, Err: io.Discard, OutWidth: 80, Now: time.Now, Getenv: func(name string) string {
		return map[string]string{"TERM": "xterm", "NO_COLOR": "1", "LC_ALL": "C"}[name]
	}}
	ctx, cancel := context.WithCancel(t.Context())
	exit := make(chan Exit, 1)
	go func() { exit <- Run(ctx, []string{"top", "--demo"}, stdio) }()
	term.see("plimsoll top", "GPU 4 does not answer")
	if text := term.text(); strings.ContainsFunc(text, func(r rune) bool { return r > '~' }) {
		t.Errorf("with LC_ALL=C there is more than ASCII:\n%s", text)
	}
	cancel()
	select {
	case got := <-exit:
		if got != ExitInterrupted {
			t.Errorf("exit %d", got)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("it goes on")
	}
	time.Sleep(100 * time.Millisecond)
	term.mu.Lock()
	defer term.mu.Unlock()
	if raw := term.raw.String(); !strings.Contains(raw, "\x1b[?1049l") || strings.Contains(raw, "38;") {
		t.Errorf("the terminal is not given back, or got colours: %q", raw[max(0, len(raw)-200):])
	}
}
