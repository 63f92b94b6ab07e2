package cli

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/plimsoll-dev/plimsoll/internal/format/samples"
	"github.com/plimsoll-dev/plimsoll/internal/monitor"
	"github.com/plimsoll-dev/plimsoll/internal/monitor/demo"
)

// demoRecording is five minutes of the demo with two minutes missing, and an hour
// by which the clock is put back.
func demoRecording(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "run.series")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w, err := samples.NewWriter(f)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	m := demo.New(1, func() time.Time { return now })
	sampler := monitor.NewSampler(monitor.Options{Source: m, Host: m.Host(), Now: func() time.Time { return now }})
	for i := range 300 {
		s := sampler.Sample(t.Context())
		if i > 240 {
			s.Wall = s.Wall.Add(-time.Hour)
		}
		if err := w.Write(&s); err != nil {
			t.Fatal(err)
		}
		now = now.Add(time.Second)
		if i == 180 {
			now = now.Add(2 * time.Minute)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// replayed runs the command and returns what it prints.
func replayed(t *testing.T, want Exit, args ...string) (stdout, stderr string) {
	t.Helper()
	stdio, out, errs := record()
	stdio.Now = func() time.Time { return time.Date(2026, 11, 30, 13, 0, 0, 0, time.UTC) }
	if exit := Run(t.Context(), args, stdio); exit != want {
		t.Fatalf("%v: exit %d, want %d: %s", args, exit, want, errs)
	}
	return out.String(), errs.String()
}

func TestReplayOfTheDemo(t *testing.T) {
	path := demoRecording(t)
	text, _ := replayed(t, ExitOK, "replay", path)
	checkGolden(t, filepath.Join("testdata", "replay", "demo.txt"), []byte(unjudged(t, strings.ReplaceAll(text, path, "run.series"))))
	if !strings.HasPrefix(text, "GPU 2 idles") || !strings.Contains(text, "Why GPUs idled") {
		t.Errorf("the notebook that holds a GPU is not named first:\n%s", text[:min(len(text), 300)])
	}
	if explained, _ := replayed(t, ExitOK, "explain", path); explained != text {
		t.Error("explain answers otherwise")
	}
	document, _ := replayed(t, ExitOK, "replay", path, "--format", "json")
	checkSchema(t, "replay.schema.json", []byte(document))
	var doc replayDocument
	if err := json.Unmarshal([]byte(document), &doc); err != nil {
		t.Fatal(err)
	}
	h := doc.Hosts[0]
	if h.Samples != 300 || len(h.Devices) != 11 || len(h.Gaps) != 1 || h.Gaps[0].Seconds != 121 || len(h.Jumps) != 1 || h.Jumps[0].Seconds != -3600 {
		t.Errorf("%d samples, gaps %v, jumps %v", h.Samples, h.Gaps, h.Jumps)
	}
	if d := h.Devices[5]; d.Busy != nil || d.Status["lost"] != h.Watched {
		t.Errorf("the lost GPU: busy %v, %v", d.Busy, d.Status)
	}
}

// unjudged is an answer without the causes, which are tested where they are found.
func unjudged(t *testing.T, text string) string {
	t.Helper()
	_, facts, ok := strings.Cut(text, "\nGPUs\n")
	before, rest, found := strings.Cut(facts, "Why GPUs idled\n")
	_, after, ends := strings.Cut(rest, "\n\n")
	if !ok || !found || !ends {
		t.Fatalf("the answer has other sections:\n%s", text)
	}
	return "GPUs\n" + before + after
}

func TestReplayRanges(t *testing.T) {
	path := demoRecording(t)
	for _, tc := range []struct {
		args []string
		rows int // samples of one GPU
	}{
		{nil, 300}, {[]string{"--from", "+3m", "--to", "+320s"}, 20 + 1}, {[]string{"--from", "12:05:10"}, 51}, {[]string{"--from=-10s"}, 11},
		{[]string{"--to", "2026-11-30 11:06:30"}, 30}, {[]string{"--from", "2026-11-30T12:00:00Z", "--to", "2026-11-30T12:00:09Z"}, 10},
	} {
		out, _ := replayed(t, ExitOK, append([]string{"replay", path, "--format", "csv", "--gpu", "0"}, tc.args...)...)
		if rows := strings.Count(out, "\n") - 1; rows != tc.rows {
			t.Errorf("%v: %d rows, want %d", tc.args, rows, tc.rows)
		}
	}
	for _, args := range [][]string{{"--from", "soon"}, {"--from", "+3m", "--to", "+1m"}} {
		if _, stderr := replayed(t, ExitFailed, append([]string{"replay", path}, args...)...); !strings.Contains(stderr, args[0]) {
			t.Errorf("%v: %s", args, stderr)
		}
	}
	if _, stderr := replayed(t, ExitFailed, "replay", path, "--from", "2030-01-01 10:00"); !strings.Contains(stderr, "no sample in it in the time that was asked for") {
		t.Error(stderr)
	}
}

func TestReplayOfDamage(t *testing.T) {
	path := demoRecording(t)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data[:len(data)-100], 0o600); err != nil {
		t.Fatal(err)
	}
	out, _ := replayed(t, ExitOK, "replay", path, "--format", "json")
	if !strings.Contains(out, "not a whole frame") {
		t.Error("a cut end is not told")
	}
	replayed(t, ExitGaps, "replay", path, "--strict")
	for name, content := range map[string]string{"empty": "", "text": "hello\n", "newer": "plimsoll.series/9\n"} {
		foreign := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(foreign, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, stderr := replayed(t, ExitFailed, "replay", foreign); !strings.Contains(stderr, foreign) || !strings.Contains(stderr, "hint: ") {
			t.Errorf("%s: %s", name, stderr)
		}
	}
	if second := bytes.Index(data[100:], []byte("PLSFS")); second > 0 {
		data = data[:100+second]
	}
	data[100] ^= 1 // within the first frame of the segment, which the others need
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, more := range []string{"--format=text", "--once"} {
		if _, stderr := replayed(t, ExitFailed, "replay", path, more); !strings.Contains(stderr, "no sample in it can be read: byte ") {
			t.Errorf("%s of a damaged recording: %s", more, stderr)
		}
	}
	replayed(t, ExitFailed, "replay", filepath.Join(t.TempDir(), "none"))
	replayed(t, ExitFailed, "replay", t.TempDir())
}

func TestReplayOfALog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "gpu.csv")
	log := "timestamp, index, name, utilization.gpu [%], memory.used [MiB], memory.total [MiB], power.draw [W]\n"
	for i := range 120 {
		at := time.Date(2026, 11, 30, 12, 0, i, 0, time.UTC).Format("2006/01/02 15:04:05.000")
		log += at + ", 0, NVIDIA A100, 95 %, 30000 MiB, 40960 MiB, 300.00 W\n" + at + ", 1, NVIDIA A100, [N/A], 10 MiB, 40960 MiB, [N/A]\n"
	}
	if err := os.WriteFile(path, []byte(log), 0o600); err != nil {
		t.Fatal(err)
	}
	out, _ := replayed(t, ExitOK, "replay", path, "--format", "json")
	checkSchema(t, "replay.schema.json", []byte(out))
	var doc replayDocument
	if err := json.Unmarshal([]byte(out), &doc); err != nil {
		t.Fatal(err)
	}
	d := doc.Hosts[0].Devices
	if doc.Kind != "nvidia-smi CSV" || doc.Hosts[0].Watched != 119 || math.Abs(*d[0].Busy-0.95) > 1e-9 || d[1].Busy != nil || *d[1].MemoryMost != 10<<20 {
		t.Errorf("%s, watched for %v, busy %v, %v, memory %v", doc.Kind, doc.Hosts[0].Watched, *d[0].Busy, d[1].Busy, *d[1].MemoryMost)
	}
	from, _ := replayed(t, ExitOK, "replay", path, "--from=-9s", "--format", "csv", "--gpu", "0")
	if rows := strings.Count(from, "\n") - 1; rows != 10 {
		t.Errorf("%d rows of the last 9 seconds", rows)
	}
}

