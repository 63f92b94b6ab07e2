package cli

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// fakeSSH puts an ssh on the PATH that runs the shell here, and an nvidia-smi that
// shows one GPU; the host "down" refuses.
func fakeSSH(t *testing.T) {
	t.Helper()
	bin := t.TempDir()
	for name, text := range map[string]string{
		"ssh": `while [ "$1" != "--" ]; do shift; done
[ "$2" = down ] && { echo "ssh: connect to host down port 22: Connection refused" >&2; exit 255; }
[ "$2" = hangs ] && exec sleep 30
SEEN=$2 exec sh
`,
		"nvidia-smi": `cat <<EOF
<nvidia_smi_log><driver_version>570.86.15</driver_version><gpu id="00000000:18:00.0"><product_name>NVIDIA H100</product_name><uuid>GPU-$SEEN</uuid>
<fb_memory_usage><total>81559 MiB</total><used>1000 MiB</used><free>80000 MiB</free></fb_memory_usage><utilization><gpu_util>97 %</gpu_util></utilization></gpu></nvidia_smi_log>
EOF
`,
	} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"+text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
}

func TestRecordOfHosts(t *testing.T) {
	fakeSSH(t)
	path := filepath.Join(t.TempDir(), "nodes.series")
	stdio := ProcessIO()
	var out, errs bytes.Buffer
	stdio.Out, stdio.Err, stdio.OutWidth, stdio.ErrWidth = &out, &errs, 0, 0
	if exit := Run(t.Context(), []string{"record", "--host", "ann@one,down,two", "--for", "3s", "--interval", "300ms", "-o", path}, stdio); exit != ExitOK {
		t.Fatalf("exit %d: %s", exit, &errs)
	}
	text, _ := replayed(t, ExitOK, "replay", path, "--format", "json")
	var doc replayDocument
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatal(err)
	}
	found := map[string]replayedHost{}
	for _, h := range doc.Hosts {
		found[h.Name] = h
	}
	if len(found) != 3 || len(doc.Left) > 0 {
		t.Fatalf("hosts %v, left %v", found, doc.Left)
	}
	for _, name := range []string{"one", "two"} {
		if h := found[name]; h.Samples < 2 || len(h.Devices) != 1 || math.Abs(*h.Devices[0].Busy-0.97) > 1e-9 {
			t.Errorf("%s: %d samples, %+v", name, h.Samples, h.Devices)
		}
	}
	if h := found["down"]; len(h.Devices) != 0 || len(h.Problems) != 1 || !strings.Contains(h.Problems[0].What, "Connection refused") {
		t.Errorf("down: %+v", h)
	}
	replayed(t, ExitOK, "replay", path, "--host", "two")
	replayed(t, ExitFailed, "replay", path, "--host", "three")
}

