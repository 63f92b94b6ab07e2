package view

import (
	"path"
	"strconv"
	"strings"

	"github.com/plimsoll-dev/plimsoll/tape"
)

// Lines gives each stack the line of the user's program that it belongs to,
// and numbers the lines.
type Lines struct {
	tape  *tape.Tape
	sites []uint32 // by site: number of the line plus one, 0 when not looked at yet
	index map[string]uint32
	names []string
}

// NoLine is the name of the line of blocks without a stack.
const NoLine = "no stack"

func newLines(t *tape.Tape) *Lines {
	l := &Lines{tape: t, sites: make([]uint32, t.Sites()+1), index: map[string]uint32{}}
	l.number(NoLine)
	l.sites[0] = 1
	return l
}

func (l *Lines) number(name string) uint32 {
	n, ok := l.index[name]
	if !ok {
		n = uint32(len(l.names))
		l.index[name] = n
		l.names = append(l.names, name)
	}
	return n
}

// Of returns the number of a stack's line.
func (l *Lines) Of(s tape.SiteID) int {
	if int(s) >= len(l.sites) { // interned since
		return 0
	}
	if l.sites[s] == 0 {
		frames := l.tape.Site(s)
		name := NoLine
		if node := backward(frames); node != "" {
			name = node
		} else if i := userFrame(frames); i >= 0 {
			name = frameName(frames[i])
		}
		l.sites[s] = l.number(name) + 1
	}
	return int(l.sites[s] - 1)
}

// Name returns the name of a line, "train.py:41 forward".
func (l *Lines) Name(line int) string { return l.names[line] }

// Len is the number of lines so far.
func (l *Lines) Len() int { return len(l.names) }

func frameName(f tape.Frame) string {
	if !python(f) {
		return shortSymbol(f.Name)
	}
	name := path.Base(strings.ReplaceAll(f.File, `\`, "/"))
	if f.Line > 0 {
		name += ":" + strconv.Itoa(f.Line)
	}
	return strings.TrimSpace(name + " " + f.Name)
}

// backward names the node of a stack that the engine of autograd runs in a
// thread of its own, where no line of Python stands: "MulBackward0, backward".
func backward(frames []tape.Frame) string {
	name := ""
	for _, f := range frames {
		if python(f) {
			return ""
		}
		if rest, ok := strings.CutPrefix(f.Name, "torch::autograd::"); ok && name == "" {
			if node, _, ok := strings.Cut(strings.TrimPrefix(rest, "generated::"), "::apply("); ok && !strings.ContainsAny(node, ":( ") {
				name = node + ", backward"
			}
		}
	}
	return name
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

// userFrame returns the innermost frame of Python outside of PyTorch and of what
// only runs other people's code, else the innermost frame of Python, else the
// innermost frame of C++ that says what was done; -1 for none. Libraries of
// models count: under a trainer of theirs every block is of the one line that
// called it.
func userFrame(frames []tape.Frame) int {
	inside, native := -1, -1
	for i, f := range frames {
		switch {
		case python(f) && !harness(f.File):
			return i
		case python(f):
			if inside < 0 {
				inside = i
			}
		case native < 0 && Telling(f):
			native = i
		}
	}
	if inside >= 0 {
		return inside
	}
	if native < 0 {
		return len(frames) - 1
	}
	return native
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
	if python(f) {
		return !strings.Contains(f.File, "/_plimsoll/") && (!passing[f.Name] || !harness(f.File))
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

// python reports whether a frame is of a file and not of C++ code.
func python(f tape.Frame) bool {
	return strings.HasSuffix(f.File, ".py") || strings.HasPrefix(f.File, "/tmp/ipykernel") || strings.HasPrefix(f.File, "<ipython")
}

// harnesses are parts of the paths of files that run other people's code.
var harnesses = []string{
	"/_plimsoll/", // what a capture puts between a script and PyTorch
	"-packages/torch/", "-packages/accelerate/hooks", "-packages/accelerate/utils", "-packages/IPython/", "-packages/ipykernel/", "-packages/functorch/",
	"-packages/triton/", "-packages/peft/utils/", "-packages/pluggy/", "-packages/_pytest/", "-packages/lightning_utilities/",
}

// torchFolders are folders of PyTorch, where it was built from a checkout.
var torchFolders = []string{"/torch/nn/", "/torch/autograd/", "/torch/optim/", "/torch/utils/", "/torch/cuda/", "/torch/distributed/", "/torch/_dynamo/", "/torch/_tensor.py", "/torch/functional.py", "/torch/amp/"}

// harness reports whether a file is of PyTorch, of Python's own library or of
// what runs notebooks and tests.
func harness(file string) bool {
	file = strings.ReplaceAll(file, `\`, "/")
	for _, list := range [][]string{harnesses, torchFolders} {
		for _, part := range list {
			if strings.Contains(file, part) {
				return true
			}
		}
	}
	return !strings.Contains(file, "-packages/") && (strings.Contains(file, "/lib/python") || strings.Contains(strings.ToLower(file), "/python3") && strings.Contains(strings.ToLower(file), "/lib/"))
}
