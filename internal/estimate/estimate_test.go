package estimate_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-dev/plimsoll/internal/estimate"
	"github.com/plimsoll-dev/plimsoll/internal/estimate/toy"
	"github.com/plimsoll-dev/plimsoll/internal/gpu"
	"github.com/plimsoll-dev/plimsoll/internal/recipe"
	"github.com/plimsoll-dev/plimsoll/unit"
)

func target(t interface{ Fatal(...any) }, name string) estimate.Target {
	c, err := gpu.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	return estimate.TargetOf(c.Card, c.Count)
}

// with gives a card another capacity and no context, so that a test can say
// exactly how much room there is.
func with(t estimate.Target, room unit.Bytes) estimate.Target {
	t.Capacity, t.Context = room, gpu.Interval{}
	return t
}

func on(t *testing.T, s estimate.Source, r recipe.Recipe, at estimate.Target, o estimate.Options) *estimate.Estimate {
	t.Helper()
	e, err := estimate.On(t.Context(), s, r, at, o)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestThePeakIsMadeOfItsCategories(t *testing.T) {
	e := on(t, toy.New(), recipe.Recipe{Batch: 16, Seq: 512}, target(t, "3090"), estimate.Options{})
	if e.Verdict != estimate.Fits || e.Peak.Phase != "backward" || e.Peak.Step != 2 || e.Peak.Site != "head, aten::log_softmax" {
		t.Errorf("%s, peak %+v", e.Verdict, e.Peak)
	}
	c := e.ByCategory
	parameters := unit.Bytes(4 * e.Model.Parameter)
	if c.Parameter != parameters || c.Optimizer != 2*parameters || c.Gradient != 0 || c.Temporary != 16*512*32000*4 || c.Input != 16*512*8 {
		t.Errorf("%+v, parameters take %d", c, parameters)
	}
	if c.Context != e.Peak.Device-e.Peak.Reserved || c.Sum() != e.Peak.Device || e.Peak.Requested+c.Rounding != e.Peak.Allocated {
		t.Errorf("%+v sums to %d, the peak is %+v", c, c.Sum(), e.Peak)
	}
	if len(e.Findings) != 0 {
		t.Errorf("it fits, and findings are %+v", e.Findings)
	}
	if want := 3 * parameters; e.Steady.Allocated < want || e.Steady.Allocated > want+16*unit.MiB {
		t.Errorf("%s stay after the last step, want %s", e.Steady.Allocated, want)
	}
	if len(e.Steps) != 3 || e.Steps[0].Allocated >= e.Steps[1].Allocated || e.Steps[1] != (estimate.Step{Step: 2, Allocated: e.Steps[2].Allocated, Reserved: e.Steps[2].Reserved}) {
		t.Errorf("steps %+v", e.Steps)
	}
}

func TestLayersSayWhatTheyKeep(t *testing.T) {
	for _, c := range []struct {
		checkpoint string
		want       unit.Bytes
	}{{"none", 4 * 2 * 512 * (4096 + 1024)}, {"full", 4 * 2 * 512 * 1024}} {
		e := on(t, toy.New(), recipe.Recipe{Batch: 2, Seq: 512, Checkpoint: c.checkpoint}, target(t, "3090"), estimate.Options{Bare: true})
		if len(e.Layers) != 3 {
			t.Fatalf("%d layers", len(e.Layers))
		}
		for _, l := range e.Layers {
			if l.Saved != c.want || l.Parameters != 1024+2*1024*4096 || len(l.Output) != 3 {
				t.Errorf("checkpoint %s: %+v, want %d saved", c.checkpoint, l, c.want)
			}
		}
	}
	e := on(t, toy.New(), recipe.Recipe{Batch: 2, Mode: recipe.Eval}, target(t, "3090"), estimate.Options{Bare: true})
	if e.Layers[0].Saved != 0 {
		t.Errorf("an evaluation keeps %s", e.Layers[0].Saved)
	}
}

// The verdict turns exactly where the replay does: what is only cached is given
// back, what is allocated is not.
func TestTheCacheGivesWay(t *testing.T) {
	r := recipe.Recipe{Batch: 4}
	free := on(t, toy.New(), r, with(target(t, "h100"), 80*unit.GiB), estimate.Options{Bare: true}).Peak
	if free.Reserved == free.Allocated {
		t.Fatal("nothing is cached, so that this test shows nothing")
	}
	fits := func(room unit.Bytes) *estimate.Estimate {
		return on(t, toy.New(), r, with(target(t, "h100"), room), estimate.Options{Bare: true})
	}
	if e := fits(free.Reserved); e.Verdict != estimate.Fits || e.Peak.Reserved != free.Reserved {
		t.Errorf("what is reserved suffices: %s %+v", e.Verdict, e.Peak)
	}
	if e := fits(free.Reserved - 2*unit.MiB); e.Verdict != estimate.Fits || e.Peak.Device > e.GPU.Capacity || e.ByCategory.Sum() != e.Peak.Device {
		t.Errorf("less than is reserved: %s %+v", e.Verdict, e.Peak)
	}
	if e := fits(free.Allocated - 1); e.Verdict != estimate.DoesNotFit || e.Peak.Low <= e.GPU.Capacity || e.Peak.Reserved != free.Reserved {
		t.Errorf("less than is allocated: %s %+v", e.Verdict, e.Peak)
	}
	if e := fits(0); e.Verdict != estimate.DoesNotFit {
		t.Errorf("no room: %s", e.Verdict)
	}
}

// May-not-fit says that the capacity lies inside the interval, and nothing
// else does.
func TestTheVerdictIsTheInterval(t *testing.T) {
	card := target(t, "3090")
	rapid.Check(t, func(rt *rapid.T) {
		m := toy.New()
		if rapid.Bool().Draw(rt, "doubt") {
			m.Doubts = []estimate.Doubt{{Code: "x", Less: 10 * unit.MiB, More: 600 * unit.MiB}}
		}
		card.Capacity = unit.Bytes(rapid.Int64Range(1<<20, 6<<30).Draw(rt, "capacity"))
		r := recipe.Recipe{Batch: rapid.Int64Range(1, 8).Draw(rt, "batch"), AllocConf: rapid.SampledFrom([]string{"", "per_process_memory_fraction:0.7"}).Draw(rt, "settings")}
		e, err := estimate.On(t.Context(), m, r, card, estimate.Options{Bare: true})
		if err != nil {
			rt.Fatal(err)
		}
		p := e.Peak
		// A share of the card may be too little for a run that takes less than the card.
		least := min(p.Low, p.Device)
		if r.AllocConf == "" {
			least = p.Low
		}
		if least > p.Device || p.Low > p.High || p.Device > p.High || e.ByCategory.Sum() != p.Device {
			rt.Fatalf("%d, %d, %d; categories sum to %d", p.Low, p.Device, p.High, e.ByCategory.Sum())
		}
		want := estimate.MayNotFit
		switch {
		case p.High <= card.Capacity:
			want = estimate.Fits
		case p.Low > card.Capacity:
			want = estimate.DoesNotFit
		}
		if e.Verdict != want {
			rt.Fatalf("%s, where %d lies to %d..%d", e.Verdict, card.Capacity, p.Low, p.High)
		}
	})
}

// Under settings that leave the allocator a share of the card, what is needed
// is a larger card.
func TestAShareOfTheCard(t *testing.T) {
	r := recipe.Recipe{Batch: 16, AllocConf: "per_process_memory_fraction:0.1"}
	e := on(t, toy.New(), r, target(t, "3090"), estimate.Options{})
	if e.Verdict != estimate.DoesNotFit || e.Peak.Device > e.GPU.Capacity || e.Peak.Needs <= e.GPU.Capacity || e.Peak.Low <= e.GPU.Capacity {
		t.Fatalf("%s: %+v", e.Verdict, e.Peak)
	}
	for more, want := range map[unit.Bytes]estimate.Verdict{0: estimate.Fits, -2 * unit.MiB: estimate.DoesNotFit} {
		at := target(t, "3090")
		room := e.Peak.Needs - e.Beside + more
		if got := on(t, toy.New(), r, with(at, room), estimate.Options{Bare: true}).Verdict; got != want {
			t.Errorf("%d of room: %s, want %s", room, got, want)
		}
	}
	r.AllocConf = "per_process_memory_fraction:0.0"
	if e := on(t, toy.New(), r, target(t, "3090"), estimate.Options{}); e.Verdict != estimate.DoesNotFit || e.Peak.Needs != 0 {
		t.Errorf("a share of nothing: %s, %+v", e.Verdict, e.Peak)
	}
}

// Cards that do not train share no work: each holds the model.
func TestCardsThatDoNotTrain(t *testing.T) {
	for _, mode := range []recipe.Mode{recipe.Eval, recipe.Infer} {
		e := on(t, toy.New(), recipe.Recipe{Mode: mode}, target(t, "h100x8"), estimate.Options{Bare: true})
		if e.Recipe.World != 0 || e.Recipe.Shard != "" || e.ByCategory.Communication != 0 {
			t.Errorf("%s: %+v", mode, e.Recipe)
		}
	}
	if e := on(t, toy.New(), recipe.Recipe{}, target(t, "h100x8"), estimate.Options{Bare: true}); e.Recipe.World != 8 || e.Beside != e.ByCategory.Context+e.ByCategory.Communication {
		t.Errorf("%+v, %+v", e.Recipe, e.ByCategory)
	}
}

// pictures reads images alone.
type pictures struct{ *toyModel }

func (p pictures) Complete(r recipe.Recipe) (recipe.Recipe, error) {
	r, err := p.toyModel.Complete(r)
	r.Seq = 0
	return r, err
}

func TestImagesAreNotPadded(t *testing.T) {
	_, err := estimate.On(t.Context(), pictures{toy.New()}, recipe.Recipe{Unpadded: true}, target(t, "3090"), estimate.Options{Bare: true})
	if err == nil || err.Error() != "toy reads images, which are never padded" || estimate.HintOf(err) == "" {
		t.Errorf("%v", err)
	}
}

func TestDoubtsWidenTheInterval(t *testing.T) {
	m := toy.New()
	exact := on(t, m, recipe.Recipe{}, target(t, "3090"), estimate.Options{Bare: true})
	m.Doubts = []estimate.Doubt{{Code: estimate.CuDNNWorkspace, Message: "cuDNN chooses its scratch memory at run time", More: unit.GiB}}
	unsure := on(t, m, recipe.Recipe{}, target(t, "3090"), estimate.Options{Bare: true})
	if unsure.Peak.High != exact.Peak.High+unit.GiB || unsure.Peak.Device != exact.Peak.Device || len(unsure.Warnings) != 1 || !unsure.HasGaps() || exact.HasGaps() {
		t.Errorf("%+v, %+v", unsure.Peak, unsure.Warnings)
	}
	without := on(t, m, recipe.Recipe{}, target(t, "3090"), estimate.Options{Bare: true, ZeroWorkspaces: true})
	if without.Peak.High != exact.Peak.High {
		t.Errorf("%+v", without.Peak)
	}
}

func TestWhatCannotBeAnswered(t *testing.T) {
	for want, r := range map[string]recipe.Recipe{
		`allocator settings "expandable_segments:yes": PyTorch 2.15 refuses them`: {AllocConf: "expandable_segments:yes"},
		"backend:cudaMallocAsync: memory is then handed out by the driver":        {AllocConf: "backend:cudaMallocAsync"},
		`"new"`:                                 {Torch: "new"},
		`optimizer "adamx" is not known`:        {Optimizer: "adamx"},
		"toy has no head for masked-lm":         {Task: recipe.MaskedLM},
		"one tensor of this run is larger than": {Batch: 1 << 40, Seq: 1 << 12},
	} {
		_, err := estimate.On(t.Context(), toy.New(), r, target(t, "3090"), estimate.Options{})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func TestOldCardsAreWarnedOf(t *testing.T) {
	e := on(t, toy.New(), recipe.Recipe{Precision: recipe.BF16}, target(t, "1080 ti"), estimate.Options{Bare: true})
	if len(e.Warnings) != 2 || e.Warnings[0].Code != "card-unsupported" || !strings.Contains(e.Warnings[0].Message, "6.1 of GeForce GTX 1080 Ti: 7.5 is the least") {
		t.Errorf("%+v", e.Warnings)
	}
	if e := on(t, toy.New(), recipe.Recipe{Torch: "2.6.0"}, target(t, "1080 ti"), estimate.Options{Bare: true}); len(e.Warnings) != 0 {
		t.Errorf("%+v", e.Warnings)
	}
}

func TestReservedLevelsEndAtThePeak(t *testing.T) {
	for _, room := range []unit.Bytes{80 * unit.GiB, 3 * unit.GiB / 2} {
		e := on(t, toy.New(), recipe.Recipe{Batch: 1, Optimizer: "sgd"}, with(target(t, "h100"), room), estimate.Options{Reserved: true, Bare: true})
		var most unit.Bytes
		for i, l := range e.Reserved {
			if i > 0 && l.Event <= e.Reserved[i-1].Event {
				t.Fatalf("not in order: %+v", e.Reserved)
			}
			most = max(most, l.Bytes)
		}
		if most != e.Peak.Reserved {
			t.Errorf("%s: up to %d, the peak is %d", room, most, e.Peak.Reserved)
		}
	}
}
