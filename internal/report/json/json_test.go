package json

import (
	"bytes"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-dev/plimsoll/internal/report"
	"github.com/plimsoll-dev/plimsoll/unit"
)

func TestRender(t *testing.T) {
	data := struct {
		Schema string                `json:"schema"`
		Need   unit.Bytes            `json:"need_bytes"`
		File   string                `json:"file"`
		Parts  map[string]unit.Bytes `json:"parts"`
	}{"plimsoll.test/1", 1 << 53, "a & <b>.py\x1b", map[string]unit.Bytes{"z": 1, "a": 2}}
	const want = `{
  "schema": "plimsoll.test/1",
  "need_bytes": 9007199254740992,
  "file": "a & <b>.py\u001b",
  "parts": {
    "a": 2,
    "z": 1
  }
}
`
	var out bytes.Buffer
	if err := Render(&out, &report.Report{Data: data}, report.Options{}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("document (-want +got):\n%s", diff)
	}
}

func TestNoDocument(t *testing.T) {
	if err := Render(&bytes.Buffer{}, &report.Report{Command: "capture"}, report.Options{}); !errors.Is(err, ErrNoDocument) {
		t.Errorf("got %v", err)
	}
}
