package attribute

import (
	"slices"
	"strconv"

	"github.com/plimsoll-dev/plimsoll/tape"
)

// joined copies a tape, gives each event its phase, puts the marks between
// the events, and inserts the calls of empty_cache, which a snapshot does not
// record but a replay needs.
func joined(src *tape.Tape, counts counter, marks []Mark) *tape.Tape {
	marks = slices.Clone(marks)
	slices.SortStableFunc(marks, func(a, b Mark) int { return a.Count - b.Count })
	j := joiner{src: src, dst: &tape.Tape{}, sites: make([]tape.SiteID, src.Sites()+1)}
	for i := range j.sites {
		j.sites[i] = j.dst.InternSite(src.Site(tape.SiteID(i)))
	}
	for i := range src.Streams() {
		j.dst.InternStream(src.StreamHandle(tape.StreamID(i)))
	}
	for key, value := range src.Meta {
		j.dst.SetMeta(key, value)
	}
	for _, s := range src.Initial {
		j.initial(s)
	}
	for i := range src.Len() {
		due := j.due(marks, counts, i)
		for _, m := range marks[:due] {
			j.mark(m)
		}
		marks = marks[due:]
		e := src.Event(i)
		e.Phase, e.Site = j.phase, j.sites[e.Site]
		j.dst.Append(e)
	}
	for _, m := range marks {
		j.mark(m)
	}
	return j.dst
}

type joiner struct {
	src, dst *tape.Tape
	sites    []tape.SiteID
	phase    tape.Phase
}

// due is how many marks stand before event i: those whose next allocation it
// is, also when that allocation failed, and, where a segment goes back to the driver, all up to the call of
// empty_cache that was made since the last allocation.
func (j *joiner) due(marks []Mark, counts counter, i int) int {
	n := 0
	for n < len(marks) && counts.event(marks[n].Count) <= i {
		n++
	}
	switch j.src.Kind(i) {
	case tape.OOM:
		return n + beforeFailure(marks[n:], func(m Mark) bool { return counts.last(m.Count) < i })
	case tape.SegmentFree, tape.SegmentUnmap:
	default:
		return n
	}
	for k := n; k < len(marks) && counts.last(marks[k].Count) < i; k++ {
		if marks[k].Kind == "empty_cache" {
			return k + 1
		}
	}
	return n
}

// beforeFailure is how many of the marks made since the last allocation stand
// before the one that failed. What an exception unwinds is marked with the
// same count, so it is up to the innermost module that was entered, or, where
// none was, up to the phase that began.
func beforeFailure(marks []Mark, since func(Mark) bool) int {
	entered, began := 0, 0
	for i, m := range marks {
		if !since(m) {
			break
		}
		switch {
		case m.Kind == "enter":
			entered = i + 1
		case m.Kind == "phase" && began == 0:
			began = i + 1
		}
	}
	if entered == 0 {
		return began
	}
	return entered
}

func (j *joiner) initial(s tape.Segment) {
	s.Site = j.sites[s.Site]
	s.Blocks = slices.Clone(s.Blocks)
	for i := range s.Blocks {
		s.Blocks[i].Site = j.sites[s.Blocks[i].Site]
	}
	j.dst.AddInitial(s)
}

func (j *joiner) mark(m Mark) {
	out := tape.Mark{Event: j.dst.Len(), Device: m.Device, Name: m.Name}
	switch m.Kind {
	case "phase":
		phase, ok := tape.ParsePhase(m.Value)
		if !ok {
			return
		}
		j.phase, out.Kind, out.Value = phase, tape.MarkPhase, int64(phase)
	case "step":
		n, err := strconv.ParseInt(m.Value, 10, 64)
		if err != nil {
			return
		}
		out.Kind, out.Value = tape.MarkStep, n
	case "enter", "exit":
		out.Kind = tape.MarkModuleEnter
		if m.Kind == "exit" {
			out.Kind = tape.MarkModuleExit
		}
		if m.Value == "b" {
			out.Value = 1
		}
	case "empty_cache":
		j.dst.Append(tape.Event{Kind: tape.EmptyCache, Device: m.Device, Phase: j.phase})
		return
	default:
		out.Kind = tape.MarkNote
		if out.Name == "" {
			out.Name = m.Value
		}
	}
	j.dst.Marks = append(j.dst.Marks, out)
}
