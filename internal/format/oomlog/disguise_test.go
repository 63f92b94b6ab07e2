package oomlog

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// eachLine changes every line of a text.
func eachLine(text string, change func(string) string) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	for i, l := range lines {
		lines[i] = change(l)
	}
	return strings.Join(lines, "\n") + "\n"
}

func prefixed(prefix string) func(string) string {
	return func(text string) string { return eachLine(text, func(l string) string { return prefix + l }) }
}

// wrapped breaks long lines as a terminal of that width does.
func wrapped(width int, prefix string) func(string) string {
	return func(text string) string {
		return eachLine(text, func(l string) string { return strings.TrimRight(wrap(prefix+l, width, ""), "\n") })
	}
}

// disguises are what terminals, launchers, containers and people do to a log.
var disguises = map[string]func(string) string{
	"nothing": func(s string) string { return s },
	"noise around": func(s string) string {
		return strings.Repeat("step 1 loss 0.5 mem 3.2 GiB\n", 5000) + s + strings.Repeat("bye\n", 5000)
	},
	"a progress bar":       func(s string) string { return " 10%|#  | 1/10 [00:01<00:09]\r 20%|## | 2/10 [00:02<00:08]\r\n" + s },
	"Windows line ends":    func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") },
	"a rank":               prefixed("[rank3]: "),
	"torchrun's tee":       prefixed("[default3]:"),
	"mpirun":               prefixed("[1,3]<stderr>:"),
	"compose":              prefixed("trainer-1  | "),
	"kubectl --timestamps": prefixed("2026-01-02T03:04:05.678901234Z "),
	"Ray":                  prefixed("(TrainWorker pid=123, ip=10.0.0.1) "),
	"a quotation":          prefixed("> "),
	"red":                  func(s string) string { return eachLine(s, func(l string) string { return "\x1b[31m" + l + "\x1b[0m" }) },
	"wrapped at 80":        wrapped(80, ""),
	"wrapped at 121":       wrapped(121, ""),
	"a rank, wrapped":      wrapped(100, "[rank3]: "),
	"printed twice": func(s string) string {
		return s + "\nDuring handling of the above exception, another exception occurred:\n\n" + s
	},
	"Docker's file": func(s string) string {
		return eachLine(s, func(l string) string {
			text, _ := json.Marshal(l + "\n")
			return `{"log":` + string(text) + `,"stream":"stderr","time":"2026-01-02T03:04:05.678901234Z"}`
		})
	},
}

// seriesKinds have as many samples as their log has lines, and say more when they
// are there twice.
var seriesKinds = map[string]bool{"shm_series": true, "util_timing": true}

// TestGivenLogsInDisguise finds the same in what became of the given logs.
func TestGivenLogsInDisguise(t *testing.T) {
	dir := os.Getenv("PLIMSOLL_CASES")
	if dir == "" {
		t.Skip("PLIMSOLL_CASES is not set")
	}
	files, err := filepath.Glob(filepath.Join(dir, "oom", "*.log"))
	if err != nil || len(files) == 0 {
		t.Fatal(err, len(files))
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		want := scan(t, string(text)).Messages[0]
		for name, change := range disguises {
			if name == "printed twice" && seriesKinds[want.Kind.Name] {
				continue
			}
			log := scan(t, change(string(text)))
			if len(log.Messages) != 1 {
				t.Errorf("%s, %s: kinds %v", filepath.Base(file), name, names(log))
				continue
			}
			got := log.Messages[0]
			if diff := cmp.Diff(want.Fields, got.Fields); got.Kind != want.Kind || got.Framework != want.Framework || diff != "" {
				t.Errorf("%s, %s: %s of %s (want -, got +):\n%s", filepath.Base(file), name, got.Kind.Name, got.Framework, diff)
			}
			if diff := cmp.Diff(want.Processes, got.Processes); diff != "" {
				t.Errorf("%s, %s: processes (want -, got +):\n%s", filepath.Base(file), name, diff)
			}
		}
	}
}
