package gpu

// A Source is where a number comes from.
type Source struct {
	ID    string // as the table refers to it, "gh100"
	Title string // the document, or what was read where
	Where string // its address, or "" for a document without a stable one

	// Derived marks a number that was computed from a rounded one: it is right
	// within its interval, not to the byte.
	Derived bool
}
