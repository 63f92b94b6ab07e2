package table

import (
	"fmt"
	"strings"
)

// A Filter says which processes are shown. The zero Filter lets all pass.
type Filter struct {
	terms []func(*Row) bool
	rates bool
}

// Rates reports whether the filter needs two samples.
func (f Filter) Rates() bool { return f.rates }

// Match reports whether all terms hold for the row.
func (f Filter) Match(r *Row) bool {
	for _, term := range f.terms {
		if !term(r) {
			return false
		}
	}
	return true
}

// FilterSyntax says in one line what ParseFilter reads.
const FilterSyntax = "words that the PID, user, job, container or command has; user=ann gpu=0 memory>10GiB busy<20 cpu>=100; a - before a term turns it round"

// operators compare, the longer ones first.
var operators = []struct {
	sign string
	test func(order int) bool
}{
	{">=", func(o int) bool { return o >= 0 }},
	{"<=", func(o int) bool { return o <= 0 }},
	{">", func(o int) bool { return o > 0 }},
	{"<", func(o int) bool { return o < 0 }},
	{"=", func(o int) bool { return o == 0 }},
}

// ParseFilter reads a filter: terms between blanks, all of which must hold.
func ParseFilter(text string) (Filter, error) {
	var f Filter
	for _, word := range strings.Fields(text) {
		term, c, err := parseTerm(strings.TrimPrefix(word, "-"))
		if err != nil {
			return Filter{}, fmt.Errorf("filter %q: %w", word, err)
		}
		if strings.HasPrefix(word, "-") {
			holds := term
			term = func(r *Row) bool { return !holds(r) }
			if c != nil {
				term = func(r *Row) bool { return c.known(r) && !holds(r) }
			}
		}
		f.terms = append(f.terms, term)
		f.rates = f.rates || c != nil && c.Rates()
	}
	return f, nil
}

// parseTerm reads one term, and returns the column that it compares; nil where it
// is a word.
func parseTerm(word string) (func(*Row) bool, *Column, error) {
	for i := range word {
		for _, op := range operators {
			if value, ok := strings.CutPrefix(word[i:], op.sign); ok && i > 0 {
				return parseComparison(word[:i], op.sign, value, op.test)
			}
		}
	}
	if word == "" {
		return nil, nil, fmt.Errorf("a term is missing after -")
	}
	word = strings.ToLower(word)
	return func(r *Row) bool { return hasWord(r, word) }, nil, nil
}

func parseComparison(name, sign, value string, test func(int) bool) (func(*Row) bool, *Column, error) {
	c := ColumnNamed(strings.ToLower(name))
	switch {
	case c == nil:
		return nil, nil, fmt.Errorf("no column is called %q; there are %s", name, strings.Join(Names(), ", "))
	case c.parse == nil && sign != "=":
		return nil, nil, fmt.Errorf("%s is a word: only = compares it", c.Name)
	case c.Name == "gpu":
		return func(r *Row) bool { return onGPU(r.GPUs, value) }, c, nil
	case c.parse == nil:
		return func(r *Row) bool { return strings.EqualFold(c.Text(r), value) }, c, nil
	}
	want, err := c.parse(value)
	if err != nil {
		return nil, nil, fmt.Errorf("%q is no amount of %s: %w", value, c.Name, err)
	}
	return func(r *Row) bool {
		v, ok := c.Number(r).Get()
		switch {
		case !ok:
			return false
		case v < want:
			return test(-1)
		case v > want:
			return test(1)
		}
		return test(0)
	}, c, nil
}

// hasWord looks for a word, in lower case, in what names a process.
func hasWord(r *Row, word string) bool {
	for _, s := range []string{r.Command, r.Name, r.User, r.Job, r.Container, ColumnNamed("pid").Text(r)} {
		if strings.Contains(strings.ToLower(s), word) {
			return true
		}
	}
	return false
}

// onGPU reports whether a span of labels, "0-3,6:1", holds a GPU or, for the
// label of a GPU that is cut, one of its instances.
func onGPU(span, label string) bool {
	for part := range strings.SplitSeq(span, ",") {
		from, to, isRange := strings.Cut(part, "-")
		switch {
		case part == label, strings.HasPrefix(part, label+":"):
			return true
		case isRange:
			a, errA := number(from)
			b, errB := number(to)
			n, err := number(label)
			if errA == nil && errB == nil && err == nil && n >= a && n <= b {
				return true
			}
		}
	}
	return false
}

// Keep returns the rows that match, and of all those only the ones on a device
// where workers are not wanted.
func Keep(rows []Row, f Filter, others bool) []Row {
	kept := rows[:0]
	for i := range rows {
		if (others || len(rows[i].Uses) > 0) && f.Match(&rows[i]) {
			kept = append(kept, rows[i])
		}
	}
	return kept
}
