package estimate_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/internal/estimate"
	"github.com/plimsoll-dev/plimsoll/internal/estimate/toy"
	"github.com/plimsoll-dev/plimsoll/internal/recipe"
	"github.com/plimsoll-dev/plimsoll/internal/symbolic/kernel"
	"github.com/plimsoll-dev/plimsoll/tape"
	"github.com/plimsoll-dev/plimsoll/unit"
)

func TestRemediesSufficeFirst(t *testing.T) {
	e := on(t, toy.New(), recipe.Recipe{Batch: 192, Seq: 1024}, target(t, "3090"), estimate.Options{})
	if e.Verdict != estimate.DoesNotFit || len(e.Findings) < 5 {
		t.Fatalf("%s, %+v", e.Verdict, e.Findings)
	}
	rank := map[estimate.Verdict]int{estimate.Fits: 0, estimate.MayNotFit: 1, estimate.DoesNotFit: 2}
	last := 0
	for _, f := range e.Findings {
		if rank[f.Verdict] < last {
			t.Errorf("%s comes late: %+v", f.Code, e.Findings)
		}
		last = rank[f.Verdict]
		if f.Saves <= 0 || f.Needs == 0 || f.Saves != e.Peak.Needs-f.Needs || f.Verdict == estimate.Fits && f.Needs > e.GPU.Capacity || f.Why == "" || f.Action == "" {
			t.Errorf("%+v", f)
		}
	}
	i := slices.IndexFunc(e.Findings, func(f estimate.Finding) bool { return f.Code == "micro-batch" })
	if i < 0 || e.Findings[i].Verdict != estimate.Fits || e.Findings[i].Exactness != estimate.SameNumbers {
		t.Errorf("a smaller batch: %+v", e.Findings)
	}
	if slices.ContainsFunc(e.Findings, func(f estimate.Finding) bool { return f.Code == "shard-fsdp2" || f.Code == "attention-sdpa" }) {
		t.Errorf("what does not apply is there: %+v", e.Findings)
	}
}

// A run with room is compared with what its cures take with room.
func TestCuresOfWhatFits(t *testing.T) {
	e := on(t, toy.New(), recipe.Recipe{Batch: 16, Seq: 1024}, target(t, "3090"), estimate.Options{Remedies: true})
	if e.Verdict != estimate.Fits || e.Peak.Needs != 0 || len(e.Findings) < 5 {
		t.Fatalf("%s, %+v", e.Verdict, e.Findings)
	}
	for _, f := range e.Findings {
		if f.Saves <= 0 || f.Needs != 0 || f.Saves != e.Peak.Device-f.Device {
			t.Errorf("%+v", f)
		}
	}
}

// A run that fits only since the cache is given back needs less than it takes,
// and its cures are compared with that.
func TestCuresUnderPressure(t *testing.T) {
	r := recipe.Recipe{Batch: 4}
	free := on(t, toy.New(), r, with(target(t, "h100"), 80*unit.GiB), estimate.Options{Bare: true}).Peak
	e := on(t, toy.New(), r, with(target(t, "h100"), free.Reserved-2*unit.MiB), estimate.Options{Remedies: true})
	if e.Verdict != estimate.Fits || e.Peak.Needs == 0 || e.Peak.Needs > e.GPU.Capacity || len(e.Findings) == 0 {
		t.Fatalf("%s, %+v, %+v", e.Verdict, e.Peak, e.Findings)
	}
	for _, f := range e.Findings {
		if f.Saves <= 0 || f.Saves != e.Peak.Needs-f.Needs {
			t.Errorf("%+v", f)
		}
	}
}

// failing plays nothing with adapters.
type failing struct {
	*toyModel
	err error
}

func (m failing) Play(r recipe.Recipe, d kernel.Device, w *tape.Writer, detail estimate.Detail) (*estimate.Played, error) {
	if r.LoRA != nil {
		return nil, m.err
	}
	return m.toyModel.Play(r, d, w, detail)
}

// What the model cannot do is no cure; a fault is not hidden.
func TestCuresThatFail(t *testing.T) {
	r := recipe.Recipe{Batch: 192, Seq: 1024}
	e := on(t, failing{toy.New(), &estimate.Error{Msg: "adapters are not recorded"}}, r, target(t, "3090"), estimate.Options{})
	if len(e.Findings) < 5 || slices.ContainsFunc(e.Findings, func(f estimate.Finding) bool { return f.Code == "lora" }) {
		t.Errorf("%+v", e.Findings)
	}
	fault := errors.New("a tape frees a block twice")
	if _, err := estimate.On(t.Context(), failing{toy.New(), fault}, r, target(t, "3090"), estimate.Options{}); !errors.Is(err, fault) {
		t.Errorf("%v", err)
	}
}

func TestRemediesThatDoNotApply(t *testing.T) {
	r := recipe.Recipe{
		Batch: 1, Seq: 128, Mode: recipe.Train, Optimizer: "sgd", Precision: recipe.BF16, Checkpoint: "full",
		LoRA: &recipe.LoRA{Rank: 4, Targets: []string{"up"}}, AllocConf: "expandable_segments:True",
	}
	if e := on(t, toy.New(), r, target(t, "3090"), estimate.Options{Remedies: true}); len(e.Findings) != 0 {
		t.Errorf("%+v", e.Findings)
	}
}

func TestASplitBatchAndDropout(t *testing.T) {
	m := toy.New()
	m.Dropout = true
	e := on(t, m, recipe.Recipe{Batch: 192, Seq: 1024}, target(t, "3090"), estimate.Options{})
	i := slices.IndexFunc(e.Findings, func(f estimate.Finding) bool { return f.Code == "micro-batch" })
	if i < 0 || e.Findings[i].Exactness != estimate.SameExpectation {
		t.Errorf("%+v", e.Findings)
	}
}

// Where no change suffices, several do, and none of them could be left out.
func TestSeveralTogether(t *testing.T) {
	m := &toy.Model{Hidden: 2048, Inner: 8192, Vocabulary: 32000, Layers: 24}
	r := recipe.Recipe{Batch: 16, Seq: 2048}
	e := on(t, m, r, target(t, "t4"), estimate.Options{})
	if e.Verdict != estimate.DoesNotFit || len(e.Findings) < 5 || e.Findings[0].Code != "combined" {
		t.Fatalf("%s, %+v", e.Verdict, e.Findings)
	}
	for _, f := range e.Findings[1:] {
		if f.Verdict == estimate.Fits {
			t.Errorf("%s suffices by itself", f.Code)
		}
	}
	f := e.Findings[0]
	if f.Verdict != estimate.Fits || f.Device > e.GPU.Capacity || len(strings.Fields(f.Action)) < 4 || f.Exactness != estimate.ChangesResults {
		t.Errorf("%+v", f)
	}
	t.Log(f.Action)
}
