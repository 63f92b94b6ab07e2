package main

import (
	"slices"
	"testing"
)

// What decides what is recorded is in the name of the file; what only decides
// how a config is read, or how much is recorded, is not.
func TestCacheKey(t *testing.T) {
	t.Parallel()
	files := func(sources ...string) []source {
		var list []source
		for _, s := range sources {
			list = append(list, source{s[:len(s)-1], s[len(s)-1:]})
		}
		return list
	}
	py := []string{"loop.py1", "shard.py1"}
	name := func(rw *row, plan string, sources ...string) string {
		r := &recorder{sources: files(sources...), versions: [][2]string{{"torch", "2.15.0"}}}
		p, err := r.planned(rw, planOf(rw, plan)[0])
		if err != nil {
			t.Fatal(err)
		}
		return p.units[0].path
	}
	row := func(from, to string) *row { return changed(t, "llama", from, to) }
	whole := row("", "")
	base, shard := name(whole, "base", py...), name(whole, "shard", py...)
	for what, c := range map[string]struct {
		got  string
		want bool // the same
	}{
		"nothing":                  {name(row("", ""), "base", py...), true},
		"another plan":             {name(row(`"modes": ["unpadded", `, `"modes": [`), "base", py...), true},
		"another default":          {name(row(`"default": "4096"`, `"default": "2048"`), "base", py...), true},
		"another meaning":          {name(row(`"meaning": "hidden size"`, `"meaning": "width"`), "base", py...), true},
		"another draw":             {name(row("\"draw\": {\n  \"d\": \"pick(", "\"draw\": {\n  \"d\": \"pick(48,"), "base", py...), false},
		"another structure's draw": {name(row(`"draw": {"d": "pick(`, `"draw": {"d": "pick(48,`), "base", py...), true},
		"another key":              {name(row(`"key": "hidden_size"`, `"key": "n_embd"`), "base", py...), false},
		"another loop.py":          {name(whole, "base", "loop.py2", "shard.py1"), false},
		"another shard.py":         {name(whole, "base", "loop.py1", "shard.py2"), true},
		"a new file":               {name(whole, "base", append(slices.Clone(py), "new.py1")...), false},
	} {
		if (c.got == base) != c.want {
			t.Errorf("%s: %s, from %s", what, c.got, base)
		}
	}
	if name(whole, "shard", "loop.py1", "shard.py2") == shard {
		t.Error("another shard.py leaves what is sharded")
	}
	other := &recorder{versions: [][2]string{{"torch", "2.16.0"}}}
	if p, _ := other.planned(whole, planOf(whole, "base")[0]); p.units[0].path == base {
		t.Error("another PyTorch has the same name")
	}
}

// Each file of py/ that only some variants run is there, and no other is left out.
func TestSources(t *testing.T) {
	t.Parallel()
	list, err := sourcesIn("py")
	if err != nil {
		t.Fatal(err)
	}
	r := &recorder{sources: list}
	var rest []string
	for _, s := range r.sourcesOf(variant{}) {
		rest = append(rest, s.name)
	}
	if len(rest)+len(onlyFor) != len(list) || !slices.Contains(rest, "record.py") || slices.Contains(rest, "nf4.py") {
		t.Errorf("%v of %d files", rest, len(list))
	}
	if _, err := sourcesIn(t.TempDir()); err == nil {
		t.Error("a folder without py/ is enough")
	}
}
