package lint

// Facts are what a project knows of a function, with all that it calls and all
// its callers. They hold no part of the tree, so that a project of a million
// lines fits in memory.
type Facts struct {
	Backward bool // reaches .backward()
	Steps    bool // reaches optimizer.step()
	Forward  bool // calls a model
	Hot      bool // runs each training step
	GradOff  bool // runs without gradients wherever it is called
	Eval     bool // is for evaluation, by its name or as a hook of a framework

	// Decodes says what it does, itself or in what it calls, that takes a CPU
	// long: "reads images"; "" for nothing that is known.
	Decodes string

	loads   []loadSite // the datasets that it makes loaders of
	qual    string
	sweeps  bool // runs a model in a comprehension over a loader
	passes  bool // holds a whole pass over data, with its steps
	builds  bool // makes an optimizer: a run, not a step
	params  []string
	args    map[string]Value // what callers give, by parameter
	returns Value
	loops   []*LoopFacts
	calls   []callSite
}

// LoopFacts are what is known of a loop.
type LoopFacts struct {
	Backward bool // something in it reaches .backward()
	Steps    bool // something in it reaches optimizer.step()
	Forward  bool // a model is called in it

	fn     *Facts
	outer  *LoopFacts
	named  bool // its variable is an epoch
	data   bool // it goes over a loader
	passes bool // a function that it calls holds a whole pass over data
}

// A callSite is a call of a function of the project.
type callSite struct {
	callee  string
	loop    *LoopFacts // innermost around it, or nil
	seldom  []bool     // behind a condition that holds only at times, within each loop around it, innermost first, and the function
	needs   string     // a parameter of the caller that must not be None, or ""
	gradOff bool
	args    []Value
	names   []string // keywords of the last of args
}

// Micro reports whether the loop runs over the parts of one step: it computes
// gradients, and the optimizer steps after it.
func (l *LoopFacts) Micro() bool {
	if !l.Backward || l.Steps {
		return false
	}
	if l.outer != nil {
		return l.outer.Steps
	}
	return l.fn.Steps
}

// Epoch reports whether the loop counts epochs or rounds of training rather
// than steps: by its variable's name, or because a loop in it, or a function
// that it calls, goes over the data.
func (l *LoopFacts) Epoch() bool {
	if l.named {
		return true
	}
	if l.passes {
		return true
	}
	for _, o := range l.fn.loops {
		if o.outer == l && (o.data && (o.Backward || o.Steps) || o.Steps || o.Epoch()) && !o.Micro() {
			return true
		}
	}
	return false
}

// Step reports whether one round of the loop is a training step, or a part of
// one.
func (l *LoopFacts) Step() bool { return (l.Backward || l.Steps) && !l.Epoch() }

// EvalLoop reports whether the loop runs a model over data without training it.
func (l *LoopFacts) EvalLoop() bool {
	return l.Forward && !l.Backward && !l.Steps && (l.data || l.fn.Eval)
}

// link spreads facts along calls until nothing changes: what a callee reaches,
// its caller reaches; what runs each step in a caller runs it in the callee.
func (p *Project) link(all []*Facts) {
	for range maxRounds {
		changed := false
		for _, fn := range all {
			for i := range fn.calls {
				if callee := p.funcs[fn.calls[i].callee]; callee != nil {
					changed = reach(fn, callee, fn.calls[i].loop) || changed
				}
			}
			for _, l := range fn.loops {
				if (l.Step() || l.Epoch()) && !l.Micro() && !fn.passes && (l.Backward || l.Steps) {
					fn.passes, changed = true, true
				}
			}
		}
		if !changed {
			break
		}
	}
	p.linkArgs(all)
	p.linkHot(all)
	p.linkGradOff(all)
}

// maxRounds bounds how far facts travel: calls nest less deep in real code.
const maxRounds = 12

