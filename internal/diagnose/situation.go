package diagnose

import (
	"cmp"
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/format/oomlog"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// tie is the difference below which printed sizes decide nothing.
const tie = 64 * unit.MiB

// Derived are numbers that follow from the fields of a message, by name:
// bytes, or the truth of a comparison.
type Derived map[string]any

// A situation is a message and what follows from it by arithmetic.
type situation struct {
	m       *oomlog.Message
	log     *oomlog.Log
	derived Derived
	signs   map[string]string // signs in the lines around, and the line

	request, total, free, allocated, allowed unit.Bytes
	reserved                                 unit.Bytes // held by PyTorch's allocator
	unused                                   unit.Bytes // of it, not allocated
	outside                                  unit.Bytes // in use, and not held by PyTorch's allocator
	beside                                   unit.Bytes // of it, of this very process; only if knowsBeside
	others                                   unit.Bytes // of the other processes in the list
	elsewhere                                unit.Bytes // of nobody that the message names

	sized       bool // total, free and what is reserved are known
	tensors     bool // what is allocated is known
	knowsBeside bool
}

func newSituation(m *oomlog.Message, log *oomlog.Log) *situation {
	s := &situation{m: m, log: log, derived: Derived{}, signs: signsAround(m)}
	s.request, _ = m.Get("requested_bytes")
	s.total, _ = m.Get("total_bytes")
	s.free, _ = m.Get("free_bytes")
	s.allocated, s.tensors = m.Get("allocated_bytes")
	s.allowed, _ = m.Get("allowed_bytes")
	if strings.HasPrefix(m.Kind.Name, "torch_") {
		s.derive()
	}
	return s
}

// derive computes what the fields of a message of PyTorch say together.
func (s *situation) derive() {
	m := s.m
	reserved, ok := m.Reserved()
	if _, there := m.Get("requested_bytes"); !ok || !there || s.total == 0 {
		s.derivePart()
		return
	}
	s.reserved = reserved
	s.unused = reserved - s.allocated
	s.put("reserved_bytes", s.reserved)
	s.put("reserved_unallocated_bytes", s.unused)
	s.derived["request_exceeds_device"] = s.request > s.total
	s.derived["allocated_exceeds_device"] = s.allocated > s.total
	if _, there := m.Get("free_bytes"); !there {
		return
	}
	s.sized = true
	s.outside = s.total - s.free - s.reserved
	s.put("outside_allocator_bytes", s.outside)
	s.put("free_minus_request_bytes", s.free-s.request)
	s.put("spare_if_defragmented_bytes", s.free+s.unused-s.request)
	s.deriveProcesses()
}

// derivePart is for the backend that counts no reserved memory of its own, and
// for messages that are cut before they tell what is reserved: there nothing
// is known of who holds what is in use.
func (s *situation) derivePart() {
	_, there := s.m.Get("free_bytes")
	if !there || s.total == 0 || s.request == 0 {
		return
	}
	if s.m.Kind.Name != "torch_async" {
		s.put("free_minus_request_bytes", s.free-s.request)
		s.derived["request_exceeds_device"] = s.request > s.total
		return
	}
	s.sized, s.reserved = true, s.allocated
	s.outside = s.total - s.free - s.allocated
	s.put("outside_allocator_bytes", s.outside)
	s.put("free_minus_request_bytes", s.free-s.request)
	s.derived["request_exceeds_device"] = s.request > s.total
	s.derived["allocated_exceeds_device"] = s.allocated > s.total
}

// deriveProcesses splits what is outside of the allocator by processes.
func (s *situation) deriveProcesses() {
	own, named := s.m.Get("this_process_bytes")
	for _, p := range s.m.Processes {
		if p.PID == s.m.SelfPID {
			own, named = p.Bytes, true
		} else {
			s.others += p.Bytes
		}
	}
	if named {
		s.beside, s.knowsBeside = own-s.reserved, true
		s.put("non_torch_in_process_bytes", s.beside)
	}
	if len(s.m.Processes) > 0 {
		s.put("other_processes_bytes", s.others)
	}
	s.elsewhere = s.outside - s.others - s.beside
}

// put stores a number unless the message has it itself.
func (s *situation) put(name string, b unit.Bytes) {
	if _, there := s.m.Fields[name]; !there {
		s.derived[name] = b
	}
}

// shortage is how much more the device would have to have free.
func (s *situation) shortage() unit.Bytes { return s.request - s.free }

// spare is what would be left if the unused memory were in one piece.
func (s *situation) spare() unit.Bytes { return s.free + s.unused - s.request }

// share is a part of the device's memory.
func (s *situation) share(b unit.Bytes) float64 {
	if s.total <= 0 {
		return 0
	}
	return float64(b) / float64(s.total)
}

// usualContext is what a context and the workspaces of libraries take when the
// message does not say: between 0.3 and 1 GiB on most cards.
const usualContext = 768 * unit.MiB

// foreign is what other processes hold: by their list, else what is in use
// beyond this process and its context.
func (s *situation) foreign() unit.Bytes {
	if s.knowsBeside {
		return s.others + max(s.elsewhere, 0)
	}
	return max(s.outside-usualContext, s.others)
}

// A Balance is what the memory of a card is made of. The parts add up to the
// total.
type Balance struct {
	Total unit.Bytes
	Parts []Part
}

// A Part is one holder of memory.
type Part struct {
	Name  string // "live tensors"
	Key   string // for colours, as in captures
	Bytes unit.Bytes
}

// balance says who holds what, nil when the message does not.
func (s *situation) balance() *Balance {
	if !s.sized || s.contradicts() {
		return nil
	}
	b := &Balance{Total: s.total}
	slack := unit.Bytes(0) // what rounding made negative, taken from what is free or live
	add := func(name, key string, n unit.Bytes) {
		if n < 0 && n > -tie {
			slack += n
			return
		}
		if n != 0 {
			b.Parts = append(b.Parts, Part{name, key, n})
		}
	}
	add("live tensors", "activation", s.allocated)
	add("held unused by PyTorch", "cached", s.unused)
	if s.knowsBeside {
		add("this process beside PyTorch", "context", s.beside)
	}
	for _, p := range s.m.Processes {
		if p.PID != s.m.SelfPID {
			add("process "+number(p.PID), "outside", p.Bytes)
		}
	}
	switch {
	case s.knowsBeside:
		add("not named", "unknown", s.elsewhere)
	default:
		add("contexts, libraries and other processes", "outside", s.outside-s.others)
	}
	add("free", "", s.free)
	if slices.ContainsFunc(b.Parts, func(p Part) bool { return p.Bytes < 0 }) {
		return nil // what is named is more than there is, as where the driver moved part of it to the host
	}
	if slack < 0 && len(b.Parts) > 0 {
		largest := slices.MaxFunc(b.Parts, func(a, b Part) int { return cmp.Compare(a.Bytes, b.Bytes) })
		for i := range b.Parts {
			if b.Parts[i] == largest {
				b.Parts[i].Bytes += slack
				break
			}
		}
	}
	return b
}

// contradicts reports that the numbers cannot all be true.
func (s *situation) contradicts() bool {
	return s.sized && (s.unused < -tie || s.free-s.total > tie)
}
