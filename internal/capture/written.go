package capture

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/attribute"
	"github.com/plimsoll-dev/plimsoll/internal/capture/helper"
	"github.com/plimsoll-dev/plimsoll/tape"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// Ends of a process, as the helper names them.
const (
	endSteps     = "steps"
	endScript    = "script_end"
	endExit      = "exit"
	endException = "exception"
	endOOM       = "oom"
	endTimeout   = "timeout"
	endSignal    = "signal"
	endKilled    = "killed" // ours: the process left no result
)

// A written is what the helper of one process wrote.
type written struct {
	dir    string
	result helperResult
	marks  []attribute.Mark
	labels []attribute.Label
}

// helperResult is result.json; the names are the helper's contract.
type helperResult struct {
	End       string           `json:"end"`
	ExitCode  int              `json:"exit_code"`
	Exception *helperException `json:"exception"`
	OOM       *helperOOM       `json:"oom"`
	Torch     string           `json:"torch"`
	CUDA      string           `json:"cuda"`
	Python    string           `json:"python"`
	PID       int              `json:"pid"`
	Rank      int              `json:"rank"`
	World     int              `json:"world"`
	Devices   []helperDevice   `json:"devices"`
	Steps     []helperStep     `json:"steps"`
	Optimizer string           `json:"optimizer"`
	// Parameters are described where operators are recorded: name, shape, type,
	// whether it is trained.
	Parameters []Parameter      `json:"parameters"`
	AllocConf  string           `json:"alloc_conf"` // of the environment as the script left it
	Dependent  []helperOperator `json:"data_dependent"`
	Syncs      []Operator       `json:"syncs"`
	Writes     []Write          `json:"writes"`
	Warnings   []Warning        `json:"warnings"`
	Seconds    helperSeconds    `json:"seconds"`
}

// helperOperator is an operator whose result's size depended on values.
type helperOperator struct {
	Operator
	Exact bool `json:"exact"` // the values were known
}

type helperException struct {
	Type      string `json:"type"`
	Message   string `json:"message"`
	Traceback string `json:"traceback"`
}

type helperOOM struct {
	Message string `json:"message"`
	Device  int    `json:"device"`
}

type helperDevice struct {
	Index         int                        `json:"index"`
	AllocatedPeak unit.Bytes                 `json:"allocated_peak"`
	ReservedPeak  unit.Bytes                 `json:"reserved_peak"`
	DriverPeak    unit.Bytes                 `json:"driver_peak"`
	Stats         map[string]json.RawMessage `json:"stats"`
}

// stat reads one of PyTorch's statistics, 0 when it is not there.
func (d helperDevice) stat(name string) int64 {
	n, err := strconv.ParseInt(string(d.Stats[name]), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

type helperStep struct {
	Step      int        `json:"step"`
	Device    int        `json:"device"`
	Allocated unit.Bytes `json:"allocated_peak"`
	Reserved  unit.Bytes `json:"reserved_peak"`
}

type helperSeconds struct {
	Import float64 `json:"import"`
	Run    float64 `json:"run"`
}

// readWritten reads every process's folder, in the order of rank and process
// number. A process without a result was killed; it is there with end
// "killed".
func readWritten(results string) ([]written, error) {
	dirs, err := filepath.Glob(filepath.Join(results, "p*"))
	if err != nil {
		return nil, err
	}
	var all []written
	for _, dir := range dirs {
		w, err := readProcess(dir)
		if err != nil {
			return nil, err
		}
		all = append(all, w)
	}
	slices.SortFunc(all, func(a, b written) int {
		if a.result.Rank != b.result.Rank {
			return a.result.Rank - b.result.Rank
		}
		return a.result.PID - b.result.PID
	})
	return all, nil
}

func readProcess(dir string) (written, error) {
	w := written{dir: dir}
	data, err := os.ReadFile(filepath.Join(dir, helper.Result))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		w.result.End = endKilled
		w.result.PID, _ = strconv.Atoi(strings.TrimPrefix(filepath.Base(dir), "p"))
		return w, nil
	case err != nil:
		return w, fmt.Errorf("read what the helper wrote: %w", err)
	}
	if err := json.Unmarshal(data, &w.result); err != nil {
		return w, fmt.Errorf("read what the helper wrote: %s: %w", filepath.Join(filepath.Base(dir), helper.Result), err)
	}
	if w.marks, err = readTable(filepath.Join(dir, helper.Marks), 4, parseMark); err != nil {
		return w, err
	}
	w.labels, err = readTable(filepath.Join(dir, helper.Labels), 5, parseLabel)
	return w, err
}

// maxLine bounds a line of the helper's tables, bytes.
const maxLine = 1 << 20

// readTable reads a file of tab-separated lines of at least width fields. A
// file that is not there has no lines; a last line that was cut is left out.
func readTable[T any](path string, width int, parse func([]string) (T, error)) ([]T, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read what the helper wrote: %w", err)
	}
	defer f.Close()
	var rows []T
	in := bufio.NewScanner(f)
	in.Buffer(nil, maxLine)
	for in.Scan() {
		fields := strings.Split(in.Text(), "\t")
		if len(fields) < width {
			continue
		}
		row, err := parse(fields)
		if err != nil {
			return rows, fmt.Errorf("read what the helper wrote: %s: line %d: %w", filepath.Base(path), len(rows)+1, err)
		}
		rows = append(rows, row)
	}
	if err := in.Err(); err != nil {
		return rows, fmt.Errorf("read what the helper wrote: %s: %w", filepath.Base(path), err)
	}
	return rows, nil
}

func parseMark(fields []string) (attribute.Mark, error) {
	device, count, err := place(fields)
	m := attribute.Mark{Device: device, Count: count, Kind: fields[2], Value: fields[3]}
	if len(fields) > 4 {
		m.Name = fields[4]
	}
	return m, err
}

func parseLabel(fields []string) (attribute.Label, error) {
	device, count, err := place(fields)
	if err != nil {
		return attribute.Label{}, err
	}
	category, ok := tape.ParseCategory(fields[2])
	if !ok {
		return attribute.Label{}, fmt.Errorf("category %q is not known", fields[2])
	}
	addr, err := strconv.ParseUint(strings.TrimPrefix(fields[3], "0x"), 16, 64)
	if err != nil {
		return attribute.Label{}, err
	}
	bytes, err := strconv.ParseInt(fields[4], 10, 64)
	if err != nil {
		return attribute.Label{}, err
	}
	l := attribute.Label{Device: device, Count: count, Category: category, Addr: addr, Bytes: unit.Bytes(bytes)}
	if len(fields) > 5 {
		l.Name = fields[5]
	}
	return l, nil
}

func place(fields []string) (device uint8, count int, err error) {
	d, err := strconv.ParseUint(fields[0], 10, 8)
	if err != nil {
		return 0, 0, err
	}
	count, err = strconv.Atoi(fields[1])
	return uint8(d), count, err
}

func (w written) snapshot() string { return filepath.Join(w.dir, helper.Snapshot) }

// usedGPU reports whether the process took device memory.
func (w written) usedGPU() bool {
	for _, d := range w.result.Devices {
		if d.AllocatedPeak > 0 || d.DriverPeak > 0 {
			return true
		}
	}
	return w.result.OOM != nil
}
