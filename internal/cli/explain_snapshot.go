package cli

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"

	"github.com/plimsoll-dev/plimsoll/finding"
	"github.com/plimsoll-dev/plimsoll/internal/alloc"
	"github.com/plimsoll-dev/plimsoll/internal/explain"
	"github.com/plimsoll-dev/plimsoll/internal/format/kineto"
	"github.com/plimsoll-dev/plimsoll/internal/format/snapshot"
	"github.com/plimsoll-dev/plimsoll/internal/input"
	"github.com/plimsoll-dev/plimsoll/internal/report"
	"github.com/plimsoll-dev/plimsoll/tape"
)

// A recordingDocument is what a snapshot or a tape adds to the JSON of
// plimsoll explain.
type recordingDocument struct {
	Snapshot        any // the facts of the file
	Recording       any // what was in use, and where
	Findings        []finding.Finding
	Replay          any   // how the unchanged recording replays
	Counterfactuals []any // what other settings would have given
	Gaps            bool  // something of the file could not be read
}

// recordingKind tells the kind of a recording from its first bytes, else from
// its name; "" for what is no recording. Every pickle, and what is called one,
// is taken for a snapshot, so that one that is none is refused with a reason
// and not searched for messages.
func recordingKind(path string, prefix []byte) string {
	plain := input.Gunzipped(prefix)
	switch {
	case tape.Detect(prefix):
		return "tape"
	case kineto.Detect(prefix):
		return "trace"
	case snapshot.Detect(plain), isPickle(plain):
		return "snapshot"
	case slices.Contains([]string{".pickle", ".pkl"}, filepath.Ext(path)):
		return "snapshot"
	}
	return ""
}

// isPickle accepts the opcode that all pickles of protocol 2 and later begin
// with, and no text does.
func isPickle(prefix []byte) bool { return len(prefix) > 0 && prefix[0] == 0x80 }

// A recordingFile is a file of allocations that was read.
type recordingFile struct {
	name     string
	kind     string          // snapshot, tape, trace
	facts    *snapshot.Facts // of a snapshot
	inputs   []explain.Input // by device
	warnings []report.Warning
	places   []int // devices of the warnings, -1 for the whole file
	gaps     bool
	size     int64 // of what was read, where that is cut short
}

// ends says where a file ends that is cut short.
func (f *recordingFile) ends() string {
	if f.size == 0 {
		return "the file is cut short"
	}
	return fmt.Sprintf("the file is cut at byte %s", report.Grouped(f.size))
}

// explainSnapshot explains a memory snapshot, a tape or a profiler trace.
func explainSnapshot(ctx context.Context, _ IO, o explainOptions, path string) (*recordingDocument, *report.Report, error) {
	// Nearly all that is held are events in tables without pointers, so that
	// collecting often costs little and keeps the peak low.
	defer debug.SetGCPercent(debug.SetGCPercent(collectAt))
	f, err := readRecording(path)
	if err != nil {
		return nil, nil, err
	}
	if o.Capacity.Given {
		for i := range f.inputs {
			f.inputs[i].Capacity = o.Capacity.Bytes
		}
	}
	list, err := f.explain(ctx)
	if err != nil {
		return nil, nil, err
	}
	doc := f.document(list)
	return doc, recordingReport(f, list, o), nil
}

// collectAt is by how many percent the memory may grow before it is collected.
const collectAt = 25

// explain answers for each device.
func (f *recordingFile) explain(ctx context.Context) ([]*explain.Explanation, error) {
	var list []*explain.Explanation
	for i := range f.inputs {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		list = append(list, explain.Explain(f.inputs[i]))
	}
	return list, nil
}

// document is the JSON of a file.
func (f *recordingFile) document(list []*explain.Explanation) *recordingDocument {
	doc := &recordingDocument{Gaps: f.gaps, Replay: replayOf(list), Counterfactuals: counterfactualsOf(list)}
	if f.facts != nil {
		doc.Snapshot = f.facts
	}
	part := &recordingPart{Devices: []recordingDevice{}, Warnings: []recordingWarning{}}
	for _, e := range list {
		part.Devices = append(part.Devices, deviceOf(e))
	}
	for i, w := range f.warnings {
		part.Warnings = append(part.Warnings, recordingWarning{w.Code, f.places[i], w.Message})
	}
	doc.Recording = part
	if lead := leadOf(list); lead != nil {
		part.lead = lead
		doc.Findings = lead.Findings
		for _, e := range list {
			if e != lead && len(e.Failures) > 0 {
				doc.Findings = append(doc.Findings, e.Findings...)
			}
		}
	}
	return doc
}

// leadOf is the device that the answer is about: one where a request failed,
// else the fullest.
func leadOf(list []*explain.Explanation) *explain.Explanation {
	var lead *explain.Explanation
	for _, e := range list {
		switch {
		case lead == nil,
			len(e.Failures) > 0 && len(lead.Failures) == 0,
			(len(e.Failures) > 0) == (len(lead.Failures) > 0) && reservedOf(e) > reservedOf(lead):
			lead = e
		}
	}
	return lead
}

