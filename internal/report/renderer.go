package report

import "io"

// A Renderer writes a report in one format. It writes nothing else, keeps no
// state, and returns the writer's error.
type Renderer func(w io.Writer, r *Report, o Options) error

// Options say what the reader's side can show. The zero value is right for a
// file: 80 columns, no colour, UTF-8.
type Options struct {
	// Width is the number of columns, 0 for 80. HTML and JSON ignore it.
	Width int
	// Color allows ANSI colours.
	Color bool
	// ASCII forbids everything outside ASCII.
	ASCII bool
	// Verbose includes the detail sections.
	Verbose bool
}

// OptionsFor reads what a terminal can show from its environment. getenv is
// os.Getenv or a test's; terminal says whether the output is one; width is
// its columns, 0 when not known.
func OptionsFor(getenv func(string) string, terminal bool, width int) Options {
	o := Options{Width: width, ASCII: !utf8Locale(getenv)}
	o.Color = terminal && getenv("NO_COLOR") == "" && getenv("TERM") != "dumb"
	return o
}
