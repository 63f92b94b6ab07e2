package main

import (
	"slices"
	"testing"

	"github.com/plimsoll-dev/plimsoll/internal/catalog"
)

// GPT-2 and BERT are recorded in every way that is asked about; ALBERT's layers cannot
// be checkpointed, and each such question is a refusal.
func TestAsk(t *testing.T) {
	for family, want := range map[string]row{
		"gpt2":   {structures: 1, asked: 201, answered: 201},
		"bert":   {structures: 1, asked: 192, answered: 192},
		"albert": {structures: 1, asked: 192, answered: 96},
	} {
		rows, err := askAll(t.Context(), catalog.New(catalog.System{}), family)
		if err != nil || len(rows) != 1 {
			t.Fatal(family, len(rows), err)
		}
		got := rows[0]
		if got.family != family || got.structures != want.structures || got.asked != want.asked || got.answered != want.answered || len(got.refused) != want.asked-want.answered {
			t.Errorf("%s: %v", family, got)
		}
		if got.exact > got.answered || got.exact < got.answered/4 {
			t.Errorf("%s: %d of %d answers without a doubt", family, got.exact, got.answered)
		}
	}
}

// What stands together is added up, in the order in which it came.
func TestPerFamily(t *testing.T) {
	list, err := subjects(catalog.New(catalog.System{}), "")
	if err != nil {
		t.Fatal(err)
	}
	counts := make([]row, len(list))
	for i := range counts {
		counts[i] = row{asked: 1, doubts: map[string]int{"a": 2}}
	}
	rows := perFamily(list, counts)
	if sum := total(rows); sum.asked != len(list) || sum.doubts["a"] != 2*len(list) {
		t.Errorf("%d subjects are %v", len(list), sum)
	}
	var names []string
	for _, r := range rows {
		names = append(names, r.family)
	}
	if !slices.IsSorted(names) || len(slices.Compact(slices.Clone(names))) != len(names) || !slices.Contains(names, "torchvision") {
		t.Errorf("families %v", names)
	}
}
