package alloc

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/unit"
)

// parserCase is what the parsers of three versions of PyTorch made of one
// string.
type parserCase struct {
	Config string         `json:"config"`
	New    *parserOutcome `json:"2.15"`
	Mid    *parserOutcome `json:"2.6"`
	Old    *parserOutcome `json:"2.0"`
}

type parserOutcome struct {
	Exception string          `json:"exception"`
	Text      string          `json:"text"`
	Crash     bool            `json:"crash"`
	Warnings  []string        `json:"warnings"`
	Settings  *parserSettings `json:"settings"`
}

// parserSettings are the settings as a snapshot file shows them.
type parserSettings struct {
	MaxSplit          int64             `json:"max_split_size"`
	GC                float64           `json:"garbage_collection_threshold"`
	Expandable        bool              `json:"expandable_segments"`
	Threads           int               `json:"pinned_num_register_threads"`
	ReleaseLock       bool              `json:"release_lock_on_cudamalloc"`
	HostRegister      bool              `json:"pinned_use_cuda_host_register"`
	StreamReuse       bool              `json:"graph_capture_record_stream_reuse"`
	MaxRoundThreshold *int64            `json:"max_round_threshold"`
	MaxCached         *int64            `json:"max_cached_size"`
	RoundupDivisions  [intervals]uint64 `json:"roundup_power2_divisions"`
}

func read(t *testing.T, name string, to any) {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, to); err != nil {
		t.Fatal(err)
	}
}

// parseAll sets the parts of a string one after the other.
func parseAll(config string, v Version) (Settings, error) {
	s := Settings{Version: v}
	for _, part := range strings.Split(config, "|") {
		var err error
		if s, err = s.Parse(part); err != nil {
			return Settings{}, err
		}
	}
	return s, nil
}

func TestParserIsPyTorchs(t *testing.T) {
	var file struct {
		Cases []parserCase `json:"cases"`
	}
	read(t, "parser_cases.json", &file)
	if len(file.Cases) < 200 {
		t.Fatalf("only %d cases", len(file.Cases))
	}
	for _, c := range file.Cases {
		for v, want := range map[Version]*parserOutcome{{2, 15}: c.New, {2, 6}: c.Mid, {2, 0}: c.Old} {
			if want == nil {
				t.Fatalf("%q: version %s is missing", c.Config, v)
			}
			got, err := parseAll(c.Config, v)
			checkOutcome(t, c.Config, v, want, got, err)
		}
	}
}

func checkOutcome(t *testing.T, config string, v Version, want *parserOutcome, got Settings, err error) {
	t.Helper()
	var raised *SettingsError
	switch {
	case want.Crash:
		if err == nil {
			t.Errorf("%s %q: accepted; PyTorch crashes", v, config)
		}
		return
	case want.Exception != "":
		if !errors.As(err, &raised) || raised.Exception != want.Exception || raised.Text != want.Text {
			t.Errorf("%s %q:\n got %#v\nwant %s: %s", v, config, err, want.Exception, want.Text)
		}
		return
	case err != nil:
		t.Errorf("%s %q: %v; PyTorch accepts it", v, config, err)
		return
	}
	if strings.Join(got.Warnings, "\n") != strings.Join(want.Warnings, "\n") {
		t.Errorf("%s %q: warnings %q, want %q", v, config, got.Warnings, want.Warnings)
	}
	if want.Settings == nil {
		return
	}
	if s := shown(got, want.Settings); s != *want.Settings {
		t.Errorf("%s %q:\n got %+v\nwant %+v", v, config, s, *want.Settings)
	}
}

// shown writes settings as a snapshot does; numbers that PyTorch wraps around
// are taken from want when ours is unlimited, and pointers are compared there.
func shown(s Settings, want *parserSettings) parserSettings {
	out := parserSettings{
		MaxSplit: wrapped(s.maxSplit(), want.MaxSplit), GC: s.GCThreshold, Expandable: s.Expandable, Threads: max(s.PinnedThreads, 1),
		ReleaseLock: s.ReleaseLock, HostRegister: s.PinnedHostRegister, StreamReuse: s.StreamReuse, RoundupDivisions: s.Divisions,
	}
	out.MaxRoundThreshold = pointer(s.PinnedMaxRoundThreshold, want.MaxRoundThreshold)
	out.MaxCached = pointer(s.PinnedMaxCached, want.MaxCached)
	return out
}

