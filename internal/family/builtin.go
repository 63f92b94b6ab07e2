package family

import (
	"cmp"
	_ "embed" // tables
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/plimsoll-dev/plimsoll/internal/recipe"
	"github.com/plimsoll-dev/plimsoll/internal/symbolic"
)

var (
	//go:embed builtin/transformers.json
	transformersTable string
	//go:embed builtin/torchvision.json
	torchvisionTable string
)

// Libraries that models come from.
const (
	Transformers = "transformers"
	Torchvision  = "torchvision"
)

// An Entry is a model that is known by name.
type Entry struct {
	Name    string   `json:"name"`
	Library string   `json:"-"`
	Family  string   `json:"family"` // of torchvision's models their name
	Hub     []string `json:"hub"`    // ids on the Hugging Face hub, the usual one first
	Also    []string `json:"also"`   // further names
	// Parameters is what the library's class has, or where Counted says so
	// the part of it that published totals count.
	Parameters int64 `json:"parameters"`
	// Published is the total of published weights where it differs, or 0.
	Published int64         `json:"published"`
	Note      string        `json:"note"`     // why it differs
	Evidence  string        `json:"evidence"` // where the total is confirmed, as builtin/README.md says
	Counted   Counted       `json:"counted"`
	Tasks     []recipe.Task `json:"-"`     // the default first
	Image     int64         `json:"image"` // side of the images that a torchvision model is trained with
	Labels    int64         `json:"labels"`

	Task    recipe.Task     `json:"task"`     // of a torchvision model
	OwnHead bool            `json:"own_head"` // the checkpoint has output weights of its own
	Config  json.RawMessage `json:"config"`   // its config.json, the keys that matter
}

// Counted says how a published total relates to the class of a task.
type Counted struct {
	Task recipe.Task `json:"task"`  // empty: the default
	Less string      `json:"less"`  // what the total leaves out, an expression
	Part string      `json:"class"` // "Model": the total is of the class without a head
}

// An index finds entries by what people write.
type index struct {
	entries []Entry
	plain   map[string]int // without organisation, "-" for "_"
	tuned   map[string]int // and without words such as "instruct"
	joined  map[string]int // and without separators that tell nothing; -1 where several are written so
	names   []string
}

// libraries are in the order in which a name is looked for.
var libraries = []string{Transformers, Torchvision}

// table is the text of a library's entries.
func table(library string) string {
	if library == Torchvision {
		return torchvisionTable
	}
	return transformersTable
}

// entries reads the embedded tables once; the tests of this package find a
// mistake in them.
var entries = sync.OnceValue(func() *index {
	x := &index{plain: map[string]int{}, tuned: map[string]int{}, joined: map[string]int{}}
	for _, library := range libraries {
		var list []Entry
		if err := json.Unmarshal([]byte(table(library)), &list); err != nil {
			panic("builtin/" + library + ".json: " + err.Error())
		}
		for _, e := range list {
			x.add(e, library)
		}
	}
	return x
})

// of fills in what the library says of an entry.
func (e Entry) of(library string) Entry {
	e.Library = library
	if library == Torchvision {
		e.Family, e.Tasks = e.Name, []recipe.Task{e.Task}
	} else if row, ok := Lookup(e.Family); ok {
		e.Tasks = row.Classes.Keys
	}
	return e
}

// spellings are all names and ids of an entry.
func (e Entry) spellings() []string { return slices.Concat([]string{e.Name}, e.Also, e.Hub) }

// exactly finds an entry by one of its spellings without reading the others,
// which would be a tenth of a short run: the tables have one on each line.
func exactly(name string) (Entry, bool) {
	want := strings.ToLower(strconv.Quote(name))
	for _, library := range libraries {
		text := strings.ToLower(table(library))
		for at := 0; ; at++ {
			i := strings.Index(text[at:], want)
			if i < 0 {
				break
			}
			at += i
			begin := strings.LastIndexByte(text[:at], '\n') + 1
			line, _, _ := strings.Cut(table(library)[begin:], "\n")
			var e Entry
			if json.Unmarshal([]byte(strings.TrimSuffix(line, ",")), &e) == nil && slices.ContainsFunc(e.spellings(), func(s string) bool { return strings.EqualFold(s, name) }) {
				return e.of(library), true
			}
		}
	}
	return Entry{}, false
}

func (x *index) add(e Entry, library string) {
	e = e.of(library)
	i := len(x.entries)
	x.entries = append(x.entries, e)
	x.names = append(x.names, e.Name)
	for _, spelling := range e.spellings() {
		name := plainName(spelling)
		for _, put := range []struct {
			in  map[string]int
			key string
		}{{x.plain, name}, {x.tuned, untuned(name)}} {
			if _, taken := put.in[put.key]; !taken {
				put.in[put.key] = i
			}
		}
		x.join(joined(name), i)
		x.join(joined(strings.ReplaceAll(name, ".", "-")), i)
	}
}

// join notes that entry i is written as key.
func (x *index) join(key string, i int) {
	if other, taken := x.joined[key]; taken && other != i {
		i = -1
	}
	x.joined[key] = i
}

