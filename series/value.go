package series

// A Status says what came of reading a value.
type Status uint8

// The statuses. Only of an OK value the number means anything.
const (
	Absent       Status = iota // nobody asked, or the source does not know this counter
	OK                         // the number was read
	NotSupported               // the device or the kernel has no such counter
	NoPermission               // it is there, and this user may not read it
	Stuck                      // the driver did not answer in time
	Lost                       // the device is gone
	Failed                     // another error
)

// statuses are the words of Status.String, in its order.
var statuses = [...]string{"absent", "ok", "not-supported", "no-permission", "stuck", "lost", "failed"}

// String returns the word that JSON, recordings and metrics use.
func (s Status) String() string {
	if int(s) < len(statuses) {
		return statuses[s]
	}
	return "unknown"
}

// A Value is one number that was asked for, or the reason why there is none. The
// zero Value is Absent.
type Value struct {
	V      float64
	Status Status
}

// Of is a value that was read.
func Of(v float64) Value { return Value{V: v, Status: OK} }

// Without is a value that could not be read.
func Without(why Status) Value { return Value{Status: why} }

// Get returns the number, and whether there is one.
func (v Value) Get() (float64, bool) { return v.V, v.Status == OK }

// Values are the values of one thing, by counter. The zero Values has none.
type Values []Value

// Get returns the value of c; Absent where it was never set.
func (vs Values) Get(c Counter) Value {
	if i := c.index(); i < len(vs) {
		return vs[i]
	}
	return Value{}
}

// Set sets the value of c. All counters of one Values must have one scope.
func (vs *Values) Set(c Counter, v Value) {
	i := c.index()
	if i >= len(*vs) {
		grown := make(Values, len(Counters(c.Scope())))
		copy(grown, *vs)
		*vs = grown
	}
	(*vs)[i] = v
}
