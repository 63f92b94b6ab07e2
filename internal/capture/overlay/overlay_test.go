package overlay

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A bench is a tree of files and an overlay over it.
type bench struct {
	library string
	python  string
	tree    string // working directory of scripts
	run     string // the allowed folder
}

func newBench(t *testing.T) *bench {
	t.Helper()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3")
	}
	library, err := Prepare(t.Context(), sharedCache(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	// Short and without links, whatever the temporary folder is.
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	// Random links lead out of the tree, so it has a folder around it.
	b := &bench{library, python, filepath.Join(top, "outer", "tree"), filepath.Join(top, "run")}
	for _, dir := range []string{b.outer(), b.tree, b.run, filepath.Join(b.run, "tmp")} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

func (b *bench) outer() string { return filepath.Dir(b.tree) }

var cache string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "plimsoll-overlay-*")
	if err != nil {
		panic(err)
	}
	cache = dir
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

func sharedCache(t *testing.T) string {
	t.Helper()
	return cache
}

// write puts files into the tree; a value that begins with "->" is a link.
func (b *bench) write(t *testing.T, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(b.tree, name)
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		if target, isLink := strings.CutPrefix(text, "->"); err == nil && isLink {
			err = os.Symlink(target, path)
		} else if err == nil {
			err = os.WriteFile(path, []byte(text), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// under runs a program under the overlay and returns what it printed.
func (b *bench) under(t *testing.T, args ...string) string {
	t.Helper()
	value, err := Config{Root: filepath.Join(b.run, "overlay"), Log: b.log(), Allow: []string{b.run}}.Value()
	if err != nil {
		t.Fatal(err)
	}
	return b.command(t, []string{Variable + "=" + value, "LD_PRELOAD=" + b.library, "TMPDIR=" + filepath.Join(b.run, "tmp")}, args)
}

func (b *bench) native(t *testing.T, args ...string) string {
	t.Helper()
	return b.command(t, nil, args)
}

func (b *bench) command(t *testing.T, env, args []string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
	cmd.Dir = b.tree
	cmd.Env = append(append(os.Environ(), "PYTHONHASHSEED=0", "PYTHONDONTWRITEBYTECODE=1", "LC_ALL=C.UTF-8"), env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}

func (b *bench) log() string { return filepath.Join(b.run, "files.log") }

// changes are what the log says, with paths below the tree.
func (b *bench) changes(t *testing.T) []string {
	t.Helper()
	list, err := ReadLog(b.log())
	if err != nil {
		t.Fatal(err)
	}
	out := []string{}
	for _, c := range list {
		out = append(out, string(c.Action)+" "+strings.TrimPrefix(c.Path, b.tree+"/"))
	}
	return out
}

// state is everything about a tree that a program could change.
func state(t *testing.T, dir string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := os.Lstat(path)
		if err != nil {
			return err
		}
		line := fmt.Sprintf("%s %v %v", path, info.Mode(), info.ModTime())
		switch {
		case info.Mode().IsRegular():
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			line += " " + string(text)
		case info.Mode()&fs.ModeSymlink != 0:
			target, err := os.Readlink(path)
			if err != nil {
				return err
			}
			line += " -> " + target
		}
		out = append(out, line)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// someFiles is the tree that random things are done to.
func someFiles(tree string) map[string]string {
	return map[string]string{
		"a": "A\n", "dir/b": "longer text\n", "dir/deep/x.txt": "X\n", "dir/with space": "Y\n", "b": "->dir",
		"dir/c": "->deep/x.txt", "dir/deep/a": "->" + tree + "/a", "c/é": "E\n", "dir/deep/dir/keep": "K",
	}
}

func TestRandomOperations(t *testing.T) {
	seeds, steps := 12, "250"
	if n, err := strconv.Atoi(os.Getenv("PLIMSOLL_SEEDS")); err == nil {
		seeds = n
	}
	script, err := filepath.Abs("testdata/random_ops.py")
	if err != nil {
		t.Fatal(err)
	}
	for seed := range seeds {
		t.Run(strconv.Itoa(seed), func(t *testing.T) {
			b := newBench(t)
			b.write(t, someFiles(b.tree))
			args := []string{b.python, script, strconv.Itoa(seed), steps}
			want := b.native(t, args...)
			if err := os.RemoveAll(b.outer()); err != nil {
				t.Fatal(err)
			}
			b.write(t, someFiles(b.tree))
			before := state(t, b.outer())
			got := b.under(t, args...)
			if diff := cmp.Diff(before, state(t, b.outer())); diff != "" {
				t.Fatalf("the originals changed, -before +after\n%s", diff)
			}
			if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(got, "\n")); diff != "" {
				t.Errorf("-for real +under the overlay\n%.3000s", diff)
			}
		})
	}
}

func TestScripts(t *testing.T) {
	for _, c := range []struct {
		name    string
		files   map[string]string
		script  string   // Python; prints what it sees
		want    string   // what it must see
		changes []string // what the log must say
	}{
		{
			name:   "a checkpoint is overwritten",
			files:  map[string]string{"ck/model.bin": "precious"},
			script: `open("ck/model.bin", "wb").write(b"zeros"); print(open("ck/model.bin").read(), os.listdir("ck"))`,
			want:   "zeros ['model.bin']", changes: []string{"overwrite ck/model.bin"},
		},
		{
			name:   "a log is appended to",
			files:  map[string]string{"log.txt": "one\n"},
			script: `open("log.txt", "a").write("two\n"); print(open("log.txt").read().split())`,
			want:   "['one', 'two']", changes: []string{"overwrite log.txt"},
		},
		{
			name: "a checkpoint goes through a temporary name",
			script: `os.makedirs("out/tmp-1"); open("out/tmp-1/w", "w").write("w"); os.rename("out/tmp-1", "out/step-1")
print(os.listdir("out"), open("out/step-1/w").read())`,
			want: "['step-1'] w", changes: []string{"create out", "create out/step-1"},
		},
		{
			name:  "old checkpoints are deleted",
			files: map[string]string{"out/step-1/w": "1", "out/step-2/w": "2"},
			script: `shutil.rmtree("out/step-1"); print(os.listdir("out"), os.path.exists("out/step-1/w"))
os.makedirs("out/step-1"); print(os.listdir("out/step-1"))`,
			want: "['step-2'] False\n[]", changes: []string{"delete out/step-1/w", "overwrite out/step-1"},
		},
		{
			name:  "a large original is moved without copying it, then written",
			files: map[string]string{"big": "0123456789"},
			script: `os.rename("big", "big.old"); print(os.listdir(), open("big.old").read(), os.path.islink("big.old"))
open("big.old", "r+").write("X"); open("big", "w").write("new"); print(open("big.old").read(), open("big").read(), sorted(os.listdir()))`,
			want: "['big.old'] 0123456789 False\nX123456789 new ['big', 'big.old']", changes: []string{"overwrite big.old", "overwrite big"},
		},
		{
			name: "a database",
			script: `import sqlite3
for n in range(2):
    db = sqlite3.connect("data.db"); db.execute("create table if not exists t (x)"); db.execute("insert into t values (%d)" % n); db.commit()
    print(db.execute("select * from t").fetchall()); db.close()
db = sqlite3.connect("data.db"); db.execute("pragma journal_mode=wal"); db.execute("insert into t values (7)"); db.commit(); db.close()
print(sorted(os.listdir()))`,
			want: "[(0,)]\n[(0,), (1,)]\n['data.db']", changes: []string{"create data.db"},
		},
		{
			name:  "shared memory of a file",
			files: map[string]string{"map": "0123456789"},
			script: `import mmap
with open("map", "r+b") as f, mmap.mmap(f.fileno(), 0) as m: m[0:2] = b"XY"
print(open("map").read())`,
			want: "XY23456789", changes: []string{"overwrite map"},
		},
		{
			name:  "pathlib and tempfile",
			files: map[string]string{"dir/x": "x"},
			script: `p = pathlib.Path("dir"); (p / "sub").mkdir(parents=True, exist_ok=True); (p / "sub" / "y").write_text("y"); (p / "x").touch()
print(sorted(str(q) for q in p.rglob("*")), sorted(glob.glob("**", recursive=True)))
with tempfile.TemporaryDirectory(dir="dir") as d: open(os.path.join(d, "t"), "w"); print(len(os.listdir("dir")))
with tempfile.NamedTemporaryFile(dir=".") as f: print(os.path.exists(f.name))
print(sorted(os.listdir("dir")), sorted(os.listdir()))`,
			want:    "['dir/sub', 'dir/sub/y', 'dir/x'] ['dir', 'dir/sub', 'dir/sub/y', 'dir/x']\n3\nTrue\n['sub', 'x'] ['dir']",
			changes: []string{"create dir/sub", "create dir/sub/y"},
		},
		{
			name:  "children, also without an environment",
			files: map[string]string{"a": "a\n"},
			script: `print(subprocess.check_output("echo b >> a; cat a; cp a c; rm a; ls", shell=True, text=True).split())
subprocess.run(["/bin/sh", "-c", "echo d > d"], env={}); subprocess.run(["/bin/sh", "-c", "echo e > e"], env={"LD_PRELOAD": ""})
with open("f", "w") as f: subprocess.run(["echo", "f"], stdout=f)
os.posix_spawn("/bin/sh", ["sh", "-c", "echo g > g"], {}); os.wait()
print(sorted(os.listdir()))`,
			want:    "['a', 'b', 'c']\n['c', 'd', 'e', 'f', 'g']",
			changes: []string{"delete a", "create c", "create d", "create e", "create f", "create g"},
		},
		{
			name: "workers and threads",
			script: `import multiprocessing as mp, concurrent.futures as cf
def work(n):
    for i in range(20):
        os.makedirs("w/%d" % (i % 3), exist_ok=True); p = "w/%d/%d-%d" % (i % 3, n, i); open(p, "w").write(str(i)); os.replace(p, p + "x")
    return len(glob.glob("w/*/%d-*x" % n))
if __name__ == "__main__":
    with cf.ThreadPoolExecutor(4) as pool: print(list(pool.map(work, range(4))))
    with mp.get_context("fork").Pool(3) as pool: print(pool.map(work, range(10, 13)))
    print(len(glob.glob("w/*/*")))`,
			want: "[20, 20, 20, 20]\n[20, 20, 20]\n140",
		},
		{
			name:  "attributes of originals stay",
			files: map[string]string{"a": "a"},
			script: `os.chmod("a", 0); os.utime("a", (1, 1)); fd = os.open("a", os.O_RDONLY); os.fchmod(fd, 0o777); os.utime(fd, (1, 1))
print(open("a").read()); open("b", "w"); os.chmod("b", 0o640); os.utime("b", (5, 5)); print(oct(os.stat("b").st_mode), os.stat("b").st_mtime)
shutil.copy2("a", "c"); print(open("c").read())`,
			want: "a\n0o100640 5.0\na", changes: []string{"create b", "create c"},
		},
		{
			name:    "a working directory that is only in the overlay",
			script:  `os.mkdir("d"); os.chdir("d"); open("x", "w"); print(os.path.relpath(os.getcwd(), "..") , os.path.abspath("x") == os.path.realpath("x"), os.listdir(".."), subprocess.check_output("basename $(pwd)", shell=True, text=True).strip()); os.chdir(".."); print(os.listdir())`,
			want:    "d True ['d'] d\n['d']",
			changes: []string{"create d", "create d/x"},
		},
		{
			name:   "devices and the allowed folder",
			script: `open("/dev/null", "w").write("x"); open(os.path.join(tempfile.gettempdir(), "t"), "w").write("t"); open("/dev/shm/plimsoll-test", "w"); os.unlink("/dev/shm/plimsoll-test"); print(os.listdir(tempfile.gettempdir()))`,
			want:   "['t']",
		},
		{
			name:  "a system folder",
			files: map[string]string{"a": "a"},
			script: `
try: open("/etc/plimsoll-test.conf", "w").write("x"); print(os.path.exists("/etc/plimsoll-test.conf"), "plimsoll-test.conf" in os.listdir("/etc"))
except PermissionError: print("True True")`,
			want: "True True",
		},
		{
			name:    "names with tabs, newlines and all lengths",
			script:  `open("a\tb\nc\\d", "w"); n = "n" * 255; open(n, "w"); print(len(os.listdir()), os.path.exists(n)); os.rename(n, "m" * 255); os.unlink("m" * 255)`,
			want:    "2 True",
			changes: []string{"create a\tb\nc\\d"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t)
			b.write(t, c.files)
			before := state(t, b.outer())
			script := "import glob, os, pathlib, shutil, subprocess, sys, tempfile\n" + c.script + "\n"
			got := strings.TrimSpace(b.under(t, b.python, "-c", script))
			if got != c.want {
				t.Errorf("the script saw\n%s\nwant\n%s", got, c.want)
			}
			if diff := cmp.Diff(before, state(t, b.outer())); diff != "" {
				t.Errorf("the originals changed, -before +after\n%s", diff)
			}
			if c.changes != nil {
				if diff := cmp.Diff(b.changes(t), c.changes); diff != "" {
					t.Errorf("the log, -got +want\n%s", diff)
				}
			}
			if _, err := os.Stat("/etc/plimsoll-test.conf"); err == nil {
				t.Error("a file was made in /etc")
			}
		})
	}
}

func TestLargeOriginalsAreNotCopied(t *testing.T) {
	b := newBench(t)
	b.write(t, map[string]string{"big": strings.Repeat("x", 100)})
	value := "root=" + filepath.Join(b.run, "overlay") + ";log=" + b.log() + ";copy=10"
	out := b.command(t, []string{Variable + "=" + value, "LD_PRELOAD=" + b.library}, []string{b.python, "-c", `
import errno
try: open("big", "r+")
except OSError as e: print(e.errno == errno.ENOSPC or "shared blocks")
open("big", "w").write("emptied first"); print(open("big").read())`})
	if out != "True\nemptied first\n" && out != "emptied first\n" { // a file system that shares blocks copies any size
		t.Errorf("got %q", out)
	}
}

// TestCallsPastLibc loads a library that renames by hand, as Rust's rustix
// does; once wherever the loader likes, once with its code across a multiple of
// 4 GiB, where chance puts a program in one start of a thousand.
func TestCallsPastLibc(t *testing.T) {
	cc, err := findCompiler()
	if err != nil {
		t.Skip(err)
	}
	for _, c := range []struct {
		name  string
		flags []string
	}{
		{name: "anywhere"},
		{name: "across 4 GiB", flags: []string{"-Wl,-Ttext-segment=0x4ffffe000", "-DPADDING"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t)
			b.write(t, map[string]string{"a": "original"})
			library := filepath.Join(b.run, "raw.so")
			flags := slices.Concat(cc[1:], []string{"-O1", "-shared", "-fPIC", "testdata/past_libc.c", "-o", library}, c.flags)
			if out, err := exec.CommandContext(t.Context(), cc[0], flags...).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			before := state(t, b.outer())
			got := b.under(t, b.python, "-c", `
import ctypes, os
raw = ctypes.CDLL("`+library+`")
print(raw.touch(b"new"), raw.rename_by_hand(b"new", b"newer"), raw.rename_by_hand(b"a", b"b"), raw.rename_by_hand(b"gone", b"b"))
print(sorted(os.listdir()), open("b").read())`)
			if want := "0 0 0 -2\n['b', 'newer'] original\n"; got != want {
				t.Errorf("the script saw\n%s\nwant\n%s", got, want)
			}
			if diff := cmp.Diff(before, state(t, b.outer())); diff != "" {
				t.Errorf("the originals changed, -before +after\n%s", diff)
			}
			if diff := cmp.Diff(b.changes(t), []string{"create newer", "create b", "delete a"}); diff != "" {
				t.Errorf("the log, -got +want\n%s", diff)
			}
		})
	}
}

func TestStaticProgramsAreTold(t *testing.T) {
	cc, err := findCompiler()
	if err != nil {
		t.Skip(err)
	}
	b := newBench(t)
	source, program := filepath.Join(b.run, "main.c"), filepath.Join(b.run, "static")
	if err := os.WriteFile(source, []byte("int main(void) { return 0; }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), cc[0], append(cc[1:], "-static", source, "-o", program)...).CombinedOutput(); err != nil {
		t.Skipf("no static programs here: %s", out)
	}
	b.under(t, b.python, "-c", `import subprocess; subprocess.run(["`+program+`"], check=True); subprocess.run(["true"], check=True)`)
	if diff := cmp.Diff(b.changes(t), []string{"uncaught " + program}); diff != "" {
		t.Errorf("the log, -got +want\n%s", diff)
	}
}

func TestWithoutAVariableEverythingPasses(t *testing.T) {
	b := newBench(t)
	b.command(t, []string{"LD_PRELOAD=" + b.library}, []string{b.python, "-c", `open("a", "w").write("real")`})
	if text, err := os.ReadFile(filepath.Join(b.tree, "a")); err != nil || string(text) != "real" {
		t.Errorf("got %q, %v", text, err)
	}
}

func TestCompilesWithoutAWarning(t *testing.T) {
	for _, cc := range []string{"gcc", "clang", "aarch64-linux-gnu-gcc"} {
		t.Run(cc, func(t *testing.T) {
			if _, err := exec.LookPath(cc); err != nil {
				t.Skip(err)
			}
			if err := compile(t.Context(), t.TempDir(), []string{cc, "-Werror"}); err != nil {
				t.Error(err)
			}
		})
	}
}
