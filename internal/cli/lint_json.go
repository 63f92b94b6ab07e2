package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/lint/workspace"
)

// A lintDocument is the JSON of the command.
type lintDocument struct {
	Schema   string              `json:"schema"` // plimsoll.lint/1
	Files    int                 `json:"files"`  // that were read
	Findings []workspace.Finding `json:"findings"`
	Passed   []workspace.Problem `json:"passed_over"` // files that were not read, or only in part
	Fixed    []lintFixed         `json:"fixed,omitempty"`
}

type lintFixed struct {
	File  string `json:"file"`
	Fixes int    `json:"fixes"`
}

// writeLintJSON writes the document finding by finding: there may be a hundred
// thousand.
func writeLintJSON(w io.Writer, a *lintAnswer) error {
	doc := lintDocument{Schema: "plimsoll.lint/1", Files: a.Files, Findings: []workspace.Finding{}, Passed: a.Passed}
	for _, f := range a.Fixed {
		doc.Fixed = append(doc.Fixed, lintFixed{f.Path, f.Fixes})
	}
	var frame bytes.Buffer
	if err := indented(&frame, doc); err != nil {
		return err
	}
	before, after, ok := strings.Cut(frame.String(), `"findings": []`)
	if !ok || len(a.Findings) == 0 {
		_, err := w.Write(frame.Bytes())
		return err
	}
	out := bufio.NewWriter(w)
	fmt.Fprint(out, before, `"findings": [`)
	for i, f := range a.Findings {
		var one bytes.Buffer
		enc := json.NewEncoder(&one)
		enc.SetEscapeHTML(false)
		enc.SetIndent("    ", "  ")
		if err := enc.Encode(f); err != nil {
			return err
		}
		if i > 0 {
			fmt.Fprint(out, ",")
		}
		fmt.Fprint(out, "\n    ", strings.TrimRight(one.String(), "\n"))
	}
	fmt.Fprint(out, "\n  ]", after)
	return out.Flush() // it remembers what failed before
}

// indented writes a document for programs that people can read, too.
func indented(w io.Writer, doc any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(doc)
}
