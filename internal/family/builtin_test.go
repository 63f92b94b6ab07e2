package family

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/internal/recipe"
)

func TestBuiltinsAreWhole(t *testing.T) {
	seen := map[string]string{}
	for _, e := range Builtins() {
		for _, n := range append(append([]string{e.Name}, e.Also...), e.Hub...) {
			n = strings.ToLower(n)
			if seen[n] != "" {
				t.Errorf("%s is there twice: %s and %s", n, seen[n], e.Name)
			}
			seen[n] = e.Name
		}
		m, err := e.Model(Options{})
		if err != nil {
			t.Errorf("%s: %v", e.Name, err)
			continue
		}
		if m.Family != e.Family || m.Name != e.Name || m.Source != "builtin" || e.Parameters <= 0 || len(e.Tasks) == 0 {
			t.Errorf("%s: %+v", e.Name, m)
		}
		for _, task := range e.Tasks {
			if m, err := e.Model(Options{Task: task}); err != nil || m.Task != task {
				t.Errorf("%s for %s: %v", e.Name, task, err)
			}
		}
		for _, w := range m.Warnings {
			if w.Code == "absent-key" || w.Code == "guessed-family" {
				t.Errorf("%s: %s", e.Name, w.Message)
			}
		}
	}
	if len(seen) < 300 {
		t.Errorf("%d names", len(seen))
	}
}

// TestTablesAreReadByLine finds every entry by each of its names without the index,
// which needs one entry on a line.
func TestTablesAreReadByLine(t *testing.T) {
	n := 0
	for _, library := range libraries {
		for i := range len(table(library)) {
			if table(library)[i] > 126 {
				t.Fatalf("%s: byte %d is no ASCII", library, i)
			}
		}
	}
	for _, e := range Builtins() {
		for _, s := range e.spellings() {
			got, ok := exactly(strings.ToUpper(s))
			if !ok || got.Name != e.Name || got.Library != e.Library || got.Family != e.Family || !slices.Equal(got.Tasks, e.Tasks) {
				t.Errorf("%s of %s: %+v", s, e.Name, got)
			}
			n++
		}
	}
	for _, name := range []string{"", "llama", "transformers", "name", "bertforma\"skedlm", "K"} {
		if e, ok := exactly(name); ok {
			t.Errorf("%q is %s", name, e.Name)
		}
	}
	if n < 300 {
		t.Errorf("%d names", n)
	}
}

// TestTotalsOfTheReference compares with the table that the totals come from.
func TestTotalsOfTheReference(t *testing.T) {
	text, err := os.ReadFile("testdata/totals.txt")
	if err != nil {
		t.Fatal(err)
	}
	have := map[string]bool{}
	for _, e := range Builtins() {
		have[fmt.Sprintf("%s %d", e.Family, e.Parameters)] = true
	}
	n := 0
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		n++
		if f := strings.Fields(line); !have[f[0]+" "+f[1]] {
			t.Errorf("no built-in model for %s", strings.TrimSpace(line))
		}
	}
	if n != 151 {
		t.Errorf("%d totals, want 151", n)
	}
}

// builtin is the model of a name with the task of its architecture.
func builtin(t *testing.T, name string) *Model {
	t.Helper()
	e, ok := FindBuiltin(name)
	if !ok {
		t.Fatalf("%s is not known", name)
	}
	m, err := e.Model(Options{})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return m
}

