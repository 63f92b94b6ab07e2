package catalog

import (
	"math"
	"testing"

	"github.com/plimsoll-dev/plimsoll/internal/estimate"
	"github.com/plimsoll-dev/plimsoll/internal/family"
	"github.com/plimsoll-dev/plimsoll/internal/family/recordings"
	"github.com/plimsoll-dev/plimsoll/internal/hub"
	"github.com/plimsoll-dev/plimsoll/internal/recipe"
	"github.com/plimsoll-dev/plimsoll/internal/symbolic/kernel"
	"github.com/plimsoll-dev/plimsoll/tape"
)

// recipeOf asks for exactly one recorded way.
func recipeOf(w recordings.Way) recipe.Recipe {
	r := recipe.Recipe{
		Mode: recipe.Mode(w.Mode), Task: recipe.Task(w.Task), Precision: recipe.Precision(w.Precision), Attention: w.Attention, Checkpoint: w.Checkpoint,
		ChannelsLast: w.ChannelsLast, Unpadded: w.Unpadded, Quantize: w.Quantize, Shard: w.Shard,
	}
	if len(w.LoRA) > 0 {
		r.LoRA = &recipe.LoRA{Rank: 16, Targets: w.LoRA}
	}
	if w.Shard != "" {
		r.World = 8
	}
	return r
}

// cardOf is a card of a class.
func cardOf(class int) kernel.Device {
	switch class {
	case 75:
		return kernel.Device{Capability: 75, Multiprocessors: 40, ThreadsPerMultiprocessor: 1024}
	case 90:
		return kernel.Device{Capability: 90, Multiprocessors: 132, ThreadsPerMultiprocessor: 2048}
	}
	return usualDevice
}

// A measure is the most by which peaks differ, of some pairs.
type measure struct {
	pairs     int
	low, high float64
	where     string
}

func (m *measure) add(off float64, where string) {
	m.pairs++
	if max(off, -off) > max(m.high, -m.low) {
		m.where = where
	}
	m.low, m.high = min(m.low, off), max(m.high, off)
}

// holds reports whether a share covers what was measured, without being more than
// twice as much.
func (m *measure) holds(t *testing.T, code string, share float64, over bool) {
	t.Helper()
	t.Logf("%s: %d pairs, from %+.4f to %+.4f, in %s", code, m.pairs, m.low, m.high, m.where)
	worst := max(m.high, -m.low)
	if worst > share || share > 2*worst+0.01 {
		t.Errorf("%s: peaks differ by %.4f where both are recorded, and the share is %v", code, worst, share)
	}
	if over && m.high > leastDoubt {
		t.Errorf("%s: it takes up to %.4f more, and is said to take less", code, m.high)
	}
}

// sources are a small model of each structure that has recordings.
func sources(t *testing.T, torch string) []*source {
	t.Helper()
	smallest := map[string]family.Entry{}
	for _, e := range family.Builtins() {
		m, err := e.Model(family.Options{})
		if err != nil {
			t.Fatal(err)
		}
		key := m.Family + " " + m.Structure
		if old, ok := smallest[key]; !ok || e.Parameters < old.Parameters {
			smallest[key] = e
		}
	}
	var list []*source
	for _, e := range smallest {
		for _, task := range e.Tasks {
			m, err := e.Model(family.Options{Task: task})
			if err != nil {
				continue
			}
			if s, err := newSource(&hub.Found{Model: m}, Query{Torch: torch}); err == nil && (torch == "" || s.tapes.Torch == torch) {
				list = append(list, s)
			}
		}
	}
	return list
}

// sized are the recipes of a way at several sizes.
func (s *source) sized(w recordings.Way) []recipe.Recipe {
	var list []recipe.Recipe
	for _, size := range [][2]int64{{1, 512}, {64, 256}, {2, 2048}} {
		r := recipeOf(w)
		r.Batch = size[0]
		if s.hasText() {
			r.Seq = size[1]
		}
		if full, err := s.Complete(r); err == nil {
			list = append(list, full)
		}
	}
	return list
}

// peak is that of a recipe, as it was recorded for a way.
func (s *source) peak(t *testing.T, r recipe.Recipe, class int, way recordings.Way) (float64, bool) {
	t.Helper()
	run, err := s.begin(r, cardOf(class))
	if err != nil {
		return 0, false
	}
	if run.tape, err = s.tapes.Tape(way.String()); err != nil {
		t.Fatal(err)
	}
	var w tape.Writer
	if _, err := run.play(&w); err != nil {
		return 0, false
	}
	return float64(estimate.Asked(w.Tape())), true
}

