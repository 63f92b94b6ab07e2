package lint

import "github.com/plimsoll-dev/plimsoll/internal/pyast"

// A Finding is one mistake at one place.
type Finding struct {
	Rule     *Rule
	Severity Severity
	File     *File
	Span     pyast.Span
	Message  string // what is wrong here, with the names of the code
	Why      string // Rule.Why, or what is particular here
	Cost     string // Rule.Cost, or the figure of this place
	Of       Amount // Rule.Of, or what the cost of this place is a multiple of; "" for nothing that is known
	Fix      *Fix
	Notes    []Note // other places that matter, in order
}

// A Note is a place that explains a finding.
type Note struct {
	Span pyast.Span
	Text string
}

// A Fix is a set of edits that belong together.
type Fix struct {
	Title string
	Safe  bool
	Edits []Edit
}

// An Edit replaces bytes Start to End of a file by Text.
type Edit struct {
	Start, End int
	Text       string
}

// An Option adds to a finding that is reported.
type Option func(*Finding)

// Cost tells what this finding costs, where it is known better than the rule's.
func Cost(text string) Option { return func(f *Finding) { f.Cost = text } }

// Of tells what the cost of this place is a multiple of, where that differs from
// the rule's; "" for nothing.
func Of(a Amount) Option { return func(f *Finding) { f.Of = a } }

// Why tells what happens here, where it differs from the rule's.
func Why(text string) Option { return func(f *Finding) { f.Why = text } }

// As gives this finding another severity than the rule's.
func As(s Severity) Option { return func(f *Finding) { f.Severity = s } }

// See adds a place that explains the finding.
func See(n pyast.Node, text string) Option {
	return func(f *Finding) { f.Notes = append(f.Notes, Note{n.Span(), text}) }
}

// Safely offers a fix that keeps the program's results.
func Safely(title string, edits ...Edit) Option { return fix(title, true, edits) }

// Unsafely offers a fix that may change them, applied only with --unsafe.
func Unsafely(title string, edits ...Edit) Option { return fix(title, false, edits) }

func fix(title string, safe bool, edits []Edit) Option {
	return func(f *Finding) {
		if len(edits) > 0 {
			f.Fix = &Fix{title, safe, edits}
		}
	}
}
