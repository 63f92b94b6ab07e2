package command

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// world is a folder with a virtual environment in venv/ and a few scripts.
func world(t *testing.T) System {
	t.Helper()
	dir := t.TempDir()
	python := filepath.Join(dir, "venv/bin/python")
	files := map[string]string{
		"venv/bin/python":       "binary",
		"venv/bin/python3.11":   "binary",
		"venv/bin/torchrun":     "#!" + python + "\nimport sys\n",
		"venv/bin/accelerate":   "#!/bin/sh\n'''exec' \"" + python + "\" \"$0\" \"$@\"\n' '''\n",
		"venv/bin/bash":         "binary",
		"venv/bin/nice":         "binary",
		"venv/bin/ruby":         "\x7fELF",
		"train.py":              "print()",
		"runme.py":              "#!/usr/bin/env python3.11\n",
		"pkg/train.py":          "",
		"pkg/__main__.py":       "",
		"run.sh":                "#!/bin/bash\nset -e\nexport X=1\ntorchrun --nproc-per-node 2 train.py\n",
		"activate.sh":           "#!/usr/bin/env bash\nsource other/bin/activate\npython train.py\n",
		"other/bin/python":      "binary",
		"nothing.sh":            "#!/bin/bash\necho $PYTHON\n",
		"sub/plain.py":          "",
		"notexec":               "text",
		"broken":                "#!/no/such/python\n",
		"a b/bin/python":        "binary",
		"a b/bin/lightning":     "#!/bin/sh\n'''exec' \"" + filepath.Join(dir, "a b/bin/python") + "\" \"$0\" \"$@\"\n' '''\n",
		"venv/bin/numactl":      "binary",
		"venv/bin/env":          "binary",
		"envpath/python":        "binary",
		"deepspeed_example.sh":  "accelerate launch \\\n --num_processes 4 train.py",
		"venv/bin/python-shell": "binary",
	}
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		mode := os.FileMode(0o755)
		if name == "notexec" || name == "train.py" {
			mode = 0o644
		}
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	return System{Dir: dir, Getenv: func(name string) string {
		if name == "PATH" {
			return filepath.Join(dir, "venv/bin")
		}
		return ""
	}}
}

func TestResolve(t *testing.T) {
	s := world(t)
	for _, c := range []struct {
		argv, python, script, dir string
		processes                 int
	}{
		{"python train.py --batch 3", "venv/bin/python", "train.py", "", 0},
		{"python -u -W ignore -X dev sub/plain.py", "venv/bin/python", "sub/plain.py", "sub", 0},
		{"python -um pkg.train", "venv/bin/python", "pkg/train.py", "", 0},
		{"python -m pkg", "venv/bin/python", "pkg/__main__.py", "", 0},
		{"python pkg", "venv/bin/python", "pkg", "pkg", 0},
		{"python -c pass", "venv/bin/python", "", "", 0},
		{"other/bin/python train.py", "other/bin/python", "train.py", "", 0},
		{"./runme.py", "venv/bin/python3.11", "runme.py", "", 0},
		{"torchrun --nproc-per-node=2 train.py --num_gpus 9", "venv/bin/python", "train.py", "", 2},
		{"torchrun --standalone --nproc_per_node 4 sub/plain.py", "venv/bin/python", "sub/plain.py", "sub", 4},
		{"python -m torch.distributed.run --nproc-per-node 8 train.py", "venv/bin/python", "train.py", "", 8},
		{"accelerate launch --num_processes 2 train.py", "venv/bin/python", "train.py", "", 2},
		{"./a b/bin/lightning", "a b/bin/python", "", "", 0},
		{"env -u Y X=1 python train.py", "venv/bin/python", "train.py", "", 0},
		{"env PATH=envpath python train.py", "envpath/python", "train.py", "", 0},
		{"nice -n 5 python train.py", "venv/bin/python", "train.py", "", 0},
		{"numactl --cpunodebind=0 -m 0 python train.py", "venv/bin/python", "train.py", "", 0},
		{"bash run.sh", "venv/bin/python", "", "", 0},
		{"./run.sh", "venv/bin/python", "", "", 0},
		{"./activate.sh", "other/bin/python", "", "", 0},
		{"bash -c|python train.py", "venv/bin/python", "", "", 0},
		{"./deepspeed_example.sh|", "venv/bin/python", "", "", 0},
	} {
		t.Run(c.argv, func(t *testing.T) {
			argv := strings.Fields(c.argv)
			if before, last, ok := strings.Cut(c.argv, "|"); ok {
				argv = append(strings.Fields(before), last)
			}
			if strings.HasPrefix(c.argv, "./a b") {
				argv = []string{c.argv}
			}
			if c.argv == "./deepspeed_example.sh|" {
				argv = []string{"bash", "deepspeed_example.sh"}
			}
			got, err := Resolve(argv, s)
			if err != nil {
				t.Fatal(err)
			}
			rel := func(path string) string {
				if path == "" {
					return ""
				}
				r, err := filepath.Rel(s.Dir, path)
				if err != nil {
					t.Fatal(err)
				}
				return r
			}
			if rel(got.Python) != c.python || rel(got.Script) != c.script || strings.TrimPrefix(rel(got.Dir), ".") != c.dir || got.Processes != c.processes {
				t.Errorf("got python %s, script %s, folder %s, %d processes; want %+v", got.Python, got.Script, got.Dir, got.Processes, c)
			}
			if !filepath.IsAbs(got.Argv[0]) {
				t.Errorf("Argv[0] is %s", got.Argv[0])
			}
		})
	}
}

