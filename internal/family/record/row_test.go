package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// changed is a row's file with a piece of its text in place of another.
func changed(t *testing.T, family, from, to string) *row {
	t.Helper()
	text, err := os.ReadFile("../families/" + family + ".json")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), family+".json")
	now := strings.Replace(string(text), from, to, 1)
	if from != to && now == string(text) {
		t.Fatalf("%s has no %s", family, from)
	}
	if err := os.WriteFile(path, []byte(now), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := readRow(path)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestReadRowRefuses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"plan": {"ways": "all"}}`:             `plan: ways "all"; thorough, every, or nothing, expected`,
		`{"plan": {"shapes": "few"}}`:           `plan: shapes "few"; all, or nothing, expected`,
		`{"plan": {"modes": ["train"]}}`:        `plan: mode "train"; some of unpadded, infer, shard, nf4 expected`,
		`{"plan": {"lacks": ["eval"]}}`:         `plan: lacks "eval"; some of checkpoint, one-type expected`,
		`{"plan": {"way": "thorough"}}`:         `unknown field "way"`,
		`{"plan": "thorough"}`:                  "row.json: json",
		`{"plan": {"ways": "thorough"}, "dims}`: "row.json: unexpected end",
	} {
		path := filepath.Join(t.TempDir(), "row.json")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := readRow(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// A family's plan is what its row says; a new family has the usual one.
func TestPlanIsTheRows(t *testing.T) {
	t.Parallel()
	const given = `"plan": {"ways": "thorough", "shapes": "all", "modes": ["unpadded", "infer", "shard", "nf4"]},`
	whole, none := changed(t, "llama", "", ""), changed(t, "llama", given, "")
	for _, p := range plans {
		with, without := p.of(whole), p.of(none)
		if p.name == "base" || p.name == "adapters" {
			if len(without) == 0 || len(without) >= len(with) {
				t.Errorf("%s: %d tapes, %d without a plan", p.name, len(with), len(without))
			}
		} else if len(with) == 0 || len(without) != 0 {
			t.Errorf("%s: %d tapes, %d without a plan", p.name, len(with), len(without))
		}
	}
	all, _ := variants(whole)[0].jobs(whole)
	few, _ := variants(none)[0].jobs(none)
	if len(few) >= len(all) {
		t.Errorf("%d recordings, %d without a plan", len(all), len(few))
	}
}

// What a row does not have is empty for py/, not null.
func TestGivenIsNeverNull(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("../families/*.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range append(paths, "torchvision-resnet50.json") {
		r, err := readRow(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range planOf(r, "") {
			text, err := r.given(v)
			if err != nil {
				t.Fatal(err)
			}
			var got object
			if err := json.Unmarshal(text, &got); err != nil {
				t.Fatal(err)
			}
			for key, value := range got {
				if string(value) == "null" {
					t.Fatalf("%s %s: %s is null", r.Family, v.key(), key)
				}
			}
			if v.Model == "" && (!strings.Contains(string(got["classes"]), v.Task) || !strings.Contains(string(got["structures"]), `"`+v.Structure+`"`)) {
				t.Fatalf("%s %s: %s", r.Family, v.key(), text)
			}
		}
	}
}

// What py/ gets keeps the order of what is drawn, since an expression sees the
// names before it.
func TestGiven(t *testing.T) {
	t.Parallel()
	r := changed(t, "gemma2", "", "")
	v := variants(r)[0]
	text, err := r.given(v)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Classes               map[string]string
		Dims                  []map[string]any
		Structures            []struct{ Name string }
		Draw                  json.RawMessage
		Plan, Defaults, Fixed any
	}
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Classes) != 1 || got.Classes[v.Task] == "" || len(got.Structures) != 1 || got.Structures[0].Name != v.Structure {
		t.Errorf("%s: %+v", v.key(), got)
	}
	if got.Plan != nil || got.Defaults != nil || got.Fixed != nil || got.Dims[0]["default"] != nil || got.Dims[0]["key"] == nil {
		t.Errorf("%s", text)
	}
	var draw object
	if err := json.Unmarshal(r.raw["draw"], &draw); err != nil {
		t.Fatal(err)
	}
	at := 0
	for dec := json.NewDecoder(strings.NewReader(string(r.raw["draw"]))); dec.More(); {
		name, err := dec.Token()
		if err != nil {
			t.Fatal(err)
		}
		if s, ok := name.(string); ok && draw[s] != nil {
			i := strings.Index(string(got.Draw), `"`+s+`":`)
			if i < at {
				t.Fatalf("%s is drawn too early: %s", s, got.Draw)
			}
			at = i
		}
	}
	if at == 0 {
		t.Errorf("nothing is drawn: %s", got.Draw)
	}
}
