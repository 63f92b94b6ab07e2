package explain

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/finding"
	"github.com/plimsoll-dev/plimsoll/tape"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// Causes that are no failures.
const (
	Leak             = "leak"              // every step leaves something behind
	AccumulatedGraph = "accumulated_graph" // and most of it are activations
	UnusedGraph      = "unused_graph"      // forward passes keep activations for a backward that does not come
	SummedGraphs     = "summed_graphs"     // one backward for several forward passes, whose activations are kept together
	HeldMemory       = "held_memory"       // what holds the memory, with nothing wrong about it
)

// findings are the conclusions, the most important first.
func (e *Explanation) findings() []finding.Finding {
	var list []finding.Finding
	if n := len(e.Failures); n > 0 {
		list = append(list, e.failureFinding(&e.Failures[n-1]))
	}
	if f, ok := e.growthFinding(); ok {
		list = append(list, f)
	}
	if f, ok := e.unusedFinding(); ok {
		list = append(list, f)
	} else if f, ok := e.passesFinding(); ok {
		list = append(list, f)
	}
	if len(e.Failures) == 0 {
		list = append(list, e.holdFinding())
		if f, ok := e.fragmentFinding(); ok {
			list = append(list, f)
		}
	}
	for i := range list {
		if list[i].Remedies == nil {
			list[i].Remedies = []finding.Remedy{}
		}
		if e.Cut {
			list[i].Confidence = finding.Low
			list[i].Verdict = "as far as the file goes, " + list[i].Verdict
		}
	}
	return list
}

func bytesOf(b unit.Bytes) *unit.Bytes { return &b }

// failureFinding says why a request failed.
func (e *Explanation) failureFinding(f *Failure) finding.Finding {
	out := finding.Finding{Cause: f.Cause, Confidence: finding.High, Evidence: []finding.Evidence{
		{Fact: fmt.Sprintf("a request of %s failed", f.Rounded), Bytes: bytesOf(f.Rounded), Where: f.where()},
		{Fact: "in use", Bytes: bytesOf(f.Requested)},
		{Fact: "held from the driver", Bytes: bytesOf(f.Reserved)},
		{Fact: "free by the driver", Bytes: bytesOf(f.DriverFree)},
	}}
	if f.Outside != nil {
		out.Evidence = append(out.Evidence, finding.Evidence{Fact: "taken on the device beside PyTorch's allocator", Bytes: f.Outside})
	}
	if f.Cause != Unknown {
		out.Evidence = append(out.Evidence,
			finding.Evidence{Fact: "largest free piece that the request could have had", Bytes: bytesOf(f.LargestFree)},
			finding.Evidence{Fact: "free in pieces, whoever may use them", Bytes: bytesOf(f.AllFree)})
	}
	switch f.Cause {
	case DeviceFull:
		out.Verdict = fmt.Sprintf("%s are in use and %s more were asked for, %s more than there is even if all free memory were one piece", f.Requested, f.Rounded, f.Short)
	case Fragmentation:
		out.Verdict = fmt.Sprintf("%s lie free, but the largest piece has %s where %s were asked for", f.AllFree+f.DriverFree, max(f.LargestFree, f.DriverFree), f.Rounded)
	case SplitLimit:
		out.Verdict = fmt.Sprintf("a free piece of %s would do, but max_split_size_mb forbids to cut it for %s", f.LargestFree, f.Rounded)
	case OtherStream:
		out.Verdict = fmt.Sprintf("free memory that is large enough for %s belongs to another stream", f.Rounded)
	case OtherPool:
		out.Verdict = fmt.Sprintf("free memory that is large enough for %s belongs to another pool", f.Rounded)
	case FreeButRefused:
		out.Verdict = fmt.Sprintf("the driver had %s free where %s were asked for: a limit (set_per_process_memory_fraction) or the driver itself refused", f.DriverFree, f.Segment)
		out.Confidence = finding.Medium
	case OverDevice:
		out.Verdict = fmt.Sprintf("%s were asked for at once, more than the whole device has", f.Rounded)
	default:
		out.Verdict = fmt.Sprintf("a request of %s found no room; the layout at that moment is not certain", f.Rounded)
		out.Confidence = finding.Low
	}
	out.Evidence = append(out.Evidence, e.topPlaces()...)
	out.Evidence = append(out.Evidence, e.topPins()...)
	out.Remedies = e.remedies()
	if m := e.Moment; len(out.Remedies) == 0 && len(m.ByPlace) > 0 {
		action := fmt.Sprintf("hold less of what %s makes, which is the most: %s in %d blocks", m.ByPlace[0].Place, m.ByPlace[0].Bytes, m.ByPlace[0].Blocks)
		if len(e.Counterfactuals) > 0 {
			action += "; under no setting that was replayed is the request served"
		}
		out.Remedies = []finding.Remedy{{Action: action}}
	}
	if f.Cause == FreeButRefused {
		out.Remedies = append([]finding.Remedy{{
			Action: fmt.Sprintf("raise the limit of the process (torch.cuda.set_per_process_memory_fraction) or take it away: the driver has %s more", f.DriverFree), Flag: "torch.cuda.set_per_process_memory_fraction(1.0)", Exact: finding.SameNumbers,
		}}, out.Remedies[:min(len(out.Remedies), mostRemedies-1)]...)
	}
	return out
}

