package launch

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-dev/plimsoll/series"
)

// A Taken are GPUs that were chosen, with their locks.
type Taken struct {
	Devices []series.Device
	locks   []*Lock
}

// IDs are those of the devices; none of a nil Taken, which took none.
func (t *Taken) IDs() []string {
	if t == nil {
		return nil
	}
	ids := make([]string, len(t.Devices))
	for i := range t.Devices {
		ids[i] = t.Devices[i].ID
	}
	return ids
}

// Release gives the GPUs back.
func (t *Taken) Release() {
	for _, l := range t.locks {
		l.Release()
	}
	t.locks = nil
}

// Take chooses GPUs from a sample and locks them. Where there are not enough, the
// error says of each why, and none is kept, so that two who wait cannot block each
// other.
func (r Request) Take(s *series.Sample, visible []string, locks Locks) (*Taken, error) {
	if len(r.IDs) > 0 {
		return r.named(s, locks)
	}
	if n := whole(s.Devices); n < r.Count {
		return nil, fmt.Errorf("%d GPUs were asked for, and there are %d", r.Count, n)
	}
	var t Taken
	var why []string
	for _, c := range r.candidates(s, visible) {
		if len(t.Devices) == r.Count {
			break
		}
		reason := c.why
		if reason == "" && r.Count > 1 && c.device.Parent != "" {
			reason = "is an instance, of which CUDA takes one at a time"
		}
		if reason == "" {
			l, err := locks.Take(c.device.ID)
			if err != nil {
				t.Release()
				return nil, err
			}
			if l != nil {
				t.locks = append(t.locks, l)
				t.Devices = append(t.Devices, c.device)
				continue
			}
			reason = "is taken by another plimsoll run"
		}
		why = append(why, label(&c.device)+" "+reason)
	}
	if len(t.Devices) < r.Count {
		t.Release()
		return nil, &NotEnough{Want: r.Count, Have: len(t.Devices), Why: why}
	}
	slices.SortFunc(t.Devices, func(a, b series.Device) int { return a.Index - b.Index })
	return &t, nil
}

// whole counts the GPUs and instances that could ever be taken.
func whole(devices []series.Device) int {
	n := 0
	for i := range devices {
		if devices[i].MIG != "on" {
			n++
		}
	}
	return n
}

// named takes the GPUs that were named. They may be in use, but not by another run.
func (r Request) named(s *series.Sample, locks Locks) (*Taken, error) {
	var t Taken
	for _, id := range r.IDs {
		i, err := find(id, s.Devices)
		if err != nil {
			t.Release()
			return nil, err
		}
		var reason string
		switch {
		case s.Devices[i].Status != series.OK:
			reason = "is " + s.Devices[i].Status.String()
		default:
			d := s.Devices[i]
			if free, ok := d.Values.Get(series.MemoryFree).Get(); r.Free > 0 && (!ok || free < float64(r.Free)) {
				reason = r.unfit(&d, nil, nil)
				break
			}
			l, err := locks.Take(d.ID)
			if err != nil {
				t.Release()
				return nil, err
			}
			if l != nil {
				t.locks = append(t.locks, l)
				t.Devices = append(t.Devices, d)
				continue
			}
			reason = "is taken by another plimsoll run"
		}
		have := len(t.Devices)
		t.Release()
		return nil, &NotEnough{Want: len(r.IDs), Have: have, Why: []string{label(&s.Devices[i]) + " " + reason}}
	}
	return &t, nil
}

// find is the place of the one GPU or instance that a word names.
func find(word string, devices []series.Device) (int, error) {
	found := -1
	for i := range devices {
		d := &devices[i]
		if strings.EqualFold(word, d.ID) {
			return i, nil
		}
		if !names(word, d) && !namesInstance(word, d, devices) {
			continue
		}
		if found >= 0 {
			return 0, fmt.Errorf("%q is the beginning of more than one GPU: %s and %s", word, devices[found].ID, d.ID)
		}
		found = i
	}
	if found < 0 {
		return 0, fmt.Errorf("there is no GPU %q; there are %s", word, labels(devices))
	}
	return found, nil
}

// namesInstance reports whether a word is an instance as plimsoll top calls it: "6:1"
// is the second of GPU 6.
func namesInstance(word string, d *series.Device, devices []series.Device) bool {
	gpu, instance, ok := strings.Cut(word, ":")
	if !ok || d.Parent == "" || instance != strconv.Itoa(d.Index) {
		return false
	}
	return slices.ContainsFunc(devices, func(p series.Device) bool { return p.ID == d.Parent && gpu == strconv.Itoa(p.Index) })
}

// labels lists devices.
func labels(devices []series.Device) string {
	const most = 8 // of a usual machine
	var list []string
	for i := range devices[:min(len(devices), most)] {
		list = append(list, label(&devices[i]))
	}
	if more := len(devices) - most; more > 0 {
		list = append(list, fmt.Sprintf("%d more", more))
	}
	return strings.Join(list, ", ")
}

func label(d *series.Device) string {
	if d.Parent != "" {
		return d.ID
	}
	return fmt.Sprintf("GPU %d", d.Index)
}

// A NotEnough says that fewer GPUs are free than were asked for.
type NotEnough struct {
	Want, Have int
	Why        []string // of each GPU that is not
}

// Error lists all GPUs.
func (n *NotEnough) Error() string {
	if n.Want == 1 {
		return "no GPU is free: " + strings.Join(n.Why, "; ")
	}
	return fmt.Sprintf("%d of %d GPUs are free: %s", n.Have, n.Want, strings.Join(n.Why, "; "))
}
