package cli

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/plimsoll-dev/plimsoll/internal/tui/table"
	"github.com/plimsoll-dev/plimsoll/series"
)

// everything is a state in which every counter of every scope is known, or, where
// not, unknown for a reason.
func everything(known bool) topState {
	fill := func(scope series.Scope) series.Values {
		var vs series.Values
		for i, row := range series.Counters(scope) {
			if known {
				vs.Set(row.Counter, series.Of(float64(i)+0.5))
			} else {
				vs.Set(row.Counter, series.Without(series.Status(2+i%5)))
			}
		}
		return vs
	}
	sample := series.Sample{
		Wall: time.Date(2026, 11, 30, 14, 0, 0, 0, time.UTC), Host: series.Host{Name: "node", Values: fill(series.ScopeHost)},
		Devices:   []series.Device{{ID: "GPU-1", Name: "NVIDIA H100", Status: series.OK, Values: fill(series.ScopeDevice), Minor: -1}, {ID: "GPU-2", Index: 1, Status: series.Lost, Problem: "XID 79"}},
		Processes: []series.Process{{PID: 4194303, Status: series.OK, User: "ann", Command: "python \x1b[31mtrain.py", Values: fill(series.ScopeProcess), Rank: -1, Uses: []series.Use{{Device: "GPU-1", Kind: series.Compute, Values: fill(series.ScopeUse)}}}},
		Problems:  []series.Problem{{Source: "nvml", Status: series.Lost, What: "GPU 1 is lost"}},
	}
	return topState{sample: sample, labels: table.Labels(sample.Devices), rows: table.Rows(&sample, nil)}
}

func TestTopKeepsItsSchema(t *testing.T) {
	for _, known := range []bool{true, false} {
		var out bytes.Buffer
		if err := renderTopJSON(&out, everything(known), false); err != nil {
			t.Fatal(err)
		}
		checkSchema(t, "top.schema.json", out.Bytes())
		if known && strings.Count(out.String(), `"unknown"`) > 0 {
			t.Error("what is known stands among the unknown")
		}
	}
	stdio, out, _ := record()
	stdio.Now = time.Now
	ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
	defer cancel()
	if exit := Run(ctx, []string{"top", "--demo", "--watch=100ms", "--format", "json", "--tree"}, stdio); exit != ExitInterrupted {
		t.Errorf("exit %d", exit)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) < 4 {
		t.Fatalf("%d documents in 1.5 s", len(lines))
	}
	for _, line := range lines {
		checkSchema(t, "top.schema.json", []byte(line))
	}
}

// The columns of a table are the same whatever is known, and one that is not known
// is empty.
func TestTopCSV(t *testing.T) {
	for name, render := range map[string]func(*bytes.Buffer, topState) error{
		"devices":   func(b *bytes.Buffer, s topState) error { return renderTopCSV(b, s, true) },
		"processes": func(b *bytes.Buffer, s topState) error { return renderTopProcessesCSV(b, s, true) },
	} {
		var heads [2]string
		for i, known := range []bool{true, false} {
			var out bytes.Buffer
			if err := render(&out, everything(known)); err != nil {
				t.Fatal(err)
			}
			records, err := csv.NewReader(&out).ReadAll()
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			heads[i] = strings.Join(records[0], ",")
			for j, cell := range records[1] {
				if !known && strings.HasSuffix(records[0][j], "_bytes") && cell != "" {
					t.Errorf("%s: %s is not known and is %q", name, records[0][j], cell)
				}
			}
		}
		if heads[0] != heads[1] {
			t.Errorf("%s: the columns are %s or %s", name, heads[0], heads[1])
		}
	}
}

func TestTopTextIsPrintable(t *testing.T) {
	var out bytes.Buffer
	if err := renderTopText(&out, everything(true)); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(out.String(), "\x1b") {
		t.Errorf("a command's escape sequence is printed: %q", out.String())
	}
}

