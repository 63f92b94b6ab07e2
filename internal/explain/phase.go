package explain

import (
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/attribute"
	"github.com/plimsoll-dev/plimsoll/tape"
)

// A Range is one end of a named stretch of time that was recorded beside the
// events, such as "Optimizer.step#AdamW.step".
type Range struct {
	Name  string
	Begin bool
	Time  int64 // microseconds since the epoch
}

// Where the steps of a recording are known from.
const (
	FromMarks      = "marks"       // of plimsoll capture
	FromRanges     = "annotations" // Optimizer.step or ProfilerStep
	FromOptimizer  = "optimizer"   // stacks that run through an optimizer's step
	FromBackward   = "backward"    // stacks that run through backward, which a step has at least one of
	FromRepetition = "repetition"  // stacks that come again and again
)

// A sign tells a phase of training by a frame of PyTorch or of those who
// build on it: the end of the file's path, or a part of it, and functions,
// nil for all.
type sign struct {
	phase     tape.Phase
	part      string
	functions []string
	not       []string // functions that overrule it anywhere in the stack
}

// signs are looked at in this order; the first that any frame fits decides.
// Files are those of PyTorch 2.0 to 2.15.
var signs = []sign{
	{phase: tape.Save, part: "torch/serialization.py", functions: []string{"save", "_save"}},
	{phase: tape.Step, part: "torch/nn/utils/clip_grad.py"},
	{phase: tape.Step, part: "torch/amp/grad_scaler.py", functions: []string{"step", "unscale_", "_unscale_grads_", "update"}},
	{phase: tape.Step, part: "torch/cuda/amp/grad_scaler.py", functions: []string{"step", "unscale_", "_unscale_grads_", "update"}},
	{phase: tape.Step, part: "torch/optim/", functions: []string{"step", "_init_group", "_use_grad_for_differentiable", "_use_grad"}, not: []string{"zero_grad"}},
	{phase: tape.Step, part: "torch/optim/optimizer.py", functions: []string{"wrapper", "profile_hook_step"}, not: []string{"zero_grad"}}, // around the step of anyone's optimizer
	{phase: tape.Step, part: "bitsandbytes/optim/", not: []string{"zero_grad"}},
	{phase: tape.Step, part: "apex/optimizers/", functions: []string{"step"}},
	{phase: tape.Step, part: "deepspeed/ops/adam/", functions: []string{"step"}},
	{phase: tape.Step, part: "deepspeed/runtime/zero/", functions: []string{"step"}},
	{phase: tape.Step, part: "megatron/core/optimizer/", functions: []string{"step"}},
	{phase: tape.Backward, part: "torch/autograd/graph.py", functions: []string{"_engine_run_backward"}},
	{phase: tape.Backward, part: "torch/autograd/__init__.py", functions: []string{"grad"}},
	{phase: tape.Backward, part: "torch/utils/checkpoint.py", functions: []string{"unpack_hook", "recompute_fn"}},
	{phase: tape.Backward, part: "torch/_functorch/_aot_autograd/", functions: []string{"backward", "_backward_impl", "call_compiled_backward"}},
	{phase: tape.Backward, functions: []string{"backward"}}, // of an autograd.Function, or what calls it
	{phase: tape.Loss, part: "torch/nn/modules/loss.py"},
	{phase: tape.Load, part: "torch/nn/modules/module.py", functions: []string{"_apply", "load_state_dict", "_load_from_state_dict"}},
	{phase: tape.Load, part: "torch/serialization.py", functions: []string{"load", "_load"}},
	{phase: tape.Load, part: "transformers/modeling_utils.py", functions: []string{"from_pretrained", "_load_pretrained_model"}},
	{phase: tape.Forward, part: "torch/nn/modules/module.py", functions: []string{"_call_impl", "_wrapped_call_impl", "_slow_forward"}},
	{phase: tape.Load, part: "torch/nn/modules/", functions: []string{"__init__", "reset_parameters"}},
}

// nativeSigns tell a phase by the name of a C++ function, or of a range that
// the profiler records.
var nativeSigns = []sign{
	{phase: tape.Step, part: "Optimizer.step#"},
	{phase: tape.Backward, part: "torch::autograd::Engine::"},
	{phase: tape.Backward, part: "torch::autograd::Node::operator"},
	{phase: tape.Backward, part: "autograd::engine::evaluate_function"},
}

// phaseOfStack is what a stack tells of the phase; ok is false when nothing.
// named reports whether it has Python frames at all.
func phaseOfStack(frames []tape.Frame) (phase tape.Phase, ok, named bool) {
	functions := map[string]bool{}
	for _, f := range frames {
		if attribute.IsPython(f) {
			named = true
			functions[f.Name] = true
		}
	}
	for _, s := range signs {
		if slices.ContainsFunc(s.not, func(n string) bool { return functions[n] }) {
			continue
		}
		for _, f := range frames {
			if (s.functions == nil || slices.Contains(s.functions, f.Name)) && attribute.IsPython(f) && strings.Contains(attribute.Slashed(f.File), s.part) {
				return s.phase, true, named
			}
		}
	}
	for _, f := range frames {
		if attribute.IsPython(f) {
			continue
		}
		for _, s := range nativeSigns {
			if strings.Contains(f.Name, s.part) {
				return s.phase, true, named
			}
		}
	}
	return tape.Idle, false, named
}

// A stackPhase is what is known of one stack.
type stackPhase struct {
	phase        tape.Phase
	known, named bool
	looked       bool
}

// setPhases gives the events of a tape their phases by the stacks of its
// allocations, as far as these tell, and reports whether any did. What tells
// nothing follows what came before it: after a forward pass it computes the
// loss, after backward or a step it is between two steps.
func setPhases(t *tape.Tape) bool {
	stacks := make([]stackPhase, t.Sites()+1)
	look := func(s tape.SiteID) stackPhase {
		k := &stacks[s]
		if !k.looked {
			k.looked = true
			k.phase, k.known, k.named = phaseOfStack(t.Site(s))
		}
		return *k
	}
	anyNamed := false
	for s := range stacks {
		anyNamed = anyNamed || look(tape.SiteID(s)).named
	}
	now, found := tape.Idle, false
	for i := range t.Len() {
		if t.Kind(i) == tape.Alloc {
			k := look(t.SiteOf(i))
			switch {
			case k.known:
				now, found = k.phase, true
			case !k.named && anyNamed:
				now, found = tape.Backward, true // autograd's own threads have no Python stack
			case now == tape.Forward || now == tape.Loss:
				now = tape.Loss
			default:
				now = tape.Idle
			}
		}
		if now != tape.Idle {
			t.SetPhase(i, now)
		}
	}
	return found
}

// setSteps marks the ends of steps on a tape and says where they are known
// from; "" when they are not.
func setSteps(t *tape.Tape, ranges []Range) string {
	if stepMarks(t) > 0 {
		return FromMarks
	}
	for _, source := range []struct {
		name string
		ends func() []int
	}{
		{FromRanges, func() []int { return endsOfRanges(t, ranges) }},
		{FromOptimizer, func() []int { return endsOfPhase(t, tape.Step) }},
		{FromBackward, func() []int { return endsOfPhase(t, tape.Backward) }},
		{FromRepetition, func() []int { return repeated(t) }},
	} {
		if ends := source.ends(); len(ends) > 0 {
			device := uint8(0)
			if n := t.DeviceNumbers(); len(n) > 0 {
				device = n[0]
			}
			for i, at := range ends {
				t.Marks = append(t.Marks, tape.Mark{Event: at, Device: device, Kind: tape.MarkStep, Value: int64(i + 1)})
			}
			slices.SortStableFunc(t.Marks, func(a, b tape.Mark) int { return a.Event - b.Event })
			return source.name
		}
	}
	return ""
}

func stepMarks(t *tape.Tape) int {
	n := 0
	for _, m := range t.Marks {
		if m.Kind == tape.MarkStep {
			n++
		}
	}
	return n
}

// endsOfRanges are the events before which an annotated step ended.
func endsOfRanges(t *tape.Tape, ranges []Range) []int {
	var times []int64
	for _, prefix := range []string{"Optimizer.step#", "ProfilerStep#"} {
		for _, r := range ranges {
			if !r.Begin && r.Time > 0 && strings.HasPrefix(r.Name, prefix) {
				times = append(times, r.Time)
			}
		}
		if len(times) > 0 {
			break
		}
	}
	slices.Sort(times)
	var ends []int
	at := 0
	for _, time := range times {
		for at < t.Len() {
			if when := t.Event(at).Time; when == 0 || when <= time {
				at++
				continue
			}
			break
		}
		if at > 0 && (len(ends) == 0 || ends[len(ends)-1] < at) {
			ends = append(ends, at)
		}
	}
	return ends
}

// endsOfPhase are the events at which a phase is over: what follows is
// another part of a step before the phase comes again. What a phase does in
// between without a stack of its own does not end it.
func endsOfPhase(t *tape.Tape, phase tape.Phase) []int {
	var ends []int
	inside, left := false, -1
	for i := range t.Len() {
		if t.Kind(i) != tape.Alloc {
			continue
		}
		switch p := t.PhaseOf(i); {
		case p == phase:
			inside, left = true, -1
		case inside && left < 0:
			left = i
			fallthrough
		case inside:
			if p == tape.Forward || p == tape.Backward || p == tape.Step {
				ends = append(ends, left)
				inside, left = false, -1
			}
		}
	}
	if inside && left >= 0 {
		ends = append(ends, left)
	} else if inside {
		ends = append(ends, t.Len())
	}
	return ends
}

// leastRepeats is how often a stack must come for a period to be believed.
const leastRepeats = 3

// repeated finds steps by the stacks that come once in each: of the numbers
// of times that stacks come, the one that most stacks share. The first of
// these stacks begins a step.
func repeated(t *tape.Tape) []int {
	counts := make([]int, t.Sites()+1)
	for i := range t.Len() {
		if t.Kind(i) == tape.Alloc {
			counts[t.SiteOf(i)]++
		}
	}
	share := map[int]int{}
	for s, n := range counts {
		if s > 0 && n >= leastRepeats {
			share[n]++
		}
	}
	best := 0
	for n, stacks := range share {
		if stacks > share[best] || stacks == share[best] && n < best {
			best = n
		}
	}
	if best == 0 || share[best] < 2 {
		return nil
	}
	var anchor tape.SiteID
	var ends []int
	for i := range t.Len() {
		if t.Kind(i) != tape.Alloc {
			continue
		}
		s := t.SiteOf(i)
		if anchor == 0 && counts[s] == best {
			anchor = s
			continue
		}
		if s == anchor && anchor != 0 {
			ends = append(ends, i)
		}
	}
	if !regular(ends) || insideModule(t, counts, best) {
		return nil
	}
	return ends
}

// insideModule reports whether all stacks that come n times run through the
// call of one module: then it is the layers of a model that come again.
func insideModule(t *tape.Tape, counts []int, n int) bool {
	var common []tape.Frame // outermost first
	first := true
	for s, count := range counts {
		if s == 0 || count != n {
			continue
		}
		frames := t.Site(tape.SiteID(s))
		slices.Reverse(frames)
		frames = slices.DeleteFunc(frames, func(f tape.Frame) bool { return !attribute.IsPython(f) })
		if first {
			common, first = frames, false
			continue
		}
		same := 0
		for same < min(len(common), len(frames)) && common[same] == frames[same] {
			same++
		}
		common = common[:same]
	}
	return slices.ContainsFunc(common, func(f tape.Frame) bool { return f.Name == "_call_impl" })
}

// regular reports whether gaps are about equal: none more than twice the
// middle one.
func regular(ends []int) bool {
	var gaps []int
	for i := 1; i < len(ends); i++ {
		gaps = append(gaps, ends[i]-ends[i-1])
	}
	if len(gaps) == 0 {
		return false
	}
	sorted := slices.Sorted(slices.Values(gaps))
	return sorted[len(sorted)-1] <= 2*sorted[len(sorted)/2]
}