// where names the place of a failed request.
func (f *Failure) where() string {
	s := f.Place.String()
	if f.Operator != "" {
		s += " (" + f.Operator + ")"
	}
	return s
}

const evidencePlaces = 3

func (e *Explanation) topPlaces() []finding.Evidence {
	var out []finding.Evidence
	for _, s := range e.Moment.ByPlace[:min(evidencePlaces, len(e.Moment.ByPlace))] {
		out = append(out, finding.Evidence{Fact: fmt.Sprintf("held in %d blocks%s", s.Blocks, mostly(s.Category)), Bytes: bytesOf(s.Bytes), Where: s.Place.String()})
	}
	return out
}

// mostly names a category in a sentence.
func mostly(c tape.Category) string {
	if c == tape.Unknown {
		return ""
	}
	return ", mostly " + c.String()
}

func (e *Explanation) topPins() []finding.Evidence {
	if e.Moment.Split == nil || e.Moment.Split.Holes*10 < e.Moment.Split.Reserved {
		return nil
	}
	var out []finding.Evidence
	for _, p := range e.Moment.Split.Pins[:min(evidencePlaces, len(e.Moment.Split.Pins))] {
		out = append(out, finding.Evidence{
			Fact: fmt.Sprintf("free in %d segments that blocks of one place keep, with %s in use there", p.Segments, p.Held), Bytes: bytesOf(p.Free), Where: p.Place.String(),
		})
	}
	return out
}

// growthFinding says what steps leave behind, when that matters.
func (e *Explanation) growthFinding() (finding.Finding, bool) {
	g := e.Growth
	if g == nil || g.Total < unit.MiB || g.Total*100 < e.Moment.Requested {
		return finding.Finding{}, false
	}
	out := finding.Finding{Cause: Leak, Confidence: finding.Medium}
	if g.Last-g.First >= 2 {
		out.Confidence = finding.High
	}
	top, step := g.Places[0], "step"
	if e.Steps.Source == FromRepetition {
		step, out.Confidence = "round of a loop", finding.Medium
	}
	out.Verdict = fmt.Sprintf("each %s leaves %s behind, most of it from %s", step, g.PerStep, top.Place)
	if g.Graph {
		out.Cause = AccumulatedGraph
		out.Verdict = fmt.Sprintf("each %s leaves %s of activations behind: something keeps its graph, as a loss that is summed up or stored without detach() does", step, g.PerStep)
	}
	for _, s := range g.Places[:min(evidencePlaces, len(g.Places))] {
		out.Evidence = append(out.Evidence, finding.Evidence{
			Fact: fmt.Sprintf("made in %d of %d steps and still in use%s", s.Steps, g.Last-g.First+1, mostly(s.Category)), Bytes: bytesOf(s.Total), Where: s.Place.String(),
		})
	}
	for i := range e.Counterfactuals {
		if c := &e.Counterfactuals[i]; c.Kind == CauseRemoved && c.Flag == "" && c.Name == leftoversFreed {
			r := e.offer(c)
			switch {
			case !g.Graph && top.Category == tape.Activation:
				r.Action = "move what is kept of each step to the CPU (output.detach().cpu()), or let it go when the step ends"
			case g.Graph:
				r.Action = "keep the value (loss.item(), x.detach()), not the tensor with its graph, so that what a step computed goes when it ends"
			}
			out.Remedies = append(out.Remedies, r)
		}
	}
	return out, true
}

