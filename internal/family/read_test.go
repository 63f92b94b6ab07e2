package family

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-dev/plimsoll/internal/recipe"
	"github.com/plimsoll-dev/plimsoll/internal/symbolic"
)

func read(t *testing.T, text string, o Options) *Model {
	t.Helper()
	m, err := FromConfig([]byte(text), o)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return m
}

func TestFromConfig(t *testing.T) {
	tests := []struct {
		name, text string
		o          Options
		structure  string
		task       recipe.Task
		dims       symbolic.Dims
	}{
		{
			"grouped heads with their own size",
			`{"model_type":"qwen3","hidden_size":1024,"num_hidden_layers":2,"num_attention_heads":16,"num_key_value_heads":8,"intermediate_size":3072,"head_dim":128,"vocab_size":151936,"tie_word_embeddings":true}`,
			Options{}, "tied-gqa", recipe.CausalLM,
			symbolic.Dims{"h": 1024, "f": 3072, "a": 16, "k": 8, "d": 128, "V": 151936, "C": 2, "L": 2},
		},
		{
			"null means the default",
			`{"model_type":"llama","hidden_size":64,"num_hidden_layers":3,"num_attention_heads":4,"num_key_value_heads":null,"head_dim":null,"intermediate_size":100,"vocab_size":1000}`,
			Options{}, "untied-mha", recipe.CausalLM,
			symbolic.Dims{"h": 64, "f": 100, "a": 4, "k": 4, "d": 16, "V": 1000, "C": 2, "L": 3},
		},
		{
			"aliases, and what GPT-2 derives",
			`{"model_type":"gpt2","n_embd":768,"num_hidden_layers":12,"n_head":12,"vocab_size":50257,"n_positions":1024,"n_inner":null}`,
			Options{}, "tied", recipe.CausalLM,
			symbolic.Dims{"h": 768, "f": 3072, "a": 12, "d": 64, "V": 50257, "P": 1024, "C": 2, "L": 12},
		},
		{
			"the head of a class, labels by name",
			`{"model_type":"bert","architectures":["BertForSequenceClassification"],"hidden_size":128,"num_hidden_layers":2,"num_attention_heads":2,"intermediate_size":512,"vocab_size":30522,"id2label":{"0":"a","1":"b","2":"c"}}`,
			Options{}, "post-norm", recipe.SequenceClassification,
			symbolic.Dims{"h": 128, "f": 512, "a": 2, "d": 64, "V": 30522, "P": 512, "U": 2, "C": 3, "L": 2},
		},
		{
			"another task than the architecture's",
			`{"model_type":"bert","architectures":["BertForSequenceClassification"],"hidden_size":128,"num_hidden_layers":2,"num_attention_heads":2,"intermediate_size":512,"vocab_size":30522}`,
			Options{Task: recipe.MaskedLM}, "post-norm", recipe.MaskedLM, nil,
		},
		{
			"a model type of another name and its own defaults",
			`{"model_type":"mt5","vocab_size":250112}`,
			Options{}, "gated-unscaled", recipe.Seq2SeqLM,
			symbolic.Dims{"h": 512, "f": 1024, "a": 6, "d": 64, "V": 250112, "R": 32, "Le": 8, "Ld": 8},
		},
		{
			"an unset window is none",
			`{"model_type":"mistral","hidden_size":64,"num_hidden_layers":1,"num_attention_heads":4,"num_key_value_heads":2,"intermediate_size":100,"vocab_size":1000,"sliding_window":null}`,
			Options{}, "full-gqa", recipe.CausalLM,
			symbolic.Dims{"h": 64, "f": 100, "a": 4, "k": 2, "d": 16, "V": 1000, "C": 2, "L": 1, "w": 0},
		},
		{
			"the text tower of a multimodal model",
			`{"model_type":"gemma3","architectures":["Gemma3ForConditionalGeneration"],"text_config":{"model_type":"gemma3_text","hidden_size":2560,"num_hidden_layers":34,"intermediate_size":10240},"vision_config":{}}`,
			Options{}, "gqa", recipe.CausalLM,
			symbolic.Dims{"h": 2560, "f": 10240, "a": 8, "k": 4, "d": 256, "V": 262208, "w": 4096, "C": 2, "L": 34},
		},
		{
			"a share of a head, in the words of newer configs",
			`{"model_type":"phi","hidden_size":320,"num_hidden_layers":1,"num_attention_heads":4,"intermediate_size":100,"vocab_size":1000,"rope_parameters":{"partial_rotary_factor":0.4},"resid_pdrop":0.1}`,
			Options{}, "dropout", recipe.CausalLM,
			symbolic.Dims{"h": 320, "f": 100, "a": 4, "k": 4, "d": 80, "r": 32, "V": 1000, "C": 2, "L": 1},
		},
		{
			"an assumed family",
			`{"model_type":"llama5","hidden_size":64,"num_hidden_layers":1,"num_attention_heads":4,"intermediate_size":100,"vocab_size":1000,"attention_bias":true}`,
			Options{Assume: "llama"}, "untied-mha", recipe.CausalLM, nil,
		},
		{
			"one key and value head",
			`{"model_type":"falcon","hidden_size":128,"num_attention_heads":2,"num_hidden_layers":1,"vocab_size":1000,"multi_query":true}`,
			Options{}, "multi-query", recipe.CausalLM,
			symbolic.Dims{"h": 128, "f": 512, "a": 2, "k": 1, "d": 64, "V": 1000, "C": 2, "L": 1},
		},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			m := read(t, tc.text, tc.o)
			if m.Structure != tc.structure || m.Task != tc.task {
				t.Errorf("structure %q, task %q, want %q, %q", m.Structure, m.Task, tc.structure, tc.task)
			}
			if tc.dims != nil {
				if diff := cmp.Diff(tc.dims, m.Dims); diff != "" {
					t.Error(diff)
				}
			}
		})
	}
}

