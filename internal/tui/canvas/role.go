package canvas

// A Role is what a cell means.
type Role uint8

// The roles.
const (
	Plain  Role = iota
	Dim         // what can be skipped: units, labels
	Faint       // rests of bars, rules
	Strong      // names, and what is typed
	Brand       // the program's own name and mark
	Head        // heads of columns
	Key         // a key that can be pressed
	Good
	Warn
	Bad
	Alarm // as bad, on a ground of its own
	// Charts are drawn in three shades each, from the bottom to the top.
	Busy1
	Busy2
	Busy3
	Memory1
	Memory2
	Memory3
	Power1
	Power2
	Power3
	CPU1
	CPU2
	CPU3
	Growth // what a trend will take
	roles  // how many there are
)

// A Shade is a chart's role for its lowest third; two higher ones follow.
type Shade = Role

// at is the shade of row i of n, counted from the bottom.
func at(s Shade, i, n int) Role {
	if n <= 1 {
		return s + 1
	}
	return s + Role(min(3*i/n, 2))
}
