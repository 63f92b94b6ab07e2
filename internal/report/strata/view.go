package strata

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-dev/plimsoll/tape"
)

// A tag names the layer that a block belongs to.
type tag struct{ name, note, key string }

// A tagger names layers. tag is asked in the order of events, -1 for blocks
// that were there before.
type tagger interface {
	tag(event int, b tape.BlockID) tag
	// ordered ranks colour keys from the bottom of the stack upwards.
	ordered() func(key string) int
}

// views are the ways to cut, in the order of the switch.
func views(t *tape.Tape, o Options) []struct {
	name   string
	tagger tagger
} {
	return []struct {
		name   string
		tagger tagger
	}{
		{"by category", byCategory{t}},
		{"by module", newByModule(t, o)},
		{"by line", &byLine{tape: t, options: o, known: map[tape.SiteID]tag{}}},
	}
}

// othersLast is the order of views that have none: what is joined lies on
// top.
func othersLast(key string) int {
	if key == "other" {
		return 1
	}
	return 0
}

type byCategory struct{ tape *tape.Tape }

// categories is the order of the stack: what stays for the whole run at the
// bottom.
var categories = []tape.Category{
	tape.Parameter, tape.MasterWeight, tape.Buffer, tape.OptimizerState, tape.Gradient, tape.KVCache, tape.Input,
	tape.Activation, tape.Communication, tape.Workspace, tape.Temporary, tape.Unknown,
}

func (v byCategory) tag(_ int, b tape.BlockID) tag {
	c := v.tape.Block(b).Category
	name, ok := categoryNames[c]
	if !ok {
		name = c.String()
	}
	return tag{name: name, key: c.String()}
}

// categoryNames are what people read.
var categoryNames = map[tape.Category]string{
	tape.Unknown: "not named", tape.Parameter: "parameters", tape.Buffer: "buffers", tape.Gradient: "gradients",
	tape.OptimizerState: "optimizer state", tape.MasterWeight: "master weights", tape.Activation: "activations",
	tape.Input: "inputs", tape.Temporary: "temporaries", tape.Workspace: "workspaces", tape.KVCache: "KV cache",
}

func (byCategory) ordered() func(string) int {
	return func(key string) int {
		at := slices.IndexFunc(categories, func(c tape.Category) bool { return c.String() == key })
		if at < 0 {
			return len(categories)
		}
		return at
	}
}

// byLine tags blocks with the user's line.
type byLine struct {
	tape    *tape.Tape
	options Options
	known   map[tape.SiteID]tag
}

func (v *byLine) tag(_ int, b tape.BlockID) tag {
	block := v.tape.Block(b)
	if block.Site == 0 {
		return tag{name: "no Python line", note: origin(block)}
	}
	g, ok := v.known[block.Site]
	if !ok {
		g = lineTag(v.tape.Site(block.Site), v.options.UserFrame)
		v.known[block.Site] = g
	}
	return g
}

func (*byLine) ordered() func(string) int { return othersLast }

func lineTag(frames []tape.Frame, pick func([]tape.Frame) int) tag {
	at := pick(frames)
	if at < 0 || at >= len(frames) {
		return tag{name: "no Python line"}
	}
	f := frames[at]
	if f.File == "" {
		return tag{name: f.Name}
	}
	base, line := path.Base(strings.ReplaceAll(f.File, `\`, "/")), ""
	if f.Line > 0 { // an operator of a run that was computed has no line
		line = ":" + strconv.Itoa(f.Line)
	}
	g := tag{name: strings.TrimSpace(base + line + " " + f.Name)}
	if base != f.File {
		g.note = f.File
	}
	return g
}

// origin says when a block without a stack was allocated.
func origin(b tape.Block) string {
	if b.Alloc < 0 {
		return "before the recording"
	}
	return "in " + b.Phase.String()
}

// userFrame returns the innermost frame outside of installed packages and
// Python's own library, the innermost one when all are inside.
func userFrame(frames []tape.Frame) int {
	for i, f := range frames {
		if !installed(f.File) {
			return i
		}
	}
	return min(0, len(frames)-1)
}

func installed(file string) bool {
	file = strings.ReplaceAll(file, `\`, "/")
	for _, part := range []string{"/site-packages/", "/dist-packages/", "/lib/python3", "/torch/"} {
		if strings.Contains(file, part) {
			return true
		}
	}
	return strings.HasPrefix(file, "<")
}
