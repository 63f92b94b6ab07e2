// Package spelling says how far apart two names are, for those who mistyped
// one.
package spelling

// Distance is the number of bytes to insert, delete or replace, or to swap with
// their neighbours, to turn a into b (Damerau and Levenshtein's, no byte being
// changed twice). It takes len(a)*len(b) steps: callers bound both.
func Distance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before, last, row = last, row, before
		row[0] = i + 1
		for j := range len(b) {
			if a[i] == b[j] {
				row[j+1] = last[j]
				continue
			}
			row[j+1] = 1 + min(last[j], last[j+1], row[j])
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], 1+before[j-1])
			}
		}
	}
	return row[len(b)]
}
