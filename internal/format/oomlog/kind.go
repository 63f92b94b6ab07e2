package oomlog

import "sync"

// A Kind is one wording of one program: a row of the table.
type Kind struct {
	Name      string // "torch_v22", stays
	Framework string // "pytorch"
	Versions  string // that print it, "2.2-2.8"; "any" when all do
	About     string // one line, what it is

	// Form is how the message reads, from its first fixed words on; Also are
	// further wordings of the same.
	Form string
	Also []string
	// Devices are the words that must stand before "out of memory", "" for
	// none of them. Nil does not look.
	Devices []string
	// Least is how many holes a message that is cut must have. A form
	// without holes must be whole.
	Least int
	// Fixed are fields that the wording itself decides.
	Fixed map[string]int64
	// Fields names what a message of the kind may have, for the
	// documentation and its test; numbers that end in _bytes are bytes.
	Fields []string
	// Absorbs are kinds whose messages nearby are about the same.
	Absorbs []string
	// Finish completes a message, or refuses it by returning false.
	Finish func(*Message) bool
	// Example is a line that such a program printed.
	Example string
}

// A detail is a line of a log that completes messages of some kinds.
type detail struct {
	form  string
	kinds []string // nil: it is about the machine, a size of a card
	keep  keep
	card  string // what the size is called, for details about the machine
}

// A keep says which of several details counts.
type keep uint8

const (
	nearest keep = iota
	largest      // the one with the largest numbers
)

// Kinds returns the table, in the order of the documentation.
func Kinds() []Kind { return kinds }

// kinds is every kind.
var kinds = concat(torchKinds, libraryKinds, tensorflowKinds, jaxKinds, servingKinds, otherKinds, hostKinds, behaviourKinds)

func concat(lists ...[]Kind) []Kind {
	var out []Kind
	for _, l := range lists {
		out = append(out, l...)
	}
	return out
}

// A rule is a compiled form and what it belongs to.
type rule struct {
	form   *form
	kind   *Kind
	detail *detail
}

// A compiled table finds forms by the words they begin with.
type compiled struct {
	words *automaton
	rules [][]rule // by word
}

// table is compiled when a log is read first.
var table = sync.OnceValue(func() *compiled {
	var words []string
	var rules [][]rule
	place := map[string]int{}
	add := func(r rule) {
		word := r.form.anchor()
		at, known := place[word]
		if !known {
			at = len(words)
			place[word] = at
			words, rules = append(words, word), append(rules, nil)
		}
		rules[at] = append(rules[at], r)
	}
	for i := range kinds {
		k := &kinds[i]
		add(rule{form: newForm(k.Form), kind: k})
		for _, f := range k.Also {
			add(rule{form: newForm(f), kind: k})
		}
	}
	for i := range details {
		add(rule{form: newForm(details[i].form), detail: &details[i]})
	}
	lights := append([]string{}, beacons...)
	for _, w := range words {
		if n := len(w); n >= leastHalved {
			lights = append(lights, w[:n/2], w[n/2:])
		}
	}
	for _, w := range lights {
		w = squeezed(w)
		if _, known := place[w]; !known {
			place[w] = len(words)
			words, rules = append(words, w), append(rules, nil)
		}
	}
	return &compiled{newAutomaton(words), rules}
})

// leastHalved is how long the first words of a form are whose halves are looked
// for as well: a line that breaks in one leaves the other whole.
const leastHalved = 20

// beacons are words in the middle of messages. They begin no form, but show
// that one is there when its first words are broken by a prefix of a logger.
var beacons = []string{
	"out of memory", "Tried to alloc", "total capac", "already alloc", "reserved in total", "reserved by", "allocated by Py",
	"RESOURCE_EXHAUSTED", "Resource exhausted", "OUT_OF_MEMORY", "cudaMalloc", "expandable_segments:True",
}
