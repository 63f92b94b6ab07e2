// Command view measures plimsoll view on a large snapshot against the bars: the
// first picture within 15 seconds from the start of the command, and zooms that
// answer within 50 milliseconds, in a headless Chromium.
//
// usage: view [-plimsoll BIN] [-snapshot FILE] [-bytes N]
//
// Without a snapshot it writes a synthetic one of a training run, 1 GiB unless
// -bytes says otherwise. A zoom's answer is the time from the wheel to the end
// of the painting in the page; the processor's time is what the page's thread
// took for it, which is the clock's on a machine that does nothing else.
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/plimsoll-dev/plimsoll/internal/chromium"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// The bars.
const (
	mostFirst = 15 * time.Second
	mostZoom  = 50 * time.Millisecond
)

func main() {
	plimsoll := flag.String("plimsoll", "bin/plimsoll", "the program")
	file := flag.String("snapshot", "", "the snapshot; one is made when none is named")
	size := flag.Int64("bytes", 1<<30, "bytes of the snapshot that is made")
	frames := flag.Int("frames", 30, "frames of C++ in each stack of it")
	picture := flag.String("picture", "", "write what the page shows in the end to this PNG")
	flag.Parse()
	ok, err := measure(*plimsoll, *file, *size, *frames, *picture)
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, "measure plimsoll view:", err)
		os.Exit(2)
	case !ok:
		os.Exit(1)
	}
}

func measure(plimsoll, file string, size int64, frames int, picture string) (bool, error) {
	if file == "" {
		dir, err := os.MkdirTemp("", "view-")
		if err != nil {
			return false, err
		}
		defer os.RemoveAll(dir)
		file = filepath.Join(dir, "synthetic.pickle")
		if err := makeSnapshot(file, size, frames); err != nil {
			return false, err
		}
	}
	path, err := chromium.Find(os.Getenv("PLIMSOLL_CHROMIUM"))
	if err != nil {
		return false, err
	}
	b, err := chromium.Start(context.Background(), path)
	if err != nil {
		return false, err
	}
	defer b.Close()
	if err := b.Resize(1280, 720); err != nil {
		return false, err
	}
	first, program, err := firstPicture(b, plimsoll, file)
	if err != nil {
		return false, err
	}
	defer program.stop()
	good := first <= mostFirst
	fmt.Printf("first picture    %6.1f s by the clock, the program took %.1f s of processor time and %s (bar %s)\n",
		first.Seconds(), program.processor(), program.memory(), mostFirst)
	worst, err := zooms(b)
	if err != nil {
		return false, err
	}
	if picture != "" {
		png, err := b.Picture(false)
		if err == nil {
			err = os.WriteFile(picture, png, 0o644)
		}
		if err != nil {
			return false, err
		}
	}
	return good && worst <= mostZoom, nil
}

func makeSnapshot(file string, size int64, frames int) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	events, err := writeSynthetic(f, size, frames)
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	fmt.Printf("snapshot         %s, %d events\n", unit.Bytes(size), events)
	return nil
}

// A program is a plimsoll that serves a page.
type program struct{ cmd *exec.Cmd }

func (p program) stop() {
	p.cmd.Process.Signal(os.Interrupt) //nolint:errcheck // it may have ended
	p.cmd.Wait()                       //nolint:errcheck // an interrupt is no failure here
}

// firstPicture starts the program and waits until the page has painted.
func firstPicture(b *chromium.Browser, plimsoll, file string) (time.Duration, program, error) {
	begin := time.Now()
	cmd := exec.Command(plimsoll, "view", file, "--timeout", "30m")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 0, program{}, err
	}
	if err := cmd.Start(); err != nil {
		return 0, program{}, err
	}
	p := program{cmd}
	url, err := bufio.NewReader(out).ReadString('\n')
	if err == nil {
		err = b.Open(strings.TrimSpace(url))
	}
	if err == nil {
		err = b.Until("document.documentElement.dataset.answer", 10*time.Minute)
	}
	if err != nil {
		p.stop()
	}
	return time.Since(begin), p, err
}

// processor is the processor time of the program so far, in seconds.
func (p program) processor() float64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	fields := strings.Fields(rest)
	if len(fields) < 13 {
		return 0
	}
	ticks := 0.0
	for _, f := range fields[11:13] {
		n, _ := strconv.ParseFloat(f, 64)
		ticks += n
	}
	return ticks / 100
}

// memory is the highest resident memory of the program.
func (p program) memory() unit.Bytes {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(text), "VmHWM:")
	n, _ := strconv.ParseInt(strings.Fields(rest + " 0")[0], 10, 64)
	return unit.Bytes(n) * unit.KiB
}

// zooms zooms in and out in each way to cut and prints how long the answers
// took.
func zooms(b *chromium.Browser) (worst time.Duration, err error) {
	modes, err := b.Eval("[...document.getElementById('modes').children].map((m) => m.dataset.mode).join(' ')")
	if err != nil {
		return 0, err
	}
	fmt.Printf("%-16s %8s %8s %8s   milliseconds by the clock, and of the processor\n", "zooms", "median", "90 %", "longest")
	for _, mode := range strings.Fields(modes) {
		if _, err := b.Eval("document.querySelector('#modes [data-mode=" + mode + "]').click()"); err != nil {
			return 0, err
		}
		clock, processor, err := zoomThrough(b)
		if err != nil {
			return 0, err
		}
		print := func(name string, list []time.Duration) {
			slices.Sort(list)
			ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
			fmt.Printf("%-16s %8.1f %8.1f %8.1f\n", name, ms(list[len(list)/2]), ms(list[len(list)*9/10]), ms(list[len(list)-1]))
		}
		print(mode, clock)
		print("  processor", processor)
		worst = max(worst, clock[len(clock)*9/10])
	}
	return worst, nil
}

// zoomThrough turns the wheel forty times in and out over different places.
func zoomThrough(b *chromium.Browser) (clock, processor []time.Duration, err error) {
	for i := range 40 {
		delta := -260.0
		if i%20 >= 12 {
			delta = 500
		}
		before, err := b.ThreadTime()
		if err != nil {
			return nil, nil, err
		}
		if _, err := b.Eval("delete document.documentElement.dataset.answer"); err != nil {
			return nil, nil, err
		}
		if err := b.Mouse("mouseWheel", 200+float64(i*37%600), 300, map[string]any{"deltaX": 0, "deltaY": delta}); err != nil {
			return nil, nil, err
		}
		if err := b.Until("document.documentElement.dataset.answer", time.Minute); err != nil {
			return nil, nil, err
		}
		after, err := b.ThreadTime()
		if err != nil {
			return nil, nil, err
		}
		text, err := b.Eval("document.documentElement.dataset.answer")
		if err != nil {
			return nil, nil, err
		}
		ms, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return nil, nil, err
		}
		clock = append(clock, time.Duration(ms*float64(time.Millisecond)))
		processor = append(processor, after-before)
		time.Sleep(50 * time.Millisecond) // the lists beside the picture come when the wheel rests
	}
	return clock, processor, nil
}
