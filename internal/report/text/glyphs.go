package text

// glyphs are the drawing characters of one character set.
type glyphs struct {
	ascii    bool
	ellipsis string
	// eighths fill a cell from the left, eighths[0] empty, the last full.
	eighths []string
	// levels fill a cell from the bottom, lowest first; none is empty.
	levels []string
	hole   string // in place of a level that is not known
	shade  string // an uncertain part of a bar
	rest   string // the part of a gauge that is free
	limit  string // the capacity inside a gauge
	rule   string // under a step in the timeline
	corner string // where a step begins
}

var unicodeGlyphs = glyphs{
	ellipsis: "…",
	eighths:  []string{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"},
	levels:   []string{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"},
	hole:     "·",
	shade:    "▒",
	rest:     "░",
	limit:    "┃",
	rule:     "─",
	corner:   "╰",
}

var asciiGlyphs = glyphs{
	ascii:    true,
	ellipsis: "...",
	eighths:  []string{"", "#"},
	levels:   []string{"_", ".", "-", "=", "+", "*", "#", "@"},
	hole:     ":",
	shade:    "?",
	rest:     ".",
	limit:    "|",
	rule:     "-",
	corner:   "'",
}

// A style turns ANSI colours on. The zero value leaves text alone.
type style struct{ on bool }

var ansiStyle = style{on: true}

// The colours, as parameters of SGR (ECMA-48 8.3.117).
const (
	bold   = "1"
	dim    = "2"
	red    = "1;31"
	green  = "1;32"
	yellow = "1;33"
	cyan   = "36"
)

func (s style) paint(sgr, text string) string {
	if !s.on || text == "" || sgr == "" {
		return text
	}
	return "\x1b[" + sgr + "m" + text + "\x1b[0m"
}