func TestFindBuiltin(t *testing.T) {
	tests := []struct{ name, want string }{
		{"llama-3.1-8b", "llama-3.1-8b"},
		{"meta-llama/Llama-3.1-8B", "llama-3.1-8b"},
		{"Llama-3.1-8B-Instruct", "llama-3.1-8b"},
		{"meta-llama/Meta-Llama-3.1-8B-Instruct", "llama-3.1-8b"},
		{"unsloth/Llama-3.2-1B-Instruct", "llama-3.2-1b"},
		{"LLAMA 3.1 8B", "llama-3.1-8b"},
		{"bert-base-uncased", "bert-base-uncased"},
		{"google-bert/bert-base-uncased", "bert-base-uncased"},
		{"openai-community/gpt2", "gpt2"},
		{"mistralai/Mistral-7B-Instruct-v0.2", "mistral-7b-v0.2"},
		{"mistralai/Mixtral-8x22B-Instruct-v0.1", "mixtral-8x22b-v0.3"},
		{"mistralai/Mixtral-8x22B-v0.1", "mixtral-8x22b-v0.1"},
		{"Qwen/Qwen2.5-7B-Instruct", "qwen2.5-7b"},
		{"google/gemma-2-9b-it", "gemma-2-9b"},
		{"resnet-50", "resnet50"},
		{"ResNet50", "resnet50"},
		{"vit-b-16", "vit_b_16"},
		{"torchvision/vit_b_16", "vit_b_16"},
		{"meta-llama/Llama-3.1-8B-Instruct", "llama-3.1-8b"},
		{"llama3.1-8b", "llama-3.1-8b"},
		{"llama-3-1-8b", "llama-3.1-8b"},
		{"llama_3.1_8b_instruct", "llama-3.1-8b"},
		{"pythia1.4b", "pythia-1.4b"},
		{"pythia-1-4b", "pythia-1.4b"},
		{"gemma3-1b", "gemma-3-1b"},
		{"qwen2.5-1.5b", "qwen2.5-1.5b"},
		{"Qwen/Qwen2.5-1.5B", "qwen2.5-1.5b"},

		// A separator between digits that is missing, or somewhere else.
		{"qwen2-57b", ""},
		{"Qwen/Qwen2-57B", ""},
		{"qwen2-57b-instruct", ""},
		{"pythia-14b", ""},
		{"EleutherAI/pythia-14b", ""},
		{"gemma-31b", ""},
		{"google/gemma-31b-it", ""},
		{"gemma-3.1b", ""},
		{"Qwen2.5-15B", ""},
		{"Qwen/Qwen2.5-15B", ""},
		{"unsloth/Qwen2.5-15B", ""},
		{"llama-31-8b", ""},
		{"regnet_y_1.6gf", ""},

		// Ids are spelled in full.
		{"meta-llama/Llama3.1-8B", ""},
		{"unsloth/llama318b", ""},
		{"someone/llama-3.1-8b", ""},
		{"microsoft/resnet-50", ""},
		{"llama-9-8b", ""},
		{"bert-base", ""},
		{"", ""},
		{"/", ""},
		{strings.Repeat("a", 1000), ""},
	}
	for _, tc := range tests {
		if e, _ := FindBuiltin(tc.name); e.Name != tc.want {
			t.Errorf("%q is %q, want %q", tc.name, e.Name, tc.want)
		}
	}
}

func TestNearestBuiltins(t *testing.T) {
	for name, want := range map[string]string{"bert-base-uncase": "bert-base-uncased", "resnet51": "resnet50", "lama-3.1-8b": "llama-3.1-8b",
		"qwen2-57b": "qwen2.5-7b", "pythia-14b": "pythia-1.4b", "gemma-31b": "gemma-3-1b", "Qwen/Qwen2.5-15B": "qwen2.5-1.5b"} {
		if got := NearestBuiltins(name); len(got) == 0 || len(got) > 3 || got[0] != want {
			t.Errorf("%s: %v, want %s first", name, got, want)
		}
	}
	if got := NearestBuiltins("zzzzzzzzzzzz"); got != nil {
		t.Errorf("nothing is close: %v", got)
	}
}

func TestOwnHead(t *testing.T) {
	m := builtin(t, "google/flan-t5-base")
	if m.Structure != "gated-own-head" || m.Task != recipe.Seq2SeqLM {
		t.Errorf("%+v", m)
	}
}
