package table

// Tree orders rows so that each stands under its parent, siblings in the order in
// which they came. Rows that have no parent among them, or are their own ancestor
// by a mistake of whoever told, stand at the top.
func Tree(rows []Row) []Row {
	type process struct {
		host string
		pid  int
	}
	at := make(map[process]int, len(rows))
	for i := range rows {
		at[process{rows[i].Host, rows[i].PID}] = i
	}
	children := make([][]int, len(rows))
	var tops []int
	for i := range rows {
		if p, ok := at[process{rows[i].Host, rows[i].Parent}]; ok && p != i {
			children[p] = append(children[p], i)
		} else {
			tops = append(tops, i)
		}
	}
	out := make([]Row, 0, len(rows))
	seen := make([]bool, len(rows))
	var walk func(i, depth int)
	walk = func(i, depth int) {
		if seen[i] {
			return
		}
		seen[i] = true
		row := rows[i]
		row.Depth = depth
		out = append(out, row)
		for _, c := range children[i] {
			walk(c, depth+1)
		}
	}
	for _, i := range tops {
		walk(i, 0)
	}
	for i := range rows {
		walk(i, 0) // what stands in a circle
	}
	return out
}
