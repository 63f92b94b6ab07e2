package lint

import (
	"path"
	"strings"
)

// A Project is what the files that are linted together know of each other.
type Project struct {
	modules map[string]bool // by dotted name with a leading dot
	funcs   map[string]*Facts
	classes map[string]*classFacts
	imports map[string]map[string]string // module to its imported names
	users   map[string][]string          // module to those that import something of it, one for each name
	globals map[string]Value
	stars   map[string][]string
	loaded  map[string]bool // by class of dataset: a loader with workers loads it
}

type classFacts struct {
	bases   []string
	attrs   map[string]Value
	methods map[string]bool
}

// fileFacts are what one file tells the project.
type fileFacts struct {
	name    string
	funcs   []*Facts // the top level first
	classes map[string]*classFacts
	imports map[string]string
	globals map[string]Value
	stars   []string
}

// ModuleName is the dotted name of a file within a project, with a leading dot.
func ModuleName(file string) string {
	file = strings.TrimSuffix(strings.TrimSuffix(path.Clean(strings.ReplaceAll(file, "\\", "/")), ".py"), ".ipynb")
	file = strings.TrimSuffix(file, "/__init__")
	file = strings.TrimLeft(file, "./")
	return "." + strings.ReplaceAll(file, "/", ".")
}

// NewProject knows which files there are; what is in them comes with Add.
func NewProject(files []string) *Project {
	p := &Project{
		modules: map[string]bool{}, funcs: map[string]*Facts{}, classes: map[string]*classFacts{},
		imports: map[string]map[string]string{}, globals: map[string]Value{}, stars: map[string][]string{},
		loaded: map[string]bool{}, users: map[string][]string{},
	}
	for _, f := range files {
		name := ModuleName(f)
		for name != "" && !p.modules[name] { // packages need no __init__.py
			p.modules[name] = true
			name = name[:strings.LastIndexByte(name, '.')]
		}
	}
	return p
}

// add takes in what files tell, and links it. Of files only their functions are
// kept.
func (p *Project) add(files []*fileFacts) {
	var all []*Facts
	for _, f := range files {
		for _, fn := range f.funcs {
			if p.funcs[fn.qual] == nil {
				p.funcs[fn.qual] = fn
			}
			all = append(all, fn)
		}
		for q, c := range f.classes {
			p.classes[q] = c
		}
		p.imports[f.name], p.stars[f.name] = f.imports, f.stars
		p.use(f.name, f.imports)
		for q, v := range f.globals {
			p.globals[q] = v
		}
		f.classes, f.imports, f.globals, f.stars = nil, nil, nil, nil
	}
	for _, fn := range all {
		for _, l := range fn.loads {
			q := p.follow(l.class)
			p.loaded[q] = p.loaded[q] || l.workers
		}
		for i := range fn.calls {
			fn.calls[i].callee = p.callee(fn.calls[i].callee)
		}
	}
	p.link(all)
	for _, fn := range all { // linked, and most of what facts take
		fn.calls, fn.loads = nil, nil
	}
}

// use notes of which modules of the project a module imports something.
func (p *Project) use(module string, imports map[string]string) {
	for _, q := range imports {
		for strings.HasPrefix(q, ".") {
			if p.modules[q] {
				p.users[q] = append(p.users[q], module)
			}
			q = q[:strings.LastIndexByte(q, '.')]
		}
	}
}

// module is the qualified name of a module that f imports: of the project (with
// a leading dot) where there is such a file beside or above f, else as written.
func (p *Project) module(f *File, name string, level int) string {
	pkg := f.Name
	if level > 0 {
		if !strings.HasSuffix(f.Path, "__init__.py") {
			level++
		}
		for range level - 1 {
			pkg = parent(pkg)
		}
		if name == "" {
			return pkg
		}
		return pkg + "." + name
	}
	for pkg = parent(pkg); ; pkg = parent(pkg) {
		if q := pkg + "." + name; p.modules[q] && q != f.Name {
			return q
		}
		if pkg == "" {
			return name
		}
	}
}

func parent(q string) string {
	if i := strings.LastIndexByte(q, '.'); i > 0 {
		return q[:i]
	}
	return ""
}

// starred is the qualified name of what "from module import *" brings in.
func (p *Project) starred(module, name string) string {
	q := module + "." + name
	if p.funcs[q] != nil || p.classes[q] != nil || p.imports[module][name] != "" {
		return q
	}
	if strings.HasPrefix(module, "tensorflow") || strings.HasPrefix(module, "keras") || module == "torch.nn" || module == "torch.optim" {
		if name != "" && name[0] >= 'A' && name[0] <= 'Z' {
			return q
		}
	}
	return ""
}

// follow is where a qualified name of the project is defined: re-exports are
// followed.
func (p *Project) follow(q string) string {
	for range 6 {
		if !strings.HasPrefix(q, ".") || p.funcs[q] != nil || p.classes[q] != nil {
			return q
		}
		i := strings.LastIndexByte(q, '.')
		next := p.imports[q[:i]][q[i+1:]]
		if next == "" {
			for _, s := range p.stars[q[:i]] {
				if c := s + q[i:]; p.funcs[c] != nil || p.classes[c] != nil {
					return c
				}
			}
			return q
		}
		q = next
	}
	return q
}

// callee finds a function by qualified name; a method also in base classes.
func (p *Project) callee(q string) string {
	q = p.follow(q)
	if p.funcs[q] != nil || !strings.HasPrefix(q, ".") {
		return q
	}
	if p.classes[q] != nil { // a call of a class runs __init__
		return p.callee(q + ".__init__")
	}
	i := strings.LastIndexByte(q, '.')
	if m := p.method(q[:i], q[i+1:], 0); m != "" {
		return m
	}
	return q
}

func (p *Project) method(class, name string, depth int) string {
	class = p.follow(class)
	c := p.classes[class]
	if c == nil || depth > 8 {
		return ""
	}
	if c.methods[name] {
		return class + "." + name
	}
	for _, b := range c.bases {
		if m := p.method(b, name, depth+1); m != "" {
			return m
		}
	}
	return ""
}

// attr is an attribute of a class's instances, as its methods assign it.
func (p *Project) attr(class, name string, depth int) Value {
	class = p.follow(class)
	c := p.classes[class]
	if c == nil || depth > 8 {
		return Value{}
	}
	if v, ok := c.attrs[name]; ok {
		return v
	}
	for _, b := range c.bases {
		if v := p.attr(b, name, depth+1); v.Kind != Unknown {
			return v
		}
	}
	return Value{}
}

// Is reports whether a class, by qualified name, is base or derives from it.
func (p *Project) Is(class, base string) bool { return p.is(class, base, 0) }

func (p *Project) is(class, base string, depth int) bool {
	class = p.follow(class)
	if class == base {
		return true
	}
	c := p.classes[class]
	if c == nil || depth > 8 {
		return false
	}
	for _, b := range c.bases {
		if p.is(Canonical(b), base, depth+1) {
			return true
		}
	}
	return false
}

// Returns is what a function of the project returns.
func (p *Project) Returns(q string) Value {
	if fn := p.funcs[p.callee(q)]; fn != nil {
		return fn.returns
	}
	return Value{}
}
