package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/internal/lint"
)

// costlyScript is a script whose findings cost what its model takes. %model%, %args%
// and so on are filled in.
const costlyScript = `import argparse
import torch
from torch.utils.data import DataLoader
from transformers import AutoTokenizer, %class%

parser = argparse.ArgumentParser()
parser.add_argument("--batch-size", type=int, default=32)
args = parser.parse_args()
tok = AutoTokenizer.from_pretrained("%model%")
model = %class%.from_pretrained("%model%"%more%).cuda()
opt = torch.optim.AdamW(model.parameters(), lr=2e-5)
loader = DataLoader(rows, batch_size=args.batch_size, shuffle=True, num_workers=4, collate_fn=lambda r: tok(r, max_length=128))

def validate(batches: DataLoader):
    model.eval()
    for batch in batches:
        print(model(**batch).logits.argmax(-1).tolist())

for batch in loader:
    loss = model(**batch).loss
    opt.zero_grad(set_to_none=False)
    loss.backward()
    opt.step()
    torch.save(model.state_dict(), "last.pt")
`

// lintScript lints the script, and gives the findings by rule.
func lintScript(t *testing.T, text string, flags ...string) map[string]lintFound {
	t.Helper()
	file := filepath.Join(t.TempDir(), "train.py")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	out, stderr, exit := run(t, append([]string{"lint", "--no-cache", "--format", "json", file}, flags...)...)
	if exit != ExitNo {
		t.Fatalf("exit %d: %s", exit, stderr)
	}
	checkSchema(t, "lint.schema.json", []byte(out))
	var doc struct{ Findings []lintFound }
	if err := json.Unmarshal([]byte(out), &doc); err != nil {
		t.Fatal(err)
	}
	found := map[string]lintFound{}
	for _, f := range doc.Findings {
		found[f.Name] = f
	}
	return found
}

type lintFound struct {
	Name, Cost string
	Of         string  `json:"cost_of"`
	Bytes      int64   `json:"cost_bytes"`
	Share      float64 `json:"cost_share"`
	ShareOf    string  `json:"cost_cause"`
}

func filledIn(model, class, more string) string {
	return strings.NewReplacer("%model%", model, "%class%", class, "%more%", more).Replace(costlyScript)
}

// TestLintCostIsTheEstimate compares what findings cost with what estimate says
// of the same training.
func TestLintCostIsTheEstimate(t *testing.T) {
	cases := []struct{ model, class, more, flags string }{
		{"bert-base-uncased", "AutoModelForSequenceClassification", "", "--task sequence-classification --batch 32 --seq 128"},
		{"gpt2", "GPT2LMHeadModel", ", torch_dtype=torch.bfloat16", "--task causal-lm --batch 32 --seq 128 --dtype bf16"},
	}
	for _, c := range cases {
		out, stderr, exit := run(t, append([]string{"estimate", c.model, "--gpu", "h100", "--offline", "--format", "json"}, strings.Fields(c.flags)...)...)
		if exit != ExitOK {
			t.Fatal(stderr)
		}
		var e struct {
			ByCategory struct {
				Activation int64 `json:"activation_bytes"`
				Parameter  int64 `json:"parameter_bytes"`
			} `json:"by_category"`
		}
		if err := json.Unmarshal([]byte(out), &e); err != nil {
			t.Fatal(err)
		}
		found := lintScript(t, filledIn(c.model, c.class, c.more))
		for rule, want := range map[string]int64{
			"eval-without-no-grad": e.ByCategory.Activation, "save-every-step": e.ByCategory.Parameter,
			"zero-grad-set-to-none-false": e.ByCategory.Parameter, // as many, in the same type
		} {
			if got := found[rule]; got.Bytes != want || want == 0 || !strings.Contains(got.Cost, c.model+" (line 10)") {
				t.Errorf("%s: %s costs %d, and estimate has %d: %s", c.model, rule, got.Bytes, want, got.Cost)
			}
		}
		if cost := found["eval-without-no-grad"].Cost; !strings.Contains(cost, "batch 32 (line 7)") || !strings.Contains(cost, "128 tokens (line 12)") {
			t.Errorf("where the figures are from is not told: %s", cost)
		}
	}
}

// TestLintCostIsSilent: where nobody knows the model, or the script says what no
// estimate is about, there is the rule's cost alone.
func TestLintCostIsSilent(t *testing.T) {
	for what, text := range map[string]string{
		"unknown model": filledIn("me/mine", "AutoModelForCausalLM", ""),
		"two models":    filledIn("gpt2", "AutoModelForCausalLM", "") + "\nteacher = AutoModelForCausalLM.from_pretrained('gpt2-xl')\n",
		"name given":    filledIn("gpt2", "AutoModelForCausalLM", "") + "\nother = AutoModelForCausalLM.from_pretrained(args.model)\n",
		"sharded":       filledIn("gpt2", "AutoModelForCausalLM", "") + "\nimport deepspeed\ndeepspeed.initialize(model=model)\n",
		"four bits":     filledIn("gpt2", "AutoModelForCausalLM", ", load_in_4bit=True"),
		"huge batch":    strings.ReplaceAll(filledIn("gpt2", "AutoModelForCausalLM", ""), "default=32", "default=9999999999"),
		"huge length":   strings.ReplaceAll(filledIn("gpt2", "AutoModelForCausalLM", ""), "max_length=128", "max_length=100000"),
	} {
		for _, f := range lintScript(t, text) {
			if f.Bytes != 0 || strings.Contains(f.Cost, inGeneral) {
				t.Errorf("%s: %s: %s", what, f.Name, f.Cost)
			}
		}
	}
}

func TestLintCostOfARun(t *testing.T) {
	dir := t.TempDir()
	answer := filepath.Join(dir, "run.json")
	err := os.WriteFile(answer, []byte(`{"schema": "plimsoll.capture/1", "command": ["python", "train.py"], "by_category": {"activation_bytes": 3221225472, "parameter_bytes": 1048576}}`), 0o644)
	if err != nil {
		t.Fatal(err)
	}
	found := lintScript(t, filledIn("me/mine", "AutoModelForCausalLM", ""), "--with", answer)
	if f := found["eval-without-no-grad"]; f.Bytes != 3<<30 || !strings.HasPrefix(f.Cost, "3.00 GiB here, ") || !strings.Contains(f.Cost, "(python train.py)") {
		t.Errorf("the run's activations are not told: %+v", f)
	}
	if f := found["zero-grad-set-to-none-false"]; f.Bytes != 0 { // the run tells none at its peak
		t.Errorf("gradients that nobody told: %+v", f)
	}
	if err := os.WriteFile(answer, []byte(`{"schema": "plimsoll.lint/1"}`), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, stderr, exit := run(t, "lint", "--with", answer, dir); exit != ExitFailed || !strings.Contains(stderr, "no answer about a run") {
		t.Errorf("exit %d: %s", exit, stderr)
	}
}

func TestEveryAmountHasWords(t *testing.T) {
	for _, r := range lintRules() {
		if r.Of != "" && amountWords[r.Of] == "" {
			t.Errorf("%s: nothing says what %q is", r.Code, r.Of)
		}
	}
	if len(amountWords) != len([]lint.Amount{lint.Activations, lint.Weights, lint.Gradients, lint.Logits}) {
		t.Error("there are other amounts")
	}
}
