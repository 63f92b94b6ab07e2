package vgpu

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// Torch is the PyTorch that an interpreter would import.
type Torch struct {
	Python       string   // the interpreter's own path
	Dir          string   // folder of the package torch
	Version      string   // "2.15.0+cu132"
	CUDA         string   // version of CUDA it was built for, "13.2"
	SitePackages []string // folders on the interpreter's path that hold packages
	Machine      string   // "x86_64"
}

// A ProbeError says why an interpreter's PyTorch cannot run on the virtual GPU.
type ProbeError struct {
	Reason ProbeReason
	Python string
	Detail string // one sentence for the user, lower case, no full stop
	Hint   string // what to try, or empty
}

// ProbeReason tells the kinds of [ProbeError] apart.
type ProbeReason uint8

// The reasons for which a PyTorch is turned down.
const (
	NoInterpreter ProbeReason = iota + 1
	NoTorch
	CPUOnly
	ROCm
	TooOld
	UnknownCUDA
	NotLinux
	OtherMachine
	OtherLibc
)

func (e *ProbeError) Error() string {
	return fmt.Sprintf("probe %s: %s", e.Python, e.Detail)
}

// probeProgram asks an interpreter where torch lies without importing it. The
// current folder is taken off the path: it is where plimsoll runs, not where
// the script lies.
const probeProgram = `
import importlib.util, json, os, platform, sys
sys.path[:] = [p for p in sys.path if p and p != os.getcwd()]
spec = importlib.util.find_spec("torch")
places = list(spec.submodule_search_locations or []) if spec else []
print(json.dumps({"executable": sys.executable, "system": platform.system(), "machine": platform.machine(),
    "libc": platform.libc_ver()[0], "path": sys.path, "torch": places[0] if places else ""}))
`

type probeAnswer struct {
	Executable, System, Machine, Libc, Torch string
	Path                                     []string
}

// Probe finds the PyTorch of an interpreter without importing it. An unusable
// one is a [*ProbeError].
func Probe(ctx context.Context, python string) (Torch, error) {
	answer, err := ask(ctx, python)
	if err != nil {
		return Torch{}, err
	}
	t := Torch{Python: answer.Executable, Dir: answer.Torch, Machine: answer.Machine, SitePackages: packageFolders(answer.Path)}
	refuse := func(reason ProbeReason, hint, format string, args ...any) (Torch, error) {
		return t, &ProbeError{Reason: reason, Python: python, Detail: fmt.Sprintf(format, args...), Hint: hint}
	}
	if answer.System != "Linux" {
		return refuse(NotLinux, "run it in a Linux container or on a login node", "captures need Linux, this is %s", answer.System)
	}
	if answer.Torch == "" {
		return refuse(NoTorch, "pip install torch, or name the interpreter that has it", "PyTorch is not installed there")
	}
	if answer.Machine != "x86_64" {
		return refuse(OtherMachine, "", "captures need x86-64, this is %s", answer.Machine)
	}
	if answer.Libc != "glibc" {
		return refuse(OtherLibc, "", "captures need glibc, which this interpreter does not use")
	}
	version, err := os.ReadFile(filepath.Join(t.Dir, "version.py"))
	if err != nil {
		return t, fmt.Errorf("probe %s: %w", python, err)
	}
	v := parseVersionFile(version)
	t.Version, t.CUDA = v.version, v.cuda
	switch major, _, ok := twoNumbers(v.version); {
	case !ok:
		return refuse(NoTorch, "", "torch/version.py in %s names no version", t.Dir)
	case major < 2:
		return refuse(TooOld, "PyTorch 2.0 and newer work", "PyTorch %s is too old", v.version)
	case v.hip != "":
		return refuse(ROCm, "install a CUDA build, its GPU libraries are not needed", "PyTorch %s is built for ROCm", v.version)
	case v.cuda == "":
		return refuse(CPUOnly, "install a CUDA build, its GPU libraries are not needed: pip install --no-deps torch", "PyTorch %s is built without CUDA", v.version)
	}
	if n := t.CUDANumber(); n < 11000 || n >= 14000 {
		return refuse(UnknownCUDA, "", "PyTorch %s is built for CUDA %s; 11, 12 and 13 are known", v.version, v.cuda)
	}
	return t, nil
}

// CUDANumber is the version as CUDA writes it: 13020 for "13.2", 0 when unknown.
func (t Torch) CUDANumber() int {
	major, minor, ok := twoNumbers(t.CUDA)
	if !ok {
		return 0
	}
	return major*1000 + minor*10
}

func ask(ctx context.Context, python string) (probeAnswer, error) {
	var answer probeAnswer
	cmd := exec.CommandContext(ctx, python, "-c", probeProgram)
	cmd.Env = withoutPreload(os.Environ())
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if ctx.Err() != nil {
		return answer, ctx.Err()
	}
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		return answer, &ProbeError{Reason: NoInterpreter, Python: python, Detail: "it did not run: " + lastLine(stderr.String())}
	case err != nil:
		return answer, &ProbeError{Reason: NoInterpreter, Python: python, Detail: "no such Python interpreter", Hint: "name one with --python, or activate its environment"}
	}
	// A sitecustomize of the user's may print; the answer is the last line.
	if err := json.Unmarshal([]byte(lastLine(string(out))), &answer); err != nil {
		return answer, &ProbeError{Reason: NoInterpreter, Python: python, Detail: "it does not answer as a Python interpreter"}
	}
	return answer, nil
}

func lastLine(s string) string {
	s = strings.TrimRight(s, "\r\n ")
	return s[strings.LastIndexByte(s, '\n')+1:]
}

func withoutPreload(env []string) []string {
	var kept []string
	for _, e := range env {
		if !strings.HasPrefix(e, "LD_PRELOAD=") {
			kept = append(kept, e)
		}
	}
	return kept
}

func packageFolders(path []string) []string {
	var dirs []string
	for _, p := range path {
		if base := filepath.Base(p); base == "site-packages" || base == "dist-packages" {
			dirs = append(dirs, p)
		}
	}
	return dirs
}

type torchVersion struct{ version, cuda, hip string }

// versionLine matches "__version__ = '2.6.0+cu124'" and "cuda: Optional[str] = '12.4'".
var versionLine = regexp.MustCompile(`(?m)^(__version__|cuda|hip|rocm)\b[^=\n]*=\s*(?:TorchVersion\()?['"]([^'"\n]*)['"]`)

func parseVersionFile(text []byte) torchVersion {
	var v torchVersion
	for _, m := range versionLine.FindAllSubmatch(text, -1) {
		switch value := string(m[2]); string(m[1]) {
		case "__version__":
			v.version = value
		case "cuda":
			v.cuda = value
		case "hip", "rocm":
			v.hip = value
		}
	}
	return v
}

var leadingNumbers = regexp.MustCompile(`^(\d{1,4})\.(\d{1,4})`)

func twoNumbers(s string) (major, minor int, ok bool) {
	m := leadingNumbers.FindStringSubmatch(s)
	if m == nil {
		return 0, 0, false
	}
	major, _ = strconv.Atoi(m[1])
	minor, _ = strconv.Atoi(m[2])
	return major, minor, true
}
