package family

import (
	"slices"
	"testing"

	"github.com/plimsoll-dev/plimsoll/internal/symbolic"
)

func TestLongest(t *testing.T) {
	for model, want := range map[string]int64{
		"roberta-base": 512, // two rows of its table are never used
		"opt-125m":     2048,
		"gpt2":         1024,
		"whisper-tiny": 448, // what is generated, not what is heard
		"llama-3.1-8b": 0,
	} {
		m := builtin(t, model)
		row, ok := Lookup(m.Family)
		if !ok {
			t.Fatalf("%s has no row", m.Family)
		}
		if got := row.Longest(m.Dims); got != want {
			t.Errorf("%s takes sequences of up to %d, want %d", model, got, want)
		}
	}
}

// TestPositions: a bound on sequences is made of the row's own symbols.
func TestPositions(t *testing.T) {
	for _, name := range Families() {
		row, _ := Lookup(name)
		if row.Positions == "" {
			continue
		}
		e, err := symbolic.Parse(row.Positions)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		e.Names(func(n string) {
			if !slices.ContainsFunc(row.Dims, func(d Dim) bool { return d.Name == n }) {
				t.Errorf("%s: positions %s has a symbol %s that the row does not give", name, row.Positions, n)
			}
		})
	}
}

// Each model_type has one row. Classes that make their head before their layers have one
// of their own: the order of parameters is another.
func TestModelTypes(t *testing.T) {
	rowsOf := map[string]string{}
	for _, name := range Families() {
		row, _ := Lookup(name)
		for _, modelType := range row.ModelTypes {
			if other := rowsOf[modelType]; other != "" {
				t.Errorf("%s is read by %s and %s", modelType, other, name)
			}
			rowsOf[modelType] = name
		}
	}
	for text, want := range map[string]string{
		`{"model_type":"roberta","architectures":["RobertaForMaskedLM"]}`:                      "roberta",
		`{"model_type":"xlm-roberta","architectures":["XLMRobertaForMaskedLM"]}`:               "xlm-roberta",
		`{"model_type":"camembert","architectures":["CamembertForSequenceClassification"]}`:    "xlm-roberta",
		`{"model_type":"xlm-roberta","architectures":["XLMRobertaForSequenceClassification"]}`: "xlm-roberta",
	} {
		if m := read(t, text, Options{}); m.Family != want {
			t.Errorf("%s is read as %s, not %s", text, m.Family, want)
		}
	}
}
