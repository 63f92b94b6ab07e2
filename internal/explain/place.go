package explain

import (
	"regexp"
	"strings"

	"github.com/plimsoll-dev/plimsoll/tape"
)

// A Place is where an allocation is said to come from: the line of the
// user's own code, and the line of the library that was busy for it.
type Place struct {
	File     string // of the user's code; "" when the stack has none
	Line     int
	Function string
	Via      string // "transformers/models/llama/modeling_llama.py:925 forward"; "" for PyTorch itself
	Node     string // of autograd, "MmBackward0", when no Python called
	Library  string // who allocated: a package's name, "your code", "PyTorch", "no stack" or "before the recording"
}

// Names of what is no package.
const (
	ownCode = "your code"
	pytorch = "PyTorch"
	noStack = "no stack"
	earlier = "before the recording"
)

// String names the place in one line.
func (p Place) String() string {
	at := ""
	if p.File != "" {
		at = lineOf(p.File, p.Line, p.Function)
	}
	switch {
	case at != "" && p.Via != "":
		return at + ", in " + p.Via
	case at != "":
		return at
	case p.Via != "":
		return p.Via
	case p.Node != "":
		return "backward, " + p.Node
	case p.Library == noStack:
		return "an unknown place (no stack)"
	case p.Library == earlier:
		return "before the recording began (no stack)"
	}
	return "inside " + p.Library
}

// lineOf writes a frame as "train.py:41 forward", the folders cut to the last.
func lineOf(file string, line int, function string) string {
	parts := strings.Split(slashed(file), "/")
	if len(parts) > 2 {
		parts = parts[len(parts)-2:]
	}
	s := strings.Join(parts, "/")
	if line > 0 {
		s += ":" + itoa(line)
	}
	if function != "" && function != "<module>" {
		s += " " + function
	}
	return s
}