// unusedFinding says that forward passes keep what nothing will use.
func (e *Explanation) unusedFinding() (finding.Finding, bool) {
	u := e.Unused
	if u == nil || u.Kept*50 < e.Moment.Requested {
		return finding.Finding{}, false
	}
	return finding.Finding{
		Cause: UnusedGraph, Confidence: finding.Medium,
		Verdict: fmt.Sprintf("forward passes since the last backward keep %s for a backward that does not come, most of it from %s; those of a training step keep %s", u.Kept, u.Place, u.Usual),
		Evidence: []finding.Evidence{
			{Fact: "kept by forward passes since the last backward or step", Bytes: bytesOf(u.Kept), Where: u.Place.String()},
			{Fact: "the most that they kept before", Bytes: bytesOf(u.Usual)},
		},
		Remedies: evaluationRemedies(),
	}, true
}

func evaluationRemedies() []finding.Remedy {
	return []finding.Remedy{
		{Action: "evaluate under torch.no_grad() or torch.inference_mode(), if this is an evaluation", Flag: "with torch.no_grad():", Exact: finding.SameNumbers},
		{Action: "move results that are kept to the CPU: output.detach().cpu()", Flag: "output.detach().cpu()", Exact: finding.SameNumbers},
	}
}

// passesFinding says that several calls of a model keep their activations at
// the same time, where these are half of what is in use.
func (e *Explanation) passesFinding() (finding.Finding, bool) {
	p := e.Passes
	if p == nil || p.Kept*2 < e.Moment.Requested {
		return finding.Finding{}, false
	}
	out := finding.Finding{
		Cause: UnusedGraph, Confidence: finding.Medium,
		Verdict: fmt.Sprintf("%d calls of the model at %s keep %s for a backward that does not come, up to %s each", p.Calls, p.Place, p.Kept, p.Each),
		Evidence: []finding.Evidence{
			{Fact: fmt.Sprintf("kept by %d calls since the last backward or step", p.Calls), Bytes: bytesOf(p.Kept), Where: p.Place.String()},
			{Fact: "the most that one call keeps", Bytes: bytesOf(p.Each)},
		},
		Remedies: evaluationRemedies(),
	}
	if p.Backward {
		out.Cause = SummedGraphs
		out.Verdict = fmt.Sprintf("%d calls of the model at %s keep %s together until one backward, up to %s each: their losses are summed first", p.Calls, p.Place, p.Kept, p.Each)
		out.Remedies = []finding.Remedy{{
			Action: fmt.Sprintf("call backward on the loss of each call, scaled as in the sum: then the activations of one call are kept at a time, %s at most", p.Each), Exact: finding.SameExpectation,
		}}
	}
	return out, true
}

// fragmentFinding says that much is held and not used.
func (e *Explanation) fragmentFinding() (finding.Finding, bool) {
	s := e.Moment.Split
	if s == nil || s.Holes*5 < s.Reserved || s.Holes < 64*unit.MiB || len(s.Pins) == 0 {
		return finding.Finding{}, false
	}
	p := s.Pins[0]
	return finding.Finding{
		Cause: Fragmentation, Confidence: finding.Medium,
		Verdict:  fmt.Sprintf("%s of %s reserved lie in holes; blocks of %s keep %s of them", s.Holes, s.Reserved, p.Place, p.Free),
		Evidence: e.topPins(), Remedies: e.remedies(),
	}, true
}

