package exporter

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
)

var metricNames = regexp.MustCompile(`\bplimsoll_[a-z0-9_]+`)

// TestDeployedNamesExist finds names in the board and the alerts that no metric has.
func TestDeployedNamesExist(t *testing.T) {
	known := map[string]bool{}
	for _, f := range families() {
		known[f.name] = true
	}
	for _, file := range []string{"grafana/plimsoll.json", "prometheus/alerts.yml", "prometheus/alerts_test.yml"} {
		text, err := os.ReadFile(filepath.Join("..", "..", "deploy", filepath.FromSlash(file)))
		if err != nil {
			t.Fatal(err)
		}
		found := metricNames.FindAllString(string(text), -1)
		if len(found) == 0 {
			t.Errorf("%s names no metric", file)
		}
		for _, name := range found {
			if !known[name] {
				t.Errorf("%s names %s, which nobody serves", file, name)
			}
		}
		if filepath.Ext(file) == ".json" && !json.Valid(text) {
			t.Errorf("%s is no JSON", file)
		}
	}
}

func TestAlertsFire(t *testing.T) {
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("promtool is not installed (Debian: prometheus)")
	}
	cmd := exec.CommandContext(t.Context(), promtool, "test", "rules", "alerts_test.yml")
	cmd.Dir = filepath.Join("..", "..", "deploy", "prometheus")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
