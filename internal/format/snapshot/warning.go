package snapshot

import (
	"fmt"
	"maps"
	"slices"
)

// Codes of warnings.
const (
	NoHistory      = "no-history"       // there are no events
	HistoryBegins  = "history-begins"   // older events are missing; the state before was worked out
	CutShort       = "cut-short"        // the file ends early
	UnknownAction  = "unknown-action"   // events that this version does not know
	InferredFree   = "inferred-free"    // frees that were not recorded
	Impossible     = "impossible-event" // events that were left out
	StatesDiffer   = "states-differ"    // events and state do not agree
	LayoutGuessed  = "layout-guessed"   // some place before the first event is not certain
	HostMemoryLeft = "host-memory-left" // pinned memory of the host is not read
)

// A Warning is made here only, so that each code has one wording.
func (s *Snapshot) warn(code string, device int, format string, args ...any) {
	s.Warnings = append(s.Warnings, Warning{Code: code, Device: device, Message: fmt.Sprintf(format, args...)})
}

// warnAll tells what is about the file as a whole.
func (r *recording) warnAll(s *Snapshot) {
	events := 0
	for _, t := range r.traces {
		events += t.count
	}
	if r.truncated {
		s.warn(CutShort, -1, "the file ends early, at byte %d, after %d segments and %d events; what follows is missing", r.in.Size(), len(r.segments), events)
	}
	if events == 0 && !r.truncated {
		s.warn(NoHistory, -1, "the file has no events, only the state at its end; torch.cuda.memory._record_memory_history() turns recording on")
	}
	for _, action := range slices.Sorted(maps.Keys(r.unknown)) {
		s.warn(UnknownAction, -1, "%d events have the action %.40q, which this version does not know", r.unknown[action], action)
	}
	if r.hostMemory {
		s.warn(HostMemoryLeft, -1, "the file also records pinned host memory, which is not read")
	}
}

// warn tells what is about one device.
func (b *deviceBuilder) warn(s *Snapshot, complete bool) {
	device := int(b.device)
	if b.inherited {
		s.warn(HistoryBegins, device, "the events begin when blocks were in use already; what was in use then was worked out from the end")
	}
	if !complete {
		s.warn(CutShort, device, "of what was in use before the first event only the blocks are known that were given up before the cut")
	}
	if b.inferred > 0 {
		s.warn(InferredFree, device, "%d frees are not in the file and were put before the next allocation at their address", b.inferred)
	}
	if b.impossible > 0 {
		s.warn(Impossible, device, "%d frees of addresses that were not in use were left out", b.impossible)
	}
	if b.differences > 0 {
		s.warn(StatesDiffer, device, "%d addresses are in another state after the last event than the file gives for its end", b.differences)
	}
	if l := b.layout; l.orphans+l.clashes > 0 {
		s.warn(LayoutGuessed, device, "before the first event %d blocks lie in no known segment and %d pieces of memory overlap", l.orphans, l.clashes)
	}
}