func TestKinds(t *testing.T) {
	const llama = `"hidden_size":64,"num_attention_heads":4,"num_key_value_heads":2,"intermediate_size":100,"vocab_size":1000`
	tests := []struct{ name, text, stack, want string }{
		{"alternating by default", `{"model_type":"gemma2",` + llama + `,"num_hidden_layers":3}`, "layers", "sliding full sliding"},
		{"as listed", `{"model_type":"gemma2",` + llama + `,"num_hidden_layers":2,"layer_types":["full_attention","sliding_attention"]}`, "layers", "full sliding"},
		{"every sixth", `{"model_type":"gemma3_text",` + llama + `,"num_hidden_layers":7}`, "layers", "sliding sliding sliding sliding sliding full sliding"},
		{"every second, as the config says", `{"model_type":"gemma3_text",` + llama + `,"num_hidden_layers":3,"sliding_window_pattern":2}`, "layers", "sliding full sliding"},
		{"the first without its norm", `{"model_type":"modernbert","hidden_size":768,"num_hidden_layers":5}`, "layers", "first local local global local"},
		{"the first with the table of positions", `{"model_type":"t5","num_layers":2,"num_decoder_layers":3}`, "decoder", "first rest rest"},
		{"dense before sparse", `{"model_type":"deepseek_v3","num_hidden_layers":5}`, "layers", "dense dense dense sparse sparse"},
		{"sparse but for some", `{"model_type":"qwen3_moe","num_hidden_layers":4,"mlp_only_layers":[2]}`, "layers", "sparse sparse dense sparse"},
		{"every other sparse", `{"model_type":"qwen3_moe","num_hidden_layers":4,"decoder_sparse_step":2}`, "layers", "dense sparse dense sparse"},
		{"repeated names", `{"model_type":"gpt_neo","num_layers":4,"attention_types":[[["global","local"],2]]}`, "layers", "global local global local"},
		{"all alike", `{"model_type":"opt","num_hidden_layers":2}`, "layers", "one one"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			if got := strings.Join(read(t, tc.text, Options{}).Kinds[tc.stack], " "); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestWarnings(t *testing.T) {
	tests := []struct{ name, text, code string }{
		{"a key that every config has is missing", `{"model_type":"llama","num_hidden_layers":1}`, "absent-key"},
		{"a key that decides on one size is missing", `{"model_type":"llama","hidden_size":64,"num_hidden_layers":1,"num_attention_heads":4,"num_key_value_heads":2,"vocab_size":1000}`, "absent-key"},
		{"a share that is missing", `{"model_type":"phi","hidden_size":64,"num_hidden_layers":1,"num_attention_heads":4,"intermediate_size":128,"vocab_size":100}`, "absent-key"},
		{"weights of another size", `{"model_type":"llama","quantization_config":{"quant_method":"fp8"}}`, "quantized-checkpoint"},
		{"a tower that is left out", `{"model_type":"gemma3","text_config":{}}`, "text-tower-only"},
		{"no name but a class", `{"architectures":["Qwen2ForCausalLM"]}`, "guessed-family"},
		{"no name but keys", `{"n_embd":768,"n_head":12}`, "guessed-family"},
		{"a head that was not recorded", `{"model_type":"bert","architectures":["BertForQuestionAnswering"]}`, "other-head"},
		{"layers that are not built", `{"model_type":"deepseek_v3","num_nextn_predict_layers":1}`, "no-next-token-layers"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			m := read(t, tc.text, Options{})
			if !slices.ContainsFunc(m.Warnings, func(w Warning) bool { return w.Code == tc.code }) {
				t.Errorf("no %s among %v", tc.code, m.Warnings)
			}
		})
	}
}

// TestNoneIsSaid reads a null of keys that may mean "none" and of such that may not:
// the row says which, in a field.
func TestNoneIsSaid(t *testing.T) {
	for text, want := range map[string]int64{
		`{"model_type":"mistral","sliding_window":null}`: 0,
		`{"model_type":"mistral","sliding_window":0}`:    0,
		`{"model_type":"mistral"}`:                       4096,
	} {
		if got := read(t, text, Options{}).Dims["w"]; got != want {
			t.Errorf("%s: a window of %d, want %d", text, got, want)
		}
	}
	if got := read(t, `{"model_type":"llama","intermediate_size":null}`, Options{}).Dims["f"]; got != 11008 {
		t.Errorf("a null of another key is %d", got)
	}
	for _, row := range rows().byName {
		for _, d := range row.Dims {
			if d.None != strings.Contains(d.Meaning, "0 for none") {
				t.Errorf("%s: %s says %q to people, and none: %v to the reader", row.Family, d.Key, d.Meaning, d.None)
			}
		}
	}
}

func TestRefused(t *testing.T) {
	tests := []struct {
		name, text string
		o          Options
		want, hint string // parts of the error and of its hint
	}{
		{"not JSON", `hello`, Options{}, "byte 1 is not JSON", ""},
		{"cut off", `{"model_type":"llama"`, Options{}, "ends early, at byte 21", ""},
		{"empty", ``, Options{}, "ends early, at byte 0", ""},
		{"more than one value", `{} {}`, Options{}, "something stands behind", ""},
		{"a list", `[1]`, Options{}, "holds a list, not an object", ""},
		{"deep nesting", strings.Repeat(`{"a":`, 1000), Options{}, "nested more than 24 deep", ""},
		{"no model type", `{"foo":1}`, Options{}, "model_type is missing", "--assume"},
		{"a model type that is no name", `{"model_type":7}`, Options{}, "model_type is 7, a number", ""},
		{"an unknown model type", `{"model_type":"rwkv"}`, Options{}, `model_type is "rwkv", which is not recorded`, "plimsoll capture"},
		{"text that is cut between letters", `{"model_type":"llama","hidden_size":"` + strings.Repeat("ä", 40) + `"}`, Options{}, `"` + strings.Repeat("ä", 29) + "..., a string", ""},
		{"an unknown architecture", `{"architectures":["RwkvForCausalLM"]}`, Options{}, `architectures is "RwkvForCausalLM", which is not recorded`, "plimsoll capture"},
		{"an unknown model type like a known one", `{"model_type":"llama5"}`, Options{}, `"llama5"`, "--assume llama"},
		{"an unknown family to assume", `{}`, Options{Assume: "lama"}, `no family is called "lama"`, "llama"},
		{"another architecture's config without a width", `{"model_type":"gpt2","n_embd":768,"n_layer":12}`, Options{Assume: "llama"}, "hidden_size is missing", "the keys of llama"},
		{"another architecture's config without layers", `{"model_type":"gpt2","hidden_size":768,"n_layer":12}`, Options{Assume: "llama"}, "num_hidden_layers is missing", "the keys of llama"},
		{"heads that do not divide", `{"model_type":"gpt2","n_embd":770,"n_head":12}`, Options{}, "n_head is 12, which does not divide n_embd = 770", "check"},
		{"key heads that do not divide", `{"model_type":"qwen3","num_attention_heads":16,"num_key_value_heads":5}`, Options{}, "num_key_value_heads is 5, which does not divide num_attention_heads = 16", ""},
		{"heads that do not divide although their size is given", `{"model_type":"llama","hidden_size":100,"num_attention_heads":3,"num_key_value_heads":3,"head_dim":64}`, Options{}, "num_attention_heads is 3, which does not divide hidden_size = 100", ""},
		{"a negative size", `{"model_type":"llama","hidden_size":-1}`, Options{}, "hidden_size is -1: at least 1 is wanted", ""},
		{"zero layers", `{"model_type":"llama","num_hidden_layers":0}`, Options{}, "num_hidden_layers is 0: at least 1", ""},
		{"an absurd size", `{"model_type":"llama","vocab_size":99999999999}`, Options{}, "vocab_size is 99999999999: at most 16777216 is believed", ""},
		{"a size beyond all numbers", `{"model_type":"llama","vocab_size":1e400}`, Options{}, "at most 16777216 is believed", ""},
		{"absurdly many layers", `{"model_type":"llama","num_hidden_layers":100000}`, Options{}, "num_hidden_layers is 100000: at most 4096", ""},
		{"half a head", `{"model_type":"llama","num_attention_heads":1.5}`, Options{}, "num_attention_heads is 1.5, a number: a whole number is wanted", ""},
		{"text for a number", `{"model_type":"llama","hidden_size":"4096"}`, Options{}, `hidden_size is "4096", a string: a whole number is wanted`, ""},
		{"an unknown activation", `{"model_type":"llama","hidden_act":"swoosh"}`, Options{}, `hidden_act is "swoosh"; llama is recorded with "silu"`, "--assume llama"},
		{"a combination that is not recorded", `{"model_type":"qwen3","num_attention_heads":8,"num_key_value_heads":8}`, Options{}, "not recorded for qwen3", "untied-gqa"},
		{"too few layer types", `{"model_type":"gemma2","num_hidden_layers":3,"layer_types":["full_attention"]}`, Options{}, "layer_types has 1 entries for 3 layers", ""},
		{"an unknown layer type", `{"model_type":"gemma2","num_hidden_layers":1,"layer_types":["mamba"]}`, Options{}, `layer_types has "mamba" for layer 0`, ""},
		{"layer types where all are alike", `{"model_type":"llama","num_hidden_layers":1,"layer_types":["sliding_attention"]}`, Options{}, "full attention in all layers", ""},
		{"an oblong image", `{"model_type":"vit","image_size":[224,448]}`, Options{}, "image_size is [224,448]: only equal sides", ""},
		{"towers of different widths", `{"model_type":"bart","encoder_ffn_dim":100,"decoder_ffn_dim":200}`, Options{}, "decoder_ffn_dim is 200 but encoder_ffn_dim is 100", ""},
		{"more experts of a token than there are", `{"model_type":"mixtral","num_local_experts":2,"num_experts_per_tok":4}`, Options{}, "num_experts_per_tok is 4, more than the 2 experts", ""},
		{"a task without a head", `{"model_type":"gpt2"}`, Options{Task: recipe.MaskedLM}, "gpt2 has no head for masked-lm", "causal-lm, sequence-classification"},
		{"labels that are no map", `{"model_type":"bert","id2label":[1]}`, Options{}, "id2label is a list", ""},
		{"a share above one", `{"model_type":"phi","partial_rotary_factor":2}`, Options{}, "partial_rotary_factor is 2: a share", ""},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			m, err := FromConfig([]byte(tc.text), tc.o)
			var e *Error
			if !errors.As(err, &e) {
				t.Fatalf("got %v, %v", m, err)
			}
			if !strings.Contains(err.Error(), tc.want) || !strings.Contains(e.Hint, tc.hint) {
				t.Errorf("got %q (hint %q), want %q (hint %q)", err, e.Hint, tc.want, tc.hint)
			}
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("more than a line: %q", err)
			}
		})
	}
}