func TestTopSelectsGPUs(t *testing.T) {
	devices := []series.Device{
		{ID: "GPU-aabbccdd-0000", Index: 0, PCI: "00000000:18:00.0"}, {ID: "GPU-eeff0011-0000", Index: 1, PCI: "0000:29:00.0"},
		{ID: "MIG-77", Index: 0, Parent: "GPU-eeff0011-0000"}, {ID: "GPU-12345678-0000", Index: 10},
	}
	labels := table.Labels(devices)
	hosts := []topState{{sample: series.Sample{Host: series.Host{Name: "node"}, Devices: devices}, labels: labels}}
	for _, c := range []struct{ text, want string }{
		{"", "0 1 1:0 10"}, {"0", "0"}, {"1", "1 1:0"}, {"1:0", "1:0"}, {"0, 10", "0 10"}, {"gpu-eeff", "1 1:0"}, {"MIG-77", "1:0"},
		{"0000:29:00.0", "1"}, {"18:00.0", "0"}, {"GPU-12345678-0000", "10"},
		{"node/1", "1 1:0"}, {"node/1:0", "1:0"}, {"node/18:00.0", "0"},
	} {
		g := parseSelection(c.text)
		if err := g.check(hosts); err != nil {
			t.Errorf("%q: %v", c.text, err)
		}
		var got []string
		for i := range devices {
			if g.has("node", &devices[i], labels[devices[i].ID]) {
				got = append(got, labels[devices[i].ID])
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%q selects %v, want %s", c.text, got, c.want)
		}
	}
	for _, text := range []string{"2", "GPU", "GPU-zzzz", "0,11", "1:7", "other/0", "node/", "/0"} {
		if err := parseSelection(text).check(hosts); err == nil || !strings.Contains(hintOf(err), "0, 1, 1:0, 10") {
			t.Errorf("%q is taken: %v", text, err)
		}
	}
}

// What is asked of one GPU is answered by its own status, not by its neighbours'.
func TestTopExits(t *testing.T) {
	for _, c := range []struct {
		args string
		want Exit
		err  string
	}{
		{"--gpu 0", ExitOK, ""},
		{"--gpu 0,1,2", ExitOK, ""},
		{"--gpu 6", ExitOK, ""},
		{"--gpu 4", ExitNo, "GPU 4 could not be read: stuck"},
		{"--gpu 0,5", ExitNo, "GPU 5 could not be read: lost"},
		{"", ExitNo, "GPU 5 could not be read: lost"},
		{"--gpu 77", ExitFailed, `there is no GPU "77"`},
		{"--sort colour", ExitFailed, "no column is called"},
		{"--filter memory>4GB", ExitFailed, "write 4GiB"},
		{"--interval 1ms", ExitFailed, "not between"},
		{"--theme pink", ExitFailed, "not known"},
		{"--watch=soon", ExitFailed, "no interval"},
		{"5s", ExitFailed, "--watch"},
		{"--format yaml", ExitFailed, "yaml"},
	} {
		stdio, out, errOut := record()
		exit := Run(t.Context(), append([]string{"top", "--demo", "--once"}, strings.Fields(c.args)...), stdio)
		if exit != c.want || !strings.Contains(errOut.String(), c.err) || c.err == "" && errOut.Len() > 0 {
			t.Errorf("%s: exit %d, %s", c.args, exit, errOut)
		}
		if exit != ExitFailed && out.Len() == 0 {
			t.Errorf("%s: nothing was printed", c.args)
		}
	}
}

// Rates need two samples, and are taken only where they are asked for.
func TestTopOnceTakesTwoSamplesForRates(t *testing.T) {
	rates := func(args ...string) int {
		stdio, out, _ := record()
		stdio.Now = time.Now
		Run(t.Context(), append([]string{"top", "--demo", "--once", "--format", "json", "--gpu", "0"}, args...), stdio)
		var doc topDocument
		if err := json.Unmarshal(out.Bytes(), &doc); err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, p := range doc.Processes {
			n += len(p.Rates)
		}
		return n
	}
	if n := rates(); n != 0 {
		t.Errorf("one sample gives %d rates", n)
	}
	if n := rates("--sort", "cpu"); n == 0 {
		t.Error("sorting by a rate gives none")
	}
}