// holdFinding says what holds the memory.
func (e *Explanation) holdFinding() finding.Finding {
	out := finding.Finding{Cause: HeldMemory, Confidence: finding.High, Evidence: e.topPlaces(), Remedies: e.remedies()}
	m := e.Moment
	out.Verdict = fmt.Sprintf("%s are in use", m.Requested)
	if e.Cut {
		out.Verdict = "at least " + out.Verdict
		if m.Requested == 0 {
			out.Verdict = "nothing tells what was in use"
			return out
		}
	}
	switch kinds := m.kinds(); {
	case kinds != "":
		out.Verdict += ": " + kinds
	case len(m.ByPlace) > 0:
		out.Verdict += fmt.Sprintf(", %s of them from %s", m.ByPlace[0].Bytes, m.ByPlace[0].Place)
	}
	return out
}

// many are the categories as sentences name them.
var many = map[tape.Category]string{
	tape.Parameter: "parameters", tape.Buffer: "buffers", tape.Gradient: "gradients", tape.OptimizerState: "optimizer states",
	tape.MasterWeight: "master weights", tape.Activation: "activations", tape.Input: "inputs", tape.Temporary: "temporaries",
	tape.Workspace: "workspaces", tape.Communication: "communication", tape.KVCache: "KV cache",
}

// kinds names the three largest categories, "" when a fifth or more is not
// named.
func (m *Moment) kinds() string {
	if m.ByCategory[tape.Unknown]*5 >= m.Requested {
		return ""
	}
	list := tape.Categories()[1:]
	slices.SortStableFunc(list, func(a, b tape.Category) int { return cmp.Compare(m.ByCategory[b], m.ByCategory[a]) })
	var parts []string
	for _, c := range list[:3] {
		if b := m.ByCategory[c]; b > 0 {
			parts = append(parts, fmt.Sprintf("%s of %s", b, many[c]))
		}
	}
	return strings.Join(parts, ", ")
}

// mostRemedies is how many are offered.
const mostRemedies = 4

// remedies are the counterfactuals that help: those that end without a
// failure where there was one, else those that save a hundredth at least.
func (e *Explanation) remedies() []finding.Remedy {
	var out []finding.Remedy
	halves := false
	for i := range e.Counterfactuals {
		c := &e.Counterfactuals[i]
		helps := c.Saves*100 >= e.Check.Replayed.Reserved && c.Saves > 0
		if len(e.Failures) > 0 {
			helps = !c.OOM
		}
		if c.Exact == finding.ChangesResults {
			// What is in fp32 is not recorded: one such advice is enough, and
			// none where the bytes would do and only lie badly.
			helps = helps && !halves && !e.liesBadly()
			halves = halves || helps && len(out) < mostRemedies
		}
		if !helps || len(out) == mostRemedies {
			continue
		}
		if len(e.Failures) > 0 && c.Name == growSegments {
			// What PyTorch itself advises; it helps against most holes, where
			// the others may help by chance.
			out = append([]finding.Remedy{e.offer(c)}, out...)
			continue
		}
		out = append(out, e.offer(c))
	}
	return out
}

// liesBadly reports whether the request that failed would have found room if
// the free memory lay otherwise.
func (e *Explanation) liesBadly() bool {
	n := len(e.Failures)
	return n > 0 && slices.Contains([]string{Fragmentation, OtherStream, OtherPool, SplitLimit}, e.Failures[n-1].Cause)
}

const growSegments = "expandable_segments:True"

// offer makes a remedy of a counterfactual.
func (e *Explanation) offer(c *Counterfactual) finding.Remedy {
	if e.offered == nil {
		e.offered = map[string]bool{}
	}
	e.offered[c.Name] = true
	return c.remedy()
}

// Offers reports whether a counterfactual stands among the remedies of a
// finding.
func (e *Explanation) Offers(c *Counterfactual) bool { return e.offered[c.Name] }

func (c *Counterfactual) remedy() finding.Remedy {
	r := finding.Remedy{Action: c.Action, Flag: c.Flag, Method: "replay", Exact: c.Exact}
	if c.Assumes != "" {
		r.Action += ", if " + c.Assumes
	}
	if c.Saves > 0 {
		r.Saves = bytesOf(c.Saves)
	}
	return r
}
