package oomlog

// An automaton finds many words in one pass over text of any length, white
// space and the case of letters apart (Aho and Corasick's machine with all
// transitions laid out). The words are in lower case without white space.
type automaton struct {
	next   []uint16 // by state, then by byte
	first  uint16   // states from here on end a word
	ends   [][]int  // words that end in a state, by state - first
	length []int    // of the words
}

const byteValues = 256

func newAutomaton(words []string) *automaton {
	goes := []map[byte]int{{}}
	ends := [][]int{nil}
	length := make([]int, len(words))
	for w, word := range words {
		length[w] = len(word)
		s := 0
		for i := range len(word) {
			to, ok := goes[s][word[i]]
			if !ok {
				to = len(goes)
				goes[s][word[i]] = to
				goes, ends = append(goes, map[byte]int{}), append(ends, nil)
			}
			s = to
		}
		ends[s] = append(ends[s], w)
	}
	// Breadth first: where a state has no way on, it goes where the longest
	// of its suffixes would.
	n := len(goes)
	dense := make([][byteValues]int, n)
	fail := make([]int, n)
	var queue []int
	for c := range byteValues {
		if to, ok := goes[0][byte(c)]; ok {
			dense[0][c] = to
			queue = append(queue, to)
		}
	}
	for len(queue) > 0 {
		s := queue[0]
		queue = queue[1:]
		ends[s] = append(ends[s], ends[fail[s]]...)
		for c := range byteValues {
			if to, ok := goes[s][byte(c)]; ok {
				dense[s][c], fail[to] = to, dense[fail[s]][c]
				queue = append(queue, to)
			} else {
				dense[s][c] = dense[fail[s]][c]
			}
		}
	}
	return number(dense, ends, length)
}

// number lays the states out so that those that end a word are the last.
func number(dense [][byteValues]int, ends [][]int, length []int) *automaton {
	order := make([]int, 0, len(dense))
	for s := range dense {
		if len(ends[s]) == 0 {
			order = append(order, s)
		}
	}
	a := &automaton{first: uint16(len(order)), length: length}
	for s := range dense {
		if len(ends[s]) > 0 {
			order = append(order, s)
			a.ends = append(a.ends, ends[s])
		}
	}
	place := make([]uint16, len(dense))
	for i, s := range order {
		place[s] = uint16(i)
	}
	a.next = make([]uint16, len(dense)*byteValues)
	for i, s := range order {
		for c := range byteValues {
			from := c
			if c >= 'A' && c <= 'Z' {
				from = c + 'a' - 'A'
			}
			to := place[dense[s][from]]
			if !isGraphic(byte(c)) {
				to = uint16(i)
			}
			a.next[i*byteValues+c] = to
		}
	}
	return a
}

// isGraphic reports whether a byte can be part of a word. Hard spaces, frames
// and control characters cannot.
func isGraphic(c byte) bool { return c > ' ' && c < 0x7f }

func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

// scan goes on from a state through text and returns the state at the end and
// where the first word ended, -1 for nowhere.
func (a *automaton) scan(state uint16, text []byte) (uint16, int) {
	next, first := a.next, a.first
	for i, c := range text {
		state = next[int(state)*byteValues+int(c)]
		if state >= first {
			return state, i
		}
	}
	return state, -1
}

// A hit is a word and where it begins and ends.
type hit struct {
	word, start, end int
}

// hits finds every word in text that has no white space.
func (a *automaton) hits(text []byte) []hit {
	var out []hit
	state := uint16(0)
	for i, c := range text {
		state = a.next[int(state)*byteValues+int(c)]
		if state < a.first {
			continue
		}
		for _, w := range a.ends[state-a.first] {
			out = append(out, hit{w, i + 1 - a.length[w], i + 1})
		}
	}
	return out
}
