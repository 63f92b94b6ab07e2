package pickle

import (
	"slices"

	"github.com/plimsoll-dev/plimsoll/internal/input"
)

// A Consumer receives containers and makes small values of them.
type Consumer interface {
	// List tells of a new, empty list. Machine.ListPlace says where it stands.
	List(m *Machine, list Value)
	// Dict tells of keys and values, alternating, that were set on a dict.
	// It returns the dict itself to keep them there, MakeGone when nothing
	// needs to be kept, or an Atom to stand in the dict's place. A dict of
	// more than a thousand keys may come in several calls if it is kept.
	Dict(m *Machine, dict Value, pairs []Value) (Value, error)
}

// A Machine is the stack machine that a pickle is a program for. Values that
// it hands out mean something only to the machine they came from.
type Machine struct {
	in       *input.Reader
	consumer Consumer
	limits   input.Limits

	stack   []Value
	marks   []int // stack heights at each open MARK
	once    bool  // the plan grows with what is kept, of a file that is read once
	most    int   // slots that may be kept then
	plan    plan
	slots   slots
	shape   [shapeLen]shapedKey
	memo    []Value // by dense number
	objects []object
	unused  []uint32 // places in objects to use again
	strings stringTable
	numbers numberTable
	held    int   // strings, numbers, containers and their items
	op      byte  // the opcode that runs
	at      int64 // its offset
	taken   int64 // offset behind the opcode whose container left the stack at once, or -1
}

// An object is a container.
type object struct {
	items []Value
	made  Value // what the consumer made of it, once done
	note  uint64
	depth int32  // of containers within, itself included
	slot  uint32 // of memo that holds it alone, when kept and not again
	kept  bool   // a memo slot holds it, so that it may come again
	brief bool   // dicts in it do not come again
	again bool   // it came again, or lies in two slots
	done  bool   // made stands for it; it has no items and takes none
}

// reuseItems is the capacity up to which the items of a container that is
// gone are kept for the next one.
const reuseItems = 1 << 12

// New returns a machine for the pickle that in holds.
func New(in *input.Reader, c Consumer) *Machine {
	m := &Machine{in: in, consumer: c, limits: in.Limits(), taken: -1}
	m.objects = append(m.objects, object{kept: true}) // the empty tuple
	return m
}

// Offset returns the place in the file of the opcode that runs.
func (m *Machine) Offset() int64 { return m.at }

// Items returns what a container holds; the slice is valid until the machine
// goes on. It is nil for anything else.
func (m *Machine) Items(v Value) []Value {
	if !v.container() {
		return nil
	}
	return m.objects[v.payload()].items
}

// Replace lets made, an Atom, stand for a container wherever it comes again,
// and forgets its items. One that did not come again so far is known by its
// memo slot only, which then holds the Atom: a snapshot has millions of
// stacks, and would else keep a container for each.
func (m *Machine) Replace(v, made Value) {
	if !v.container() || v.payload() == 0 {
		return
	}
	o := &m.objects[v.payload()]
	m.held -= len(o.items)
	m.drop(o.items)
	if o.items = o.items[:0]; o.kept {
		o.items = nil
	}
	o.made, o.done = made, true
	if o.kept && !o.again && m.memo[o.slot] == v {
		m.memo[o.slot] = made
		o.kept = false
	}
}

// Note returns the number that the consumer noted on a container, 0 at
// first.
func (m *Machine) Note(v Value) uint64 {
	if !v.container() {
		return 0
	}
	return m.objects[v.payload()].note
}

// SetNote notes a number on a container for as long as it lasts.
func (m *Machine) SetNote(v Value, n uint64) {
	if v.container() {
		m.objects[v.payload()].note = n
	}
}

// SetBrief says that no dict of a list is expected to come again elsewhere.
// RunOnce keeps no memo slots for them.
func (m *Machine) SetBrief(list Value) {
	if list.tag() == List {
		m.objects[list.payload()].brief = true
	}
}

// A Place says where a new list, or a dict that just got its pairs, stands.
type Place struct {
	Outermost bool
	Key       Value // the String that it is the value of, or None
	List      Value // the list that it is an item of, or None
	dict      int   // with Key: where on the stack its dict should be
}

// Holder returns the place of the dict that has the key of a place.
func (m *Machine) Holder(p Place) Place {
	if p.Key == 0 || p.dict < 0 {
		return Place{}
	}
	return m.place(p.dict)
}

// ListPlace returns the place of the list of Consumer.List.
func (m *Machine) ListPlace() Place {
	p := m.place(len(m.stack))
	if n := len(m.marks); p.List != 0 && n > 0 && m.marks[n-1] > 0 {
		// A list that lies on a list in a batch of a third is its sibling.
		if owner := m.stack[m.marks[n-1]-1]; owner.tag() == List {
			p.List = owner
		}
	}
	return p
}

// DictPlace returns the place of the dict of Consumer.Dict.
func (m *Machine) DictPlace() Place { return m.place(len(m.stack) - 1) }

