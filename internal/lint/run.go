package lint

import (
	"maps"
	"sort"
)

// Source is a file to lint.
type Source struct {
	Path string // within the project
	Text []byte // UTF-8
}

// Check lints files that belong together, with rules. It is for tests and
// small projects: it holds all trees at once.
func Check(rules []*Rule, sources ...Source) ([]Finding, error) {
	var names []string
	for _, s := range sources {
		names = append(names, s.Path)
	}
	p := NewProject(names)
	var files []*File
	var facts []*fileFacts
	for _, s := range sources {
		f, err := p.Open(s.Path, s.Text)
		if err != nil {
			return nil, err
		}
		facts = append(facts, f.learn())
		files = append(files, f)
	}
	p.add(facts)
	var out []Finding
	for i, f := range files {
		f.adopt(facts[i].funcs)
		out = append(out, f.check(rules)...)
	}
	return out, nil
}

// learn evaluates the file for what it tells the project.
func (f *File) learn() *fileFacts {
	f.evaluate()
	t := &fileFacts{name: f.Name, imports: f.Imports, globals: map[string]Value{}, classes: map[string]*classFacts{}}
	t.stars = f.stars
	t.funcs = append(t.funcs, f.Top.Facts)
	for _, fn := range f.Funcs {
		t.funcs = append(t.funcs, fn.Facts)
	}
	for _, e := range f.exports {
		t.globals[f.Name+"."+e.name] = e.value
	}
	for _, c := range f.Classes {
		facts := &classFacts{bases: c.Bases, methods: map[string]bool{}, attrs: maps.Clone(f.attrs[c.Qual])}
		for name := range c.Methods {
			facts.methods[name] = true
		}
		t.classes[c.Qual] = facts
	}
	return t
}

// adopt gives the file's functions what the project found out about them, as
// copies: the project's own are read by other files at the same time.
func (f *File) adopt(linked []*Facts) {
	loops := map[*Func][]*LoopFacts{}
	for i, fn := range append([]*Func{f.Top}, f.Funcs...) {
		loops[fn] = linked[i].loops
		own := *linked[i]
		own.calls, own.loops, own.params = nil, nil, nil
		fn.Facts = &own
	}
	next := map[*Func]int{}
	for _, l := range f.Loops {
		own := *loops[l.Func][next[l.Func]]
		next[l.Func]++
		own.fn = l.Func.Facts
		if l.Outer != nil {
			own.outer = l.Outer.LoopFacts
		}
		l.LoopFacts = &own
		l.Func.loops = append(l.Func.loops, l.LoopFacts)
	}
}

// check evaluates the file once more, now with what the project knows, and runs
// the rules. Findings are in the order of the source.
func (f *File) check(rules []*Rule) []Finding {
	f.evaluate()
	var out []Finding
	for _, r := range rules {
		p := &Pass{File: f, Rule: r}
		r.Run(p)
		out = append(out, p.findings...)
	}
	sort.SliceStable(out, func(i, j int) bool {
		if out[i].Span.Start != out[j].Span.Start {
			return out[i].Span.Start < out[j].Span.Start
		}
		return out[i].Rule.Code < out[j].Rule.Code
	})
	return out
}

// attr notes what a method assigns to an attribute of its instances.
func (f *File) attr(class, name string, v Value) {
	if f.attrs[class] == nil {
		if f.attrs == nil {
			f.attrs = map[string]map[string]Value{}
		}
		f.attrs[class] = map[string]Value{}
	}
	v = forget(v, 1)
	if old, ok := f.attrs[class][name]; ok {
		frozen := old.Frozen || v.Frozen // once is enough
		v = join(old, v)
		v.Frozen = frozen
	}
	f.attrs[class][name] = v
}
