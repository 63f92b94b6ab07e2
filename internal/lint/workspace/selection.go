package workspace

import (
	"fmt"
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/lint"
)

// A Selection says which rules run. Words are codes (GPU012), names, beginnings
// of codes (GPU1) and ALL.
type Selection struct {
	Select []string // instead of the rules that are on by default
	Extend []string // in addition
	Ignore []string // but not these
}

// Of gives the rules that run.
func (s Selection) Of(all []*lint.Rule) ([]*lint.Rule, error) {
	for _, list := range [][]string{s.Select, s.Extend, s.Ignore} {
		for _, w := range list {
			if !anyRule(all, w) {
				return nil, fmt.Errorf("there is no rule %q", w)
			}
		}
	}
	var out []*lint.Rule
	for _, r := range all {
		on := !r.Off
		if len(s.Select) > 0 {
			on = selects(s.Select, r)
		}
		if (on || selects(s.Extend, r)) && !selects(s.Ignore, r) {
			out = append(out, r)
		}
	}
	return out, nil
}

func anyRule(all []*lint.Rule, word string) bool {
	for _, r := range all {
		if selects([]string{word}, r) {
			return true
		}
	}
	return false
}

func selects(words []string, r *lint.Rule) bool {
	for _, w := range words {
		if r.Is(w) || strings.EqualFold(w, "ALL") || isPrefix(w, r.Code) {
			return true
		}
	}
	return false
}

// isPrefix reports whether a word is the beginning of a code, GPU at least.
func isPrefix(word, code string) bool {
	return len(word) >= 3 && len(word) < len(code) && strings.EqualFold(word, code[:len(word)])
}
