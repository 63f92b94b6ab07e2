// Package report holds what a command has to say, before anyone decides how
// it looks.
//
// A Report is a plain value: a verdict, a reason, remedies, sections and
// timelines. Whoever computes fills it, every renderer under this package
// prints all of it, and a fact that is not in it is shown by none of them.
// Strings in it may come from the user's files (paths, module names, error
// texts) and are escaped by the renderers, never by who fills it.
//
// It computes nothing but the scale of a column, reads no flags and no
// environment, and knows no command by name.
package report

// A Report is the whole answer of one command.
type Report struct {
	// Command is the subcommand that answers, "capture".
	Command string
	// Subject is what was looked at, as the user named it:
	// "python train.py --batch-size 32".
	Subject string

	Verdict Verdict
	// Reason is one sentence on why the verdict is what it is; empty when
	// the verdict's own sentence says it all.
	Reason string
	// Remedies are what one could do about it, the best first.
	Remedies []Remedy

	// Sections are the facts behind the verdict, in reading order.
	Sections []Section
	// Timelines are memory over time, one for each device that allocated.
	Timelines []Timeline

	// Warnings qualify the answer: what was not known and what follows.
	Warnings []Warning
	// Notes are sentences that hold for every answer of this kind, such as
	// that no GPU was used.
	Notes []string
	// Provenance says where the numbers come from: versions, method, card.
	Provenance []Fact

	// Data is the command's own document with a "schema" field. The JSON
	// renderer prints it and nothing else; sizes in it are integer bytes.
	Data any
}

// A Section is one titled group of facts. Any of its parts may be missing;
// those present are shown in the order of the fields.
type Section struct {
	Title string
	// Lead is one sentence under the title, or empty.
	Lead  string
	Facts []Fact
	Bars  *Bars
	Table *Table
	Spark *Spark
	Chart *Chart
	// Text is preformatted output of something else, such as a traceback or
	// PyTorch's own error message; line breaks are kept.
	Text string
	// Detail sections are left out of the short text answer; HTML shows
	// them folded.
	Detail bool
}

// A Fact is a name and its value, both for people.
type Fact struct {
	Name, Value string
}

// A Warning says what the answer does not know and what that means for it.
type Warning struct {
	Code    string // kebab-case, "data-dependent-shape"
	Message string // what happened and where
	// Consequence is what follows for the numbers, "the peak is a lower
	// bound"; empty when the message says it.
	Consequence string
}
