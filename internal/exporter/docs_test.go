package exporter

import (
	"fmt"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/plimsoll-dev/plimsoll/internal/doctest"
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

func TestDocumentation(t *testing.T) {
	doctest.Page(t, "exporter.md", map[string]string{"metrics": table()})
}