// joined drops separators but those between two digits: "qwen2-57b" is not
// "qwen2.5-7b", nor "pythia-14b" "pythia-1.4b".
func joined(name string) string {
	var b strings.Builder
	for i := range len(name) {
		if c := name[i]; c == '-' || c == '.' {
			if i == 0 || i+1 == len(name) || !isDigit(name[i-1]) || !isDigit(name[i+1]) {
				continue
			}
		}
		b.WriteByte(name[i])
	}
	return b.String()
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// plainName is a name without its organisation, in lower case with hyphens.
func plainName(s string) string {
	s = s[strings.LastIndexByte(s, '/')+1:]
	return strings.Map(func(r rune) rune {
		if r == '_' || r == ' ' {
			return '-'
		}
		return r
	}, strings.ToLower(s))
}

// tunedWords mark checkpoints that were trained further and have the same
// architecture.
var tunedWords = map[string]bool{"instruct": true, "chat": true, "hf": true, "it": true, "pt": true}

// untuned drops such words.
func untuned(name string) string {
	var kept []string
	for word := range strings.SplitSeq(name, "-") {
		if !tunedWords[word] {
			kept = append(kept, word)
		}
	}
	return strings.Join(kept, "-")
}

// mirrors are organisations that publish others' models unchanged.
var mirrors = map[string]bool{"unsloth": true, "nousresearch": true, "torchvision": true}

// FindBuiltin finds a model by its name or hub id, forgiving about case and
// words such as "Instruct"; of a name, but not of an id, separators too may be
// left out where they tell no two numbers apart, and a dot written as a hyphen.
// An id of an organisation that is not known to have the model is not found:
// what it has may be built differently.
func FindBuiltin(name string) (Entry, bool) {
	if len(name) > longestName {
		return Entry{}, false
	}
	if e, ok := exactly(name); ok {
		return e, true
	}
	x := entries()
	plain := plainName(name)
	for _, try := range []struct {
		in  map[string]int
		key string
	}{{x.plain, plain}, {x.tuned, untuned(plain)}} {
		if i, ok := try.in[try.key]; ok && try.key != "" && x.entries[i].publishedBy(name) {
			return x.entries[i], true
		}
	}
	if strings.Contains(name, "/") {
		return Entry{}, false
	}
	for _, key := range []string{joined(plain), joined(untuned(plain))} {
		if i, ok := x.joined[key]; ok && i >= 0 && key != "" {
			return x.entries[i], true
		}
	}
	return Entry{}, false
}

// publishedBy reports whether the organisation of an id, if it has one, has
// this model.
func (e Entry) publishedBy(name string) bool {
	org, _, ok := strings.Cut(strings.ToLower(name), "/")
	if !ok || mirrors[org] {
		return true
	}
	for _, id := range e.Hub {
		if known, _, _ := strings.Cut(strings.ToLower(id), "/"); known == org {
			return true
		}
	}
	return false
}

// Builtins is every model that is known by name, in the order that people
// read them. The caller must not change it.
func Builtins() []Entry { return entries().entries }

// NearestBuiltins are at most three names close to one that is not known.
func NearestBuiltins(name string) []string { return Nearest(plainName(name), entries().names) }

// Model reads the entry's description. Of o, the task and the assumed family
// matter.
func (e Entry) Model(o Options) (*Model, error) {
	if e.Library == Torchvision {
		return e.vision(o)
	}
	o.Name, o.Source, o.File, o.OwnHead = e.Name, "builtin", e.Name, e.OwnHead
	return FromConfig(e.Config, o)
}

// vision is a model of torchvision, whose name says everything.
func (e Entry) vision(o Options) (*Model, error) {
	if o.Assume != "" {
		return nil, &Error{Msg: e.Name + " is a model of torchvision, which has no config to read as " + quoted(o.Assume), Hint: "leave out --assume"}
	}
	if o.Task != "" && o.Task != e.Task {
		return nil, &Error{Msg: fmt.Sprintf("%s has no head for %s", e.Name, o.Task), Hint: "its task: " + string(e.Task)}
	}
	m := &Model{
		Name: e.Name, Source: "builtin", Library: Torchvision, Family: e.Name, Structure: "default",
		Dims:  symbolic.Dims{"H": e.Image, "W": e.Image, "C": e.Labels},
		Kinds: map[string][]string{}, Tasks: e.Tasks, Task: e.Task, Class: e.Name,
	}
	if e.Published != 0 {
		m.warn("published-parameters", fmt.Sprintf("%s as it is built has %d parameters, with published weights %d: %s", e.Name, e.Parameters, e.Published, e.Note))
	}
	return m, nil
}

// CheckTotal compares the published total with what count says of the model.
func (e Entry) CheckTotal(count func(*Model) (int64, error)) error {
	m, err := e.Model(Options{Task: e.Counted.Task})
	if err != nil {
		return err
	}
	n, err := count(m)
	if err != nil {
		return err
	}
	less, err := value(cmp.Or(e.Counted.Less, "0"), m.Dims)
	if err != nil {
		return err
	}
	if n-less != e.Parameters {
		return fmt.Errorf("%s: %d parameters, published are %d", e.Name, n-less, e.Parameters)
	}
	return nil
}
