package tui

import (
	"io"
	"sync"
)

// Sequences of terminals, as xterm has them (ctlseqs): the other screen, the
// cursor, the mouse with its buttons in SGR's form, frames that are shown at once
// (2026), and what colour the ground has (OSC 11).
const (
	otherScreen  = "\x1b[?1049h"
	firstScreen  = "\x1b[?1049l"
	hideCursor   = "\x1b[?25l"
	showCursor   = "\x1b[?25h"
	mouseOn      = "\x1b[?1002h\x1b[?1006h"
	mouseOff     = "\x1b[?1002l\x1b[?1006l"
	beginFrame   = "\x1b[?2026h"
	endFrame     = "\x1b[?2026l"
	askGround    = "\x1b]11;?\x07"
	resetColours = "\x1b[m"
	title        = "\x1b]2;plimsoll top\x07"
)

// A painter writes to the terminal beside the loop, so that one that is slow, or
// stopped with Ctrl-S, does not stop the loop.
type painter struct {
	out    io.Writer
	queue  chan []byte
	done   sync.WaitGroup
	broken error // what a write came to; read only when done
}

func newPainter(out io.Writer) *painter {
	p := &painter{out: out, queue: make(chan []byte, 8)}
	p.done.Go(func() {
		for b := range p.queue {
			if p.broken == nil {
				_, p.broken = p.out.Write(b)
			}
		}
	})
	return p
}

// idle reports whether all that was sent has been taken, so that a frame is not
// made to be out of date when it is written.
func (p *painter) idle() bool { return len(p.queue) == 0 }

func (p *painter) send(b []byte) { p.queue <- b }

// enter turns to the other screen.
func (p *painter) enter(mouse bool) {
	s := otherScreen + hideCursor + title + askGround
	if mouse {
		s += mouseOn
	}
	p.send([]byte(s))
}

// leave gives the terminal back as it was, and waits until that is written.
func (p *painter) leave() {
	p.send([]byte(away))
	close(p.queue)
	p.done.Wait()
}

// away undoes what enter does.
const away = resetColours + mouseOff + showCursor + firstScreen
