// Package lint finds what costs memory and GPU time in training code, by rules
// over facts.
//
// A file is read into a tree (package pyast); an abstract run of it says for
// each expression what it is (a model, a loss with its graph, a loader, a
// tensor on the GPU) and in which context it runs (each step, without
// gradients, under autocast); and what functions do is known across the files
// of a project. A Rule asks these facts and reports Findings. Where a fact is
// not known it is Unknown, and a rule stays silent.
package lint

// A Severity orders findings.
type Severity uint8

// The severities: what may end a run, what costs, what is good to know.
const (
	Info Severity = iota
	Warning
	Error
)

var severityNames = [...]string{"info", "warning", "error"}

func (s Severity) String() string { return severityNames[s] }

// A FixKind says what a rule's fixes are.
type FixKind uint8

// NoFix rules only tell; SafeFix keeps results; UnsafeFix may change them and
// is applied only when asked for. A finding can be less safe than its rule.
const (
	NoFix FixKind = iota
	SafeFix
	UnsafeFix
)

// A Rule is one mistake: what it is, what it costs, and how it is found. The
// documentation, --explain, SARIF and the tests all come from this value.
type Rule struct {
	Code     string // GPU0xx costs memory, GPU1xx costs time; never reused
	Name     string // a slug, what people write to ignore it
	Severity Severity
	Off      bool   // not run unless selected
	Title    string // the mistake in one line, no full stop
	Why      string // what happens, in one or two sentences
	Cost     string // bytes or time, of what, and where the figure is from
	Of       Amount // what the cost is a multiple of, where the model decides; or ""
	Misses   string // what it cannot see or leaves alone on purpose
	Fix      FixKind
	// References are reports of the mistake and documents ("owner/repo#1", URLs).
	References []string
	// Bad is a script with the mistake, each line of it marked
	// "# want: name"; Good is the same without it. They are the rule's test.
	Bad, Good string
	Run       func(*Pass)
}