func TestTopOfHosts(t *testing.T) {
	fakeSSH(t)
	run := func(want Exit, args ...string) (out, errs string) {
		t.Helper()
		stdio := ProcessIO()
		var o, e bytes.Buffer
		stdio.Out, stdio.Err, stdio.OutWidth, stdio.ErrWidth = &o, &e, 0, 0
		if exit := Run(t.Context(), append([]string{"top", "--once", "--host"}, args...), stdio); exit != want {
			t.Fatalf("%v: exit %d, want %d: %s", args, exit, want, &e)
		}
		return o.String(), e.String()
	}
	text, errs := run(ExitNo, "ann@one,down")
	for _, want := range []string{"  one  driver 570.86.15", "  0  97 %", "  down\n", "  ?  failed", "Connection refused"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not said:\n%s", want, text)
		}
	}
	if !strings.Contains(errs, "down: the GPUs could not be read") || strings.Contains(errs, "patience") {
		t.Error(errs)
	}
	text, _ = run(ExitNo, "one,down,two", "--format", "json")
	var names []string
	for line := range strings.Lines(text) {
		checkSchema(t, "top.schema.json", []byte(line))
		var doc topDocument
		if err := json.Unmarshal([]byte(line), &doc); err != nil {
			t.Fatal(err)
		}
		names = append(names, doc.Host.Name)
		if len(doc.Devices) != 1 && doc.Host.Name != "down" || len(doc.Devices) == 1 && doc.Devices[0].Label != "0" {
			t.Errorf("%s has %+v", doc.Host.Name, doc.Devices)
		}
	}
	if got := strings.Join(names, " "); got != "one down two" {
		t.Errorf("documents of %s", got)
	}
	text, _ = run(ExitOK, "one,two", "--format", "csv")
	if lines := strings.Split(strings.TrimSpace(text), "\n"); len(lines) != 3 || !strings.Contains(lines[1], ",one,0,GPU-one") || !strings.Contains(lines[2], ",two,0,GPU-two") {
		t.Errorf("a head and a GPU each:\n%s", text)
	}
	text, _ = run(ExitOK, "one,two", "--gpu", "two/0")
	if strings.Count(text, "97 %") != 1 {
		t.Errorf("one GPU was asked for:\n%s", text)
	}
	if _, errs = run(ExitFailed, "one,two", "--gpu", "three/0"); !strings.Contains(errs, "one/0, two/0") {
		t.Error(errs)
	}
	run(ExitFailed, "-oProxyCommand=x")
	run(ExitFailed, "a", "--demo")
	for _, names := range []string{"one,one", "ann@one,bob@one", "ann@", ",", "one,,two", "a b"} {
		if _, errs = run(ExitFailed, names); !strings.Contains(errs, "twice") && !strings.Contains(errs, "is no name of a host") {
			t.Errorf("--host %s: %s", names, errs)
		}
	}
}

// TestTopOfAHostThatHangs has an answer of the others, and says of whom it has none.
func TestTopOfAHostThatHangs(t *testing.T) {
	fakeSSH(t)
	stdio := ProcessIO()
	var out, errs bytes.Buffer
	stdio.Out, stdio.Err, stdio.OutWidth, stdio.ErrWidth = &out, &errs, 0, 0
	began := time.Now()
	if exit := Run(t.Context(), []string{"top", "--once", "--host", "one,hangs"}, stdio); exit != ExitNo {
		t.Fatalf("exit %d: %s", exit, &errs)
	}
	if took := time.Since(began); took > openTime+5*time.Second {
		t.Errorf("it took %v", took)
	}
	if text := out.String(); !strings.Contains(text, "97 %") || !strings.Contains(text, "stuck") {
		t.Error(text)
	}
}

// TestHostsOnATerminal watches two hosts and one that is down, records them, and plays
// the recording.
func TestHostsOnATerminal(t *testing.T) {
	fakeSSH(t)
	path := filepath.Join(t.TempDir(), "nodes.series")
	stdio := ProcessIO()
	var errs bytes.Buffer
	stdio.Out, stdio.Err, stdio.OutWidth, stdio.ErrWidth = &errs, &errs, 0, 0
	if exit := Run(t.Context(), []string{"record", "--host", "one,down,two", "--for", "3s", "--interval", "300ms", "-o", path}, stdio); exit != ExitOK {
		t.Fatalf("exit %d: %s", exit, &errs)
	}
	for _, args := range [][]string{{"top", "--host", "one,down,two"}, {"replay", path}} {
		for _, size := range [][2]int{{80, 24}, {200, 50}} {
			term := newTerminal(t, size[0], size[1])
			stdio := IO{In: term.tty, Out: term.tty, Err: io.Discard, OutWidth: size[0], Now: time.Now, Getenv: func(name string) string {
				return map[string]string{"TERM": "xterm-256color", "LANG": "C.UTF-8"}[name]
			}}
			exit := make(chan Exit, 1)
			go func() { exit <- Run(t.Context(), args, stdio) }()
			term.see("3 hosts", "host down cannot be read", "ssh: connect to host down", "one   1 × H100", "two   1 × H100")
			term.typed("\tG") // the last GPU is of the last host
			term.see("two   CPU")
			term.typed("K")
			term.leave(exit)
		}
	}
	text, _ := replayed(t, ExitNo, "replay", path, "--once")
	for _, want := range []string{"  one  driver", "  two  driver", "  down\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not said:\n%s", want, text)
		}
	}
}
