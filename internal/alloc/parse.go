package alloc

import (
	"math"
	"strings"

	"github.com/plimsoll-dev/plimsoll/unit"
)

// A SettingsError is what PyTorch raises for a string that it does not
// accept.
type SettingsError struct {
	Exception string // Python's class, "ValueError"
	Text      string // its text
}

// Error returns PyTorch's text.
func (e *SettingsError) Error() string { return e.Text }

// ParseSettings reads a value of PYTORCH_CUDA_ALLOC_CONF as PyTorch v does.
// An error is a *SettingsError with PyTorch's own text.
func ParseSettings(s string, v Version) (Settings, error) {
	return Settings{Version: v}.Parse(s)
}

// Parse reads s on top of settings that are in force, as PyTorch does when a
// program sets them again: the split limit, the rounding table and the
// garbage collection return to their defaults when s does not name them; all
// other options stay.
func (s Settings) Parse(text string) (Settings, error) {
	s.MaxSplit, s.Divisions, s.GCThreshold, s.Warnings = 0, [intervals]uint64{}, 0, nil
	p := parser{settings: &s, version: s.Version.known()}
	if p.version.since(v29) {
		p.tokens = tokens(text, " \t\n\v\f\r")
		p.accelerator()
		p.cuda()
	} else {
		p.tokens = tokens(text, " ")
		p.legacy()
	}
	if p.err != nil {
		return Settings{}, p.err
	}
	if p.async && p.native {
		s.Warnings = append(s.Warnings, "backend:cudaMallocAsync ignores max_split_size_mb,roundup_power2_divisions, and garbage_collect_threshold.")
	}
	return s, nil
}

// A parser walks over the tokens of one string.
type parser struct {
	settings *Settings
	version  Version
	tokens   []string
	at       int
	err      *SettingsError // the first error; parsing stops there
	async    bool           // backend:cudaMallocAsync was given
	native   bool           // an option was given that this backend ignores
}

// tokens splits at the four separators, which are tokens too, and drops the
// given white space wherever it stands.
func tokens(text, space string) []string {
	var list []string
	var word []byte
	flush := func() {
		if len(word) > 0 {
			list = append(list, string(word))
			word = word[:0]
		}
	}
	for i := range len(text) {
		switch c := text[i]; {
		case strings.IndexByte(",:[]", c) >= 0:
			flush()
			list = append(list, text[i:i+1])
		case strings.IndexByte(space, c) < 0:
			word = append(word, c)
		}
	}
	flush()
	return list
}

func (p *parser) fail(exception, text string) {
	if p.err == nil {
		p.err = &SettingsError{exception, text}
	}
}

// megabytes turns a number of MiB, as a wrapped size_t, into bytes. PyTorch
// clamps it so that the product fits; what is more than any memory is
// unlimited here.
func megabytes(n uint64) unit.Bytes {
	if n >= uint64(unlimited/unit.MiB) {
		return unlimited
	}
	return unit.Bytes(n) * unit.MiB
}

func powerOfTwo(n uint64) bool { return n != 0 && n&(n-1) == 0 }

// interval is the entry of the rounding table for sizes from n MiB on; n is a
// power of two.
func interval(n uint64) int { return min(int(math.Log2(float64(n))), intervals-1) }

// fill sets the entries from first to last-1.
func (s *Settings) fill(first, last int, d uint64) {
	for i := first; i < last; i++ {
		s.Divisions[i] = d
	}
}
