package pickle

import "encoding/binary"

// runs is what each opcode does that is not refused. The argument is what
// follows the opcode, without a length.
var runs = [256]func(m *Machine, arg []byte) error{
	opProto:      (*Machine).proto,
	0x95:         (*Machine).ignore,
	opStop:       (*Machine).ignore,
	opMark:       (*Machine).mark,
	opEmptyDict:  (*Machine).emptyDict,
	']':          (*Machine).emptyList,
	')':          (*Machine).emptyTuple,
	's':          (*Machine).setItem,
	opSetItems:   (*Machine).setItems,
	'a':          (*Machine).appendItem,
	'e':          (*Machine).appendItems,
	't':          (*Machine).tupleMark,
	0x85:         func(m *Machine, _ []byte) error { return m.tuple(1) },
	0x86:         func(m *Machine, _ []byte) error { return m.tuple(2) },
	0x87:         func(m *Machine, _ []byte) error { return m.tuple(3) },
	0x8c:         (*Machine).text,
	'X':          (*Machine).text,
	0x8d:         (*Machine).text,
	opMemoize:    (*Machine).memoize,
	opBinPut:     (*Machine).put,
	opLongBinPut: (*Machine).put,
	opBinGet:     (*Machine).get,
	opLongBinGet: (*Machine).get,
	opBinInt1:    (*Machine).unsigned,
	opBinInt2:    (*Machine).unsigned,
	opBinInt:     (*Machine).signed,
	opLong1:      (*Machine).long,
	0x8b:         (*Machine).long,
	'G':          (*Machine).float,
	0x88:         func(m *Machine, _ []byte) error { return m.push(tagged(Bool, 1)) },
	0x89:         func(m *Machine, _ []byte) error { return m.push(tagged(Bool, 0)) },
	'N':          func(m *Machine, _ []byte) error { return m.push(0) },
}

func (m *Machine) proto(arg []byte) error {
	if arg[0] < 2 || arg[0] > 5 {
		return m.errorf("pickle protocol %d; protocols 2 to 5 are read", arg[0])
	}
	return nil
}

func (m *Machine) ignore([]byte) error { return nil }

func (m *Machine) mark([]byte) error {
	// Each container that is being filled has one open mark.
	if len(m.marks) > m.limits.MaxDepth {
		return m.errorf("containers are nested more than %d deep", m.limits.MaxDepth)
	}
	m.marks = append(m.marks, len(m.stack))
	return nil
}

func (m *Machine) emptyDict([]byte) error {
	v, err := m.newObject(Dict)
	if err != nil {
		return err
	}
	return m.push(v)
}

func (m *Machine) emptyList([]byte) error {
	v, err := m.newObject(List)
	if err != nil {
		return err
	}
	m.consumer.List(m, v)
	return m.push(v)
}

// emptyTuple pushes object 0, which stands for every empty tuple.
func (m *Machine) emptyTuple([]byte) error { return m.push(tagged(Tuple, 0)) }

func (m *Machine) tuple(n int) error {
	items, err := m.pop(n)
	if err != nil {
		return err
	}
	return m.newTuple(items)
}

func (m *Machine) tupleMark([]byte) error {
	items, err := m.popMark()
	if err != nil {
		return err
	}
	return m.newTuple(items)
}

func (m *Machine) newTuple(items []Value) error {
	v, err := m.newObject(Tuple)
	if err != nil {
		return err
	}
	if err := m.store(v, items); err != nil {
		return err
	}
	return m.push(v)
}

func (m *Machine) appendItem([]byte) error {
	items, err := m.pop(1)
	if err != nil {
		return err
	}
	return m.extend(items)
}

func (m *Machine) appendItems([]byte) error {
	items, err := m.popMark()
	if err != nil {
		return err
	}
	return m.extend(items)
}

func (m *Machine) extend(items []Value) error {
	list, err := m.top(List)
	if err != nil {
		return err
	}
	return m.store(list, items)
}

func (m *Machine) setItem([]byte) error {
	pairs, err := m.pop(2)
	if err != nil {
		return err
	}
	return m.set(pairs)
}

func (m *Machine) setItems([]byte) error {
	pairs, err := m.popMark()
	if err != nil {
		return err
	}
	if len(pairs)%2 != 0 {
		return m.errorf("%s finds a key without a value", m.opName())
	}
	return m.set(pairs)
}

