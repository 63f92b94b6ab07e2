package explain

import (
	"testing"

	"github.com/plimsoll-dev/plimsoll/internal/alloc"
	"github.com/plimsoll-dev/plimsoll/tape"
)

// The variable that is advised replaces the one of the recording, so that it
// has to repeat what stands there.
func TestAdvisedSettingsKeepThoseOfTheRecording(t *testing.T) {
	for _, c := range []struct {
		recorded, setting, want string
		settings                alloc.Settings
	}{
		{"", "max_split_size_mb:64", "max_split_size_mb:64", alloc.Settings{}},
		{"expandable_segments:True", "roundup_power2_divisions:4", "expandable_segments:True,roundup_power2_divisions:4", alloc.Settings{}},
		{"max_split_size_mb:32, roundup_power2_divisions:[256:1,>:4]", "max_split_size_mb:64", "roundup_power2_divisions:[256:1,>:4],max_split_size_mb:64", alloc.Settings{}},
		{"", "max_split_size_mb:64", "expandable_segments:True,max_split_size_mb:64", alloc.Settings{Expandable: true}},
	} {
		r := &Recording{Input: Input{Tape: &tape.Tape{}, Settings: c.settings}}
		if c.recorded != "" {
			r.Tape.SetMeta("alloc_conf", c.recorded)
		}
		if got := r.conf(c.setting); got != c.want {
			t.Errorf("%q and %q: %q, want %q", c.recorded, c.setting, got, c.want)
		}
	}
}
