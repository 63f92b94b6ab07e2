package vgpu

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseVersionFile(t *testing.T) {
	cases := []struct {
		name, text string
		want       torchVersion
	}{
		{"2.15 annotates its types", "from typing import Optional\n__version__ = '2.15.0+cu132'\ndebug = False\ncuda: Optional[str] = '13.2'\nhip: Optional[str] = None\nrocm: Optional[str] = None\n", torchVersion{"2.15.0+cu132", "13.2", ""}},
		{"2.0 does not", "__version__ = '2.0.1+cu117'\ncuda = '11.7'\nhip = None\n", torchVersion{"2.0.1+cu117", "11.7", ""}},
		{"a CPU build has no CUDA", "__version__ = '2.6.0+cpu'\ncuda = None\nhip = None\n", torchVersion{"2.6.0+cpu", "", ""}},
		{"a ROCm build has hip", "__version__ = '2.6.0+rocm6.2'\ncuda = None\nhip = '6.2.41133'\n", torchVersion{"2.6.0+rocm6.2", "", "6.2.41133"}},
		{"an empty file says nothing", "", torchVersion{}},
		{"a name that only begins alike is another", "cuda_archs = 'x'\n", torchVersion{}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := parseVersionFile([]byte(c.text)); got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

// fakePython writes a script that answers as an interpreter would.
func fakePython(t *testing.T, system, machine, libc, torch string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "python")
	answer := fmt.Sprintf(`{"executable": %q, "system": %q, "machine": %q, "libc": %q, "path": ["/nowhere/site-packages"], "torch": %q}`, path, system, machine, libc, torch)
	script := "#!/bin/sh\necho 'a sitecustomize may print'\necho '" + answer + "'\n"
	if err := os.WriteFile(path, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

// fakeTorch writes a torch/version.py.
func fakeTorch(t *testing.T, version string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "version.py"), []byte(version), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestProbeRefuses(t *testing.T) {
	good := "__version__ = '2.6.0+cu124'\ncuda = '12.4'\n"
	cases := []struct {
		name                               string
		system, machine, libc, versionFile string
		noTorch                            bool
		want                               ProbeReason
	}{
		{name: "macOS", system: "Darwin", machine: "arm64", versionFile: good, want: NotLinux},
		{name: "no torch", system: "Linux", machine: "x86_64", libc: "glibc", noTorch: true, want: NoTorch},
		{name: "another processor", system: "Linux", machine: "aarch64", libc: "glibc", versionFile: good, want: OtherMachine},
		{name: "musl", system: "Linux", machine: "x86_64", libc: "", versionFile: good, want: OtherLibc},
		{name: "a CPU build", system: "Linux", machine: "x86_64", libc: "glibc", versionFile: "__version__ = '2.6.0+cpu'\ncuda = None\n", want: CPUOnly},
		{name: "a ROCm build", system: "Linux", machine: "x86_64", libc: "glibc", versionFile: "__version__ = '2.6.0+rocm6.2'\ncuda = None\nhip = '6.2'\n", want: ROCm},
		{name: "PyTorch 1", system: "Linux", machine: "x86_64", libc: "glibc", versionFile: "__version__ = '1.13.1+cu117'\ncuda = '11.7'\n", want: TooOld},
		{name: "a CUDA of the future", system: "Linux", machine: "x86_64", libc: "glibc", versionFile: "__version__ = '3.0.0'\ncuda = '14.0'\n", want: UnknownCUDA},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			torch := ""
			if !c.noTorch {
				torch = fakeTorch(t, c.versionFile)
			}
			_, err := Probe(t.Context(), fakePython(t, c.system, c.machine, c.libc, torch))
			var probe *ProbeError
			if !errors.As(err, &probe) {
				t.Fatalf("got %v, want a *ProbeError", err)
			}
			if probe.Reason != c.want {
				t.Errorf("reason %d (%v), want %d", probe.Reason, err, c.want)
			}
		})
	}
}

func TestProbeFindsTorch(t *testing.T) {
	torch := fakeTorch(t, "__version__ = '2.6.0+cu124'\ncuda = '12.4'\n")
	python := fakePython(t, "Linux", "x86_64", "glibc", torch)
	got, err := Probe(t.Context(), python)
	if err != nil {
		t.Fatal(err)
	}
	want := Torch{Python: python, Dir: torch, Version: "2.6.0+cu124", CUDA: "12.4", SitePackages: []string{"/nowhere/site-packages"}, Machine: "x86_64"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if n := got.CUDANumber(); n != 12040 {
		t.Errorf("CUDA number %d, want 12040", n)
	}
}

func TestProbeWithoutAnInterpreter(t *testing.T) {
	broken := filepath.Join(t.TempDir(), "python")
	if err := os.WriteFile(broken, []byte("#!/bin/sh\necho 'no module named site' >&2\nexit 1\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, python := range []string{filepath.Join(t.TempDir(), "absent"), broken, "/bin/true"} {
		_, err := Probe(t.Context(), python)
		var probe *ProbeError
		if !errors.As(err, &probe) || probe.Reason != NoInterpreter {
			t.Errorf("%s: got %v, want NoInterpreter", python, err)
		}
	}
}
