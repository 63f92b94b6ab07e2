package workspace

import (
	"bufio"
	"cmp"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/plimsoll-dev/plimsoll/internal/input"
	"github.com/plimsoll-dev/plimsoll/internal/lint"
)

// maxCache bounds the file that is read back.
const maxCache = 256 << 20

// loadState reads what an earlier run remembered; nil if there is nothing that
// can be used.
func loadState(name string, rules []*lint.Rule) *state {
	f, _, err := input.Open(name)
	if err != nil {
		return nil
	}
	defer f.Close()
	in := json.NewDecoder(io.LimitReader(f, maxCache))
	var head stateHead
	if in.Decode(&head) != nil {
		return nil
	}
	s := &state{Key: head.Key}
	for range head.Files {
		var one fileState
		if in.Decode(&one) != nil {
			return nil
		}
		one.Findings = told(one.Findings, rules)
		s.Files = append(s.Files, one)
	}
	return s
}

// A stateHead is the first line of a cache; a line for each file follows.
type stateHead struct {
	Key   string `json:"key"`
	Files int    `json:"files"`
}

// saveState writes it. A cache that cannot be written costs time and no more.
func saveState(name string, s *state, rules []*lint.Rule) {
	if os.MkdirAll(filepath.Dir(name), 0o755) != nil {
		return
	}
	writeAtomically(name, 0o600, func(w io.Writer) error { //nolint:errcheck // see above
		out := json.NewEncoder(w)
		err := out.Encode(stateHead{s.Key, len(s.Files)})
		for _, f := range s.Files {
			f.Findings = untold(f.Findings, rules)
			err = cmp.Or(err, out.Encode(f))
		}
		return err
	})
}

// untold leaves out of findings what they have of their rule, and told puts it
// back.
func untold(findings []Finding, rules []*lint.Rule) []Finding {
	return eachRule(findings, rules, func(f *Finding, r *lint.Rule) {
		if f.Why == r.Why {
			f.Why = ""
		}
		if f.Cost == r.Cost {
			f.Cost = ""
		}
	})
}

func told(findings []Finding, rules []*lint.Rule) []Finding {
	return eachRule(findings, rules, func(f *Finding, r *lint.Rule) {
		f.Why, f.Cost = cmp.Or(f.Why, r.Why), cmp.Or(f.Cost, r.Cost)
	})
}

// eachRule is findings changed by their rules.
func eachRule(findings []Finding, rules []*lint.Rule, change func(*Finding, *lint.Rule)) []Finding {
	out := slices.Clone(findings)
	for i := range out {
		for _, r := range rules {
			if r.Code == out[i].Code {
				change(&out[i], r)
			}
		}
	}
	return out
}

// CacheMax is how long a file of the cache lives without use.
const CacheMax = 30 * 24 * time.Hour

// Tidy removes files of the cache that were not written for CacheMax.
func Tidy(dir string, now time.Time) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		info, err := e.Info()
		if err == nil && strings.HasSuffix(e.Name(), ".json") && now.Sub(info.ModTime()) > CacheMax {
			os.Remove(filepath.Join(dir, e.Name()))
		}
	}
}

// writeAtomically writes a file under another name and renames it, so that it
// is whole at every moment.
func writeAtomically(name string, mode os.FileMode, write func(io.Writer) error) error {
	f, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+"-*")
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(f, 1<<16)
	err = write(out)
	for _, step := range []func() error{out.Flush, func() error { return f.Chmod(mode) }, f.Close} {
		if e := step(); err == nil {
			err = e
		}
	}
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}
