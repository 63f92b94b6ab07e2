package samples

import (
	"time"

	"github.com/plimsoll-dev/plimsoll/series"
)

// A moment is a sample in a frame.
type moment struct {
	series.Sample
	Place int // among the samples of the frame, over all hosts
}

// A field is something of a thing that is no counter. at returns a pointer to it;
// pointers to strings are columns of text.
type field struct {
	name string
	at   func(thing any) any
}

// of makes the row of a field of T.
func of[T any](name string, at func(*T) any) field {
	return field{name, func(thing any) any { return at(thing.(*T)) }}
}

// A kind is a kind of thing that samples consist of.
type kind struct {
	name   string
	fields []field
	scope  series.Scope
	values func(thing any) *series.Values // nil for things without counters
}

// counters are the counters that the kind has.
func (k *kind) counters() []series.Info {
	if k.values == nil {
		return nil
	}
	return series.Counters(k.scope)
}

// The places in kinds.
const (
	kindSample = iota
	kindDevice
	kindProcess
	kindUse // follows its process
	kindProblem
)

// kinds are all kinds. A field that package series gains is a row here.
var kinds = [...]kind{
	kindSample: {"sample", sampleFields, series.ScopeHost, func(t any) *series.Values { return &t.(*moment).Host.Values }},
	kindDevice: {"device", deviceFields, series.ScopeDevice, func(t any) *series.Values { return &t.(*series.Device).Values }},
	kindProcess: {"process", processFields, series.ScopeProcess, func(t any) *series.Values {
		return &t.(*series.Process).Values
	}},
	kindUse: {"use", []field{
		of("device", func(u *series.Use) any { return &u.Device }),
		of("kind", func(u *series.Use) any { return &u.Kind }),
	}, series.ScopeUse, func(t any) *series.Values { return &t.(*series.Use).Values }},
	kindProblem: {"problem", []field{
		of("source", func(p *series.Problem) any { return &p.Source }),
		of("status", func(p *series.Problem) any { return &p.Status }),
		of("what", func(p *series.Problem) any { return &p.What }),
	}, 0, nil},
}

var sampleFields = []field{
	of("place", func(m *moment) any { return &m.Place }),
	of("wall", func(m *moment) any { return &m.Wall }),
	of("since", func(m *moment) any { return &m.Since }),
	of("host", func(m *moment) any { return &m.Host.Name }),
	of("driver", func(m *moment) any { return &m.Host.Driver }),
	of("cuda", func(m *moment) any { return &m.Host.CUDA }),
	of("boot_id", func(m *moment) any { return &m.Host.BootID }),
	of("unprivileged", func(m *moment) any { return &m.Host.Unprivileged }),
	of("unified_memory", func(m *moment) any { return &m.Host.UnifiedMemory }),
}

var deviceFields = []field{
	of("id", func(d *series.Device) any { return &d.ID }),
	of("index", func(d *series.Device) any { return &d.Index }),
	of("parent", func(d *series.Device) any { return &d.Parent }),
	of("name", func(d *series.Device) any { return &d.Name }),
	of("vendor", func(d *series.Device) any { return &d.Vendor }),
	of("pci", func(d *series.Device) any { return &d.PCI }),
	of("minor", func(d *series.Device) any { return &d.Minor }),
	of("mig", func(d *series.Device) any { return &d.MIG }),
	of("status", func(d *series.Device) any { return &d.Status }),
	of("problem", func(d *series.Device) any { return &d.Problem }),
	of("stale_for", func(d *series.Device) any { return &d.StaleFor }),
}

var processFields = []field{
	of("pid", func(p *series.Process) any { return &p.PID }),
	of("parent", func(p *series.Process) any { return &p.Parent }),
	of("started", func(p *series.Process) any { return &p.Started }),
	of("status", func(p *series.Process) any { return &p.Status }),
	of("user", func(p *series.Process) any { return &p.User }),
	of("name", func(p *series.Process) any { return &p.Name }),
	of("command", func(p *series.Process) any { return &p.Command }),
	of("state", func(p *series.Process) any { return &p.State }),
	of("wait", func(p *series.Process) any { return &p.Wait }),
	of("container", func(p *series.Process) any { return &p.Container }),
	of("job", func(p *series.Process) any { return &p.Job }),
	of("rank", func(p *series.Process) any { return &p.Rank }),
	of("world_size", func(p *series.Process) any { return &p.WorldSize }),
	of("visible", func(p *series.Process) any { return &p.Visible }),
}

// isText reports whether a field holds text.
func isText(at any) bool {
	switch at.(type) {
	case *string, *series.UseKind:
		return true
	}
	return false
}

// load is the number that stands for a field in a column; text gets the number
// that intern gives it.
func load(at any, intern func(string) int64) int64 {
	switch p := at.(type) {
	case *string:
		return intern(*p)
	case *series.UseKind:
		return intern(string(*p))
	case *series.Status:
		return int64(*p)
	case *int:
		return int64(*p)
	case *uint64:
		return int64(*p)
	case *bool:
		if *p {
			return 1
		}
		return 0
	case *time.Duration:
		return p.Microseconds()
	case *time.Time:
		return p.UnixMicro()
	}
	panic("a field of a type that files have no column for") // a row of kinds; any test finds it
}

// store puts what a column holds into a field; text is what stands for number v.
func store(at any, v int64, text string, statuses []series.Status) {
	switch p := at.(type) {
	case *string:
		*p = text
	case *series.UseKind:
		*p = series.UseKind(text)
	case *series.Status:
		*p = statusOf(v, statuses)
	case *int:
		*p = int(v)
	case *uint64:
		*p = uint64(v)
	case *bool:
		*p = v != 0
	case *time.Duration:
		*p = time.Duration(v) * time.Microsecond
	case *time.Time:
		*p = time.UnixMicro(v).UTC()
	}
}

// statusOf is the status that a file means with number v; one that this program
// does not know is a failure.
func statusOf(v int64, statuses []series.Status) series.Status {
	if v < 0 || v >= int64(len(statuses)) {
		return series.Failed
	}
	return statuses[v]
}
