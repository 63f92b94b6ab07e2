package oomlog

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// expected is what a given log says, as people read it.
type expected struct {
	Framework string                     `json:"framework"`
	Version   string                     `json:"version"`
	Kind      string                     `json:"kind"`
	Fields    map[string]json.RawMessage `json:"fields"`
}

// notInLog are fields that people knew from elsewhere: the thread says that
// df ran every 10 seconds, its lines do not.
var notInLog = map[string]string{"055-shm-growth-df.log": "interval_s"}

func TestGivenLogs(t *testing.T) {
	dir := os.Getenv("PLIMSOLL_CASES")
	if dir == "" {
		t.Skip("PLIMSOLL_CASES is not set")
	}
	text, err := os.ReadFile(filepath.Join(dir, "oom", "expected.json"))
	if err != nil {
		t.Fatal(err)
	}
	var cases map[string]expected
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	for name, want := range cases {
		t.Run(name, func(t *testing.T) {
			f, err := os.Open(filepath.Join(dir, "oom", name))
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			log, err := Scan(t.Context(), f, name)
			if err != nil {
				t.Fatal(err)
			}
			if len(log.Messages) != 1 {
				for _, m := range log.Messages {
					t.Logf("%s %v", m.Kind.Name, m.Fields)
				}
				t.Fatalf("%d messages, want 1", len(log.Messages))
			}
			m := log.Messages[0]
			if m.Kind.Name != want.Kind || m.Framework != want.Framework {
				t.Errorf("%s of %s, want %s of %s", m.Kind.Name, m.Framework, want.Kind, want.Framework)
			}
			if !covers(m.Version, want.Version) {
				t.Errorf("version %s, want %s inside", m.Version, want.Version)
			}
			delete(want.Fields, notInLog[name])
			if diff := cmp.Diff(numbers(t, want.Fields), m.Fields); diff != "" {
				t.Errorf("fields (want -, got +):\n%s", diff)
			}
			var processes []Process
			if raw, ok := want.Fields["processes"]; ok {
				if err := json.Unmarshal(raw, &processes); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(processes, m.Processes); diff != "" {
				t.Errorf("processes (want -, got +):\n%s", diff)
			}
		})
	}
}

func numbers(t *testing.T, fields map[string]json.RawMessage) map[string]int64 {
	t.Helper()
	out := map[string]int64{}
	for name, raw := range fields {
		if name == "processes" {
			continue
		}
		var n int64
		if err := json.Unmarshal(raw, &n); err != nil {
			t.Fatal(err)
		}
		out[name] = n
	}
	return out
}

// covers reports whether a range of versions and what a person knew of the
// version have one in common.
func covers(versions, known string) bool {
	if versions == "any" {
		return true
	}
	low, high, isRange := strings.Cut(versions, "-")
	if !isRange {
		high = low
	}
	known, _, _ = strings.Cut(known, ",")
	known, _, _ = strings.Cut(known, " ")
	first, last, isRange := strings.Cut(known, "-")
	if !isRange {
		first, _, _ = strings.Cut(known, "/")
		last = first
	}
	if strings.HasSuffix(first, "+") {
		first, last = strings.TrimSuffix(first, "+"), "9999"
	}
	if strings.HasSuffix(first, ".x") {
		first, last = strings.TrimSuffix(first, "x")+"0", strings.TrimSuffix(first, "x")+"99"
	}
	return first == "main" || !versionLess(last, low) && !versionLess(high, first)
}
