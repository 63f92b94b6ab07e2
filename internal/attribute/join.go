package attribute

import (
	"math"
	"slices"
	"strconv"

	"github.com/plimsoll-dev/plimsoll/tape"
)

// joined copies a tape, gives each event its phase, puts the marks between
// the events, and inserts the calls of empty_cache, which a snapshot does not
// record but a replay needs.
func joined(in Input, counts counter) *tape.Tape {
	src, marks := in.Tape, slices.Clone(in.Marks)
	slices.SortStableFunc(marks, func(a, b Mark) int { return a.Count - b.Count })
	j := joiner{src: src, dst: &tape.Tape{}, sites: make([]tape.SiteID, src.Sites()+1), whole: counts.before == 0}
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
		if e.Kind == tape.FreeRequested {
			j.frees++
		}
		e.Phase, e.Site = j.phase, j.sites[e.Site]
		if givesBack(e.Kind) && in.Flushes && !j.flushing {
			j.flush(e.Device)
		}
		j.flushing = j.flushing && givesBack(e.Kind)
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
	whole    bool // nothing of the recording is missing
	frees    int  // requested so far
	flushing bool // what goes back to the driver does so for a flush that is on the tape
}

func givesBack(k tape.Kind) bool { return k == tape.SegmentFree || k == tape.SegmentUnmap }

func (j *joiner) flush(device uint8) {
	j.dst.Append(tape.Event{Kind: tape.EmptyCache, Device: device, Phase: j.phase})
	j.flushing = true
}

// due is how many marks stand before event i: those whose next allocation it
// is, also when that allocation failed, and all up to a call of empty_cache
// that was made since the last allocation and whose place has come.
func (j *joiner) due(marks []Mark, counts counter, i int) int {
	n := 0
	for n < len(marks) && counts.event(marks[n].Count) <= i {
		n++
	}
	if j.src.Kind(i) == tape.OOM {
		return n + beforeFailure(marks[n:], func(m Mark) bool { return counts.last(m.Count) < i })
	}
	for k := n; k < len(marks) && counts.last(marks[k].Count) < i; k++ {
		if marks[k].Kind == "empty_cache" && j.flushed(marks[k], i) {
			return k + 1
		}
	}
	return n
}

// flushed reports whether a call of empty_cache stands before event i, which
// comes after the last allocation before the call. The mark says how many
// blocks had been given up; where that cannot be used, segments that go back
// to the driver show it.
func (j *joiner) flushed(m Mark, i int) bool {
	frees, err := strconv.Atoi(m.Value)
	if err != nil || !j.whole {
		return givesBack(j.src.Kind(i))
	}
	completes := i > 0 && j.src.Kind(i) == tape.Free && j.src.Kind(i-1) == tape.FreeRequested && j.src.BlockOf(i) == j.src.BlockOf(i-1)
	return j.frees >= frees && !completes
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
	case "pool":
		out.Kind = tape.MarkPool
	case "fraction":
		f, err := strconv.ParseFloat(m.Value, 64)
		if err != nil {
			return
		}
		out.Kind, out.Value = tape.MarkFraction, int64(math.Float64bits(f))
	case "empty_cache":
		j.flush(m.Device)
		return
	default:
		out.Kind = tape.MarkNote
		if out.Name == "" {
			out.Name = m.Value
		}
	}
	j.dst.Marks = append(j.dst.Marks, out)
}
