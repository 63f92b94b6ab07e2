package canvas

// A Rect is a part of a canvas.
type Rect struct{ X, Y, W, H int }

// Empty reports whether nothing fits in.
func (r Rect) Empty() bool { return r.W <= 0 || r.H <= 0 }

// Within is the part of r that lies in bounds.
func (r Rect) Within(bounds Rect) Rect {
	x, y := max(r.X, bounds.X), max(r.Y, bounds.Y)
	return Rect{x, y, max(min(r.X+r.W, bounds.X+bounds.W)-x, 0), max(min(r.Y+r.H, bounds.Y+bounds.H)-y, 0)}
}

// Has reports whether the point lies in r.
func (r Rect) Has(x, y int) bool { return x >= r.X && y >= r.Y && x < r.X+r.W && y < r.Y+r.H }

// Top cuts n lines off the top of r, and returns them and the rest.
func (r Rect) Top(n int) (top, rest Rect) {
	n = max(min(n, r.H), 0)
	return Rect{r.X, r.Y, r.W, n}, Rect{r.X, r.Y + n, r.W, r.H - n}
}

// Bottom cuts n lines off the bottom of r, and returns them and the rest.
func (r Rect) Bottom(n int) (bottom, rest Rect) {
	n = max(min(n, r.H), 0)
	return Rect{r.X, r.Y + r.H - n, r.W, n}, Rect{r.X, r.Y, r.W, r.H - n}
}

// Left cuts n columns off the left of r, and returns them and the rest.
func (r Rect) Left(n int) (left, rest Rect) {
	n = max(min(n, r.W), 0)
	return Rect{r.X, r.Y, n, r.H}, Rect{r.X + n, r.Y, r.W - n, r.H}
}

// Line is line i of r; empty where r has none.
func (r Rect) Line(i int) Rect {
	if i < 0 || i >= r.H {
		return Rect{r.X, r.Y, 0, 0}
	}
	return Rect{r.X, r.Y + i, r.W, 1}
}

// Centre is a rectangle of at most w by h in the middle of r.
func (r Rect) Centre(w, h int) Rect {
	w, h = min(w, r.W), min(h, r.H)
	return Rect{r.X + (r.W-w)/2, r.Y + (r.H-h)/2, w, h}
}
