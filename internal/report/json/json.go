// Package json prints a report's own document: the facts of the answer for
// programs.
//
// The document is the command's, with its "schema" field; it is not the
// Report in another dress. Fields stand in the order of the Go struct and map
// keys are sorted, so equal answers give equal bytes.
package json

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/plimsoll-dev/plimsoll/internal/report"
)

// ErrNoDocument says that a report was made without its document.
var ErrNoDocument = errors.New("the report has no document")

// Render prints r.Data, indented by two blanks, with a line break at the end.
// The options do not change it.
func Render(w io.Writer, r *report.Report, _ report.Options) error {
	if r.Data == nil {
		return fmt.Errorf("print %s as JSON: %w", r.Command, ErrNoDocument)
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	// Paths with & and < stay readable; the document is not put into HTML.
	e.SetEscapeHTML(false)
	if err := e.Encode(r.Data); err != nil {
		return fmt.Errorf("print %s as JSON: %w", r.Command, err)
	}
	return nil
}
