package input

// Defaults of Limits. They are far above what any recording seen so far
// needs (a 1 GB snapshot holds under a million values at a time) and low
// enough that a hostile file cannot take a workstation's memory.
const (
	defaultMaxString = 16 << 20
	defaultMaxDepth  = 100
	defaultMaxValues = 4 << 20
)

// Limits bound what one input may cost, whatever it claims about itself. The
// zero value means the defaults.
type Limits struct {
	MaxString int64 // bytes in one string, 16 MiB by default
	MaxDepth  int   // containers inside containers, 100 by default
	MaxValues int   // values held at one time (strings, containers and their items), 4,194,304 by default
}

// WithDefaults returns l with each field that is not positive replaced by
// its default.
func (l Limits) WithDefaults() Limits {
	if l.MaxString <= 0 {
		l.MaxString = defaultMaxString
	}
	if l.MaxDepth <= 0 {
		l.MaxDepth = defaultMaxDepth
	}
	if l.MaxValues <= 0 {
		l.MaxValues = defaultMaxValues
	}
	return l
}
