package cli

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// fakeSSH puts an ssh on the PATH that runs the shell here, and an nvidia-smi that
// shows one GPU; the host "down" refuses.
func fakeSSH(t *testing.T) {
	t.Helper()
	bin := t.TempDir()
	for name, text := range map[string]string{
		"ssh": `while [ "$1" != "--" ]; do shift; done
[ "$2" = down ] && { echo "ssh: connect to host down port 22: Connection refused" >&2; exit 255; }
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
	stdio := ProcessIO()
	var out, errs bytes.Buffer
	stdio.Out, stdio.Err, stdio.OutWidth, stdio.ErrWidth = &out, &errs, 0, 0
	if exit := Run(t.Context(), []string{"top", "--once", "--host", "one,down"}, stdio); exit != ExitNo {
		t.Fatalf("exit %d: %s", exit, &errs)
	}
	if text := out.String(); !strings.Contains(text, "one: NVIDIA H100") || !strings.Contains(text, "Connection refused") {
		t.Error(text)
	}
	for _, args := range [][]string{{"top", "--once", "--host", "-oProxyCommand=x"}, {"top", "--once", "--demo", "--host", "a"}} {
		replayed(t, ExitFailed, args...)
	}
}
