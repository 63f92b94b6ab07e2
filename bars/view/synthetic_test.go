package main

import (
	"bytes"
	"testing"

	"github.com/plimsoll-dev/plimsoll/internal/format/snapshot"
	"github.com/plimsoll-dev/plimsoll/internal/input"
)

func TestSyntheticSnapshotIsRead(t *testing.T) {
	var out bytes.Buffer
	events, err := writeSynthetic(&out, 3<<20, 12)
	if err != nil {
		t.Fatal(err)
	}
	s, err := snapshot.Read(bytes.NewReader(out.Bytes()), int64(out.Len()), "synthetic", input.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Tapes) != 1 || s.Tapes[0].Len() != events || len(s.Warnings) > 0 {
		t.Errorf("%d tapes, %d of %d events, warnings %v", len(s.Tapes), s.Tapes[0].Len(), events, s.Warnings)
	}
}
