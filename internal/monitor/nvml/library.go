//go:build cgo && linux

package nvml

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/NVIDIA/go-nvml/pkg/dl"
	"github.com/NVIDIA/go-nvml/pkg/nvml"

	"github.com/plimsoll-dev/plimsoll/internal/monitor"
	"github.com/plimsoll-dev/plimsoll/series"
)

const name = "nvml"

// places are where the library is: where the loader looks; where WSL, GKE and the
// GPU operator of Kubernetes put it.
var places = []string{
	"libnvidia-ml.so.1",
	"/usr/lib/wsl/lib/libnvidia-ml.so.1",
	"/usr/local/nvidia/lib64/libnvidia-ml.so.1",
	"/run/nvidia/driver/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1",
}

// A library is the driver's library, with the functions it has.
type library struct {
	nvml.Interface
	handle  *dl.DynamicLibrary
	symbols sync.Map // name to whether a version of it is there
	exact   sync.Map // name to whether it is there
}

// load opens the library and calls nothing.
func load() (*library, error) {
	for _, place := range places {
		h := dl.New(place, dl.RTLD_LAZY|dl.RTLD_GLOBAL)
		if h.Open() == nil {
			return &library{Interface: nvml.New(nvml.WithLibraryPath(place)), handle: h}, nil
		}
	}
	return nil, monitor.CodeNoLibrary.Unavailable(name)
}

// has says whether the library has a function. go-nvml calls the newest version of
// a name, so one of them is enough.
func (l *library) has(symbol string) bool {
	if known, ok := l.symbols.Load(symbol); ok {
		return known.(bool)
	}
	found := false
	for _, version := range []string{"", "_v2", "_v3"} {
		found = found || l.handle.Lookup(symbol+version) == nil
	}
	l.symbols.Store(symbol, found)
	return found
}

// hasExact says whether the library has one version of a function.
func (l *library) hasExact(symbol string) bool {
	if known, ok := l.exact.Load(symbol); ok {
		return known.(bool)
	}
	found := l.handle.Lookup(symbol) == nil
	l.exact.Store(symbol, found)
	return found
}

// A source is the driver of this machine.
type source struct {
	lib     *library
	now     func() time.Time
	begun   chan struct{} // closed when beginning has come back
	failure *monitor.Unavailable

	driver, cuda string
	devices      []*worker
	reads        int
	uses         map[int][]series.Use // of the last read
	sparing      bool
	stop         chan struct{}
	slow         slow
}

// Open loads the library and starts it, which takes a second or more where the
// driver must wake GPUs. If that has not come back when ctx ends, the source is
// returned as it is; its reads wait for it, and say so.
func Open(ctx context.Context, o Options) (monitor.Source, error) {
	lib, err := load()
	if err != nil {
		return nil, err
	}
	s := &source{lib: lib, now: o.Now, sparing: o.Sparing, begun: make(chan struct{}), stop: make(chan struct{})}
	if s.now == nil {
		s.now = func() time.Time { return time.Time{} }
	}
	for _, needed := range []string{"nvmlInit", "nvmlShutdown", "nvmlDeviceGetCount", "nvmlDeviceGetHandleByIndex"} {
		if !lib.has(needed) {
			return nil, monitor.CodeNoFunction.Unavailable(name)
		}
	}
	go s.begin()
	select {
	case <-s.begun:
		if s.failure != nil {
			return nil, s.failure
		}
	case <-ctx.Done():
	}
	return s, nil
}

// begin starts the library. It may never come back.
func (s *source) begin() {
	defer close(s.begun)
	if code := code(s.lib.Init()); code != monitor.CodeOK {
		s.failure = code.Unavailable(name)
		return
	}
	n, ret := s.lib.DeviceGetCount()
	if code := code(ret); code != monitor.CodeOK {
		s.failure = code.Unavailable(name)
		return
	}
	if s.lib.has("nvmlSystemGetDriverVersion") {
		s.driver, _ = s.lib.SystemGetDriverVersion()
	}
	if s.lib.has("nvmlSystemGetCudaDriverVersion") {
		if v, ret := s.lib.SystemGetCudaDriverVersion(); ret == nvml.SUCCESS {
			s.cuda = cudaVersion(v)
		}
	}
	for i := range n {
		s.devices = append(s.devices, newWorker(s, i))
	}
}

func code(r nvml.Return) monitor.DriverCode { return monitor.DriverCode(r) }

func (s *source) Name() string { return name }

// patience is how long a read waits for a GPU that does not answer; a healthy one
// answers all calls in some milliseconds.
const patience = 500 * time.Millisecond

// Read reads all GPUs at once, each by its worker.
func (s *source) Read(ctx context.Context) (monitor.Reading, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	select {
	case <-s.begun:
	case <-ctx.Done():
		return monitor.Reading{}, &monitor.Unavailable{
			Source: name, Status: series.Stuck, Msg: "the driver has not started: nvmlInit has not returned",
			Hint: "wait, or see dmesg for XID errors",
		}
	}
	if s.failure != nil {
		return monitor.Reading{}, s.failure
	}
	if s.reads++; s.reads == 2 {
		// Somebody keeps watching; what takes long is worth its while.
		s.slow.start(s)
	}
	r := monitor.Reading{Driver: s.driver, CUDA: s.cuda, Devices: make([]series.Device, 0, len(s.devices))}
	for _, w := range s.devices {
		w.ask()
	}
	same := s.uses != nil
	for i, w := range s.devices {
		answer := w.wait(ctx)
		s.slow.addTo(i, s.now(), &answer)
		answer.addTo(&r)
		same = same && len(w.told) == len(answer.uses) && (len(w.told) == 0 || &w.told[0] == &answer.uses[0])
		w.told = answer.uses
	}
	s.slow.ask(s.now())
	if !same {
		uses := make(map[int][]series.Use, len(s.uses))
		for _, w := range s.devices {
			for _, u := range w.told {
				uses[u.pid] = append(uses[u.pid], u.use)
			}
		}
		s.share(uses)
	}
	r.Uses = s.uses
	return r, nil
}

// share takes what was said of a process in the last read where this one says the
// same: samples of minutes are kept, and most say the same of most processes.
func (s *source) share(uses map[int][]series.Use) {
	for pid, u := range uses {
		if before := s.uses[pid]; slices.EqualFunc(before, u, isSame) {
			uses[pid] = before
		}
	}
	s.uses = uses
}

// Close ends the library if all its calls have come back; one that hangs would
// make it wait, too.
func (s *source) Close() error {
	close(s.stop)
	select {
	case <-s.begun:
	default:
		return nil // it never started
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.slow.wg.Wait()
		for _, w := range s.devices {
			if w.pending && len(w.done) == 0 {
				return
			}
		}
		s.lib.Shutdown() //nolint:errcheck // the process needs it no more
	}()
	select {
	case <-done:
	case <-time.After(patience):
	}
	return nil
}

// cudaVersion is 12080 as 12.8.
func cudaVersion(v int) string { return fmt.Sprintf("%d.%d", v/1000, v%1000/10) }
