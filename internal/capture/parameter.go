package capture

import (
	"encoding/json"
	"errors"
	"fmt"
)

// A Parameter is one of a model that the script called.
type Parameter struct {
	Name, DType string
	Shape       []int64
	Trained     bool
}

// UnmarshalJSON reads the helper's row: name, shape, type, whether it is trained.
func (p *Parameter) UnmarshalJSON(data []byte) error {
	var row []json.RawMessage
	if err := json.Unmarshal(data, &row); err != nil {
		return err
	}
	to := []any{&p.Name, &p.Shape, &p.DType, &p.Trained}
	if len(row) != len(to) {
		return fmt.Errorf("a parameter has %d fields, not %d", len(row), len(to))
	}
	var all []error
	for i := range to {
		all = append(all, json.Unmarshal(row[i], to[i]))
	}
	return errors.Join(all...)
}
