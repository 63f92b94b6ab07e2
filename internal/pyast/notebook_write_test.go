package pyast

import (
	"encoding/json"
	"strings"
	"testing"
)

const book = `{
 "cells": [
  {"cell_type": "markdown", "source": ["# caf\u00e9"], "source2": 1},
  {
   "cell_type": "code",
   "metadata": {"a": [1, 2.50]},
   "outputs": [{"text": "x <b>"}],
   "source": [
    "%matplotlib inline\n",
    "s = 'caf\u00e9 <b>'\n",
    "x = 1"
   ]
  },
  {"cell_type": "code", "source": "y = 2\n"}
 ],
 "nbformat": 4
}
`

func TestNotebookWrite(t *testing.T) {
	n, err := ReadNotebook([]byte(book))
	if err != nil {
		t.Fatal(err)
	}
	src := string(n.Source)
	edit := func(old, text string) Splice {
		at := strings.Index(src, old)
		return Splice{at, at + len(old), text}
	}
	out, err := n.Write([]byte(book), []Splice{edit("y = 2", "y = '<é>'"), edit("x = 1", "x = 3\nz = \"4\"")})
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Replace(book, `    "x = 1"`, "    \"x = 3\\n\",\n    \"z = \\\"4\\\"\"", 1)
	want = strings.Replace(want, `"y = 2\n"`, `"y = '<é>'\n"`, 1)
	if string(out) != want {
		t.Errorf("got:\n%s\nwant:\n%s", out, want)
	}
	if !json.Valid(out) {
		t.Error("no JSON")
	}
	if _, err := n.Write([]byte(book), []Splice{{0, len(src), ""}}); err == nil {
		t.Error("an edit over several cells was made")
	}
	if same, err := n.Write([]byte(book), nil); err != nil || string(same) != book {
		t.Errorf("%v: without edits the file changed", err)
	}
}

// FuzzNotebookWrite: what is written reads as the source with the edit.
func FuzzNotebookWrite(f *testing.F) {
	f.Add([]byte(book), 25, 2, "z\n")
	f.Add([]byte(`{"worksheets":[{"cells":[{"cell_type":"code","input":["a\n","b\n"]}]}]}`), 0, 1, "")
	f.Fuzz(func(t *testing.T, raw []byte, at, length int, text string) {
		n, err := ReadNotebook(raw)
		if err != nil || at < 0 || length < 0 || at > len(n.Source) || length > len(n.Source)-at {
			return
		}
		out, err := n.Write(raw, []Splice{{at, at + length, text}})
		if err != nil {
			return
		}
		if _, err := ReadNotebook(out); err != nil {
			t.Errorf("%v in %s", err, out)
		}
	})
}
