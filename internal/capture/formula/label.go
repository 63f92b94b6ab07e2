package formula

import (
	"path"
	"strconv"
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/capture"
	"github.com/plimsoll-dev/plimsoll/tape"
)

// labels say of allocations what has a name that is the same in every run: the
// module, the line of the script, the operators of PyTorch on the stack.
type labels struct {
	rec   *capture.Recording
	sites map[tape.SiteID]string
	means map[string]meaning // of a frame's name
}

func newLabels(rec *capture.Recording) labels {
	return labels{rec, map[tape.SiteID]string{}, map[string]meaning{}}
}

// of is "@blocks.3.mlp train.py:61 addmm linear".
func (l *labels) of(e tape.Event) string {
	text, ok := l.sites[e.Site]
	if !ok {
		text = l.site(l.rec.Tape.Site(e.Site))
		l.sites[e.Site] = text
	}
	if module := l.rec.Module(e.Block); module != "" {
		text = "@" + word(module) + " " + text
	}
	return strings.TrimSpace(text)
}

// shownOperators is how many operators of a stack a label has.
const shownOperators = 3

// site is what a stack says: the line, the operators from the innermost outwards,
// the node of the backward pass, and "raw" where a kernel asked for memory that
// is no tensor.
func (l *labels) site(frames []tape.Frame) string {
	var python []tape.Frame
	var found []string
	node, tensor := "", false
	for _, f := range frames {
		if isPython(f.File) {
			python = append(python, f)
			continue
		}
		m, ok := l.means[f.Name]
		if !ok {
			m = meaningOf(f.Name)
			l.means[f.Name] = m
		}
		switch {
		case m.operator != "" && (len(found) == 0 || found[len(found)-1] != m.operator):
			found = append(found, m.operator)
		case m.node != "" && node == "":
			node = m.node
		case m.tensor:
			tensor = true
		}
	}
	if len(found) > 1 && strings.HasPrefix(found[0], "empty") {
		found = found[1:]
	}
	var words []string
	if i := l.rec.Frame(python); i >= 0 {
		words = append(words, word(path.Base(python[i].File))+":"+strconv.Itoa(python[i].Line))
	}
	words = append(words, found[:min(len(found), shownOperators)]...)
	if node != "" {
		words = append(words, node)
	}
	if !tensor && len(found) > 0 {
		words = append(words, "raw")
	}
	return strings.Join(words, " ")
}

// isPython reports whether a frame's file is Python's: code in a library has
// the library's path.
func isPython(file string) bool {
	return strings.HasSuffix(file, ".py") || strings.HasPrefix(file, "<")
}

// A meaning is what the name of a function of PyTorch's libraries says.
type meaning struct {
	operator, node string
	tensor         bool // it finds the memory of a tensor
}

// The names of functions of which the operator and the node are a part.
const (
	operatorPrefix = "at::_ops::"
	nodePrefix     = "autograd::generated::"
)

// Functions that are told apart beside operators, and those that find the memory
// of tensors.
var (
	notedFunctions  = []string{"getCurrentCUDABlasHandle", "getWorkspace", "AccumulateGrad"}
	tensorFunctions = []string{"empty_cuda", "empty_strided_cuda", "resize_cuda", "empty_generic"}
)

func meaningOf(name string) meaning {
	if _, rest, ok := strings.Cut(name, operatorPrefix); ok {
		operator, _, _ := strings.Cut(rest, "::")
		return meaning{operator: word(operator)}
	}
	if _, rest, ok := strings.Cut(name, nodePrefix); ok {
		node, _, _ := strings.Cut(rest, "::")
		return meaning{node: word(node)}
	}
	for _, t := range tensorFunctions {
		if strings.Contains(name, t) {
			return meaning{tensor: true}
		}
	}
	for _, n := range notedFunctions {
		if strings.Contains(name, n) {
			return meaning{operator: n}
		}
	}
	return meaning{}
}

// word is a name that does not end a field of the format, nor look like another
// one.
func word(s string) string {
	s = strings.Map(func(r rune) rune {
		if r <= ' ' || r == '>' || r == '@' || r == '|' || r == '?' || r == '~' || r == 0x7f {
			return '_'
		}
		return r
	}, s)
	if s == "" || s == "-" {
		return "_"
	}
	return s
}
