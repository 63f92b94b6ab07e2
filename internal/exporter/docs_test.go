package exporter

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

// The lines between which docs/exporter.md holds the table.
const (
	tableBegins = "<!-- written by TestDocumentation: PLIMSOLL_UPDATE=1 go test ./internal/exporter -->\n"
	tableEnds   = "<!-- end -->\n"
)

func table() string {
	var b strings.Builder
	row := func(f *family) {
		kind := "gauge"
		if f.kind == prometheus.CounterValue {
			kind = "counter"
		}
		labels := "–"
		if len(f.labels) > 0 {
			labels = "`" + strings.Join(f.labels, "`, `") + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", f.name, kind, labels, f.per, f.help)
	}
	gpu, process, host := seriesFor(perGPU), seriesFor(perProcess)+seriesFor(perUse), seriesFor(perHost)
	fmt.Fprintf(&b, "With *g* GPUs and MIG instances and *p* processes shown (`--processes`, 0 unless asked\n"+
		"for), each on one GPU, there are at most %d *g* + %d *p* + %d series, one for each cause\n"+
		"that is named now on a GPU, and one for each that was ever named: %d with 8 GPUs, %d\n"+
		"with 20 processes beside. `--dcgm-names` adds %d *g*.\n\n", gpu, process, host, 8*gpu+host, 8*gpu+20*process+host, len(dcgmFamilies))
	b.WriteString("| metric | type | labels | one for each | meaning |\n|---|---|---|---|---|\n")
	for _, f := range families() {
		row(f)
	}
	for _, f := range dcgmFamilies {
		row(f)
	}
	return b.String()
}

// seriesFor counts the series that there are for one of something.
func seriesFor(per string) int {
	n := 0
	for _, f := range families() {
		if rest, ok := strings.CutPrefix(f.per, per); ok {
			times := 1
			fmt.Sscanf(rest, ", times %d", &times) //nolint:errcheck // once where it does not say
			n += times
		}
	}
	return n
}

// TestDocumentation compares the documentation's table with what is served.
func TestDocumentation(t *testing.T) {
	file := filepath.Join("..", "..", "docs", "exporter.md")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), tableBegins)
	old, after, ends := strings.Cut(rest, tableEnds)
	if !ok || !ends {
		t.Fatalf("%s has no place for the table", file)
	}
	if os.Getenv("PLIMSOLL_UPDATE") != "" {
		if err := os.WriteFile(file, []byte(before+tableBegins+table()+tableEnds+after), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if old != table() {
		t.Errorf("%s does not list what is served; PLIMSOLL_UPDATE=1 writes it", file)
	}
}
