package catalog

import (
	"slices"
	"sync"

	"github.com/plimsoll-dev/plimsoll/internal/recipe"
	"github.com/plimsoll-dev/plimsoll/internal/symbolic"
	"github.com/plimsoll-dev/plimsoll/internal/symbolic/kernel"
	"github.com/plimsoll-dev/plimsoll/tape"
)

// mostMolds is how many plays are kept; a play has some ten thousand events of a few
// bytes.
const mostMolds = 64

// molds are plays of one model that may be played again at other sizes.
type molds struct {
	lock sync.Mutex
	kept map[moldKey][]*symbolic.Mold // in each of them something else happens
	keys []moldKey                    // of all molds, the oldest first
}

// A moldKey is what decides beside dimensions what happens in a run.
type moldKey struct {
	tape       *symbolic.Tape
	optimizer  string
	clip       bool
	precision  recipe.Precision
	mode       recipe.Mode
	accumulate int64
	device     kernel.Device
}

func (m *molds) get(k moldKey) []*symbolic.Mold {
	m.lock.Lock()
	defer m.lock.Unlock()
	return m.kept[k]
}

func (m *molds) put(k moldKey, made *symbolic.Mold) {
	m.lock.Lock()
	defer m.lock.Unlock()
	if m.kept == nil {
		m.kept = map[moldKey][]*symbolic.Mold{}
	}
	m.kept[k] = append(slices.Clip(m.kept[k]), made)
	m.keys = append(m.keys, k)
	if len(m.keys) > mostMolds {
		oldest := m.keys[0]
		m.keys = m.keys[1:]
		m.kept[oldest] = m.kept[oldest][1:]
	}
}

// perform plays a run, from the mold of one that only had other sizes where there is
// one. Copies of the model on several cards are composed of buffers' sizes, which a
// mold does not follow.
func (s *source) perform(r *run, w *tape.Writer) (*symbolic.Played, error) {
	if r.plan.Sites || r.recipe.Shard != "" {
		return r.play(w)
	}
	key := moldKey{r.tape, r.recipe.Optimizer, r.recipe.ClipGradNorm, r.recipe.Precision, r.recipe.Mode, min(r.recipe.Accumulate, settled), r.env.Device}
	for _, m := range s.molds.get(key) {
		if played, ok, err := m.Pour(r.env, w); ok || err != nil {
			return played, err
		}
	}
	played, m, err := r.tape.Cast(r.env, r.plan, w, r.step)
	if m != nil {
		s.molds.put(key, m)
	}
	return played, err
}
