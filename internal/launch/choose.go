package launch

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-dev/plimsoll/series"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// A Request says which GPUs a command is to have.
type Request struct {
	Count int      // this many free ones
	IDs   []string // or these, free or not, by index, UUID or PCI address
	// Free is how much memory must be free; 0 means that nobody may be on the GPU.
	Free unit.Bytes
}

// maxCount is more GPUs than any machine has.
const maxCount = 1024

// ParseRequest reads "auto" (one free GPU), a number of free GPUs, or a list of
// GPUs, which has a comma or is no number.
func ParseRequest(text string) (Request, error) {
	if text == "auto" {
		return Request{Count: 1}, nil
	}
	if n, err := strconv.Atoi(text); err == nil {
		if n < 1 || n > maxCount {
			return Request{}, fmt.Errorf("%d is no number of GPUs; GPU %d alone is written %d,", n, n, n)
		}
		return Request{Count: n}, nil
	}
	var r Request
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part != "" && !slices.Contains(r.IDs, part) {
			r.IDs = append(r.IDs, part)
		}
	}
	if len(r.IDs) == 0 {
		return r, errors.New("no GPU is named")
	}
	return r, nil
}

// unowned is how much memory may be used on a GPU that nobody is on: what drivers,
// displays and error correction keep.
const unowned = 1 << 30

// A candidate is a GPU that could be taken, or why it cannot.
type candidate struct {
	device series.Device
	why    string // "" for one that can
}

// candidates are the GPUs of a sample, the best to take first. Of visible, which
// may be empty for all, none but its members count, as CUDA_VISIBLE_DEVICES of
// what started us.
func (r Request) candidates(s *series.Sample, visible []string) []candidate {
	owners := map[string][]series.Process{}
	for _, p := range s.Processes {
		for _, u := range p.Uses {
			if u.Kind != series.Graphics {
				owners[u.Device] = append(owners[u.Device], p)
			}
		}
	}
	var out []candidate
	for _, d := range s.Devices {
		out = append(out, candidate{d, r.unfit(&d, owners[d.ID], visible)})
	}
	slices.SortStableFunc(out, func(a, b candidate) int {
		return cmp.Or(
			cmp.Compare(min(len(a.why), 1), min(len(b.why), 1)),
			cmp.Compare(len(owners[a.device.ID]), len(owners[b.device.ID])),
			cmp.Compare(b.device.Values.Get(series.MemoryFree).V, a.device.Values.Get(series.MemoryFree).V),
		)
	})
	return out
}

// unfit says why a GPU cannot be taken, or "".
func (r Request) unfit(d *series.Device, owners []series.Process, visible []string) string {
	free, known := d.Values.Get(series.MemoryFree).Get()
	used, usedKnown := d.Values.Get(series.MemoryUsed).Get()
	switch {
	case d.Status != series.OK:
		return "is " + d.Status.String()
	case d.MIG == "on":
		return "is cut into instances"
	case len(visible) > 0 && !slices.ContainsFunc(visible, func(v string) bool { return names(v, d) }):
		return "is not in CUDA_VISIBLE_DEVICES"
	case r.Free > 0 && !known:
		return "does not say how much memory is free"
	case r.Free > 0 && free < float64(r.Free):
		return "has " + unit.Bytes(free).String() + " free"
	case r.Free > 0:
		return ""
	case len(owners) > 0:
		p := owners[0]
		who := fmt.Sprintf("PID %d", p.PID)
		if p.User != "" {
			who += " of " + p.User
		}
		if more := len(owners) - 1; more > 0 {
			who += fmt.Sprintf(" and %d more", more)
		}
		return "is used by " + who
	case usedKnown && used > unowned:
		return "has " + unit.Bytes(used).String() + " in use by processes that cannot be seen"
	}
	return ""
}

// names reports whether a word of CUDA_VISIBLE_DEVICES, or of a user, is this GPU:
// its index, the beginning of its UUID, or its PCI address.
func names(word string, d *series.Device) bool {
	if n, err := strconv.Atoi(word); err == nil {
		return d.Parent == "" && n == d.Index
	}
	word = strings.ToLower(word)
	return len(word) > len("GPU-") && strings.HasPrefix(strings.ToLower(d.ID), word) || strings.EqualFold(word, d.PCI)
}

// Assignment is what the environment of a command says so that it has these GPUs
// and no others.
func Assignment(devices []series.Device) []string {
	words := make([]string, len(devices))
	// Programs that read the variable themselves expect numbers. Those are the
	// driver's in order of PCI addresses; of an instance there is none.
	numbers := !slices.ContainsFunc(devices, func(d series.Device) bool { return d.Parent != "" })
	for i, d := range devices {
		words[i] = d.ID
		if numbers {
			words[i] = strconv.Itoa(d.Index)
		}
	}
	list := strings.Join(words, ",")
	if len(devices) > 0 && devices[0].Vendor == "amd" {
		return []string{"HIP_VISIBLE_DEVICES=" + list}
	}
	return []string{"CUDA_DEVICE_ORDER=PCI_BUS_ID", "CUDA_VISIBLE_DEVICES=" + list}
}