// slashed turns the separators of Windows into those of all others.
func slashed(file string) string { return strings.ReplaceAll(file, `\`, "/") }

// isPython reports whether a frame is of Python code, not of C++.
func isPython(f tape.Frame) bool {
	return strings.HasSuffix(f.File, ".py") || strings.HasPrefix(f.File, "<")
}

// packaged finds the package that a file was installed with, and the file's
// path within; "" for the user's own files.
func packaged(file string) (name, path string) {
	file = slashed(file)
	for _, sign := range []string{"site-packages/", "dist-packages/"} {
		if i := strings.LastIndex(file, sign); i >= 0 {
			path = file[i+len(sign):]
			name, _, _ = strings.Cut(path, "/")
			return strings.TrimSuffix(name, ".py"), path
		}
	}
	if strings.Contains(file, "/_plimsoll/") {
		return "plimsoll", file // the helper of plimsoll capture
	}
	if i := strings.LastIndex(file, "/torch/"); i >= 0 && torchFolders.MatchString(file[i:]) {
		return "torch", file[i+1:] // PyTorch built from a checkout
	}
	switch {
	case strings.HasPrefix(file, "<"), standardLibrary.MatchString(file):
		return "python", file
	case strings.Contains(file, "torchinductor_") || inductorFile.MatchString(file):
		return "torch.compile", file
	}
	return "", file
}

var (
	torchFolders    = regexp.MustCompile(`^/torch/(nn|autograd|optim|utils|cuda|distributed|_[a-z]+|amp|fx|func|functional\.py|_tensor\.py)`)
	standardLibrary = regexp.MustCompile(`(?i)/lib/python\d\.\d+/|/python\d{2,3}/lib/|^python\d\.\d+/`)
	inductorFile    = regexp.MustCompile(`/c[a-z2-7]{40,}\.py$`) // the name is a hash in base 32
	nodeName        = regexp.MustCompile(`(\w*Backward\w*?)(?:::apply|::operator)|^(\w+Backward\d+)$`)
	opName          = regexp.MustCompile(`^at::_ops::(\w+)::(?:call|redispatch)|^aten::(\w+)$`)
	resumed         = regexp.MustCompile(`^torch_dynamo_resume_in_(.+)_at_\d+$`)
)

// harness are packages that run other people's code and allocate nothing
// themselves.
var harness = map[string]bool{
	"IPython": true, "ipykernel": true, "traitlets": true, "tornado": true, "python": true, "pytest": true, "_pytest": true,
	"pluggy": true, "click": true, "fire": true, "hydra": true, "torch": true, "torch.compile": true, "triton": true,
	"plimsoll": true,
}

// placeOf folds a stack to the place that is named for it.
func placeOf(frames []tape.Frame) Place {
	if len(frames) == 0 {
		return Place{Library: noStack}
	}
	p := Place{Library: pytorch}
	for _, f := range frames {
		if !isPython(f) {
			if p.Node == "" && p.Via == "" {
				if m := nodeName.FindStringSubmatch(f.Name); m != nil {
					p.Node = m[1] + m[2]
				}
			}
			continue
		}
		name, path := packaged(f.File)
		switch {
		case name == "":
			p.File, p.Line, p.Function = f.File, f.Line, f.Name
			if m := resumed.FindStringSubmatch(f.Name); m != nil {
				p.Function = m[1]
			}
			if p.Via == "" && p.Library == pytorch && ownInnermost(frames) {
				p.Library = ownCode
			}
			return p
		case !harness[name] && p.Via == "":
			p.Via, p.Library = strings.TrimSpace(path+":"+itoa(f.Line)+" "+f.Name), name
		}
	}
	return p
}

// ownInnermost reports whether the innermost Python frame is the user's: an
// operator was called right there, not by a module of PyTorch.
func ownInnermost(frames []tape.Frame) bool {
	for _, f := range frames {
		if isPython(f) {
			name, _ := packaged(f.File)
			return name == ""
		}
	}
	return false
}

// operatorOf is the operator of PyTorch that Python called, "embedding"; ""
// when the stack does not tell.
func operatorOf(frames []tape.Frame) string {
	op := ""
	for _, f := range frames {
		if isPython(f) {
			break
		}
		if m := opName.FindStringSubmatch(f.Name); m != nil {
			op = m[1] + m[2]
		}
	}
	return op
}

// A placeTable knows the place of each stack of a tape.
type placeTable struct {
	tape   *tape.Tape
	places []Place
	index  map[Place]int32
	of     []int32 // by site; -1 not looked at yet
	// named reports that stacks have Python frames: then what has no stack
	// comes from threads without Python, as autograd's are.
	named bool
}

func newPlaceTable(t *tape.Tape) *placeTable {
	p := &placeTable{tape: t, index: map[Place]int32{}, of: make([]int32, t.Sites()+1)}
	for i := range p.of {
		p.of[i] = -1
		for _, f := range t.Site(tape.SiteID(i)) {
			p.named = p.named || isPython(f)
		}
	}
	return p
}

// number returns the number of the place of a stack.
func (p *placeTable) number(s tape.SiteID) int32 {
	if n := p.of[s]; n >= 0 {
		return n
	}
	place := placeOf(p.tape.Site(s))
	if s == 0 && p.named {
		place = Place{Node: "threads without a Python stack", Library: pytorch}
	}
	p.of[s] = p.intern(place)
	return p.of[s]
}

func (p *placeTable) intern(place Place) int32 {
	n, known := p.index[place]
	if !known {
		n = int32(len(p.places))
		p.places = append(p.places, place)
		p.index[place] = n
	}
	return n
}

// ofBlock returns the number of the place of a block. What was there before
// the recording and has no stack is a place of its own.
func (p *placeTable) ofBlock(b tape.Block) int32 {
	if b.Alloc >= 0 || b.Site != 0 || p.tape.Len() == 0 {
		return p.number(b.Site)
	}
	return p.intern(Place{Library: earlier})
}

func (p *placeTable) place(s tape.SiteID) Place { return p.places[p.number(s)] }
