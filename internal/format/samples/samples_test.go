package samples

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-dev/plimsoll/internal/input"
	"github.com/plimsoll-dev/plimsoll/series"
)

// all reads what is left of a file.
func all(t *testing.T, r *Reader) []*series.Sample {
	t.Helper()
	var list []*series.Sample
	for {
		s, err := r.Next()
		if errors.Is(err, io.EOF) {
			return list
		}
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, s)
	}
}

func open(t *testing.T, data []byte) *Reader {
	t.Helper()
	r, err := NewReader(bytes.NewReader(data), int64(len(data)), "run.series")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	return r
}

// write is a file of these samples.
func write(t testing.TB, list []*series.Sample) []byte {
	t.Helper()
	var file bytes.Buffer
	w, err := NewWriter(&file)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range list {
		if err := w.Write(s); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

// near compares samples up to the resolution of files.
var near = cmp.Options{
	cmp.Comparer(func(a, b time.Duration) bool { return (a - b).Abs() < time.Microsecond }),
	valuesOf[series.Device](series.ScopeDevice), valuesOf[series.Process](series.ScopeProcess),
	valuesOf[series.Use](series.ScopeUse), valuesOf[series.Host](series.ScopeHost),
}

// valuesOf compares the values of things of type T, each to half of its step.
func valuesOf[T any](scope series.Scope) cmp.Option {
	is := func(p cmp.Path) bool {
		_, field := p.Last().(cmp.StructField)
		return field && p.Index(-2).Type() == reflect.TypeFor[T]() && p.Last().String() == ".Values"
	}
	return cmp.FilterPath(is, cmp.Comparer(func(a, b series.Values) bool {
		for _, info := range series.Counters(scope) {
			res, was, is := resolutionOf(info), a.Get(info.Counter), b.Get(info.Counter)
			if was.Status != is.Status || was.Status == series.OK && math.Abs(was.V-is.V) > 0.5001*float64(res.Num)/float64(res.Den) {
				return false
			}
		}
		return true
	}))
}

// samplesOf are n samples of some hosts in turn.
func samplesOf(n int, hosts ...*machine) []*series.Sample {
	var list []*series.Sample
	for range n {
		for _, m := range hosts {
			list = append(list, m.next(time.Second))
		}
	}
	return list
}

func TestReadsWhatWasWritten(t *testing.T) {
	list := samplesOf(700, newMachine("a", 2, 4), newMachine("b", 1, 0))
	// Processes come and go, a device is lost and says so, problems appear.
	for i, s := range list {
		if i%7 == 3 && len(s.Processes) > 0 {
			s.Processes = s.Processes[1:]
		}
		if i%100 == 50 {
			s.Devices[0].Status, s.Devices[0].Problem, s.Devices[0].StaleFor = series.Stuck, "GPU does not answer", 3*time.Second
			s.Problems = []series.Problem{{Source: "nvml", Status: series.Stuck, What: "device 0 did not answer within 1 s"}}
			s.Devices[0].Values = nil
		}
	}
	got := all(t, open(t, write(t, list)))
	if len(got) != len(list) {
		t.Fatalf("%d samples of %d", len(got), len(list))
	}
	for i := range list {
		if i > 150 && i%10 > 0 && i < 1300 {
			continue // comparing takes longer than reading
		}
		if diff := cmp.Diff(list[i], got[i], near); diff != "" {
			t.Fatalf("sample %d (-written +read)\n%s", i, diff)
		}
	}
}

// TestHostsThatChange interleaves hosts of which the later ones change first.
func TestHostsThatChange(t *testing.T) {
	a, b, c := newMachine("a", 1, 1), newMachine("b", 1, 1), newMachine("c", 1, 1)
	var list []*series.Sample
	for i := range 30 {
		for _, s := range samplesOf(1, a, b, c) {
			if s.Host.Name == "c" && i%3 == 0 || s.Host.Name == "b" && i%5 == 0 {
				s.Processes = nil
			}
			list = append(list, s)
		}
	}
	r := open(t, write(t, list))
	got := all(t, r)
	if len(got) != len(list) || len(r.Damage()) > 0 {
		t.Fatalf("%d samples of %d, damage %v", len(got), len(list), r.Damage())
	}
	for i := range list {
		if diff := cmp.Diff(list[i], got[i], near); diff != "" {
			t.Fatalf("sample %d (-written +read)\n%s", i, diff)
		}
	}
}

func TestNumbersAreWithinTheirResolution(t *testing.T) {
	for scope := series.ScopeDevice; scope <= series.ScopeHost; scope++ {
		for _, info := range series.Counters(scope) {
			if _, ok := resolutions[info.Unit]; !ok {
				t.Fatalf("unit %s has no resolution", info.Unit)
			}
			res := resolutionOf(info)
			for _, v := range []float64{0, 0.37, 1, 213.456, 85520809984, 1.755e9, 123456.789} {
				n, ok := res.steps(v)
				if got := res.value(n); !ok || math.Abs(got-v) > 0.5001*float64(res.Num)/float64(res.Den) {
					t.Errorf("%s: %v comes back as %v", info.Name, v, got)
				}
			}
		}
	}
	s := samplesOf(1, newMachine("a", 1, 0))[0]
	s.Devices[0].Values.Set(series.Power, series.Of(math.NaN()))
	s.Devices[0].Values.Set(series.Energy, series.Of(math.Inf(1)))
	s.Devices[0].Values.Set(series.Busy, series.Of(0))
	vs := all(t, open(t, write(t, []*series.Sample{s})))[0].Devices[0].Values
	if vs.Get(series.Power).Status != series.Failed || vs.Get(series.Energy).Status != series.Failed {
		t.Error("what is no number comes back as one")
	}
	if vs.Get(series.Busy) != series.Of(0) || vs.Get(series.SMActive).Status != series.Absent || vs.Get(series.Fan).Status != series.NotSupported {
		t.Errorf("zero, absent and not supported come back as %v, %v, %v", vs.Get(series.Busy), vs.Get(series.SMActive), vs.Get(series.Fan))
	}
}

// TestCutAnywhere holds what a kill may cost: all frames before the cut are read.
func TestCutAnywhere(t *testing.T) {
	data := write(t, samplesOf(30, newMachine("a", 1, 1)))
	var ends []int64 // of frames
	at := int64(len(magic))
	for r := open(t, data); ; {
		h, ok, err := r.header(at)
		if err != nil || !ok {
			break
		}
		at += headerSize + int64(h.packed)
		ends = append(ends, at)
	}
	if len(ends) != 3 || ends[2] != int64(len(data)) {
		t.Fatalf("30 s are %d frames, want 3 of %s", len(ends), KeepFor)
	}
	for cut := range data {
		r, err := NewReader(bytes.NewReader(data[:cut]), int64(cut), "cut")
		if cut < len(magic) {
			if !errors.Is(err, input.ErrTruncated) && err == nil {
				t.Fatalf("cut at %d: %v", cut, err)
			}
			continue
		}
		if err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		whole := 0
		for whole < len(ends) && ends[whole] <= int64(cut) {
			whole++
		}
		got := all(t, r)
		if len(got) != 10*whole || len(r.Damage()) > 0 {
			t.Fatalf("cut at %d: %d samples, want %d; damage %v", cut, len(got), 10*whole, r.Damage())
		}
		end, err := r.End()
		if err != nil || end+r.Cut() != int64(cut) {
			t.Fatalf("cut at %d: ends at %d, %d bytes cut, %v", cut, end, r.Cut(), err)
		}
		r.Close()
	}
}

func TestReadWhileWritten(t *testing.T) {
	var file bytes.Buffer
	w, err := NewWriter(&file)
	if err != nil {
		t.Fatal(err)
	}
	m := newMachine("a", 1, 1)
	src := &growing{&file}
	r, err := NewReader(src, int64(file.Len()), "run.series")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	seen := 0
	for i := range 1300 {
		if err := w.Write(m.next(time.Second)); err != nil {
			t.Fatal(err)
		}
		r.Grow(int64(file.Len()) - int64(i%3)) // not always a whole frame
		seen += len(all(t, r))
		if i-seen > 11 {
			t.Fatalf("%d samples written, %d readable", i, seen)
		}
	}
}

func TestGoesOnAfterAKill(t *testing.T) {
	m := newMachine("a", 1, 1)
	data := write(t, samplesOf(25, m))
	data = data[:len(data)-5] // half a frame is left of the last 5 samples
	end, err := open(t, data).End()
	if err != nil {
		t.Fatal(err)
	}
	file := bytes.NewBuffer(data[:end])
	w, err := Continue(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(m.next(time.Second)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r := open(t, file.Bytes())
	if n := len(all(t, r)); n != 21 || len(r.Damage()) > 0 || r.Cut() != 0 {
		t.Errorf("%d samples, want 21; damage %v", n, r.Damage())
	}
}

// growing reads a buffer that is written to.
type growing struct{ b *bytes.Buffer }

func (g *growing) ReadAt(p []byte, at int64) (int, error) {
	return bytes.NewReader(g.b.Bytes()).ReadAt(p, at)
}

func TestSeek(t *testing.T) {
	list := samplesOf(3000, newMachine("a", 1, 1))
	data := write(t, list)
	for _, second := range []int{0, 1, 599, 600, 601, 1234, 2998, 2999} {
		counted := &counting{r: bytes.NewReader(data)}
		r, err := NewReader(counted, int64(len(data)), "run.series")
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Seek(list[second].Wall); err != nil {
			t.Fatal(err)
		}
		s, err := r.Next()
		if err != nil || !s.Wall.Equal(list[second].Wall) {
			t.Fatalf("second %d: %v, %v", second, s, err)
		}
		if counted.n > len(data)/3 {
			t.Errorf("second %d: read %d bytes of %d", second, counted.n, len(data))
		}
		r.Close()
	}
	r := open(t, data)
	if err := r.Seek(list[2999].Wall.Add(time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Next(); !errors.Is(err, io.EOF) {
		t.Errorf("after the end: %v", err)
	}
}

type counting struct {
	r *bytes.Reader
	n int
}

func (c *counting) ReadAt(p []byte, at int64) (int, error) {
	n, err := c.r.ReadAt(p, at)
	c.n += n
	return n, err
}

func TestDamageCostsItsSegment(t *testing.T) {
	list := samplesOf(1800, newMachine("a", 1, 1))
	whole := write(t, list)
	index, err := open(t, whole).Index()
	if err != nil || len(index) < 3 {
		t.Fatalf("%d segments, %v", len(index), err)
	}
	for name, where := range map[string]int64{"content": index[1].Offset + 100, "header": index[1].Offset + 9} {
		data := bytes.Clone(whole)
		data[where] ^= 0x40
		r := open(t, data)
		got := all(t, r)
		lost := len(list) - len(got)
		if lost < 500 || lost > 700 || len(r.Damage()) != 1 {
			t.Errorf("%s: %d samples are lost, damage %v", name, lost, r.Damage())
		}
		if last := got[len(got)-1]; !last.Wall.Equal(list[len(list)-1].Wall) {
			t.Errorf("%s: the end is not read", name)
		}
	}
}

// TestOtherVersions reads a file whose writer knew other counters and fields.
func TestOtherVersions(t *testing.T) {
	data := write(t, samplesOf(1, newMachine("a", 1, 1)))
	swap := func(from, to string) {
		t.Helper()
		if len(from) != len(to) {
			t.Fatal("names must be of one length")
		}
		data = repack(t, data, func(raw []byte) []byte {
			if !bytes.Contains(raw, []byte(from)) {
				t.Fatalf("%s is not in the schema", from)
			}
			return bytes.Replace(raw, []byte(from), []byte(to), 1)
		})
	}
	swap("power_watts", "torque_nm_1")
	swap("container", "composure")
	swap("problem", "mystery")
	swap("not-supported", "not-thinkable")
	s := all(t, open(t, data))[0]
	if v := s.Devices[0].Values.Get(series.Power); v.Status != series.Absent {
		t.Errorf("a counter that the file lacks is %v", v)
	}
	if v := s.Devices[0].Values.Get(series.ClockMemory); v != series.Of(2619e6) {
		t.Errorf("a counter behind an unknown one is %v", v)
	}
	if v := s.Devices[0].Values.Get(series.Fan); v.Status != series.Failed {
		t.Errorf("a status that this program does not know is %v", v)
	}
	if p := s.Processes[0]; p.Job != "slurm:1234" || p.Rank != 0 || p.WorldSize != 1 {
		t.Errorf("fields behind an unknown one: %+v", p)
	}
}

// repack changes the content of the only frame of a file.
func repack(t testing.TB, data []byte, change func([]byte) []byte) []byte {
	t.Helper()
	r, err := NewReader(bytes.NewReader(data), int64(len(data)), "run.series")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	h, ok, err := r.header(r.at)
	if err != nil || !ok {
		t.Fatal("no frame")
	}
	r.feed.rest = data[len(magic)+headerSize:]
	if err := r.z.Reset(&r.feed); err != nil {
		t.Fatal(err)
	}
	raw, err := io.ReadAll(io.LimitReader(r.z, int64(h.raw)))
	if err != nil {
		t.Fatal(err)
	}
	return framed(t, h, change(raw))
}

// framed is a file of one frame with this content.
func framed(t testing.TB, h header, raw []byte) []byte {
	t.Helper()
	var file bytes.Buffer
	w, err := NewWriter(&file)
	if err != nil {
		t.Fatal(err)
	}
	w.begin(h.first)
	if err := w.frame(h, raw); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

func TestForeignFiles(t *testing.T) {
	for name, tc := range map[string]struct{ data, says string }{
		"empty":   {"", "ends early"},
		"begun":   {"plimsoll.ser", "ends early"},
		"text":    {"timestamp, index, power.draw [W]\n", "no recording of samples"},
		"newer":   {"plimsoll.series/2\nwhatever", "another version"},
		"pickle":  {"\x80\x04\x95aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "no recording of samples"},
		"nothing": {"plimsoll.series/1\n", ""},
		"noise":   {"plimsoll.series/1\n" + strings.Repeat("noise PLSF ", 100000), ""},
	} {
		r, err := NewReader(strings.NewReader(tc.data), int64(len(tc.data)), "file")
		if tc.says != "" {
			if err == nil || !strings.Contains(err.Error(), tc.says) {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if got := all(t, r); len(got) > 0 {
			t.Errorf("%s: %d samples", name, len(got))
		}
		if len(tc.data) > 100 && len(r.Damage()) != 1 {
			t.Errorf("%s: damage %v", name, r.Damage())
		}
	}
}

// TestClaims are contents with right checksums that claim more than they hold.
func TestClaims(t *testing.T) {
	sch := ours()
	head := sch.append(nil)
	u := func(b []byte, list ...uint64) []byte {
		b = bytes.Clone(b)
		for _, v := range list {
			b = binary.AppendUvarint(b, v)
		}
		return b
	}
	for name, raw := range map[string][]byte{
		"strings":  u(head, 1<<40),
		"string":   u(head, 1, 1<<40),
		"groups":   u(head, 0, 1<<40),
		"rows":     u(head, 0, 1, 0, 1<<40, 1, 0, 0),
		"things":   u(head, 0, 1, 0, 1, 1<<40),
		"kind":     u(head, 0, 1, 0, 1, 1, 99, 0),
		"previous": u(head, 0, 1, 0, 1, 1, 0, 7),
		"host":     u(head, 0, 1, 5),
		"empty":    u(head, 0, 1, 0, 1, 0),
		"zeros":    append(u(head, 0, 1, 0, 1024, 1<<17), make([]byte, 1<<20)...),
		"numbers":  append(u(head, 0, 1, 0, 1000, 1, 0, 0, 8), "\xff\xff\xff\xff\xff\xff\xff\xff"...),
		"kinds":    u(nil, 1<<40),
		"columns":  u(append(u(nil, 0, 1), "\x04host"...), 1<<40),
		"cut":      head[:len(head)-3],
		"nothing":  nil,
	} {
		r := open(t, framed(t, header{does: begins, first: begin, last: begin}, raw))
		if got := all(t, r); len(got) > 0 || len(r.Damage()) != 1 {
			t.Errorf("%s: %d samples, damage %v", name, len(got), r.Damage())
		}
	}
}

func TestADayIsSmall(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	const hour = 3600
	data := write(t, samplesOf(hour/3, newMachine("node1", 8, 16)))
	day := 3 * 24 * float64(len(data)) / 1e6
	t.Logf("20 minutes of 8 GPUs and 16 processes take %d bytes: %.1f MB a day", len(data), day)
	if day > 30 {
		t.Errorf("a day takes %.1f MB, the bar is 30", day)
	}
}

func FuzzReader(f *testing.F) {
	data := write(f, samplesOf(12, newMachine("a", 1, 1)))
	f.Add(data)
	f.Add(data[:len(data)/2])
	f.Add([]byte(magic))
	f.Fuzz(func(t *testing.T, data []byte) { drain(t, data) })
}

// FuzzContent changes what is inside frames, whose checksums are right.
func FuzzContent(f *testing.F) {
	repack(f, write(f, samplesOf(3, newMachine("a", 1, 1))), func(raw []byte) []byte {
		f.Add(raw)
		return raw
	})
	f.Fuzz(func(_ *testing.T, raw []byte) {
		r := &Reader{}
		if r.content(begins, raw) == nil {
			for _, p := range r.queue[:min(len(r.queue), 10)] {
				r.sample(&r.groups[p.group], p.row)
			}
		}
	})
}

func drain(t *testing.T, data []byte) {
	t.Helper()
	r, err := NewReader(bytes.NewReader(data), int64(len(data)), "fuzz")
	if err != nil {
		return
	}
	defer r.Close()
	for range 1000 {
		if _, err := r.Next(); err != nil {
			break
		}
	}
	if _, err := r.Index(); err != nil {
		t.Fatal(err)
	}
}

func BenchmarkWrite(b *testing.B) {
	list := samplesOf(600, newMachine("node1", 8, 16))
	w, err := NewWriter(io.Discard)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for i := range b.N {
		if err := w.Write(list[i%len(list)]); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRead(b *testing.B) {
	data := write(b, samplesOf(1200, newMachine("node1", 8, 16)))
	b.ReportAllocs()
	b.ResetTimer()
	for n := 0; n < b.N; {
		r, err := NewReader(bytes.NewReader(data), int64(len(data)), "run.series")
		if err != nil {
			b.Fatal(err)
		}
		for n < b.N {
			if _, err := r.Next(); err != nil {
				break
			}
			n++
		}
		r.Close()
	}
}

func TestHeaderIsChecked(t *testing.T) {
	h := header{does: begins, packed: 3, raw: 9, first: begin, last: begin.Add(time.Second), sum: crc32.ChecksumIEEE(nil)}
	b := h.append(nil)
	if got, ok := readHeader(b); !ok || got != h {
		t.Errorf("%+v comes back as %+v, %v", h, got, ok)
	}
	for i := range b {
		b[i] ^= 1
		if _, ok := readHeader(b); ok {
			t.Errorf("a header with byte %d changed is taken", i)
		}
		b[i] ^= 1
	}
}

// TestManyProcesses writes 10,000 processes with long commands, some of which are
// others in the next sample.
func TestManyProcesses(t *testing.T) {
	m := newMachine("a", 1, 10_000)
	for i := range m.s.Processes {
		m.s.Processes[i].Command = strings.Repeat("--flag=value ", 100) + m.s.Processes[i].Command
	}
	one, two := m.next(time.Second), m.next(time.Second)
	two.Processes = two.Processes[500:]
	two.Processes[0].Started++ // its PID was given again
	data := write(t, []*series.Sample{one, two})
	r := open(t, data)
	got := all(t, r)
	if len(got) != 2 || len(r.Damage()) > 0 || len(got[0].Processes) != 10_000 || len(got[1].Processes) != 9_500 {
		t.Fatalf("%d samples, damage %v", len(got), r.Damage())
	}
	if a, b := got[1].Processes[9_499], two.Processes[9_499]; a.PID != b.PID || a.Command != b.Command || a.Values.Get(series.Resident) != b.Values.Get(series.Resident) {
		t.Errorf("the last process is %+v, was %+v", a, b)
	}
	if len(data) > 1<<20 {
		t.Errorf("two samples take %d bytes", len(data))
	}
}
