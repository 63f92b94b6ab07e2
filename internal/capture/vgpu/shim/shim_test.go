package shim

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func object(machine elf.Machine) Object {
	return Object{
		Machine: machine, Soname: "libfake.so.7", Needed: "libtarget.so", Versions: []string{"FAKE_1", "libfake.so.7"},
		Target: "target", Functions: []Function{{"first", "one"}, {"second", "two"}, {"third", "one"}},
	}
}

// What Go's own reader says about an object is what it was made of.
func TestBytesReadBack(t *testing.T) {
	for _, machine := range []elf.Machine{elf.EM_X86_64, elf.EM_AARCH64} {
		t.Run(machine.String(), func(t *testing.T) {
			text, err := object(machine).Bytes()
			if err != nil {
				t.Fatal(err)
			}
			f, err := elf.NewFile(bytes.NewReader(text))
			if err != nil {
				t.Fatal(err)
			}
			if f.Machine != machine || f.Type != elf.ET_DYN {
				t.Errorf("machine %v, type %v", f.Machine, f.Type)
			}
			for tag, want := range map[elf.DynTag]string{elf.DT_SONAME: "libfake.so.7", elf.DT_NEEDED: "libtarget.so", elf.DT_RUNPATH: "$ORIGIN"} {
				if got, err := f.DynString(tag); err != nil || len(got) != 1 || got[0] != want {
					t.Errorf("%v is %v, %v, want %s", tag, got, err, want)
				}
			}
			symbols, err := f.DynamicSymbols()
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, s := range symbols {
				names = append(names, fmt.Sprint(s.Name, " ", s.Section != elf.SHN_UNDEF))
			}
			if want := []string{"target false", "FAKE_1 true", "libfake.so.7 true", "first true", "second true", "third true"}; !slices.Equal(names, want) {
				t.Errorf("symbols %v, want %v", names, want)
			}
			versions, err := f.DynamicVersions()
			if err != nil || len(versions) != 3 || versions[1].Name != "FAKE_1" || versions[2].Name != "libfake.so.7" {
				t.Errorf("versions %v, %v", versions, err)
			}
		})
	}
}

func TestBytesRefuses(t *testing.T) {
	for name, o := range map[string]Object{
		"an unknown machine":       {Machine: elf.EM_PPC64, Soname: "x"},
		"no soname":                {Machine: elf.EM_X86_64},
		"functions without target": {Machine: elf.EM_X86_64, Soname: "x", Functions: []Function{{"f", "g"}}},
		"more than code can reach": {Machine: elf.EM_AARCH64, Soname: "x", Target: "t", Functions: make([]Function, 1<<16)},
	} {
		if _, err := o.Bytes(); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
}

// The loader takes an object for the library it pretends to be: a program linked
// against the real one, with its version, runs, and dlsym finds the target's
// functions through the object's handle.
func TestLoads(t *testing.T) {
	if _, err := exec.LookPath("cc"); err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("target.c", `#include <stdio.h>
int target(const char *owner, const char *name) { return printf("%s of %s\n", name, owner); }
int first_real(void) { return 42; }`)
	write("real.c", "int first(void) { return 0; }\nint second(void) { return 0; }\n")
	write("map", "FAKE_1 { global: *; };\n")
	write("main.c", `#include <dlfcn.h>
#include <stdio.h>
int first(void), second(void);
int main(void)
{
	int (*real)(void) = (int (*)(void))dlsym(dlopen("libfake.so.7", RTLD_NOW), "first_real");
	printf("%d\n", first());
	second();
	return real ? real() : 1;
}`)
	cc := func(args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "cc", args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	cc("-shared", "-fPIC", "target.c", "-o", "libtarget.so", "-Wl,-soname,libtarget.so")
	cc("-shared", "-fPIC", "real.c", "-o", "libfake.so.7", "-Wl,-soname,libfake.so.7", "-Wl,--version-script,map")
	cc("main.c", "-o", "main", "libfake.so.7", "-ldl")
	if err := os.Remove(filepath.Join(dir, "libfake.so.7")); err != nil {
		t.Fatal(err)
	}
	native := elf.EM_X86_64
	if strings.HasPrefix(machineOf(t, filepath.Join(dir, "main")), "EM_AARCH64") {
		native = elf.EM_AARCH64
	}
	text, err := object(native).Bytes()
	if err != nil {
		t.Fatal(err)
	}
	write("preloaded.so", string(text))
	// A linker takes an object too, with versions and without: Triton links its
	// launchers with libcuda.so.1.
	for _, versions := range [][]string{nil, {"FAKE_1"}} {
		bare, err := Object{Machine: native, Soname: "libbare.so", Needed: "libtarget.so", Versions: versions}.Bytes()
		if err != nil {
			t.Fatal(err)
		}
		write("libbare.so", string(bare))
		cc("-shared", "-fPIC", "main.c", "-o", "linked.so", "-l:libbare.so", "-L.")
	}
	cmd := exec.CommandContext(t.Context(), filepath.Join(dir, "main"))
	cmd.Env = append(os.Environ(), "LD_PRELOAD="+filepath.Join(dir, "preloaded.so"), "LD_BIND_NOW=1")
	out, err := cmd.CombinedOutput()
	if want := "first of one\n13\nsecond of two\n"; string(out) != want || cmd.ProcessState.ExitCode() != 42 {
		t.Errorf("exit %d (%v), output:\n%swant 42 and:\n%s", cmd.ProcessState.ExitCode(), err, out, want)
	}
}

func machineOf(t *testing.T, path string) string {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	return f.Machine.String()
}

// Every address that the code of a function forms is where it should be.
func TestCodeReaches(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		at := uint64(rapid.IntRange(0, 1<<17).Draw(t, "at")) * 4
		owner := uint64(rapid.IntRange(0, 1<<19).Draw(t, "owner"))
		name := uint64(rapid.IntRange(0, 1<<19).Draw(t, "name"))
		word := uint64(rapid.IntRange(0, 1<<16).Draw(t, "word")) * 8
		x := codeX86(at, owner, name, word)
		relative := func(i int) uint64 {
			return at + uint64(i) + 4 + uint64(int64(int32(binary.LittleEndian.Uint32(x[i:]))))
		}
		if relative(7) != owner || relative(14) != name || relative(20) != word {
			t.Fatalf("x86-64 code % x forms %d, %d, %d", x, relative(7), relative(14), relative(20))
		}
		a := codeARM(at, owner, name, word)
		adr := func(i int) uint64 {
			v := binary.LittleEndian.Uint32(a[i:])
			d := int64(int32(v>>5&0x7ffff)<<13>>13)<<2 | int64(v>>29&3)
			return at + uint64(i) + uint64(d)
		}
		literal := at + 12 + uint64(int64(int32(binary.LittleEndian.Uint32(a[12:])>>5&0x7ffff)<<13>>13)<<2)
		if adr(4) != owner || adr(8) != name || literal != word {
			t.Fatalf("arm64 code % x forms %d, %d, %d", a, adr(4), adr(8), literal)
		}
	})
}
