// Command exporter measures what a scrape of `plimsoll exporter` costs, and checks
// it against the bar: at most 5 ms with 8 GPUs.
//
// usage: exporter PLIMSOLL
//
// It starts that program with the demo's 8 GPUs, with processes and dcgm's names, and
// asks it a thousand times over the loopback, as text and as OpenMetrics. The time of
// a scrape is its median by the clock; the processor time is the server's, samples
// included.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

const (
	scrapes = 1000
	most    = 5 * time.Millisecond
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: exporter PLIMSOLL")
		os.Exit(2)
	}
	ok, err := measure(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, "measure scrapes:", err)
		os.Exit(2)
	}
	if !ok {
		os.Exit(1)
	}
}

func measure(plimsoll string) (bool, error) {
	cmd := exec.Command(plimsoll, "exporter", "--demo", "--listen", "127.0.0.1:0", "--processes", "20", "--dcgm-names")
	said, err := cmd.StderrPipe()
	if err != nil {
		return false, err
	}
	if err := cmd.Start(); err != nil {
		return false, err
	}
	url, err := bufio.NewReader(said).ReadString('\n')
	if err != nil {
		return false, fmt.Errorf("the exporter did not start: %w", err)
	}
	url = strings.TrimSpace(strings.TrimPrefix(url, "serving "))
	time.Sleep(2 * time.Second) // the first samples
	ok := true
	for _, accept := range []string{"text/plain", "application/openmetrics-text; version=1.0.0"} {
		times, size, err := scrape(url, accept)
		if err != nil {
			return false, err
		}
		median := times[len(times)/2]
		fmt.Printf("%-45s median %v, 99 of 100 within %v, %d bytes\n", accept, median.Round(10*time.Microsecond), times[len(times)*99/100].Round(10*time.Microsecond), size)
		ok = ok && median <= most
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		return false, err
	}
	cmd.Wait() //nolint:errcheck // it ends with the status of an interrupted command
	used := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	fmt.Printf("processor time of a scrape: %v; bar: %v by the clock\n", (used / (2 * scrapes)).Round(10*time.Microsecond), most)
	return ok, nil
}

// scrape asks many times and returns the times, the shortest first.
func scrape(url, accept string) ([]time.Duration, int64, error) {
	var times []time.Duration
	var size int64
	for range scrapes {
		req, err := http.NewRequest(http.MethodGet, url, nil)
		if err != nil {
			return nil, 0, err
		}
		req.Header.Set("Accept", accept)
		req.Header.Set("Accept-Encoding", "identity")
		began := time.Now()
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return nil, 0, err
		}
		size, err = io.Copy(io.Discard, resp.Body)
		if err := errors.Join(err, resp.Body.Close()); err != nil {
			return nil, 0, err
		}
		if resp.StatusCode != http.StatusOK {
			return nil, 0, fmt.Errorf("the exporter answers %s", resp.Status)
		}
		times = append(times, time.Since(began))
	}
	slices.Sort(times)
	return times, size, nil
}
