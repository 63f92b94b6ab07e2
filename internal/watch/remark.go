package watch

import (
	"fmt"
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/words"
	"github.com/plimsoll-dev/plimsoll/series"
)

// A Kind is what sort of thing a remark says.
type Kind string

// The kinds.
const (
	Waiting Kind = "waiting" // too little was seen
	Healthy Kind = "healthy" // it does useful work
	Idles   Kind = "idles"   // for a cause that is named
	Unsure  Kind = "unsure"  // it idles, and nothing decides why
	Free    Kind = "free"    // nobody uses it
	Cut     Kind = "cut"     // into MIG instances
	Filling Kind = "filling" // its memory will be full within Horizon
	Stuck   Kind = "stuck"   // the driver does not answer for it
	Unread  Kind = "unread"  // it is lost, or cannot be read for another reason
)

// CallsForALook reports whether someone should look at a device of that kind.
func (k Kind) CallsForALook() bool {
	return k == Idles || k == Filling || k == Stuck || k == Unread
}

// A Remark is the one thing that is to say of a device first.
type Remark struct {
	Kind Kind
	// Text is a sentence without its end, on "the GPU" or to follow its name;
	// More follows it where there is room: what to do, or what else is known.
	Text, More string
}

// RemarkOn says what is to say of a device on which there are so many processes;
// the worst goes first. j is nil where it was not judged.
func RemarkOn(d *series.Device, processes int, j *Judgement) Remark {
	switch d.Status {
	case series.OK:
	case series.Stuck:
		if d.StaleFor == 0 {
			return Remark{Stuck, "does not answer", aside(d.Problem)}
		}
		return Remark{Stuck, "does not answer, values " + words.About(d.StaleFor) + " old", aside(d.Problem)}
	case series.Lost:
		return Remark{Unread, "is lost", aside(d.Problem)}
	default:
		return Remark{Unread, "cannot be read (" + d.Status.String() + ")", aside(d.Problem)}
	}
	busy, known := BusyOf(d).Get()
	r := judgedRemark(j)
	switch {
	case j != nil && LoadOf(d, j.Memory).Over():
		return Remark{Filling, filling(LoadOf(d, j.Memory), *j), aside(r.Text)}
	case d.MIG == "on":
		return Remark{Kind: Cut, Text: "cut into instances, which are listed below; the driver counts no busy time of the whole"}
	case processes == 0 && known && busy == 0:
		return Remark{Kind: Free, Text: "free: nothing runs on it"}
	}
	return r
}

// BusyOf is the share of time in which kernels ran; of a MIG instance, which has
// no such counter, that in which its multiprocessors had work.
func BusyOf(d *series.Device) series.Value {
	v := d.Values.Get(series.Busy)
	if v.Status != series.OK && d.Parent != "" {
		if active := d.Values.Get(series.SMActive); active.Status == series.OK {
			return active
		}
	}
	return v
}

func filling(l Load, j Judgement) string {
	text := "will be out of memory in " + words.About(l.Full.After)
	if within := words.Between(l.Full.Earliest, l.Full.Latest); within != words.About(l.Full.After) {
		text += " (" + within + ")"
	}
	return text + " by the trend of the last " + words.About(j.Memory.Over)
}

// aside is a sentence that stands after another one.
func aside(s string) string {
	if s == "" {
		return ""
	}
	return "· " + s
}

// judgedRemark is what a judgement says.
func judgedRemark(j *Judgement) Remark {
	if j == nil || j.Idle.Verdict == "" {
		return Remark{Kind: Waiting, Text: "nothing is known yet"}
	}
	text := strings.TrimSuffix(j.Idle.Verdict, ".")
	switch {
	case len(j.Idle.Findings) > 0:
		more := ""
		if remedies := j.Idle.Findings[0].Remedies; len(remedies) > 0 {
			more = "→ " + remedies[0].Action
			if gain := remedies[0].Gain; gain != nil && *gain > 0 {
				more += fmt.Sprintf(" (gives back up to %.0f %% of the time)", *gain*100)
			}
		}
		return Remark{Idles, text, more}
	case j.Idle.Healthy:
		return Remark{Kind: Healthy, Text: text}
	case len(j.Idle.Unsure) > 0 && !strings.Contains(text, j.Idle.Unsure[0].Measure):
		return Remark{Unsure, text, "→ to decide, " + j.Idle.Unsure[0].Measure}
	}
	return Remark{Kind: Unsure, Text: text}
}
