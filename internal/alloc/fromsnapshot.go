package alloc

import "github.com/plimsoll-dev/plimsoll/unit"

// FromSnapshot returns the settings that a memory snapshot holds under
// allocator_settings; nil gives the defaults. Values are strings, bools,
// int64s, float64s and maps of these.
func FromSnapshot(values map[string]any) Settings {
	var s Settings
	if n, ok := values["max_split_size"].(int64); ok && n > 0 {
		s.MaxSplit = min(unit.Bytes(n), unlimited)
	}
	s.GCThreshold, _ = values["garbage_collection_threshold"].(float64)
	s.Expandable, _ = values["expandable_segments"].(bool)
	s.ReleaseLock, _ = values["release_lock_on_cudamalloc"].(bool)
	s.PinnedHostRegister, _ = values["pinned_use_cuda_host_register"].(bool)
	s.StreamReuse, _ = values["graph_capture_record_stream_reuse"].(bool)
	if n, ok := values["pinned_num_register_threads"].(int64); ok && n > 0 && n <= maxRegisterThreads {
		s.PinnedThreads = int(n)
	}
	divisions, _ := values["roundup_power2_divisions"].(map[string]any)
	for i := range s.Divisions {
		if n, ok := divisions[divisionKeys[i]].(int64); ok && n > 0 {
			s.Divisions[i] = uint64(n)
		}
	}
	return s
}

// divisionKeys are the sizes in MiB at which the intervals of the rounding
// table begin, as a snapshot writes them.
var divisionKeys = [intervals]string{
	"1", "2", "4", "8", "16", "32", "64", "128", "256", "512", "1024", "2048", "4096", "8192", "16384", "32768",
}
