package lint

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"sort"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/plimsoll-dev/plimsoll/internal/pyast"
)

// A Source is a file to lint.
type Source struct {
	Path string                 // within the project
	Text []byte                 // its bytes, where they are at hand
	Read func() ([]byte, error) // else how to get them; it may be called twice
}

func (s Source) read() ([]byte, error) {
	if s.Read == nil {
		return s.Text, nil
	}
	return s.Read()
}

// A Problem is a file that was not linted, or only in part.
type Problem struct {
	Path string
	Line int // 0 for the whole file
	Err  error
}

func (p Problem) Error() string {
	if p.Line > 0 {
		return fmt.Sprintf("%s:%d: %v", p.Path, p.Line, p.Err)
	}
	return fmt.Sprintf("%s: %v", p.Path, p.Err)
}

// MaxSource bounds a file's size: larger ones are generated, not written. A
// notebook also holds the pictures that its cells drew.
const (
	MaxSource   = 4 << 20
	maxNotebook = 16 << 20
)

// MaxSize is how many bytes a file may have, by its name.
func MaxSize(name string) int64 {
	if strings.HasSuffix(name, ".ipynb") {
		return maxNotebook
	}
	return MaxSource
}

// TooLarge is the error for a file of more bytes.
func TooLarge(size, most int64) error {
	return fmt.Errorf("%d bytes are more than the %d of a file that someone wrote", size, most)
}

// keepReadings is how many bytes the readings may take that are kept from the
// first time to the second; a file beyond it is parsed twice.
const keepReadings = 64 << 20

// marks are what code that rules could judge has somewhere; files without any
// are not parsed.
var marks = [][]byte{
	[]byte("torch"), []byte("tensorflow"), []byte("keras"), []byte("jax"), []byte("lightning"), []byte("transformers"),
	[]byte("accelerate"), []byte("backward("), []byte("zero_grad("), []byte(".cuda("), []byte("no_grad"), []byte("XLA_"), []byte("CUDA"), []byte("optimizer"), []byte("loader"), []byte("model("),
}

func relevant(src []byte) bool {
	for _, m := range marks {
		if bytes.Contains(src, m) {
			return true
		}
	}
	return false
}

// Check lints files that belong together, with rules. It is for tests and
// editors; problems are errors.
func Check(rules []*Rule, sources ...Source) ([]Finding, error) {
	var out []Finding
	problems, err := Run(context.Background(), rules, sources, 1, func(_ *File, fs []Finding) { out = append(out, fs...) })
	for _, p := range problems {
		if p.Line == 0 {
			err = errors.Join(err, p)
		}
	}
	return out, err
}

// Run lints a project on workers (0: all cores) and calls found for each file
// that is parsed, one at a time, in the order of sources. The project is read
// twice: once for what functions do, which callers must know, and once for the
// findings; so memory is bounded by one file for each worker and the facts.
func Run(ctx context.Context, rules []*Rule, sources []Source, workers int, found func(*File, []Finding)) ([]Problem, error) {
	var names []string
	for _, s := range sources {
		names = append(names, s.Path)
	}
	return RunPart(ctx, names, rules, sources, workers, found)
}

// RunPart is Run over some sources of a project that has files of all names:
// those that imports join with each other, or all that may have changed.
func RunPart(ctx context.Context, names []string, rules []*Rule, sources []Source, workers int, found func(*File, []Finding)) ([]Problem, error) {
	r := &runner{rules: rules, project: NewProject(names), sources: sources, workers: workers}
	if r.workers <= 0 {
		r.workers = runtime.GOMAXPROCS(0)
	}
	r.kept = make([]*pyast.Reading, len(sources))
	r.facts = make([]*fileFacts, len(sources))
	r.problems = make([][]Problem, len(sources))
	if err := r.each(ctx, r.first, nil); err != nil {
		return nil, err
	}
	var facts []*fileFacts
	for _, f := range r.facts {
		if f != nil {
			facts = append(facts, f)
		}
	}
	r.project.add(facts)
	if err := r.each(ctx, r.second, found); err != nil {
		return nil, err
	}
	var problems []Problem
	for _, p := range r.problems {
		problems = append(problems, p...)
	}
	return problems, nil
}

type runner struct {
	rules    []*Rule
	project  *Project
	sources  []Source
	workers  int
	kept     []*pyast.Reading
	facts    []*fileFacts
	problems [][]Problem
	size     atomic.Int64 // of what is kept
}

type result struct {
	file     *File
	findings []Finding
}