// set hands pairs to the consumer and does with the dict what it says.
func (m *Machine) set(pairs []Value) error {
	dict, err := m.top(Dict)
	if err != nil {
		return err
	}
	if m.objects[dict.payload()].done {
		return m.errorf("a container grows after it was used")
	}
	made, err := m.consumer.Dict(m, dict, pairs)
	if err != nil {
		return err
	}
	if made == dict {
		return m.store(dict, pairs)
	}
	m.drop(pairs)
	if m.objects[dict.payload()].kept {
		m.Replace(dict, made)
	}
	if !m.objects[dict.payload()].kept {
		m.release(dict)
	}
	top := len(m.stack) - 1
	if made.tag() == Gone && len(m.marks) > 0 && m.marks[len(m.marks)-1] == top {
		// In a batch nothing counts the items, so that a million of them
		// need no place on the stack. PyTorch's C++ writer needs this: it
		// puts a whole trace between one MARK and APPENDS.
		m.stack = m.stack[:top]
		m.taken = m.at + 1
		return nil
	}
	m.stack[top] = made
	return nil
}

func (m *Machine) text(arg []byte) error {
	v := m.makeString(arg)
	if m.held > m.limits.MaxValues {
		return m.errorf("more than %d values are held at a time", m.limits.MaxValues)
	}
	return m.push(v)
}

func (m *Machine) unsigned(arg []byte) error { return m.push(smallInt(int64(little(arg)))) }

func (m *Machine) signed(arg []byte) error {
	return m.push(smallInt(int64(int32(binary.LittleEndian.Uint32(arg)))))
}

func (m *Machine) long(arg []byte) error {
	v := m.makeLong(arg)
	if m.held > m.limits.MaxValues {
		return m.errorf("more than %d values are held at a time", m.limits.MaxValues)
	}
	return m.push(v)
}

func (m *Machine) float(arg []byte) error {
	v := m.number(Float, binary.BigEndian.Uint64(arg))
	if m.held > m.limits.MaxValues {
		return m.errorf("more than %d values are held at a time", m.limits.MaxValues)
	}
	return m.push(v)
}

func (m *Machine) memoize([]byte) error { return m.remember(m.slots.next()) }

func (m *Machine) put(arg []byte) error {
	slot := little(arg)
	if !m.slots.set(slot) {
		return m.errorf("memo slot %d is set, after %d others", slot, m.slots.sets)
	}
	return m.remember(slot)
}

// remember keeps the top of the stack if its slot is ever read.
func (m *Machine) remember(slot uint64) error {
	n := m.plan.dense(slot)
	if n < 0 && m.once && !m.passing() {
		if n = m.plan.keep(slot); n < 0 || n >= m.most {
			return m.errorf("memo slot %d is one of too many, or out of order", slot)
		}
		m.memo = append(m.memo, 0)
	}
	if n < 0 {
		return nil
	}
	if m.memo[n] != 0 {
		m.shape = [shapeLen]shapedKey{} // the slot may have held a key
	}
	if m.taken == m.at {
		m.memo[n] = MakeGone()
		return nil
	}
	top, err := m.pop(1)
	if err != nil {
		return err
	}
	m.stack = m.stack[:len(m.stack)+1]
	m.memo[n] = top[0]
	if top[0].container() {
		o := &m.objects[top[0].payload()]
		o.again = o.again || o.kept
		o.kept, o.slot = true, uint32(n)
	}
	return nil
}

// passing reports whether the top of the stack is not expected again: a dict
// that its list let go, or will.
func (m *Machine) passing() bool {
	n := len(m.stack)
	if m.taken == m.at {
		return true
	}
	if n == 0 || m.stack[n-1].tag() != Dict {
		return false
	}
	list := m.place(n - 1).List
	return list != 0 && m.objects[list.payload()].brief
}

func (m *Machine) get(arg []byte) error { return m.recall(little(arg)) }

func (m *Machine) recall(slot uint64) error {
	v, ok := m.remembered(slot)
	if !ok {
		return m.errorf("memo slot %d is read before it is set", slot)
	}
	return m.push(v)
}

// remembered is what a slot holds, or what stands for it by now.
func (m *Machine) remembered(slot uint64) (v Value, ok bool) {
	n := m.plan.dense(slot)
	if n < 0 || !m.slots.has(slot) {
		return 0, false
	}
	v = m.memo[n]
	if v.container() {
		o := &m.objects[v.payload()]
		if o.again = true; o.done {
			v = o.made
		}
	}
	return v, true
}