// reach gives a caller, and the loops around the call, what the callee reaches.
func reach(fn, callee *Facts, loop *LoopFacts) bool {
	changed := false
	set := func(to *bool, from bool) {
		if from && !*to {
			*to, changed = true, true
		}
	}
	set(&fn.Backward, callee.Backward)
	set(&fn.Steps, callee.Steps)
	set(&fn.Forward, callee.Forward)
	set(&fn.passes, callee.passes)
	set(&fn.builds, callee.builds)
	if fn.Decodes == "" && callee.Decodes != "" {
		fn.Decodes, changed = callee.Decodes, true
	}
	for l := loop; l != nil; l = l.outer {
		set(&l.Backward, callee.Backward)
		set(&l.Steps, callee.Steps)
		set(&l.Forward, callee.Forward)
		set(&l.passes, callee.passes)
	}
	return changed
}

func (p *Project) linkHot(all []*Facts) {
	for _, fn := range all {
		if fn.Backward && !fn.passes && !fn.builds && fn.params != nil && !fn.Eval {
			fn.Hot = true // a step as a function of its own
		}
	}
	for range maxRounds {
		changed := false
		for _, fn := range all {
			for _, c := range fn.calls {
				callee := p.funcs[c.callee]
				if callee == nil || callee.Hot || callee.passes || c.gradOff || c.needs != "" && fn.args[c.needs].Kind == NoneValue {
					continue
				}
				if c.hot(fn) {
					callee.Hot, changed = true, true
				}
			}
		}
		if !changed {
			return
		}
	}
}

// hot reports whether a call runs each training step: in a loop over steps, or
// in a function that runs each step, and behind no condition in it that holds
// only at times.
func (c *callSite) hot(fn *Facts) bool {
	level := 0
	for l := c.loop; l != nil; l = l.outer {
		if l.Epoch() {
			return false
		}
		if l.Step() {
			return !c.seldom[level]
		}
		level++
	}
	return fn.Hot && !c.seldom[level]
}

// linkGradOff finds functions that only run without gradients: all calls that
// are seen are in such a context, or in such a function.
func (p *Project) linkGradOff(all []*Facts) {
	callers := map[*Facts][]*Facts{}
	bare := map[*Facts]bool{} // called with gradients on, as far as its caller says
	for _, fn := range all {
		for _, c := range fn.calls {
			callee := p.funcs[c.callee]
			if callee == nil {
				continue
			}
			callers[callee] = append(callers[callee], fn)
			if !c.gradOff {
				bare[callee] = true
			}
		}
	}
	off := map[*Facts]bool{}
	for _, fn := range all {
		off[fn] = fn.GradOff || len(callers[fn]) > 0
	}
	for changed := true; changed; {
		changed = false
		for _, fn := range all {
			if !off[fn] || fn.GradOff || !bare[fn] {
				continue
			}
			for _, c := range fn.bareCallers(p, callers[fn]) {
				if !off[c] {
					off[fn], changed = false, true
					break
				}
			}
		}
	}
	for _, fn := range all {
		fn.GradOff = off[fn]
	}
}

// bareCallers are the callers with a call of fn outside of a context without
// gradients.
func (fn *Facts) bareCallers(p *Project, callers []*Facts) []*Facts {
	var out []*Facts
	for _, c := range callers {
		for _, site := range c.calls {
			if !site.gradOff && p.funcs[site.callee] == fn {
				out = append(out, c)
				break
			}
		}
	}
	return out
}

// linkArgs joins what callers give to each parameter.
func (p *Project) linkArgs(all []*Facts) {
	for _, fn := range all {
		for _, c := range fn.calls {
			callee := p.funcs[c.callee]
			if callee == nil {
				continue
			}
			if callee.args == nil {
				callee.args = map[string]Value{}
			}
			params := callee.params
			if len(params) > 0 && (params[0] == "self" || params[0] == "cls") {
				params = params[1:]
			}
			for i, v := range c.args {
				name := ""
				if k := i - (len(c.args) - len(c.names)); k >= 0 {
					name = c.names[k]
				} else if i < len(params) {
					name = params[i]
				}
				if v.Kind == Unknown || name == "" {
					continue
				}
				callee.args[name] = join(callee.args[name], v)
			}
		}
	}
}
