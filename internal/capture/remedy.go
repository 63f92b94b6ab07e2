package capture

import (
	"regexp"
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/whatif"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// Words is a verdict for people: "does not fit".
func Words(verdict string) string { return strings.ReplaceAll(verdict, "-", " ") }

// Expandable is what the run would need with expandable segments, and whether
// that is less than without them.
func (c *Capture) Expandable() (need unit.Bytes, less bool) {
	whole := c
	if c.Unlimited != nil {
		whole = c.Unlimited
	} else if c.Result.OOM != nil && !c.Result.OOM.Caught {
		return 0, false // what comes after the error is not on the tape
	}
	if len(whole.Recordings) == 0 || strings.Contains(c.Result.RecordedWith.AllocConf, "expandable_segments:True") {
		return 0, false
	}
	rec, p := &whole.Recordings[0], whole.Result.Peak
	conf := "expandable_segments:True"
	if old := c.Result.RecordedWith.AllocConf; old != "" {
		conf = old + "," + conf
	}
	a, err := whatif.New(conf, c.Result.RecordedWith.Torch)
	if err != nil {
		return 0, false // too old for them
	}
	again, err := a.Replay(rec.Tape, whatif.Endless)
	if err != nil {
		return 0, false
	}
	need = again.Reserved + p.Device - p.Reserved
	return need, need < p.Device
}

// batchFlag finds the flag of a command that says how large a batch is.
var batchFlag = regexp.MustCompile(`^(--?[\w.-]*(?:batch[_-]?size|batch|bsz?)|-b)(=(\d+))?$`)

// BatchPlaceholder is the command with {batch} in place of its batch size, as
// --largest takes it; ok is false when no word of the command looks like one.
func BatchPlaceholder(argv []string) (command, name string, ok bool) {
	words := append([]string(nil), argv...)
	for i, word := range words {
		m := batchFlag.FindStringSubmatch(word)
		switch {
		case m == nil:
			continue
		case m[3] != "":
			words[i] = m[1] + "={batch}"
		case i+1 < len(words) && isNumber(words[i+1]):
			words[i+1] = "{batch}"
		default:
			continue
		}
		return strings.Join(words, " "), "batch", true
	}
	return "", "", false
}

func isNumber(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }
