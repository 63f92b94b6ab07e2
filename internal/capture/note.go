package capture

import "fmt"

// note adds the warnings that qualify every number of a result.
func (r *Result) note(s *session, all []written, done finished) {
	o := s.options
	if s.command.Guessed != "" {
		r.warn("python-guessed", fmt.Sprintf("PyTorch %s of %s was prepared for: %s; --python names another one", s.shims.Torch, s.command.Python, s.command.Guessed))
	}
	steps := 0
	for _, w := range all {
		for _, step := range w.result.Steps {
			steps = max(steps, step.Step)
		}
	}
	switch {
	case r.OOM != nil && !r.OOM.Caught:
	case steps == 0 && r.End == endTimeout:
		r.LowerBound = true
		r.warn("no-step", fmt.Sprintf("the script made no optimizer step in %v, so the peak is that of what it did until then; --timeout gives it longer", o.Timeout))
	case steps == 0:
		r.warn("no-step", "the script ended without an optimizer step, so the peak is that of all it did, and no step is in it")
	case steps < min(2, o.Steps):
		r.warn("one-step", "the script made one optimizer step only; the second is often larger, since the optimizer's state is there from its beginning")
	case r.End == endTimeout:
		r.warn("timeout", fmt.Sprintf("the script was stopped after %v with %d of %d steps made; --timeout gives it longer", o.Timeout, steps, o.Steps))
	}
	if done.hung {
		r.LowerBound = true
		r.warn("hung", "the script did not stop by itself and was killed")
	}
	for _, p := range r.Processes {
		if nccl := librariesOf(p.World, o); p.World > 1 && nccl.typical > 0 {
			r.warn("nccl-memory", fmt.Sprintf("NCCL's own buffers are counted as %s in each process, outside PyTorch; %s to %s have been seen", nccl.typical, nccl.low, nccl.high))
		}
	}
	if r.OOM != nil && r.OOM.Caught {
		r.warn("oom-caught", "the script ran out of memory, handled the error and went on")
	}
}