// readRecording reads a file of allocations of any kind.
func readRecording(path string) (*recordingFile, error) {
	file, size, err := openRecording(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	prefix := make([]byte, 4<<10)
	n, _ := file.ReadAt(prefix, 0)
	switch prefix = prefix[:n]; {
	case tape.Detect(prefix):
		return tapeRecording(file, path)
	case kineto.Detect(prefix):
		return traceRecording(file, path)
	}
	if !input.IsGzip(prefix) {
		return snapshotRecording(file, size, path)
	}
	plain, size, err := gunzip(file, size)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	defer plain.Close()
	return snapshotRecording(plain, size, path)
}

// most is how many times larger than its file a compressed snapshot may be.
// Those of PyTorch are up to 30 times.
const most = 200

// gunzip unpacks a file into a temporary one, which has no name any more: a
// snapshot is read twice.
func gunzip(file *os.File, size int64) (*os.File, int64, error) {
	z, err := gzip.NewReader(io.NewSectionReader(file, 0, size))
	if err != nil {
		return nil, 0, err
	}
	plain, err := os.CreateTemp("", "plimsoll-*.pickle")
	if err != nil {
		return nil, 0, err
	}
	os.Remove(plain.Name())
	n, err := io.Copy(plain, io.LimitReader(z, most*size))
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) || n == most*size {
		plain.Close()
		if err == nil {
			err = fmt.Errorf("it unpacks to more than %d times its size", most)
		}
		return nil, 0, err
	}
	return plain, n, nil
}

func openRecording(path string) (*os.File, int64, error) {
	f, size, err := input.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, fmt.Errorf("read %s: there is no such file", path)
	}
	if err != nil {
		return nil, 0, fmt.Errorf("read %s: %w", path, err)
	}
	return f, size, nil
}

func tapeRecording(file *os.File, path string) (*recordingFile, error) {
	t, err := tape.Read(file)
	if err != nil {
		return nil, WithHint(fmt.Errorf("read %s: %w", path, err), "plimsoll capture -o FILE.tape makes a recording")
	}
	if t.Len() == 0 && len(t.Initial) == 0 {
		return nil, errors.New(path + " holds no events")
	}
	f := &recordingFile{name: path, kind: "tape"}
	var s alloc.Settings
	if v, err := alloc.ParseVersion(t.Meta["torch"]); err == nil {
		s.Version = v
	}
	if s, err = alloc.ParseSettings(t.Meta["alloc_conf"], s.Version); err != nil {
		return nil, fmt.Errorf("read %s: settings %q of the recording: %w", path, t.Meta["alloc_conf"], err)
	}
	for _, n := range t.DeviceNumbers() {
		f.inputs = append(f.inputs, explain.Input{
			Tape: t, Device: n, Settings: s, Capacity: metaBytes(t, "capacity_bytes"), Context: metaBytes(t, "context_bytes"),
		})
	}
	return f, nil
}

func snapshotRecording(file *os.File, size int64, path string) (*recordingFile, error) {
	s, err := snapshot.Read(file, size, filepath.Base(path), input.Limits{})
	f := &recordingFile{name: path, kind: "snapshot"}
	switch {
	case err == nil:
	case errors.Is(err, input.ErrTruncated) && s != nil && len(s.Tapes) > 0:
		f.gaps, f.size = true, size
	default:
		return nil, WithHint(err, "explain reads what torch.cuda.memory._dump_snapshot writes")
	}
	if len(s.Tapes) == 0 {
		return nil, fmt.Errorf("%s: nothing was allocated on any device when it was written", path)
	}
	f.facts = &s.Facts
	for _, w := range s.Warnings {
		f.warnings = append(f.warnings, report.Warning{Code: w.Code, Message: onDevice(w)})
		f.places = append(f.places, w.Device)
	}
	settings := alloc.FromSnapshot(s.Settings)
	for i, t := range s.Tapes {
		in := explain.Input{Tape: t, Device: s.Devices[i], Final: s.Final[i], Settings: settings, Cut: s.Truncated, Old: s.Old}
		for _, a := range s.Annotations {
			if a.Device < 0 || a.Device == int(s.Devices[i]) {
				in.Ranges = append(in.Ranges, explain.Range{Name: a.Name, Begin: a.Begin, Time: a.Time})
			}
		}
		f.inputs = append(f.inputs, in)
	}
	return f, nil
}

// traceRecording reads a trace of torch.profiler.
func traceRecording(file *os.File, path string) (*recordingFile, error) {
	t, err := kineto.Read(file, filepath.Base(path), input.Limits{MaxValues: maxTraceValues})
	f := &recordingFile{name: path, kind: "trace"}
	switch {
	case err == nil:
	case errors.Is(err, input.ErrTruncated) && t != nil && len(t.Tapes) > 0:
		f.gaps = true
	default:
		return nil, err
	}
	if len(t.Tapes) == 0 {
		return nil, fmt.Errorf("%s: nothing was allocated on any device while it was recorded", path)
	}
	for _, w := range t.Warnings {
		f.warnings = append(f.warnings, report.Warning{Code: w.Code, Message: w.Message})
		f.places = append(f.places, -1)
	}
	for i, tp := range t.Tapes {
		in := explain.Input{
			Tape: tp, Device: t.Devices[i], Capacity: t.Capacity[i], ReservedPeak: t.Reserved[i], NoSegments: true, Cut: t.Truncated,
		}
		for _, r := range t.Ranges {
			in.Ranges = append(in.Ranges, explain.Range{Name: r.Name, Begin: r.Begin, Time: r.Time})
		}
		f.inputs = append(f.inputs, in)
	}
	return f, nil
}

// maxTraceValues bounds the spans and allocations of a trace, of some 60
// bytes each.
const maxTraceValues = 50_000_000

func onDevice(w snapshot.Warning) string {
	if w.Device < 0 {
		return w.Message
	}
	return fmt.Sprintf("device %d: %s", w.Device, w.Message)
}