// TestReplayOfStandardInput reads a log without times, of which no date is told, and
// nothing is called lost.
func TestReplayOfStandardInput(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	log := "# gpu pwr gtemp sm mem\n# Idx W C % %\n" + strings.Repeat("    0    100     40     90     30\n", 20)
	for _, format := range []string{"text", "json"} {
		var out, errs bytes.Buffer
		stdio := IO{In: strings.NewReader(log), Out: &out, Err: &errs, Getenv: func(string) string { return "" }, Now: time.Now}
		if exit := Run(t.Context(), []string{"replay", "-", "--strict", "--format", format}, stdio); exit != ExitOK {
			t.Errorf("exit %d: %s", exit, errs.String())
		}
		if format == "json" {
			checkSchema(t, "replay.schema.json", out.Bytes())
			var doc replayDocument
			if err := json.Unmarshal(out.Bytes(), &doc); err != nil || doc.Untimed == "" || len(doc.Left) > 0 || doc.File != "standard input" {
				t.Errorf("%v: %+v", err, doc)
			}
			continue
		}
		if text := out.String(); !strings.Contains(text, "20 samples in 19 s") || !strings.Contains(text, "the log has no times") || strings.Contains(text, "1970") {
			t.Error(text)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(os.TempDir(), "plimsoll-*.input")); len(left) > 0 {
		t.Errorf("%s is left", left)
	}
}

func TestRecord(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.series")
	stdio := ProcessIO()
	var out, errs bytes.Buffer
	stdio.Out, stdio.Err, stdio.OutWidth, stdio.ErrWidth = &out, &errs, 0, 0
	args := []string{"record", "--demo", "--for", "700ms", "--interval", "100ms", "-o", path, "--format", "json"}
	if exit := Run(t.Context(), args, stdio); exit != ExitOK {
		t.Fatalf("exit %d: %s", exit, &errs)
	}
	checkSchema(t, "record.schema.json", out.Bytes())
	replayed(t, ExitOK, "replay", path)
	if _, stderr := replayed(t, ExitFailed, args...); !strings.Contains(stderr, "the file exists") || !strings.Contains(stderr, "--append") {
		t.Error(stderr)
	}
	before, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if exit := Run(t.Context(), append(args, "--append"), stdio); exit != ExitOK {
		t.Fatalf("exit %d: %s", exit, &errs)
	}
	if after, err := os.Stat(path); err != nil || after.Size() <= before.Size() {
		t.Errorf("%v, %v", after.Size(), err)
	}
	if text, _ := replayed(t, ExitOK, "replay", path); !strings.Contains(text, "the recorder was stopped") {
		t.Errorf("the seam is not told:\n%s", text)
	}
	if exit := Run(t.Context(), []string{"record", "--demo", "--for", "200ms", "--interval", "100ms", "--gpu", "5", "-o", filepath.Join(t.TempDir(), "lost.series")}, stdio); exit != ExitNo {
		t.Errorf("a GPU that was asked for and is lost: exit %d", exit)
	}
	foreign := filepath.Join(t.TempDir(), "notes.txt")
	if err := os.WriteFile(foreign, []byte("notes of mine, which nobody may overwrite\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	replayed(t, ExitFailed, "record", "--demo", "--for", "200ms", "--append", "-o", foreign)
	if data, err := os.ReadFile(foreign); err != nil || !strings.HasPrefix(string(data), "notes") {
		t.Errorf("%s, %v", data, err)
	}
}

// TestRecordIsKilled kills a recorder and replays what it wrote.
func TestRecordIsKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for two frames")
	}
	path := filepath.Join(t.TempDir(), "run.series")
	cmd := exec.Command(os.Args[0], "record", "--demo", "--interval", "100ms", "-o", path)
	cmd.Env = append(os.Environ(), "TESTSCRIPT_COMMAND=plimsoll")
	plimsoll := filepath.Join(t.TempDir(), "plimsoll")
	if err := os.Symlink(os.Args[0], plimsoll); err != nil {
		t.Fatal(err)
	}
	cmd.Path, cmd.Args[0] = plimsoll, "plimsoll"
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait() //nolint:errcheck // it is killed
	deadline := time.Now().Add(40 * time.Second)
	for time.Now().Before(deadline) {
		if info, err := os.Stat(path); err == nil && info.Size() > 2000 {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	if _, stderr := replayed(t, ExitFailed, "record", "--demo", "--for", "200ms", "--append", "-o", path); !strings.Contains(stderr, "another recorder writes to it") {
		t.Error(stderr)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	text, _ := replayed(t, ExitOK, "replay", path)
	if !strings.Contains(text, "GPU 0") {
		t.Error(text)
	}
}
