package snapshot

import "github.com/plimsoll-dev/plimsoll/tape"

// actions are the events that PyTorch records, by name. Other names are kept
// as tape.Other with a warning.
// Source: torch/csrc/cuda/Module.cpp (2.0 to 2.4) and torch.cuda.memory's
// documentation of _snapshot (2.15).
var actions = map[string]tape.Kind{
	"alloc":          tape.Alloc,
	"free_requested": tape.FreeRequested,
	"free_completed": tape.Free,
	"segment_alloc":  tape.SegmentAlloc,
	"segment_free":   tape.SegmentFree,
	"segment_map":    tape.SegmentMap,
	"segment_unmap":  tape.SegmentUnmap,
	"oom":            tape.OOM,
	"snapshot":       tape.Snapshot,
	"annotate":       tape.Other, // 2.15: a live block got metadata; memory does not change
}

// states are the states of blocks, by name.
var states = map[string]tape.State{
	"inactive":             tape.Inactive,
	"active_allocated":     tape.Active,
	"active_pending_free":  tape.PendingFree,
	"active_awaiting_free": tape.PendingFree, // only in the documentation
}
