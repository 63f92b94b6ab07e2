package lint

import (
	"errors"
	"testing"

	"github.com/plimsoll-dev/plimsoll/internal/pyast"
)

func TestFixed(t *testing.T) {
	src := "import torch\nx = f(1, 2)\n"
	f, err := NewProject([]string{"a.py"}).open("a.py", []byte(src), pyast.Parse)
	if err != nil {
		t.Fatal(err)
	}
	fix := func(edits ...Edit) *Fix { return &Fix{"t", true, edits} }
	for name, tt := range map[string]struct {
		fixes []*Fix
		want  string
		made  int
	}{
		"one":                 {[]*Fix{fix(Edit{19, 20, "3"})}, "import torch\nx = f(3, 2)\n", 1},
		"two":                 {[]*Fix{fix(Edit{22, 23, "4"}), fix(Edit{19, 20, "3"})}, "import torch\nx = f(3, 4)\n", 2},
		"they overlap":        {[]*Fix{fix(Edit{19, 23, "5"}), fix(Edit{22, 23, "4"})}, "import torch\nx = f(5)\n", 1},
		"whole or not":        {[]*Fix{fix(Edit{13, 14, "y"}), fix(Edit{13, 14, "z"}, Edit{22, 23, "4"})}, "import torch\ny = f(1, 2)\n", 1},
		"the same import":     {[]*Fix{fix(Edit{0, 0, "import a\n"}, Edit{19, 20, "3"}), fix(Edit{0, 0, "import a\n"}, Edit{22, 23, "4"})}, "import a\nimport torch\nx = f(3, 4)\n", 2},
		"two at one place":    {[]*Fix{fix(Edit{23, 23, ", 3"}), fix(Edit{23, 23, ", 4"})}, "import torch\nx = f(1, 2, 3)\n", 1},
		"one breaks it":       {[]*Fix{fix(Edit{19, 20, "3"}), fix(Edit{23, 24, ""})}, "import torch\nx = f(3, 2)\n", 1},
		"outside of the file": {[]*Fix{fix(Edit{19, 200, "3"})}, src, 0},
	} {
		out, made, err := Fixed(f, []byte(src), tt.fixes)
		if string(out) != tt.want || len(made) != tt.made || err != nil {
			t.Errorf("%s: %d made, %v:\n%s", name, len(made), err, out)
		}
	}
	if _, made, err := Fixed(f, []byte(src), []*Fix{fix(Edit{23, 24, ""})}); !errors.Is(err, ErrBroken) || made != nil {
		t.Errorf("%v: a fix that breaks the file was made", err)
	}
}
