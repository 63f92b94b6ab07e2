package catalog

import (
	"fmt"

	"github.com/plimsoll-dev/plimsoll/internal/symbolic"
)

// unsureWarnings are the codes of a model's warnings that make sizes doubtful,
// with the share of the peak that they may be off by.
var unsureWarnings = map[string]float64{
	"unrecorded-value": 0.1,
	"assumed-family":   0.1,
}

// modelNotes are what the reading of the model's description left in doubt.
func (s *source) modelNotes() []reason {
	var list []reason
	for _, w := range s.model.Warnings {
		list = append(list, reason{w.Code, w.Message, unsureWarnings[w.Code]})
	}
	return list
}

// unseen says where dimensions are below all that were recorded. Above them
// formulas hold as they are; below, kernels may choose otherwise than in any
// recording.
func unseen(t *symbolic.Tape, env symbolic.Env) []reason {
	var list []reason
	for _, s := range t.Seen {
		v, ok := env.Dims[s.Name]
		if !ok || v >= s.Low || !uses(t, s.Name) {
			continue
		}
		list = append(list, reason{
			code: "below-recordings", share: 0.01,
			message: fmt.Sprintf("%s is %d, and the smallest recorded is %d: kernels may choose otherwise there", s.Name, v, s.Low),
		})
	}
	return list
}

// uses reports whether sizes depend on a dimension.
func uses(t *symbolic.Tape, name string) bool {
	return anyOp(t, func(op *symbolic.Op) bool {
		found := false
		op.Bytes.Names(func(n string) { found = found || n == name })
		return found
	})
}
