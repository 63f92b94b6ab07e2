package cli

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/capture"
	"github.com/plimsoll-dev/plimsoll/tape"
)

// isTape reports whether a file name asks for a recording.
func isTape(name string) bool { return strings.HasSuffix(name, ".tape") }

// numbered puts the card's name into a file name when it is not the first of
// several: "run.tape", "run.a100-sxm4-80gb.tape".
func numbered(name string, card capture.Card, i int) string {
	if name == "" || i == 0 {
		return name
	}
	ext := filepath.Ext(name)
	return strings.TrimSuffix(name, ext) + "." + strings.ReplaceAll(strings.ToLower(card.Name), " ", "-") + ext
}

// keepTape writes the recordings of a capture: the fullest device under the
// name given, the others beside it.
func (o captureOptions) keepTape(c *capture.Capture, card capture.Card, i int) error {
	if !isTape(o.File) {
		return nil
	}
	base := numbered(o.File, card, i)
	for n, r := range c.Recordings {
		name := base
		if n > 0 {
			name = c.Beside(base, r)
		}
		if err := writeTape(name, r.Tape); err != nil {
			return err
		}
	}
	return nil
}

func writeTape(name string, t *tape.Tape) error {
	err := writeFile(name, func(w io.Writer) error {
		_, err := t.WriteTo(w)
		return err
	})
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}
