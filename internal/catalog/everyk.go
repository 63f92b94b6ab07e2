package catalog

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/estimate"
	"github.com/plimsoll-dev/plimsoll/internal/family/recordings"
	"github.com/plimsoll-dev/plimsoll/internal/symbolic"
)

// everyPrefix begins the checkpointing of every K-th layer: 0, K, 2K and so on.
const everyPrefix = "every-"

// everyK is K of "every-K", 0 for other ways. Every layer is the full way.
func everyK(checkpoint string) int {
	k, err := strconv.Atoi(strings.TrimPrefix(checkpoint, everyPrefix))
	if !strings.HasPrefix(checkpoint, everyPrefix) || err != nil || k < 2 {
		return 0
	}
	return k
}

// A mix is a tape of which some layers are checkpointed, and their kinds.
type mix struct {
	tape  *symbolic.Tape
	kinds map[string][]string
}

// everyKth makes the run checkpoint every k-th layer: these are played from the
// tape of full checkpointing, which the run has, and the others from that of none.
func (s *source) everyKth(r *run, k int) error {
	key := fmt.Sprintf("%s %d", r.way, k)
	if have, ok := s.mixes.Load(key); ok {
		m := have.(mix)
		r.tape, r.env.Kinds = m.tape, m.kinds
		return nil
	}
	none := r.way
	none.Checkpoint = "none"
	if !s.has(none) {
		return s.refuse(none)
	}
	t, err := s.tape(none)
	if err != nil {
		return err
	}
	second := map[string][]bool{}
	for stack, kinds := range r.env.Kinds {
		second[stack] = make([]bool, len(kinds))
		for i := range kinds {
			second[stack][i] = i%k == 0
		}
	}
	var m mix
	if m.tape, m.kinds, err = symbolic.Mix(t, r.tape, r.env.Kinds, second); err != nil {
		return &estimate.Error{Msg: fmt.Sprintf("--checkpoint every-%d cannot be composed for %s: %v", k, s.model.Family, err), Hint: "--checkpoint full is recorded; " + tryCapture}
	}
	s.mixes.Store(key, m)
	r.tape, r.env.Kinds = m.tape, m.kinds
	return nil
}

// composedFrom says that every-K is put together, where that was not compared with
// recordings.
func composedFrom(v recordings.Way, stacks int) []reason {
	if stacks == 1 && v.Shard == "" && len(v.LoRA) == 0 {
		return nil
	}
	return []reason{{code: "composed-checkpoints", share: composedShare, message: "every-K is put together from the tapes of none and full checkpointing; for such a model that was not compared with a recording"}}
}

// composedShare is what an answer may be off by then, as a share of the peak: assumed.
// Where it was compared, all events were equal.
const composedShare = 0.005
