package samples

import (
	"encoding/binary"
	"math"

	"github.com/plimsoll-dev/plimsoll/series"
)

// A resolution is the step that numbers of a unit are rounded to: Num / Den.
type resolution struct{ Num, Den uint64 }

// resolutions are the steps by unit. Each is finer than what is known: NVML
// counts whole percents and MHz, its power is right to some watts, its PCIe rates
// are of windows of 20 ms, in which 100 kB/s are half a page; the kernel counts
// processor time in hundredths of a second.
var resolutions = map[series.Unit]resolution{
	series.Bytes:   {1, 1},
	series.Ratio:   {1, 10_000},
	series.Watts:   {1, 10},
	series.Joules:  {1, 10},
	series.Celsius: {1, 10},
	series.Hertz:   {100_000, 1},
	series.Seconds: {1, 1000},
	series.Count:   {1, 100},
	series.Mask:    {1, 1},
	series.Rate:    {100_000, 1},
}

// ofTraffic is the step of bytes that were read, written or sent so far: a line of a
// log is longer.
var ofTraffic = resolution{64, 1}

func resolutionOf(info series.Info) resolution {
	if info.Unit == series.Bytes && info.Kind == series.Total {
		return ofTraffic
	}
	return resolutions[info.Unit]
}

// mostSteps keeps differences of two numbers of steps within 64 bits.
const mostSteps = 1 << 61

// steps is v in steps of r, and whether it can be told in them.
func (r resolution) steps(v float64) (int64, bool) {
	n := math.Round(v * float64(r.Den) / float64(r.Num))
	if !(math.Abs(n) <= mostSteps) { // NaN is neither
		return 0, false
	}
	return int64(n), true
}

// value is n steps of r.
func (r resolution) value(n int64) float64 {
	return float64(n) * float64(r.Num) / float64(r.Den)
}

// A column says what a column of a thing is in this program.
type column struct {
	field   int  // place in kind.fields, -1 where it is none that this program knows
	text    bool // the numbers stand for strings
	counter series.Counter
	known   bool // counter is set
	res     resolution
}

// A layout is what the columns of one kind are, in a file.
type layout struct {
	kind   int // place in kinds, -1 for one that this program does not know
	fields []column
	values []column

	numbers  []*model // of each column
	statuses []*model // of each of values
}

func (l *layout) width() int { return len(l.fields) + len(l.values) }

// forget begins anew with what is known of the columns.
func (l *layout) forget() {
	l.numbers, l.statuses = make([]*model, l.width()), make([]*model, len(l.values))
	for i := range l.numbers {
		l.numbers[i] = newModel()
	}
	for i := range l.statuses {
		l.statuses[i] = newModel()
	}
}

// A schema is what a segment says of the columns that follow.
type schema struct {
	statuses []series.Status
	kinds    []layout
}

// ours is the schema that this program writes.
func ours() schema {
	var s schema
	for st := series.Absent; st <= series.Failed; st++ {
		s.statuses = append(s.statuses, st)
	}
	for i := range kinds {
		l := layout{kind: i}
		for j, f := range kinds[i].fields {
			l.fields = append(l.fields, column{field: j, text: isText(f.at(newThing(i)))})
		}
		for _, info := range kinds[i].counters() {
			l.values = append(l.values, column{field: -1, counter: info.Counter, known: true, res: resolutionOf(info)})
		}
		s.kinds = append(s.kinds, l)
	}
	return s
}

// newThing is an empty thing of a kind.
func newThing(kind int) any {
	switch kind {
	case kindSample:
		return &moment{}
	case kindDevice:
		return &series.Device{}
	case kindProcess:
		return &series.Process{}
	case kindUse:
		return &series.Use{}
	default:
		return &series.Problem{}
	}
}

// append writes the schema by names.
func (s *schema) append(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(len(s.statuses)))
	for _, st := range s.statuses {
		b = appendString(b, st.String())
	}
	b = binary.AppendUvarint(b, uint64(len(s.kinds)))
	for i := range s.kinds {
		l := &s.kinds[i]
		b = appendString(b, kinds[l.kind].name)
		b = binary.AppendUvarint(b, uint64(len(l.fields)))
		for _, c := range l.fields {
			b = appendString(b, kinds[l.kind].fields[c.field].name)
			b = append(b, textByte(c.text))
		}
		b = binary.AppendUvarint(b, uint64(len(l.values)))
		for _, c := range l.values {
			b = appendString(b, c.counter.Info().Name)
			b = binary.AppendUvarint(b, c.res.Num)
			b = binary.AppendUvarint(b, c.res.Den)
		}
	}
	return b
}

func textByte(text bool) byte {
	if text {
		return 1
	}
	return 0
}

func appendString(b []byte, s string) []byte {
	b = binary.AppendUvarint(b, uint64(len(s)))
	return append(b, s...)
}

// Limits of a schema: many times what this program writes.
const (
	mostKinds   = 16
	mostColumns = 512
	mostName    = 256
)

// readSchema reads what append wrote, in this program or another version of it.
func readSchema(d *decoder) schema {
	var s schema
	for range d.count(mostKinds, "statuses") {
		s.statuses = append(s.statuses, statusNamed(d.string(mostName)))
	}
	for range d.count(mostKinds, "kinds of things") {
		l := layout{kind: kindNamed(d.string(mostName))}
		for range d.count(mostColumns, "fields") {
			name, text := d.string(mostName), d.byte() != 0
			l.fields = append(l.fields, l.field(name, text))
		}
		for range d.count(mostColumns, "counters") {
			c := column{field: -1}
			name := d.string(mostName)
			c.res = resolution{d.uvarint(), d.uvarint()}
			if c.res.Num == 0 || c.res.Den == 0 {
				d.fail("counter %q has a resolution of %d/%d", name, c.res.Num, c.res.Den)
			}
			if l.kind >= 0 && kinds[l.kind].values != nil {
				c.counter, c.known = series.Find(kinds[l.kind].scope, name)
			}
			l.values = append(l.values, c)
		}
		if l.width() == 0 {
			d.fail("a kind of things has no columns")
		}
		l.forget()
		s.kinds = append(s.kinds, l)
	}
	return s
}

// field is the column of a field with this name; one that holds text where this
// program has numbers is another field.
func (l *layout) field(name string, text bool) column {
	c := column{field: -1, text: text}
	if l.kind < 0 {
		return c
	}
	for i, f := range kinds[l.kind].fields {
		if f.name == name && isText(f.at(newThing(l.kind))) == text {
			c.field = i
		}
	}
	return c
}

func kindNamed(name string) int {
	for i := range kinds {
		if kinds[i].name == name {
			return i
		}
	}
	return -1
}

// statusNamed is the status that a word means; a word that this program does not
// know is a failure.
func statusNamed(word string) series.Status {
	for st := series.Absent; st < series.Failed; st++ {
		if st.String() == word {
			return st
		}
	}
	return series.Failed
}
