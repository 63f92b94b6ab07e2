// Package spelling says how far apart two names are, for those who mistyped
// one.
package spelling

// Distance is the number of bytes to insert, delete or replace to turn a into b
// (Levenshtein). It takes len(a)*len(b) steps: callers bound both.
func Distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}
