package oomlog

// An automaton finds many words in one pass over text of any length, white
// space and the case of letters apart (Aho and Corasick's machine with all
// transitions laid out). The words are in lower case without white space.
type automaton struct {
	// A state is where its part of next begins: classes times its number.
	next   []uint32          // by state, then by class
	class  [byteValues]uint8 // of bytes that no word tells apart
	first  uint32            // states from here on end a word
	ends   [][]int           // words that end in a state, by number of the state after first
	length []int             // of the words
}

const (
	byteValues = 256
	classes    = 64 // as many as there may be, a power of two
	skipped    = 0  // class of bytes that are passed over
	other      = 1  // of bytes that are in no word
)

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
	a := &automaton{first: uint32(len(order) * classes), length: length}
	for s := range dense {
		if len(ends[s]) > 0 {
			order = append(order, s)
			a.ends = append(a.ends, ends[s])
		}
	}
	place := make([]uint32, len(dense))
	for i, s := range order {
		place[s] = uint32(i * classes)
	}
	a.next = make([]uint32, len(dense)*classes)
	bytes := a.classify(dense)
	for i, s := range order {
		a.next[i*classes+skipped] = uint32(i * classes)
		for class, c := range bytes {
			if class != skipped {
				a.next[i*classes+class] = place[dense[s][c]]
			}
		}
	}
	return a
}

// classify gives each byte of the words a class, the same for both cases, and
// returns one byte of each class.
func (a *automaton) classify(dense [][byteValues]int) []byte {
	bytes := []byte{skipped: ' ', other: 0}
	var used [byteValues]bool
	for s := range dense {
		for c, to := range &dense[s] {
			used[c] = used[c] || to != 0
		}
	}
	for c := range byteValues {
		switch {
		case !isGraphic(byte(c)):
			a.class[c] = skipped
		case !used[c]:
			a.class[c] = other
		case len(bytes) == classes:
			panic("oomlog: the words have more different characters than there are classes") // found by any test
		default:
			a.class[c] = uint8(len(bytes))
			bytes = append(bytes, byte(c))
		}
	}
	for c := byte('A'); c <= 'Z'; c++ {
		a.class[c] = a.class[c+'a'-'A']
	}
	return bytes
}

// isGraphic reports whether a byte can be part of a word. Hard spaces, frames
// and control characters cannot.
func isGraphic(c byte) bool { return c > ' ' && c < 0x7f }

func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

// scan goes on from a state through text and returns the state at the end and
// where the first word ended, -1 for nowhere.
func (a *automaton) scan(state uint32, text []byte) (uint32, int) {
	next, first := a.next, a.first
	for i, c := range text {
		state = next[state+uint32(a.class[c])]
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
	state := uint32(0)
	for i, c := range text {
		state = a.next[state+uint32(a.class[c])]
		if state < a.first {
			continue
		}
		for _, w := range a.ends[(state-a.first)/classes] {
			out = append(out, hit{w, i + 1 - a.length[w], i + 1})
		}
	}
	return out
}
