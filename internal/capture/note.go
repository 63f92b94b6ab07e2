package capture

import (
	"fmt"
	"os"
	"strings"
)

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
	if r.OOM != nil && r.OOM.Caught {
		r.warn("oom-caught", "the script ran out of memory, handled the error and went on")
	}
	for _, line := range vgpuLog(done.folder.gpuLog()) {
		r.warn(line.code, line.message)
	}
}

type logLine struct{ code, message string }

// vgpuLog reads what the virtual GPU noted: calls that it refused or did not
// know, and other remarks.
func vgpuLog(path string) []logLine {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil // nothing was noted
	}
	var lines []logLine
	for _, text := range strings.Split(string(data), "\n") {
		f := strings.Split(text, "\t")
		switch {
		case len(f) >= 3 && f[0] == "refused":
			lines = append(lines, logLine{"refused-call", fmt.Sprintf("%s of %s is not imitated; the script was given an error", f[2], f[1])})
		case len(f) >= 2 && f[0] == "unknown":
			lines = append(lines, logLine{"unknown-call", f[1] + " is not known to the virtual GPU; the script was told that it does not exist"})
		case len(f) >= 2 && f[0] == "note":
			lines = append(lines, logLine{"virtual-gpu", f[1]})
		}
	}
	return lines
}
