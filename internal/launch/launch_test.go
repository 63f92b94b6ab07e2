package launch_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/plimsoll-dev/plimsoll/internal/launch"
	"github.com/plimsoll-dev/plimsoll/series"
	"github.com/plimsoll-dev/plimsoll/unit"
)

func shell(t *testing.T, script string, out *bytes.Buffer) *launch.Command {
	t.Helper()
	c, _, err := launch.Start(launch.Spec{Argv: []string{"sh", "-c", script}, Env: os.Environ(), Out: out, Err: out})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestHowCommandsEnd(t *testing.T) {
	for script, want := range map[string]launch.End{
		"exit 0":        {Code: 0},
		"exit 7":        {Code: 7},
		"kill -KILL $$": {Code: 137, Signal: "SIGKILL"},
		"kill -SEGV $$": {Code: 139, Signal: "SIGSEGV"},
	} {
		var out bytes.Buffer
		got := shell(t, script, &out).End()
		if got.Code != want.Code || got.Signal != want.Signal {
			t.Errorf("%s: %+v, want %+v", script, got, want)
		}
		if got.MaxResident != 0 {
			t.Errorf("%s: a shell had %d bytes of memory, which are this test's own", script, got.MaxResident)
		}
	}
	const kept = 300_000_000 // tail keeps what it may have to print
	var out bytes.Buffer
	if got := shell(t, fmt.Sprintf("head -c %d /dev/zero | tail -c %d | wc -c", kept, kept), &out).End(); got.MaxResident < kept {
		t.Errorf("a command had %d bytes of memory, want at least %d", got.MaxResident, kept)
	}
	for name, want := range map[string]int{"no-such-command": launch.NotFound, "/no/such/command": launch.NotFound, t.TempDir(): launch.NotExecutable} {
		if _, code, err := launch.Start(launch.Spec{Argv: []string{name}}); err == nil || code != want {
			t.Errorf("%s: %d, %v; want %d", name, code, err, want)
		}
	}
}

func TestSignalsArePassedOn(t *testing.T) {
	for signal, name := range map[unix.Signal]string{unix.SIGTERM: "TERM", unix.SIGUSR1: "USR1", unix.SIGHUP: "HUP"} {
		ready := filepath.Join(t.TempDir(), "ready")
		var out bytes.Buffer
		c := shell(t, "trap 'echo got it; exit 5' "+name+"; touch "+ready+"; while :; do sleep 0.05; done", &out)
		for range 200 {
			if _, err := os.Stat(ready); err == nil {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		if err := unix.Kill(os.Getpid(), signal); err != nil {
			t.Fatal(err)
		}
		if end := c.End(); end.Code != 5 || out.String() != "got it\n" {
			t.Errorf("%s: %+v, said %q", name, end, out.String())
		}
	}
}

func TestWhatIsLeftBehindDoesNotKeepItFromEnding(t *testing.T) {
	var out bytes.Buffer
	began := time.Now()
	end := shell(t, "sleep 30 & exit 3", &out).End()
	if took := time.Since(began); end.Code != 3 || took > 10*time.Second {
		t.Errorf("%+v after %v", end, took)
	}
}

func TestTail(t *testing.T) {
	var out bytes.Buffer
	tail := launch.NewTail(&out, 20)
	for i := range 10 {
		fmt.Fprintf(tail, "line %d\n", i)
	}
	if got, want := string(tail.Bytes()), "line 8\nline 9\n"; got != want {
		t.Errorf("kept %q, want %q", got, want)
	}
	if strings.Count(out.String(), "\n") != 10 {
		t.Errorf("passed on %q", out.String())
	}
	short := launch.NewTail(&out, 20)
	fmt.Fprint(short, "abc")
	if got := string(short.Bytes()); got != "abc" {
		t.Errorf("kept %q", got)
	}
}

func gpu(index int, free, used float64, more ...func(*series.Device)) series.Device {
	d := series.Device{ID: fmt.Sprintf("GPU-%08d-aaaa", index), Index: index, Vendor: "nvidia", Status: series.OK, PCI: fmt.Sprintf("0000:%02x:00.0", index)}
	d.Values.Set(series.MemoryFree, series.Of(free*(1<<30)))
	d.Values.Set(series.MemoryUsed, series.Of(used*(1<<30)))
	for _, f := range more {
		f(&d)
	}
	return d
}

// machine has six GPUs: 0 in use, 1 with memory of nobody, 2 lost, 3 and 5 free,
// 4 cut into an instance.
func machine() *series.Sample {
	s := &series.Sample{Devices: []series.Device{
		gpu(0, 30, 50), gpu(1, 70, 10), gpu(2, 0, 0, func(d *series.Device) { d.Status = series.Lost }), gpu(3, 78, 0.6), gpu(4, 80, 0, func(d *series.Device) { d.MIG = "on" }), gpu(5, 79, 0.1),
		gpu(0, 9, 0, func(d *series.Device) { d.ID, d.Parent, d.MIG = "MIG-1", "GPU-00000004-aaaa", "1g.10gb" }),
	}}
	s.Processes = []series.Process{{PID: 42, User: "ann", Uses: []series.Use{{Device: s.Devices[0].ID, Kind: series.Compute}}}, {PID: 43, Uses: []series.Use{{Device: s.Devices[5].ID, Kind: series.Graphics}}}}
	return s
}

func TestTake(t *testing.T) {
	for name, row := range map[string]struct {
		request string
		free    float64
		visible []string
		want    string // indices or IDs, or part of the error
	}{
		"the freest":                    {request: "auto", want: "5"},
		"several, in their order":       {request: "2", want: "3,5"},
		"more than there are":           {request: "4", want: "2 of 4 GPUs are free"},
		"each says why":                 {request: "4", want: "GPU 0 is used by PID 42 of ann"},
		"memory of nobody":              {request: "4", want: "GPU 1 has 10.0 GiB in use by processes that cannot be seen"},
		"a lost one":                    {request: "4", want: "GPU 2 is lost"},
		"one that is cut":               {request: "4", want: "GPU 4 is cut into instances"},
		"an instance beside others":     {request: "4", want: "MIG-1 is an instance"},
		"by memory, one in use, too":    {request: "4", free: 25, want: "0,1,3,5"},
		"by memory that none has":       {request: "1", free: 200, want: "no GPU is free"},
		"only visible ones":             {request: "1", visible: []string{"3", "0"}, want: "3"},
		"only visible ones, by UUID":    {request: "1", visible: []string{"GPU-00000003"}, want: "3"},
		"none of the visible ones":      {request: "1", visible: []string{"0"}, want: "GPU 3 is not in CUDA_VISIBLE_DEVICES"},
		"named":                         {request: "0,3", want: "0,3"},
		"named by UUID and PCI address": {request: "GPU-00000000,0000:03:00.0", want: "0,3"},
		"named alone":                   {request: "0,", want: "0"},
		"an instance that is named":     {request: "MIG-1", want: "MIG-1"},
		"an instance as top calls it":   {request: "4:0", want: "MIG-1"},
		"no instance of that number":    {request: "4:1", want: `there is no GPU "4:1"`},
		"an instance of a whole GPU":    {request: "0:0", want: `there is no GPU "0:0"`},
		"the beginning of several":      {request: "GPU-0000", want: "is the beginning of more than one GPU"},
		"named and lost":                {request: "2,", want: "GPU 2 is lost"},
		"named and not there":           {request: "9,", want: `there is no GPU "9"; there are GPU 0, GPU 1, GPU 2`},
		"named with too little memory":  {request: "0,", free: 60, want: "GPU 0 has 30.0 GiB free"},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := launch.ParseRequest(row.request)
			if err != nil {
				t.Fatal(err)
			}
			r.Free = unit.Bytes(row.free * (1 << 30))
			taken, err := r.Take(machine(), row.visible, launch.Locks{Dir: t.TempDir()})
			if err != nil {
				if !strings.Contains(err.Error(), row.want) {
					t.Errorf("error is %v, want %q", err, row.want)
				}
				return
			}
			env := launch.Assignment(taken.Devices)
			if got := strings.TrimPrefix(env[1], "CUDA_VISIBLE_DEVICES="); got != row.want || env[0] != "CUDA_DEVICE_ORDER=PCI_BUS_ID" {
				t.Errorf("%v, want %s", env, row.want)
			}
		})
	}
}

func TestRequests(t *testing.T) {
	for _, bad := range []string{"", "0", "-1", ",", "99999"} {
		if r, err := launch.ParseRequest(bad); err == nil {
			t.Errorf("%q is %+v", bad, r)
		}
	}
}

// TestManyAtOnce lets many take the two free GPUs at once: never more than two may
// have one, and never two the same.
func TestManyAtOnce(t *testing.T) {
	locks := launch.Locks{Dir: t.TempDir()}
	var held sync.Map
	var most, now, got atomic.Int32
	var wg sync.WaitGroup
	for range 40 {
		wg.Go(func() {
			for range 20 {
				taken, err := launch.Request{Count: 1}.Take(machine(), []string{"3", "5"}, locks)
				var few *launch.NotEnough
				if errors.As(err, &few) {
					continue
				}
				if err != nil {
					t.Error(err)
					return
				}
				got.Add(1)
				id := taken.Devices[0].ID
				if _, twice := held.LoadOrStore(id, true); twice {
					t.Errorf("%s was given twice", id)
				}
				if n := now.Add(1); n > most.Load() {
					most.Store(n)
				}
				now.Add(-1)
				held.Delete(id)
				taken.Release()
			}
		})
	}
	wg.Wait()
	if most.Load() > 2 || got.Load() < 2 {
		t.Errorf("%d at once, %d in all", most.Load(), got.Load())
	}
	// All were given back.
	if taken, err := (launch.Request{Count: 2}).Take(machine(), []string{"3", "5"}, locks); err != nil {
		t.Error(err)
	} else {
		taken.Release()
	}
}

func TestLockOfAnotherUser(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "GPU-1.lock")
	if err := os.WriteFile(name, nil, 0o444); err != nil {
		t.Fatal(err)
	}
	l, err := launch.Locks{Dir: dir}.Take("GPU-1")
	if err != nil || l == nil {
		t.Fatalf("%v, %v", l, err)
	}
	again, err := launch.Locks{Dir: dir}.Take("GPU-1")
	if err != nil || again != nil {
		t.Errorf("taken twice: %v, %v", again, err)
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "GPU-2.lock")); err != nil {
		t.Fatal(err)
	}
	if _, err := (launch.Locks{Dir: dir}).Take("GPU-2"); err == nil {
		t.Error("a link is followed")
	}
}