func TestResolveRefuses(t *testing.T) {
	s := world(t)
	for _, c := range []struct{ argv, want, hint string }{
		{"", "no command to capture", "python train.py"},
		{"pyton train.py", "no program pyton in PATH", "environment"},
		{"python3 train.py", "no program python3 in PATH", ""},
		{"python miss.py", "the script miss.py does not exist", "folder"},
		{"python", "without a script", "train.py"},
		{"python -m", "without a module", ""},
		{"python -", "standard input", "file"},
		{"python -I train.py", "shuts out PYTHONPATH", "-I"},
		{"train.py", "train.py is not executable", "python train.py"},
		{"./train.py", "train.py is not executable", "python ./train.py"},
		{"./sub", "is a folder", ""},
		{"./missing", "does not exist", ""},
		{"./broken", "which is not there", "python -m"},
		{"uv run train.py", "uv run chooses the environment", "uv run plimsoll capture"},
		{"conda run -n x python train.py", "conda run chooses", "conda run plimsoll"},
		{"docker run image python train.py", "a container", "inside"},
		{"srun python train.py", "another machine", ""},
		{"ruby x", "not a Python program", "--python"},
		{"bash nothing.sh", "names no Python", "--python"},
		{"bash", "no script", "--python"},
		{"nice -n 5", "runs nothing", ""},
		{"env A=b", "runs nothing", ""},
	} {
		t.Run(c.argv, func(t *testing.T) {
			got, err := Resolve(strings.Fields(c.argv), s)
			e, ok := errors.AsType[*Error](err)
			if !ok {
				t.Fatalf("got %+v, %v", got, err)
			}
			if !strings.Contains(e.Msg, c.want) || !strings.Contains(e.Hint, c.hint) {
				t.Errorf("got %q, hint %q", e.Msg, e.Hint)
			}
		})
	}
}

func TestPythonFlagNamesTheInterpreter(t *testing.T) {
	s := world(t)
	s.Python = "other/bin/python"
	for _, argv := range []string{"bash nothing.sh", "ruby x", "python train.py"} {
		c, err := Resolve(strings.Fields(argv), s)
		if err != nil || c.Python != filepath.Join(s.Dir, "other/bin/python") || c.Guessed != "" {
			t.Errorf("%s: got %s, guessed %q, %v", argv, c.Python, c.Guessed, err)
		}
	}
	s.Python = "no/such"
	if _, err := Resolve([]string{"python", "train.py"}, s); err == nil {
		t.Error("a missing --python is accepted")
	}
	s.Python = "other/bin/python"
	if _, err := Resolve([]string{"python", "miss.py"}, s); err == nil {
		t.Error("--python hides that the script is missing")
	}
}
