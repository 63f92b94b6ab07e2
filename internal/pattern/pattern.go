// Package pattern is regular expressions that are compiled when they are first asked.
//
// Hundreds of them in one program take milliseconds and a megabyte at its start, and
// most runs ask few. A text that is none panics when it is asked, as with
// regexp.MustCompile; so each has a test that asks it.
package pattern

import (
	"regexp"
	"sync"
)

// A Pattern is a regular expression by its text.
type Pattern struct{ compiled func() *regexp.Regexp }

// New returns the pattern of a text in the syntax of package regexp.
func New(text string) *Pattern {
	return &Pattern{sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })}
}

// MatchString reports whether s holds a match.
func (p *Pattern) MatchString(s string) bool { return p.compiled().MatchString(s) }

// FindString is the text of the leftmost match, "" without one.
func (p *Pattern) FindString(s string) string { return p.compiled().FindString(s) }

// FindAllString are the texts of the first n matches, all for -1.
func (p *Pattern) FindAllString(s string, n int) []string { return p.compiled().FindAllString(s, n) }

// FindStringSubmatch is the leftmost match with its groups, nil without one.
func (p *Pattern) FindStringSubmatch(s string) []string { return p.compiled().FindStringSubmatch(s) }

// FindSubmatchIndex is where the leftmost match and its groups are.
func (p *Pattern) FindSubmatchIndex(b []byte) []int { return p.compiled().FindSubmatchIndex(b) }

// ReplaceAllString replaces matches, with groups as $1.
func (p *Pattern) ReplaceAllString(s, by string) string { return p.compiled().ReplaceAllString(s, by) }

// ReplaceAllStringFunc replaces each match by what by makes of it.
func (p *Pattern) ReplaceAllStringFunc(s string, by func(string) string) string {
	return p.compiled().ReplaceAllStringFunc(s, by)
}
