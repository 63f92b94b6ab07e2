package snapshot

// Numbers of the strings that a snapshot is made of. They are interned in
// this order before a pickle is read, so that a key is known by its number.
const (
	keySegments uint32 = iota
	keyDeviceTraces
	keySettings
	keyAnnotations
	// Of segments.
	keyDevice
	keyAddress
	keyTotalSize
	keyStream
	keySegmentType
	keyPoolID
	keyExpandable
	keyFrames
	keyBlocks
	// Of blocks.
	keySize
	keyRequestedSize
	keyState
	keyHistory
	keyRealSize
	// Of events.
	keyAction
	keyAddr
	keyDeviceFree
	keyTime
	keyCompileContext
	keyUserMetadata
	keyEventPool
	// Of frames.
	keyName
	keyFilename
	keyLine
	// Of annotations.
	keyStage
)

// keys are the strings in the order of their numbers.
var keys = []string{
	"segments", "device_traces", "allocator_settings", "external_annotations",
	"device", "address", "total_size", "stream", "segment_type", "segment_pool_id", "is_expandable", "frames", "blocks",
	"size", "requested_size", "state", "history", "real_size",
	"action", "addr", "device_free", "time_us", "compile_context", "user_metadata", "pool_id",
	"name", "filename", "line",
	"stage",
}
