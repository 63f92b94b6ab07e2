package solve

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

// maxTable bounds the memory of one search for what two sequences have in common.
const maxTable = 1 << 26

// match returns for each token of seq its place in the union, -1 for none.
func (u *union) match(seq []string) []int {
	matched := make([]int, len(seq))
	for i := range matched {
		matched[i] = -1
	}
	// What is equal at both ends needs no search.
	lo := 0
	for lo < len(seq) && lo < len(u.order) && u.tokens[u.order[lo]] == seq[lo] {
		matched[lo] = lo
		lo++
	}
	hi, end := len(seq), len(u.order)
	for hi > lo && end > lo && u.tokens[u.order[end-1]] == seq[hi-1] {
		hi--
		end--
		matched[hi] = end
	}
	a, b := seq[lo:hi], u.order[lo:end]
	if len(a)*len(b) > maxTable {
		return matched // what differs so much in so many places has little in common
	}
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
			matched[lo+i] = lo + j
			i++
			j++
		case length[(i+1)*width+j] >= length[i*width+j+1]:
			i++
		default:
			j++
		}
	}
	return matched
}