func wrapped(b unit.Bytes, want int64) int64 {
	if b == unlimited && want < 0 {
		return want
	}
	return int64(b)
}

func pointer(b *unit.Bytes, want *int64) *int64 {
	switch {
	case b == nil && (want == nil || *want == -1):
		return want
	case b != nil && want != nil && wrapped(*b, *want) == *want:
		return want
	}
	return new(int64)
}

func TestConfigErrors(t *testing.T) {
	var file struct {
		Errors []struct {
			Config string `json:"config"`
		} `json:"config_errors"`
		Accepts []struct {
			Config string `json:"config"`
		} `json:"config_accepts"`
	}
	read(t, "allocator_cases.json", &file)
	if len(file.Errors) == 0 || len(file.Accepts) == 0 {
		t.Fatal("no cases")
	}
	for _, c := range file.Errors {
		if s, err := ParseSettings(c.Config, Version{}); err == nil {
			t.Errorf("%q gives %+v, want an error", c.Config, s)
		}
	}
	for _, c := range file.Accepts {
		if _, err := ParseSettings(c.Config, Version{}); err != nil {
			t.Errorf("%q: %v", c.Config, err)
		}
	}
}

func TestConfigParse(t *testing.T) {
	var file struct {
		Cases []struct {
			Config    string            `json:"config"`
			Divisions map[string]uint64 `json:"expect_divisions_by_size_mb"`
			Expect    map[string]any    `json:"expect"`
		} `json:"config_parse"`
	}
	read(t, "allocator_cases.json", &file)
	if len(file.Cases) == 0 {
		t.Fatal("no cases")
	}
	for _, c := range file.Cases {
		s, err := ParseSettings(c.Config, Version{})
		if err != nil {
			t.Errorf("%q: %v", c.Config, err)
			continue
		}
		for mb, want := range c.Divisions {
			n, err := unit.Parse(mb + "MiB")
			if err != nil {
				t.Fatal(err)
			}
			if got := s.divisions(n); got != want {
				t.Errorf("%q: %d divisions at %s MiB, want %d", c.Config, got, mb, want)
			}
		}
		fields := map[string]any{
			"max_split_size": float64(s.maxSplit()), "max_non_split_rounding": float64(s.maxNonSplitRounding()),
			"large_segment_size": float64(s.largeSegment()), "garbage_collection_threshold": s.GCThreshold, "expandable_segments": s.Expandable,
		}
		for name, want := range c.Expect {
			if got, ok := fields[name]; !ok || got != want {
				t.Errorf("%q: %s is %v, want %v", c.Config, name, got, want)
			}
		}
	}
}

func TestSizes(t *testing.T) {
	var file struct {
		Sizes struct {
			Cases []struct {
				Config  string     `json:"config"`
				Request unit.Bytes `json:"request"`
				Rounded unit.Bytes `json:"rounded"`
				Segment unit.Bytes `json:"segment_if_new"`
				Pool    string     `json:"pool"`
			} `json:"cases"`
		} `json:"size_cases"`
	}
	read(t, "allocator_cases.json", &file)
	if len(file.Sizes.Cases) == 0 {
		t.Fatal("no cases")
	}
	for _, c := range file.Sizes.Cases {
		s, err := ParseSettings(c.Config, Version{})
		if err != nil {
			t.Fatal(err)
		}
		size := s.round(c.Request)
		pool := "large"
		if size <= smallLimit {
			pool = "small"
		}
		if size != c.Rounded || s.segment(size) != c.Segment || pool != c.Pool {
			t.Errorf("%q, %d bytes: %d in a segment of %d, %s; want %d in %d, %s", c.Config, c.Request, size, s.segment(size), pool, c.Rounded, c.Segment, c.Pool)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("max_split_size_mb:40,roundup_power2_divisions:[64:8,>:2]", uint8(0))
	f.Add("roundup_power2_divisions:[64:8", uint8(6))
	f.Add("expandable_segments_reserve_by_class:[a:0.25,b:40G]", uint8(0))
	f.Fuzz(func(t *testing.T, config string, minor uint8) {
		s, err := ParseSettings(config, Version{2, int(minor % 16)})
		if err == nil && (s.maxSplit() <= 0 || s.largeSegment() <= 0 || s.maxNonSplitRounding() <= 0) {
			t.Fatalf("%q gives %+v", config, s)
		}
	})
}
