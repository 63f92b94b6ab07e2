package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

// A gpu is a GPU that exists only as numbers in memory that processes share: the
// job's processes queue work on it, and the driver's stand-in, in the process of
// the bar, reads how busy it is and writes that for the fake library.
type gpu struct{ words []int64 }

// The words of a GPU.
const (
	wBusyUntil  = iota // ns: kernels run until then
	wWorkUntil         // ns: of those, the ones that compute; the rest waits for others
	wPower             // mW while kernels compute
	wSpin              // mW while they wait
	wClock             // MHz while kernels run
	wReasons           // NVML's bits while kernels run
	wMemory            // MiB that the process holds
	wReceiving         // KiB/s over PCIe now
	wSent              // KiB sent over NVLink so far
	wPID               // process on it, 0 for none
	wWidth             // PCIe lanes
	wTenant            // another process on it
	wTenantBusy        // percent
	wRound             // collectives that its process has come to
	wordsOfGPU
)

// Limits of the card that is played.
const (
	mostGPUs  = 8
	limit     = 700_000 // mW
	idlePower = 70_000
	topClock  = 1980
	totalMiB  = 81559
)

// openGPUs maps the numbers of all GPUs from the run's folder.
func openGPUs(dir string) ([]gpu, error) {
	f, err := os.OpenFile(filepath.Join(dir, "gpus"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	size := 8 * mostGPUs * wordsOfGPU
	if err := f.Truncate(int64(size)); err != nil {
		return nil, err
	}
	b, err := syscall.Mmap(int(f.Fd()), 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		return nil, err
	}
	out := make([]gpu, mostGPUs)
	words := unsafe.Slice((*int64)(unsafe.Pointer(&b[0])), mostGPUs*wordsOfGPU)
	for i := range out {
		out[i].words = words[i*wordsOfGPU : (i+1)*wordsOfGPU]
	}
	return out, nil
}

func (g gpu) get(w int) int64    { return atomic.LoadInt64(&g.words[w]) }
func (g gpu) set(w int, v int64) { atomic.StoreInt64(&g.words[w], v) }

// launch queues kernels that take d behind those that are queued.
func (g gpu) launch(d time.Duration) {
	end := max(time.Now().UnixNano(), g.get(wBusyUntil)) + int64(d)
	g.set(wWorkUntil, end)
	g.set(wBusyUntil, end)
}

// queued is how long the GPU will run without another launch.
func (g gpu) queued() time.Duration { return time.Duration(g.get(wBusyUntil) - time.Now().UnixNano()) }

// wait sleeps until no more than ahead is queued.
func (g gpu) wait(ahead time.Duration) {
	if d := g.queued() - ahead; d > 0 {
		time.Sleep(d)
	}
}

// A driver plays the GPU's driver: it averages over its refresh period and writes
// the script of the fake library.
type driver struct {
	gpus    []gpu
	n       int
	script  string
	refresh time.Duration
	smooth  bool // power is an average of one second, as on newer cards
	power   [mostGPUs]float64
}

const look = 4 * time.Millisecond

// run plays until stop is closed.
func (d *driver) run(stop <-chan struct{}) error {
	var busy, work [mostGPUs]int
	looks, began := 0, time.Now()
	for {
		select {
		case <-stop:
			return nil
		case <-time.After(look):
		}
		now := time.Now().UnixNano()
		looks++
		for i := range d.n {
			if g := d.gpus[i]; now < g.get(wBusyUntil) {
				busy[i]++
				if now < g.get(wWorkUntil) {
					work[i]++
				}
			}
		}
		if time.Since(began) < d.refresh {
			continue
		}
		if err := d.write(busy[:], work[:], looks, time.Since(began)); err != nil {
			return err
		}
		busy, work, looks, began = [mostGPUs]int{}, [mostGPUs]int{}, 0, time.Now()
	}
}

func (d *driver) write(busy, work []int, looks int, took time.Duration) error {
	var b strings.Builder
	fmt.Fprintf(&b, "driver 570.86.15\ncuda 12080\ngpus %d\n", d.n)
	for i := range d.n {
		g := d.gpus[i]
		util, share := float64(busy[i])/float64(looks), float64(work[i])/float64(looks)
		draws := share*float64(g.get(wPower)) + (util-share)*float64(g.get(wSpin)) + (1-util)*idlePower
		if d.smooth {
			k := min(1, took.Seconds())
			draws = k*draws + (1-k)*d.power[i]
		}
		d.power[i] = draws
		clock, reasons := g.get(wClock), g.get(wReasons)
		if util == 0 {
			clock, reasons = 345, 1
		}
		used := g.get(wMemory)
		if g.get(wTenant) != 0 {
			used += 6000
		}
		fmt.Fprintf(&b, "gpu %d util=%.0f power=%.1f limit=%d total=%d used=%d sm=%d smmax=%d reasons=%d rx=%d tx=0 gen=5 genmax=5 width=%d widthmax=16 nvtx=%d nvrx=%d\n",
			i, 100*util, draws/1000, limit/1000, totalMiB, used+500, clock, topClock, reasons, g.get(wReceiving), g.get(wWidth), g.get(wSent), g.get(wSent))
		own := 100 * util
		if t := g.get(wTenant); t != 0 {
			own -= float64(g.get(wTenantBusy))
			fmt.Fprintf(&b, "proc %d %d 6000 %d C\n", i, t, g.get(wTenantBusy))
		}
		if pid := g.get(wPID); pid != 0 {
			fmt.Fprintf(&b, "proc %d %d %d %.0f C\n", i, pid, g.get(wMemory), max(0, own))
		}
	}
	next := d.script + ".next"
	if err := os.WriteFile(next, []byte(b.String()), 0o600); err != nil {
		return err
	}
	return os.Rename(next, d.script)
}
