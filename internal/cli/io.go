package cli

import (
	"io"
	"os"
	"time"

	"golang.org/x/term"
)

// IO is what a command may touch of the process that runs it. Answers go to
// Out and everything else to Err; a command never reaches around it.
type IO struct {
	In  io.Reader
	Out io.Writer
	Err io.Writer

	// OutWidth and ErrWidth are columns of the terminal, 0 when the stream is
	// no terminal: then nothing is coloured and no progress line is drawn.
	OutWidth int
	ErrWidth int

	Getenv func(name string) string
	Now    func() time.Time
}

// ProcessIO returns the streams, environment and clock of this process.
func ProcessIO() IO {
	return IO{
		In:       os.Stdin,
		Out:      os.Stdout,
		Err:      os.Stderr,
		OutWidth: terminalWidth(os.Stdout),
		ErrWidth: terminalWidth(os.Stderr),
		Getenv:   os.Getenv,
		Now:      time.Now,
	}
}

// Colour reports whether Out may be coloured: it is a terminal and the user
// has not set NO_COLOR (https://no-color.org) or TERM=dumb.
func (s IO) Colour() bool {
	return s.OutWidth > 0 && s.Getenv("NO_COLOR") == "" && s.Getenv("TERM") != "dumb"
}

// Interactive reports whether a screen can be shown: In and Out are terminals, and
// TERM names one that can move its cursor.
func (s IO) Interactive() bool {
	in, ok := s.In.(*os.File)
	kind := s.Getenv("TERM")
	return ok && term.IsTerminal(int(in.Fd())) && s.OutWidth > 0 && kind != "" && kind != "dumb"
}

// Progress reports whether a progress line may be drawn on Err.
func (s IO) Progress() bool {
	return s.ErrWidth > 0 && s.Getenv("TERM") != "dumb"
}

// terminalWidth is the number of columns of f, 0 when it is no terminal, 80
// when it is one that does not tell its size.
func terminalWidth(f *os.File) int {
	fd := int(f.Fd())
	if !term.IsTerminal(fd) {
		return 0
	}
	width, _, err := term.GetSize(fd)
	if err != nil || width <= 0 {
		return 80
	}
	return width
}
