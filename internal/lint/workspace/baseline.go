package workspace

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sort"

	"github.com/plimsoll-dev/plimsoll/internal/input"
)

// A Baseline is the findings that were there when a project began to lint: they
// are not shown again until their line changes. The same line twice counts
// twice.
type Baseline struct {
	Schema   string          `json:"schema"` // plimsoll.lint-baseline/1
	Findings []BaselineEntry `json:"findings"`
}

// A BaselineEntry is findings with one signature.
type BaselineEntry struct {
	File      string `json:"file"`
	Code      string `json:"code"`
	Signature string `json:"signature"`
	Count     int    `json:"count"`
	Source    string `json:"source"` // for people; the signature decides
}

const baselineSchema = "plimsoll.lint-baseline/1"

// maxBaseline bounds the file.
const maxBaseline = 64 << 20

// ReadBaseline reads a baseline.
func ReadBaseline(name string) (*Baseline, error) {
	raw, err := input.ReadFile(name, maxBaseline)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read the baseline %s: there is no such file; --write-baseline makes it", name)
	}
	if err != nil {
		return nil, fmt.Errorf("read the baseline %s: %w", name, cause(err))
	}
	var b Baseline
	if err := json.Unmarshal(raw, &b); err != nil {
		return nil, fmt.Errorf("read the baseline %s: %w", name, err)
	}
	if b.Schema != baselineSchema {
		return nil, fmt.Errorf("read the baseline %s: its schema is %q, not %s", name, b.Schema, baselineSchema)
	}
	return &b, nil
}

// WriteBaseline writes the findings as a baseline.
func WriteBaseline(name string, findings []Finding, base string) error {
	b := Baseline{Schema: baselineSchema, Findings: []BaselineEntry{}}
	at := map[BaselineEntry]int{}
	for _, f := range findings {
		e := entryOf(f, base)
		i, ok := at[e]
		if !ok {
			i = len(b.Findings)
			at[e] = i
			b.Findings = append(b.Findings, e)
		}
		b.Findings[i].Count++
		b.Findings[i].Source = f.Source
	}
	sort.SliceStable(b.Findings, func(i, j int) bool { return b.Findings[i].File < b.Findings[j].File })
	err := writeAtomically(name, 0o644, func(w io.Writer) error {
		enc := json.NewEncoder(w)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", " ")
		return enc.Encode(b)
	})
	if err != nil {
		return fmt.Errorf("write the baseline %s: %w", name, cause(err))
	}
	return nil
}

func entryOf(f Finding, base string) BaselineEntry {
	return BaselineEntry{File: relative(base, f.File), Code: f.Code, Signature: f.Signature}
}

// Filter gives a function that reports whether a finding is new. Files are
// compared relative to base.
func (b *Baseline) Filter(base string) func(Finding) bool {
	left := map[BaselineEntry]int{}
	for _, e := range b.Findings {
		left[BaselineEntry{File: e.File, Code: e.Code, Signature: e.Signature}] += e.Count
	}
	return func(f Finding) bool {
		e := entryOf(f, base)
		if left[e] > 0 {
			left[e]--
			return false
		}
		return true
	}
}