// place looks below stack[i]. Items of a batch lie above a MARK and their
// container below it; an item that comes alone lies on its container.
func (m *Machine) place(i int) Place {
	if i <= 0 {
		return Place{Outermost: true}
	}
	below := m.stack[i-1]
	if below.tag() == String {
		p := Place{Key: below, dict: i - 2}
		if n := len(m.marks); n > 0 && m.marks[n-1] > 0 && m.stack[m.marks[n-1]-1].tag() == Dict {
			p.dict = m.marks[n-1] - 1
		}
		return p
	}
	owner := below
	if n := len(m.marks); n > 0 && (m.marks[n-1] == i || below.tag() != List) {
		if m.marks[n-1] == 0 {
			return Place{}
		}
		owner = m.stack[m.marks[n-1]-1]
	}
	if owner.tag() != List {
		return Place{}
	}
	return Place{List: owner}
}

// errorf returns a SyntaxError at the opcode that runs.
func (m *Machine) errorf(format string, args ...any) error {
	return m.in.Errorf(m.at, format, args...)
}

func (m *Machine) push(v Value) error {
	if len(m.stack) >= m.limits.MaxValues {
		return m.errorf("more than %d values wait on the stack", m.limits.MaxValues)
	}
	m.stack = append(m.stack, v)
	return nil
}

// pop takes n values off the stack, above the last open MARK.
func (m *Machine) pop(n int) ([]Value, error) {
	floor := 0
	if len(m.marks) > 0 {
		floor = m.marks[len(m.marks)-1]
	}
	if len(m.stack)-n < floor {
		return nil, m.errorf("%s needs %d values, the stack has %d", m.opName(), n, len(m.stack)-floor)
	}
	top := m.stack[len(m.stack)-n:]
	m.stack = m.stack[:len(m.stack)-n]
	return top, nil
}

// popMark takes the values above the last MARK, and the mark.
func (m *Machine) popMark() ([]Value, error) {
	if len(m.marks) == 0 {
		return nil, m.errorf("%s without a MARK", m.opName())
	}
	p := m.marks[len(m.marks)-1]
	m.marks = m.marks[:len(m.marks)-1]
	top := m.stack[p:]
	m.stack = m.stack[:p]
	return top, nil
}

// top is the value on top of the stack, which must have the given type.
func (m *Machine) top(t Type) (Value, error) {
	floor := 0
	if len(m.marks) > 0 {
		floor = m.marks[len(m.marks)-1]
	}
	if len(m.stack) <= floor || m.stack[len(m.stack)-1].tag() != t {
		return 0, m.errorf("%s finds no %s below its items", m.opName(), typeNames[t])
	}
	return m.stack[len(m.stack)-1], nil
}

var typeNames = map[Type]string{List: "list", Dict: "dict"}

func (m *Machine) opName() string { return opcodes[m.op].name }

// newObject makes an empty container.
func (m *Machine) newObject(t Type) (Value, error) {
	if m.held++; m.held > m.limits.MaxValues {
		return 0, m.errorf("more than %d values are held at a time", m.limits.MaxValues)
	}
	if n := len(m.unused); n > 0 {
		i := m.unused[n-1]
		m.unused = m.unused[:n-1]
		return tagged(t, uint64(i)), nil
	}
	m.objects = append(m.objects, object{depth: 1})
	return tagged(t, uint64(len(m.objects)-1)), nil
}

// store adds items to a container.
func (m *Machine) store(v Value, items []Value) error {
	o := &m.objects[v.payload()]
	if o.done {
		return m.errorf("a container grows after it was used")
	}
	before := len(o.items)
	o.items = slices.Grow(o.items, len(items))
	for _, item := range items {
		if item.container() {
			if d := m.objects[item.payload()].depth + 1; d > o.depth {
				o.depth = d
			}
		} else if item.tag() == Gone {
			continue
		}
		o.items = append(o.items, item)
	}
	if int(o.depth) > m.limits.MaxDepth {
		return m.errorf("containers are nested more than %d deep", m.limits.MaxDepth)
	}
	if m.held += len(o.items) - before; m.held > m.limits.MaxValues {
		return m.errorf("more than %d values are held at a time", m.limits.MaxValues)
	}
	return nil
}

// drop lets go of containers that nothing else can reach. It recurses no
// deeper than containers are allowed to nest.
func (m *Machine) drop(items []Value) {
	for _, v := range items {
		if v.container() && !m.objects[v.payload()].kept {
			m.release(v)
		}
	}
}

func (m *Machine) release(v Value) {
	o := &m.objects[v.payload()]
	items := o.items
	m.held -= 1 + len(items)
	m.drop(items)
	if cap(items) > reuseItems {
		items = nil
	}
	m.objects[v.payload()] = object{items: items[:0], depth: 1}
	m.unused = append(m.unused, uint32(v.payload()))
}
