package cli

import (
	"encoding/json"
	"io"

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

func writeLintJSON(w io.Writer, a *lintAnswer) error {
	doc := lintDocument{Schema: "plimsoll.lint/1", Files: a.Files, Findings: a.Findings, Passed: a.Passed}
	for _, f := range a.Fixed {
		doc.Fixed = append(doc.Fixed, lintFixed{f.Path, f.Fixes})
	}
	return indented(w, doc)
}

// indented writes a document for programs that people can read, too.
func indented(w io.Writer, doc any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(doc)
}
