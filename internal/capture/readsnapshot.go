package capture

import (
	"errors"

	"github.com/plimsoll-dev/plimsoll/internal/format/snapshot"
	"github.com/plimsoll-dev/plimsoll/internal/input"
	"github.com/plimsoll-dev/plimsoll/tape"
)

// readSnapshot reads PyTorch's own recording: a tape for each device. One
// that was cut gives what is there and a warning.
func readSnapshot(path string) (map[int]*tape.Tape, []Warning, error) {
	f, size, err := input.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	s, err := snapshot.Read(f, size, "snapshot.pickle", input.Limits{})
	var warnings []Warning
	if errors.Is(err, input.ErrTruncated) && s != nil {
		warnings = append(warnings, Warning{"recording-cut", "PyTorch's recording ends early"})
	} else if err != nil {
		return nil, nil, err
	}
	tapes := map[int]*tape.Tape{}
	for i, t := range s.Tapes {
		tapes[int(s.Devices[i])] = t
	}
	for _, w := range s.Warnings {
		if w.Code != snapshot.HostMemoryLeft { // nobody asked about it
			warnings = append(warnings, Warning{w.Code, w.Message})
		}
	}
	return tapes, warnings, nil
}
