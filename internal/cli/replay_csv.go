package cli

import (
	"context"
	"io"

	"github.com/plimsoll-dev/plimsoll/internal/tui/table"
	"github.com/plimsoll-dev/plimsoll/series"
)

// csv writes what `top --format csv` does, for each sample.
func (r *replayRange) csv(ctx context.Context, w io.Writer) error {
	head := true
	return r.each(ctx, func(s *series.Sample) error {
		err := renderTopCSV(w, topState{sample: *s, labels: table.Labels(s.Devices)}, head)
		head = false
		return err
	})
}
