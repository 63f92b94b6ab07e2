package tui

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/plimsoll-dev/plimsoll/internal/tui/canvas"
	"github.com/plimsoll-dev/plimsoll/internal/watch"
	"github.com/plimsoll-dev/plimsoll/internal/words"
)

// A look is how a kind of remark is shown.
type look struct {
	mark rune
	role canvas.Role
}

// looks are those of all kinds.
var looks = map[watch.Kind]look{
	watch.Waiting: {'·', canvas.Dim},
	watch.Healthy: {'✓', canvas.Good},
	watch.Idles:   {'▲', canvas.Warn},
	watch.Unsure:  {'?', canvas.Dim},
	watch.Free:    {'○', canvas.Dim},
	watch.Cut:     {'○', canvas.Dim},
	watch.Filling: {'▲', canvas.Bad},
	watch.Stuck:   {'!', canvas.Bad},
	watch.Unread:  {'✗', canvas.Bad},
}

// remarkOn is what is to say of a device.
func (m *Model) remarkOn(d device) watch.Remark {
	j, ok := d.host.judged[d.ID]
	if !ok {
		return watch.RemarkOn(d.Device, d.processes, nil)
	}
	return watch.RemarkOn(d.Device, d.processes, &j)
}

// headline is the verdict on the machine: what needs a look, or that nothing does.
func (m *Model) headline() (mark rune, role canvas.Role, text string) {
	if len(m.devices) == 0 {
		return '✗', canvas.Bad, m.noDevices()
	}
	var bad, others []string // the worst are said first
	worst := look{'✓', canvas.Good}
	healthy, gpus := 0, 0
	for _, d := range m.devices {
		if d.Parent == "" {
			gpus++
		}
		r := m.remarkOn(d)
		if r.Kind == watch.Healthy {
			healthy++
		}
		if !r.Kind.CallsForALook() {
			continue
		}
		shown := looks[r.Kind]
		if worst.role == canvas.Good || shown.role == canvas.Bad && worst.role != canvas.Bad {
			worst = shown
		}
		if text := m.called(d) + clause(r); shown.role == canvas.Bad {
			bad = append(bad, text)
		} else {
			others = append(others, text)
		}
	}
	all := append(bad, others...)
	switch {
	case len(all) == 1:
		return worst.mark, worst.role, all[0]
	case len(all) > 1:
		return worst.mark, worst.role, fmt.Sprintf("%d of %s need a look: %s", len(all), count(gpus, "GPU"), strings.Join(all, " · "))
	case healthy == 1 && len(m.devices) == 1:
		return '✓', canvas.Good, "the GPU does useful work"
	case healthy == len(m.devices):
		return '✓', canvas.Good, "all of " + count(gpus, "GPU") + " do useful work"
	case healthy > 0:
		return '✓', canvas.Good, fmt.Sprintf("nothing calls for a look; at useful work: %d of %s", healthy, count(gpus, "GPU"))
	}
	return '·', canvas.Dim, "nothing calls for a look"
}

// clause is what is to say of a GPU as it follows its name: a sentence that is on
// "the GPU" goes on from there, one on something else stands after a colon.
func clause(r watch.Remark) string {
	if rest, ok := strings.CutPrefix(r.Text, "The GPU "); ok {
		return " " + rest
	}
	if first, size := utf8.DecodeRuneInString(r.Text); r.Kind == watch.Idles && unicode.IsUpper(first) {
		return ": " + string(unicode.ToLower(first)) + r.Text[size:]
	}
	return " " + r.Text
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// noDevices says why there is nothing to show.
func (m *Model) noDevices() string {
	switch {
	case !m.any && m.quiet > 0:
		return "no sample has come for " + words.About(m.quiet)
	case !m.any:
		return "waiting for the first sample"
	case len(m.host.now.Problems) > 0:
		return m.host.now.Problems[0].What
	case len(m.host.now.Devices) > 0:
		return "none of the GPUs that were asked for is there"
	}
	return "no GPU was found"
}

func (m *Model) loadOf(d device) watch.Load {
	return watch.LoadOf(d.Device, d.host.judged[d.ID].Memory)
}
