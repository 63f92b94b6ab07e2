package solve

import "slices"

// A union is a common supersequence of sequences: each of them is found in it,
// in order, and what several have in common is there once, as far as the longest
// common subsequence tells.
type union struct {
	order  []int    // ids in order
	tokens []string // by id
}

// merge puts a sequence into the union and returns the id of each of its tokens.
func (u *union) merge(seq []string) []int {
	matched := u.match(seq)
	ids := make([]int, len(seq))
	var order []int
	at := 0
	for i, token := range seq {
		if matched[i] < 0 {
			ids[i] = len(u.tokens)
			u.tokens = append(u.tokens, token)
			order = append(order, ids[i])
			continue
		}
		for at <= matched[i] {
			order = append(order, u.order[at])
			at++
		}
		ids[i] = u.order[matched[i]]
	}
	u.order = append(order, u.order[at:]...)
	return ids
}

// join has a token stand once that stands in two places, where the sequences of one of
// them have nothing between the two. ids are those of all sequences, and are kept right.
func (u *union) join(ids [][]int) {
	at := make([]int, len(u.tokens))
	for i, id := range u.order {
		at[id] = i
	}
	// all reports whether each sequence with an id has an end or what it should have beside it.
	all := func(id, side int, beside func(at int) bool) bool {
		for _, seq := range ids {
			if i := slices.Index(seq, id); i >= 0 && i+side >= 0 && i+side < len(seq) && !beside(at[seq[i+side]]) {
				return false
			}
		}
		return true
	}
	first := map[string]int{}
	gone := map[int]bool{}
	for _, id := range u.order {
		before, ok := first[u.tokens[id]]
		first[u.tokens[id]] = id
		from, to := id, before
		switch {
		case !ok:
			continue
		case all(id, -1, func(place int) bool { return place < at[before] }):
			first[u.tokens[id]] = before
		case all(before, 1, func(place int) bool { return place > at[id] }):
			from, to = before, id
		default:
			continue
		}
		gone[from] = true
		for _, seq := range ids {
			if i := slices.Index(seq, from); i >= 0 {
				seq[i] = to
			}
		}
	}
	u.order = slices.DeleteFunc(u.order, func(id int) bool { return gone[id] })
}

// maxTable bounds the memory of a search for what two sequences have in common, and
// maxSearch its time, to seconds.
const (
	maxTable  = 1 << 26
	maxSearch = 1 << 30
)

// match returns for each token of seq its place in the union, -1 for none.
func (u *union) match(seq []string) []int {
	matched := make([]int, len(seq))
	for i := range matched {
		matched[i] = -1
	}
	u.search(seq, u.order, 0, matched)
	return matched
}

// search writes to matched where tokens of a are among the ids b, which are those of
// the union from a place on.
func (u *union) search(a []string, b []int, place int, matched []int) {
	// What is equal at both ends needs no search.
	for len(a) > 0 && len(b) > 0 && u.tokens[b[0]] == a[0] {
		matched[0] = place
		a, b, matched, place = a[1:], b[1:], matched[1:], place+1
	}
	for len(a) > 0 && len(b) > 0 && u.tokens[b[len(b)-1]] == a[len(a)-1] {
		matched[len(a)-1] = place + len(b) - 1
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	switch cells := len(a) * len(b); {
	case cells > maxSearch: // what differs so much in so many places has little in common
	case cells > maxTable && len(a) > 1:
		half := len(a) / 2
		at := u.split(a[:half], a[half:], b)
		u.search(a[:half], b[:at], place, matched[:half])
		u.search(a[half:], b[at:], place+at, matched[half:])
	default:
		u.table(a, b, place, matched)
	}
}

// split is where b is to be cut, so that one sequence has as much in common with what
// comes before as another with the rest, together (Hirschberg 1975).
func (u *union) split(before, after []string, b []int) (at int) {
	left := inCommon(len(before), len(b), func(i, j int) bool { return before[i] == u.tokens[b[j]] })
	right := inCommon(len(after), len(b), func(i, j int) bool { return after[len(after)-1-i] == u.tokens[b[len(b)-1-j]] })
	for k := range left {
		if left[k]+right[len(b)-k] > left[at]+right[len(b)-at] {
			at = k
		}
	}
	return at
}

// inCommon is how much n tokens have in common with the first 0, 1, ... m of others.
func inCommon(n, m int, same func(i, j int) bool) []int32 {
	row := make([]int32, m+1)
	for i := range n {
		diagonal := int32(0)
		for j := range m {
			above := row[j+1]
			if row[j+1] = max(above, row[j]); same(i, j) {
				row[j+1] = diagonal + 1
			}
			diagonal = above
		}
	}
	return row
}

// table is the search by the lengths of all that two ends have in common.
func (u *union) table(a []string, b []int, place int, matched []int) {
	width := len(b) + 1
	length := make([]int32, (len(a)+1)*width)
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == u.tokens[b[j]] {
				length[i*width+j] = length[(i+1)*width+j+1] + 1
			} else {
				length[i*width+j] = max(length[(i+1)*width+j], length[i*width+j+1])
			}
		}
	}
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] == u.tokens[b[j]]:
			matched[i] = place + j
			i++
			j++
		case length[(i+1)*width+j] >= length[i*width+j+1]:
			i++
		default:
			j++
		}
	}
}
