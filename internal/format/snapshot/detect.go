package snapshot

import "bytes"

// A container says how a file stores its data.
type container uint8

const (
	otherFile container = iota
	pickleFile
	jsonFile
)

// wrappers are files that people pass for snapshots, and what to say.
var wrappers = []struct{ prefix, reason string }{
	{"\x1f\x8b", "it is compressed by gzip; decompress it first"},
	{"\x28\xb5\x2f\xfd", "it is compressed by zstd; decompress it first"},
	{"PK\x03\x04", "it is a ZIP archive, as torch.save writes; use torch.cuda.memory._dump_snapshot"},
	{"<", "it is a web page; PyTorch's viewer needs the .pickle file, and so does this"},
}

// classify looks at the beginning of a file. For other files it gives the
// reason.
func classify(prefix []byte) (kind container, reason string) {
	text := bytes.TrimLeft(bytes.TrimPrefix(prefix, []byte("\xef\xbb\xbf")), " \t\r\n")
	switch {
	case len(prefix) == 0:
		return otherFile, `the file is empty, as PyTorch leaves it when collecting C++ stacks fails; record with stacks="python"`
	case prefix[0] == 0x80:
		return pickleFile, ""
	case len(text) > 0 && (text[0] == '{' || text[0] == '['):
		return jsonFile, ""
	}
	for _, w := range wrappers {
		if bytes.HasPrefix(prefix, []byte(w.prefix)) {
			return otherFile, w.reason
		}
	}
	return otherFile, "it is neither a pickle of protocol 2 to 5 nor JSON"
}

// signs are keys of which one stands near the beginning of every snapshot.
var signs = []string{"segments", "device_traces", "total_size", "segment_type"}

// Detect reports whether a file that begins with prefix looks like a
// snapshot. 4 KiB are enough.
func Detect(prefix []byte) bool {
	prefix = prefix[:min(len(prefix), 4<<10)]
	kind, _ := classify(prefix)
	if kind == otherFile || kind == jsonFile && !beginsJSON(prefix) {
		return false
	}
	for _, s := range signs {
		if kind == jsonFile {
			s = `"` + s + `"` // in text, such a word may stand anywhere
		}
		if bytes.Contains(prefix, []byte(s)) {
			return true
		}
	}
	return false
}

// beginsJSON reports whether what follows the first bracket can follow it in
// JSON; "[rank0]: ..." is a line of a log.
func beginsJSON(prefix []byte) bool {
	text := bytes.TrimLeft(bytes.TrimPrefix(prefix, []byte("\xef\xbb\xbf")), " \t\r\n")
	if len(text) < 2 {
		return false
	}
	rest := bytes.TrimLeft(text[1:], " \t\r\n")
	if text[0] == '{' {
		return bytes.HasPrefix(rest, []byte(`"`))
	}
	return bytes.HasPrefix(rest, []byte("{")) || bytes.HasPrefix(rest, []byte("["))
}