// TestSubstitutesAreDoubted compares, wherever both were recorded, what was asked
// for with what would stand for it.
func TestSubstitutesAreDoubted(t *testing.T) {
	if testing.Short() {
		t.Skip("plays most of the recordings")
	}
	found := make([]measure, len(substitutes))
	for _, s := range sources(t, "") {
		for _, w := range s.recorded() {
			if w.Structure != s.structure() || w.Task != string(s.model.Task) {
				continue
			}
			for i := range substitutes {
				v := w
				if !substitutes[i].apply(s, &v) {
					continue
				}
				if substitutes[i].code != "other-card" {
					v.Class = classOf(v, cardOf(w.Class))
				}
				if !s.tapes.Has(v.String()) {
					continue
				}
				for _, r := range s.sized(w) {
					asked, ok := s.peak(t, r, w.Class, w)
					stands, also := s.peak(t, r, w.Class, v)
					if ok && also {
						found[i].add(asked/stands-1, s.model.Name+" "+w.String())
					}
				}
			}
		}
	}
	measured := map[string]bool{}
	for i, x := range substitutes {
		if found[i].pairs > 0 {
			measured[x.code] = true
			found[i].holds(t, x.code, x.share, x.over)
		}
	}
	for i, x := range substitutes {
		if found[i].pairs == 0 && !measured[x.like] && x.source == "" {
			t.Errorf("%s: nothing says by how much it may be off", x.code)
		}
	}
}

// TestVersionsAreDoubted compares an older version's peaks with the newest one's.
func TestVersionsAreDoubted(t *testing.T) {
	versions := recordings.Versions()
	var m measure
	for _, s := range sources(t, versions[len(versions)-1]) {
		now, err := newSource(&hub.Found{Model: s.model}, Query{})
		if err != nil {
			continue
		}
		for _, w := range s.recorded() {
			if w.Structure != s.structure() || w.Task != string(s.model.Task) || !now.tapes.Has(w.String()) {
				continue
			}
			for _, r := range s.sized(w) {
				before, ok := s.peak(t, r, w.Class, w)
				after, also := now.peak(t, r, w.Class, w)
				if ok && also {
					m.add(before/after-1, s.model.Name+" "+w.String())
				}
			}
		}
	}
	m.holds(t, "other-version", otherVersion, false)
}

// TestAssumedFamiliesAreDoubted reads configs as such of other families that are
// built alike.
func TestAssumedFamiliesAreDoubted(t *testing.T) {
	var m measure
	for _, name := range []string{"llama-3.2-1b", "qwen2.5-0.5b", "qwen3-0.6b", "mistral-7b"} {
		e, ok := family.FindBuiltin(name)
		if !ok {
			t.Fatal(name)
		}
		own, err := newSourceOf(e, "")
		if err != nil {
			t.Fatal(err)
		}
		for _, other := range []string{"llama", "qwen2", "qwen3", "mistral"} {
			if other == own.model.Family {
				continue
			}
			as, err := newSourceOf(e, other)
			if err != nil {
				continue // what it asks for was not recorded
			}
			for _, w := range own.recorded() {
				if w.Structure != own.structure() || w.Task != string(own.model.Task) || w.Mode != "train" || len(w.LoRA) > 0 || w.Shard != "" {
					continue
				}
				v := w
				v.Structure = as.structure()
				if !as.tapes.Has(v.String()) {
					continue
				}
				for _, r := range own.sized(w) {
					is, ok := own.peak(t, r, w.Class, w)
					read, also := as.peak(t, r, w.Class, v)
					if ok && also {
						m.add(is/read-1, name+" as "+other+" "+w.String())
					}
				}
			}
		}
	}
	m.holds(t, "assumed-family", unsureWarnings["assumed-family"], false)
}

func newSourceOf(e family.Entry, assume string) (*source, error) {
	m, err := family.FromConfig(e.Config, family.Options{Name: e.Name, File: e.Name, Assume: assume})
	if err != nil {
		return nil, err
	}
	return newSource(&hub.Found{Model: m}, Query{})
}

// TestLeastDoubt looks at tapes of which a check found the peak right and not all
// events: where the other check found the peak.
func TestLeastDoubt(t *testing.T) {
	n, within := 0, 0
	for _, torch := range recordings.Versions() {
		for _, name := range recordings.Families(torch) {
			f, err := recordings.Open(torch, name)
			if err != nil {
				t.Fatal(err)
			}
			for _, key := range f.Keys() {
				tp, err := f.Tape(key)
				if err != nil {
					t.Fatal(err)
				}
				for i, c := range tp.Checked {
					if c.Peak != 0 || c.Equal == c.Events {
						continue
					}
					for k, other := range tp.Checked {
						if k == i {
							continue
						}
						if n++; math.Abs(other.Peak) <= leastDoubt {
							within++
						}
					}
				}
			}
		}
	}
	t.Logf("%d of %d within %v", within, n, leastDoubt)
	if n > 0 && float64(within) < 0.95*float64(n) {
		t.Errorf("%d of %d within %v", within, n, leastDoubt)
	}
}
