package pickle

import "strings"

// A stringTable interns strings. Its numbers stand in Values of type String.
type stringTable struct {
	all   []string
	index map[string]uint32
}

func (t *stringTable) intern(b []byte) (n uint32, isNew bool) {
	if n, ok := t.index[string(b)]; ok {
		return n, false
	}
	if t.index == nil {
		t.index = map[string]uint32{}
	}
	n = uint32(len(t.all))
	s := string(b)
	t.index[s] = n
	// Python writes lone surrogates as they are; nothing after this has to
	// cope with text that is not UTF-8.
	t.all = append(t.all, strings.ToValidUTF8(s, "\ufffd"))
	return n, true
}

// Intern gives a string its number before the file does. Called with all
// known keys in order on a fresh machine it makes their numbers constants.
func (m *Machine) Intern(s string) uint32 {
	n, _ := m.strings.intern([]byte(s))
	return n
}

// Text returns a String; ok is false for anything else.
func (m *Machine) Text(v Value) (s string, ok bool) {
	if v.tag() != String {
		return "", false
	}
	return m.strings.all[v.payload()], true
}

// StringAt returns the string with a number that Intern or StringNumber gave.
func (m *Machine) StringAt(n uint32) string { return m.strings.all[n] }

// StringNumber returns the number of a String; equal strings have equal
// numbers. ok is false for anything else.
func (v Value) StringNumber() (n uint32, ok bool) {
	return uint32(v.payload()), v.tag() == String
}

func (m *Machine) makeString(b []byte) Value {
	n, isNew := m.strings.intern(b)
	if isNew {
		m.held++
	}
	return tagged(String, uint64(n))
}
