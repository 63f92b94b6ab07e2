package family

import "fmt"

// CompareStored compares how many parameters a checkpoint stores with how many
// the model of this head has. It returns nil when they are equal; when they
// are not, the config or the checkpoint is of another model, or one of them
// has a head that the other has not.
func (m *Model) CompareStored(stored, counted int64) *Warning {
	if stored == counted {
		return nil
	}
	more, what := stored-counted, "more"
	if more < 0 {
		more, what = -more, "fewer"
	}
	why := "is the config of this checkpoint?"
	vocabulary, hidden := m.Dims["V"], m.Dims["h"]
	// A head is at most a dense layer and a norm, with biases, before a table of the
	// vocabulary with a bias, as BERT's is.
	head := vocabulary*hidden + vocabulary + hidden*hidden + 4*hidden
	switch {
	case stored > counted && more == vocabulary*hidden:
		why = "as many as a second table of the vocabulary has: tied weights are stored twice, or not tied"
	case stored < counted && more <= head:
		why = "no more than a head: it will be made anew when the model is loaded for " + string(m.Task)
	case stored > counted && more <= head:
		why = "no more than a head, which is not loaded for " + string(m.Task)
	}
	return &Warning{"stored-parameters", fmt.Sprintf("the checkpoint stores %d parameters, %d %s than the model has: %s", stored, more, what, why)}
}