// TestTruthConfigs reads every config of the recorded cases.
func TestTruthConfigs(t *testing.T) {
	dir := os.Getenv("PLIMSOLL_CASES")
	if dir == "" {
		t.Skip("PLIMSOLL_CASES is not set")
	}
	files, err := filepath.Glob(filepath.Join(dir, "truth", "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatal("no cases", err)
	}
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		var doc struct {
			Cases []struct {
				ID     string
				Task   recipe.Task
				Config json.RawMessage
			}
		}
		if err := json.Unmarshal(data, &doc); err != nil {
			t.Fatal(err)
		}
		for _, c := range doc.Cases {
			if len(c.Config) == 0 {
				continue
			}
			m, err := FromConfig(c.Config, Options{})
			if err != nil {
				t.Errorf("%s: %v", c.ID, err)
			} else if m.Task != c.Task {
				t.Errorf("%s: task %s, want %s", c.ID, m.Task, c.Task)
			}
		}
	}
}

func FuzzFromConfig(f *testing.F) {
	for _, name := range Families() {
		row, _ := Lookup(name)
		f.Add(`{"model_type":"`+row.ModelTypes[0]+`"}`, "")
	}
	f.Add(`{"model_type":"gpt_neo","attention_types":[[["global"],2],[[],3]]}`, "llama")
	f.Add(`{"text_config":{"layer_types":[{}]},"id2label":{}}`, "gemma2")
	f.Fuzz(func(t *testing.T, text, assume string) {
		m, err := FromConfig([]byte(text), Options{Assume: assume})
		if err != nil {
			return
		}
		if m.Structure == "" || m.Task == "" || len(m.Kinds) == 0 {
			t.Errorf("incomplete: %+v", m)
		}
		for name, v := range m.Dims {
			if v < 0 || v > maxDim*maxDim {
				t.Errorf("%s = %d", name, v)
			}
		}
	})
}