// each does work for all sources in parallel and hands on results in order.
func (r *runner) each(ctx context.Context, work func(i int) result, found func(*File, []Finding)) error {
	next := make(chan int)
	done := make([]chan result, len(r.sources))
	for i := range done {
		done[i] = make(chan result, 1)
	}
	// A slow file holds back at most this many finished ones.
	window := make(chan struct{}, 4*r.workers)
	var wg sync.WaitGroup
	for range r.workers {
		wg.Go(func() {
			for i := range next {
				done[i] <- r.guarded(work, i)
			}
		})
	}
	wg.Go(func() {
		defer close(next)
		for i := range r.sources {
			select {
			case window <- struct{}{}:
			case <-ctx.Done():
				return
			}
			select {
			case next <- i:
			case <-ctx.Done():
				return
			}
		}
	})
	defer wg.Wait()
	for i := range r.sources {
		select {
		case res := <-done[i]:
			<-window
			if found != nil && res.file != nil {
				found(res.file, res.findings)
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// ErrInternal marks a file on which this package failed.
var ErrInternal = errors.New("a mistake of plimsoll's own, please report it")

// guarded turns a panic into a problem of the file: the others go on.
func (r *runner) guarded(work func(int) result, i int) (out result) {
	defer func() {
		if p := recover(); p != nil {
			r.facts[i] = nil
			r.problem(i, 0, fmt.Errorf("%w: %v", ErrInternal, p))
			out = result{}
		}
	}()
	return work(i)
}

func (r *runner) problem(i int, line int, err error) {
	r.problems[i] = append(r.problems[i], Problem{r.sources[i].Path, line, err})
}

// open reads and parses a source; nil if there is nothing to judge in it. The
// first time it tells of problems, and keeps the reading for the second.
func (r *runner) open(i int, first bool) *File {
	src := r.sources[i]
	raw, err := src.read()
	if most := MaxSize(src.Path); err == nil && int64(len(raw)) > most {
		err = TooLarge(int64(len(raw)), most)
	}
	if err == nil && !relevant(raw) && !bytes.HasPrefix(raw, []byte{0xFF, 0xFE}) && !bytes.HasPrefix(raw, []byte{0xFE, 0xFF}) {
		if first && bytes.IndexByte(raw, 0) >= 0 {
			r.problem(i, 0, pyast.ErrBinary)
		}
		return nil
	}
	var f *File
	if err == nil {
		f, err = r.project.open(src.Path, raw, func(text []byte) (*pyast.Module, error) { return r.parse(i, text) })
	}
	if err != nil {
		if first {
			r.problem(i, 0, err)
		}
		return nil
	}
	if n := len(f.Module.Errors); first && n > 0 {
		line, _ := f.Module.Position(f.Module.Errors[0].Start)
		where := ""
		if f.Notebook != nil {
			cell, cellLine := f.Notebook.Cell(line)
			where, line = fmt.Sprintf("cell %d: ", cell), max(cellLine, 1)
		}
		what := "a part is no Python that can be read"
		if n > 1 {
			what = fmt.Sprintf("%d parts are no Python that can be read", n)
		}
		r.problem(i, line, errors.New(where+what+"; the rest is linted"))
	}
	return f
}

// parse parses a source, the second time by what is kept of the first.
func (r *runner) parse(i int, text []byte) (*pyast.Module, error) {
	if kept := r.kept[i]; kept != nil {
		return kept.Parse(text)
	}
	if r.size.Load() >= keepReadings {
		return pyast.Parse(text)
	}
	m, kept, err := pyast.ParseKeeping(text)
	if err == nil {
		r.kept[i] = kept
		r.size.Add(int64(kept.Size()))
	}
	return m, err
}

// open reads a file of the project. name is its path within the project.
func (p *Project) open(name string, raw []byte, parse func([]byte) (*pyast.Module, error)) (*File, error) {
	var book *pyast.Notebook
	encoding := "utf-8"
	var text []byte
	if strings.HasSuffix(name, ".ipynb") {
		n, err := pyast.ReadNotebook(raw)
		if err != nil {
			return nil, err
		}
		book, text = n, n.Source
	} else {
		t, enc, err := pyast.Decode(raw)
		if err != nil {
			return nil, err
		}
		text, encoding = t, enc
	}
	m, err := parse(text)
	if err != nil {
		return nil, err
	}
	f := newFile(p, name, ModuleName(name), m)
	f.Notebook, f.Encoding = book, encoding
	return f, nil
}

func (r *runner) first(i int) result {
	f := r.open(i, true)
	if f == nil {
		return result{}
	}
	r.facts[i] = f.learn()
	return result{}
}

func (r *runner) second(i int) result {
	if r.facts[i] == nil {
		return result{}
	}
	f := r.open(i, false)
	if f == nil {
		return result{}
	}
	r.kept[i] = nil
	if 1+len(f.Funcs) != len(r.facts[i].funcs) { // it changed in between
		r.problem(i, 0, errors.New("the file changed while it was linted"))
		return result{}
	}
	f.adopt(r.facts[i].funcs)
	return result{f, f.check(r.rules)}
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
		own.outer = nil
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
		if r.Run == nil { // not of a file's code, see UnusedIgnore
			continue
		}
		p := &Pass{File: f, Rule: r}
		r.Run(p)
		out = append(out, p.findings...)
	}
	sortFindings(out)
	return out
}

func sortFindings(out []Finding) {
	sort.SliceStable(out, func(i, j int) bool {
		if out[i].Span.Start != out[j].Span.Start {
			return out[i].Span.Start < out[j].Span.Start
		}
		return out[i].Rule.Code < out[j].Rule.Code
	})
}

// attr notes what a method assigns to an attribute of its instances.
func (f *File) attr(class, name string, v Value) {
	if f.attrs == nil {
		f.attrs = map[string]map[string]Value{}
	}
	if f.attrs[class] == nil {
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
