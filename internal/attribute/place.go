package attribute

import (
	"regexp"
	"slices"
	"strconv"
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
	Symbol   string // of PyTorch, Python or C++, when nothing of the above is known
	Library  string // who allocated: a package's name, "your code", "PyTorch", "no stack" or "before the recording"
}

// Libraries that are no packages.
const (
	OwnCode         = "your code"
	PyTorch         = "PyTorch"
	NoStack         = "no stack"
	BeforeRecording = "before the recording"
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
	case p.Symbol != "":
		return p.Symbol
	case p.Library == NoStack:
		return "an unknown place (no stack)"
	case p.Library == BeforeRecording:
		return "before the recording began (no stack)"
	}
	return "inside " + p.Library
}

// lineOf writes a frame as "train.py:41 forward", the folders cut to the last.
func lineOf(file string, line int, function string) string {
	parts := strings.Split(Slashed(file), "/")
	if len(parts) > 2 {
		parts = parts[len(parts)-2:]
	}
	s := strings.Join(parts, "/")
	if line > 0 {
		s += ":" + strconv.Itoa(line)
	}
	if function != "" && function != "<module>" {
		s += " " + function
	}
	return s
}

// Slashed turns the separators of Windows into those of all others.
func Slashed(file string) string { return strings.ReplaceAll(file, `\`, "/") }

// IsPython reports whether a frame is of Python code, not of C++.
func IsPython(f tape.Frame) bool {
	return strings.HasSuffix(f.File, ".py") || strings.HasPrefix(f.File, "<")
}

// packaged finds the package that a file was installed with, and the file's
// path within; "" for the user's own files.
func packaged(file string) (name, path string) {
	file = Slashed(file)
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
	resumed         = regexp.MustCompile(`^torch_dynamo_resume_in_(.+)_at_\d+$`)
)

// harnesses are packages that run other people's code and allocate nothing
// themselves, harnessParts those of others that do only that.
var harnesses = map[string]bool{
	"IPython": true, "ipykernel": true, "traitlets": true, "tornado": true, "python": true, "pytest": true, "_pytest": true,
	"pluggy": true, "click": true, "fire": true, "hydra": true, "torch": true, "torch.compile": true, "triton": true,
	"plimsoll": true, "functorch": true, "lightning_utilities": true,
}

var harnessParts = []string{"accelerate/hooks", "accelerate/utils", "peft/utils/"}

// isHarness reports whether a file of a package only runs what others wrote.
func isHarness(name, path string) bool {
	return harnesses[name] || slices.ContainsFunc(harnessParts, func(part string) bool { return strings.HasPrefix(path, part) })
}

// PlaceOf folds a stack to the place that is named for it.
func PlaceOf(frames []tape.Frame) Place {
	if len(frames) == 0 {
		return Place{Library: NoStack}
	}
	p := Place{Library: PyTorch}
	for _, f := range frames {
		if !IsPython(f) {
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
			if p.Via == "" && p.Library == PyTorch && ownInnermost(frames) {
				p.Library = OwnCode
			}
			return p
		case !isHarness(name, path) && p.Via == "":
			p.Via, p.Library = strings.TrimSpace(path+":"+strconv.Itoa(f.Line)+" "+f.Name), name
		}
	}
	if p.Via == "" && p.Node == "" {
		p.Symbol = symbolOf(frames)
	}
	return p
}

// symbolOf names the innermost frame that says what was done, Python's first.
func symbolOf(frames []tape.Frame) string {
	native := -1
	for i, f := range frames {
		switch {
		case !Telling(f):
		case IsPython(f):
			return lineOf(f.File, f.Line, f.Name)
		case native < 0:
			native = i
		}
	}
	if native < 0 {
		return ""
	}
	return shortSymbol(frames[native].Name)
}

// ownInnermost reports whether the innermost Python frame is the user's: an
// operator was called right there, not by a module of PyTorch.
func ownInnermost(frames []tape.Frame) bool {
	for _, f := range frames {
		if IsPython(f) {
			name, _ := packaged(f.File)
			return name == ""
		}
	}
	return false
}

// shortSymbol leaves the arguments out of a C++ name.
func shortSymbol(name string) string {
	depth := 0
	for i, r := range name {
		switch r {
		case '<':
			depth++
		case '>':
			depth--
		case '(':
			if depth == 0 && i > 0 && !strings.HasPrefix(name[i:], "(anonymous") {
				return name[:i]
			}
		}
	}
	return name
}

// plumbing are beginnings of the names of functions in C++ that every stack
// has: they collect it, hold the allocator, or pass a call on.
var plumbing = []string{
	"torch::unwind", "torch::CapturedTraceback", "torch::cuda::", "torch::Generator", "c10::cuda::", "c10::StorageImpl", "c10::impl::", "c10::Dispatcher",
	"c10::TensorImpl", "c10::Allocator", "c10::DispatchKey", "at::detail::", "at::_ops::empty", "at::native::empty", "at::empty", "at::_ops::", "at::TensorBase",
	"at::(anonymous namespace)::", "at::native::resize", "at::TensorIterator", "at::meta::", "at::redispatch", "torch::autograd::VariableType",
	"torch::ADInplaceOrView", "torch::autograd::THP", "std::", "gather_with_cpp", "gather", "_PyEval", "PyEval", "PyObject", "_PyObject", "PyFunction", "_PyFunction",
	"Py_", "PyRun", "PyVectorcall", "method_vectorcall", "cfunction_", "pybind11::", "_object*", "torch::autograd::TypeError_to_NotImplemented", "??", "unknown", "__libc", "_start", "clone", "start_thread",
}

// passing are the functions of Python through which PyTorch's modules and
// optimizers call others.
var passing = map[string]bool{
	"_call_impl": true, "_wrapped_call_impl": true, "inner": true, "wrapper": true, "_use_grad": true, "decorate_context": true, "__torch_function__": true,
	"_fn": true, "compile_wrapper": true, "_engine_run_backward": true,
}

// Telling reports whether a frame says what was done: those of Python that do
// more than pass a call on, and those of C++ that are no plumbing and not of
// Python's interpreter.
func Telling(f tape.Frame) bool {
	if IsPython(f) {
		name, path := packaged(f.File)
		return name != "plimsoll" && (!passing[f.Name] || !isHarness(name, path))
	}
	if f.Name == "" || strings.HasSuffix(f.File, ".c") {
		return false
	}
	for _, p := range plumbing {
		if strings.HasPrefix(f.Name, p) {
			return false
		}
	}
	return true
}
