package tui

import (
	"fmt"
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/tui/canvas"
	"github.com/plimsoll-dev/plimsoll/internal/watch"
	"github.com/plimsoll-dev/plimsoll/series"
)

// A remark is what is to say of one device.
type remark struct {
	mark rune
	role canvas.Role
	// text is a sentence without the name of the device; more follows it where
	// there is room.
	text, more string
	// look is set where someone should look at it.
	look bool
}

// remarkOn says what is to say of a device, the worst first.
func (m *Model) remarkOn(d device, load watch.Load) remark {
	switch d.Status {
	case series.OK:
	case series.Stuck:
		return remark{'!', canvas.Bad, "does not answer, values " + about(d.StaleFor) + " old", aside(d.Problem), true}
	case series.Lost:
		return remark{'✗', canvas.Bad, "is lost", aside(d.Problem), true}
	default:
		return remark{'✗', canvas.Bad, "cannot be read (" + d.Status.String() + ")", aside(d.Problem), true}
	}
	j, ok := m.judged[d.ID]
	r := remarkOf(j, ok)
	_, busy := busyOf(d.Device).Get()
	switch {
	case load.Fills && load.Over():
		full := "will be out of memory in " + about(load.Full.After)
		if within := between(load.Full.Earliest, load.Full.Latest); within != about(load.Full.After) {
			full += " (" + within + ")"
		}
		return remark{'▲', canvas.Bad, full + " by the trend of the last " + about(j.Memory.Over), aside(r.text), true}
	case d.MIG == "on":
		return remark{mark: '○', role: canvas.Dim, text: "cut into instances, which are listed below; the driver counts no busy time of the whole"}
	case d.processes == 0 && busy && idleNow(d):
		return remark{mark: '○', role: canvas.Dim, text: "free: nothing runs on it"}
	}
	return r
}

// aside is a sentence after another one.
func aside(s string) string {
	if s == "" {
		return ""
	}
	return "· " + s
}

func idleNow(d device) bool { return busyOf(d.Device).V == 0 }

// remarkOf is what a judgement says.
func remarkOf(j watch.Judgement, ok bool) remark {
	switch {
	case !ok || j.Idle.Verdict == "":
		return remark{mark: '·', role: canvas.Dim, text: "nothing is known yet"}
	case len(j.Idle.Findings) > 0:
		f := j.Idle.Findings[0]
		more := ""
		if len(f.Remedies) > 0 {
			more = "→ " + f.Remedies[0].Action
			if gain := f.Remedies[0].Gain; gain != nil && *gain > 0 {
				more += fmt.Sprintf(" (gives back up to %.0f %% of the time)", *gain*100)
			}
		}
		return remark{'▲', canvas.Warn, strings.TrimSuffix(j.Idle.Verdict, "."), more, true}
	case j.Idle.Healthy:
		return remark{mark: '✓', role: canvas.Good, text: strings.TrimSuffix(j.Idle.Verdict, ".")}
	}
	more := ""
	if len(j.Idle.Unsure) > 0 {
		more = "→ to decide, " + j.Idle.Unsure[0].Measure
	}
	return remark{mark: '?', role: canvas.Dim, text: strings.TrimSuffix(j.Idle.Verdict, "."), more: more}
}

// headline is the verdict on the machine: what needs a look, or that nothing does.
func (m *Model) headline() (mark rune, role canvas.Role, text string) {
	if len(m.devices) == 0 {
		return '✗', canvas.Bad, m.noDevices()
	}
	var bad, looks []string // the worst are said first
	worst := remark{mark: '✓', role: canvas.Good}
	healthy, gpus := 0, 0
	for _, d := range m.devices {
		if d.Parent == "" {
			gpus++
		}
		r := m.remarkOn(d, m.loadOf(d))
		if r.mark == '✓' {
			healthy++
		}
		if !r.look {
			continue
		}
		if worst.role == canvas.Good || r.role == canvas.Bad && worst.role != canvas.Bad {
			worst = r
		}
		if text := "GPU " + d.label + " " + clause(r.text); r.role == canvas.Bad {
			bad = append(bad, text)
		} else {
			looks = append(looks, text)
		}
	}
	looks = append(bad, looks...)
	switch {
	case len(looks) == 1:
		return worst.mark, worst.role, looks[0]
	case len(looks) > 1:
		return worst.mark, worst.role, fmt.Sprintf("%d of %s need a look: %s", len(looks), count(gpus, "GPU"), strings.Join(looks, " · "))
	case healthy == len(m.devices):
		return '✓', canvas.Good, "all of " + count(gpus, "GPU") + " are used"
	case healthy > 0:
		return '✓', canvas.Good, fmt.Sprintf("%d of %s are used; nothing calls for a look", healthy, count(gpus, "GPU"))
	}
	return '·', canvas.Dim, "nothing calls for a look"
}

// clause is a sentence on "the GPU" as it follows the name of one.
func clause(s string) string {
	return strings.TrimPrefix(strings.TrimPrefix(s, "The GPU "), "the GPU ")
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
		return "no sample has come for " + about(m.quiet)
	case !m.any:
		return "waiting for the first sample"
	case len(m.now.Problems) > 0:
		return m.now.Problems[0].What
	case len(m.now.Devices) > 0:
		return "none of the GPUs that were asked for is there"
	}
	return "no GPU was found"
}

func (m *Model) loadOf(d device) watch.Load {
	return watch.LoadOf(d.Device, m.judged[d.ID].Memory)
}
